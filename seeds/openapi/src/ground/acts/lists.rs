//! Handles lists of collections: their records, and the parameters that filter and page them.

use std::collections::HashMap;
use std::sync::LazyLock;

use diorama_seeds::contract::{ME, noun, plain};
use diorama_seeds::doc::{ApiDoc, FieldDoc, PageDoc, PageStyle, Place, ReplyDoc, SortDoc, TypeName};
use diorama_seeds::table::group_words;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::Act;
use crate::Severity;
use crate::document::Parameter;
use crate::ground::places::{Collection, Part, list};
use crate::ground::resources::CREATED;
use crate::nouns;
use crate::phrases;
use crate::shape::{Kind, Shape};
use crate::views::is_paging;
use crate::words::{is_plural, label, plural, words};

/// Names of parameters that choose a page, by their role.
static PAGING: LazyLock<HashMap<&'static str, Vec<&'static str>>> =
    LazyLock::new(|| group_words(include_str!("../../data/paging.txt")));
/// Levels of a reply that are searched for members about pages.
const MAX_PAGING_DEPTH: u32 = 3;

fn paging(chosen: &str) -> &'static [&'static str] {
    PAGING.get(chosen).map(Vec::as_slice).unwrap_or_default()
}

/// Returns true if a reply has members about pages.
pub(in crate::ground) fn tells_pages(reply: &Shape) -> bool {
    fn tells(shape: &Shape, depth: u32) -> bool {
        let members = shape.first_object().members().filter(|_| depth < MAX_PAGING_DEPTH);
        members.into_iter().flatten().any(|(name, member)| {
            is_paging(name) || (member.shape.items().is_none() && tells(&member.shape, depth + 1))
        })
    }
    tells(reply, 0)
}

/// Returns true if a parameter bounds a list by a time and chooses no page: `start` of a history.
fn is_moment(parameter: &Parameter) -> bool {
    let is_dated = matches!(parameter.shape.format.as_deref(), Some("date" | "date-time" | "datetime"));
    let said = words(&parameter.description);
    let tells_time = said.iter().any(|word| paging("moment").contains(&word.as_str()));
    is_dated || tells_time && paging("instant").contains(&plain(&parameter.name).as_str())
}

/// Returns the first of some plain names that a query parameter has, as the parameter spells it.
fn of_query(names: &[&str], parameters: &IndexMap<String, FieldDoc>) -> Option<String> {
    let mut names = names.iter();
    names.find_map(|wanted| {
        let mut all = parameters.iter();
        let found = all.find(|(name, doc)| doc.place == Some(Place::Query) && plain(name) == *wanted);
        found.map(|(name, _)| name.clone())
    })
}

impl Act<'_> {
    /// Lists the records of a path, which another collection may hold.
    pub(super) fn list(&mut self, index: usize, items: String, elsewhere: bool) {
        let found = self.collection(index);
        let above = self.scope(index, elsewhere);
        self.require(&above);
        self.require_named();
        self.require_values(index, &above);
        let conditions = self.conditions("item", &above, 0);
        self.api.behaviour.list = Some(found.name.clone());
        self.api.behaviour.condition = (!conditions.is_empty()).then(|| conditions.join(" && "));
        self.api.reply = ReplyDoc { items: Some(items), total: Some(String::new()), ..ReplyDoc::default() };
        self.page();
        self.order(found);
        let arguments = self.filter(found);
        let arguments: Vec<_> = self.say_whose().into_iter().chain(arguments).collect();
        let mine =
            self.parts.iter().any(|part| matches!(part, Part::Text(text) if ME.contains(&text.as_str())));
        // The path does not say what it lists if the key before it names another kind of record.
        let strange = matches!(self.parts.last(), Some(Part::Key(_)))
            && list(self.operation, &self.parts)
                .and_then(|(_, item)| self.places.said_by(item))
                .is_some_and(|said| said != found.noun);
        // The last word of a path may be the action: `/threads/search` of `ThreadSearch` has no searches.
        let does = matches!(self.parts.last(), Some(Part::Text(text)) if !is_plural(text)
            && (nouns::is("reads", text) || phrases::is_verb(text))
            && words(&self.api.name).last() == Some(text));
        if !strange && !does && !nouns::is("reads", found.label.split(' ').next().unwrap_or_default()) {
            let nouns = self.nouns(found, elsewhere);
            self.api.phrases = phrases::list(if mine { "my" } else { "" }, &nouns, &arguments);
        }
    }

    /// Returns the noun of a list, from its own path where another collection holds the records: `assignees`,
    /// `global templates`.
    fn nouns(&self, found: &Collection, elsewhere: bool) -> String {
        let told = match self.parts.last() {
            Some(Part::Text(text)) if elsewhere => text,
            _ => return plural(&found.label),
        };
        let all = words(told);
        let is_own = |word: &String| noun(word) == found.noun;
        match all.as_slice() {
            [only] if is_own(only) => plural(&found.label),
            [only] if !is_plural(only) => format!("{only} {}", plural(&found.label)),
            [.., last] if all.iter().any(is_own) || (is_plural(last) && all.len() == 1) => {
                label(&all.join("_"))
            }
            _ => plural(&found.label),
        }
    }

    pub(super) fn page(&mut self) {
        let moments: Vec<&str> = self
            .operation
            .parameters
            .iter()
            .filter(|known| is_moment(known))
            .map(|known| known.name.as_str())
            .collect();
        let of = |names: &[&str], api: &ApiDoc| {
            of_query(names, &api.parameters).filter(|name| !moments.contains(&name.as_str()))
        };
        let styles = [
            (PageStyle::Page, paging("page"), TypeName::Integer),
            (PageStyle::Offset, paging("offset"), TypeName::Integer),
            (PageStyle::Cursor, paging("cursor"), TypeName::String),
        ];
        // A cursor that replies show under the parameter's own name takes precedence over a page number.
        let reply = self.operation.reply.as_ref().map(Shape::first_object).and_then(Shape::members);
        let is_shown =
            |name: &String| reply.is_some_and(|all| all.keys().any(|shown| plain(shown) == plain(name)));
        let cursor = of(paging("cursor"), &self.api).filter(is_shown);
        let cursor = cursor.map(|name| (PageStyle::Cursor, name, TypeName::String));
        let found = cursor.or_else(|| {
            styles.into_iter().find_map(|(style, names, kind)| Some((style, of(names, &self.api)?, kind)))
        });
        // A page size parameter takes precedence over a limit for numbered pages.
        let is_numbered = matches!(&found, Some((PageStyle::Page, ..)));
        let sized = of(paging("size"), &self.api).filter(|_| is_numbered);
        let limit = sized.or_else(|| of(paging("limit"), &self.api));
        let limit = limit.or_else(|| of(paging("bound"), &self.api).filter(|_| found.is_some()));
        let (style, parameter, kind) = match (found, &limit) {
            // An offset that is a token is a cursor.
            (Some((PageStyle::Offset, name, _)), _) if self.is_token(&name) => {
                (PageStyle::Cursor, name, TypeName::String)
            }
            (Some(found), _) => found,
            (None, Some(_)) => {
                let doc = FieldDoc { place: Some(Place::Query), ..FieldDoc::default() };
                self.api.parameters.entry("offset".to_owned()).or_insert(doc);
                self.notes.push(
                    Severity::Other.says("`offset` is added, as only the size of a page can be chosen"),
                );
                (PageStyle::Offset, "offset".to_owned(), TypeName::Integer)
            }
            (None, None) => return,
        };
        let parameters = &mut self.api.parameters;
        let written = self.operation.parameters.iter().find(|known| known.name == parameter);
        let example =
            written.and_then(|written| written.shape.default.as_ref().or(written.shape.samples.first()));
        // The first page is the one that a call without the parameter, or with the document's example, gets.
        let told =
            parameters.get(&parameter).and_then(|doc| example.or(doc.default.as_ref()).or(doc.min.as_ref()));
        let first = told.and_then(Json::as_u64).and_then(|first| match (style, first) {
            (PageStyle::Page, 0) => Some(0),
            (PageStyle::Offset, 1) => Some(1),
            _ => None,
        });
        let size = limit.as_ref().and_then(|name| parameters.get(name)?.default.as_ref()?.as_u64());
        let size = size.and_then(|size| u32::try_from(size).ok()).filter(|size| (1..=1_000).contains(size));
        // Callers may choose a page by its number where no cursor is given.
        let number = of_query(paging("page"), parameters).filter(|_| style == PageStyle::Cursor);
        let numbers = [(limit.as_ref(), TypeName::Integer), (number.as_ref(), TypeName::Integer)];
        for (name, kind) in [(Some(&parameter), kind)].into_iter().chain(numbers) {
            let Some(doc) = name.and_then(|name| parameters.get_mut(name)) else { continue };
            let kept = std::mem::take(doc);
            let default = kept.default.filter(|default| kind == TypeName::Integer && default.is_u64());
            *doc = FieldDoc {
                kind: Some(kind),
                place: kept.place,
                description: kept.description,
                label: kept.label,
                optional: default.is_none(),
                default,
                max: kept.max.filter(|_| name == limit.as_ref()),
                ..FieldDoc::default()
            };
        }
        self.used.insert(parameter.clone());
        self.used.extend(limit.iter().chain(&number).cloned());
        self.api.behaviour.page =
            Some(PageDoc { style, size, parameter: Some(parameter), first, limit, number });
    }

    /// Returns true if a parameter is a string that the document calls a token.
    fn is_token(&self, name: &str) -> bool {
        let known = self.operation.parameters.iter().find(|known| known.name == name);
        known.is_some_and(|known| {
            let said = words(&known.description);
            known.shape.kind == Kind::String
                && said.iter().any(|word| paging("token").contains(&word.as_str()))
        })
    }

    /// Orders by creation time, in the direction that a parameter chooses, unless another order is known.
    fn order(&mut self, found: &Collection) {
        if self.sorted_by(found) || self.ordered_as_said(found) {
            return;
        }
        let fields = self.resources.get(&found.name).into_iter().flat_map(|known| &known.fields);
        let made = |name: &str, doc: &FieldDoc| {
            doc.kind == Some(TypeName::DateTime) && CREATED.contains(&plain(name).as_str())
        };
        let Some((by, _)) = fields.into_iter().find(|(name, doc)| made(name, doc)) else { return };
        let turns = |doc: &FieldDoc| {
            let either = |value: &String| ["asc", "desc"].contains(&value.to_lowercase().as_str());
            !doc.values.is_empty() && doc.values.iter().all(either)
        };
        let parameter = self.api.parameters.iter().find(|(_, doc)| turns(doc)).map(|(name, _)| name.clone());
        self.used.extend(parameter.clone());
        self.api.behaviour.sort = Some(SortDoc { by: Some(by.clone()), parameter, fields: Vec::new() });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    #[test]
    fn parameters_that_bound_a_time_choose_no_page() {
        let pages = |name: &str, schema: Json, said: &str| {
            let entry = json!({"type": "object", "properties": {"id": {"type": "string"}}});
            let reply = json!({"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": entry}}}}});
            let known = json!({"name": name, "in": "query", "description": said, "schema": schema});
            let get = json!({"operationId": "listEntries", "parameters": [known], "responses": reply});
            let root = json!({"openapi": "3.0.0", "info": {"title": "Log", "version": "1"}, "paths": {"/entries": {"get": get}}});
            let found = crate::import("log.json", root.to_string().as_bytes(), &Default::default()).unwrap();
            found.doc.apis[0].behaviour.page.is_some()
        };
        let (number, text) = (json!({"type": "integer"}), json!({"type": "string"}));
        assert!(pages("start", number.clone(), "The first entry."));
        assert!(!pages("start", json!({"type": "string", "format": "date-time"}), "The beginning."));
        assert!(!pages("before", number, "A Unix timestamp in milliseconds."));
        assert!(pages("before", text.clone(), "The id of an entry."));
        assert!(pages("page_token", text, "A token with a timestamp."));
    }
}
