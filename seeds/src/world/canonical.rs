//! One spelling for each materialised world, and its hash.
//!
//! The canonical form is itself a world document (`world` first, then every key in order, no white space) and is
//! read back as the same world. Left out is what only serves the making of data: phrases but for those of searches,
//! scenarios, `ask`, `say`, `fake` (apart from the format of keys, which new records need), `examples`, `each`.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::compile::Part;
use crate::doc::{ApiDoc, Comparison, DomainHead, FieldDoc, FilterDoc, RecordsDoc, ResourceDoc, WorldDoc};
use crate::model::{Domain, KeyFormat, Parameter, Resource, World};
use crate::schema::{Schema, Type};
use crate::value::{Value, Zone, nfc};

/// The canonical form of a materialised world: `world` must have been compiled from `doc`.
///
/// Documents that differ only in the order of keys, in the spelling of values (`1` and `1.0`, `9:00` and `09:00`) or
/// in what is left out here have one canonical form. A source world has no records in it yet.
#[must_use]
pub fn canonical_json(doc: &WorldDoc, world: &World) -> String {
    let head = WorldDoc {
        domain: None,
        resources: IndexMap::new(),
        apis: Vec::new(),
        scenarios: Vec::new(),
        system: Vec::new(),
        domains: Vec::new(),
        clock: Value::DateTime(world.clock).to_text(&world.zone),
        zone: world.zone.name().to_owned(),
        name: doc.name.clone(),
        title: doc.title.clone(),
        description: doc.description.clone(),
        license: doc.license.clone(),
        source: doc.source.clone(),
        ..*doc
    };
    let mut entries = members(json_of(&head));
    entries.retain(|(name, _)| name != "world");
    let (mut resources, mut apis) = (world.resources.iter(), world.apis.iter());
    let parts = Part::all(doc);
    let domains = parts.iter().zip(&world.domains).map(|(part, domain)| {
        let own = part.resources.iter().zip(resources.by_ref().take(part.resources.len()));
        let resources = own.map(|((name, doc), model)| (name.clone(), resource(doc, model, &world.zone)));
        let resources = Piece::Object(resources.collect());
        let own = part.apis.iter().zip(apis.by_ref().take(part.apis.len()));
        let apis = Piece::List(own.map(|(doc, model)| api(doc, &model.parameters, &world.zone)).collect());
        Piece::Object(vec![
            ("apis".to_owned(), apis),
            ("domain".to_owned(), domain_head(part.head, domain)),
            ("resources".to_owned(), resources),
        ])
    });
    entries.push(("domains".to_owned(), Piece::List(domains.collect())));
    let records: usize =
        world.resources.iter().map(|resource| resource.records.len() * resource.fields.len()).sum();
    let mut out = String::with_capacity(4096 + 24 * records);
    out.push_str("{\"world\":");
    out.push_str(&doc.world.to_string());
    for (name, piece) in sorted(entries) {
        out.push(',');
        write_text(&mut out, &name);
        out.push(':');
        piece.write(&mut out, &world.zone);
    }
    out.push('}');
    out
}

/// BLAKE3 of a canonical form, in lower-case hexadecimal.
#[must_use]
pub fn hash(canonical: &str) -> String {
    blake3::hash(canonical.as_bytes()).to_hex().to_string()
}

/// A part of the form. Records are written from their typed values, without a tree.
enum Piece<'w> {
    Json(Json),
    List(Vec<Piece<'w>>),
    Object(Vec<(String, Piece<'w>)>),
    Records(&'w Resource),
}

impl Piece<'_> {
    fn write(self, out: &mut String, zone: &Zone) {
        match self {
            Piece::Json(json) => write_json(out, json),
            Piece::List(items) => {
                let mut separate = Separator::open(out, '[');
                for item in items {
                    separate.next(out);
                    item.write(out, zone);
                }
                out.push(']');
            }
            Piece::Object(entries) => {
                let mut separate = Separator::open(out, '{');
                for (name, piece) in sorted(entries) {
                    separate.next(out);
                    write_text(out, &name);
                    out.push(':');
                    piece.write(out, zone);
                }
                out.push('}');
            }
            Piece::Records(resource) => write_records(out, resource, zone),
        }
    }
}

fn write_records(out: &mut String, resource: &Resource, zone: &Zone) {
    let mut order: Vec<(usize, String)> = Vec::with_capacity(resource.fields.len());
    for (index, field) in resource.fields.iter().enumerate() {
        let mut name = String::new();
        write_text(&mut name, &field.name);
        name.push(':');
        order.push((index, name));
    }
    order.sort_by(|(a, _), (b, _)| resource.fields[*a].name.cmp(&resource.fields[*b].name));
    let mut records = Separator::open(out, '[');
    for record in &resource.records {
        records.next(out);
        let mut fields = Separator::open(out, '{');
        for (index, name) in &order {
            let value = record.get(*index).unwrap_or(&Value::Absent);
            if !matches!(value, Value::Absent) {
                fields.next(out);
                out.push_str(name);
                value.write_json(out, zone);
            }
        }
        out.push('}');
    }
    out.push(']');
}

fn domain_head<'w>(head: Option<&DomainHead>, domain: &Domain) -> Piece<'w> {
    let named = DomainHead { name: domain.name.to_string(), ..DomainHead::default() };
    Piece::Json(json_of(head.unwrap_or(&named)))
}

fn resource<'w>(doc: &ResourceDoc, model: &'w Resource, zone: &Zone) -> Piece<'w> {
    let bare = ResourceDoc {
        key: doc.key.clone(),
        label: doc.label.clone(),
        plural: doc.plural.clone(),
        // The default is the first of some fields, and the order of fields is no part of this form.
        display: model.display.map(|field| model.field(field).name.to_string()),
        description: doc.description.clone(),
        owner: doc.owner.clone(),
        singleton: doc.singleton,
        unique_together: doc.unique_together.clone(),
        fields: IndexMap::new(),
        records: RecordsDoc::default(),
        examples: Vec::new(),
        each: Vec::new(),
    };
    let mut entries = members(json_of(&bare));
    entries.retain(|(name, _)| name != "fields" && name != "records");
    let fields = doc.fields.iter().filter_map(|(name, doc)| {
        let field = model.field(model.field_named(&nfc(name))?);
        let mut json = field_json(doc, &field.schema, field.default.as_ref(), zone);
        if let (KeyFormat::Code(format), Json::Object(members)) = (&model.key_format, &mut json)
            && *name == doc_key(model)
        {
            members.insert("fake".to_owned(), json!({ "provider": "code", "format": &**format }));
        }
        Some((name.clone(), Piece::Json(json)))
    });
    entries.push(("fields".to_owned(), Piece::Object(fields.collect())));
    entries.push(("records".to_owned(), Piece::Records(model)));
    Piece::Object(entries)
}

fn doc_key(model: &Resource) -> &str {
    &model.field(model.key).name
}

fn api<'w>(doc: &ApiDoc, parameters: &[Parameter], zone: &Zone) -> Piece<'w> {
    let mut bare = ApiDoc { phrases: doc.phrases.kept(), parameters: IndexMap::new(), ..doc.clone() };
    for filter in bare.behaviour.filters.values_mut() {
        if let FilterDoc::Compare(compare) = filter
            && compare.op == Comparison::Equal
        {
            *filter = FilterDoc::Field(std::mem::take(&mut compare.field));
        }
    }
    let mut entries = members(json_of(&bare));
    let parameters = doc.parameters.iter().zip(parameters).map(|((name, doc), model)| {
        let json = field_json(doc, &model.schema, model.default.as_ref(), zone);
        (name.clone(), Piece::Json(json))
    });
    let parameters: Vec<_> = parameters.collect();
    if !parameters.is_empty() {
        entries.push(("parameters".to_owned(), Piece::Object(parameters)));
    }
    Piece::Object(entries)
}

/// A field's description with its values in one spelling.
fn field_json(doc: &FieldDoc, schema: &Schema, default: Option<&Value>, zone: &Zone) -> Json {
    let spell = |given: &Option<Json>, value: Option<&Value>| match (given, value) {
        (Some(_), Some(value)) => Some(value.to_json(zone)),
        (given, _) => given.clone(),
    };
    let bare = FieldDoc {
        default: spell(&doc.default, default),
        min: spell(&doc.min, schema.limits.min.as_ref()),
        max: spell(&doc.max, schema.limits.max.as_ref()),
        fake: None,
        ask: Vec::new(),
        say: Vec::new(),
        items: None,
        fields: IndexMap::new(),
        ..doc.clone()
    };
    let mut json = json_of(&bare);
    let Json::Object(members) = &mut json else { return json };
    if let (Some(items), Type::List(schema)) = (&doc.items, &schema.kind) {
        members.insert("items".to_owned(), field_json(items, schema, None, zone));
    }
    if let Type::Object(schemas) = &schema.kind {
        let fields: Map<String, Json> = doc
            .fields
            .iter()
            .filter_map(|(name, doc)| {
                let wanted = nfc(name);
                let schema = &schemas.iter().find(|field| field.name == wanted)?.schema;
                Some((name.clone(), field_json(doc, schema, None, zone)))
            })
            .collect();
        if !fields.is_empty() {
            members.insert("fields".to_owned(), Json::Object(fields));
        }
    }
    json
}

/// These types serialise into JSON without exception: their keys are strings and their numbers finite.
fn json_of(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

fn members<'w>(json: Json) -> Vec<(String, Piece<'w>)> {
    match json {
        Json::Object(map) => map.into_iter().map(|(name, json)| (name, Piece::Json(json))).collect(),
        _ => Vec::new(),
    }
}

fn sorted<T>(mut entries: Vec<(String, T)>) -> Vec<(String, T)> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

/// Keys in order, strings in NFC, whole numbers without a fraction.
fn write_json(out: &mut String, json: Json) {
    match json {
        Json::String(text) => write_text(out, &text),
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(value) => match Value::number(value) {
                Some(value) => value.write_json(out, &Zone::utc()),
                None => out.push_str("null"),
            },
            None => out.push_str(&number.to_string()),
        },
        Json::Array(items) => {
            let mut separate = Separator::open(out, '[');
            for item in items {
                separate.next(out);
                write_json(out, item);
            }
            out.push(']');
        }
        Json::Object(map) => {
            let mut separate = Separator::open(out, '{');
            for (name, json) in sorted(map.into_iter().collect()) {
                separate.next(out);
                write_text(out, &name);
                out.push(':');
                write_json(out, json);
            }
            out.push('}');
        }
        Json::Null | Json::Bool(_) => out.push_str(&json.to_string()),
    }
}

fn write_text(out: &mut String, text: &str) {
    Value::string(text).write_json(out, &Zone::utc());
}

/// Commas between the items of what was opened.
struct Separator(bool);

impl Separator {
    fn open(out: &mut String, bracket: char) -> Self {
        out.push(bracket);
        Self(false)
    }

    fn next(&mut self, out: &mut String) {
        if self.0 {
            out.push(',');
        }
        self.0 = true;
    }
}
