//! Checks that files are taken into a document and that circular schemas are refused.

use serde_json::json;

use super::*;

struct Folder(Vec<(&'static str, &'static str)>);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "there is no such file".to_owned())
    }
}

#[test]
fn other_files_are_bundled_and_their_references_resolve() {
    let files = Folder(vec![
        (
            "schemas/pet.yaml",
            "Pet: {type: object, properties: {owner: {$ref: '../people.json#/Owner'}, self: {$ref: '#/Pet'}}}",
        ),
        (
            "people.json",
            r##"{"Owner": {"$ref": "main.yaml#/components/schemas/Name"}, "Lost": {"$ref": "none.json"}}"##,
        ),
        ("main.yaml", "components: {schemas: {Name: {type: string}}}"),
    ]);
    let mut root =
        json!({"a": {"$ref": "schemas/pet.yaml#/Pet"}, "b": {"$ref": "./schemas/../schemas/pet.yaml#/Pet"}});
    let failed = take_in(&mut root, &files);
    assert_eq!(root["a"], root["b"]);
    let pet = super::super::shape::lookup(&root, root["a"]["$ref"].as_str().unwrap()).unwrap();
    let owner =
        super::super::shape::lookup(&root, pet["properties"]["owner"]["$ref"].as_str().unwrap()).unwrap();
    assert_eq!(
        super::super::shape::lookup(&root, owner["$ref"].as_str().unwrap()),
        Some(&json!({"type": "string"}))
    );
    assert_eq!(
        super::super::shape::lookup(&root, pet["properties"]["self"]["$ref"].as_str().unwrap()),
        Some(pet)
    );
    let lost = unresolved(&root, &failed);
    assert_eq!(
        lost,
        [
            "the reference `none.json#` at #/x-diorama-files/people.json/Lost does not resolve: there is no such file; \
          what hangs on it is a plain object"
        ]
    );
}

#[test]
fn references_outside_the_folder_are_not_read() {
    let check = |reference: &str, expect: &str| {
        let mut root = json!({ "a": { "$ref": reference } });
        let failed = take_in(&mut root, &Folder(vec![("../etc", "{}"), ("/etc", "{}")]));
        let lost = unresolved(&root, &failed);
        assert!(lost.len() == 1 && lost[0].contains(expect), "{lost:?}");
        assert!(lost[0].contains("at #/a does"), "{lost:?}");
    };
    check("../etc", "leads out of the document's folder");
    check("a/../../etc", "leads out of the document's folder");
    check("%2e%2e/etc", "leads out of the document's folder");
    check("/etc", "is no path below");
    check("file:///etc", "leads to the network");
    check("https://example.org/pet.yaml", "leads to the network");
    check("c:\\etc", "is no path below");
    check("#/nowhere", "no such place");
}

#[test]
fn schemas_that_contain_themselves_are_refused() {
    let check = |schemas: Json, expect: Option<&str>| {
        let root = json!({"components": {"schemas": schemas}, "x": {"$ref": "#/components/schemas/A"}});
        let found = check_circles(&root).err().map(|error| error.message);
        assert_eq!(found.is_some(), expect.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expect.unwrap_or_default()));
    };
    let a = "#/components/schemas/A";
    let b = "#/components/schemas/B";
    check(json!({"A": {"allOf": [{"$ref": a}]}}), Some("#/components/schemas/A -> #/components/schemas/A"));
    check(
        json!({"A": {"allOf": [{"type": "object"}, {"$ref": b}]}, "B": {"allOf": [{"allOf": [{"$ref": a}]}]}}),
        Some("#/components/schemas/B -> #/components/schemas/A -> #/components/schemas/B"),
    );
    check(json!({"A": {"$ref": b}, "B": {"$ref": a}}), Some("made of itself"));
    check(json!({"A": {"properties": {"a": {"$ref": a}}}}), None);
    check(json!({"A": {"oneOf": [{"$ref": a}, {"type": "string"}]}}), None);
    check(json!({"A": {"allOf": [{"$ref": b}, {"$ref": b}]}, "B": {"type": "object"}}), None);
}

#[test]
fn long_chains_of_references_end() {
    let mut schemas = Map::new();
    for place in 0..20_000 {
        schemas.insert(
            format!("S{place}"),
            json!({"allOf": [{"$ref": format!("#/components/schemas/S{}", place + 1)}]}),
        );
    }
    let root = json!({"components": {"schemas": schemas}});
    assert!(check_circles(&root).is_ok());
}
