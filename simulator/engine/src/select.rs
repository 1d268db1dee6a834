//! Selection: looks up records, lists them and their members, sorts them and selects a page.

use std::cmp::Ordering;

use diorama_seeds::expr::{Expr, Slot};
use diorama_seeds::model::{FieldId, Many, ParameterId, Query, Record, ResourceId, Sort};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;

use super::filter::Filters;
use super::index::{Form, same_folded};
use super::page::Window;
use super::refusal::{Outcome, Refusal};
use super::reply::Body;
use super::run::Run;

impl Run<'_> {
    /// Returns the only record whose fields equal the arguments.
    pub(super) fn look_up(&self, resource: ResourceId, by: &[(FieldId, ParameterId)]) -> Outcome<Record> {
        let declared = self.resource(resource);
        let wanted: Vec<(FieldId, &Value)> =
            by.iter().map(|(field, parameter)| (*field, self.argument(*parameter))).collect();
        // Missing arguments do not narrow the lookup. Without any argument, the lookup finds nothing.
        let wanted: Vec<_> =
            wanted.into_iter().filter(|(_, value)| !matches!(value, Value::Absent)).collect();
        let matches = |record: &&Record| {
            self.sees(declared, record)
                && wanted.iter().all(|(field, value)| {
                    record.get(field.index()).is_some_and(|found| same_folded(found, value))
                })
        };
        let mut narrowed = wanted
            .iter()
            .find_map(|(field, value)| self.draft.candidates(resource, *field, Form::Folded, value));
        let mut found: Vec<&Record> = match &mut narrowed {
            _ if wanted.is_empty() => Vec::new(),
            Some(candidates) => candidates.filter(matches).take(2).collect(),
            None => self.draft.state.iter(self.base, resource).filter(matches).take(2).collect(),
        };
        let described = || {
            let parts = wanted.iter().map(|(field, value)| {
                format!("{} {}", declared.field(*field).name, value.to_text(self.zone()))
            });
            parts.collect::<Vec<_>>().join(" and ")
        };
        let about = by.first().and_then(|(_, parameter)| self.parameter_name(*parameter));
        match (found.pop(), found.pop()) {
            (Some(record), None) => Ok(record.clone()),
            (None, _) => {
                Err(Refusal::new(404, format!("no {} has the {}", declared.label, described())).about(about))
            }
            (Some(_), Some(_)) => {
                let detail =
                    format!("several {} have the {}; ask for one by its key", declared.plural, described());
                Err(Refusal::new(409, detail).about(about))
            }
        }
    }

    /// Visits the records of a resource in key order, through an index if one helps. The visitor must test
    /// the indexed field again.
    pub(super) fn visit<'s>(
        &'s self,
        resource: ResourceId,
        index: Option<&(FieldId, Value)>,
        visit: impl FnMut(&'s Record) -> Outcome<()>,
    ) -> Outcome<()> {
        if let Some((field, value)) = index {
            if *field == self.resource(resource).key {
                let key = super::fit::as_key(value);
                return self.draft.record(resource, &key).map_or(Ok(()), visit);
            }
            if let Some(mut candidates) = self.draft.candidates(resource, *field, Form::Exact, value) {
                return candidates.try_for_each(visit);
            }
        }
        self.draft.state.iter(self.base, resource).try_for_each(visit)
    }

    /// Returns the records that pass a query's filters and condition and that the caller may see, in key
    /// order.
    pub(super) fn select(&self, query: &Query) -> Outcome<Vec<&Record>> {
        let filters = Filters::new(self, query);
        let narrowed = filters
            .equalities()
            .find_map(|(field, form, value)| self.draft.candidates(query.resource, field, form, value));
        if let Some(candidates) = narrowed {
            return self.passing(query, &filters, candidates);
        }
        let declared = self.resource(query.resource);
        if let Some((field, me)) = self.owner(declared)
            && let Some(candidates) = self.draft.candidates(query.resource, field, Form::Exact, me)
        {
            return self.passing(query, &filters, candidates);
        }
        if let Some((field, node)) = query.condition.as_ref().and_then(|condition| condition.index.as_ref()) {
            // If this value has no result, the condition may still hold without it, so all records are
            // tested.
            if let Ok(value) = self.env().value(node)
                && let Some(candidates) = self.draft.candidates(query.resource, *field, Form::Exact, &value)
            {
                return self.passing(query, &filters, candidates);
            }
        }
        self.passing(query, &filters, self.draft.state.iter(self.base, query.resource))
    }

    fn passing<'s>(
        &'s self,
        query: &Query,
        filters: &Filters<'_>,
        records: impl Iterator<Item = &'s Record>,
    ) -> Outcome<Vec<&'s Record>> {
        let declared = self.resource(query.resource);
        let env = self.env();
        let mut found = Vec::new();
        for record in records {
            if !filters.pass(record) || !self.sees(declared, record) {
                continue;
            }
            if let Some(Expr { node, .. }) = &query.condition {
                let holds = env.holds_for(node, Slot::ITEM, record);
                if !holds.map_err(|error| self.uncomputed(error, node))? {
                    continue;
                }
            }
            found.push(record);
        }
        Ok(found)
    }

    /// Returns a list reply.
    pub(super) fn list(&mut self, query: &Query) -> Outcome<Body> {
        let mut window = Window::new(self, query)?;
        let sort = self.sort(query)?;
        let declared = self.resource(query.resource);
        let all = !window.by_key
            && Filters::new(self, query).is_empty()
            && query.condition.is_none()
            && sort.is_none()
            && self.owner(declared).is_none();
        // A page of an unchanged resource in key order is a slice of the base.
        if all && let Some(records) = self.draft.state.untouched(self.base, query.resource) {
            let page = window.of(records).to_vec();
            return self.show_list(query.resource, &page, records.len(), &window);
        }
        let mut found = self.select(query)?;
        let total = found.len();
        if let Some(page) = query.page.as_ref().filter(|_| window.by_key) {
            self.order(&mut found, query.resource, sort, total);
            let cursor = self.argument(page.parameter);
            window.begin_after(self.named_by_cursor(query.resource, &found, cursor, &window));
        }
        self.order(&mut found, query.resource, sort, window.end());
        let page: Vec<Record> = window.of(&found).iter().map(|record| (*record).clone()).collect();
        self.show_list(query.resource, &page, total, &window)
    }

    /// Returns the members of a record's list of references.
    pub(super) fn list_members(&mut self, field: FieldId, holder: &Record, query: &Query) -> Outcome<Body> {
        let window = Window::new(self, query)?;
        let sort = self.sort(query)?;
        let filters = Filters::new(self, query);
        let keys = match holder.get(field.index()) {
            Some(Value::List(items)) => items.clone(),
            _ => [].into(),
        };
        let members = keys.iter().filter_map(|key| self.draft.record(query.resource, key));
        let mut found = self.passing(query, &filters, members)?;
        let total = found.len();
        if sort.is_some() {
            self.order(&mut found, query.resource, sort, window.end());
        }
        let page: Vec<Record> = window.of(&found).iter().map(|record| (*record).clone()).collect();
        self.show_list(query.resource, &page, total, &window)
    }

    /// Returns the records of another resource that refer to this one, for a reply.
    pub(super) fn referring(
        &mut self,
        many: &Many,
        record: &Record,
        resource: ResourceId,
    ) -> Outcome<Vec<Record>> {
        let key = record[self.resource(resource).key.index()].clone();
        let outer = self.bind_record(resource, record);
        let found = self.referring_records(many, &key);
        self.unbind_record(outer);
        found
    }

    fn referring_records(&self, many: &Many, key: &Value) -> Outcome<Vec<Record>> {
        let declared = self.resource(many.resource);
        let list = matches!(declared.field(many.by).schema.kind, Type::List(_));
        let form = if list { Form::Items } else { Form::Exact };
        let env = self.env();
        let mut found = Vec::new();
        let mut consider = |record| -> Outcome<()> {
            let refers = match record_value(record, many.by) {
                Value::List(items) => items.contains(key),
                value => value == key,
            };
            let passes = match &many.condition {
                _ if !refers => false,
                Some(Expr { node, .. }) => {
                    env.holds_for(node, Slot::ITEM, record).map_err(|error| self.uncomputed(error, node))?
                }
                None => true,
            };
            if passes {
                found.push(record);
            }
            Ok(())
        };
        match self.draft.candidates(many.resource, many.by, form, key) {
            Some(mut candidates) => candidates.try_for_each(&mut consider)?,
            None => self.draft.state.iter(self.base, many.resource).try_for_each(&mut consider)?,
        }
        let limit = many.limit.map_or(usize::MAX, |limit| limit as usize);
        self.order(&mut found, many.resource, many.sort, limit);
        found.truncate(limit);
        Ok(found.into_iter().cloned().collect())
    }

    /// Sorts records that are in key order. Only the first `end` need to be right. Missing values come last
    /// in either direction. Ties, and records without any order, stay in key order, or in creation order if
    /// the API has a contract.
    fn order(&self, records: &mut Vec<&Record>, resource: ResourceId, sort: Option<Sort>, end: usize) {
        let promised = self.api.contract.is_some();
        if sort.is_none() && !promised {
            return;
        }
        let key = self.resource(resource).key;
        let by_value = |left: &Record, right: &Record| {
            let Some(sort) = sort else { return Ordering::Equal };
            let (a, b) = (record_value(left, sort.field), record_value(right, sort.field));
            match (a.is_missing(), b.is_missing()) {
                (false, false) if sort.descending => b.cmp(a),
                (false, false) => a.cmp(b),
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
            }
        };
        let made = |record: &Record| self.draft.state.made(resource, record_value(record, key));
        let by_making = |left: &Record, right: &Record| match sort {
            _ if !promised => Ordering::Equal,
            Some(sort) if sort.descending => made(right).cmp(&made(left)),
            _ => made(left).cmp(&made(right)),
        };
        let compare = |left: &&Record, right: &&Record| {
            by_value(left, right)
                .then_with(|| by_making(left, right))
                .then_with(|| record_value(left, key).cmp(record_value(right, key)))
        };
        // Keys are unique, so the order is total and an unstable sort is deterministic.
        if end > 0 && end < records.len() {
            records.select_nth_unstable_by(end, compare);
            if let Some(head) = records.get_mut(..end) {
                head.sort_unstable_by(compare);
            }
        } else {
            records.sort_unstable_by(compare);
        }
    }

    /// Returns the effective order: the caller's choice, else the fixed or default one.
    pub(super) fn sort(&self, query: &Query) -> Outcome<Option<Sort>> {
        let Some((parameter, fields)) = &query.sort_parameter else { return Ok(query.sort) };
        let Value::String(text) = self.argument(*parameter) else { return Ok(query.sort) };
        if fields.is_empty() {
            let descending = text.eq_ignore_ascii_case("desc");
            return Ok(query.sort.map(|sort| Sort { descending, ..sort }));
        }
        let (name, descending) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => match text.rsplit_once('.') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (&**text, false),
            },
        };
        let declared = self.resource(query.resource);
        let chosen = fields.iter().find(|field| &*declared.field(**field).name == name);
        match chosen {
            Some(field) => Ok(Some(Sort { field: *field, descending })),
            None => {
                let known: Vec<&str> = fields.iter().map(|field| &*declared.field(*field).name).collect();
                let about = self.parameter_name(*parameter);
                let expected = format!("one of {}, with - in front for the reverse", known.join(", "));
                let shown = about.map_or("sort", |name| &**name);
                let found: String = text.chars().take(60).collect();
                Err(Refusal::new(400, format!("`{shown}`: expected {expected}, found \"{found}\""))
                    .about(about)
                    .expecting(expected))
            }
        }
    }
}

fn record_value(record: &Record, field: FieldId) -> &Value {
    record.get(field.index()).unwrap_or(&Value::Absent)
}
