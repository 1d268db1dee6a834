//! Generates full names: the member `name` holds the names of a record's parents and its own.
//!
//! Where a path has a key of two parts, `full_name` holds both parts.

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{ApiDoc, EffectDoc, GivenDoc, Place, ResourceDoc, TypeName};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::places::{Collection, Part, PathValue, Places, form};
use crate::constants::quote;
use crate::document::Operation;
use crate::operations::argument;
use crate::words::identifier;

/// The member that shows the full name.
const NAME: &str = "name";
/// Plain names of members that show both parts of a key of two.
const FULL_NAMES: [&str; 4] = ["fullname", "pathwithnamespace", "namewithowner", "fullslug"];
/// The greatest number of parent levels in a name.
const MAX_LEVELS: usize = 8;

/// Gives full names to the initial records and to those that callers create.
pub(super) fn add(
    places: &Places,
    resources: &mut IndexMap<String, ResourceDoc>,
    apis: &mut [ApiDoc],
    operations: &[Operation],
) {
    for found in places.all.values() {
        let is_whole = places.full.contains(&form(&found.parts));
        let named = if is_whole {
            full_name(places, found, "record", &found.parts).map(|name| (NAME.to_owned(), name))
        } else {
            both_parts(found)
        };
        let Some((member, name)) = named else { continue };
        let Some(resource) = resources.get_mut(&found.name) else { continue };
        let Some(field) = resource.fields.get_mut(&member).filter(|_| resource.key != member) else {
            continue;
        };
        (field.kind, field.values) = (Some(TypeName::String), Vec::new());
        field.fake = Some(json!({"provider": "expr", "of": name}));
        if resource.display.as_ref() == Some(&member) {
            resource.display = None;
        }
        // The name comes last, after the fields that it is made of.
        let field = resource.fields.shift_remove(&member).unwrap_or_default();
        resource.fields.insert(member.clone(), field);
        let key = resource.key.clone();
        for (api, operation) in apis.iter_mut().zip(operations) {
            if api.behaviour.create.as_deref() != Some(&found.name)
                || (is_whole && operation.resource_name.is_none())
            {
                continue;
            }
            let wanted = format!("{}id", found.noun);
            let asked = api.parameters.iter_mut().find(|(name, doc)| {
                is_whole && doc.place == Some(Place::Query) && (plain(name) == wanted || noun(name) == wanted)
            });
            if let Some((asked, doc)) = asked {
                doc.ignored = false;
                // A key that the caller leaves out is generated.
                let given = argument(asked);
                api.behaviour.set.insert(key.clone(), given);
            }
            api.behaviour.also.push(EffectDoc {
                update: Some(found.name.clone()),
                key: Some(format!("record.{key}")),
                set: IndexMap::from_iter([(member.clone(), name.clone())]),
                ..EffectDoc::default()
            });
        }
    }
}

/// Returns the member that shows both parts of a key of two, and its expression: `octo/hello` of `octo` and
/// `hello`.
fn both_parts(found: &Collection) -> Option<(String, String)> {
    let first = found.above.iter().find(|known| known.of.is_none() && known.picks.is_empty())?;
    let mut members = found.record.as_ref()?.members()?.keys();
    let member = members.find(|name| FULL_NAMES.contains(&plain(name).as_str()))?;
    let name = format!("concat(record.{}, '/', record.{})", first.field, found.key);
    Some((identifier(member), name))
}

/// Returns the full name of a record as an expression.
fn full_name(places: &Places, found: &Collection, record: &str, parts: &[Part]) -> Option<String> {
    let first = parts.iter().position(|part| part.key().is_some())?.checked_sub(1)?;
    let mut pieces: Vec<String> = Vec::new();
    let mut at = 0;
    for part in parts.get(first..)? {
        match part {
            Part::Text(text) => {
                let slash = if pieces.is_empty() { "" } else { "/" };
                pieces.push(quote(&format!("{slash}{text}/")));
            }
            Part::Key(_) => {
                pieces.push(format!("string({})", above(places, found, record, at, 0)?));
                at += 1;
            }
        }
    }
    pieces.push(format!("string({record}.{})", found.key));
    Some(format!("concat({})", pieces.join(", ")))
}

/// Returns the key at a position of a record's path.
fn above(places: &Places, found: &Collection, record: &str, at: usize, level: usize) -> Option<String> {
    if let Some(known) = found.above.iter().find(|known| known.at == at) {
        return Some(format!("{record}.{}", known.field));
    }
    let nearest = found.above.iter().rev().find(|known| known.of.is_some()).filter(|_| level < MAX_LEVELS)?;
    let (_, other) = places.all.get_index(nearest.of?)?;
    above(places, other, &format!("{}.get({record}.{})", other.name, nearest.field), at, level + 1)
}

/// Gives callers the full names whose parts all have one value.
pub(super) fn given(places: &Places, operations: &[Operation], told: &mut IndexMap<String, GivenDoc>) {
    for operation in operations {
        let Some((sent, chain)) = &operation.resource_name else { continue };
        let value = |collection: &String| match places.given.get(&crate::resource_names::key(collection)) {
            Some(PathValue::Value(Json::String(value))) => Some(format!("{collection}/{value}")),
            _ => None,
        };
        if let Some(parts) = chain.iter().map(value).collect::<Option<Vec<String>>>() {
            told.entry(sent.clone()).or_insert_with(|| GivenDoc::Value(json!(parts.join("/"))));
        }
    }
}
