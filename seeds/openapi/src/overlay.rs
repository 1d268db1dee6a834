//! Merges overlays: corrections of an imported world that are stored apart, so that the document can be
//! imported again.
//!
//! An overlay is a part of a world document. Mappings are merged key by key, and a null removes a key. APIs
//! are merged by `name`: a new name adds an API, and `remove: true` removes one. Other values (strings,
//! numbers, lists) replace the old ones.

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::{self, Finding, Report};
use serde_json::{Map, Value as Json};

use super::source;

/// Merges an overlay into a world. `name` is the overlay's file, for messages.
///
/// # Errors
/// Returns an error if the text is no part of a world document, an API has no name, or the result does not
/// compile.
pub fn overlay(doc: &WorldDoc, name: &str, text: &[u8]) -> Result<WorldDoc, Report> {
    let refuse = |message: String, fix: &str| Report::one(name, Finding::error("", message, fix));
    let over = source::parse(text).map_err(|error| {
        let finding = Finding::error("", error.message, error.fix);
        let finding = match error.place {
            Some((line, column)) => {
                finding.at(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
            }
            None => finding,
        };
        Report::one(name, finding)
    })?;
    let Json::Object(mut over) = over else {
        return Err(refuse(
            "found no mapping".to_owned(),
            "write a part of a world document, such as `resources: {...}`",
        ));
    };
    let whole = serde_json::to_value(doc).map_err(|error| refuse(error.to_string(), ""))?;
    let Json::Object(mut whole) = whole else { return Ok(doc.clone()) };
    let apis = over.remove("apis");
    merge(&mut whole, over);
    if let Some(apis) = apis {
        let known = whole.entry("apis").or_insert_with(|| Json::Array(Vec::new()));
        merge_apis(known, apis).map_err(|message| {
            refuse(message, "write `apis` as a list in which each entry has the `name` of an API")
        })?;
    }
    let merged: WorldDoc = serde_json::from_value(Json::Object(whole)).map_err(|error| {
        refuse(format!("{error}"), "see docs/world-format.md for the keys that may stand in a world")
    })?;
    world::compile(&merged).map_err(|report| Report { name: name.to_owned(), ..report })?;
    Ok(merged)
}

fn merge(into: &mut Map<String, Json>, over: Map<String, Json>) {
    for (key, value) in over {
        match (into.get_mut(&key), value) {
            (_, Json::Null) => {
                into.shift_remove(&key);
            }
            (Some(Json::Object(known)), Json::Object(value)) => merge(known, value),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn merge_apis(known: &mut Json, over: Json) -> Result<(), String> {
    let (Json::Array(known), Json::Array(over)) = (known, over) else {
        return Err("found `apis`, expected a list".to_owned());
    };
    for api in over {
        let Json::Object(mut api) = api else { return Err("found an API that is no mapping".to_owned()) };
        let name = api.get("name").and_then(Json::as_str).map(str::to_owned);
        let Some(name) = name else { return Err("found an API without a name".to_owned()) };
        let place = known.iter().position(|known| known.get("name").and_then(Json::as_str) == Some(&name));
        let remove = api.remove("remove") == Some(Json::Bool(true));
        match (place, remove) {
            (Some(place), true) => {
                known.remove(place);
            }
            (None, true) => {
                return Err(format!("found `remove: true` for `{name}`, which the world does not have"));
            }
            (Some(place), false) => {
                if let Some(Json::Object(known)) = known.get_mut(place) {
                    merge(known, api);
                }
            }
            (None, false) => known.push(Json::Object(api)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use diorama_seeds::doc::RecordsDoc;

    const SHOP: &str = "{world: 1, name: shop, clock: 2026-03-02T09:00,
        resources: {book: {key: book_id, display: title, fields: {title: {type: string}, price: {type: number}}, records: 3}},
        apis: [{name: GetBook, method: GET, path: '/books/{book_id}', parameters: {book_id: {ref: book}}, behaviour: {get: book}},
               {name: ListBooks, method: GET, path: /books, behaviour: {list: book}}]}";

    #[test]
    fn an_overlay_corrects_adds_and_removes() {
        let doc = world::read("shop", SHOP.as_bytes()).unwrap();
        let text = "resources: {book: {records: 9, fields: {price: null, pages: {type: integer, min: 1}}}}
apis:
  - {name: ListBooks, behaviour: {sort: {by: -pages}}}
  - {name: GetBook, remove: true}
  - {name: CountBooks, method: GET, path: /books/count, behaviour: {compute: {n: 'book.count(b, true)'}}}
";
        let merged = overlay(&doc, "over.yaml", text.as_bytes()).unwrap();
        let book = &merged.resources["book"];
        assert_eq!(book.records, RecordsDoc::Count(9));
        assert_eq!(book.fields.keys().collect::<Vec<_>>(), ["title", "pages"]);
        let names: Vec<&str> = merged.apis.iter().map(|api| api.name.as_str()).collect();
        assert_eq!(names, ["ListBooks", "CountBooks"]);
        assert_eq!(merged.apis[0].behaviour.list.as_deref(), Some("book"));
    }

    #[test]
    fn an_invalid_overlay_is_refused_with_its_file_name() {
        let doc = world::read("shop", SHOP.as_bytes()).unwrap();
        let check = |text: &str, expect: &str| {
            let report = overlay(&doc, "over.yaml", text.as_bytes()).unwrap_err().to_string();
            assert!(report.contains("over.yaml") && report.contains(expect), "{report}");
        };
        check("apis: [{method: GET}]", "without a name");
        check("apis: [{name: Other, remove: true}]", "which the world does not have");
        check("resources: {book: {colour: red}}", "unknown field `colour`");
        check(
            "resources: {book: {key: isbn, fields: {isbn: {type: boolean}}}}",
            "neither integer nor string",
        );
        check("a: [", "this is not YAML");
    }
}
