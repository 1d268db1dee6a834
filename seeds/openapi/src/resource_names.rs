//! Expands path parameters that take whole resource names: `/v1/{parent}/instances` with
//! `projects/{project}/locations/{location}`.
//!
//! The expanded path has a parameter for each part. The dotted id of the operation names the parts
//! (`redis.projects.locations.instances.list`).

use std::collections::HashSet;

use serde_json::Value as Json;

use super::document::{Operation, Parameter, Place, path_parameters};
use super::shape::{Kind, Shape};
use super::words::{is_version, words};

/// The greatest number of collections in one name.
const MAX_PARTS: usize = 8;

/// The expanded path, the parameter that callers send, and the collections of its name.
type ExpandedPath = (String, String, Vec<String>);

/// Rewrites such paths. Returns true if the document has some.
pub(super) fn read(root: &Json, operations: &mut [Operation]) -> bool {
    let service = service(root);
    let mut taken: HashSet<(String, String)> =
        operations.iter().map(|operation| (operation.method.clone(), shape(&operation.path))).collect();
    let mut found = false;
    let all: Vec<Option<ExpandedPath>> =
        operations.iter().map(|operation| expanded(operation, &service)).collect();
    let forms = find_told_forms(operations, &all);
    for (operation, expanded) in operations.iter_mut().zip(all) {
        let Some((path, sent, chain)) = expanded else { continue };
        if !forms.contains(&chain) || !taken.insert((operation.method.clone(), shape(&path))) {
            continue;
        }
        let description = operation
            .parameters
            .iter()
            .find(|parameter| parameter.name == sent)
            .map(|parameter| parameter.description.clone())
            .unwrap_or_default();
        operation.parameters.retain(|parameter| parameter.name != sent);
        let parts = chain.iter().map(|collection| Parameter {
            name: key(collection),
            sent_as: None,
            separator: None,
            place: Place::Path,
            required: true,
            description: description.clone(),
            shape: Shape::of(Kind::String),
            free: None,
            constant: false,
        });
        let parts: Vec<Parameter> = parts.collect();
        drop(operation.parameters.splice(0..0, parts));
        operation.resource_name = Some((sent, chain));
        operation.path = path;
        found = true;
    }
    found
}

/// Returns the forms of names that parameters document, with all their prefixes. A shelf of a project
/// documents the project, too.
fn find_told_forms(operations: &[Operation], all: &[Option<ExpandedPath>]) -> HashSet<Vec<String>> {
    let told = operations.iter().zip(all).filter_map(|(operation, expanded)| {
        let (_, sent, chain) = expanded.as_ref()?;
        tells_form(operation, sent, chain).then_some(chain)
    });
    told.flat_map(|chain| (1..=chain.len()).map(move |count| chain[..count].to_vec())).collect()
}

/// Returns true if a description or a pattern says that values have several parts:
/// `projects/{project_id}/locations/{location_id}`.
fn tells_form(operation: &Operation, sent: &str, chain: &[String]) -> bool {
    let Some(first) = chain.first().map(|first| format!("{first}/")) else { return false };
    let named = operation.parameters.iter().find(|parameter| parameter.name == sent);
    named.is_some_and(|parameter| {
        let pattern = parameter.shape.pattern.as_deref().unwrap_or_default();
        parameter.description.contains(&first) || pattern.contains(&first)
    })
}

/// Returns the name of the service that operation ids may begin with: the first label of its host.
fn service(root: &Json) -> String {
    let said = root.pointer("/info/x-serviceName").and_then(Json::as_str).map(str::to_owned);
    let host = root.pointer("/servers/0/url").and_then(Json::as_str).and_then(|url| url.split_once("://"));
    let label = host.and_then(|(_, rest)| rest.split(['.', '/']).next()).map(str::to_owned);
    said.or(label).unwrap_or_default()
}

/// Returns the parameter of a part: `instancesId`.
pub(super) fn key(collection: &str) -> String {
    format!("{collection}Id")
}

fn shape(path: &str) -> String {
    path_parameters(path)
        .iter()
        .fold(path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), "{}"))
}

/// Returns the expanded path of an operation whose parameter takes a whole name.
fn expanded(operation: &Operation, service: &str) -> Option<ExpandedPath> {
    let [sent]: [String; 1] = path_parameters(&operation.path).try_into().ok()?;
    let mut chain: Vec<&str> = operation.id.as_deref()?.split('.').collect();
    chain.pop()?;
    if chain.first() == Some(&service) {
        chain.remove(0);
    }
    let is_word = |word: &&str| words(word).len() == 1 || word.chars().all(|c| c.is_ascii_alphanumeric());
    if chain.is_empty() || chain.len() > MAX_PARTS || !chain.iter().all(is_word) {
        return None;
    }
    let braced = format!("{{{sent}}}");
    let (before, after) = operation.path.split_once(&braced)?;
    let version = before.trim_matches('/');
    if !before.ends_with('/') || !(version.is_empty() || is_version(version)) {
        return None;
    }
    let next = after.strip_prefix('/').and_then(|rest| rest.split(['/', ':']).next()).unwrap_or_default();
    // The segment after the name may be the last collection itself.
    let below = chain.last() == Some(&next);
    let named: Vec<String> =
        chain.iter().take(chain.len() - usize::from(below)).map(|part| (*part).to_owned()).collect();
    if named.is_empty() {
        return None;
    }
    let whole: Vec<String> = named.iter().map(|part| format!("{part}/{{{}}}", key(part))).collect();
    Some((format!("{before}{}{after}", whole.join("/")), sent, named))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn paths_with_resource_names_are_expanded_into_their_parts() {
        let name = |form: &str| {
            json!([{"name": "name", "in": "path", "required": true, "schema": {"type": "string"},
            "description": format!("The name, in the form `{form}`.")}])
        };
        let operation = |id: &str, form: &str| json!({"operationId": id, "parameters": name(form), "responses": {"200": {"description": ""}}});
        let text = json!({"openapi": "3.0.0", "info": {"title": "Cache", "version": "1"},
        "servers": [{"url": "https://cache.example/"}],
        "paths": {
            "/v1/{name}": {"get": operation("cache.projects.shelves.get", "projects/{project}/shelves/{shelf}")},
            "/v1/{name}:open": {"post": operation("cache.projects.shelves.open", "projects/{project}/shelves/{shelf}")},
            "/v1/{name}/shelves": {"get": operation("cache.projects.shelves.list", "the owner")},
            "/v2/{name}": {"get": operation("other", "any")},
            "/users/{name}": {"get": operation("users.get", "users/{user}")},
        }});
        let imported =
            crate::import("cache.json", text.to_string().as_bytes(), &crate::ImportOptions::default())
                .unwrap();
        let paths: Vec<&str> = imported.doc.apis.iter().map(|api| api.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "/v1/projects/{projectsId}/shelves/{shelvesId}",
                "/v1/projects/{projectsId}/shelves/{shelvesId}:open",
                "/v1/projects/{projectsId}/shelves",
                "/v2/{name}",
                "/users/{name}",
            ]
        );
    }
}
