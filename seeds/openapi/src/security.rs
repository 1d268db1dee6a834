//! Reads security schemes and requirements, in the form of the world format.

use diorama_seeds::doc::{KeyPlace, SecurityDoc};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::words::sentence;
use super::{Note, Remark, Severity};

/// Alternative credentials of a caller, each a set of schemes with scopes.
pub(super) type Needs = Vec<IndexMap<String, Vec<String>>>;

/// Returns the schemes of a document.
pub(super) fn schemes(root: &Json, notes: &mut Vec<Note>) -> IndexMap<String, SecurityDoc> {
    let mut out = IndexMap::new();
    let all = root.pointer("/components/securitySchemes").and_then(Json::as_object);
    for (name, node) in all.into_iter().flatten() {
        let node = node
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| super::shape::lookup(root, reference))
            .unwrap_or(node);
        match scheme(node) {
            Ok((doc, remark)) => {
                out.insert(name.clone(), doc);
                notes.extend(remark.map(|remark| {
                    Note::on_all(Severity::Other.says(format!("the security scheme `{name}` {remark}")))
                }));
            }
            Err(reason) => {
                notes.push(Note::on_all(
                    Severity::LeftOut.says(format!("the security scheme `{name}` is left out: {reason}")),
                ));
            }
        }
    }
    out
}

/// Reads a scheme, with a note where the server differs from the document.
fn scheme(node: &Json) -> Result<(SecurityDoc, Option<String>), String> {
    let text = |key: &str| node.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let http = text("scheme").to_lowercase();
    match (text("type").as_str(), http.as_str()) {
        ("apiKey", _) => {
            let (place, name) = (text("in"), text("name"));
            let Some(place) = KeyPlace::parse(&place).filter(|_| !name.is_empty()) else {
                return Err("it does not say where the key stands".to_owned());
            };
            if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("no request has a {place} of the name `{name}`"));
            }
            Ok((SecurityDoc::ApiKey { place, name }, None))
        }
        ("http", "basic") => Ok((SecurityDoc::Basic {}, None)),
        ("http", "bearer") => Ok((SecurityDoc::Bearer {}, None)),
        ("http", other) => Err(format!("the HTTP scheme `{other}` is not modelled")),
        ("openIdConnect", _) => {
            Ok((SecurityDoc::Bearer {}, Some("(OpenID Connect) is taken for a bearer token".to_owned())))
        }
        ("oauth2", _) => Ok((oauth(node), None)),
        (other, _) => Err(format!("its type `{other}` is not modelled")),
    }
}

fn oauth(node: &Json) -> SecurityDoc {
    let flows = || node.get("flows").and_then(Json::as_object).into_iter().flat_map(|flows| flows.values());
    let url = flows().find_map(|flow| flow.get("tokenUrl").and_then(Json::as_str));
    let scopes = flows().filter_map(|flow| flow.get("scopes").and_then(Json::as_object)).flatten();
    let scopes = scopes.map(|(name, text)| (name.clone(), sentence(text.as_str().unwrap_or_default())));
    SecurityDoc::Oauth2 { token_path: url.map(path_of), scopes: scopes.collect() }
}

/// Returns the path of a URL, always with a leading slash.
fn path_of(url: &str) -> String {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/"),
        None => url,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

/// Returns the requirement of an operation, of the schemes that the document defines.
pub(super) fn needs(
    node: Option<&Json>,
    schemes: &IndexMap<String, SecurityDoc>,
    problems: &mut Vec<Remark>,
) -> Needs {
    let mut out: Needs = Vec::new();
    let mut lost = false;
    for alternative in node.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object) {
        if let Some(unknown) = alternative.keys().find(|name| !schemes.contains_key(*name)) {
            problems.push(
                Severity::LeftOut
                    .says(format!("the security scheme `{unknown}` that it names is not modelled")),
            );
            lost = true;
            continue;
        }
        let scopes = |list: &Json| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
        };
        out.push(alternative.iter().map(|(name, list)| (name.clone(), scopes(list))).collect());
    }
    if lost && out.is_empty() {
        problems.push(Severity::Less.says("so it answers without credentials"));
    }
    out
}
