//! Owns the plain-text view of a world: `diorama world show`.

use std::fmt::Write as _;

use crate::model::{
    Api, BehaviourKind, DomainId, Field, FieldId, Parameter, Place, Query, Resource, ResourceId, World,
};
use crate::schema::{Schema, Type};
use crate::value::Value;

/// Returns the world's domains with their resources (fields, number of records) and APIs (route, parameters,
/// behaviour).
pub fn show(world: &World) -> String {
    let mut out = String::new();
    let clock = Value::DateTime(world.clock).to_text(&world.zone);
    let _ = writeln!(out, "{} ({})", world.title, world.name);
    let _ = writeln!(out, "clock {clock}, zone {}", world.zone.name());
    match &world.hash {
        Some(hash) => {
            let _ = writeln!(out, "materialised, hash {hash}");
        }
        None => out.push_str("source world: its records are made from a seed\n"),
    }
    if world.benchmark {
        out.push_str("stands for a public benchmark\n");
    }
    for (position, domain) in world.domains.iter().enumerate() {
        let id = DomainId(position as u16);
        let _ = write!(out, "\n{} ({}", domain.title, domain.name);
        for (what, value) in [("sector", &domain.sector), ("at", &domain.base_path)] {
            if !value.is_empty() {
                let _ = write!(out, ", {what} {value}");
            }
        }
        out.push_str(")\n");
        if !domain.description.is_empty() {
            let _ = writeln!(out, "{}", domain.description);
        }
        out.push_str("\nresources\n");
        for resource in world.resources.iter().filter(|resource| resource.domain == id) {
            show_resource(&mut out, world, resource);
        }
        out.push_str("\nAPIs\n");
        for api in world.apis.iter().filter(|api| api.domain == id) {
            show_api(&mut out, world, api);
        }
    }
    out
}

fn show_resource(out: &mut String, world: &World, resource: &Resource) {
    let _ = write!(out, "  {}", resource.name);
    if world.materialised {
        let count = resource.records.len();
        let _ = write!(out, " ({count} {})", if count == 1 { &resource.label } else { &resource.plural });
    }
    out.push('\n');
    for (index, field) in resource.fields.iter().enumerate() {
        let key = index == resource.key.index();
        let _ = writeln!(out, "    {}: {}", field.name, describe_field(world, resource, field, key));
    }
}

fn describe_field(world: &World, resource: &Resource, field: &Field, key: bool) -> String {
    let mut text = describe_type(world, &field.schema);
    let position = resource.field_named(&field.name);
    let marks = [
        ("key", key),
        ("unique", field.unique && !key),
        ("nullable", field.schema.nullable),
        ("optional", field.optional),
        ("generated", field.generated && !key),
        ("free text", field.free_text),
        ("owner", position.is_some() && position == resource.owner),
        ("called by", position.is_some() && position == resource.display),
    ];
    for (mark, _) in marks.into_iter().filter(|(_, set)| *set) {
        text.push_str(", ");
        text.push_str(mark);
    }
    if let Some(default) = &field.default {
        let _ = write!(text, ", default {}", default.to_text(&world.zone));
    }
    text
}

fn describe_type(world: &World, schema: &Schema) -> String {
    let mut text = match &schema.kind {
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Decimal { scale, .. } => format!("decimal({scale})"),
        Type::Date => "date".to_owned(),
        Type::Time => "time".to_owned(),
        Type::DateTime => "date-time".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::String => "string".to_owned(),
        Type::Enum(values) => values.join(" | "),
        Type::Reference { resource, .. } => format!("-> {}", name_of(world, *resource)),
        Type::List(items) => format!("list of {}", describe_type(world, items)),
        Type::Object(fields) => {
            let members =
                fields.iter().map(|field| format!("{}: {}", field.name, describe_type(world, &field.schema)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Type::Any => "any".to_owned(),
    };
    if let Type::Decimal { currency: Some(currency), .. } = &schema.kind {
        let _ = write!(text, " {currency}");
    }
    if let Some(unit) = &schema.unit {
        let _ = write!(text, " {unit}");
    }
    let bound =
        |value: &Option<Value>| value.as_ref().map_or(String::new(), |value| value.to_text(&world.zone));
    let limits = &schema.limits;
    if limits.min.is_some() || limits.max.is_some() {
        let _ = write!(text, " {}..{}", bound(&limits.min), bound(&limits.max));
    }
    text
}

fn show_api(out: &mut String, world: &World, api: &Api) {
    let base = world.domains.get(api.domain.index()).map_or("", |domain| &domain.base_path);
    let _ = writeln!(out, "  {}  {} {base}{}", api.name, api.method.as_str(), api.path);
    if !api.description.is_empty() {
        let _ = writeln!(out, "    {}", api.description);
    }
    let _ = writeln!(out, "    {}", describe_behaviour(world, api));
    for parameter in &api.parameters {
        let _ = writeln!(out, "    {}", describe_parameter(world, api, parameter));
    }
}

fn describe_parameter(world: &World, api: &Api, parameter: &Parameter) -> String {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Body => "body",
        Place::Header => "header",
        Place::Cookie => "cookie",
    };
    let token = api.token.and_then(|token| api.parameters.get(token.index()));
    let mut text = format!("{}: {} in {place}", parameter.name, describe_type(world, &parameter.schema));
    if token.is_some_and(|token| token.name == parameter.name) {
        text.push_str(", the token");
    }
    if let Some(default) = &parameter.default {
        let _ = write!(text, ", default {}", default.to_text(&world.zone));
    } else if !parameter.required {
        text.push_str(", optional");
    }
    text
}

fn describe_behaviour(world: &World, api: &Api) -> String {
    let behaviour = &api.behaviour;
    let name = |resource: &ResourceId| name_of(world, *resource);
    let query = |kind: &str, query: &Query| {
        let pages = if query.page.is_some() { ", in pages" } else { "" };
        format!("{kind} {}{pages}", name_of(world, query.resource))
    };
    let held = |kind: &str, resource: &ResourceId, field: &FieldId| {
        let holder = world.resources.get(resource.index());
        format!("{kind} {}.{}", name(resource), holder.map_or("", |holder| &holder.field(*field).name))
    };
    // The text uses the keys of the format.
    let mut text = match &behaviour.kind {
        BehaviourKind::Get { resource, .. } => format!("get {}", name(resource)),
        BehaviourKind::Lookup { resource, .. } => format!("lookup {}", name(resource)),
        BehaviourKind::List(list) => query("list", list),
        BehaviourKind::Create { resource, .. } => format!("create {}", name(resource)),
        BehaviourKind::Replace { resource, .. } => format!("replace {}", name(resource)),
        BehaviourKind::Patch { resource, .. } => format!("patch {}", name(resource)),
        BehaviourKind::Delete { resource, .. } => format!("delete {}", name(resource)),
        BehaviourKind::Action { target: Some((resource, _)) } => format!("action {}", name(resource)),
        BehaviourKind::Action { target: None } => "action".to_owned(),
        BehaviourKind::Members { resource, field, .. } => held("members", resource, field),
        BehaviourKind::AddMembers { resource, field, .. } => held("add_members", resource, field),
        BehaviourKind::RemoveMembers { resource, field, .. } => held("remove_members", resource, field),
        BehaviourKind::Compute(computed) => {
            format!("compute {}", computed.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", "))
        }
        BehaviourKind::Aggregate { query: of, .. } => query("aggregate", of),
        BehaviourKind::SignIn { .. } => "sign_in".to_owned(),
        BehaviourKind::SignOut => "sign_out".to_owned(),
    };
    for (count, one, many) in [
        (behaviour.require.len(), "check", "checks"),
        (behaviour.also.len(), "further change", "further changes"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {}", if count == 1 { one } else { many });
        }
    }
    text
}

fn name_of(world: &World, resource: ResourceId) -> &str {
    world.resources.get(resource.index()).map_or("?", |resource| &resource.name)
}
