//! Computes fingerprints of APIs: their behaviour without their names.
//!
//! A fingerprint has the behaviour kind, parameters as (type, limits, required), replies as types, and rules
//! as trees. Positions replace nouns and identifiers. Style, casing, paging and envelopes are dropped
//! (DESIGN, `distinct_apis`).

use std::collections::HashMap;
use std::fmt::Write as _;

use diorama_seeds::model::{Api, BehaviourKind, Member, Parameter, Source, World};
use diorama_seeds::schema::{Schema, Type};

/// Returns the fingerprint of an API.
pub fn fingerprint(world: &World, api: &Api) -> String {
    let mut text = format!("{:?}", std::mem::discriminant(&api.behaviour.kind));
    text.push_str(kind_name(&api.behaviour.kind));
    for (index, parameter) in api.parameters.iter().enumerate() {
        let paging =
            matches!(&*parameter.name, "page" | "limit" | "offset" | "cursor" | "page_size" | "per_page");
        if !paging && api.token.map(diorama_seeds::model::ParameterId::index) != Some(index) {
            parameter_shape(parameter, &mut text);
        }
    }
    text.push('>');
    members(world, &api.reply.members, api, &mut text, 0);
    let mut names = Names::default();
    for check in &api.behaviour.require {
        let _ = write!(text, "!{}", names.replaced(&check.that.source));
    }
    for effect in &api.behaviour.also {
        let _ = write!(text, "+{}", names.replaced(&format!("{:?}", std::mem::discriminant(&effect.change))));
    }
    if let BehaviourKind::Compute(outputs) = &api.behaviour.kind {
        for (_, output) in outputs {
            let _ = write!(text, "={}", names.replaced(&output.source));
        }
    }
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn kind_name(kind: &BehaviourKind) -> &'static str {
    match kind {
        BehaviourKind::Get { .. } => "get",
        BehaviourKind::Lookup { .. } => "lookup",
        BehaviourKind::List(_) => "list",
        BehaviourKind::Create { .. } => "create",
        BehaviourKind::Replace { .. } => "replace",
        BehaviourKind::Patch { .. } => "patch",
        BehaviourKind::Delete { .. } => "delete",
        BehaviourKind::Action { .. } => "action",
        BehaviourKind::Members { .. } => "members",
        BehaviourKind::AddMembers { .. } => "add_members",
        BehaviourKind::RemoveMembers { .. } => "remove_members",
        BehaviourKind::Compute(_) => "compute",
        BehaviourKind::Aggregate { .. } => "aggregate",
        BehaviourKind::SignIn { .. } => "sign_in",
        BehaviourKind::SignOut => "sign_out",
    }
}

fn parameter_shape(parameter: &Parameter, text: &mut String) {
    text.push(if parameter.required { '*' } else { '?' });
    schema_shape(&parameter.schema, text);
}

fn schema_shape(schema: &Schema, text: &mut String) {
    match &schema.kind {
        Type::Enum(values) => {
            let _ = write!(text, "enum{}", values.len());
        }
        Type::List(item) => {
            text.push('[');
            schema_shape(item, text);
            text.push(']');
        }
        Type::Object(fields) => {
            text.push('{');
            fields.iter().for_each(|field| schema_shape(&field.schema, text));
            text.push('}');
        }
        Type::Reference { .. } => text.push_str("ref"),
        Type::Integer => text.push_str("int"),
        Type::Number => text.push_str("num"),
        Type::Decimal { .. } => text.push_str("dec"),
        Type::Date => text.push_str("date"),
        Type::Time => text.push_str("time"),
        Type::DateTime => text.push_str("instant"),
        Type::Boolean => text.push_str("bool"),
        Type::String => text.push_str("str"),
        Type::Any => text.push_str("any"),
    }
    let limits = &schema.limits;
    if limits.min.is_some() || limits.max.is_some() || limits.pattern.is_some() {
        text.push('#');
    }
}

fn members(world: &World, list: &[Member], api: &Api, text: &mut String, depth: u32) {
    use BehaviourKind::{AddMembers, Members, RemoveMembers};
    use diorama_seeds::model::Shape;
    // Fields of lists of members count as others do, because recorded fingerprints contain them.
    let of_list = matches!(api.behaviour.kind, Members { .. } | AddMembers { .. } | RemoveMembers { .. });
    let resource = api.behaviour.kind.shown().filter(|_| !of_list);
    let mut shapes: Vec<String> = Vec::new();
    for member in list {
        let mut shape = String::new();
        match &member.source {
            Source::Field(field) => match resource.filter(|_| depth == 0) {
                Some(resource) => schema_shape(&world.resource(resource).field(*field).schema, &mut shape),
                None => shape.push('f'),
            },
            Source::Follow(_, _, inner) => {
                shape.push('>');
                if let Shape::Object(inner) = inner {
                    members(world, inner, api, &mut shape, depth + 1);
                }
            }
            Source::Many(many) => {
                shape.push('*');
                if let Shape::Object(inner) = &many.shape {
                    members(world, inner, api, &mut shape, depth + 1);
                }
            }
            Source::Expr(_) => shape.push('e'),
            Source::Object(inner) => {
                shape.push('o');
                members(world, inner, api, &mut shape, depth + 1);
            }
            Source::Value(_) => shape.push('v'),
        }
        shapes.push(shape);
    }
    shapes.sort_unstable();
    text.push_str(&shapes.join(","));
}

/// Numbers identifiers by order of appearance.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn replaced(&mut self, source: &str) -> String {
        let mut out = String::new();
        let mut word = String::new();
        for c in source.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                let known = self.0.len();
                if word.starts_with(|c: char| c.is_ascii_digit()) {
                    out.push_str(&word);
                } else {
                    let number = *self.0.entry(std::mem::take(&mut word)).or_insert(known);
                    let _ = write!(out, "${number}");
                }
                word.clear();
            }
            if !c.is_whitespace() {
                out.push(c);
            }
        }
        out
    }
}
