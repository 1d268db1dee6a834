//! Handles lists of several resources: `/trending/{media_type}` shows films, shows or people, as the caller
//! chooses.
//!
//! The world format lists one resource, so such a list gets entries of its own. Each entry refers to one
//! record.

use diorama_seeds::contract::{AS, noun};
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ReplyDoc, ResourceDoc};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::Act;
use crate::constants::quote;
use crate::document::Place;
use crate::ground::places::{Collection, form, list};
use crate::operations::argument;
use crate::phrases;
use crate::shape::Kind;
use crate::words::plural;

/// The field that holds the kind of an entry.
const KIND: &str = "kind";
/// Values that choose all kinds.
const ALL: [&str; 4] = ["all", "any", "multi", ""];

/// A parameter that chooses the resource, with the resource that each of its values names.
struct Choice<'a> {
    parameter: String,
    is_required: bool,
    kinds: Vec<(String, &'a Collection)>,
    /// Values that choose all kinds.
    all: Vec<String>,
}

impl<'a> Act<'a> {
    /// Lists records of several resources, where a parameter chooses among them. Returns true if one does.
    pub(super) fn list_mixed(&mut self) -> bool {
        let own = self.places.all.get(&form(&self.parts));
        let listed = list(self.operation, &self.parts).filter(|_| own.is_none_or(|own| own.item.is_none()));
        let Some((items, _)) = listed else { return false };
        let Some(choice) = self.choice() else { return false };
        let nouns: Vec<&str> = choice.kinds.iter().map(|(_, found)| found.name.as_str()).collect();
        // Resource names in worlds have few letters.
        let joined: String = nouns.join("_or_").chars().take(40).collect();
        let name = format!("{}_entry", joined.trim_end_matches('_'));
        self.resources.entry(name.clone()).or_insert_with(|| entries(&name, &choice));
        let given = argument(&choice.parameter);
        let mut wanted: Vec<String> =
            choice.all.iter().map(|all| format!("{given} == {}", quote(all))).collect();
        wanted.push(format!("item.{KIND} == {given}"));
        let condition = wanted.join(" || ");
        let behaviour = &mut self.api.behaviour;
        behaviour.list = Some(name);
        behaviour.condition =
            Some(if choice.is_required { condition } else { format!("!given({given}) || {condition}") });
        self.api.reply = ReplyDoc { items: Some(items), total: Some(String::new()), ..ReplyDoc::default() };
        self.page();
        self.used.insert(choice.parameter.clone());
        let nouns: Vec<String> = choice.kinds.iter().map(|(_, found)| plural(&found.label)).collect();
        let said = [(choice.parameter, "of the kind {}".to_owned(), choice.is_required)];
        self.api.phrases = phrases::list("", &nouns.join(" or "), &said);
        true
    }

    fn choice(&self) -> Option<Choice<'a>> {
        let places = self.places;
        self.operation.parameters.iter().find_map(|parameter| {
            let Kind::Enum(values) = &parameter.shape.kind else { return None };
            let (mut kinds, mut all) = (Vec::new(), Vec::new());
            for value in values {
                match places.by_noun(&noun(value), usize::MAX, &self.parts, "") {
                    Some(of) if self.is_stored(of) && places.all[of].above.is_empty() => {
                        kinds.push((value.clone(), &places.all[of]));
                    }
                    _ => all.push(value.clone()),
                }
            }
            let fits = kinds.len() > 1 && all.iter().all(|value| ALL.contains(&value.as_str()));
            let is_required = parameter.required || parameter.place == Place::Path;
            fits.then(|| Choice { parameter: parameter.name.clone(), is_required, kinds, all })
        })
    }
}

/// Returns the resource of the entries, with one entry for each record of each resource.
fn entries(name: &str, choice: &Choice<'_>) -> ResourceDoc {
    let mut doc = ResourceDoc {
        key: format!("{name}_key"),
        label: Some("entry".to_owned()),
        records: RecordsDoc::Count(0),
        ..ResourceDoc::default()
    };
    let values = choice.kinds.iter().map(|(value, _)| value.clone()).collect();
    doc.fields.insert(KIND.to_owned(), FieldDoc { values, ..FieldDoc::default() });
    for (value, found) in &choice.kinds {
        let by = format!("{AS}{}", found.name);
        let reference = FieldDoc {
            reference: Some(found.name.clone()),
            nullable: true,
            default: Some(Json::Null),
            on_delete: Some(OnDelete::Cascade),
            fake: Some(json!({"provider": "pick", "of": [null]})),
            ..FieldDoc::default()
        };
        doc.fields.insert(by.clone(), reference);
        let set = IndexMap::from([(KIND.to_owned(), json!(value))]);
        doc.each.push(EachDoc { of: found.name.clone(), by, min: 1, max: 1, set });
    }
    doc
}
