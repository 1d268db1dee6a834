//! From inferred resources to resources of the world format: keys, references, made-up values, how many records.

use diorama_seeds::doc::{EachDoc, FieldDoc, RecordsDoc, ResourceDoc, TypeName};
use diorama_seeds::english::capitalised;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use super::entities::{Ends, Entity, Fact, Model, display_member, looks_like_person};
use super::fakes::{self, Span};
use super::phrases;
use super::routes::entity_name;
use super::shape::{Kind, Shape};
use super::words::{self, identifier, label, singular, words};

mod examples;
mod records;

use records::records_of;

/// How the records of a link or a part say which list they stand in and what they belong to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Discriminators {
    /// The field with the list's name, and whether schemas know it.
    pub(super) group: Option<(String, bool)>,
    /// The field with the kind of owner (`media_type`).
    pub(super) owner: Option<String>,
}

/// All resources, in the model's order.
pub(super) fn resources(model: &Model, records: u32) -> IndexMap<String, ResourceDoc> {
    model.entities.values().map(|entity| (entity.name.clone(), resource(model, entity, records))).collect()
}

/// Finds the fields that tell lists and owners apart.
pub(super) fn discriminators(model: &Model, entity: &Entity, ends: &Ends) -> Discriminators {
    let groups: IndexSet<&String> = ends.alternatives.values().flatten().collect();
    let owners: Vec<String> = ends.alternatives.keys().map(|owner| owner_word(model, owner)).collect();
    let mut found = Discriminators::default();
    for (name, fact) in &entity.fields {
        if !fact.shape.is_text() || !fact.everywhere {
            continue;
        }
        let values = known_values(&fact.shape);
        let about = words(name)
            .last()
            .is_some_and(|last| ["type", "kind", "category", "role", "group"].contains(&last.as_str()));
        if found.group.is_none()
            && groups.len() > 1
            && about
            && values.iter().any(|value| groups.iter().any(|group| same(value, group)))
        {
            found.group = Some((name.clone(), true));
        } else if found.owner.is_none()
            && about
            && values.iter().any(|value| owners.contains(&value.to_lowercase()))
        {
            found.owner = Some(name.clone());
        }
    }
    if groups.len() > 1 && found.group.is_none() {
        let name = if entity.fields.contains_key("kind") { "list_name" } else { "kind" };
        found.group = Some((name.to_owned(), false));
    }
    found
}

/// The word by which `media_type` names an owner: that of the whole for parts of a whole.
fn owner_word(model: &Model, owner: &str) -> String {
    model.ancestors(owner).pop().unwrap_or_else(|| owner.to_owned())
}

/// The owner's word in the spelling of the document's examples: `movie` or `Movie`.
fn owner_value(model: &Model, entity: &Entity, field: &str, owner: &str) -> String {
    let word = owner_word(model, owner);
    let known = entity.fields.get(field).map(|fact| known_values(&fact.shape)).unwrap_or_default();
    let spelt = known.iter().find(|value| value.to_lowercase() == word).cloned();
    spelt.unwrap_or_else(|| {
        if known.iter().all(|value| value.starts_with(char::is_uppercase)) && !known.is_empty() {
            capitalised(&word)
        } else {
            word
        }
    })
}

fn same(value: &str, group: &str) -> bool {
    let value = value.to_lowercase();
    value == group.to_lowercase() || singular(&value) == singular(&group.to_lowercase())
}

fn known_values(shape: &Shape) -> IndexSet<String> {
    let mut values: IndexSet<String> =
        shape.samples.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    if let Kind::Enum(known) = &shape.kind {
        values.extend(known.iter().cloned());
    }
    values
}

/// Members that follow from other records instead of being stored: `number_of_seasons`, `last_air_date`.
pub(super) fn computed(model: &Model, entity: &Entity, member: &str, shape: &Shape) -> Option<String> {
    let parts = words(member);
    let counts = |noun: &[String]| {
        let noun = entity_name(&noun.join("_"));
        if let Some(list) = model.references_to(&entity.name, &noun) {
            return Some(format!("size(record.{list})"));
        }
        let field = model.reference_to(&noun, &entity.name)?;
        // The expression language has no `count` without a condition, so the condition is the reference itself.
        Some(format!("{noun}.count(x, x.{field} == record.{})", entity.key))
    };
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if matches!(shape.kind, Kind::Integer | Kind::Number) {
        match texts.as_slice() {
            ["number", "of", ..] | ["num", "of", ..] => return counts(parts.get(2..)?),
            ["num" | "total", _, ..] => return counts(parts.get(1..)?),
            [.., "count"] if texts.len() > 1 => return counts(parts.get(..parts.len() - 1)?),
            _ => {}
        }
    }
    if matches!(fakes::moment(member, shape), Some("date"))
        && let ["last" | "latest", ..] = texts.as_slice()
    {
        let date = parts.get(1..)?.join("_");
        let part = parts_of(model, &entity.name)
            .into_iter()
            .rev()
            .find(|part| model.entity(part).is_some_and(|part| part.fields.contains_key(&date)))?;
        let field = model.reference_to(&part, &entity.name)?;
        let first = entity
            .fields
            .iter()
            .find(|(name, fact)| *name != member && fakes::moment(name, &fact.shape) == Some("date"))?
            .0;
        return Some(format!(
            "coalesce({part}.max(x, x.{field} == record.{} && x.{date} <= today, x.{date}), record.{first})",
            entity.key
        ));
    }
    None
}

/// The numbered parts of a whole, outermost first.
pub(super) fn parts_of(model: &Model, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = name.to_owned();
    while let Some(part) =
        model.entities.values().find(|entity| entity.nest.as_ref().is_some_and(|nest| nest.parent == at))
    {
        if out.contains(&part.name) || out.len() >= 8 {
            break;
        }
        out.push(part.name.clone());
        at.clone_from(&part.name);
    }
    out
}

fn resource(model: &Model, entity: &Entity, records: u32) -> ResourceDoc {
    let ends = model.ends(entity);
    let kinds = discriminators(model, entity, &ends);
    let display = display(entity);
    let mut doc = ResourceDoc {
        key: entity.key.clone(),
        label: Some(label(&entity.name)),
        plural: Some(words::plural(&label(&entity.name))),
        display: display.map(identifier),
        singleton: entity.singleton,
        ..ResourceDoc::default()
    };
    doc.description = entity
        .root
        .as_ref()
        .and_then(|root| root.description.as_deref())
        .map(words::sentence)
        .filter(|text| !text.is_empty());
    doc.fields.insert(entity.key.clone(), key_field(entity));
    let owned = !ends.alternatives.is_empty();
    for (name, reference) in &entity.references {
        if *name != entity.key {
            doc.fields.insert(name.clone(), reference_field(model, entity, &ends, reference));
        }
    }
    if let Some(nest) = &entity.nest {
        let field = FieldDoc {
            kind: Some(TypeName::Integer),
            min: Some(json!(0)),
            fake: Some(json!({"provider": "position", "start": 1})),
            label: Some(label(&nest.number)),
            ..FieldDoc::default()
        };
        doc.fields.insert(identifier(&nest.number), field);
        if let Some(parent) = model.reference_to(&entity.name, &nest.parent) {
            doc.unique_together.push(vec![parent, identifier(&nest.number)]);
        }
    }
    if let Some((name, _)) = &kinds.group {
        let values: IndexSet<String> =
            ends.alternatives.values().flatten().map(|group| group_value(entity, &kinds, group)).collect();
        doc.fields.insert(
            identifier(name),
            FieldDoc { values: values.into_iter().collect(), ..FieldDoc::default() },
        );
    }
    if let Some(name) = &kinds.owner {
        let values: IndexSet<String> =
            ends.alternatives.keys().map(|owner| owner_value(model, entity, name, owner)).collect();
        doc.fields.insert(
            identifier(name),
            FieldDoc { values: values.into_iter().collect(), ..FieldDoc::default() },
        );
    }
    let groups: IndexSet<&String> = ends.alternatives.values().flatten().collect();
    // The display field comes first, so that other fields can be made from it.
    let mut names: Vec<&String> = entity.fields.keys().collect();
    names.sort_by_key(|name| (Some(name.as_str()) != display, original_of(name, display).is_some()));
    let mut stored: IndexMap<String, FieldDoc> = IndexMap::new();
    for name in names {
        let field_name = identifier(name);
        let Some(fact) = entity.fields.get(name) else { continue };
        if doc.fields.contains_key(&field_name)
            || computed(model, entity, name, &fact.shape).is_some()
            || !storable(&fact.shape)
        {
            continue;
        }
        stored.insert(field_name, field(model, entity, name, fact, display, owned, &groups));
    }
    // Readers see fields in the document's order, apart from those made from others.
    doc.fields.extend(stored);
    super::dates::order(&mut doc);
    records_of(model, entity, &ends, &kinds, records, &mut doc);
    doc
}

/// Whether a record can hold it at all.
pub(super) fn storable(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::Any | Kind::Cycle(_) | Kind::Union(_) => false,
        Kind::Object(members) => members.values().any(|member| storable(&member.shape)),
        Kind::Array(item) => storable(item),
        _ => true,
    }
}

/// The member people call a record by.
pub(super) fn display(entity: &Entity) -> Option<&str> {
    let named = |shape: &Shape| display_member(shape);
    entity
        .root
        .as_ref()
        .and_then(named)
        .or_else(|| entity.summary.as_ref().and_then(named))
        .filter(|name| entity.fields.contains_key(*name))
        .or_else(|| {
            ["name", "title", "full_name", "username", "subject", "description"]
                .into_iter()
                .find(|name| entity.fields.get(*name).is_some_and(|fact| fact.shape.kind == Kind::String))
        })
}

fn key_field(entity: &Entity) -> FieldDoc {
    match &entity.key_shape.kind {
        Kind::String | Kind::Enum(_) => {
            FieldDoc { kind: Some(TypeName::String), fake: Some(key_code(entity)), ..FieldDoc::default() }
        }
        _ => FieldDoc { kind: Some(TypeName::Integer), ..FieldDoc::default() },
    }
}

/// How keys that are text are written.
pub(super) fn key_code(entity: &Entity) -> Json {
    let code = |form: &str| json!({"provider": "code", "format": form});
    let form = entity.key_shape.pattern.as_deref().and_then(fakes::pattern_code);
    if let Some(form) = form.filter(|form| form.matches(['#', 'A', 'x']).count() >= 3) {
        return code(&form);
    }
    let named = entity.key_member.as_deref().is_some_and(|member| !words::is_id(member));
    let member = entity.key_member.as_deref().unwrap_or_default();
    let says_number = |text: &str| words::words(text).iter().any(|word| word == "number");
    if says_number(member) || entity.key_shape.description.as_deref().is_some_and(says_number) {
        return code("#####");
    }
    let last = words::words(member).pop().unwrap_or_default();
    if entity.key_shape.format.is_none() && ["code", "token", "key", "hash"].contains(&last.as_str()) {
        return code("{A}{xx}#{A}#{xx}{A}#");
    }
    if entity.key_shape.format.is_none() && named {
        // A login or a slug is made of words.
        return code(&format!("{}-####", label(&entity.name).to_lowercase().replace(' ', "-")));
    }
    let plain = Shape { kind: Kind::String, nullable: false, pattern: None, ..entity.key_shape.clone() };
    match fakes::field("id", &plain, Span::USUAL, 0).fake {
        Some(fake) if fake.get("provider") == Some(&json!("code")) => fake,
        Some(fake) if fake == json!("uuid") => code("{xxxxxxxx}-{xxxx}-4{xxx}-a{xxx}-{xxxxxxxxxxxx}"),
        _ => {
            let prefix: String = entity.name.chars().filter(char::is_ascii_alphabetic).take(3).collect();
            code(&format!("{}-######", prefix.to_lowercase()))
        }
    }
}

fn reference_field(
    model: &Model,
    entity: &Entity,
    ends: &Ends,
    reference: &super::entities::Reference,
) -> FieldDoc {
    let to = FieldDoc { reference: Some(reference.target.clone()), ..FieldDoc::default() };
    if reference.many {
        let (min, max) = if model
            .entity(&reference.target)
            .is_some_and(|target| target.summary.as_ref().is_some_and(super::entities::is_taxonomy))
        {
            (1, 3)
        } else {
            (1, 2)
        };
        return FieldDoc {
            kind: Some(TypeName::List),
            items: Some(Box::new(to)),
            fake: Some(json!({"provider": "list", "min": min, "max": max})),
            ..FieldDoc::default()
        };
    }
    let mut doc = FieldDoc { nullable: reference.nullable, ..to };
    let ancestors = model.ancestors(&entity.name);
    if let Some(nest) = &entity.nest
        && ancestors.contains(&reference.target)
        && reference.target != nest.parent
    {
        // The show of an episode is that of its season.
        doc.fake = through(model, entity, &nest.parent, &reference.target);
    } else if ends.alternatives.contains_key(&reference.target) && reference.nullable {
        // Set for the records made for such an owner; a link of a part is one of the whole too.
        let part = ends.hub.as_ref().and_then(|_| {
            ends.alternatives.keys().find(|owner| model.ancestors(owner).contains(&reference.target))
        });
        doc.fake = part.and_then(|part| through(model, entity, part, &reference.target));
        if doc.fake.is_none() {
            doc.fake = Some(json!({"provider": "pick", "of": [null]}));
        }
    } else if reference.nullable {
        doc.fake = Some(json!({"provider": "chance", "share": 0.4}));
    } else if reference.target == entity.name {
        // Nothing in a circle can have come first.
        doc.optional = !ends.alternatives.contains_key(&reference.target);
        if doc.optional {
            doc.fake = Some(json!({"provider": "chance", "share": 0.4}));
        }
    }
    doc
}

/// The reference of the record behind another reference.
fn through(model: &Model, entity: &Entity, by: &str, target: &str) -> Option<Json> {
    let field = model.reference_to(&entity.name, by)?;
    let inner = model.reference_to(by, target)?;
    Some(json!({"provider": "expr", "of": format!("{by}.get(record.{field}).{inner}")}))
}

/// `original_title` repeats `title`.
fn original_of<'a>(name: &str, display: Option<&'a str>) -> Option<&'a str> {
    let display = display?;
    (name != display && name.strip_prefix("original_") == Some(display)).then_some(display)
}

fn field(
    model: &Model,
    entity: &Entity,
    name: &str,
    fact: &Fact,
    display: Option<&str>,
    owned: bool,
    groups: &IndexSet<&String>,
) -> FieldDoc {
    let parts = parts_of(model, &entity.name);
    let span = if parts.is_empty() { Span::USUAL } else { Span { from: -900, to: -10 } };
    let mut shape = fact.shape.clone();
    shape.nullable = false;
    let mut doc = fakes::field(name, &shape, span, 0);
    // A pattern that no provider can follow would refuse the made-up values.
    doc.pattern = None;
    if doc.fake.as_ref().is_none_or(|fake| fake.get("provider") != Some(&json!("code")))
        && fact.shape.pattern.is_some()
    {
        (doc.min_length, doc.max_length) = (None, None);
    }
    if let Kind::String = fact.shape.kind
        && doc
            .fake
            .as_ref()
            .is_some_and(|fake| fake.get("provider").is_none_or(|provider| provider == "template"))
    {
        // Lengths of made-up text cannot be steered; limits stay on what callers write.
        (doc.min_length, doc.max_length) = (None, None);
    }
    if fact.shape.is_scalar() {
        doc.default =
            fact.shape.default.clone().filter(|default| default.as_str().is_none_or(|text| !text.is_empty()));
    }
    doc.description = fact.shape.description.as_deref().map(words::sentence).filter(|text| !text.is_empty());
    phrases::name(name, &mut doc);
    let place = words(name)
        .last()
        .is_some_and(|last| ["order", "position", "index", "rank"].contains(&last.as_str()));
    if Some(name) == display && fact.shape.kind == Kind::String {
        let person = entity.root.as_ref().is_some_and(looks_like_person);
        doc.fake = Some(match &entity.nest {
            Some(nest) if !parts.is_empty() => {
                json!({"provider": "template", "text": format!("{} {{field:{}}}", capitalised(&label(&entity.name)), identifier(&nest.number))})
            }
            _ => fakes::display(&entity.name, person),
        });
        (doc.min_length, doc.max_length) = (None, None);
        doc.unique = entity.nest.is_none() && !owned && !entity.singleton;
    } else if let Some(display) = original_of(name, display) {
        doc.fake =
            Some(json!({"provider": "template", "text": format!("{{field:{}}}", identifier(display))}));
    } else if place && owned && fact.shape.kind == Kind::Integer {
        doc.fake = Some(json!({"provider": "position", "start": 0}));
    } else if let Some(expression) =
        number_of_whole(model, entity, name).or_else(|| date_in_whole(model, entity, name, fact))
    {
        doc.fake = Some(json!({"provider": "expr", "of": expression}));
    }
    let partial = !fact.everywhere && owned && groups.iter().any(|group| !fact.groups.contains(*group));
    if fact.nullable() {
        doc.nullable = true;
        let share = if words(name).iter().any(|word| word.starts_with("death")) { 0.08 } else { 0.9 };
        doc.fake = doc.fake.map(|of| json!({"provider": "chance", "share": share, "of": of}));
    } else if partial {
        doc.nullable = true;
    }
    if ["paragraph", "sentence"].iter().any(|long| doc.fake.as_ref() == Some(&json!(long))) {
        doc.free_text = true;
    }
    if !owned || fact.everywhere {
        phrases::field(name, &fact.shape, &mut doc);
    }
    doc
}

/// An episode's season number is its season's.
fn number_of_whole(model: &Model, entity: &Entity, name: &str) -> Option<String> {
    let whole = model.ancestors(&entity.name).into_iter().find(|whole| {
        model.entity(whole).and_then(|whole| whole.nest.as_ref()).is_some_and(|nest| nest.number == name)
    })?;
    let field = model.reference_to(&entity.name, &whole)?;
    Some(format!("{whole}.get(record.{field}).{}", identifier(name)))
}

/// Parts of a whole follow it in time: episodes are a week apart, seasons a year.
fn date_in_whole(model: &Model, entity: &Entity, name: &str, fact: &Fact) -> Option<String> {
    let nest = entity.nest.as_ref()?;
    if fakes::moment(name, &fact.shape) != Some("date") {
        return None;
    }
    let parent = model.entity(&nest.parent)?;
    let date = |(name, fact): (&String, &Fact)| {
        (fakes::moment(name, &fact.shape) == Some("date")
            && computed(model, parent, name, &fact.shape).is_none())
        .then(|| identifier(name))
    };
    let base = parent
        .fields
        .iter()
        .find(|(known, _)| *known == name)
        .and_then(date)
        .or_else(|| parent.fields.iter().find_map(date))?;
    let field = model.reference_to(&entity.name, &nest.parent)?;
    let days = if parts_of(model, &entity.name).is_empty() { 7 } else { 364 };
    Some(format!(
        "{}.get(record.{field}).{base} + days({days} * (record.{} - 1))",
        nest.parent,
        identifier(&nest.number)
    ))
}

/// The value of the group field for a list's name.
pub(super) fn group_value(entity: &Entity, kinds: &Discriminators, group: &str) -> String {
    let known = kinds.group.as_ref().filter(|(_, real)| *real).and_then(|(name, _)| entity.fields.get(name));
    known
        .and_then(|fact| known_values(&fact.shape).into_iter().find(|value| same(value, group)))
        .unwrap_or_else(|| group.to_owned())
}
