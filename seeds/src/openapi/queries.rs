//! Lists: which records, filtered by what, in which order, in which pages.

use serde_json::json;

use super::build;
use super::document::{Parameter, Place};
use super::entities::{Entity, Meaning, Model, list_hints};
use super::fakes::{self, moment};
use super::operations::{Maker, argument};
use super::phrases;
use super::replies::quoted;
use super::routes::{self, List, entity_name, paging_role};
use super::shape::{Kind, Shape};
use super::words::{identifier, is_identifier, label, plural, words};
use crate::doc::{CompareDoc, FieldDoc, FilterDoc, PageDoc, SortDoc, TextDoc};

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
    let parameters: Vec<&Parameter> = maker.operation.parameters.iter().filter(|parameter| parameter.place == Place::Query).collect();
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
        arguments.insert(0, (parameter, if adjective.starts_with("similar") || adjective.starts_with("recommended") { "like {}".to_owned() } else { "of {}".to_owned() }, true));
        for step in maker.route.chain.iter().rev().skip(1) {
            arguments.insert(1, (step.parameter.clone(), "of {}".to_owned(), true));
        }
    }
    for selector in &maker.route.selectors {
        arguments.push((selector.clone(), format!("by {} {{}}", label(selector)), true));
        maker.used.insert(selector.clone());
    }
    maker.api.phrases = phrases::list(&adjective, &nouns, &arguments);
}

/// A list below a record: its parts, those it refers to, or those like it.
fn below_owner(maker: &mut Maker<'_>, list: &List<'_>, owner: &Entity, entity: &Entity, conditions: &mut Vec<String>, adjective: &mut String) -> bool {
    let model = maker.model;
    let depth = maker.route.chain.len().saturating_sub(1);
    let Some(key) = maker.key_expression(depth) else { return false };
    if entity.name == owner.name {
        // Similar records share the first thing they are tagged with.
        conditions.push(format!("item.{} != {key}", entity.key));
        let tags = entity.references.iter().find(|(_, reference)| {
            reference.many && model.entity(&reference.target).is_some_and(|target| target.summary.as_ref().is_some_and(super::entities::is_taxonomy))
        });
        if let Some((field, _)) = tags {
            conditions.push(format!("{}.get({key}).{field}[0] in item.{field}", entity.name));
        }
        *adjective = if maker.route.tail.iter().any(|segment| segment.starts_with("recommend")) { "recommended" } else { "similar" }.to_owned();
        maker.must_exist(owner, &key);
        return true;
    }
    if let Some(by) = model.reference_to(&entity.name, &owner.name) {
        conditions.push(format!("item.{by} == {key}"));
        let ends = model.ends(entity);
        let kinds = build::discriminators(model, entity, &ends);
        let group = if routes::is_generic(list.items) { maker.route.tail.last().cloned().unwrap_or_default() } else { list.items.to_owned() };
        if let (Some((field, _)), true) = (&kinds.group, ends.alternatives.get(&owner.name).is_some_and(|groups| groups.contains(&group))) {
            conditions.push(format!("item.{} == {}", identifier(field), quoted(&build::group_value(entity, &kinds, &group))));
        }
        maker.must_exist(owner, &key);
        return true;
    }
    if let Some(field) = model.references_to(&owner.name, &entity.name) {
        maker.api.behaviour.members = Some(format!("{}.{field}", owner.name));
        maker.api.behaviour.key = Some(key);
        return true;
    }
    maker.notes.push(format!("nothing says which {} belong to a {}; the list shows all", plural(&label(&entity.name)), label(&owner.name)));
    maker.must_exist(owner, &key);
    true
}

/// The field by which records have an extreme, whether only the past counts, and the word for it.
pub(super) fn extreme(model: &Model, entity: &Entity, modifiers: &[String]) -> (Option<String>, bool, &'static str) {
    let has = |nouns: &[&str]| modifiers.iter().any(|word| nouns.contains(&word.as_str()));
    if has(&["popular", "trending", "featured"]) {
        return (ranking(entity, &["popularity", "views", "plays", "downloads", "followers", "vote_count", "likes"]), false, "most popular");
    }
    if has(&["top", "rated", "best"]) {
        return (ranking(entity, &["vote_average", "rating", "score", "stars", "average_rating", "points"]), false, "best rated");
    }
    (date_field(model, entity), true, "latest")
}

fn ranking(entity: &Entity, names: &[&str]) -> Option<String> {
    names.iter().find(|name| entity.fields.get(**name).is_some_and(|fact| matches!(fact.shape.kind, Kind::Integer | Kind::Number))).map(|name| identifier(name))
}

/// The date by which records are new or coming.
pub(super) fn date_field(model: &Model, entity: &Entity) -> Option<String> {
    let dates: Vec<&String> = entity
        .fields
        .iter()
        .filter(|(name, fact)| moment(name, &fact.shape) == Some("date") && build::computed(model, entity, name, &fact.shape).is_none())
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
fn order(maker: &mut Maker<'_>, entity: &Entity, modifiers: &[String], conditions: &mut Vec<String>, adjective: &mut String) {
    let has = |nouns: &[&str]| modifiers.iter().any(|word| nouns.contains(&word.as_str()));
    let model = maker.model;
    let date = date_field(model, entity);
    let popular = ranking(entity, &["popularity", "views", "plays", "downloads", "followers", "vote_count", "likes"]);
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
            let date = part.fields.iter().find(|(name, fact)| moment(name, &fact.shape) == Some("date")).map(|(name, _)| identifier(name))?;
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
        *adjective = if has(&["today"]) { "airing today:" } else if has(&["playing"]) { "now playing" } else { "current" }.trim_end_matches(':').to_owned();
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
fn page(maker: &mut Maker<'_>, parameter: &Parameter) -> bool {
    let Some(role @ ("page" | "offset" | "limit" | "next")) = paging_role(&parameter.name) else { return false };
    let known = maker.api.behaviour.page.get_or_insert_with(|| PageDoc { size: Some(20), ..PageDoc::default() });
    match role {
        "limit" => {
            known.limit = Some(parameter.name.clone());
            if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
                doc.max.get_or_insert(json!(100));
                if let Some(default) = doc.default.as_ref().and_then(serde_json::Value::as_u64) {
                    known.size = Some(u32::try_from(default).unwrap_or(20).clamp(1, 1000));
                }
            }
        }
        role => {
            known.style = match role {
                "page" => "page",
                "offset" => "offset",
                _ => "cursor",
            }
            .to_owned();
            known.parameter = Some(parameter.name.clone());
        }
    }
    if known.style.is_empty() {
        // A limit alone: pages of that size from the start.
        known.style = "offset".to_owned();
    }
    maker.used.insert(parameter.name.clone());
    true
}

/// The parameter by which callers choose the order.
fn sort(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter) -> bool {
    if !["sort", "sort_by", "order_by", "sortby", "orderby", "ordering"].contains(&words(&parameter.name).join("_").as_str()) {
        return false;
    }
    let Kind::Enum(values) = &parameter.shape.kind else { return false };
    let stored = |field: &str| {
        entity.fields.get(field).is_some_and(|fact| fact.shape.is_scalar() && build::computed(maker.model, entity, field, &fact.shape).is_none()) || entity.key == field
    };
    let base = |value: &str| {
        let value = value.strip_prefix('-').unwrap_or(value);
        value.strip_suffix(".desc").or_else(|| value.strip_suffix(".asc")).unwrap_or(value).to_owned()
    };
    let (kept, dropped): (Vec<&String>, Vec<&String>) = values.iter().filter(|value| !value.trim().is_empty()).partition(|value| stored(&base(value)));
    if kept.is_empty() {
        return false;
    }
    if !dropped.is_empty() {
        let list: Vec<&str> = dropped.iter().map(|value| value.as_str()).collect();
        maker.notes.push(format!("`{}` leaves out orders by fields that no schema has: {}", parameter.name, list.join(", ")));
    }
    let mut fields: Vec<String> = Vec::new();
    for value in &kept {
        let field = identifier(&base(value));
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
        doc.values = kept.into_iter().cloned().collect();
        if doc.default.as_ref().and_then(serde_json::Value::as_str).is_some_and(|default| !doc.values.iter().any(|value| value == default)) {
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

/// A filter by a query parameter; the words with which people add it, or nothing when it filters nothing.
fn filter(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter, conditions: &mut Vec<String>) -> Option<String> {
    let model = maker.model;
    let name = parameter.name.as_str();
    let joined = words(name).join("_");
    let scalar = |field: &str| entity.fields.get(field).filter(|fact| fact.shape.is_scalar() && build::computed(model, entity, field, &fact.shape).is_none());
    let put = |maker: &mut Maker<'_>, filter: FilterDoc| {
        maker.api.behaviour.filters.insert(name.to_owned(), filter);
    };
    let compare = |field: &str, op: &str| FilterDoc::Compare(CompareDoc { field: identifier(field), op: op.to_owned() });

    if ["query", "q", "search", "keyword", "text", "term", "search_term", "name_contains"].contains(&joined.as_str()) && matches!(parameter.shape.kind, Kind::String) {
        let mut fields: Vec<String> = Vec::new();
        fields.extend(build::display(entity).map(identifier));
        fields.extend(entity.fields.keys().filter(|field| field.starts_with("original_title") || field.starts_with("original_name")).map(|field| identifier(field)));
        if fields.is_empty() {
            fields.extend(entity.fields.iter().find(|(_, fact)| fact.shape.kind == Kind::String).map(|(field, _)| identifier(field)));
        }
        if fields.is_empty() {
            return None;
        }
        put(maker, FilterDoc::Text(TextDoc { text: fields }));
        return Some("matching {}".to_owned());
    }
    // Bounds: vote_average.gte, min_price, created_after.
    if let Some((stem, op)) = bound(&joined) {
        for candidate in stems(&stem) {
            if let Some(fact) = scalar(&candidate) {
                let stored = moment(&candidate, &fact.shape);
                if let Some(doc) = maker.api.parameters.get_mut(name) {
                    let place = doc.place.clone();
                    let description = doc.description.clone();
                    let mut typed = fakes::typed(&candidate, &Shape { nullable: false, format: fact.shape.format.clone(), ..fact.shape.clone() }, 0);
                    typed.values.clear();
                    if typed.kind.is_none() {
                        typed.kind = Some("string".to_owned());
                    }
                    (typed.place, typed.description, typed.label) = (place, description, Some(label(name)));
                    typed.optional = !parameter.required;
                    (typed.min, typed.max) = (None, None);
                    *doc = typed;
                }
                put(maker, compare(&candidate, op));
                let noun = label(&candidate);
                return Some(match (stored.is_some(), op) {
                    (true, "ge") => format!("with a {noun} from {{}} on"),
                    (true, _) => format!("with a {noun} up to {{}}"),
                    (false, "ge") => format!("with a {noun} of at least {{}}"),
                    (false, _) => format!("with a {noun} of at most {{}}"),
                });
            }
        }
        return None;
    }
    if !is_identifier(name) {
        return None;
    }
    let argument = argument(name);
    // Years of dates.
    if let Some(rest) = joined.strip_suffix("year") {
        let stem = rest.trim_end_matches('_');
        let own = stems(&format!("{stem}_date")).into_iter().chain(stems(stem)).find(|candidate| scalar(candidate).is_some_and(|fact| moment(candidate, &fact.shape) == Some("date")));
        if scalar(&joined).is_none()
            && let Some(field) = own.or_else(|| date_field(model, entity))
        {
            conditions.push(format!("(!given({argument}) || year(item.{field}) == {argument})"));
            return Some("from {}".to_owned());
        }
    }
    let (stem, without) = match joined.strip_prefix("without_") {
        Some(rest) => (rest.to_owned(), true),
        None => (joined.strip_prefix("with_").or_else(|| joined.strip_prefix("filter_")).unwrap_or(&joined).to_owned(), false),
    };
    let singular = entity_name(&stem);
    // References, single and in lists.
    let reference = entity.references.iter().find(|(field, reference)| {
        **field == format!("{singular}_ids") || **field == format!("{singular}_id") || **field == singular || **field == stem || reference.target == singular
            || reference.target == singular.trim_end_matches("_id") || field.strip_suffix("_ids").is_some_and(|noun| noun.ends_with(&format!("_{singular}")))
    });
    if let Some((field, reference)) = reference {
        let (field, reference) = (field.clone(), reference.clone());
        if let Some(doc) = maker.api.parameters.get_mut(name) {
            if doc.kind.as_deref() == Some("string") && doc.description.as_deref().unwrap_or_default().contains("omma") {
                maker.notes.push(format!("`{name}` takes one key, not a list of keys"));
            }
            *doc = FieldDoc {
                reference: Some(reference.target.clone()),
                place: doc.place.clone(),
                description: doc.description.clone(),
                label: Some(label(&reference.target)),
                optional: !parameter.required,
                ..FieldDoc::default()
            };
        }
        let noun = label(&reference.target);
        if without {
            let test = if reference.many { format!("!({argument} in item.{field})") } else { format!("item.{field} != {argument}") };
            conditions.push(format!("(!given({argument}) || {test})"));
            return Some(format!("without the {noun} {{}}"));
        }
        put(maker, compare(&field, if reference.many { "has" } else { "eq" }));
        return Some(format!("with the {noun} {{}}"));
    }
    if let Some(words) = by_link(maker, entity, parameter, &stem, without, &argument, conditions) {
        return Some(words);
    }
    // Flags that let more in: include_adult.
    if let Some(flag) = joined.strip_prefix("include_")
        && let Some(fact) = scalar(flag)
        && fact.shape.kind == Kind::Boolean
        && parameter.shape.kind == Kind::Boolean
    {
        conditions.push(format!("({argument} == true || !item.{})", identifier(flag)));
        return Some(String::new());
    }
    for candidate in [joined.clone(), stem.clone(), name.to_owned()] {
        let Some(fact) = scalar(&candidate) else { continue };
        let stored = fakes::typed(&candidate, &fact.shape, 0);
        let known = |value: &String| fact.shape.samples.iter().any(|sample| sample.as_str() == Some(value));
        if let (Kind::Enum(values), true) = (&parameter.shape.kind, stored.values.is_empty())
            && !values.iter().any(known)
        {
            // The parameter speaks of codes that no reply shows.
            return None;
        }
        if let Some(doc) = maker.api.parameters.get_mut(name) {
            if stored.values.is_empty() || doc.values.iter().all(|value| stored.values.contains(value)) {
                let kept = doc.clone();
                if kept.values.is_empty() {
                    (doc.kind, doc.values) = (stored.kind.clone(), stored.values.clone());
                }
                doc.default = kept.default;
            } else {
                return None;
            }
        }
        if without {
            conditions.push(format!("(!given({argument}) || item.{} != {argument})", identifier(&candidate)));
            return Some(format!("without the {} {{}}", label(&candidate)));
        }
        maker.api.behaviour.filters.insert(name.to_owned(), FilterDoc::Field(identifier(&candidate)));
        return Some(format!("with {} {{}}", label(&candidate)));
    }
    None
}

/// Filters through a link: `with_cast`, `with_people`.
fn by_link(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter, stem: &str, without: bool, argument: &str, conditions: &mut Vec<String>) -> Option<String> {
    let model = maker.model;
    let singular = entity_name(stem);
    for link in model.entities.values() {
        let ends = model.ends(link);
        let (Some(hub), Some(groups)) = (&ends.hub, ends.alternatives.get(&entity.name)) else { continue };
        let group = groups.iter().find(|group| group.as_str() == stem);
        if group.is_none() && *hub != singular {
            continue;
        }
        let near = model.reference_to(&link.name, &entity.name)?;
        let far = model.reference_to(&link.name, hub)?;
        let kinds = build::discriminators(model, link, &ends);
        let kind = group.zip(kinds.group.as_ref()).map(|(group, (field, _))| format!(" && x.{} == {}", identifier(field), quoted(&build::group_value(link, &kinds, group)))).unwrap_or_default();
        if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
            *doc = FieldDoc {
                reference: Some(hub.clone()),
                place: doc.place.clone(),
                description: doc.description.clone(),
                label: Some(label(hub)),
                optional: !parameter.required,
                ..FieldDoc::default()
            };
        }
        maker.notes.push(format!("`{}` takes one key, not a list of keys", parameter.name));
        let test = format!("{}.any(x, x.{near} == item.{} && x.{far} == {argument}{kind})", link.name, entity.key);
        let not = if without { "!" } else { "" };
        conditions.push(format!("(!given({argument}) || {not}{test})"));
        return Some(format!("{} {{}}", if without { "without" } else { "with" }));
    }
    None
}

/// `vote_average_gte` is `vote_average` from below.
fn bound(joined: &str) -> Option<(String, &'static str)> {
    const SUFFIXES: [(&str, &str); 16] = [
        ("_gte", "ge"), ("_lte", "le"), ("_gt", "gt"), ("_lt", "lt"), ("_min", "ge"), ("_max", "le"), ("_from", "ge"), ("_to", "le"),
        ("_after", "ge"), ("_before", "le"), ("_since", "ge"), ("_until", "le"), ("_start", "ge"), ("_end", "le"), ("_ge", "ge"), ("_le", "le"),
    ];
    const PREFIXES: [(&str, &str); 8] =
        [("min_", "ge"), ("max_", "le"), ("from_", "ge"), ("to_", "le"), ("minimum_", "ge"), ("maximum_", "le"), ("after_", "ge"), ("before_", "le")];
    let suffix = SUFFIXES.iter().find_map(|(ending, op)| Some((joined.strip_suffix(ending)?.to_owned(), *op)));
    suffix.or_else(|| PREFIXES.iter().find_map(|(beginning, op)| Some((joined.strip_prefix(beginning)?.to_owned(), *op))))
}

/// Field names that a filter's stem may mean.
fn stems(stem: &str) -> Vec<String> {
    let mut out = vec![stem.to_owned()];
    for prefix in ["with_", "primary_", "original_"] {
        if let Some(rest) = stem.strip_prefix(prefix) {
            out.push(rest.to_owned());
        }
    }
    for ending in ["_date", "_at", "d_at", "ed_at"] {
        out.push(format!("{stem}{ending}"));
    }
    out
}
