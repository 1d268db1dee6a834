//! Owns the compilation of queries: the records of a list, a search, an aggregate or a list of members, and
//! their order.

use super::api::Builder;
use super::field::assignable;
use super::listed;
use crate::doc::FilterDoc;
use crate::expr::{Expr, Node};
use crate::model::{
    BehaviourKind, Comparison, FieldId, Filter, FilterTest, Measure, Page, PageStyle, ParameterId, Query,
    ResourceId, Sort,
};
use crate::schema::{Schema, Type};
use crate::value::{Str, nfc};
use diorama_format::path::Path;

/// Default number of items on a page.
const PAGE_SIZE: u32 = 20;

/// Maximum number of items on a page.
const MAX_PAGE_SIZE: u32 = 1_000;

impl Builder<'_> {
    /// Returns the filters, condition, order and paging of a query.
    pub(super) fn query(&mut self, resource: ResourceId, here: &Path<'_>) -> Query {
        let doc = &self.doc.behaviour;
        let filters = self.filters(resource, here);
        let condition = doc.condition.as_ref().map(|source| {
            self.scope.set_item(Some(resource));
            let condition = self.condition(source, &here.name("where"));
            self.scope.set_item(None);
            condition
        });
        let sort_path = here.name("sort");
        let mut sort = None;
        let mut sort_parameter = None;
        if let Some(doc) = &doc.sort {
            sort = doc.by.as_ref().and_then(|by| self.sort(resource, by, &sort_path.name("by")));
            sort_parameter = self.sort_parameter(resource, doc.parameter.as_deref(), &doc.fields, &sort_path);
            if doc.by.is_none() && doc.parameter.is_none() {
                error!(self.findings, sort_path => "found a sort without an order";
                    "add `by`, or `parameter` and `fields`");
            }
        }
        Query { resource, filters, condition, sort, sort_parameter, page: self.page(here) }
    }

    /// Parses `field` or `-field`.
    pub(super) fn sort(&mut self, resource: ResourceId, by: &str, path: &Path<'_>) -> Option<Sort> {
        // A field name cannot begin with `-`, because expressions could not use it.
        let (name, descending) = by.strip_prefix('-').map_or((by, false), |name| (name, true));
        let field = self.find_field(resource, name, path)?;
        if !is_ordered(&self.resource(resource).field(field).schema.kind) {
            error!(self.findings, path => "found `{name}`, which has no order";
                "sort by a number, date, time or text");
        }
        Some(Sort { field, descending })
    }

    fn sort_parameter(
        &mut self,
        resource: ResourceId,
        parameter: Option<&str>,
        fields: &[String],
        path: &Path<'_>,
    ) -> Option<(ParameterId, Vec<FieldId>)> {
        let fields_path = path.name("fields");
        let Some(name) = parameter else {
            if !fields.is_empty() {
                error!(self.findings, fields_path => "found `fields` without `parameter`";
                    "name the parameter that chooses");
            }
            return None;
        };
        let id = self.find_parameter(name, &path.name("parameter"))?;
        let parameter = self.parameter(id);
        let values: &[Str] = match &parameter.schema.kind {
            Type::Enum(values) => values,
            Type::String => {
                self.findings.warning(
                    path.name("parameter"),
                    format!("found the sort parameter `{name}` without an enum"),
                    "list the orders it takes, such as `enum: [price, -price]`, so that callers know them",
                );
                &[]
            }
            _ => {
                error!(self.findings, path.name("parameter") => "found a sort parameter that is no string";
                    "give it an enum");
                &[]
            }
        };
        // The parameter may only choose the direction of the existing order.
        if fields.is_empty() && !values.is_empty() && values.iter().all(|value| is_turn(value)) {
            return Some((id, Vec::new()));
        }
        let chosen = |value: &str| -> String {
            let value = value.strip_prefix(['-', '+']).unwrap_or(value);
            let value = value.strip_suffix(".desc").or_else(|| value.strip_suffix(".asc")).unwrap_or(value);
            value.to_owned()
        };
        let mut ids = Vec::new();
        if fields.is_empty() {
            for value in values {
                let field =
                    self.sort(resource, &chosen(value), &path.name("parameter")).map(|sort| sort.field);
                ids.extend(field.filter(|field| !ids.contains(field)));
            }
        }
        for (i, name) in fields.iter().enumerate() {
            ids.extend(self.sort(resource, name, &fields_path.index(i)).map(|sort| sort.field));
        }
        let unknown = values.iter().find(|value| !fields.is_empty() && !fields.contains(&chosen(value)));
        if let Some(value) = unknown {
            error!(self.findings, fields_path =>
                "found fields without `{}`, which the enum of `{name}` offers", chosen(value);
                "add it, or take it out of the enum");
        }
        Some((id, ids))
    }

    fn page(&mut self, here: &Path<'_>) -> Option<Page> {
        let doc = self.doc.behaviour.page.as_ref()?;
        let path = here.name("page");
        let style = doc.style;
        let size = doc.size.unwrap_or(PAGE_SIZE);
        if !(1..=MAX_PAGE_SIZE).contains(&size) {
            error!(self.findings, path.name("size") => "found {size}, expected 1 to {MAX_PAGE_SIZE}";
                "choose a page size");
        }
        let name = doc.parameter.as_deref().unwrap_or(style.as_str());
        let parameter = self.find_parameter(name, &path.name("parameter"))?;
        let wanted = if style == PageStyle::Cursor { "a string" } else { "an integer" };
        let fits = match self.parameter(parameter).schema.kind {
            Type::Integer => style != PageStyle::Cursor,
            Type::String => style == PageStyle::Cursor,
            _ => false,
        };
        if !fits {
            error!(self.findings, path => "found the parameter `{name}`, expected {wanted}";
                "change its type");
        }
        if self.parameter(parameter).required {
            error!(self.findings, path => "found the required parameter `{name}`";
                "make it optional, or give it a default");
        }
        if doc.number.is_some() && style != PageStyle::Cursor {
            error!(self.findings, path.name("number") => "found `number` beside a page that has no cursor, expected `style: cursor`";
                "leave `number` out, since the parameter of the page is one");
        }
        let mut integer = |name: Option<&String>, member: &str| {
            let name = name?;
            let id = self.find_parameter(name, &path.name(member))?;
            if !matches!(self.parameter(id).schema.kind, Type::Integer) {
                error!(self.findings, path.name(member) => "found `{name}`, expected an integer";
                    "change its type");
            }
            Some(id)
        };
        let limit = integer(doc.limit.as_ref(), "limit");
        let number = integer(doc.number.as_ref().filter(|_| style == PageStyle::Cursor), "number");
        Some(Page {
            style,
            size,
            first: doc.first.unwrap_or(u8::from(style != PageStyle::Offset)),
            parameter,
            limit,
            number,
        })
    }

    fn filters(&mut self, resource: ResourceId, here: &Path<'_>) -> Vec<Filter> {
        let section = here.name("filters");
        let doc = &self.doc.behaviour.filters;
        let mut filters = Vec::with_capacity(doc.len());
        for (name, filter) in doc {
            let path = section.name(name);
            let Some(parameter) = self.find_parameter(name, &path) else { continue };
            let test = match filter {
                FilterDoc::Field(field) => self.compare(resource, field, Comparison::Equal, parameter, &path),
                FilterDoc::Compare(compare) => {
                    self.compare(resource, &compare.field, compare.op, parameter, &path)
                }
                FilterDoc::Text(text) => self.text(resource, &text.text, parameter, &path),
            };
            filters.extend(test.map(|test| Filter { parameter, test }));
        }
        filters.sort_by_key(|filter| filter.parameter);
        filters
    }

    fn compare(
        &mut self,
        resource: ResourceId,
        name: &str,
        comparison: Comparison,
        parameter: ParameterId,
        path: &Path<'_>,
    ) -> Option<FilterTest> {
        let field = self.find_field(resource, name, path)?;
        let (of, with) = (&self.resource(resource).field(field).schema, &self.parameter(parameter).schema);
        if let Err(fix) = fits(comparison, of, with) {
            self.findings.error(
                path,
                format!("found a filter `{comparison}` of `{name}` with an argument whose type does not fit"),
                fix,
            );
        }
        Some(FilterTest::Compare(field, comparison))
    }

    fn text(
        &mut self,
        resource: ResourceId,
        names: &[String],
        parameter: ParameterId,
        path: &Path<'_>,
    ) -> Option<FilterTest> {
        let section = path.name("text");
        let mut fields = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let here = section.index(i);
            let Some(field) = self.find_field(resource, name, &here) else { continue };
            let texts = |kind: &Type| matches!(kind, Type::String | Type::Enum(_));
            let searchable = match &self.resource(resource).field(field).schema.kind {
                Type::List(items) => texts(&items.kind),
                kind => texts(kind),
            };
            if !searchable {
                error!(self.findings, here => "found `{name}`, which is no text";
                    "search strings, enums or lists of them");
            }
            fields.push(field);
        }
        if names.is_empty() {
            self.findings.error(section, "found no field to search", "name at least one");
        }
        if !matches!(self.parameter(parameter).schema.kind, Type::String) {
            error!(self.findings, path => "found a text search whose argument is no string";
                "write `type: string`");
        }
        Some(FilterTest::Text(fields))
    }

    /// Returns the fields and parameters of a look-up. Without `by`, these are the parameters with the names
    /// of fields.
    pub(super) fn by(&mut self, resource: ResourceId, here: &Path<'_>) -> Vec<(FieldId, ParameterId)> {
        let path = here.name("by");
        let doc = &self.doc.behaviour.by;
        let mut by = Vec::new();
        for (field, name) in doc {
            let at = path.name(field);
            if let (Some(field), Some(parameter)) =
                (self.find_field(resource, field, &at), self.find_parameter(name, &at))
            {
                by.push((field, parameter));
            }
        }
        if doc.is_empty() {
            let of = self.resource(resource);
            by.extend(self.parameters.iter().enumerate().filter_map(|(index, parameter)| {
                Some((of.field_named(&parameter.name)?, ParameterId(index as u16)))
            }));
            if by.is_empty() {
                self.findings.error(here, "found a look-up by nothing", "add `by: {field: parameter}`");
            }
        }
        for (field, parameter) in &by {
            let (field, parameter) = (self.resource(resource).field(*field), self.parameter(*parameter));
            if let Err(fix) = fits(Comparison::Equal, &field.schema, &parameter.schema) {
                self.findings.error(
                    path,
                    format!(
                        "found the parameter `{}`, whose type does not fit `{}`",
                        parameter.name, field.name
                    ),
                    fix,
                );
            }
            if !parameter.required && parameter.default.is_none() {
                error!(self.findings, path => "found the optional parameter `{}`", parameter.name;
                    "make it required");
            }
        }
        by.sort_unstable();
        by
    }

    /// Returns the resource whose keys a list field holds.
    pub(super) fn member_of(
        &mut self,
        holder: ResourceId,
        list: FieldId,
        at: &Path<'_>,
    ) -> Option<ResourceId> {
        let field = self.resource(holder).field(list);
        if let Type::List(items) = &field.schema.kind
            && let Type::Reference { resource, .. } = items.kind
        {
            return Some(resource);
        }
        error!(self.findings, at => "found `{}`, expected a field that is a list of references", field.name;
            "write `{{type: list, items: {{ref: ...}}}}`");
        None
    }

    /// Returns the parameter for the member's key, or for a list of keys.
    pub(super) fn member(
        &mut self,
        of: ResourceId,
        key: Option<&Expr>,
        here: &Path<'_>,
    ) -> Option<ParameterId> {
        let path = here.name("member");
        let refers = |schema: &Schema| match &schema.kind {
            Type::Reference { resource, .. } => *resource == of,
            Type::List(items) => matches!(items.kind, Type::Reference { resource, .. } if resource == of),
            _ => false,
        };
        if let Some(name) = &self.doc.behaviour.member {
            let parameter = self.find_parameter(name, &path)?;
            if !refers(&self.parameter(parameter).schema) {
                let resource = &self.resource(of).name;
                error!(self.findings, path =>
                    "found `{name}`, expected a reference to `{resource}` or a list of them";
                    "write `{{ref: {resource}}}`");
            }
            return Some(parameter);
        }
        let holder = match key.map(|key| &key.node) {
            Some(Node::Argument(parameter)) => Some(*parameter),
            _ => None,
        };
        let all = (0..self.parameters.len()).map(|index| ParameterId(index as u16));
        let found: Vec<ParameterId> =
            all.filter(|id| Some(*id) != holder && refers(&self.parameter(*id).schema)).collect();
        if let [one] = found.as_slice() {
            return Some(*one);
        }
        error!(self.findings, here => "found no or several parameters with the member's key";
            "name it with `member`");
        None
    }

    pub(super) fn position(&mut self, here: &Path<'_>) -> Option<ParameterId> {
        let path = here.name("position");
        let name = self.doc.behaviour.position.as_ref()?;
        let position = self.find_parameter(name, &path)?;
        if !matches!(self.parameter(position).schema.kind, Type::Integer) {
            error!(self.findings, path => "found `{name}`, expected an integer"; "write `type: integer`");
        }
        Some(position)
    }

    pub(super) fn aggregate(&mut self, resource: ResourceId, here: &Path<'_>) -> BehaviourKind {
        let doc = &self.doc.behaviour;
        let group_by =
            doc.group_by.as_ref().and_then(|name| self.find_field(resource, name, &here.name("group_by")));
        let section = here.name("measures");
        if doc.measures.is_empty() {
            error!(self.findings, here => "found an aggregate without measures";
                "add `measures: {{total: count}}`");
        }
        let mut measures = Vec::with_capacity(doc.measures.len());
        for (name, measure) in &doc.measures {
            let path = section.name(name);
            let same = |field: FieldId| *self.resource(resource).field(field).name == **name;
            if group_by.is_some_and(same) {
                error!(self.findings, &path =>
                    "found the measure `{name}`, which its groups show as the field they are made by";
                    "give the measure another name");
            }
            if let Some(measure) = self.measure(resource, measure, &path) {
                measures.push((nfc(name), measure));
            }
        }
        BehaviourKind::Aggregate { query: self.query(resource, here), group_by, measures }
    }

    fn measure(&mut self, resource: ResourceId, text: &str, path: &Path<'_>) -> Option<Measure> {
        let text = text.trim();
        if matches!(text, "count" | "count()") {
            return Some(Measure::Count);
        }
        let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let Some((kind, field)) = parts.filter(|(kind, _)| matches!(*kind, "sum" | "avg" | "min" | "max"))
        else {
            error!(self.findings, path =>
                "found `{text}`, expected count, sum(field), avg(field), min(field) or max(field)";
                "write one of them");
            return None;
        };
        let id = self.find_field(resource, field.trim(), path)?;
        let schema = &self.resource(resource).field(id).schema;
        let numeric = matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
        if !(numeric || matches!(kind, "min" | "max") && is_ordered(&schema.kind)) {
            let fields = &self.resource(resource).fields;
            let numbers = fields.iter().filter(|field| {
                matches!(field.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. })
            });
            let known = listed(numbers.map(|field| &*field.name));
            error!(self.findings, path => "found `{field}`, which is no number"; "measure one of {known}");
        }
        Some(match kind {
            "sum" => Measure::Sum(id),
            "avg" => Measure::Average(id),
            "min" => Measure::Min(id),
            _ => Measure::Max(id),
        })
    }
}

fn is_ordered(kind: &Type) -> bool {
    !matches!(kind, Type::List(_) | Type::Object(_))
}

/// Checks that a field can be compared with an argument. The error describes the correction.
fn fits(comparison: Comparison, field: &Schema, argument: &Schema) -> Result<(), &'static str> {
    let numeric =
        |schema: &Schema| matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
    let textual = |schema: &Schema| matches!(schema.kind, Type::String | Type::Enum(_));
    let comparable = |field: &Schema, argument: &Schema| {
        (numeric(field) && numeric(argument))
            || (textual(field) && textual(argument))
            || assignable(argument, field)
    };
    match comparison {
        Comparison::Equal | Comparison::NotEqual => {
            if comparable(field, argument) {
                Ok(())
            } else if matches!(field.kind, Type::List(_)) {
                Err("for a list field use `op: has`")
            } else if matches!((&field.kind, &argument.kind), (Type::DateTime, Type::Date)) {
                Err("for a date-time on a date use `op: on`")
            } else if matches!(argument.kind, Type::List(_)) {
                Err("for an argument that is a list use `op: in`")
            } else {
                Err("write `like: resource.field`")
            }
        }
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
            if comparable(field, argument) && is_ordered(&field.kind) {
                Ok(())
            } else {
                Err("compare values of one type that has an order")
            }
        }
        Comparison::On => match (&field.kind, &argument.kind) {
            (Type::DateTime, Type::Date) => Ok(()),
            _ => Err("`on` takes a date-time field and a date argument"),
        },
        Comparison::Prefix | Comparison::Contains => {
            if textual(field) && textual(argument) {
                Ok(())
            } else {
                Err("`prefix` and `contains` take strings")
            }
        }
        Comparison::Has => match &field.kind {
            Type::List(items) if comparable(items, argument) => Ok(()),
            Type::List(_) => Err("give the argument the type of the list's items"),
            _ => Err("`has` takes a list field; for others use `eq`"),
        },
        Comparison::In => match &argument.kind {
            Type::List(items) if comparable(field, items) => Ok(()),
            _ => Err("`in` takes an argument that is a list of values of the field"),
        },
    }
}

/// Returns true if a value of a sort parameter is only a direction: `asc` or `desc`.
fn is_turn(value: &str) -> bool {
    ["asc", "desc"].iter().any(|way| value.eq_ignore_ascii_case(way))
}
