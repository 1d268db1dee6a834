//! Reads the parts of a path, and the list or record that a reply shows.

use diorama_seeds::contract::noun;
use diorama_seeds::world::api_path::{Piece, pieces};

use crate::document::Operation;
use crate::free::is_extension;
use crate::shape::{Kind, Shape};
use crate::views::{self, View, has_page, is_generic};
use crate::words::{identifier, is_plural, label, singular, words};

/// A segment of a path, or a piece of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ground) enum Part {
    Text(String),
    Key(String),
}

impl Part {
    /// Returns the name of a key; none for text.
    pub(in crate::ground) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// Returns the parts of an operation's path. Parameters with a few values, and lists, become text.
pub(in crate::ground) fn parts(operation: &Operation) -> Vec<Part> {
    let mut parts = Vec::new();
    for segment in operation.path.split('/').filter(|segment| !segment.is_empty()) {
        let mut found = pieces(segment).unwrap_or_default();
        if matches!(found.last(), Some(Piece::Parameter(name)) if is_extension(segment, name)) {
            found.pop();
        }
        let keyed = found.iter().any(|piece| matches!(piece, Piece::Parameter(_)));
        // Two values in one segment are no key.
        if found.iter().filter(|piece| matches!(piece, Piece::Parameter(_))).count() > 1 {
            parts.push(Part::Text(format!("{{{segment}}}")));
            continue;
        }
        for piece in found {
            match piece {
                Piece::Parameter(name) if operation.free(name).is_some() => {
                    parts.push(Part::Text(format!("{{{name}}}")));
                }
                Piece::Parameter(name) => match operation.key_shape(name).map(|shape| &shape.kind) {
                    Some(Kind::Enum(_) | Kind::Array(_)) => parts.push(Part::Text(format!("{{{name}}}"))),
                    _ => parts.push(Part::Key(name.to_owned())),
                },
                Piece::Literal(text) if keyed => {
                    if let Some(verb) = text.strip_prefix(':').filter(|verb| !verb.is_empty()) {
                        parts.push(Part::Text(verb.to_owned()));
                    }
                }
                Piece::Literal(text) => {
                    let plain = [".json", ".xml", ".php"].iter().find_map(|ending| text.strip_suffix(ending));
                    parts.push(Part::Text(plain.unwrap_or(text).trim_end_matches('.').to_owned()));
                }
            }
        }
    }
    parts
}

/// Returns the form of a path, without the names of parameters.
pub(in crate::ground) fn form(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("/{text}"),
        Part::Key(_) => "/{}".to_owned(),
    };
    parts.iter().map(part).collect()
}

/// Returns the names of the keys in a path.
pub(in crate::ground) fn keys(parts: &[Part]) -> Vec<&str> {
    parts.iter().filter_map(Part::key).collect()
}

/// Returns the list that a reply shows: the member that holds it (empty for the body) and its items.
pub(in crate::ground) fn list<'s>(operation: &'s Operation, parts: &[Part]) -> Option<(String, &'s Shape)> {
    let reply = operation.reply.as_ref()?;
    let texts = parts.iter().rev().filter_map(|part| match part {
        Part::Text(text) => Some(noun(text)),
        Part::Key(_) => None,
    });
    let is_record = reply.first_object().member("id").is_some();
    let mut texts = texts.take(if is_record { 1 } else { usize::MAX });
    let named = texts.find_map(|text| listed_in(reply, &text, 0));
    named.or_else(|| listed_in(reply, "", 0)).or_else(|| {
        match views::view(reply, false, has_page(operation)) {
            View::List(list) => Some((list.items.to_owned(), list.item)),
            _ => None,
        }
    })
}

fn listed_in<'s>(shape: &'s Shape, wanted: &str, depth: u32) -> Option<(String, &'s Shape)> {
    let holds_objects = |item: &Shape| item.first_object().members().is_some();
    match &shape.first_object().kind {
        Kind::Array(item) if holds_objects(item) => Some((String::new(), item.fullest_object())),
        Kind::Object(members) => {
            let arrays = members.iter().filter_map(|(name, member)| {
                let item = member.shape.items().filter(|item| holds_objects(item))?;
                Some((name, item.fullest_object()))
            });
            let is_record = ["id", "sid", "uuid"].iter().any(|key| members.contains_key(*key));
            let fits = |name: &String| noun(name) == wanted || (is_generic(name) && !is_record);
            let found = arrays.clone().find(|(name, _)| fits(name));
            if let Some((name, item)) = found {
                return Some((name.clone(), item));
            }
            if arrays.count() > 0 || is_record || depth > 0 {
                return None;
            }
            members.values().find_map(|member| {
                let inner = member.shape.members().and(Some(&member.shape))?;
                listed_in(inner, wanted, depth + 1).filter(|(name, _)| !name.is_empty())
            })
        }
        _ => None,
    }
}

/// Returns the noun that a constant member gives to all records of a schema.
pub(in crate::ground) fn noun_said(record: &Shape) -> Option<String> {
    let said = ["type", "object", "kind"].iter().find_map(|name| record.member(name))?;
    match &said.kind {
        Kind::Enum(values) if values.len() == 1 => values.first().map(|only| noun(only)),
        _ => None,
    }
}

/// Returns the record that a reply shows.
pub(in crate::ground) fn find_shown(operation: &Operation) -> Option<&Shape> {
    match views::view(operation.reply.as_ref()?, true, false) {
        View::Record(shape) => Some(shape.fullest_object()).filter(|shape| shape.members().is_some()),
        _ => None,
    }
}

/// Returns the record inside a reply that holds other values too: `transaction` of `{"transaction": {..},
/// "required_fields": [..]}`.
/// Returns the reply itself where it is the record.
pub(super) fn take_out_named<'a>(reply: &'a Shape, of: &str) -> &'a Shape {
    let Some(members) = reply.members().filter(|members| !members.contains_key("id")) else { return reply };
    let is_own = |name: &str, inner: &Shape| {
        noun(name) == of && inner.members().is_some_and(|inner| inner.len() > members.len())
    };
    let mut own = members.iter().map(|(name, member)| (name, member.shape.first_object()));
    let beside = members.values().filter(|member| member.shape.is_scalar()).count();
    own.find(|(name, inner)| beside == 0 && is_own(name, inner)).map_or(reply, |(_, inner)| inner)
}

/// Returns a record with the members of its `attributes`, as JSON:API nests them.
pub(super) fn take_out_attributes(record: &Shape) -> Shape {
    let mut record = record.clone();
    let inner = record.member("attributes").and_then(Shape::members).cloned().unwrap_or_default();
    if let (Kind::Object(members), false) = (&mut record.kind, inner.is_empty()) {
        for (name, member) in inner {
            members.entry(name).or_insert(member);
        }
    }
    record
}

/// Labels a list whose path ends with adjectives: `threads/archived/public`.
pub(super) fn described(parts: &[Part]) -> Option<String> {
    let mut said = Vec::new();
    for part in parts.iter().rev() {
        let Part::Text(text) = part else { return None };
        if is_plural(text) {
            let things = singular(&identifier(text));
            return (!said.is_empty()).then(|| label(&format!("{}_{things}", said.join("_"))));
        }
        // Adjectives and participles qualify the noun; other words do not.
        if !["ed", "ive", "ic", "ate", "ing", "ent", "al", "est"].iter().any(|ending| text.ends_with(ending))
        {
            return None;
        }
        said.push(spelt(text));
    }
    None
}

/// Returns the words of a path segment up to the first that starts with a digit.
pub(super) fn spelt(part: &str) -> String {
    let all = words(part);
    let kept = all.iter().take_while(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
    let kept: Vec<&str> = kept.map(String::as_str).collect();
    if kept.is_empty() { identifier(part) } else { kept.join("_") }
}
