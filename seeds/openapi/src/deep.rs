//! Feeds deep and circular inputs to every parser: each is an error or a world, and no input ends the
//! process.

use std::rc::Rc;

use diorama_seeds::contract::{Facts, KnownValues, NoRecords, Schemas};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::Source;
use diorama_seeds::world;
use serde_json::{Map, Value as Json, json};

use super::{ImportOptions, import, overlay};

/// Nesting levels of the deep inputs.
const LEVELS: usize = 10_000;

/// Runs a closure with a stack of 2 MiB, which is what threads have.
fn on_a_thread<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().name(what.to_owned()).stack_size(2 << 20).spawn(run).unwrap();
    thread.join().unwrap()
}

/// Generates all that a world describes: its records, and a reply by each API's schema.
fn make(doc: WorldDoc) {
    let schemas: Map<String, Json> = doc.domain.iter().flat_map(|head| head.schemas.clone()).collect();
    let schemas = Schemas::new(schemas);
    for api in &doc.apis {
        let Some(reply) = api.contract.as_ref().and_then(|contract| contract.reply.as_ref()) else {
            continue;
        };
        let facts = Facts { known: Rc::new(KnownValues::default()), list: None, now: 0, lookup: &NoRecords };
        let _ = schemas.reply(reply, &facts);
    }
    if let Ok(source) = Source::new(doc) {
        let _ = source.materialise(0);
    }
}

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

/// Returns a document whose only operations send and return a schema.
fn document(schema: &str, schemas: &str) -> String {
    let content =
        format!(r##"{{"content": {{"application/json": {{"schema": {schema}}}}}, "description": "d"}}"##);
    format!(
        r##"{{"openapi": "3.1.0", "info": {{"title": "t", "version": "1"}}, "paths": {{"/things": {{
            "get": {{"responses": {{"200": {content}}}}},
            "post": {{"requestBody": {content}, "responses": {{"200": {content}}}}}}}}},
            "components": {{"schemas": {schemas}}}}}"##
    )
}

fn swagger(schema: &str, schemas: &str) -> String {
    let schema = schema.replace("/components/schemas/", "/definitions/");
    let schemas = schemas.replace("/components/schemas/", "/definitions/");
    format!(
        r##"{{"swagger": "2.0", "info": {{"title": "t", "version": "1"}}, "paths": {{"/things": {{
            "get": {{"responses": {{"200": {{"description": "d", "schema": {schema}}}}}}}}}}},
            "definitions": {schemas}}}"##
    )
}

/// Lists the ways in which a schema may contain another.
const WAYS: [(&str, &str); 10] = [
    ("", ""),
    (r#"{"allOf": ["#, "]}"),
    (r#"{"anyOf": [{"type": "integer"}, "#, "]}"),
    (r#"{"oneOf": ["#, r#", {"type": "integer"}]}"#),
    (r#"{"not": "#, "}"),
    (r#"{"type": "array", "minItems": 1, "items": "#, "}"),
    (r#"{"type": "object", "additionalProperties": "#, "}"),
    (r#"{"type": "object", "required": ["a"], "properties": {"a": "#, "}}"),
    (r#"{"type": "object", "properties": {"id": {"type": "string"}, "a": "#, "}}"),
    (r#"{"allOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"a": "#, "}}]}"),
];

fn import_all(what: &str, texts: Vec<String>) {
    on_a_thread(what, move || {
        for text in texts {
            if let Ok(found) = import("deep", text.as_bytes(), &ImportOptions::default()) {
                make(found.doc);
            }
        }
    });
}

#[test]
fn schemas_may_be_nested_to_any_depth() {
    for (open, close) in WAYS.into_iter().filter(|(open, _)| !open.is_empty()) {
        for levels in [20, 50, LEVELS] {
            let schema = nested(open, r#"{"type": "string"}"#, close, levels);
            import_all(open, vec![document(&schema, "{}"), swagger(&schema, "{}")]);
            // The parser reads a text as YAML unless it begins like JSON.
            let yaml = format!(
                "openapi: 3.1.0\n{}",
                document(&schema, "{}").replacen("{\"openapi\": \"3.1.0\",", "x: {", 1)
            );
            import_all(open, vec![yaml]);
        }
    }
}

#[test]
fn schemas_may_refer_to_each_other_any_number_of_times() {
    let to = |place: usize| format!(r##"{{"$ref": "#/components/schemas/s{place}"}}"##);
    for (open, close) in WAYS {
        let schema = |place: usize, next: usize| format!(r#""s{place}": {open}{}{close}"#, to(next));
        let chain: Vec<String> = (0..LEVELS).map(|place| schema(place, place + 1)).collect();
        let chain = format!(r#"{{{}, "s{LEVELS}": {{"type": "string"}}}}"#, chain.join(", "));
        let circle = |size: usize| {
            let all: Vec<String> = (0..size).map(|place| schema(place, (place + 1) % size)).collect();
            format!("{{{}}}", all.join(", "))
        };
        for schemas in [chain, circle(1), circle(2), circle(200)] {
            import_all(open, vec![document(&to(0), &schemas), swagger(&to(0), &schemas)]);
        }
    }
}

#[test]
fn schemas_of_many_parts_are_merged_within_bounds() {
    // Each of thirty levels has eight parts, each of which has all of the next level.
    for word in ["allOf", "anyOf", "oneOf"] {
        let mut schemas = Map::new();
        for level in 0..30 {
            let parts: Vec<Json> = (0..8)
                .map(|part| json!({"$ref": format!("#/components/schemas/s{}_{part}", level + 1)}))
                .collect();
            schemas.extend((0..8).map(|part| (format!("s{level}_{part}"), json!({ word: parts }))));
        }
        schemas.extend((0..8).map(|part| (format!("s30_{part}"), json!({"type": "string"}))));
        let list = r##"{"type": "array", "items": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/s0_0"}}}}"##;
        let schemas = Json::Object(schemas).to_string();
        import_all(word, vec![document(list, &schemas)]);
    }
    // One member is constrained in thousands of parts.
    let part = |place| json!({"properties": {"a": {"maxLength": place}}, "items": {"maxLength": place}});
    let parts: Vec<Json> = (0..LEVELS).map(part).collect();
    import_all("parts", vec![document(&json!({ "allOf": parts }).to_string(), "{}")]);
}

#[test]
fn paths_and_examples_may_be_of_any_depth() {
    let path =
        |levels: usize| -> String { (0..levels).map(|level| format!("/a{level}/{{a{level}_id}}")).collect() };
    let operation = r#"{"get": {"responses": {"200": {"description": "d"}}}}"#;
    let head = r#""openapi": "3.0.3", "info": {"title": "t", "version": "1"}"#;
    let deep = format!(r#"{{{head}, "paths": {{"{}": {operation}, "/a": {operation}}}}}"#, path(LEVELS));
    let all: Vec<String> = (1..40).map(|levels| format!(r#""{}": {operation}"#, path(levels))).collect();
    let example = nested("[", "", "]", LEVELS);
    let written = format!(
        r#"{{{head}, "paths": {{"/a": {{"get": {{"responses": {{"200": {{"description": "d",
            "content": {{"application/json": {{"example": "{example}"}}}}}}}}}}}}}}}}"#
    );
    import_all("paths", vec![deep, format!("{{{head}, \"paths\": {{{}}}}}", all.join(", ")), written]);
}

/// Returns a world of things with one field, other resources, and one API.
fn world_of(field: &str, others: &str, api: &str) -> String {
    format!(
        r#"{{"world": 1, "name": "deep", "clock": "2026-03-02T09:00", "resources": {{"thing": {{"key": "thing_id",
            "fields": {{"name": {{"type": "string"}}, "f": {field}}}, "records": 3}}{others}}},
            "apis": [{{"name": "ListThings", "method": "GET", "path": "/things", {api}}}]}}"#
    )
}

fn read_all(what: &str, texts: Vec<String>) {
    on_a_thread(what, move || {
        for text in texts {
            for name in ["deep.json", "deep.yaml"] {
                if let Ok(doc) = world::read(name, text.as_bytes()) {
                    make(doc);
                }
            }
        }
    });
}

#[test]
fn worlds_may_be_nested_to_any_depth() {
    let (text, list) = (r#"{"type": "string"}"#, r#""behaviour": {"list": "thing"}"#);
    for levels in [12, 40, LEVELS] {
        let field =
            |open: &str, inner: &str, close: &str| world_of(&nested(open, inner, close, levels), "", list);
        let compute = |open: &str, inner: &str, close: &str| {
            let expression = nested(open, inner, close, levels);
            world_of(text, "", &format!(r#""behaviour": {{"compute": {{"n": "{expression}"}}}}"#))
        };
        let text_with = |open: &str, inner: &str, close: &str, key: &str| {
            world_of(
                &format!(r#"{{"type": "string", {key}: "{}"}}"#, nested(open, inner, close, levels)),
                "",
                list,
            )
        };
        let fake = nested(r#"{"provider": "chance", "share": 0.5, "of": "#, r#""name""#, "}", levels);
        let template = nested("{", "name", "}", levels);
        read_all(
            "nested",
            vec![
                field(r#"{"type": "list", "items": "#, text, "}"),
                field(r#"{"type": "object", "fields": {"a": "#, text, "}}"),
                world_of(&format!(r#"{{"type": "string", "fake": {fake}}}"#), "", list),
                world_of(
                    &format!(
                        r#"{{"type": "string", "fake": {{"provider": "template", "text": "{template}"}}}}"#
                    ),
                    "",
                    list,
                ),
                world_of(
                    &format!(
                        r#"{{"type": "string", "fake": {{"provider": "code", "format": "{template}"}}}}"#
                    ),
                    "",
                    list,
                ),
                text_with("(", "a", ")", r#""pattern""#),
                text_with("(", "a", "){2}", r#""pattern""#),
                compute("(", "1", ")"),
                compute("-", "1", ""),
                compute("!", "true", ""),
                compute("[", "1", "]"),
                compute("true ? 1 : ", "1", ""),
                compute("", "now", ".a"),
                compute("1 + ", "1", ""),
                compute("thing.first(a, ", "true", ").thing_id"),
                world_of(
                    text,
                    "",
                    &format!(
                        r#"{list}, "reply": {{"fields": {}}}"#,
                        nested(r#"[{"as": "a", "object": "#, r#"["name"]"#, "}]", levels)
                    ),
                ),
                world_of(
                    text,
                    "",
                    &format!(
                        r#"{list}, "phrases": {{"noun": ["{}"]}}"#,
                        nested("things[ for ", "{f}", "]", levels)
                    ),
                ),
                world_of(
                    text,
                    "",
                    &format!(
                        r#"{list}, "contract": {{"reply": {}}}"#,
                        nested(r#"{"type": "array", "minItems": 1, "items": "#, "{}", "}", levels)
                    ),
                ),
            ],
        );
    }
}

#[test]
fn resources_may_refer_to_each_other_any_number_of_times() {
    let list = r#""behaviour": {"list": "thing"}"#;
    let text = r#"{"type": "string"}"#;
    let resource = |place: usize, up: &str, more: &str| {
        format!(
            r#", "r{place}": {{"key": "id", "fields": {{"name": {{"type": "string"}}, "up": {up}}}, {more}}}"#
        )
    };
    // Links each resource to the next: with records of its own, or one for each record of the next.
    let chain = |count: usize, circle: bool, each: bool| -> String {
        let one = |place: usize| {
            let next = if circle { (place + 1) % count } else { place + 1 };
            if next == count {
                return resource(place, text, r#""records": 1"#);
            }
            let some = format!(r#""each": [{{"of": "r{next}", "by": "up", "min": 1, "max": 1}}]"#);
            let more = if each { some } else { r#""records": 1"#.to_owned() };
            resource(place, &format!(r#"{{"ref": "r{next}"}}"#), &more)
        };
        (0..count).map(one).collect()
    };
    let keys = |count: usize| -> String {
        // Each key refers to the key of the next resource.
        let one = |place: usize| {
            let next = (place + 1) % count;
            format!(
                r#", "r{place}": {{"key": "id", "fields": {{"id": {{"ref": "r{next}"}}, "name": {{"type": "string"}}}}, "records": 1}}"#
            )
        };
        (0..count).map(one).collect()
    };
    let worlds = vec![
        world_of(r#"{"ref": "thing"}"#, "", list),
        world_of(text, &chain(2, true, false), list),
        world_of(text, &chain(2, true, true), list),
        world_of(text, &chain(1_000, true, false), list),
        world_of(text, &chain(1_000, false, true), list),
        world_of(text, &keys(1), list),
        world_of(text, &keys(2), list),
        world_of(text, &keys(1_000), list),
    ];
    read_all("references", worlds);
}

#[test]
fn overlays_may_be_nested_to_any_depth() {
    on_a_thread("overlay", || {
        let text = world_of(r#"{"type": "string"}"#, "", r#""behaviour": {"list": "thing"}"#);
        let doc = world::read("deep.json", text.as_bytes()).unwrap();
        for levels in [50, LEVELS] {
            for (open, close) in
                [("{\"resources\": ", "}"), ("{\"a\": ", "}"), ("[", "]"), ("resources: {a: ", "}")]
            {
                let _ = overlay(&doc, "over.yaml", nested(open, "1", close, levels).as_bytes());
            }
            let items = nested(r#"{"type": "list", "items": "#, r#"{"type": "string"}"#, "}", levels);
            let text = format!(r#"{{"resources": {{"thing": {{"fields": {{"f": {items}}}}}}}}}"#);
            if let Ok(doc) = overlay(&doc, "over.json", text.as_bytes()) {
                make(doc);
            }
        }
    });
}
