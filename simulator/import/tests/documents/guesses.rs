//! Guesses of the importer that fail when their world is played.

use diorama_import::choose_guesses;
use diorama_openapi::{Draft, ImportOptions, NoFiles};

/// A list of pages, and an operation that opens records by a key from no list.
const SCANS: &str = "
openapi: 3.0.3
info: {title: Scans, version: '1'}
paths:
  /reports/{reportId}/pages:
    parameters: [{name: reportId, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: string}, text: {type: string}}}}}}}}}
  /archive/{reportId}:
    parameters: [{name: reportId, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: object, properties: {reportId: {type: string}, size: {type: integer}}}}}}}}
";

#[test]
fn the_same_document_gives_the_same_world_and_what_is_played_opens() {
    let draft = Draft::read("scans.yaml", SCANS.as_bytes(), &ImportOptions::default(), &NoFiles).unwrap();
    let first = choose_guesses(&draft).unwrap();
    assert_eq!(first, choose_guesses(&draft).unwrap());
    assert!(first.doc.domain.as_ref().unwrap().given.contains_key("reportId"), "{:?}", first.hypotheses);
    assert!(!first.notes.iter().any(|note| note.reason.contains("opens it")), "{:?}", first.notes);
}
