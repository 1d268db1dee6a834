//! What a refused write lacks is given to it, before it is made to answer with constants: a value for a field that
//! callers may leave out, or whose parameter is of another type.

use diorama_seeds::doc::{FieldDoc, ResourceDoc, WorldDoc};
use serde_json::{Value as Json, json};

use crate::replies::quoted;
use crate::words::is_identifier;

/// Adds the value that an API's finding asks for, or takes away what does nothing. Whether anything changed.
pub(super) fn give(doc: &mut WorldDoc, index: usize, message: &str) -> bool {
    if message.starts_with("found `filters`, which does nothing") {
        return without_filters(doc, index);
    }
    let missing = message.starts_with("found no value for `");
    let optional = message.starts_with("found an optional parameter for `");
    let unfit = message.starts_with("found a parameter whose type does not fit the field `");
    let named = message.split('`').nth(1).and_then(|place| place.split_once('.'));
    let (Some((name, field)), true) = (named, missing || optional || unfit) else { return false };
    let (Some(resource), Some(api)) = (doc.resources.get(name), doc.apis.get_mut(index)) else {
        return false;
    };
    let behaviour = &mut api.behaviour;
    let is = |kind: &Option<String>| kind.as_deref() == Some(name);
    let value = if unfit && (is(&behaviour.replace) || is(&behaviour.patch)) {
        Some(format!("record.{field}"))
    } else if is(&behaviour.create) {
        let target = |name: &str| doc.resources.get(name).map(|target| target.key.as_str());
        plain(name, resource, field, target)
    } else {
        None
    };
    let Some(mut value) = value.filter(|_| is_identifier(field) && !behaviour.set.contains_key(field)) else {
        return false;
    };
    if optional && api.parameters.contains_key(field) {
        value = format!("given(args.{field}) ? args.{field} : {value}");
    }
    if unfit && let Some(parameter) = api.parameters.get_mut(field) {
        parameter.ignored = true;
    }
    behaviour.set.insert(field.to_owned(), value);
    true
}

/// A list of members has no filters: the parameters stay, and have no effect.
fn without_filters(doc: &mut WorldDoc, index: usize) -> bool {
    let Some(api) = doc.apis.get_mut(index) else { return false };
    let filters = std::mem::take(&mut api.behaviour.filters);
    for name in filters.keys() {
        if let Some(parameter) = api.parameters.get_mut(name) {
            parameter.ignored = true;
        }
    }
    !filters.is_empty()
}

/// A plain value of a field, as an expression; nothing for objects, which no expression makes.
fn plain<'a>(
    name: &str,
    resource: &ResourceDoc,
    field: &str,
    key_of: impl Fn(&str) -> Option<&'a str>,
) -> Option<String> {
    let doc: &FieldDoc = resource.fields.get(field).filter(|_| field != resource.key)?;
    if let Some(target) = &doc.reference {
        let key = key_of(target).filter(|_| target != name)?;
        return Some(format!("{target}.first(x, true).{key}"));
    }
    if doc.fake.as_ref().and_then(|fake| fake.get("provider")) == Some(&json!("position")) {
        return Some(format!("coalesce({name}.max(x, true, x.{field}), 0) + 1"));
    }
    if let Some(first) = doc.values.first() {
        return Some(quoted(first));
    }
    match doc.kind.as_deref()? {
        "integer" | "number" | "decimal" => {
            Some(doc.min.as_ref().map_or_else(|| "0".to_owned(), Json::to_string))
        }
        "boolean" => Some("false".to_owned()),
        "date" => Some("today".to_owned()),
        "date-time" => Some("now".to_owned()),
        "time" => Some("time(now)".to_owned()),
        "string" => Some(quoted(&text(doc.min_length))),
        "list" if doc.min_length.is_none_or(|least| least == 0) => Some("[]".to_owned()),
        _ => None,
    }
}

/// A text of at least so many characters.
pub(crate) fn text(least: Option<u32>) -> String {
    match least.unwrap_or(0) {
        0 => String::new(),
        least => "new ".chars().cycle().take(least as usize).collect::<String>().replace("w n", "w-n"),
    }
}

#[cfg(test)]
mod tests {
    use crate::{ImportOptions, import};

    const DOCUMENT: &str = r##"
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /orders:
    get: {responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Order"}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, required: [title, tags], properties: {title: {type: string}, tags: {type: string}, note: {type: string}}}}}}
      responses: {"201": {description: New, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}}
  /orders/{order-id}:
    parameters: [{name: order-id, in: path, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}}}
    patch:
      requestBody: {content: {application/json: {schema: {type: object, properties: {tags: {type: string}}}}}}
      responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}}
components: {schemas: {Order: {type: object, required: [id, title, tags, note], properties: {id: {type: integer}, title: {type: string}, tags: {type: array, items: {type: integer}}, note: {type: string, minLength: 3}}}}}
"##;

    #[test]
    fn writes_get_what_they_lack_instead_of_answering_with_constants() {
        let imported = import("shop", DOCUMENT.as_bytes(), &ImportOptions::default()).unwrap();
        let constants = imported.notes.iter().find(|note| note.reason.contains("constants"));
        assert_eq!(constants, None);
        let apis = &imported.doc.apis;
        let create = apis.iter().find(|api| api.method == "POST").unwrap();
        assert_eq!(
            (create.behaviour.create.as_deref(), &*create.behaviour.set["tags"]),
            (Some("order"), "[]")
        );
        let patch = apis.iter().find(|api| api.method == "PATCH").unwrap();
        assert_eq!((&*patch.path, &*patch.behaviour.set["tags"]), ("/orders/{order_id}", "record.tags"));
        assert!(patch.parameters["tags"].ignored && create.parameters["tags"].ignored);
    }

    #[test]
    fn texts_are_as_long_as_they_must_be() {
        let texts = [None, Some(0), Some(2), Some(9)].map(super::text);
        assert_eq!(texts.each_ref().map(String::as_str), ["", "", "ne", "new-new-n"]);
    }
}
