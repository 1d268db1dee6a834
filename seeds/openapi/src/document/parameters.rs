//! Reads the parameters of an operation: their names, shapes, styles and separators.

use diorama_seeds::contract::plain;
use diorama_seeds::doc::{KeyPlace, SecurityDoc};
use diorama_seeds::world::api_path::{Piece, segments};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{Operation, Parameter, Place};
use crate::Severity;
use crate::bounds::synonyms;
use crate::shape::{Kind, Member, Shape, Unfolder, said_values};
use crate::words::{is_identifier, sentence, snake};

/// Returns the parameters that an operation shares with its path, then its own.
pub(super) fn written_parameters<'a>(item: &'a Json, node: &'a Json) -> impl Iterator<Item = &'a Json> {
    let lists = [item.get("parameters"), node.get("parameters")];
    lists.into_iter().flatten().filter_map(Json::as_array).flatten()
}

/// Reads the parameters outside the body of an operation, and notes those that get another name.
pub(super) fn read_all<'a>(unfolder: &mut Unfolder<'a>, item: &'a Json, node: &'a Json) -> Vec<Parameter> {
    let read: Vec<Parameter> =
        written_parameters(item, node).flat_map(|part| parameters(unfolder, part)).collect();
    let written: Vec<String> =
        read.iter().filter(|known| known.sent_as.is_none()).map(|known| known.name.clone()).collect();
    let mut all: Vec<Parameter> = Vec::new();
    for parameter in read {
        // The operation's own parameter replaces the one that its path shares.
        let same = |known: &&mut Parameter| {
            known.wire_name() == parameter.wire_name() && known.place == parameter.place
        };
        if let Some(known) = all.iter_mut().find(same) {
            *known = Parameter { name: known.name.clone(), ..parameter };
            continue;
        }
        let name = free_name(&parameter, &all, &written);
        let sent_as = Some(parameter.wire_name().to_owned()).filter(|sent_as| *sent_as != name);
        if let Some(sent_as) = &sent_as {
            let told = format!("the parameter `{sent_as}` is called `{name}`");
            unfolder.problems.push(Severity::Other.says(told));
        }
        all.push(Parameter { name, sent_as, ..parameter });
    }
    all
}

/// Reads a parameter outside the body as the parameters that callers send. A `deepObject` becomes one parameter
/// for each scalar member (`created[gte]`), and one for its scalar alternative (`created`).
fn parameters<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json) -> Vec<Parameter> {
    let Some(whole) = parameter(unfolder, node) else { return Vec::new() };
    let Some(object) = deep_object(unfolder, node).filter(|_| whole.place == Place::Query) else {
        return vec![whole];
    };
    let outer = whole.sent_as.as_ref().unwrap_or(&whole.name);
    let named = object.members().into_iter().flatten().map(|(member, inner)| {
        let written = format!("{outer}[{member}]");
        Parameter {
            name: unbracketed(&written).unwrap_or_else(|| format!("{}_{}", whole.name, snake(member))),
            sent_as: Some(written),
            separator: None,
            place: whole.place,
            required: whole.required && inner.required,
            description: whole.description.clone(),
            shape: inner.shape.clone(),
            free: None,
            constant: false,
        }
    });
    let mut all: Vec<Parameter> = named.collect();
    if whole.shape.is_scalar() {
        all.insert(0, Parameter { required: false, ..whole });
    }
    all
}

/// Returns the object of scalars that a `deepObject` takes, also as one of its alternatives.
fn deep_object<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json) -> Option<Shape> {
    let node = unfolder.resolve(node)?;
    node.get("style").filter(|style| **style == "deepObject")?;
    let schema = parameter_schema(node).and_then(|schema| unfolder.resolve(schema))?;
    let ways = ["anyOf", "oneOf"].into_iter().find_map(|word| schema.get(word)?.as_array());
    let ways = ways.map_or(std::slice::from_ref(schema), Vec::as_slice);
    let mut shapes = ways.iter().map(|way| unfolder.shape(way));
    shapes.find(|shape| {
        let mut members = shape.members().into_iter().flatten().peekable();
        members.peek().is_some() && members.all(|(_, member)| member.shape.is_scalar())
    })
}

impl Parameter {
    /// Returns the name that callers send over HTTP.
    pub(super) fn wire_name(&self) -> &str {
        self.sent_as.as_deref().unwrap_or(&self.name)
    }
}

/// Returns the name of a parameter beside others, of which `written` are names that the document itself gives.
/// A bound whose name is taken is called by another word for the same comparison: `created_ge` for
/// `created[gte]` beside `created_gte`. Other names get a number.
fn free_name(parameter: &Parameter, known: &[Parameter], written: &[String]) -> String {
    let is_free = |name: &String| {
        let is_written = parameter.sent_as.is_some() && written.contains(name);
        !is_written && !known.iter().any(|known| known.name == *name)
    };
    let name = parameter.name.clone();
    if parameter.place == Place::Path || is_free(&name) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    synonyms(&name).into_iter().chain(numbered).find(is_free).unwrap_or(name)
}

/// Reads a parameter outside the body; returns none for headers that HTTP itself handles.
pub(super) fn parameter<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json) -> Option<Parameter> {
    let node = unfolder.resolve(node)?;
    let written = node.get("name").and_then(Json::as_str)?;
    let place = match node.get("in").and_then(Json::as_str) {
        Some("path") => Place::Path,
        Some("query") => Place::Query,
        Some("header") => Place::Header,
        Some("cookie") => Place::Cookie,
        other => {
            let place = other.unwrap_or("no place");
            unfolder
                .problems
                .push(Severity::LeftOut.says(format!("the parameter `{written}` in {place} is left out")));
            return None;
        }
    };
    let is_http = |name: &str| {
        let named = ["authorization", "cookie", "host", "user-agent", "connection"].contains(&name);
        named || name.starts_with("accept") || name.starts_with("content-")
    };
    if place == Place::Header && is_http(&written.to_lowercase()) {
        return None;
    }
    let sayable = place != Place::Path || is_identifier(written);
    let is_comparison = compared(written).is_some();
    let name = if diorama_seeds::world::is_member_name(written) && sayable && !is_comparison {
        written.to_owned()
    } else {
        unbracketed(written).or_else(|| compared(written)).unwrap_or_else(|| snake(written))
    };
    if place == Place::Path && name != written {
        unfolder.problems.push(Severity::Other.says(format!("the parameter `{written}` is called `{name}`")));
    }
    let sent_as = (name != written && place != Place::Path).then(|| written.to_owned());
    let mut shape =
        parameter_schema(node).map_or_else(|| Shape::of(Kind::String), |schema| unfolder.shape(schema));
    let named = node.get("examples").and_then(Json::as_object).into_iter().flat_map(|all| all.values());
    let examples = node.get("example").into_iter().chain(named.filter_map(|example| example.get("value")));
    examples.take(8).for_each(|example| shape.learn(example, false, 0));
    if let Some(reason) = not_served(node, &name, &shape) {
        unfolder.problems.push(Severity::Other.says(reason));
    }
    let description = node.get("description").and_then(Json::as_str).unwrap_or_default();
    if shape.kind == Kind::String && shape.format.is_none() && shape.choices.is_empty() {
        let said = said_values(description);
        // A path segment with a few fixed values identifies no record.
        if place == Place::Path && !said.is_empty() && shape.pattern.is_none() {
            shape.kind = Kind::Enum(said);
        } else {
            shape.choices = said.into_iter().map(Json::from).collect();
        }
    }
    Some(Parameter {
        name,
        sent_as,
        separator: separator(node),
        place,
        required: place == Place::Path || node.get("required") == Some(&Json::Bool(true)),
        description: sentence(description),
        shape,
        free: None,
        constant: false,
    })
}

/// Removes parameters that carry a credential of a security scheme.
pub(super) fn drop_credentials(operation: &mut Operation, schemes: &IndexMap<String, SecurityDoc>) {
    let used: Vec<&SecurityDoc> =
        operation.security.iter().flat_map(IndexMap::keys).filter_map(|name| schemes.get(name)).collect();
    operation.parameters.retain(|parameter| {
        !used.iter().any(|scheme| match (scheme, parameter.place) {
            (SecurityDoc::ApiKey { place, name }, Place::Query) => {
                *place == KeyPlace::Query && *name == parameter.name
            }
            (SecurityDoc::ApiKey { place, name }, Place::Header) => {
                *place == KeyPlace::Header && name.eq_ignore_ascii_case(&parameter.name)
            }
            (SecurityDoc::ApiKey { place, name }, Place::Cookie) => {
                *place == KeyPlace::Cookie && *name == parameter.name
            }
            _ => false,
        })
    });
    // A token parameter becomes optional, because the scheme's header may carry the token.
    let takes_tokens =
        used.iter().any(|scheme| matches!(scheme, SecurityDoc::Oauth2 { .. } | SecurityDoc::Bearer {}));
    for parameter in operation.parameters.iter_mut().filter(|_| takes_tokens) {
        let is_token = matches!(parameter.place, Place::Query | Place::Header)
            && ["token", "accesstoken"].contains(&plain(&parameter.name).as_str());
        parameter.required &= !is_token;
    }
}

/// Returns the name inside brackets: `filter[status]` is `status`, and `page[number]` is `page`.
fn unbracketed(written: &str) -> Option<String> {
    let (outer, inner) = written.strip_suffix(']')?.split_once('[')?;
    if inner.is_empty() || inner.contains(['[', ']']) || !diorama_seeds::world::is_member_name(inner) {
        return None;
    }
    match (outer, inner) {
        ("page", "number") => Some("page".to_owned()),
        ("page", "size") => Some("page_size".to_owned()),
        ("page" | "filter", _) => Some(inner.to_owned()),
        _ => None,
    }
}

/// Returns the name of a bound that is written with a comparison sign: `DateSent>` is `DateSent_gte`. The sign
/// before the pair's own `=` makes the bound inclusive.
fn compared(written: &str) -> Option<String> {
    let signs = [("<=", "lte"), (">=", "gte"), ("<", "lte"), (">", "gte")];
    let (stem, bound) = signs.iter().find_map(|(sign, bound)| Some((written.strip_suffix(sign)?, bound)))?;
    diorama_seeds::world::is_member_name(stem).then(|| format!("{stem}_{bound}"))
}

pub(super) fn parameter_schema(node: &Json) -> Option<&Json> {
    let content = node.get("content").and_then(Json::as_object).and_then(|content| content.values().next());
    content.and_then(|media| media.get("schema")).or_else(|| node.get("schema"))
}

/// Returns the character between the items of a list in a query string, where the style replaces the comma.
fn separator(node: &Json) -> Option<char> {
    let explodes = node.get("explode") == Some(&Json::Bool(true));
    match node.get("style").and_then(Json::as_str).filter(|_| !explodes)? {
        "spaceDelimited" => Some(' '),
        "pipeDelimited" => Some('|'),
        _ => None,
    }
}

/// Returns a note where the server reads a parameter's value in another style than the document says.
fn not_served(node: &Json, name: &str, shape: &Shape) -> Option<String> {
    let style = node.get("style").and_then(Json::as_str)?;
    let is_served = |members: &IndexMap<String, Member>| {
        !members.is_empty() && members.values().all(|member| member.shape.is_scalar())
    };
    let is_object = matches!(shape.kind, Kind::Object(_) | Kind::Any);
    (style == "deepObject" && is_object && !shape.members().is_some_and(is_served))
        .then(|| format!("`{name}` takes an object as JSON, not as `deepObject`"))
}

/// Fills in path parameters that have one value and are part of a segment: `/{page}{extension}` is
/// `/{page}.json`, and `/user{extension}` is `/user.json`.
pub(super) fn write_out_adjacent<'a>(
    unfolder: &mut Unfolder<'a>,
    path: &str,
    item: &'a Json,
    node: &'a Json,
) -> String {
    let mut path = path.to_owned();
    let is_part = |segment: &str| {
        segment.contains('{') && !(segment.starts_with('{') && segment.find('}') == Some(segment.len() - 1))
    };
    if !path.split('/').any(is_part) {
        return path;
    }
    for parameter in written_parameters(item, node) {
        let Some(parameter) = unfolder.resolve(parameter) else { continue };
        let schema = parameter_schema(parameter).and_then(|schema| unfolder.resolve(schema));
        let name = parameter.get("name").and_then(Json::as_str);
        let values = schema.and_then(|schema| schema.get("enum")?.as_array()).map(Vec::as_slice);
        if let (Some(name), Some([Json::String(only)])) = (name, values) {
            let written = format!("{{{name}}}");
            let replaced = |segment: &str| match is_part(segment) {
                true => segment.replace(&written, only),
                false => segment.to_owned(),
            };
            path = path.split('/').map(replaced).collect::<Vec<_>>().join("/");
        }
    }
    path
}

/// Returns the names in braces, in order.
pub(crate) fn path_parameters(path: &str) -> Vec<String> {
    let pieces = segments(path).unwrap_or_default().into_iter().flatten();
    let name = |piece| match piece {
        Piece::Parameter(name) => Some(name.to_owned()),
        Piece::Literal(_) => None,
    };
    pieces.filter_map(name).collect()
}
