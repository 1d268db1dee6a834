//! Owns the tests of parsing documents: refusals, reports, and replies that fit the documented schemas.

use std::path::Path;

use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_openapi::{ImportOptions, import};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::materialised;
use diorama_seeds::task::Call;
use diorama_seeds::{check, world};
use diorama_tests::{Ran, diorama};
use serde_json::Map;

use super::imports::{CLINIC, Imports, PARCELS, TUNEHALL, fixture};

#[test]
fn a_document_becomes_a_source_world_that_reads_back_as_it_is() {
    let clinic = Imports::clinic();
    let mut docs: Vec<WorldDoc> = vec![clinic.imported.doc];
    docs.extend(Imports::tmdb().map(|tmdb| tmdb.imported.doc));
    for doc in docs {
        let text = serde_saphyr::to_string(&doc).expect("a document is YAML");
        assert_eq!(world::read("again.yaml", text.as_bytes()).expect("it reads back"), doc);
    }
}

#[test]
fn what_is_no_document_is_refused_with_its_place() {
    let refuse = |text: &str| {
        import("broken.json", text.as_bytes(), &ImportOptions::default()).expect_err("it is refused")
    };
    let broken = refuse("{\"openapi\": \"3.0.0\",\n  \"paths\": {,}}");
    assert_eq!((broken.findings[0].line, broken.findings[0].column), (Some(2), Some(13)), "{broken}");
    let empty = refuse("{\"openapi\": \"3.0.0\", \"paths\": {}}");
    assert!(empty.to_string().contains("no operations"), "{empty}");
    assert!(refuse("{\"info\": {}}").to_string().contains("neither `openapi` nor `swagger`"));
}

#[test]
fn references_that_lead_out_or_in_circles_end() {
    let text = r##"{"openapi": "3.0.0", "paths": {
        "/nodes/{id}": {"get": {
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}}},
        "/away": {"get": {
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "http://example.org/x.json"}}}}}}}},
        "components": {"schemas": {"Node": {"type": "object", "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Node"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}}}}}"##;
    let imported = import("nodes.json", text.as_bytes(), &ImportOptions::default()).expect("it imports");
    assert_eq!(imported.doc.apis.len(), 2);
    let away = imported
        .notes
        .iter()
        .any(|note| note.operation == "GET /away" && note.reason.contains("http://example.org/x.json"));
    assert!(away, "{:?}", imported.notes);
    materialised(&imported.doc, 1).unwrap_or_else(|report| panic!("the world can be made: {report}"));
}

#[test]
fn every_operation_of_the_fixtures_answers_in_its_schema() {
    for path in [CLINIC, TUNEHALL, PARCELS] {
        let imports = Imports::fixture(path);
        let refused = imports.imported.notes.iter().filter(|note| note.reason.contains("refused"));
        assert_eq!(refused.collect::<Vec<_>>(), Vec::<&diorama_openapi::Note>::new());
        let mut wrong = Vec::new();
        for api in &imports.imported.doc.apis {
            for all in [false, true] {
                // Each call starts from the initial records, so that a deletion does not make another call
                // return 404.
                let mut imports =
                    Imports::of(path, &std::fs::read(fixture(path)).unwrap(), imports.document.clone());
                // A body that requires at least one property gets all of them.
                let request = api.contract.as_ref().and_then(|contract| contract.request.as_ref());
                let some = request.is_some_and(|schema| schema.get("minProperties").is_some());
                let arguments = imports.arguments(api, all || some);
                let (status, body) = imports.call(&api.method, &api.path, arguments.clone());
                // The API refuses to delete records that others refer to, and to remove an item that is not
                // in a list.
                let kept = status == 409 || body["detail"].to_string().contains("is not in it");
                if !((200..300).contains(&status) || api.method.as_str() == "DELETE" && kept) {
                    wrong.push(format!("{} {} {arguments}: {status} {body}", api.method, api.path));
                }
                if (200..300).contains(&status) {
                    let refused = imports.refused(&api.method, &api.path, &body);
                    wrong.extend(
                        refused.into_iter().map(|error| format!("{} {}: {error}", api.method, api.path)),
                    );
                }
            }
        }
        assert!(wrong.is_empty(), "{path}\n{}", wrong.join("\n"));
    }
}

#[test]
fn what_is_imported_has_nothing_to_mend_and_is_the_same_each_time() {
    for path in [CLINIC, TUNEHALL, PARCELS] {
        let text = std::fs::read(fixture(path)).unwrap();
        let doc = import(path, &text, &ImportOptions::default()).expect("it imports").doc;
        let again = import(path, &text, &ImportOptions::default()).expect("it imports").doc;
        let yaml = world::to_yaml(&doc).unwrap();
        assert_eq!(yaml, world::to_yaml(&again).unwrap());
        assert_eq!(check::examine(path, yaml.as_bytes()).to_string(), "", "{path}");
        let [one, two] =
            [0, 0].map(|seed| materialised(&doc, seed).expect("records can be made up").canonical.clone());
        assert_eq!(one, two);
        // An import must work with each of several seeds.
        for seed in 1..6 {
            materialised(&doc, seed).unwrap_or_else(|report| panic!("{path}, seed {seed}: {report}"));
        }
    }
}

/// Runs `world import` on a text in a folder with other files.
fn import_text(folder: &Path, name: &str, text: &[u8], more: &[&str]) -> Ran {
    let (file, out) = (folder.join(name), folder.join("out.yaml"));
    std::fs::write(&file, text).unwrap();
    let line = ["world", "import"].into_iter().map(std::ffi::OsString::from);
    let rest = [file.as_os_str(), "--out".as_ref(), out.as_os_str()].map(std::ffi::OsString::from);
    diorama(line.chain(rest).chain(more.iter().map(std::ffi::OsString::from)))
}

#[test]
fn bad_documents_are_refused_with_a_clear_message_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: &[u8], more: &[&str], expect: &[&str]| {
        let ran = import_text(folder.path(), name, text, more);
        assert!(ran.code == 1 || ran.code == 2, "{name}: {ran:?}");
        for part in expect {
            assert!(ran.err.contains(part), "{name}: {}", ran.err);
        }
        assert!(!folder.path().join("out.yaml").exists(), "{name}");
    };
    let ok = "responses: {200: {description: ok}}";
    check("a.json", b"{\"openapi\": \"3.0.0\",\n \"paths\" {}}", &[], &["a.json:2:10", "this is not JSON"]);
    check("b.yaml", b"openapi: 3.0.0\npaths: [1, 2\ninfo: {}\n", &[], &["b.yaml:3:5", "this is not YAML"]);
    check("c.yaml", b"openapi: 3.0.0\npaths: {}\n", &[], &["the document has no operations"]);
    check("d.yaml", b"openapi: 4.0.0\npaths: {}\n", &[], &["OpenAPI version `4.0.0`, expected 3.x"]);
    let circle = format!(
        "openapi: 3.0.0\npaths: {{/a: {{get: {{{ok}}}}}}}\ncomponents:\n  schemas:\n    A: {{allOf: [{{$ref: '#/components/schemas/B'}}]}}\n    B: {{allOf: [{{$ref: '#/components/schemas/A'}}]}}\n"
    );
    check("e.yaml", circle.as_bytes(), &[], &["made of itself by allOf", "schemas/A", "schemas/B"]);
    check("f.json", &vec![b' '; 50 << 20], &[], &["expected at most"]);
    let lost = format!("openapi: 3.0.0\npaths:\n  /a: {{get: {{{ok}}}}}\n  /b: {{$ref: 'gone.yaml#/b'}}\n");
    check(
        "g.yaml",
        lost.as_bytes(),
        &["--strict"],
        &["`gone.yaml#/b` at #/paths/~1b", "there is no such file"],
    );
}

#[test]
fn a_document_with_a_reference_to_nothing_serves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.yaml"), "Secret: {type: object}").unwrap();
    std::fs::write(
        folder.path().join("shelf.yaml"),
        "Shelf: {type: object, required: [id, name], properties: {id: {type: integer}, name: {type: string}}}",
    )
    .unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.yaml"), folder.path().join("link.yaml")).unwrap();
    let text = "openapi: 3.0.3
info: {title: Shelves, version: '1'}
paths:
  /shelves:
    get:
      responses: {200: {description: ok, content: {application/json: {schema: {type: array, items: {$ref: 'shelf.yaml#/Shelf'}}}}}}
  /shelves/{shelf_id}:
    get:
      parameters: [{name: shelf_id, in: path, required: true, schema: {type: integer}}]
      responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'shelf.yaml#/Shelf'}}}}}
  /lost:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'gone.yaml#/Lost'}}}}}}
  /secret:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'link.yaml#/Secret'}}}}}}
  /network:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'http://127.0.0.1:9/x.yaml'}}}}}}
";
    let ran = import_text(folder.path(), "shelves.yaml", text.as_bytes(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut expected = vec!["`gone.yaml#/Lost` at #/paths/~1lost/get", "which is never asked"];
    if cfg!(unix) {
        expected.push("it leads out of the document's folder");
    }
    for part in expected {
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let made = std::fs::read(folder.path().join("out.yaml")).unwrap();
    let doc = world::read("out.yaml", &made).unwrap();
    let made = materialised(&doc, 1).unwrap();
    let mut session = Session::new(Base::new(made.world.clone()).unwrap(), SessionOptions::default());
    for api in &doc.apis {
        let mut arguments = Map::new();
        if api.parameters.contains_key("shelf_id") {
            let shelf = made.world.resources.iter().find(|known| &*known.name == "shelf").unwrap();
            let value = shelf.records[0][shelf.key.index()].to_json(&made.world.zone);
            arguments.insert("shelf_id".to_owned(), value);
        }
        let entry = session.call(&Call { api: api.name.clone(), arguments });
        let body = entry.reply.to_json(&made.world.zone);
        assert_eq!(entry.reply.status, 200, "{} {body}", api.path);
        let plain = ["/lost", "/secret", "/network"].contains(&api.path.as_str());
        assert!(!plain || body.starts_with('{'), "{} {body}", api.path);
    }
}

#[test]
fn corrections_are_kept_apart_from_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let over = folder.path().join("over.yaml");
    std::fs::write(
        &over,
        "resources: {owner: {records: 3}}\napis:\n  - {name: GetStatus, remove: true}\n  - {name: ListPets, description: All animals.}\n",
    )
    .unwrap();
    let text = std::fs::read(fixture(CLINIC)).unwrap();
    let ran = import_text(folder.path(), "clinic.yaml", &text, &["--overlay", over.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let doc = world::read("out.yaml", &std::fs::read(folder.path().join("out.yaml")).unwrap()).unwrap();
    assert_eq!(doc.resources["owner"].records, diorama_seeds::doc::RecordsDoc::Count(3));
    assert!(doc.apis.iter().all(|api| api.name != "GetStatus"));
    assert!(doc.apis.iter().any(|api| api.name == "ListPets" && api.description == "All animals."));
}
