//! The document: text to operations with resolved shapes. Reads OpenAPI 3.0 and 3.1 and, where it says the same
//! in other words, Swagger 2. Decides nothing about resources.

use serde_json::Value as Json;

use super::Note;
use super::shape::{Kind, Member, Shape, Unfolder};

/// Methods that can be operations, in the order in which they are read.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// How many schema nodes one operation may unfold to.
const NODES_PER_OPERATION: u32 = 20_000;

/// What a document offers.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) operations: Vec<Operation>,
}

/// One operation.
pub(super) struct Operation {
    pub(super) id: Option<String>,
    /// Upper case.
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    /// The JSON body of a request.
    pub(super) body: Option<Shape>,
    /// Status and shape of success; no shape when it has no JSON body.
    pub(super) status: u16,
    pub(super) reply: Option<Shape>,
}

/// A parameter outside the body.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) description: String,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
}

impl Operation {
    /// `GET /movie/{movie_id}`.
    pub(super) fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Why a document cannot be read, with the place where that is known.
pub(super) struct Unreadable {
    pub(super) message: String,
    pub(super) fix: String,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
}

/// Reads the text of a document.
pub(super) fn parse(text: &[u8]) -> Result<Json, Unreadable> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_none_or(|byte| *byte == b'{' || *byte == b'[') {
        return serde_json::from_slice(text).map_err(|error| Unreadable {
            message: format!("this is not JSON: {error}"),
            fix: "correct the text at this place, or give a YAML document".to_owned(),
            line: Some(error.line()).filter(|line| *line > 0),
            column: Some(error.column()).filter(|_| error.line() > 0),
        });
    }
    let text = std::str::from_utf8(text).map_err(|error| Unreadable {
        message: format!("the document is not UTF-8: {error}"),
        fix: "save it as UTF-8".to_owned(),
        line: None,
        column: None,
    })?;
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location();
        Unreadable {
            message: format!("this is not YAML: {}", error.to_string().lines().next().unwrap_or_default()),
            fix: "correct the text at this place".to_owned(),
            line: place.map(|place| place.line() as usize),
            column: place.map(|place| place.column() as usize),
        }
    })
}

/// Finds the operations of a parsed document.
pub(super) fn read(root: &Json, notes: &mut Vec<Note>) -> Result<Document, Unreadable> {
    let refuse = |message: &str, fix: &str| Unreadable {
        message: message.to_owned(),
        fix: fix.to_owned(),
        line: None,
        column: None,
    };
    if !root.is_object() {
        return Err(refuse(
            "the document is not an object",
            "give an OpenAPI document, which starts with `openapi: 3.x`",
        ));
    }
    let swagger = match (root.get("openapi").and_then(Json::as_str), root.get("swagger")) {
        (Some(version), _) if version.starts_with("3.") => false,
        (Some(version), _) => {
            return Err(refuse(
                &format!("found OpenAPI version `{version}`, expected 3.x"),
                "convert it to OpenAPI 3.0 or 3.1",
            ));
        }
        (None, Some(_)) => true,
        (None, None) => {
            return Err(refuse(
                "there is neither `openapi` nor `swagger` at the top",
                "give an OpenAPI document, which starts with `openapi: 3.x`",
            ));
        }
    };
    let text =
        |pointer: &str| root.pointer(pointer).and_then(Json::as_str).unwrap_or_default().trim().to_owned();
    let mut operations = Vec::new();
    let mut securities = 0_usize;
    for (path, item) in root.get("paths").and_then(Json::as_object).into_iter().flatten() {
        let mut outer = Unfolder::new(root, NODES_PER_OPERATION);
        let Some(item) = outer.resolve(item) else { continue };
        for method in METHODS {
            let Some(node) = item.get(method).filter(|node| node.is_object()) else { continue };
            let mut unfolder = Unfolder::new(root, NODES_PER_OPERATION);
            let operation = operation(&mut unfolder, method, path, item, node, swagger);
            let route = operation.route();
            notes.extend(unfolder.problems.drain(..).map(|reason| Note { operation: route.clone(), reason }));
            securities += usize::from(
                node.get("security")
                    .or_else(|| root.get("security"))
                    .is_some_and(|list| list != &Json::Array(Vec::new())),
            );
            operations.push(operation);
        }
        for method in ["options", "head", "trace"] {
            if item.get(method).is_some() {
                notes.push(Note {
                    operation: format!("{} {path}", method.to_uppercase()),
                    reason: "the method is not served; only GET, POST, PUT, PATCH and DELETE are".to_owned(),
                });
            }
        }
    }
    if operations.is_empty() {
        return Err(refuse(
            "the document has no operations",
            "add at least one GET, POST, PUT, PATCH or DELETE operation under `paths`",
        ));
    }
    if securities > 0 {
        notes.push(Note {
            operation: "*".to_owned(),
            reason: format!("{securities} operations ask for credentials; the world answers them without"),
        });
    }
    Ok(Document { title: text("/info/title"), description: text("/info/description"), operations })
}

fn operation<'a>(
    unfolder: &mut Unfolder<'a>,
    method: &str,
    path: &str,
    item: &'a Json,
    node: &'a Json,
    swagger: bool,
) -> Operation {
    let text = |key: &str| node.get(key).and_then(Json::as_str).unwrap_or_default().trim().to_owned();
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut body = None;
    let mut form = indexmap::IndexMap::new();
    let lists = [item.get("parameters"), node.get("parameters")];
    for parameter in lists.into_iter().flatten().filter_map(Json::as_array).flatten() {
        let Some(parameter) = unfolder.resolve(parameter) else { continue };
        let Some(name) = parameter.get("name").and_then(Json::as_str) else { continue };
        let required = parameter.get("required") == Some(&Json::Bool(true));
        let place = match parameter.get("in").and_then(Json::as_str) {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            Some("body") => {
                body = parameter.get("schema").map(|schema| unfolder.shape(schema));
                continue;
            }
            Some("formData") => {
                form.insert(name.to_owned(), Member { shape: unfolder.shape(parameter), required });
                continue;
            }
            other => {
                unfolder
                    .problems
                    .push(format!("the parameter `{name}` in {} is left out", other.unwrap_or("no place")));
                continue;
            }
        };
        if place == Place::Header
            && ["content-type", "accept", "authorization"].contains(&name.to_lowercase().as_str())
        {
            continue;
        }
        let content =
            parameter.get("content").and_then(Json::as_object).and_then(|content| content.values().next());
        let schema = content.and_then(|media| media.get("schema")).or_else(|| parameter.get("schema"));
        let mut shape = match schema {
            Some(schema) => unfolder.shape(schema),
            None if swagger => unfolder.shape(parameter),
            None => Shape::of(Kind::String),
        };
        if let Some(example) = parameter.get("example") {
            shape.learn(example, false, 0);
        }
        let description = parameter.get("description").and_then(Json::as_str).unwrap_or_default();
        let parameter = Parameter {
            name: name.to_owned(),
            place,
            required: required || place == Place::Path,
            description: super::words::sentence(description),
            shape,
        };
        // The operation's own parameter replaces the one its path shares.
        match parameters.iter_mut().find(|known| known.name == parameter.name && known.place == place) {
            Some(known) => *known = parameter,
            None => parameters.push(parameter),
        }
    }
    for name in path_parameters(path) {
        if !parameters.iter().any(|parameter| parameter.place == Place::Path && parameter.name == name) {
            unfolder
                .problems
                .push(format!("the path's parameter `{name}` is not described; it is read as a string"));
            parameters.push(Parameter {
                name,
                place: Place::Path,
                required: true,
                description: String::new(),
                shape: Shape::of(Kind::String),
            });
        }
    }
    if !form.is_empty() {
        body = Some(Shape::of(Kind::Object(form)));
    }
    if let Some(request) = node.get("requestBody").and_then(|request| unfolder.resolve(request)) {
        body = media(unfolder, request).or(body);
    }
    let (status, reply) = success(unfolder, node, swagger);
    Operation {
        id: node.get("operationId").and_then(Json::as_str).map(str::to_owned),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text("summary"),
        description: text("description"),
        parameters,
        body,
        status,
        reply,
    }
}

/// The first success status and its shape.
fn success<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json, swagger: bool) -> (u16, Option<Shape>) {
    let responses = node.get("responses").and_then(Json::as_object);
    let mut best: Option<(u16, &'a Json)> = None;
    for (status, response) in responses.into_iter().flatten() {
        let code = match status.as_str() {
            "default" => 299,
            "2XX" | "2xx" => 298,
            text => text.parse().unwrap_or(0),
        };
        if (200..300).contains(&code) && best.is_none_or(|(known, _)| code < known) {
            best = Some((code, response));
        }
    }
    let Some((status, response)) = best else { return (200, None) };
    let status = if status >= 298 { 200 } else { status };
    let Some(response) = unfolder.resolve(response) else { return (status, None) };
    if swagger {
        let Some(schema) = response.get("schema") else { return (status, None) };
        let mut shape = unfolder.shape(schema);
        for example in
            response.get("examples").and_then(Json::as_object).into_iter().flat_map(|map| map.values())
        {
            shape.learn(example, true, 0);
        }
        return (status, Some(shape));
    }
    (status, media(unfolder, response))
}

/// The JSON content of a request or a response, its examples taken in.
fn media<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json) -> Option<Shape> {
    let content = node.get("content").and_then(Json::as_object)?;
    let media = content
        .iter()
        .find(|(kind, _)| kind.contains("json"))
        .or_else(|| content.iter().find(|(kind, _)| kind.contains("form") || *kind == "*/*"))
        .map(|(_, media)| media)?;
    let mut shape = media.get("schema").map(|schema| unfolder.shape(schema)).unwrap_or_default();
    let named =
        media.get("examples").and_then(Json::as_object).into_iter().flat_map(|examples| examples.values());
    let examples: Vec<&Json> = media
        .get("example")
        .into_iter()
        .chain(named.filter_map(|example| example.get("value")))
        .take(8)
        .collect();
    for example in examples {
        if shape.kind == Kind::Any {
            shape = super::shape::infer(example, 0);
        } else {
            shape.learn(example, true, 0);
        }
    }
    (shape.kind != Kind::Any).then_some(shape)
}

/// The names in braces, in order.
pub(super) fn path_parameters(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some(open) = rest.find('{') {
        let tail = rest.get(open + 1..).unwrap_or_default();
        let Some(close) = tail.find('}') else { break };
        names.push(tail.get(..close).unwrap_or_default().to_owned());
        rest = tail.get(close + 1..).unwrap_or_default();
    }
    names
}
