//! Owns the compilation of declared error bodies.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::doc::ApiDoc;
use crate::world::findings::Findings;
use diorama_format::path::Path;

/// Returns the schemas of an API's error bodies.
pub(super) fn schemas(
    doc: &ApiDoc,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Vec<(Option<u16>, Arc<Json>)> {
    let section = path.name("errors");
    let mut schemas = Vec::with_capacity(doc.errors.len());
    for (status, schema) in &doc.errors {
        let code = status.parse::<u16>().ok().filter(|code| (400..600).contains(code));
        if code.is_none() && status != "default" {
            error!(findings, section.name(status) =>
                "found the status `{status}`, expected one from 400 to 599, or `default`";
                "write it like `404`");
            continue;
        }
        if !schema.is_object() {
            error!(findings, section.name(status) =>
                "found a schema that is no object, expected a JSON Schema";
                "write it like `{{type: object, properties: {{message: {{type: string}}}}}}`");
            continue;
        }
        schemas.push((code, Arc::new(schema.clone())));
    }
    schemas
}
