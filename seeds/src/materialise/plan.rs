//! Owns the plans of source worlds: makers, given records, and the order of fields and resources. A world is
//! parsed once.
//!
//! A plan holds no random value, so it can materialise any number of seeds.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::cast::group_of;
use super::derive;
use super::maker::options::of_field;
use super::maker::{Fault, Maker, Place};
use super::moment::{Clock, relative};
use super::provider::Provider;
use super::rows::Tables;
use super::tables::{Country, countries, country_of_zone};
use crate::doc::{DomainDoc, FieldDoc, RecordsDoc, ResourceDoc, WorldDoc};
use crate::model::{Field, Resource, ResourceId, World};
use crate::schema::{Schema, Type};
use crate::value::Value;
use diorama_format::{Finding, Report};

/// A source world that is ready to be materialised.
pub(super) struct Plan {
    /// Plans by position in the world.
    pub(super) resources: Vec<ResourcePlan>,
    /// Resources in the order in which they are made.
    pub(super) order: Vec<usize>,
    /// Country for telephone numbers, if the world's time zone names a city.
    pub(super) home: Option<&'static Country>,
}

/// The plan for the records of one resource.
pub(super) struct ResourcePlan {
    /// Path of the resource in the document.
    pub(super) path: String,
    /// Plans by position in the resource.
    pub(super) fields: Vec<FieldPlan>,
    /// Fields in the order in which they are made.
    pub(super) order: Vec<usize>,
    /// Groups of fields that share a person and a city.
    pub(super) groups: Vec<String>,
    /// Group of the first field about a location.
    pub(super) main_place: Option<usize>,
    /// Values of the given records, which come first.
    pub(super) given: Vec<Vec<(usize, GivenValue)>>,
    /// Section of the given records: `records` or `examples`.
    pub(super) section: &'static str,
    /// Number of records, without those of `each`.
    pub(super) count: u32,
    /// Records for each record of a parent.
    pub(super) each: Vec<EachPlan>,
    /// True if the key format alone decides the keys, so that they are known before the records.
    pub(super) keys_first: bool,
    /// Fields to draw again, in order, for each group of `unique_together` whose values are taken.
    pub(super) redo: Vec<Vec<usize>>,
}

impl ResourcePlan {
    /// Returns the group of the first full name of a person.
    pub(super) fn people(&self) -> Option<usize> {
        let names_person = |field: &&FieldPlan| matches!(field.maker, Maker::Text(Provider::PersonName));
        self.fields.iter().find(names_person).map(|field| field.group)
    }
}

/// The plan for the values of one field.
pub(super) struct FieldPlan {
    pub(super) maker: Maker,
    /// Share of the records with a value. It is 1 if the maker decides.
    pub(super) share: f64,
    /// Group of fields that share a person and a city.
    pub(super) group: usize,
    /// Earlier reference fields to the same resource, whose targets a draw avoids.
    pub(super) avoid: Vec<usize>,
    /// True if the field refers to its own resource and may lack a value. It then refers only to earlier
    /// records, so that the records form a forest.
    pub(super) earlier_only: bool,
}

/// Records for each record of a parent.
pub(super) struct EachPlan {
    pub(super) parent: usize,
    pub(super) by: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) set: Vec<(usize, GivenValue)>,
}

/// A value of a given record.
#[derive(Clone, Debug)]
pub(super) enum GivenValue {
    /// The value.
    Value(Value),
    /// A reference by key or display value.
    Reference(Json),
    /// References by key or display value.
    References(Vec<Json>),
}

/// Share of the records in which an optional or a nullable field has a value.
const OPTIONAL_SHARE: f64 = 0.7;
const NULLABLE_SHARE: f64 = 0.85;

impl Plan {
    /// Parses a source world.
    ///
    /// # Errors
    /// Returns the providers, options and given values that do not fit, each with its path.
    pub(super) fn new(doc: &WorldDoc, world: &World) -> Result<Self, Report> {
        let domains = doc.to_domains();
        let short = doc.domains.is_empty();
        let offset = usize::from(domains.len() > doc.domains.len());
        let mut findings = Vec::new();
        let mut resources = Vec::with_capacity(world.resources.len());
        for (index, resource) in world.resources.iter().enumerate() {
            let domain = resource.domain.index();
            let found = domains.get(domain).and_then(|part: &DomainDoc| part.resources.get(&*resource.name));
            let path = if short || domain < offset {
                format!("resources.{}", resource.name)
            } else {
                format!("domains[{}].resources.{}", domain - offset, resource.name)
            };
            let Some(found) = found else {
                return Err(Report::one(
                    &doc.name,
                    Finding::error(
                        path,
                        "found no such resource in the document",
                        "compile the document anew",
                    ),
                ));
            };
            resources.push(ResourcePlan::new(found, world, ResourceId(index as u16), path, &mut findings));
        }
        let order = order(&resources, world, &mut findings);
        if findings.is_empty() {
            Ok(Self {
                resources,
                order,
                home: country_of_zone(world.zone.name()).or_else(|| a_country(&world.name)),
            })
        } else {
            Err(Report { name: doc.name.clone(), findings })
        }
    }
}

impl ResourcePlan {
    fn new(
        doc: &ResourceDoc,
        world: &World,
        id: ResourceId,
        path: String,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let resource = world.resource(id);
        let (rows, section, count): (&[IndexMap<String, Json>], _, _) = match &doc.records {
            RecordsDoc::Count(count) => (&doc.examples, "examples", (*count).max(doc.examples.len() as u32)),
            RecordsDoc::Given(rows) if rows.is_empty() => {
                (&doc.examples, "examples", doc.examples.len() as u32)
            }
            RecordsDoc::Given(rows) => (rows, "records", rows.len() as u32),
        };
        let count = if resource.singleton { 1 } else { count };
        let mut groups: Vec<String> = Vec::new();
        let mut tables = Tables::read(doc, resource, &world.zone, &path, findings);
        let mut fields = Vec::with_capacity(resource.fields.len());
        for (index, field) in resource.fields.iter().enumerate() {
            let place = Place { world, resource: id, name: &field.name };
            let unlike = if field.unique { count } else { 0 };
            let made = match tables.maker(index) {
                Some(maker) => Ok(maker),
                None => {
                    let field_doc = tables.drawn(index).or_else(|| doc.fields.get(&*field.name));
                    of_field(field_doc, &field.schema, &place, unlike)
                }
            };
            let maker = made.unwrap_or_else(|Fault { message, fix }| {
                findings.push(Finding::error(format!("{path}.fields.{}.fake", field.name), message, fix));
                Maker::Constant(Value::Null)
            });
            let group = group_of(&field.name);
            let group = groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                groups.push(group);
                groups.len() - 1
            });
            fields.push(FieldPlan::new(maker, resource, id, index, group));
        }
        let key = resource.key.index();
        let keys_first = made_by_format(doc.fields.get(&doc.key), fields.get(key));
        let order = field_order(&fields, key, resource, &path, findings);
        let clock = Clock { now: world.clock, zone: &world.zone };
        let mut given = Vec::with_capacity(rows.len());
        for (i, row) in rows.iter().enumerate().take(count as usize) {
            let mut values = read_row(row, resource, clock, &format!("{path}.{section}[{i}]"), findings);
            if section == "records" {
                complete(&mut values, resource, doc);
            }
            given.push(values);
        }
        let mut each = Vec::with_capacity(doc.each.len());
        for (i, part) in doc.each.iter().enumerate() {
            let place = format!("{path}.each[{i}]");
            let parent = world
                .resources
                .iter()
                .position(|parent| parent.domain == resource.domain && *parent.name == *part.of);
            let by = resource.field_named(&part.by);
            let (Some(parent), Some(by)) = (parent, by) else {
                findings.push(Finding::error(
                    place,
                    format!("found `of: {}` and `by: {}`", part.of, part.by),
                    "name a resource, and the field that refers to it",
                ));
                continue;
            };
            let set = read_row(&part.set, resource, clock, &format!("{place}.set"), findings);
            each.push(EachPlan { parent, by: by.index(), min: part.min.min(part.max), max: part.max, set });
        }
        let main_place = fields.iter().find(|field| field.maker.is_local()).map(|field| field.group);
        let redo = resource
            .unique_together
            .iter()
            .map(|group| redo(group.iter().map(|field| field.index()).collect(), &fields, &order, key))
            .collect();
        Self { path, fields, order, groups, main_place, given, section, count, each, keys_first, redo }
    }
}

impl FieldPlan {
    fn new(maker: Maker, resource: &Resource, id: ResourceId, index: usize, group: usize) -> Self {
        let field = resource.fields.get(index);
        let missing = field.is_some_and(|field| field.optional || field.schema.nullable);
        let share = match field {
            _ if maker.decides_presence() => 1.0,
            Some(field) if field.optional => OPTIONAL_SHARE,
            Some(field) if field.schema.nullable => NULLABLE_SHARE,
            _ => 1.0,
        };
        let target = |field: &Field| match field.schema.kind {
            Type::Reference { resource, .. } => Some(resource),
            _ => None,
        };
        let own = field.and_then(target);
        let earlier = resource.fields.iter().take(index).enumerate();
        let avoid = earlier
            .filter(|(_, other)| own.is_some() && target(other) == own)
            .map(|(index, _)| index)
            .collect();
        Self { maker, share, group, avoid, earlier_only: own == Some(id) && missing }
    }
}

/// Returns the home country of a world whose time zone names no city. It depends only on the world's name.
fn a_country(name: &str) -> Option<&'static Country> {
    let homes = ["GB", "NL", "IE", "PT", "CA", "NZ", "SE", "ES"];
    let byte = blake3::hash(name.as_bytes()).as_bytes()[0];
    let code = homes.get(usize::from(byte) % homes.len())?;
    countries().iter().find(|country| country.code == *code)
}

/// Returns true if only the format decides the keys: there is no provider, or it only names the format.
fn made_by_format(doc: Option<&FieldDoc>, plan: Option<&FieldPlan>) -> bool {
    let plain =
        doc.is_none_or(|doc| doc.reference.is_none() && doc.values.is_empty() && doc.pattern.is_none());
    let by_format = || matches!(doc.and_then(FieldDoc::provider), Some("code" | "uuid")) && plan.is_some();
    plain && (doc.is_none_or(|doc| doc.fake.is_none()) || by_format())
}

/// Returns the order of fields: the key first if possible, then each field after its inputs, otherwise the
/// written order.
fn field_order(
    fields: &[FieldPlan],
    key: usize,
    resource: &Resource,
    path: &str,
    findings: &mut Vec<Finding>,
) -> Vec<usize> {
    let needs: Vec<Vec<usize>> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let mut needs = Vec::new();
            field.maker.dependencies(key, &mut needs);
            needs.extend(field.avoid.iter().filter(|other| **other < index));
            needs
        })
        .collect();
    let mut order = Vec::with_capacity(fields.len());
    let mut waiting: Vec<usize> = (0..fields.len()).collect();
    waiting.sort_by_key(|index| (*index != key, *index));
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|index| needs[*index].iter().all(|need| order.contains(need)));
        let Some(ready) = ready else {
            let names: Vec<&str> = waiting
                .iter()
                .filter_map(|index| resource.fields.get(*index))
                .map(|field| &*field.name)
                .collect();
            findings.push(Finding::error(
                format!("{path}.fields"),
                format!("found fields that are made from each other: {}", names.join(", ")),
                "let one of them be made from itself alone",
            ));
            order.append(&mut waiting);
            break;
        };
        order.push(waiting.remove(ready));
    }
    order
}

/// Returns the members of a group, and all fields that are made from one of them.
fn redo(mut group: Vec<usize>, fields: &[FieldPlan], order: &[usize], key: usize) -> Vec<usize> {
    let mut again = Vec::new();
    for index in order {
        let mut needs = Vec::new();
        if let Some(field) = fields.get(*index) {
            field.maker.dependencies(key, &mut needs);
        }
        if *index != key && (group.contains(index) || needs.iter().any(|need| group.contains(need))) {
            group.push(*index);
            again.push(*index);
        }
    }
    again
}

/// Returns resources of which each waits for the next, and the last for the first.
fn circle(needs: &[Vec<usize>], done: &[bool]) -> Vec<usize> {
    let waits = |index: &usize| !done.get(*index).copied().unwrap_or(true);
    let mut path: Vec<usize> = (0..needs.len()).find(waits).into_iter().collect();
    while let Some(next) = path.last().and_then(|last| needs.get(*last)?.iter().copied().find(waits)) {
        if let Some(at) = path.iter().position(|seen| *seen == next) {
            return path.split_off(at);
        }
        path.push(next);
    }
    path
}

/// Returns the order of resources: each after those from which its records are made, and if possible after
/// those to which they refer.
fn order(resources: &[ResourcePlan], world: &World, findings: &mut Vec<Finding>) -> Vec<usize> {
    let mut hard: Vec<Vec<usize>> = Vec::with_capacity(resources.len());
    let mut soft: Vec<Vec<usize>> = Vec::with_capacity(resources.len());
    for (index, plan) in resources.iter().enumerate() {
        let (mut needs, mut likes) = (Vec::new(), Vec::new());
        needs.extend(plan.each.iter().map(|each| each.parent));
        for field in &plan.fields {
            needs_of(&field.maker, &mut needs);
        }
        for field in world.resources.get(index).into_iter().flat_map(|resource| &resource.fields) {
            targets(&field.schema, &mut likes);
        }
        // Keys that are made like other fields are known only after their records.
        needs.extend(
            likes.iter().filter(|target| resources.get(**target).is_some_and(|plan| !plan.keys_first)),
        );
        needs.retain(|need| *need != index);
        likes.retain(|like| *like != index);
        hard.push(needs);
        soft.push(likes);
    }
    let mut done = vec![false; resources.len()];
    let mut order = Vec::with_capacity(resources.len());
    while order.len() < resources.len() {
        let met = |needs: &[usize]| needs.iter().all(|need| done.get(*need).copied().unwrap_or(true));
        let waiting = || (0..resources.len()).filter(|index| !done[*index]);
        let next = waiting()
            .find(|index| met(&hard[*index]) && met(&soft[*index]))
            .or_else(|| waiting().find(|index| met(&hard[*index])));
        let Some(next) = next else {
            let circle = circle(&hard, &done);
            let names: Vec<&str> = circle.iter().map(|index| &*world.resources[*index].name).collect();
            let path = circle.first().and_then(|index| resources.get(*index)).map_or("", |plan| &plan.path);
            findings.push(Finding::error(
                path,
                format!("found resources whose records are made from each other's: {}", names.join(", ")),
                "break the circle of `each`, `through` and expressions",
            ));
            break;
        };
        done[next] = true;
        order.push(next);
    }
    order
}

fn needs_of(maker: &Maker, into: &mut Vec<usize>) {
    match maker {
        Maker::Through { target, .. } => into.push(target.index()),
        Maker::Expr(expr) => {
            let mut read = Vec::new();
            derive::resources(&expr.node, &mut read);
            into.extend(read.into_iter().map(ResourceId::index));
        }
        Maker::List { of, .. } | Maker::Chance { of, .. } => needs_of(of, into),
        Maker::Object(members) => members.iter().for_each(|(.., maker)| needs_of(maker, into)),
        _ => {}
    }
}

/// Appends the resources to which values of a schema refer.
fn targets(schema: &Schema, into: &mut Vec<usize>) {
    match &schema.kind {
        Type::Reference { resource, .. } => into.push(resource.index()),
        Type::List(item) => targets(item, into),
        Type::Object(members) => members.iter().for_each(|member| targets(&member.schema, into)),
        _ => {}
    }
}

/// Returns the values that a record gives.
fn read_row(
    row: &IndexMap<String, Json>,
    resource: &Resource,
    clock: Clock<'_>,
    path: &str,
    findings: &mut Vec<Finding>,
) -> Vec<(usize, GivenValue)> {
    let mut values = Vec::with_capacity(row.len());
    for (name, json) in row {
        let Some(id) = resource.field_named(name) else {
            findings.push(Finding::error(
                format!("{path}.{name}"),
                format!("found the field `{name}`, which `{}` has not", resource.name),
                "remove it, or add it to `fields`",
            ));
            continue;
        };
        let field = resource.field(id);
        match read_value(json, field, clock) {
            Ok(value) => values.push((id.index(), value)),
            Err(message) => findings.push(Finding::error(
                format!("{path}.{name}"),
                message,
                "write a value of the field's type",
            )),
        }
    }
    values
}

fn read_value(json: &Json, field: &Field, clock: Clock<'_>) -> Result<GivenValue, String> {
    if json.is_null() && !field.schema.nullable {
        return if field.optional {
            Ok(GivenValue::Value(Value::Absent))
        } else {
            // A null in `each.set` stands for a reference that the record does not have. A required field
            // then gets a generated value.
            Err(format!("expected {}, found null", field.schema.expected()))
        };
    }
    let is_reference = |schema: &Schema| matches!(schema.kind, Type::Reference { .. });
    match (&field.schema.kind, json) {
        (Type::Reference { .. }, Json::String(_) | Json::Number(_)) => {
            return Ok(GivenValue::Reference(json.clone()));
        }
        (Type::List(item), Json::Array(items)) if is_reference(item) => {
            return Ok(GivenValue::References(items.clone()));
        }
        _ => {}
    }
    match (field.schema.parse_json(json, clock.zone), &field.schema.kind, json) {
        (Ok(value), ..) => Ok(GivenValue::Value(value)),
        (Err(error), Type::Date, Json::String(text)) => {
            relative(text, clock, false).map(GivenValue::Value).ok_or_else(|| error.to_string())
        }
        (Err(error), Type::DateTime, Json::String(text)) => {
            relative(text, clock, true).map(GivenValue::Value).ok_or_else(|| error.to_string())
        }
        (Err(error), ..) => Err(format!("{error}{}", error.at)),
    }
}

/// Completes a record that an author wrote. Without a provider, a missing optional field is absent, and any
/// other takes its default.
fn complete(values: &mut Vec<(usize, GivenValue)>, resource: &Resource, doc: &ResourceDoc) {
    for (index, field) in resource.fields.iter().enumerate() {
        let made = doc.fields.get(&*field.name).is_some_and(|doc| doc.fake.is_some())
            || doc.has_rows_of(&field.name);
        if made || index == resource.key.index() || values.iter().any(|(given, _)| *given == index) {
            continue;
        }
        match &field.default {
            Some(default) => values.push((index, GivenValue::Value(default.clone()))),
            None if field.optional => values.push((index, GivenValue::Value(Value::Absent))),
            None => {}
        }
    }
}
