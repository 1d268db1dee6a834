//! Filters: which records a query parameter lets through, by its name, its type and the fields there are.

use diorama_seeds::doc::{Comparison, TypeName};

use super::*;
use crate::Severity;
use crate::bounds::{bound, stems};
use crate::words::measured;

/// A filter by a query parameter; the words with which people add it, or nothing when it filters nothing.
pub(super) fn filter(
    maker: &mut Maker<'_>,
    entity: &Entity,
    parameter: &Parameter,
    conditions: &mut Vec<String>,
) -> Option<String> {
    let model = maker.model;
    let name = parameter.name.as_str();
    let joined = words(name).join("_");
    let scalar = |field: &str| {
        entity.fields.get(field).filter(|fact| {
            fact.shape.is_scalar() && build::computed(model, entity, field, &fact.shape).is_none()
        })
    };
    let put = |maker: &mut Maker<'_>, filter: FilterDoc| {
        maker.api.behaviour.filters.insert(name.to_owned(), filter);
    };
    let compare =
        |field: &str, op: Comparison| FilterDoc::Compare(CompareDoc { field: identifier(field), op });

    if ["query", "q", "search", "keyword", "text", "term", "search_term", "name_contains"]
        .contains(&joined.as_str())
        && matches!(parameter.shape.kind, Kind::String)
    {
        let mut fields: Vec<String> = Vec::new();
        fields.extend(build::display(entity).map(identifier));
        fields.extend(
            entity
                .fields
                .keys()
                .filter(|field| field.starts_with("original_title") || field.starts_with("original_name"))
                .map(|field| identifier(field)),
        );
        if fields.is_empty() {
            fields.extend(
                entity
                    .fields
                    .iter()
                    .find(|(_, fact)| fact.shape.kind == Kind::String)
                    .map(|(field, _)| identifier(field)),
            );
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
                    let place = doc.place;
                    let description = doc.description.clone();
                    let mut typed = fakes::typed(
                        &candidate,
                        &Shape { nullable: false, format: fact.shape.format.clone(), ..fact.shape.clone() },
                        0,
                    );
                    typed.values.clear();
                    typed.kind = stored.and_then(TypeName::parse).or(typed.kind);
                    if typed.kind.is_none() {
                        typed.kind = Some(TypeName::String);
                    }
                    (typed.place, typed.description) = (place, description);
                    phrases::name(name, &mut typed);
                    typed.optional = !parameter.required;
                    (typed.min, typed.max) = (None, None);
                    *doc = typed;
                }
                put(maker, compare(&candidate, op));
                let noun = measured(&candidate).map_or_else(|| label(&candidate), |(what, _)| what);
                return Some(match (stored.is_some(), op) {
                    // A moment brings its own preposition: "on 5 March".
                    (true, Comparison::GreaterOrEqual) => format!("whose {noun} is {{}} or later"),
                    (true, _) => format!("whose {noun} is {{}} or earlier"),
                    (false, Comparison::GreaterOrEqual) => format!("whose {noun} is at least {{}}"),
                    (false, _) => format!("whose {noun} is at most {{}}"),
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
        let own = stems(&format!("{stem}_date")).into_iter().chain(stems(stem)).find(|candidate| {
            scalar(candidate).is_some_and(|fact| moment(candidate, &fact.shape) == Some("date"))
        });
        if scalar(&joined).is_none()
            && let Some(field) = own.or_else(|| date_field(model, entity))
        {
            conditions.push(format!("(!given({argument}) || year(item.{field}) == {argument})"));
            return Some("from {}".to_owned());
        }
    }
    if let Some(words) = any_of(maker, entity, parameter).or_else(|| on_day(maker, entity, parameter)) {
        return Some(words);
    }
    let (stem, without) = match joined.strip_prefix("without_") {
        Some(rest) => (rest.to_owned(), true),
        None => (
            joined
                .strip_prefix("with_")
                .or_else(|| joined.strip_prefix("filter_"))
                .unwrap_or(&joined)
                .to_owned(),
            false,
        ),
    };
    let singular = entity_name(&stem);
    // References, single and in lists.
    let reference = entity.references.iter().find(|(field, reference)| {
        **field == format!("{singular}_ids")
            || **field == format!("{singular}_id")
            || **field == singular
            || **field == stem
            || reference.target == singular
            || reference.target == singular.trim_end_matches("_id")
            || field.strip_suffix("_ids").is_some_and(|noun| noun.ends_with(&format!("_{singular}")))
    });
    if let Some((field, reference)) = reference {
        let (field, reference) = (field.clone(), reference.clone());
        if let Some(doc) = maker.api.parameters.get_mut(name) {
            if doc.kind == Some(TypeName::String)
                && doc.description.as_deref().unwrap_or_default().contains("omma")
            {
                maker.notes.push(Severity::Other.says(format!("`{name}` takes one key, not a list of keys")));
            }
            *doc = FieldDoc {
                reference: Some(reference.target.clone()),
                place: doc.place,
                description: doc.description.clone(),
                label: Some(label(&reference.target)),
                optional: !parameter.required,
                ..FieldDoc::default()
            };
        }
        let noun = label(&reference.target);
        if without {
            let test = if reference.many {
                format!("!({argument} in item.{field})")
            } else {
                format!("item.{field} != {argument}")
            };
            conditions.push(format!("(!given({argument}) || {test})"));
            return Some(format!("without the {noun} {{}}"));
        }
        put(maker, compare(&field, if reference.many { Comparison::Has } else { Comparison::Equal }));
        let joint = if reference.many { "with" } else { "of" };
        return Some(format!("{joint} the {noun} {{}}"));
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
    if scalar(&joined).is_none()
        && parameter.shape.kind == Kind::String
        && let Some(place) = inside(entity, &joined)
    {
        conditions.push(format!("(!given({argument}) || lower(item.{place}) == lower({argument}))"));
        return Some(format!("whose {} is {{}}", label(&joined)));
    }
    for candidate in [joined.clone(), stem.clone(), name.to_owned()] {
        let Some(fact) = scalar(&candidate) else { continue };
        let mut stored = fakes::typed(&candidate, &fact.shape, 0);
        stored.kind = moment(&candidate, &fact.shape).and_then(TypeName::parse).or(stored.kind);
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
                    (doc.kind, doc.values) = (stored.kind, stored.values.clone());
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
        return Some(format!("whose {} is {{}}", label(&candidate)));
    }
    None
}

/// A list of values, one of which a record has: `status=open,closed`.
fn any_of(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter) -> Option<String> {
    let item = parameter.shape.items().filter(|item| item.is_scalar())?;
    let name = &parameter.name;
    let joined = words(name).join("_");
    let fact = [joined.clone(), entity_name(name)].into_iter().find_map(|field| {
        let fact = entity.fields.get(&field)?;
        let stored = fact.shape.is_scalar()
            && moment(&field, &fact.shape).is_none()
            && build::computed(maker.model, entity, &field, &fact.shape).is_none();
        stored.then_some((field, fact))
    });
    let (field, fact) = fact?;
    let mut shape = Shape { kind: fact.shape.kind.clone(), ..Shape::default() };
    if let (Kind::Enum(mine), Kind::Enum(known)) = (&item.kind, &fact.shape.kind)
        && mine.iter().all(|value| known.contains(value))
    {
        shape.kind = item.kind.clone();
    }
    let doc = maker.api.parameters.get_mut(name)?;
    doc.kind = Some(TypeName::List);
    doc.items = Some(Box::new(fakes::typed(&field, &shape, 0)));
    doc.default = None;
    doc.optional = !parameter.required;
    let filter = FilterDoc::Compare(CompareDoc { field: identifier(&field), op: Comparison::In });
    maker.api.behaviour.filters.insert(name.clone(), filter);
    Some(format!("whose {} is {{}}", label(&field)))
}

/// A day by a name that only says so: `on`, `date`, `day`.
fn on_day(maker: &mut Maker<'_>, entity: &Entity, parameter: &Parameter) -> Option<String> {
    let plain = ["on", "date", "day", "when"].contains(&words(&parameter.name).join("_").as_str());
    let day = moment(&parameter.name, &parameter.shape) == Some("date");
    if !plain || !day || entity.fields.contains_key(&parameter.name) {
        return None;
    }
    let (field, op) = entity.fields.iter().find_map(|(name, fact)| {
        let stored = build::computed(maker.model, entity, name, &fact.shape).is_none();
        match moment(name, &fact.shape).filter(|_| stored)? {
            "date" => Some((identifier(name), Comparison::Equal)),
            "date-time" => Some((identifier(name), Comparison::On)),
            _ => None,
        }
    })?;
    maker.api.behaviour.filters.insert(parameter.name.clone(), FilterDoc::Compare(CompareDoc { field, op }));
    Some("{}".to_owned())
}

/// A member of an object inside the record: `city` of its address.
fn inside(entity: &Entity, joined: &str) -> Option<String> {
    entity.fields.iter().find_map(|(name, fact)| {
        let member = fact.shape.member(joined)?;
        let plain = matches!(member.kind, Kind::String) && moment(joined, member).is_none();
        (plain && is_identifier(joined)).then(|| format!("{}.{joined}", identifier(name)))
    })
}

/// Filters through a link: `with_cast`, `with_people`.
pub(super) fn by_link(
    maker: &mut Maker<'_>,
    entity: &Entity,
    parameter: &Parameter,
    stem: &str,
    without: bool,
    argument: &str,
    conditions: &mut Vec<String>,
) -> Option<String> {
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
        let kind = group
            .zip(kinds.group.as_ref())
            .map(|(group, (field, _))| {
                format!(" && x.{} == {}", identifier(field), quoted(&build::group_value(link, &kinds, group)))
            })
            .unwrap_or_default();
        if let Some(doc) = maker.api.parameters.get_mut(&parameter.name) {
            *doc = FieldDoc {
                reference: Some(hub.clone()),
                place: doc.place,
                description: doc.description.clone(),
                label: Some(label(hub)),
                optional: !parameter.required,
                ..FieldDoc::default()
            };
        }
        maker
            .notes
            .push(Severity::Other.says(format!("`{}` takes one key, not a list of keys", parameter.name)));
        let test =
            format!("{}.any(x, x.{near} == item.{} && x.{far} == {argument}{kind})", link.name, entity.key);
        let not = if without { "!" } else { "" };
        conditions.push(format!("(!given({argument}) || {not}{test})"));
        return Some(format!("{} {{}}", if without { "without" } else { "with" }));
    }
    None
}
