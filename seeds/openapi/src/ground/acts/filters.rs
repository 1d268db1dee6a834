//! Chooses filters and orders of lists by a parameter's name, its type and the fields of the records.

use diorama_seeds::contract::{key_name, noun, plain};
use diorama_seeds::doc::{
    CompareDoc, Comparison, EachDoc, FieldDoc, FilterDoc, Place, RecordsDoc, ResourceDoc, SortDoc, TextDoc,
    TypeName,
};
use diorama_seeds::english::stem;
use indexmap::IndexMap;
use serde_json::json;

use super::Act;
use crate::Severity;
use crate::bounds::{bound, is_order, ordered_by, stems};
use crate::constants::quote;
use crate::fakes::{self, is_every};
use crate::ground::places::Collection;
use crate::operations::argument;
use crate::phrases;
use crate::words::{identifier, is_identifier, label, measured, words};

const SEARCHES: [&str; 8] = ["q", "query", "search", "term", "keyword", "searchterm", "namecontains", "text"];

/// The fields that a filter's name may refer to.
type FilteredField = Option<String>;

/// Returns true if a description says that the parameter is matched against the display field: `whose name
/// starts with the search term`.
fn matches_by(doc: &FieldDoc, display: &str) -> bool {
    let said = words(doc.description.as_deref().unwrap_or_default());
    let is = |wanted: &[&str]| said.iter().any(|word| wanted.contains(&stem(word).as_str()));
    let term = doc.kind == Some(TypeName::String) && doc.values.is_empty();
    term && said.iter().any(|word| word == display) && is(&["match", "start", "begin", "contain", "search"])
}

/// Returns true if a parameter takes some of a few values, so that its default filters records as callers do.
fn is_choice(doc: &FieldDoc) -> bool {
    !doc.values.is_empty() || doc.items.as_ref().is_some_and(|item| !item.values.is_empty())
}

impl Act<'_> {
    /// Adds filters and searches for parameters that refer to fields. Returns their phrases.
    pub(super) fn filter(&mut self, found: &Collection) -> Vec<(String, String, bool)> {
        let Some(resource) = self.resources.get(&found.name).cloned() else { return Vec::new() };
        // A list that is requested by a body takes its filters from the body.
        let is_read = self.operation.written.is_some();
        // Records that only a search shows match any search text.
        let searched = found.item.is_some() || found.made;
        let names: Vec<String> = self
            .api
            .parameters
            .iter()
            .filter(|(name, doc)| {
                (doc.place == Some(Place::Query) || (is_read && doc.place == Some(Place::Body)))
                    && (doc.default.is_none()
                        || is_choice(doc)
                        || self.takes_any_text(&found.name, name, doc)
                        || !self.values_named(name, doc).is_empty())
                    && !name.starts_with('$')
                    && !self.used.contains(*name)
                    && is_identifier(&identifier(name))
            })
            .map(|(name, _)| name.clone())
            .collect();
        let mut said = Vec::new();
        for name in names {
            let Some(doc) = self.api.parameters.get(&name).cloned() else { continue };
            let words = self.search(&resource, &name, &doc, searched).or_else(|| {
                let joined = words(&name).join("_");
                self.in_seconds(&resource, &name, &joined)
                    .or_else(|| self.compares(&resource, &name, &joined))
                    .or_else(|| self.equals(&found.name, &resource, &name, &doc))
                    .or_else(|| self.alike(&found.name, &resource, &name, &doc))
                    .or_else(|| self.any_of(&resource, &name, &doc))
                    .or_else(|| self.one_of(&resource, &name, &doc))
                    .or_else(|| self.on_day(&resource, &name, &doc))
                    .or_else(|| self.in_year(&resource, &name, &joined))
                    .or_else(|| self.refers_to(&found.name, &resource, &name, &joined))
                    .or_else(|| self.inside(&resource, &name, &doc))
                    .or_else(|| self.spelt_alike(&resource, &name, &doc))
                    .or_else(|| {
                        let condition = self
                            .flagged(&resource, &name, &doc)
                            .or_else(|| self.left_out(&resource, &name, &doc))?;
                        self.demand(&name, &condition);
                        Some(String::new())
                    })
            });
            let Some(words) = words else { continue };
            self.used.insert(name.clone());
            if !words.is_empty() {
                said.push((name, words, !doc.optional));
            }
        }
        said
    }

    /// Returns true if a parameter names a string field of placeholders: its default then gives the value.
    fn takes_any_text(&self, resource: &str, name: &str, doc: &FieldDoc) -> bool {
        doc.kind == Some(TypeName::String) && self.field(resource, name).is_some_and(fakes::is_anything)
    }

    fn put(&mut self, name: &str, filter: FilterDoc) {
        self.api.behaviour.filters.insert(name.to_owned(), filter);
    }

    fn compare(&mut self, name: &str, field: &str, op: Comparison) {
        self.put(name, FilterDoc::Compare(CompareDoc { field: field.to_owned(), op }));
    }

    /// Adds a condition that holds where the parameter is not given.
    fn demand(&mut self, name: &str, condition: &str) {
        let given = argument(name);
        let condition = format!("(!given({given}) || {condition})");
        let known = self.api.behaviour.condition.take();
        let both = known.map(|known| format!("{known} && {condition}"));
        self.api.behaviour.condition = Some(both.unwrap_or(condition));
    }

    /// Searches the words of names and texts.
    fn search(
        &mut self,
        resource: &ResourceDoc,
        name: &str,
        doc: &FieldDoc,
        searched: bool,
    ) -> FilteredField {
        if doc.kind != Some(TypeName::String) || !doc.values.is_empty() {
            return None;
        }
        if searched && SEARCHES.contains(&plain(name).as_str()) {
            let text = |(field, doc): (&String, &FieldDoc)| {
                let own = doc.kind == Some(TypeName::String) && doc.format.is_none() && doc.optional;
                (own && *field != resource.key).then(|| field.clone())
            };
            let mut texts: Vec<String> = resource.fields.iter().filter_map(text).collect();
            // A search reads the display field where records have one.
            if let Some(display) = &resource.display {
                let original = format!("original_{display}");
                texts.retain(|field| field == display || *field == original);
            }
            texts.sort_by_key(|field| Some(field) != resource.display.as_ref());
            texts.truncate(4);
            // A required search needs a display field.
            if texts.is_empty() || (!doc.optional && resource.display.is_none()) {
                return None;
            }
            self.put(name, FilterDoc::Text(TextDoc { text: texts }));
            return Some(if doc.optional { "about {}" } else { "matching {}" }.to_owned());
        }
        let display = resource.display.as_ref().filter(|display| matches_by(doc, display))?.clone();
        self.put(name, FilterDoc::Text(TextDoc { text: vec![display] }));
        Some(String::new())
    }

    /// Compares with a field of the same name and type.
    fn equals(&mut self, of: &str, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let (field, known) = resource.fields.iter().find(|(field, _)| plain(field) == plain(name))?;
        let is_key = *field == resource.key && doc.optional;
        if known.reference.is_some() || !(known.optional || is_key) {
            return None;
        }
        let simple = ["string", "integer", "boolean"].contains(&doc.kind.as_deref().unwrap_or_default());
        let among = !doc.values.is_empty() && doc.values.iter().all(|value| known.values.contains(value));
        let same = (simple && doc.kind == known.kind) || among;
        if !same && (known.values.is_empty() || doc.kind != Some(TypeName::String)) {
            return None;
        }
        if !same && let Some(own) = self.api.parameters.get_mut(name) {
            own.synonyms.retain(|value, _| known.values.contains(value));
            (own.kind, own.values) = (None, known.values.clone());
        }
        self.begin_as_listed(of, field, doc);
        self.put(name, FilterDoc::Field(field.clone()));
        Some(phrases::having(name, doc, known))
    }

    /// Gives new records the filter's default value, so that a list without the filter shows them.
    fn begin_as_listed(&mut self, of: &str, field: &str, doc: &FieldDoc) {
        let Some(own) = self.resources.get_mut(of).and_then(|known| known.fields.get_mut(field)) else {
            return;
        };
        let first =
            doc.default.as_ref().filter(|first| first.is_string() && !first.as_str().is_some_and(is_every));
        // A placeholder field gets the filter's default in all records.
        if let Some(first) = first.filter(|_| fakes::is_anything(own)) {
            own.fake = Some(json!({"provider": "pick", "of": [first]}));
        }
        if own.default.is_none() && own.optional {
            own.default = first.cloned();
        }
    }

    /// Compares a timestamp with seconds since 1970: `created`, `created_gte`.
    fn in_seconds(&mut self, resource: &ResourceDoc, name: &str, joined: &str) -> FilteredField {
        let kind = self.api.parameters.get(name)?.kind;
        matches!(kind, Some(TypeName::Integer | TypeName::Number)).then_some(())?;
        let (stem, sign) = match bound(joined) {
            Some((stem, Comparison::GreaterOrEqual)) => (stem, ">="),
            Some((stem, Comparison::Greater)) => (stem, ">"),
            Some((stem, Comparison::LessOrEqual)) => (stem, "<="),
            Some((stem, Comparison::Less)) => (stem, "<"),
            _ => (joined.to_owned(), "=="),
        };
        let is_moment = |doc: &FieldDoc| doc.kind == Some(TypeName::DateTime);
        let field = stems(&stem).into_iter().find(|stem| resource.fields.get(stem).is_some_and(is_moment))?;
        let seconds = format!("(item.{field} - datetime('1970-01-01T00:00Z')) / minutes(1) * 60");
        self.demand(name, &format!("(item.{field} != null && {seconds} {sign} {})", argument(name)));
        Some(String::new())
    }

    /// Adds bounds: `vote_average.gte`, `min_price`, `created_after`.
    fn compares(&mut self, resource: &ResourceDoc, name: &str, joined: &str) -> FilteredField {
        let (stem, op) = bound(joined)?;
        let ordered = |doc: &FieldDoc| {
            matches!(
                doc.kind,
                Some(
                    TypeName::Integer
                        | TypeName::Number
                        | TypeName::Date
                        | TypeName::DateTime
                        | TypeName::Time
                )
            )
        };
        let field = stems(&stem).into_iter().find(|stem| resource.fields.get(stem).is_some_and(ordered))?;
        let known = resource.fields.get(&field)?;
        let doc = self.api.parameters.get_mut(name)?;
        let typed = FieldDoc {
            kind: known.kind,
            unit: known.unit.clone(),
            place: doc.place.take(),
            description: doc.description.take(),
            label: doc.label.take(),
            optional: doc.optional,
            ..FieldDoc::default()
        };
        *doc = typed;
        phrases::name(name, doc);
        let noun = measured(&field).map_or_else(|| label(&field), |(what, _)| what);
        self.compare(name, &field, op);
        let is_least = matches!(op, Comparison::GreaterOrEqual | Comparison::Greater);
        Some(phrases::bounded(&field, &noun, known, is_least))
    }

    /// Compares with a string field for which the document names other values. `all` matches every record.
    fn alike(&mut self, of: &str, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let is_text = |doc: &FieldDoc| {
            (doc.kind == Some(TypeName::String) || !doc.values.is_empty()) && doc.reference.is_none()
        };
        let named = resource.fields.iter().find(|(field, _)| plain(field) == plain(name));
        let (field, known) = named.filter(|(field, known)| {
            **field != resource.key && is_text(known) && is_text(doc) && !doc.values.is_empty()
        })?;
        let (every, own): (Vec<&String>, Vec<&String>) = doc.values.iter().partition(|value| is_every(value));
        if let Some(own_field) = self.resources.get_mut(of).and_then(|known| known.fields.get_mut(field))
            && own_field.values.is_empty()
            && fakes::is_anything(own_field)
            && !own.is_empty()
        {
            own_field.fake = Some(json!({"provider": "pick", "of": own}));
        }
        self.begin_as_listed(of, field, doc);
        let given = argument(name);
        let all: Vec<String> = every.iter().map(|value| format!("{given} == {}", quote(value))).collect();
        let whole = if known.optional { format!("item.{field} != null && ") } else { String::new() };
        let all: String = all.iter().map(|test| format!("{test} || ")).collect();
        self.demand(name, &format!("({all}({whole}string(item.{field}) == string({given})))"));
        Some(phrases::having(name, doc, known))
    }

    /// Matches records that have one of a list of values: `status=open,closed`.
    fn any_of(&mut self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let item = doc.items.as_ref().filter(|_| doc.kind == Some(TypeName::List))?;
        let named = |field: &String| plain(field) == plain(name) || noun(field) == noun(name);
        let (field, known) = resource.fields.iter().find(|(field, known)| {
            named(field) && known.optional && known.items.is_none() && known.reference.is_none()
        })?;
        let among = item.values.iter().all(|value| known.values.contains(value));
        if item.kind != known.kind && !among {
            return None;
        }
        self.compare(name, field, Comparison::In);
        Some(phrases::having(name, item, known))
    }

    /// Matches one of the strings that a record lists: `tag` or `tag_name` of its `tags`.
    fn one_of(&mut self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let stem = key_name(name).filter(|(_, ending)| *ending == "name").map(|(stem, _)| stem);
        let wanted = stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| noun(name));
        let texts = |known: &FieldDoc| {
            let item = known.items.as_ref().filter(|_| known.kind == Some(TypeName::List));
            item.is_some_and(|item| item.kind == Some(TypeName::String) && item.reference.is_none())
        };
        let is_text = doc.kind == Some(TypeName::String) && doc.values.is_empty();
        let found = resource.fields.iter().find(|(field, known)| noun(field) == wanted && texts(known));
        let (field, known) = found.filter(|_| is_text)?;
        let given = argument(name);
        let whole = if known.optional { format!("item.{field} != null && ") } else { String::new() };
        self.demand(name, &format!("({whole}{given} in item.{field})"));
        Some(format!("with the {} {{}}", label(&wanted)))
    }

    /// Matches a day by a parameter that names no field: `on`, `date`, `day`.
    fn on_day(&mut self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let only_says = ["on", "date", "day", "when"].contains(&plain(name).as_str());
        if !only_says || doc.kind != Some(TypeName::Date) || resource.fields.contains_key(name) {
            return None;
        }
        let (field, op) = resource.fields.iter().find_map(|(field, known)| match known.kind? {
            TypeName::Date => Some((field.clone(), Comparison::Equal)),
            TypeName::DateTime => Some((field.clone(), Comparison::On)),
            _ => None,
        })?;
        self.compare(name, &field, op);
        Some("{}".to_owned())
    }

    /// Matches the year of a date.
    fn in_year(&mut self, resource: &ResourceDoc, name: &str, joined: &str) -> FilteredField {
        let stem = joined.strip_suffix("year")?.trim_end_matches('_').to_owned();
        let is_date = |field: &String| {
            resource.fields.get(field).is_some_and(|known| known.kind == Some(TypeName::Date))
        };
        let own = stems(&format!("{stem}_date")).into_iter().chain(stems(&stem)).find(is_date);
        let field = own.or_else(|| date_of(resource))?;
        let given = argument(name);
        self.demand(name, &format!("year(item.{field}) == {given}"));
        Some("from {}".to_owned())
    }

    /// Matches records that refer to a record: `customer_id`, `with_genres`, `without_genres`.
    fn refers_to(&mut self, of: &str, resource: &ResourceDoc, name: &str, joined: &str) -> FilteredField {
        let (stem, without) = match joined.strip_prefix("without_") {
            Some(rest) => (rest, true),
            None => {
                (joined.strip_prefix("with_").or(joined.strip_prefix("filter_")).unwrap_or(joined), false)
            }
        };
        let singular = noun(stem.trim_end_matches("_id").trim_end_matches("_ids"));
        let (field, known) = resource.fields.iter().find(|(field, known)| {
            let target = known.reference.as_ref().or_else(|| known.items.as_ref()?.reference.as_ref());
            let base = noun(field.trim_end_matches("_ids").trim_end_matches("_id"));
            target.is_some_and(|target| {
                plain(field) == plain(stem)
                    || base == singular
                    || noun(target) == singular
                    || base.ends_with(&singular)
            })
        })?;
        let many = known.items.as_ref().and_then(|item| item.reference.clone());
        let target = known.reference.clone().or_else(|| many.clone())?;
        // A required filter needs a field that some request sends.
        let told = plain(field) == plain(name) && self.places.sent.contains(&plain(name));
        if !self.api.parameters.get(name)?.optional && !told {
            return None;
        }
        let doc = self.api.parameters.get_mut(name)?;
        if doc.kind == Some(TypeName::List) {
            return None;
        }
        // The owner that a required filter names has some records.
        if let Some(own) = self
            .resources
            .get_mut(of)
            .filter(|own| !doc.optional && own.each.is_empty() && !own.singleton && many.is_none())
        {
            own.records = RecordsDoc::default();
            let (of, by) = (target.clone(), field.clone());
            own.each.push(EachDoc { of, by, min: 2, max: 3, set: IndexMap::new() });
        }
        if doc.description.as_deref().unwrap_or_default().contains("omma") {
            self.notes.push(Severity::Other.says(format!("`{name}` takes one key, not a list of keys")));
        }
        let noun = self.resources.get(&target)?.label.clone().unwrap_or_else(|| label(&target));
        *doc = FieldDoc {
            reference: Some(target),
            place: doc.place.take(),
            description: doc.description.take(),
            label: Some(noun.clone()),
            optional: doc.optional,
            ..FieldDoc::default()
        };
        if without {
            let given = argument(name);
            let test = match many {
                Some(_) => format!("!({given} in item.{field})"),
                None => format!("item.{field} != {given}"),
            };
            self.demand(name, &test);
            return Some(format!("without the {noun} {{}}"));
        }
        self.compare(name, field, if many.is_some() { Comparison::Has } else { Comparison::Equal });
        Some(if many.is_some() { format!("with the {noun} {{}}") } else { format!("of the {noun} {{}}") })
    }

    /// Matches a member of an object inside the record: `city` of its address.
    fn inside(&mut self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let text = |doc: &FieldDoc| doc.kind == Some(TypeName::String);
        let field = resource.fields.iter().find(|(_, known)| known.fields.get(name).is_some_and(text));
        let (field, known) = field.filter(|_| text(doc) && is_identifier(name))?;
        let whole = if known.optional { format!("item.{field} != null && ") } else { String::new() };
        let given = argument(name);
        self.demand(name, &format!("({whole}lower(item.{field}.{name}) == lower({given}))"));
        let of_field = known.fields.get(name)?;
        Some(phrases::having(name, doc, of_field))
    }

    /// Matches a value of the same name and another type: a string `level` for a number.
    fn spelt_alike(&mut self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> FilteredField {
        let is_value = |doc: &FieldDoc| {
            let plain = matches!(
                doc.kind,
                Some(TypeName::String | TypeName::Integer | TypeName::Number | TypeName::Boolean)
            );
            (plain || !doc.values.is_empty()) && doc.reference.is_none()
        };
        let same = |field: &str| plain(field) == plain(name);
        let (field, known) = resource.fields.iter().find(|(field, known)| same(field) && is_value(known))?;
        is_value(doc).then_some(())?;
        let whole = if known.optional { format!("item.{field} != null && ") } else { String::new() };
        self.demand(name, &format!("({whole}string(item.{field}) == string({}))", argument(name)));
        Some(String::new())
    }

    /// Adds the order that callers choose by stored fields. Returns true if there is one.
    pub(super) fn sorted_by(&mut self, found: &Collection) -> bool {
        let Some(resource) = self.resources.get(&found.name) else { return false };
        let found =
            self.api.parameters.iter_mut().find(|(name, doc)| is_order(name) && !doc.values.is_empty());
        let Some((name, doc)) = found else { return false };
        let stored = |value: &&String| resource.fields.contains_key(ordered_by(value));
        let (kept, lost): (Vec<&String>, Vec<&String>) = doc.values.iter().partition(stored);
        let mut fields: Vec<String> = kept.iter().map(|value| ordered_by(value).to_owned()).collect();
        fields.dedup();
        fields.sort();
        fields.dedup();
        let kept: Vec<String> = kept.into_iter().cloned().collect();
        if kept.is_empty() {
            return false;
        }
        if !lost.is_empty() {
            let lost: Vec<&str> = lost.iter().map(|value| value.as_str()).collect();
            self.notes.push(Severity::Less.says(format!(
                "`{name}` leaves out orders by fields that no schema has: {}",
                lost.join(", ")
            )));
        }
        if doc.default.as_ref().is_some_and(|default| !kept.iter().any(|value| default == value)) {
            (doc.default, doc.optional) = (None, true);
        }
        doc.synonyms.retain(|value, _| kept.contains(value));
        doc.values = kept;
        let name = name.clone();
        self.used.insert(name.clone());
        let sort = self.api.behaviour.sort.get_or_insert_with(SortDoc::default);
        (sort.parameter, sort.fields) = (Some(name), fields);
        true
    }
}

/// Returns the date by which records are new or upcoming.
pub(super) fn date_of(resource: &ResourceDoc) -> Option<String> {
    let dates: Vec<&String> = resource
        .fields
        .iter()
        .filter(|(_, known)| known.kind == Some(TypeName::Date))
        .map(|(name, _)| name)
        .collect();
    let wanted = ["release", "first", "start", "published", "publish", "created", "due", "air"];
    let named =
        wanted.iter().find_map(|word| dates.iter().find(|name| words(name).iter().any(|part| part == word)));
    named.or_else(|| dates.first()).map(|name| (*name).clone())
}
