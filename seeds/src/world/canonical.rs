//! Owns the canonical form of a materialised world, and its hash.
//!
//! The form is itself a world document (`world` first, then all keys in order, no white space), and parses to
//! the same world. It omits parts that only serve data generation: phrases except search phrases, scenarios,
//! `ask`, `say`, `examples`, `each`, and `fake` except the format of keys.

use serde_json::{Value as Json, json};

use super::part::Part;
use crate::doc::{
    ApiDoc, Comparison, DomainDoc, DomainHead, FieldDoc, FilterDoc, RecordsDoc, ResourceDoc, WorldDoc,
};
use crate::model::{Api, KeyFormat, Resource, World};
use crate::schema::{Schema, Type};
use crate::value::{Value, Zone, nfc};

/// Returns the canonical form of a materialised world. `world` must have been compiled from `doc`.
///
/// Documents have the same form if they differ only in three respects: the order of keys, the notation of
/// values (`1` and `1.0`, `9:00` and `09:00`), and omitted parts. The form of a source world has no records.
pub fn canonical_json(doc: &WorldDoc, world: &World) -> String {
    Form::new(doc, world).write(world, doc.materialised)
}

/// Returns the BLAKE3 of a canonical form, in lower-case hexadecimal.
pub fn hash(canonical: &str) -> String {
    blake3::hash(canonical.as_bytes()).to_hex().to_string()
}

/// The canonical form of all worlds that are made from one document, without seed and records.
pub(crate) struct Form {
    json: Json,
}

impl Form {
    pub(crate) fn new(doc: &WorldDoc, world: &World) -> Self {
        let mut json = bare(&doc.without_private(), world).to_json();
        json.sort_all_objects();
        Self { json }
    }

    /// Returns the form as a source document, in which all mappings are sorted by key.
    ///
    /// The order of keys has no meaning. Some output follows the order of a mapping, such as a tool's
    /// parameters, or a reply's members without `fields`. Sorting makes this order the same for each run. A
    /// world that was parsed from its canonical form then behaves like the original to the byte.
    pub(crate) fn doc(&self) -> Result<WorldDoc, serde_json::Error> {
        WorldDoc::from_json(&self.json)
    }

    /// Returns the canonical JSON of a world of this form.
    pub(crate) fn write(&self, world: &World, seed: Option<u64>) -> String {
        let records: usize =
            world.resources.iter().map(|resource| resource.records.len() * resource.fields.len()).sum();
        let mut out = String::with_capacity(4096 + 24 * records);
        let seed = seed.map(Json::from);
        let members = self.json.as_object().into_iter().flatten();
        let mut entries: Vec<(&str, &Json)> = members.map(|(name, json)| (name.as_str(), json)).collect();
        entries.extend(seed.as_ref().map(|seed| ("materialised", seed)));
        entries.sort_by_key(|(name, _)| (*name != "world", *name));
        let mut separate = Separator::open(&mut out, '{');
        for (name, json) in entries {
            separate.name(&mut out, name);
            match (name, json) {
                ("domains", Json::Array(domains)) => write_domains(&mut out, domains, world),
                _ => write_json(&mut out, json),
            }
        }
        out.push('}');
        out
    }
}

fn write_domains(out: &mut String, domains: &[Json], world: &World) {
    let mut separate = Separator::open(out, '[');
    for (index, domain) in domains.iter().enumerate() {
        separate.next(out);
        write_object(out, domain, |out, name, json| {
            if name != "resources" {
                return write_json(out, json);
            }
            write_object(out, json, |out, resource, json| {
                let wanted = nfc(resource);
                let is = |model: &&Resource| model.domain.index() == index && model.name == wanted;
                let model = world.resources.iter().find(is);
                write_object(out, json, |out, name, json| match model.filter(|_| name == "records") {
                    Some(model) => write_records(out, model, &world.zone),
                    None => write_json(out, json),
                });
            });
        });
    }
    out.push(']');
}

fn write_object(out: &mut String, json: &Json, mut write: impl FnMut(&mut String, &str, &Json)) {
    let mut separate = Separator::open(out, '{');
    for (name, json) in json.as_object().into_iter().flatten() {
        separate.name(out, name);
        write(out, name, json);
    }
    out.push('}');
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

/// Returns the document in the long form, with normalised values, without seed, records and parts that only
/// serve their generation.
fn bare(doc: &WorldDoc, world: &World) -> WorldDoc {
    let (mut resources, mut apis) = (world.resources.iter(), world.apis.iter());
    let named = || DomainHead { name: doc.name.clone(), ..DomainHead::default() };
    let domains = Part::all(doc).into_iter().map(|part| {
        let own = part.resources.iter().zip(resources.by_ref().take(part.resources.len()));
        let resources = own.map(|((name, doc), model)| (name.clone(), resource(doc, model, &world.zone)));
        let apis = part.apis.iter().zip(apis.by_ref().take(part.apis.len()));
        DomainDoc {
            domain: part.head.cloned().unwrap_or_else(named),
            resources: resources.collect(),
            apis: apis.map(|(doc, model)| api(doc, model, &world.zone)).collect(),
            ..DomainDoc::default()
        }
    });
    WorldDoc {
        domains: domains.collect(),
        clock: Value::DateTime(world.clock).to_text(&world.zone),
        zone: world.zone.name().to_owned(),
        materialised: None,
        ..doc.head()
    }
}

fn resource(doc: &ResourceDoc, model: &Resource, zone: &Zone) -> ResourceDoc {
    let fields = doc.fields.iter().filter_map(|(name, doc)| {
        let id = model.field_named(&nfc(name))?;
        let field = model.field(id);
        let mut doc = spelled(doc, &field.schema, field.default.as_ref(), zone);
        if let (KeyFormat::Code(format), true) = (&model.key_format, id == model.key) {
            doc.fake = Some(json!({ "format": &**format, "provider": "code" }));
        }
        Some((name.clone(), doc))
    });
    ResourceDoc {
        key: doc.key.clone(),
        label: doc.label.clone(),
        plural: doc.plural.clone(),
        // The default depends on the order of fields, which this form does not keep.
        display: model.display.map(|field| model.field(field).name.to_string()),
        description: doc.description.clone(),
        owner: doc.owner.clone(),
        singleton: doc.singleton,
        unique_together: doc.unique_together.clone(),
        fields: fields.collect(),
        define: doc.define.clone(),
        states: doc.states.clone(),
        records: RecordsDoc::default(),
        ..ResourceDoc::default()
    }
}

fn api(doc: &ApiDoc, model: &Api, zone: &Zone) -> ApiDoc {
    let parameters = doc.parameters.iter().zip(&model.parameters);
    let parameters = parameters.map(|((name, doc), model)| {
        (name.clone(), spelled(doc, &model.schema, model.default.as_ref(), zone))
    });
    let mut bare = ApiDoc {
        phrases: doc.phrases.kept(),
        parameters: parameters.collect(),
        measures: Some(model.measures.to_string()).filter(|measures| !measures.is_empty()),
        ..doc.clone()
    };
    for filter in bare.behaviour.filters.values_mut() {
        if let FilterDoc::Compare(compare) = filter
            && compare.op == Comparison::Equal
        {
            *filter = FilterDoc::Field(std::mem::take(&mut compare.field));
        }
    }
    bare
}

/// Returns a field's description with normalised values.
fn spelled(doc: &FieldDoc, schema: &Schema, default: Option<&Value>, zone: &Zone) -> FieldDoc {
    let spell = |given: &Option<Json>, value: Option<&Value>| match (given, value) {
        (Some(_), Some(value)) => Some(value.to_json(zone)),
        (given, _) => given.clone(),
    };
    let items = match (&doc.items, &schema.kind) {
        (Some(items), Type::List(schema)) => Some(Box::new(spelled(items, schema, None, zone))),
        _ => None,
    };
    let members = match &schema.kind {
        Type::Object(members) => &**members,
        _ => &[],
    };
    let fields = doc.fields.iter().filter_map(|(name, doc)| {
        let wanted = nfc(name);
        let member = members.iter().find(|member| member.name == wanted)?;
        Some((name.clone(), spelled(doc, &member.schema, None, zone)))
    });
    FieldDoc {
        default: spell(&doc.default, default),
        min: spell(&doc.min, schema.limits.min.as_ref()),
        max: spell(&doc.max, schema.limits.max.as_ref()),
        fake: None,
        ask: Vec::new(),
        say: Vec::new(),
        items,
        fields: fields.collect(),
        ..doc.clone()
    }
}

/// Writes JSON with strings in NFC and whole numbers without a fraction.
fn write_json(out: &mut String, json: &Json) {
    match json {
        Json::String(text) => write_text(out, text),
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
        Json::Object(_) => write_object(out, json, |out, _, json| write_json(out, json)),
        Json::Null | Json::Bool(_) => out.push_str(&json.to_string()),
    }
}

fn write_text(out: &mut String, text: &str) {
    Value::string(text).write_json(out, &Zone::utc());
}

/// Writes the commas between items.
struct Separator(bool);

impl Separator {
    fn open(out: &mut String, bracket: char) -> Self {
        out.push(bracket);
        Self(false)
    }

    /// Writes the name of a member.
    fn name(&mut self, out: &mut String, name: &str) {
        self.next(out);
        write_text(out, name);
        out.push(':');
    }

    fn next(&mut self, out: &mut String) {
        if self.0 {
            out.push(',');
        }
        self.0 = true;
    }
}
