//! Turns operations into APIs without behaviour: a name, a path, parameters and a description.

mod names;

use diorama_seeds::doc::{self, ApiDoc, FieldDoc, Method, TypeName};
use indexmap::IndexSet;
use serde_json::json;

use self::names::{description, name};
use super::document::{Operation, Parameter, Place};
use super::fakes;
use super::phrases;
use super::protocol::{fixed, is_protocol};
use super::shape::Kind;
use super::views::paging_role;
use super::words::{identifier, is_identifier, sentence};
use super::{Remark, Severity};

/// Returns the API of an operation, without behaviour.
pub(super) fn plain(operation: &Operation, taken: &mut IndexSet<String>, notes: &mut Vec<Remark>) -> ApiDoc {
    let (name, is_taken) = name(operation, taken);
    if is_taken {
        let told = format!("its name is taken by another operation; it is called `{name}`");
        notes.push(Severity::Other.says(told));
    }
    let mut api = ApiDoc {
        name,
        method: Method::parse(operation.written_method()).unwrap_or_default(),
        path: operation.written_path().to_owned(),
        chosen_by: operation.chosen_by.clone(),
        description: description(operation),
        security: operation.security.clone(),
        ..ApiDoc::default()
    };
    for known in &operation.parameters {
        if api.parameters.contains_key(&known.name) {
            let told = format!("the parameter `{}` occurs in two places; the first is kept", known.name);
            notes.push(Severity::Less.says(told));
            continue;
        }
        api.parameters.insert(known.name.clone(), parameter(known, notes));
    }
    api
}

/// Converts a parameter; behaviours refine it later.
fn parameter(known: &Parameter, notes: &mut Vec<Remark>) -> FieldDoc {
    let mut shape = known.shape.clone();
    if matches!(&shape.kind, Kind::Enum(values) if values.iter().any(|value| value.trim().is_empty())) {
        let told =
            format!("the empty value of `{}` is left out; leave the parameter out instead", known.name);
        notes.push(Severity::LeftOut.says(told));
    }
    shape.nullable = false;
    let mut doc = fakes::typed(&known.name, &shape, 0);
    doc.place = Some(match known.place {
        Place::Path => doc::Place::Path,
        Place::Query => doc::Place::Query,
        Place::Header => doc::Place::Header,
        Place::Cookie => doc::Place::Cookie,
    });
    if let (Kind::Array(item), Some(items)) = (&shape.kind, &mut doc.items) {
        items.pattern = item.pattern.as_deref().filter(|_| items.kind == Some(TypeName::String)).map(whole);
    }
    doc.separator = known.separator.filter(|_| doc.kind == Some(TypeName::List));
    doc.pattern = shape.pattern.as_deref().filter(|_| doc.kind == Some(TypeName::String)).map(whole);
    let fixed = fixed(known);
    let required = known.required && fixed.is_none();
    doc.default = shape
        .default
        .clone()
        .filter(|default| !required && default.as_str().is_none_or(|text| !text.is_empty()))
        .or(fixed);
    doc.optional = !required && doc.default.is_none();
    doc.hidden = !required && is_protocol(known);
    doc.description = Some(known.description.clone())
        .filter(|text| !text.is_empty())
        .or_else(|| shape.description.as_deref().map(sentence));
    phrases::name(&known.name, &mut doc);
    if matches!(paging_role(&known.name), Some("page" | "limit"))
        && doc.kind == Some(TypeName::Integer)
        && doc.min.is_none()
    {
        doc.min = Some(json!(first_page(&doc)));
    }
    doc
}

/// Converts a pattern that may match a part into one that matches the whole string.
fn whole(pattern: &str) -> String {
    let (begins, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
    let ends = rest.ends_with('$') && !rest.ends_with("\\$");
    let rest = if ends { rest.get(..rest.len() - 1).unwrap_or_default() } else { rest };
    let any = |is_bound: bool| if is_bound { "" } else { r"[\s\S]*" };
    format!("{}(?:{rest}){}", any(begins), any(ends))
}

/// Returns the number of the first page: 0 if that is the default, else 1.
fn first_page(doc: &FieldDoc) -> u8 {
    u8::from(doc.default != Some(json!(0)))
}

/// Returns the expression for an argument. A name that is no identifier is replaced, and callers must not use
/// the result.
pub(super) fn argument(name: &str) -> String {
    if is_identifier(name) { format!("args.{name}") } else { format!("args.{}", identifier(name)) }
}
