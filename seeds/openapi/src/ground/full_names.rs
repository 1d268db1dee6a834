//! Full names of records: the member `name` holds the names of all that a record stands below, and its own; `full_name` of what a key of two
//! names has both parts.

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{ApiDoc, EffectDoc, GivenDoc, Place, ResourceDoc, TypeName};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::places::{Collection, Given, Part, Places, form};
use crate::constants::quote;
use crate::document::Operation;
use crate::operations::argument;
use crate::words::identifier;

/// The member that shows the full name.
const NAME: &str = "name";
/// Plain names of members that show both parts of a key of two.
const FULL_NAMES: [&str; 4] = ["fullname", "pathwithnamespace", "namewithowner", "fullslug"];
/// Records above each other that a name goes through, at most.
const MAX_LEVELS: usize = 8;

/// Gives records their full names, those that are there and those that callers make.
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
        // Names follow from what they are made of.
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
                // A key that is not given is drawn as that of any record.
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

/// The member that shows both parts of a key of two, and these as an expression: `octo/hello` of `octo` and `hello`.
fn both_parts(found: &Collection) -> Option<(String, String)> {
    let first = found.above.iter().find(|known| known.of.is_none() && known.picks.is_empty())?;
    let mut members = found.record.as_ref()?.members()?.keys();
    let member = members.find(|name| FULL_NAMES.contains(&plain(name).as_str()))?;
    let name = format!("concat(record.{}, '/', record.{})", first.field, found.key);
    Some((identifier(member), name))
}

/// The full name of a record, as an expression.
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

/// The key at a place of a record's path.
fn above(places: &Places, found: &Collection, record: &str, at: usize, level: usize) -> Option<String> {
    if let Some(known) = found.above.iter().find(|known| known.at == at) {
        return Some(format!("{record}.{}", known.field));
    }
    let nearest = found.above.iter().rev().find(|known| known.of.is_some()).filter(|_| level < MAX_LEVELS)?;
    let (_, other) = places.all.get_index(nearest.of?)?;
    above(places, other, &format!("{}.get({record}.{})", other.name, nearest.field), at, level + 1)
}

/// Callers are given the names of which the parts are known alone.
pub(super) fn given(places: &Places, operations: &[Operation], told: &mut IndexMap<String, GivenDoc>) {
    for operation in operations {
        let Some((sent, chain)) = &operation.resource_name else { continue };
        let value = |collection: &String| match places.given.get(&crate::resource_names::key(collection)) {
            Some(Given::Value(Json::String(value))) => Some(format!("{collection}/{value}")),
            _ => None,
        };
        if let Some(parts) = chain.iter().map(value).collect::<Option<Vec<String>>>() {
            told.entry(sent.clone()).or_insert_with(|| GivenDoc::Value(json!(parts.join("/"))));
        }
    }
}
