//! Lists: which records, filtered by what, in which order, in which pages.

use diorama_seeds::doc::{CompareDoc, FieldDoc, FilterDoc, PageDoc, PageStyle, SortDoc, TextDoc};
use serde_json::{Value as Json, json};

use super::Severity;
use super::bounds::{is_order, ordered_by};
use super::build;
use super::constants::quoted;
use super::document::{Parameter, Place};
use super::entities::{Entity, Meaning, Model, list_hints};
use super::fakes::{self, moment};
use super::operations::{Maker, argument};
use super::phrases;
use super::routes::{self, List, entity_name, paging_role};
use super::shape::{Kind, Shape};
use super::words::{identifier, is_identifier, label, plural, words};

mod filters;

use filters::filter;

/// Makes the list behaviour of an operation.
pub(super) fn list(maker: &mut Maker<'_>, list: &List<'_>, owner: Option<&Entity>) {
    let model = maker.model;
    let hints = list_hints(list, &maker.route);
    let name = match model.meaning(list.item, &hints) {
        Meaning::Entity(name) => name,
        Meaning::Link { far, .. } => far,
        Meaning::Value => match hints.iter().find(|hint| model.entities.contains_key(*hint)) {
            Some(name) => name.clone(),
            None => match model.entities.values().find(|entity| entity.root.as_ref() == Some(list.item)) {
                Some(entity) => entity.name.clone(),
                None => return,
            },
        },
    };
    let Some(entity) = model.entity(&name) else { return };
    if owner.is_none() && super::mixed::list(maker, list, entity) {
        return;
    }
    let mut conditions: Vec<String> = Vec::new();
    let mut adjective = String::new();
    if let Some(owner) = owner
        && !below_owner(maker, list, owner, entity, &mut conditions, &mut adjective)
    {
        return;
    }
    if maker.api.behaviour.members.is_none() {
        maker.api.behaviour.list = Some(name.clone());
    }
    let modifiers = maker.route.modifiers();
    order(maker, entity, &modifiers, &mut conditions, &mut adjective);
    let mut arguments: Vec<(String, String, bool)> = Vec::new();
    let parameters: Vec<&Parameter> =
        maker.operation.parameters.iter().filter(|parameter| parameter.place == Place::Query).collect();
    for parameter in parameters {
        if page(maker, parameter) || sort(maker, entity, parameter) {
            continue;
        }
        if let Some(words) = filter(maker, entity, parameter, &mut conditions) {
            maker.used.insert(parameter.name.clone());
            if !words.is_empty() {
                arguments.push((parameter.name.clone(), words, parameter.required));
            }
        }
    }
    if let Some(condition) = conditions.into_iter().reduce(|all, next| format!("{all} && {next}")) {
        maker.api.behaviour.condition = Some(condition);
    }
    maker.list_reply(entity, list);
    let nouns = plural(&label(&entity.name));
    if let Some(step) = maker.route.subject() {
        let parameter = step.parameter.clone();
        arguments.insert(
            0,
            (
                parameter,
                if adjective.starts_with("similar") || adjective.starts_with("recommended") {
                    "like {}".to_owned()
                } else {
                    "of {}".to_owned()
                },
                true,
            ),
        );
        for parameter in maker.route.keys().rev().skip(1) {
            arguments.insert(1, (parameter.clone(), "of {}".to_owned(), true));
        }
    }
    for selector in &maker.route.selectors {
        arguments.push((selector.clone(), format!("by {} {{}}", label(selector)), true));
    }
    maker.api.phrases = phrases::list(&adjective, &nouns, &arguments);
}

/// A list below a record: its parts, those it refers to, or those like it.
fn below_owner(
    maker: &mut Maker<'_>,
    list: &List<'_>,
    owner: &Entity,
    entity: &Entity,
    conditions: &mut Vec<String>,
    adjective: &mut String,
) -> bool {
    let model = maker.model;
    let depth = maker.route.chain.len().saturating_sub(1);
    let Some(key) = maker.key_expression(depth) else { return false };
    let collection =
        if routes::is_generic(list.items) { maker.route.tail.join("_") } else { list.items.to_owned() };
    let field = identifier(&format!("{}_ids", entity_name(&collection)));
    if owner.references.get(&field).is_some_and(|known| known.many && known.target == entity.name) {
        maker.api.behaviour.members = Some(format!("{}.{field}", owner.name));
        maker.act_on(owner, key);
        return true;
    }
    if entity.name == owner.name {
        // Similar records share the first thing they are tagged with.
        conditions.push(format!("item.{} != {key}", entity.key));
        let tags = entity.references.iter().find(|(_, reference)| {
            reference.many
                && model
                    .entity(&reference.target)
                    .is_some_and(|target| target.summary.as_ref().is_some_and(super::entities::is_taxonomy))
        });
        if let Some((field, _)) = tags {
            conditions.push(format!("{}.get({key}).{field}[0] in item.{field}", entity.name));
        }
        *adjective = if maker.route.tail.iter().any(|segment| segment.starts_with("recommend")) {
            "recommended"
        } else {
            "similar"
        }
        .to_owned();
        maker.must_exist(owner, &key);
        return true;
    }
    if let Some(by) = model.reference_to(&entity.name, &owner.name) {
        conditions.push(format!("item.{by} == {key}"));
        let ends = model.ends(entity);
        let kinds = build::discriminators(model, entity, &ends);
        let group = if routes::is_generic(list.items) {
            maker.route.tail.last().cloned().unwrap_or_default()
        } else {
            list.items.to_owned()
        };
        if let (Some((field, _)), true) =
            (&kinds.group, ends.alternatives.get(&owner.name).is_some_and(|groups| groups.contains(&group)))
        {
            conditions.push(format!(
                "item.{} == {}",
                identifier(field),
                quoted(&build::group_value(entity, &kinds, &group))
            ));
        }
        maker.must_exist(owner, &key);
        return true;
    }
    if let Some(field) = model.references_to(&owner.name, &entity.name) {
        maker.api.behaviour.members = Some(format!("{}.{field}", owner.name));
        maker.act_on(owner, key);
        return true;
    }
    maker.notes.push(Severity::Less.says(format!(
        "nothing says which {} belong to a {}; the list shows all",
        plural(&label(&entity.name)),
        label(&owner.name)
    )));
    maker.must_exist(owner, &key);
    true
}

/// The field by which records have an extreme, whether only the past counts, and the word for it.
pub(super) fn extreme(
    model: &Model,
    entity: &Entity,
    modifiers: &[String],
) -> (Option<String>, bool, &'static str) {
    let has = |nouns: &[&str]| modifiers.iter().any(|word| nouns.contains(&word.as_str()));
    if has(&["popular", "trending", "featured"]) {
        return (
            ranking(
                entity,
                &["popularity", "views", "plays", "downloads", "followers", "vote_count", "likes"],
            ),
            false,
            "most popular",
        );
    }
    if has(&["top", "rated", "best"]) {
        return (
            ranking(entity, &["vote_average", "rating", "score", "stars", "average_rating", "points"]),
            false,
            "best rated",
        );
    }
    (date_field(model, entity), true, "latest")
}

fn ranking(entity: &Entity, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find(|name| {
            entity
                .fields
                .get(**name)
                .is_some_and(|fact| matches!(fact.shape.kind, Kind::Integer | Kind::Number))
        })
        .map(|name| identifier(name))
}

/// The date by which records are new or coming.
pub(super) fn date_field(model: &Model, entity: &Entity) -> Option<String> {
    let dates: Vec<&String> = entity
        .fields
        .iter()
        .filter(|(name, fact)| {
            moment(name, &fact.shape) == Some("date")
                && build::computed(model, entity, name, &fact.shape).is_none()
        })
        .map(|(name, _)| name)
        .collect();
    let wanted = ["release", "first", "start", "published", "publish", "created", "due", "air"];
    wanted
        .iter()
        .find_map(|word| dates.iter().find(|name| words(name).iter().any(|part| part == word)))
        .or_else(|| dates.first())
        .map(|name| identifier(name))
}

/// The order and the window in time that path words ask for.
fn order(
    maker: &mut Maker<'_>,
    entity: &Entity,
    modifiers: &[String],
    conditions: &mut Vec<String>,
    adjective: &mut String,
) {
    let has = |nouns: &[&str]| modifiers.iter().any(|word| nouns.contains(&word.as_str()));
    let model = maker.model;
    let date = date_field(model, entity);
    let popular =
        ranking(entity, &["popularity", "views", "plays", "downloads", "followers", "vote_count", "likes"]);
    let mut by = None;
    if has(&["popular", "trending", "featured"]) {
        by = popular.map(|field| format!("-{field}"));
        *adjective = if has(&["trending"]) { "trending" } else { "popular" }.to_owned();
    } else if has(&["top", "rated", "best"]) {
        by = extreme(model, entity, modifiers).0.map(|field| format!("-{field}"));
        *adjective = "top rated".to_owned();
    } else if has(&["upcoming"]) {
        if let Some(date) = date {
            conditions.push(format!("item.{date} > today"));
            by = Some(date);
        }
        *adjective = "upcoming".to_owned();
    } else if has(&["now", "current", "airing", "air", "today"]) {
        let days = if has(&["today"]) { 0 } else { 7 };
        let part = build::parts_of(model, &entity.name).into_iter().rev().find_map(|part| {
            let part = model.entity(&part)?;
            let date = part
                .fields
                .iter()
                .find(|(name, fact)| moment(name, &fact.shape) == Some("date"))
                .map(|(name, _)| identifier(name))?;
            Some((part, date, model.reference_to(&part.name, &entity.name)?))
        });
        if let (Some((part, date, by)), true) = (part, has(&["air", "airing", "today"])) {
            conditions.push(format!(
                "{}.any(x, x.{by} == item.{} && x.{date} >= today && x.{date} <= today + days({days}))",
                part.name, entity.key
            ));
        } else if let Some(date) = date {
            conditions.push(format!("item.{date} <= today && item.{date} > today - days(120)"));
        }
        by = popular.map(|field| format!("-{field}"));
        *adjective = if has(&["today"]) {
            "airing today:"
        } else if has(&["playing"]) {
            "now playing"
        } else {
            "current"
        }
        .trim_end_matches(':')
        .to_owned();
    } else if has(&["latest", "recent", "new", "newest"]) {
        if let Some(date) = date {
            conditions.push(format!("item.{date} <= today"));
            by = Some(format!("-{date}"));
        }
        *adjective = "latest".to_owned();
    } else if has(&["search", "discover", "similar", "recommendations", "recommended", "related"]) {
        by = popular.map(|field| format!("-{field}"));
    }
    if let Some(by) = by {
        maker.api.behaviour.sort = Some(SortDoc { by: Some(by), ..SortDoc::default() });
    }
}

/// Paging parameters.
pub(super) fn page(maker: &mut Maker<'_>, parameter: &Parameter) -> bool {
    let Some(role @ ("page" | "offset" | "limit" | "next")) = paging_role(&parameter.name) else {
        return false;
    };
    let known =
        maker.api.behaviour.page.get_or_insert_with(|| PageDoc { size: Some(20), ..PageDoc::default() });
    match role {
        "limit" => {
            known.limit = Some(parameter.name.clone());
            if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
                let default = doc.default.as_ref().and_then(Json::as_u64);
                doc.max.get_or_insert(json!(default.unwrap_or_default().max(100)));
                if let Some(default) = default {
                    known.size = Some(u32::try_from(default).unwrap_or(20).clamp(1, 1000));
                }
            }
        }
        role => {
            known.style = PageStyle::parse(role).unwrap_or(PageStyle::Cursor);
            known.parameter = Some(parameter.name.clone());
            let first = maker.api.parameters.get(&parameter.name).map(first_page);
            known.first = first.filter(|first| role == "page" && *first != 1);
        }
    }
    if known.parameter.is_none() {
        // A limit alone: pages of that size from the start.
        known.style = PageStyle::Offset;
    }
    maker.used.insert(parameter.name.clone());
    true
}

/// The number of the first page, by what the parameter is when it is left out, or at least.
pub(super) fn first_page(doc: &FieldDoc) -> u8 {
    let least = doc.default.as_ref().or(doc.min.as_ref()).and_then(Json::as_u64);
    if least == Some(0) { 0 } else { 1 }
}

/// The parameter by which callers choose the order.
fn sort(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter) -> bool {
    if !is_order(&parameter.name) {
        return false;
    }
    let Kind::Enum(values) = &parameter.shape.kind else { return false };
    let stored = |field: &str| {
        entity.fields.get(field).is_some_and(|fact| {
            fact.shape.is_scalar() && build::computed(maker.model, entity, field, &fact.shape).is_none()
        }) || entity.key == field
    };
    let (kept, dropped): (Vec<&String>, Vec<&String>) =
        values.iter().filter(|value| !value.trim().is_empty()).partition(|value| stored(ordered_by(value)));
    if kept.is_empty() {
        return false;
    }
    if !dropped.is_empty() {
        let list: Vec<&str> = dropped.iter().map(|value| value.as_str()).collect();
        maker.notes.push(Severity::Less.says(format!(
            "`{}` leaves out orders by fields that no schema has: {}",
            parameter.name,
            list.join(", ")
        )));
    }
    let mut fields: Vec<String> = Vec::new();
    for value in &kept {
        let field = identifier(ordered_by(value));
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
        doc.values = kept.into_iter().cloned().collect();
        if doc
            .default
            .as_ref()
            .and_then(serde_json::Value::as_str)
            .is_some_and(|default| !doc.values.iter().any(|value| value == default))
        {
            doc.default = None;
            doc.optional = true;
        }
    }
    let known = maker.api.behaviour.sort.get_or_insert_with(SortDoc::default);
    known.parameter = Some(parameter.name.clone());
    known.fields = fields;
    maker.used.insert(parameter.name.clone());
    true
}
