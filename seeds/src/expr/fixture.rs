//! Owns a small clinic for the tests of this module's children.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::expr::Scope;
use crate::expr::eval::{Budget, Env, Records, SlotContent};
use crate::model::{
    DomainId, Field, FieldId, KeyFormat, OnDelete, Parameter, Place, Record, Resource, ResourceId,
};
use crate::schema::{KeyKind, ObjectField, Schema, Type};
use crate::value::{Instant, Str, Value, Zone};

pub(super) const DOCTOR: ResourceId = ResourceId(0);
pub(super) const VISIT: ResourceId = ResourceId(1);

pub(super) struct Clinic {
    pub(super) resources: Vec<Resource>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) zone: Zone,
    /// True if [`Records::find`] uses an index.
    pub(super) indexed: bool,
}

fn money() -> Type {
    Type::Decimal { scale: 2, currency: Some("EUR".into()) }
}

fn one_of(values: &[&str]) -> Type {
    Type::Enum(values.iter().map(|value| Str::from(*value)).collect())
}

fn doctor_key() -> Type {
    Type::Reference { resource: DOCTOR, key: KeyKind::Integer }
}

fn field(name: &str, kind: Type) -> Field {
    Field {
        name: name.into(),
        schema: Schema::of(kind),
        optional: false,
        default: None,
        generated: false,
        unique: false,
        free_text: false,
        on_delete: OnDelete::Restrict,
        description: "".into(),
        label: name.into(),
        synonyms: Default::default(),
    }
}

fn parameter(name: &str, kind: Type) -> Parameter {
    Parameter {
        name: name.into(),
        schema: Schema::of(kind),
        required: false,
        default: None,
        told: false,
        sent_as: None,
        separator: None,
        hidden: false,
        place: Place::Query,
        description: "".into(),
        label: name.into(),
        free_text: false,
        field: None,
        synonyms: Default::default(),
    }
}

fn resource(name: &str, fields: Vec<Field>, records: &[&str], zone: &Zone) -> Resource {
    let records = records
        .iter()
        .map(|text| {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            let values = fields.iter().map(|field| match &json[&*field.name] {
                serde_json::Value::Null if field.optional => Value::Absent,
                serde_json::Value::Null => Value::Null,
                json => field.schema.parse_json(json, zone).unwrap(),
            });
            values.collect::<Record>()
        })
        .collect();
    Resource {
        defines: Vec::new(),
        name: name.into(),
        qualified: name.into(),
        domain: DomainId(0),
        label: name.into(),
        plural: name.into(),
        description: "".into(),
        key: FieldId(0),
        key_format: KeyFormat::Integer { min: 1, max: 9 },
        display: None,
        owner: None,
        singleton: false,
        unique_together: Vec::new(),
        fields,
        records,
    }
}

impl Clinic {
    pub(super) fn new() -> Self {
        let zone = Zone::named("Europe/Lisbon").unwrap();
        let address = Type::Object(Arc::new([
            ObjectField { name: "city".into(), schema: Schema::of(Type::String), optional: false },
            ObjectField { name: "floor".into(), schema: Schema::of(Type::Integer), optional: true },
        ]));
        let doctor = vec![
            field("doctor_id", Type::Integer),
            field("name", Type::String),
            field("specialty", one_of(&["cardiology", "surgery"])),
            field("fee", money()),
            field("rating", Type::Number),
            field("since", Type::Date),
            field("address", address),
            field("tags", Type::List(Arc::new(Schema::of(Type::String)))),
            Field { optional: true, ..field("active", Type::Boolean) },
            field("extra", Type::Any),
        ];
        let visit = vec![
            field("visit_id", Type::String),
            field("doctor_id", doctor_key()),
            field("starts_at", Type::DateTime),
            field("status", one_of(&["booked", "cancelled"])),
            Field { optional: true, ..field("minutes", Type::Integer) },
            field("paid", money()),
        ];
        let doctors = [
            r#"{"doctor_id": 11, "name": "Ana Reis", "specialty": "cardiology", "fee": 80.5, "rating": 4.5,
                "since": "2020-02-29", "address": {"city": "Faro", "floor": 2}, "tags": ["kind", "quick"],
                "active": true, "extra": {"a": [1, "two"]}}"#,
            r#"{"doctor_id": 12, "name": "Rui Sá", "specialty": "surgery", "fee": 120, "rating": 3,
                "since": "2024-12-31", "address": {"city": "Braga"}, "tags": [], "active": false, "extra": null}"#,
            r#"{"doctor_id": 15, "name": "Eva Luz", "specialty": "surgery", "fee": 99.99, "rating": 4,
                "since": "2025-07-01", "address": {"city": "Faro"}, "tags": ["kind"], "extra": 3}"#,
        ];
        let visits = [
            r#"{"visit_id": "V-1", "doctor_id": 11, "starts_at": "2026-03-02T10:00", "status": "booked", "minutes": 30, "paid": 10}"#,
            r#"{"visit_id": "V-2", "doctor_id": 11, "starts_at": "2026-03-02T11:00", "status": "cancelled", "minutes": 45, "paid": 0.01}"#,
            r#"{"visit_id": "V-3", "doctor_id": 12, "starts_at": "2026-03-03T09:30", "status": "booked", "paid": 20.5}"#,
        ];
        Self {
            resources: vec![
                resource("doctor", doctor, &doctors, &zone),
                resource("visit", visit, &visits, &zone),
            ],
            parameters: vec![
                parameter("doctor_id", doctor_key()),
                parameter("starts_at", Type::DateTime),
                parameter("day", Type::Date),
                parameter("n", Type::Integer),
                parameter("amount", money()),
                parameter("share", Type::Number),
                parameter("text", Type::String),
                parameter("status", one_of(&["booked", "cancelled"])),
                parameter("unit", one_of(&["km", "mi"])),
                parameter("tags", Type::List(Arc::new(Schema::of(Type::String)))),
                parameter("absent", Type::String),
                parameter("extra", Type::Any),
            ],
            zone,
            indexed: true,
        }
    }

    pub(super) fn scope(&self) -> Scope<'_> {
        let mut scope =
            Scope::new(&self.resources, DomainId(0), &self.zone).with_parameters(&self.parameters);
        scope.set_record(Some(DOCTOR));
        scope.set_item(Some(VISIT));
        scope
    }

    pub(super) fn arguments(&self) -> Vec<Value> {
        let text = r#"{"doctor_id": 11, "starts_at": "2026-03-02T11:00", "day": "2026-03-02", "n": 7, "amount": 12.25,
            "share": 0.5, "text": "Olá, Ana", "status": "booked", "unit": "mi", "tags": ["kind"], "extra": 2.5}"#;
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let read = |parameter: &Parameter| match json.get(&*parameter.name) {
            Some(json) => parameter.schema.parse_json(json, &self.zone).unwrap(),
            None => Value::Absent,
        };
        self.parameters.iter().map(read).collect()
    }

    /// Returns the bound slots: `record` is the first doctor, `item` the first visit.
    pub(super) fn bound(&self) -> Vec<SlotContent> {
        let first = |id: ResourceId| SlotContent::Record(self.resources[id.index()].records[0].clone());
        vec![first(DOCTOR), first(VISIT), SlotContent::Empty]
    }

    pub(super) fn env<'e>(
        &'e self,
        arguments: &'e [Value],
        bound: &'e [SlotContent],
        budget: &'e Budget,
    ) -> Env<'e> {
        let clock = Instant(self.zone.parse_instant("2026-03-02T09:00").unwrap().0);
        Env { arguments, bound, clock, zone: &self.zone, records: self, budget }
    }
}

impl Records for Clinic {
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        self.resources[resource.index()].records.iter().find(|record| record[0] == *key)
    }

    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {
        let _ = self.resources[resource.index()].records.iter().try_for_each(visit);
    }

    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        // The comparison is strict, as in an index by hash or order.
        let records = self.resources[resource.index()].records.iter();
        if self.indexed {
            let _ = records.filter(|record| record[field.index()] == *value).try_for_each(visit);
        }
        self.indexed
    }
}
