//! Owns the schema of an API's reply, inferred from its behaviour and its members.

use diorama_seeds::expr::{Expr, ExprType};
use diorama_seeds::model::{
    Api, BehaviourKind, FieldId, Measure, Member, PageStyle, PagingMember, Query, ResourceId, Shape, Source,
    World,
};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json, json};

use diorama_engine::tools::json_schema;

/// Returns the schema of a successful reply.
pub fn schema(world: &World, api: &Api) -> Json {
    let make = Maker { world, api };
    let body = match &api.behaviour.kind {
        BehaviourKind::Action { target: None } => make.with(Members::of("ok", json!({"type": "boolean"}))),
        BehaviourKind::List(query) | BehaviourKind::Members { query, .. } => {
            make.list(query, make.members(&api.reply.members, query.resource).object())
        }
        BehaviourKind::Compute(computed) => {
            let mut members = Members::default();
            computed.iter().for_each(|(name, expr)| members.add(name, make.expr(expr), true));
            make.with(members)
        }
        BehaviourKind::Aggregate { query, group_by, measures } => make.aggregate(query, *group_by, measures),
        BehaviourKind::SignIn { .. } => {
            let mut members = Members::of("token", json!({"type": "string"}));
            members.add("expires_at", json!({"type": "string", "format": "date-time"}), true);
            make.with(members)
        }
        BehaviourKind::SignOut => make.with(Members::of("signed_out", json!({"type": "boolean"}))),
        kind => {
            let members = kind.shown().map(|resource| make.members(&api.reply.members, resource));
            make.with(members.unwrap_or_default())
        }
    };
    match &api.reply.envelope {
        Some(name) => Members::of(name, body).object(),
        None => body,
    }
}

/// Members of an object under construction.
#[derive(Default)]
struct Members {
    properties: Map<String, Json>,
    required: Vec<String>,
}

impl Members {
    fn of(name: &str, schema: Json) -> Self {
        let mut members = Self::default();
        members.add(name, schema, true);
        members
    }

    fn add(&mut self, name: &str, schema: Json, required: bool) {
        self.properties.insert(name.to_owned(), schema);
        if required {
            self.required.push(name.to_owned());
        }
    }

    fn object(self) -> Json {
        json!({"type": "object", "properties": self.properties, "required": self.required})
    }
}

struct Maker<'a> {
    world: &'a World,
    api: &'a Api,
}

impl Maker<'_> {
    /// Returns an object with the reply's `with` members added.
    fn with(&self, mut members: Members) -> Json {
        for (name, expr) in &self.api.reply.with {
            members.add(name, self.expr(expr), true);
        }
        members.object()
    }

    fn list(&self, query: &Query, item: Json) -> Json {
        let reply = &self.api.reply;
        let items = json!({"type": "array", "items": item});
        if reply.items.is_empty() {
            return items;
        }
        let mut members = Members::of(&reply.items, items);
        if !reply.total.is_empty() {
            members.add(&reply.total, json!({"type": "integer"}), true);
        }
        for (member, name) in &reply.paging {
            let cursor = query.page.as_ref().is_some_and(|page| page.style == PageStyle::Cursor);
            let schema = match member {
                PagingMember::Next if cursor => json!({"type": ["string", "null"]}),
                PagingMember::Next => json!({"type": ["integer", "null"]}),
                _ => json!({"type": "integer"}),
            };
            members.add(name, schema, true);
        }
        self.with(members)
    }

    fn aggregate(
        &self,
        query: &Query,
        group_by: Option<FieldId>,
        measures: &[(diorama_seeds::value::Str, Measure)],
    ) -> Json {
        let mut members = Members::default();
        let declared = self.world.resource(query.resource);
        if let Some(field) = group_by {
            let field = declared.field(field);
            members.add(&field.name, nullable(json_schema(self.world, &field.schema)), true);
        }
        for (name, measure) in measures {
            let schema = match measure {
                Measure::Count => json!({"type": "integer"}),
                Measure::Sum(field) | Measure::Average(field) => {
                    let whole = matches!(declared.field(*field).schema.kind, Type::Integer);
                    match measure {
                        Measure::Sum(_) if whole => json!({"type": "integer"}),
                        Measure::Sum(_) => json!({"type": "number"}),
                        _ => json!({"type": ["number", "null"]}),
                    }
                }
                Measure::Min(field) | Measure::Max(field) => {
                    nullable(json_schema(self.world, &declared.field(*field).schema))
                }
            };
            members.add(name, schema, true);
        }
        if group_by.is_some() { self.list(query, members.object()) } else { self.with(members) }
    }

    fn members(&self, shown: &[Member], resource: ResourceId) -> Members {
        let mut members = Members::default();
        for member in shown {
            let (schema, always) = self.source(&member.source, resource);
            members.add(&member.name, schema, always);
        }
        members
    }

    /// Returns a member's schema, and true if the member is always present.
    fn source(&self, source: &Source, resource: ResourceId) -> (Json, bool) {
        match source {
            Source::Field(field) => {
                let field = self.world.resource(resource).field(*field);
                let mut schema = json_schema(self.world, &field.schema);
                if let (Json::Object(schema), false) = (&mut schema, field.description.is_empty()) {
                    schema.insert("description".to_owned(), json!(&*field.description));
                }
                (schema, !field.optional)
            }
            Source::Value(value) => (self.constant(value), true),
            Source::Object(members) => (self.members(members, resource).object(), true),
            Source::Expr(expr) => (self.expr(expr), true),
            Source::Follow(field, target, shape) => {
                let field = self.world.resource(resource).field(*field);
                let (shown, always) = self.shape(shape, *target);
                if matches!(field.schema.kind, Type::List(_)) {
                    return (json!({"type": "array", "items": shown}), !field.optional);
                }
                let schema = if field.schema.nullable { nullable(shown) } else { shown };
                (schema, always && !field.optional)
            }
            Source::Many(many) => {
                let (shown, _) = self.shape(&many.shape, many.resource);
                (json!({"type": "array", "items": shown}), true)
            }
        }
    }

    fn shape(&self, shape: &Shape, resource: ResourceId) -> (Json, bool) {
        match shape {
            Shape::Object(members) => (self.members(members, resource).object(), true),
            Shape::Bare(source) => self.source(source, resource),
        }
    }

    fn constant(&self, value: &Value) -> Json {
        json!({"const": value.to_json(&self.world.zone)})
    }

    /// Returns the schema of an expression. It allows null, because an operand may be missing.
    fn expr(&self, expr: &Expr) -> Json {
        nullable(self.kind(&expr.kind))
    }

    fn kind(&self, kind: &ExprType) -> Json {
        match kind {
            ExprType::Null => json!({"type": "null"}),
            ExprType::Boolean => json!({"type": "boolean"}),
            ExprType::Integer | ExprType::Duration => json!({"type": "integer"}),
            ExprType::Number | ExprType::Decimal(_) => json!({"type": "number"}),
            ExprType::Date => json!({"type": "string", "format": "date"}),
            ExprType::DateTime => json!({"type": "string", "format": "date-time"}),
            ExprType::Time | ExprType::String => json!({"type": "string"}),
            ExprType::Key(resource) => self.world.resources.get(resource.index()).map_or_else(
                || json!({}),
                |resource| json_schema(self.world, &resource.field(resource.key).schema),
            ),
            ExprType::List(item) => json!({"type": "array", "items": nullable(self.kind(item))}),
            ExprType::Object => json!({"type": "object"}),
            ExprType::Record(_) | ExprType::Any => json!({}),
        }
    }
}

/// Returns the schema with null as a further value.
fn nullable(mut schema: Json) -> Json {
    let Json::Object(members) = &mut schema else { return schema };
    match members.get_mut("type") {
        Some(Json::String(kind)) if kind != "null" => {
            let kind = std::mem::take(kind);
            members.insert("type".to_owned(), json!([kind, "null"]));
        }
        Some(_) => return schema,
        None => {
            return if members.is_empty() { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) };
        }
    }
    if let Some(Json::Array(values)) = members.get_mut("enum")
        && !values.contains(&Json::Null)
    {
        values.push(Json::Null);
    }
    schema
}
