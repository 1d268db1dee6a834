//! Reads the operations of OpenAPI 3.0 and 3.1 with resolved shapes. Decides nothing about resources.

mod parameters;
mod replies;

use std::collections::HashMap;

use diorama_seeds::doc::SecurityDoc;
use diorama_seeds::world::api_path::{choice, shape};
use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::parameters::path_parameters;
use self::parameters::{
    drop_credentials, parameter, parameter_schema, read_all, write_out_adjacent, written_parameters,
};
use self::replies::{
    has_form, headers, json_content, kinds, media, reply_content, success, success_response, true_json,
};
use super::errors;
use super::examples;
use super::levels;
use super::security::{self, Needs};
use super::shape::{Kind, Shape, Unfolder};
use super::source::Unreadable;
use super::words::{is_identifier, sentence, snake, words};
use super::{Note, Severity};

/// The methods that can be operations, in the order in which they are read.
const METHODS: [&str; 6] = ["get", "post", "put", "patch", "delete", "query"];
/// The operations of a document, and its head.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) operations: Vec<Operation>,
    pub(super) security: IndexMap<String, SecurityDoc>,
}

pub(super) struct Operation {
    pub(super) id: Option<String>,
    /// The document tells callers to use another operation.
    pub(super) deprecated: bool,
    /// In upper case.
    pub(super) method: String,
    pub(super) path: String,
    /// The method and path that callers use, where the operation is read as a different REST route.
    pub(super) written: Option<(String, String)>,
    /// The parameter that callers send for a whole resource name in the path, and the collections of its
    /// parts.
    pub(super) resource_name: Option<(String, Vec<String>)>,
    /// Query parameters or headers that choose the operation among those of its path, with their values.
    pub(super) chosen_by: IndexMap<String, String>,
    pub(super) summary: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    /// The JSON body of a request.
    pub(super) body: Option<Shape>,
    /// The status of success. The reply has no shape when it has no JSON body.
    pub(super) status: u16,
    pub(super) reply: Option<Shape>,
    /// The schema of the request's body, as the document writes it.
    pub(super) request: Option<Json>,
    /// The operation requires a body.
    pub(super) needs_body: bool,
    /// The body is a form and no JSON.
    pub(super) form: bool,
    /// The body is a merge patch (RFC 7396).
    pub(super) merges: bool,
    /// A PUT creates missing records: it declares 201 beside another success.
    pub(super) makes: bool,
    /// A PUT may create records that no other operation creates: it says so, or declares no reply for a
    /// missing record.
    pub(super) puts: bool,
    /// The operation declares its reply to a missing record.
    pub(super) misses: bool,
    /// The body is neither JSON nor a form.
    pub(super) octets: bool,
    /// The JSON schema of a success as it is written.
    pub(super) promise: Option<Json>,
    /// The media types of a success, where types other than JSON can be served.
    pub(super) kinds: Vec<String>,
    /// The schemas of a success's headers, by name.
    pub(super) headers: Vec<(String, Json)>,
    /// A success has content of some kind.
    pub(super) answers: bool,
    /// The parameters that stand after the path of the address: `lat` of `/alerts?lat={lat}`.
    pub(super) beside: Vec<Parameter>,
    /// The bodies of its errors, by status.
    pub(super) errors: IndexMap<String, Json>,
    /// The status that refuses an invalid body.
    pub(super) refusal: u16,
    /// The operation declares 409: what it would do is done, or a name is taken.
    pub(super) conflicts: bool,
    pub(super) security: Needs,
}

/// A parameter outside the body.
pub(super) struct Parameter {
    pub(super) name: String,
    /// The name that callers send, where it differs.
    pub(super) sent_as: Option<String>,
    /// The character between the items of a list, where it is not a comma.
    pub(super) separator: Option<char>,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) description: String,
    pub(super) shape: Shape,
    /// A path parameter takes any value of its form, such as this one, and is no record's key.
    pub(super) free: Option<Json>,
    /// A path parameter takes that value alone.
    pub(super) constant: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

impl Operation {
    /// Returns the route for messages, as in `GET /movie/{movie_id}`.
    pub(super) fn route(&self) -> String {
        format!("{} {}", self.written_method(), self.written_path())
    }

    /// Returns the method as the document writes it.
    pub(super) fn written_method(&self) -> &str {
        self.written.as_ref().map_or(&self.method, |(method, _)| method)
    }

    /// Returns the path as the document writes it.
    pub(super) fn written_path(&self) -> &str {
        self.written.as_ref().map_or(&self.path, |(_, path)| path)
    }

    /// Returns an example value of a path parameter that is no record's key.
    pub(super) fn free(&self, name: &str) -> Option<&Json> {
        let known = |known: &&Parameter| known.name == name && known.place == Place::Path;
        self.parameters.iter().find(known)?.free.as_ref()
    }

    /// Returns the shape of a key in the path. A rewritten operation may take it in a query or a body.
    pub(super) fn key_shape(&self, name: &str) -> Option<&Shape> {
        let named =
            |known: &&Parameter| known.name == name && (known.place == Place::Path || self.written.is_some());
        let in_body = || self.body.as_ref().filter(|_| self.written.is_some())?.first_object().member(name);
        self.parameters.iter().find(named).map(|known| &known.shape).or_else(in_body)
    }
}

/// Returns true for Swagger 2.0, which must be converted first.
pub(super) fn is_swagger(root: &Json) -> Result<bool, Unreadable> {
    if !root.is_object() {
        return Err(Unreadable::new(
            "the document is not an object",
            "give an OpenAPI document, which starts with `openapi: 3.x`",
        ));
    }
    let version = |key: &str| root.get(key).map(|version| version.to_string().trim_matches('"').to_owned());
    match (version("openapi"), version("swagger")) {
        (Some(version), _) if version.starts_with("3.") => Ok(false),
        (Some(version), _) => Err(Unreadable::new(
            format!("found OpenAPI version `{version}`, expected 3.x"),
            "convert it to OpenAPI 3.0 or 3.1",
        )),
        (None, Some(version)) if version.starts_with('2') => Ok(true),
        (None, Some(version)) => Err(Unreadable::new(
            format!("found Swagger version `{version}`, expected 2.0"),
            "convert it to OpenAPI 3.0 or 3.1",
        )),
        (None, None) => Err(Unreadable::new(
            "there is neither `openapi` nor `swagger` at the top",
            "give an OpenAPI document, which starts with `openapi: 3.x`",
        )),
    }
}

struct FoundOperation<'a> {
    /// The route as the document writes it, for notes.
    route: String,
    method: &'static str,
    path: String,
    /// Query parameters or headers that choose the operation among those of its path, with their values.
    chosen_by: IndexMap<String, String>,
    item: &'a Json,
    node: &'a Json,
}

/// Returns the operations that can be served, in the document's order; the others are noted.
fn find<'a>(root: &'a Json, notes: &mut Vec<Note>) -> Vec<FoundOperation<'a>> {
    let mut all: Vec<FoundOperation<'_>> = Vec::new();
    let mut forms = HashMap::new();
    for (written, item) in root.get("paths").and_then(Json::as_object).into_iter().flatten() {
        let mut outer = Unfolder::new(root, levels::ALL);
        let Some(item) = outer.resolve(item).filter(|item| item.is_object()) else {
            notes.push(Note::on(
                written,
                Severity::LeftOut.says("it is left out: its path item does not resolve"),
            ));
            continue;
        };
        let methods = METHODS.into_iter().filter_map(|method| Some((method, item.get(method)?)));
        for (method, node) in methods.filter(|(_, node)| node.is_object()) {
            let route = format!("{} {written}", method.to_uppercase());
            let path = match routable(&write_out_adjacent(&mut outer, written, item, node)) {
                Ok(path) => sayable(path),
                Err(reason) => {
                    notes.push(Note::on(&route, Severity::LeftOut.says(format!("it is left out: {reason}"))));
                    continue;
                }
            };
            let chosen_by = chosen_by(&mut outer, written, item, node);
            let form = (method, shape("", &path), choice(&chosen_by));
            if let Some(known) = forms.get(&form).and_then(|known: &usize| all.get(*known)) {
                let known = format!("{} {}", method.to_uppercase(), known.path);
                let reason = format!("it is left out: its route cannot be told from {known}");
                notes.push(Note::on(&route, Severity::LeftOut.says(reason)));
                continue;
            }
            forms.insert(form, all.len());
            all.push(FoundOperation { route, method, path, chosen_by, item, node });
        }
        let left_out = |method: &str, why: &str| {
            let route = format!("{} {written}", method.to_uppercase());
            Note::on(&route, Severity::LeftOut.says(why))
        };
        let named = ["options", "head", "trace"].into_iter().filter(|method| item.get(method).is_some());
        let why = "the method is not served; only GET, POST, PUT, PATCH, DELETE and QUERY are";
        notes.extend(named.map(|method| left_out(method, why)));
        // OpenAPI 3.2 puts methods without a field of their own here.
        let more = item.get("additionalOperations").and_then(Json::as_object).into_iter().flatten();
        let why = "the method is not served; of `additionalOperations` none is";
        notes.extend(more.map(|(method, _)| left_out(method, why)));
    }
    all
}

/// Returns the schemas that an operation unfolds.
fn schemas<'a>(unfolder: &mut Unfolder<'a>, item: &'a Json, node: &'a Json) -> Vec<&'a Json> {
    let parameters = written_parameters(item, node).filter_map(|parameter| unfolder.resolve(parameter));
    let mut schemas: Vec<&Json> = parameters.filter_map(parameter_schema).collect();
    let request = node.get("requestBody").and_then(|request| unfolder.resolve(request));
    let reply = success_response(node).and_then(|(_, response)| unfolder.resolve(response));
    let bodies = request.and_then(json_content).into_iter().chain(reply.and_then(reply_content));
    schemas.extend(bodies.filter_map(|media| media.get("schema")));
    schemas
}

/// Reads the operations and the head of a document.
pub(super) fn read(root: &Json, notes: &mut Vec<Note>) -> Result<Document, Unreadable> {
    let text =
        |pointer: &str| root.pointer(pointer).and_then(Json::as_str).unwrap_or_default().trim().to_owned();
    let schemes = security::schemes(root, notes);
    let found = find(root, notes);
    let schemas: Vec<Vec<&Json>> = found
        .iter()
        .map(|found| schemas(&mut Unfolder::new(root, levels::ALL), found.item, found.node))
        .collect();
    let mut operations: Vec<Operation> = Vec::new();
    for (found, levels) in found.iter().zip(levels::levels(root, &schemas)) {
        let mut unfolder = Unfolder::new(root, levels);
        let mut operation = operation(&mut unfolder, found.method, &found.path, found.item, found.node);
        operation.chosen_by.clone_from(&found.chosen_by);
        // A QUERY (OpenAPI 3.2) is a read with its arguments in a body.
        if operation.method == "QUERY" {
            operation.written =
                Some((std::mem::replace(&mut operation.method, "GET".to_owned()), found.path.clone()));
        }
        operation.beside = beside(root, found);
        operation.parameters.retain(|parameter| {
            parameter.place == Place::Path || !found.chosen_by.contains_key(&parameter.name)
        });
        let wanted = found.node.get("security").or_else(|| root.get("security"));
        operation.security = security::needs(wanted, &schemes, &mut unfolder.problems);
        drop_credentials(&mut operation, &schemes);
        notes.extend(unfolder.problems.drain(..).map(|reason| Note::on(&found.route, reason)));
        if unfolder.cut {
            notes.push(Note::on(&found.route, Severity::LeftOut.says(format!(
                "its schemas refer to each other too often; members beyond {levels} references are left out unless they are required"
            ))));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(Unreadable::new(
            "the document has no operations",
            "add at least one GET, POST, PUT, PATCH, DELETE or QUERY operation under `paths`",
        ));
    }
    Ok(Document {
        title: text("/info/title"),
        description: text("/info/description"),
        operations,
        security: schemes,
    })
}

/// Returns the pairs after `#` or `?` of a path: `X-Amz-Target=Health.Describe`, `Action=Publish`, `acl`.
/// A value that callers choose may be any. A pair is skipped unless a parameter has its name.
fn chosen_by<'a>(
    unfolder: &mut Unfolder<'a>,
    written: &str,
    item: &'a Json,
    node: &'a Json,
) -> IndexMap<String, String> {
    let Some((_, fragment)) = written.split_once(['#', '?']) else { return IndexMap::new() };
    let known: Vec<String> = written_parameters(item, node)
        .filter_map(|parameter| unfolder.resolve(parameter)?.get("name")?.as_str().map(str::to_owned))
        .collect();
    let pairs = fragment.split(['&', '#', '?']).filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_known = pair.contains('=') || known.iter().any(|own| own == name);
        let value = if value.contains('{') { "" } else { value };
        is_known.then(|| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// Returns the parameters of the pairs after `#` or `?` that may have any value.
fn beside(root: &Json, found: &FoundOperation<'_>) -> Vec<Parameter> {
    let mut unfolder = Unfolder::new(root, levels::ALL);
    let any = found.chosen_by.iter().filter(|(_, value)| value.is_empty());
    let known = any.filter_map(|(name, _)| {
        let is_named = |node: &Json| node.get("name").and_then(Json::as_str) == Some(name);
        let mut written = written_parameters(found.item, found.node);
        let node = written.find(|&node| unfolder.resolve(node).is_some_and(is_named))?;
        parameter(&mut unfolder, node)
    });
    known.collect()
}

/// The greatest number of segments of a path. The importer looks for parent records on as many levels.
const MAX_SEGMENTS: usize = 64;

/// Returns a path as the world format takes it: without query, fragment and final slash.
fn routable(written: &str) -> Result<String, &'static str> {
    let path = written.split(['?', '#']).next().unwrap_or_default();
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    if path.matches('/').count() > MAX_SEGMENTS {
        return Err("its path has more than 64 segments");
    }
    match diorama_seeds::world::is_path(&path) {
        true => Ok(path),
        false => Err("a segment of its path is empty, or has two parameters without text between them"),
    }
}

/// Renames path parameters so that expressions can name each of them. Callers send values and never see the
/// names.
fn sayable(mut path: String) -> String {
    for name in path_parameters(&path) {
        if !is_identifier(&name) {
            path = path.replace(&format!("{{{name}}}"), &format!("{{{}}}", snake(&name)));
        }
    }
    for name in path_parameters(&path) {
        let written = format!("{{{name}}}");
        let again = path.match_indices(&written).nth(1).map(|(at, _)| at);
        if let Some(at) = again {
            let free = (2..).map(|number| format!("{{{name}_{number}}}")).find(|next| !path.contains(next));
            path.replace_range(at..at + written.len(), &free.unwrap_or(written));
        }
    }
    path
}

/// Returns true if callers are told to use another operation.
/// The flag, the operation id, the summary or the first sentence of the description says so.
fn is_deprecated(node: &Json) -> bool {
    let text = |key: &str| node.get(key).and_then(Json::as_str).unwrap_or_default();
    let named = [text("operationId"), text("summary")].join(" ");
    let named = words(&named).iter().any(|word| ["deprecated", "legacy"].contains(&word.as_str()));
    let said = sentence(text("description")).to_lowercase();
    let marked = node.get("deprecated") == Some(&Json::Bool(true));
    marked || named || said.contains("deprecated") || said.contains("closing down")
}

/// Returns true if one of an operation's names contains a verb of creation.
fn says_create(names: &[String]) -> bool {
    let said =
        |word: &String| ["create", "creates", "add", "adds", "register", "upsert"].contains(&word.as_str());
    names.iter().any(|name| words(name).iter().any(said))
}

fn operation<'a>(
    unfolder: &mut Unfolder<'a>,
    method: &str,
    path: &str,
    item: &'a Json,
    node: &'a Json,
) -> Operation {
    let text = |key: &str| node.get(key).and_then(Json::as_str).unwrap_or_default().trim().to_owned();
    let mut parameters = read_all(unfolder, item, node);
    let named = path_parameters(path);
    // A parameter of the path hides others of its name.
    let in_path: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.place == Place::Path && named.contains(&parameter.name))
        .map(|parameter| parameter.name.clone())
        .collect();
    parameters.retain(|parameter| parameter.place == Place::Path || !in_path.contains(&parameter.name));
    parameters.retain(|parameter| {
        let known = parameter.place != Place::Path || named.contains(&parameter.name);
        if !known {
            let reason = format!("its path has no `{{{}}}`; the parameter is left out", parameter.name);
            unfolder.problems.push(Severity::LeftOut.says(reason));
        }
        known
    });
    for name in named {
        if !parameters.iter().any(|parameter| parameter.place == Place::Path && parameter.name == name) {
            unfolder.problems.push(
                Severity::Other
                    .says(format!("the path's parameter `{name}` is not described; it is read as a string")),
            );
            parameters.push(Parameter {
                name,
                sent_as: None,
                separator: None,
                place: Place::Path,
                required: true,
                description: String::new(),
                shape: Shape::of(Kind::String),
                free: None,
                constant: false,
            });
        }
    }
    let request = node.get("requestBody").and_then(|request| unfolder.resolve(request));
    let body = request.and_then(|request| media(unfolder, request, json_content));
    let (status, reply) = success(unfolder, node);
    let schema = |content: &Json| Some(content.get("schema").cloned().unwrap_or(Json::Bool(true)));
    let written = request.and_then(json_content).and_then(schema);
    let octets = written.is_none() && request.is_some_and(|request| request.get("content").is_some());
    let is_form = |request: &Json| true_json(request).is_none() && has_form(request);
    let form = written.is_some() && request.is_some_and(is_form);
    let success = success_response(node).and_then(|(_, response)| unfolder.resolve(response));
    let promise = success.and_then(reply_content).and_then(|media| examples::promise(unfolder.root(), media));
    let declares =
        |status: &str| node.get("responses").is_some_and(|responses| responses.get(status).is_some());
    let refusal = if !declares("400") && declares("422") { 422 } else { 400 };
    Operation {
        id: node.get("operationId").and_then(Json::as_str).map(str::to_owned),
        deprecated: is_deprecated(node),
        method: method.to_uppercase(),
        path: path.to_owned(),
        written: None,
        resource_name: None,
        chosen_by: IndexMap::new(),
        summary: text("summary"),
        description: text("description"),
        parameters,
        body,
        status,
        reply,
        request: written,
        needs_body: request.is_some_and(|request| request.get("required") == Some(&Json::Bool(true))),
        form,
        merges: request
            .and_then(|request| request.get("content")?.as_object())
            .is_some_and(|content| content.keys().any(|kind| kind.contains("merge-patch"))),
        makes: method == "put" && declares("201"),
        puts: method == "put" && (says_create(&[text("operationId"), text("summary")]) || !declares("404")),
        misses: declares("404"),
        octets,
        promise,
        kinds: success.map(kinds).unwrap_or_default(),
        headers: success.map(|success| headers(unfolder, success)).unwrap_or_default(),
        answers: success
            .is_some_and(|success| success.get("content").is_some() && reply_content(success).is_none()),
        beside: Vec::new(),
        errors: errors::declared(unfolder.root(), node),
        refusal,
        conflicts: declares("409"),
        security: Needs::new(),
    }
}
