//! Owns the compilation of contracts.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::super::findings::Findings;
use super::Part;
use crate::contract::{Contract, Schemas};
use crate::doc::ApiDoc;
use crate::model::{Parameter, ParameterId};
use diorama_format::path::Path;

/// Returns the schemas of a domain.
pub(super) fn schemas(part: &Part<'_>) -> Arc<Schemas> {
    let schemas = part.head.into_iter().flat_map(|head| &head.schemas);
    let schemas: Map<String, Json> = schemas.map(|(name, schema)| (name.clone(), schema.clone())).collect();
    Arc::new(Schemas::new(schemas))
}

/// Returns the contract of an API.
pub(super) fn contract(
    doc: &ApiDoc,
    parameters: &[Parameter],
    schemas: &Arc<Schemas>,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Option<Arc<Contract>> {
    let contract = doc.contract.as_ref()?;
    let here = path.name("contract");
    let whole = contract.whole.as_ref().and_then(|name| {
        let found = parameters.iter().position(|parameter| *parameter.name == **name);
        if found.is_none() {
            error!(findings, here.name("whole") => "found `{name}`, which is no parameter";
                "name the parameter in the body");
        }
        found.map(|index| ParameterId(index as u16))
    });
    if contract.refusal.is_some_and(|status| !(400..500).contains(&status)) {
        findings.error(here.name("refusal"), "found a status beyond 400 to 499", "write 400 or 422");
    }
    let is_kind = |kind: &&String| kind.contains('/') && kind.is_ascii() && !kind.contains(char::is_control);
    if let Some(kind) = contract.kinds.iter().find(|kind| !is_kind(kind)) {
        let found = format!("found `{kind}`, which is no media type");
        findings.error(here.name("kinds"), found, "write one as `text/csv`");
    }
    let is_name = |name: &&String| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if let Some(name) = contract.headers.keys().find(|name| !is_name(name)) {
        let found = format!("found `{name}`, which is no name of a header");
        findings.error(here.name("headers"), found, "write letters, digits and hyphens");
    }
    Some(Arc::new(Contract {
        schemas: schemas.clone(),
        request: contract.request.clone(),
        whole,
        reply: contract.reply.clone(),
        kinds: contract.kinds.clone(),
        headers: contract.headers.iter().map(|(name, schema)| (name.clone(), schema.clone())).collect(),
        form: contract.form,
        merge: contract.merge,
        inside: contract.inside.clone(),
        needs_body: contract.needs_body,
        refusal: contract.refusal.unwrap_or(400),
    }))
}
