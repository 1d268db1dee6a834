//! Lists of several resources: `/trending/{media_type}` shows films, shows or people, as the caller chooses.
//!
//! The world format lists one resource, so such a list has entries of its own: one for each record that it may show,
//! with a reference to it and the value by which it is ordered.

use diorama_seeds::doc::{
    EachDoc, FieldDoc, OnDelete, RecordsDoc, ReplyFieldDoc, ReplyMemberDoc, ResourceDoc, SortDoc, TypeName,
};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::build;
use super::constants;
use super::constants::quoted;
use super::document::Place;
use super::entities::{Entity, Model};
use super::fakes;
use super::operations::{Maker, argument};
use super::phrases;
use super::replies::named;
use super::routes::{List, entity_name};
use super::shape::{Kind, Shape};
use super::words::{identifier, label, plural};

/// A parameter that chooses the resource, with the resource that each of its values names; values such as `all` name
/// none.
struct Choice<'m> {
    parameter: String,
    place: Place,
    kinds: Vec<(String, &'m Entity)>,
    others: Vec<String>,
}

/// Makes the list of several resources, where a parameter chooses among them.
pub(super) fn list(maker: &mut Maker<'_>, list: &List<'_>, shown: &Entity) -> bool {
    if maker.route.subject().is_some() {
        return false;
    }
    let Some(choice) = choice(maker, shown) else { return false };
    let noun = maker.route.tail.first().map_or("mixed", String::as_str);
    let name = format!("{}_entry", entity_name(noun));
    let ranked = ranking(&choice);
    if maker.model.entities.contains_key(&name) || maker.more.contains_key(&name) {
        return false;
    }
    let resource = entries(&name, &choice, ranked.as_deref());
    let members = members(maker.model, list.item, &choice);
    maker.more.insert(name.clone(), resource);
    maker.api.behaviour.list = Some(name.clone());
    let argument = argument(&choice.parameter);
    let mut wanted: Vec<String> =
        choice.others.iter().map(|other| format!("{argument} == {}", quoted(other))).collect();
    wanted.push(format!("item.{KIND} == {argument}"));
    let required = choice.place == Place::Path;
    let condition = wanted.join(" || ");
    maker.api.behaviour.condition =
        Some(if required { condition } else { format!("!given({argument}) || {condition}") });
    if let Some(field) = &ranked {
        maker.api.behaviour.sort = Some(SortDoc { by: Some(format!("-{field}")), ..SortDoc::default() });
    }
    maker.used.insert(choice.parameter.clone());
    for parameter in maker.operation.parameters.iter().filter(|known| known.place == Place::Query) {
        super::queries::page(maker, parameter);
    }
    maker.list_reply_of(members, list);
    let adjective = routes_words(maker);
    let nouns = choice.kinds.iter().map(|(_, entity)| plural(&label(&entity.name))).collect::<Vec<_>>();
    let mut arguments = vec![(choice.parameter.clone(), "of the kind {}".to_owned(), required)];
    for selector in maker.route.selectors.iter().filter(|selector| **selector != choice.parameter) {
        arguments.push((selector.clone(), format!("by {} {{}}", label(selector)), true));
    }
    maker.api.phrases = phrases::list(&adjective, &nouns.join(" or "), &arguments);
    true
}

/// The field that says which resource an entry is of.
const KIND: &str = "kind";

fn routes_words(maker: &Maker<'_>) -> String {
    let modifiers = maker.route.modifiers();
    modifiers.first().cloned().unwrap_or_default()
}

fn choice<'m>(maker: &Maker<'m>, shown: &Entity) -> Option<Choice<'m>> {
    maker.operation.parameters.iter().find_map(|parameter| {
        let Kind::Enum(values) = &parameter.shape.kind else { return None };
        let (mut kinds, mut others): (Vec<(String, &Entity)>, Vec<String>) = (Vec::new(), Vec::new());
        for value in values {
            match maker.model.entity(&entity_name(value)).filter(|entity| !entity.singleton) {
                Some(entity) => kinds.push((value.clone(), entity)),
                None => others.push(value.clone()),
            }
        }
        let all = others.iter().all(|value| ["all", "any", "multi", ""].contains(&value.as_str()));
        let fits = all && kinds.len() > 1 && kinds.iter().any(|(_, entity)| entity.name == shown.name);
        fits.then(|| Choice { parameter: parameter.name.clone(), place: parameter.place, kinds, others })
    })
}

/// A number by which all of them are ordered.
fn ranking(choice: &Choice<'_>) -> Option<String> {
    let numeric = |entity: &Entity, name: &str| {
        entity.fields.get(name).is_some_and(|fact| matches!(fact.shape.kind, Kind::Integer | Kind::Number))
    };
    ["popularity", "score", "views", "plays", "followers", "likes", "rating"]
        .into_iter()
        .find(|name| choice.kinds.iter().all(|(_, entity)| numeric(entity, name)))
        .map(str::to_owned)
}

fn reference(entity: &Entity) -> String {
    format!("{}_ref", identifier(&entity.name))
}

/// The resource of the entries: one for each record of each of the resources.
fn entries(name: &str, choice: &Choice<'_>, ranked: Option<&str>) -> ResourceDoc {
    let mut doc = ResourceDoc {
        key: format!("{name}_id"),
        label: Some(label(name)),
        records: RecordsDoc::Count(0),
        ..ResourceDoc::default()
    };
    let values = choice.kinds.iter().map(|(value, _)| value.clone()).collect();
    doc.fields.insert(KIND.to_owned(), FieldDoc { values, ..FieldDoc::default() });
    for (value, entity) in &choice.kinds {
        doc.fields.insert(
            reference(entity),
            FieldDoc {
                reference: Some(entity.name.clone()),
                nullable: true,
                default: Some(Json::Null),
                on_delete: Some(OnDelete::Cascade),
                fake: Some(json!({"provider": "pick", "of": [null]})),
                ..FieldDoc::default()
            },
        );
        let set = IndexMap::from([(KIND.to_owned(), json!(value))]);
        doc.each.push(EachDoc { of: entity.name.clone(), by: reference(entity), min: 1, max: 1, set });
    }
    if let Some(field) = ranked {
        let of = choice.kinds.iter().map(|(_, entity)| behind(entity, field)).collect::<Vec<_>>();
        doc.fields.insert(
            field.to_owned(),
            FieldDoc {
                kind: Some(TypeName::Number),
                fake: Some(json!({"provider": "expr", "of": format!("coalesce({}, 0)", of.join(", "))})),
                ..FieldDoc::default()
            },
        );
    }
    doc
}

/// A field of the record behind an entry.
fn behind(entity: &Entity, field: &str) -> String {
    format!("{}.get(record.{}).{field}", entity.name, reference(entity))
}

fn members(model: &Model, item: &Shape, choice: &Choice<'_>) -> Vec<ReplyFieldDoc> {
    let members = item.members().into_iter().flatten().filter(|(name, _)| !name.is_empty());
    members
        .map(|(name, member)| ReplyFieldDoc::Member(Box::new(source(model, name, &member.shape, choice))))
        .collect()
}

/// Where a member of an entry comes from: the same member of whichever record is behind it.
fn source(model: &Model, name: &str, shape: &Shape, choice: &Choice<'_>) -> ReplyMemberDoc {
    if name == choice.parameter {
        return named(name, |doc| doc.field = Some(KIND.to_owned()));
    }
    let moment = |name: &str, shape: &Shape| fakes::moment(name, shape);
    let mut of: Vec<String> = Vec::new();
    for (_, entity) in &choice.kinds {
        let own = entity.fields.get(name).filter(|fact| {
            build::storable(&fact.shape)
                && std::mem::discriminant(&fact.shape.kind) == std::mem::discriminant(&shape.kind)
                && build::computed(model, entity, name, &fact.shape).is_none()
                && shape.is_scalar()
        });
        let title = |wanted: &str| matches!(wanted, "name" | "title" | "original_name" | "original_title");
        if name == "id" || entity.key_member.as_deref() == Some(name) {
            of.push(format!("record.{}", reference(entity)));
        } else if let Some(fact) = own {
            let value = behind(entity, &identifier(name));
            of.push(if moment(name, &fact.shape).is_some() { format!("string({value})") } else { value });
        } else if title(name)
            && let Some(display) = build::display(entity)
        {
            of.push(behind(entity, &identifier(display)));
        } else if entity.references.get(name).is_some_and(|reference| reference.many) {
            of.push(behind(entity, name));
        }
    }
    let last = match constants::value(shape, 0) {
        Json::Null | Json::Object(_) => None,
        Json::String(text) if moment(name, shape).is_some() && shape.format.is_none() => {
            Some(quoted(text.get(..0).unwrap_or_default()))
        }
        Json::String(text) => Some(quoted(&text)),
        Json::Array(_) => Some("[]".to_owned()),
        other => Some(other.to_string()),
    };
    if of.is_empty() {
        return named(name, |doc| doc.value = Some(constants::value(shape, 0)));
    }
    of.extend(last.filter(|_| name != "id"));
    named(name, |doc| doc.expr = Some(format!("coalesce({})", of.join(", "))))
}
