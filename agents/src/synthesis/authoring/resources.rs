//! The API agent's first steps: which kinds of records a domain keeps, what each of them holds, and what they are called.

use diorama_seeds::english;
use diorama_seeds::naming;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::asking::{Complaints, Step, read_json};
use super::domain::Domain;
use super::form;

/// A kind of record as proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceIdea {
    /// Identifier, singular.
    pub name: String,
    /// What a record is.
    pub description: String,
    /// How many there are.
    pub records: u32,
}

/// A kind of record with its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceDraft {
    /// What it is.
    pub idea: ResourceIdea,
    /// The earlier resources that a record belongs to.
    pub belongs_to: Vec<String>,
    /// Its own fields.
    pub fields: Vec<FieldDraft>,
    /// What records are called, where the model made titles up.
    pub titles: Vec<String>,
}

/// A field as proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldDraft {
    /// Identifier.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
}

impl FieldDraft {
    /// What people call it: `starts_at` is the start time, `due_on` the due date, `booked_at` the time booked.
    #[must_use]
    pub fn label(&self) -> String {
        let noun = match self.kind {
            FieldKind::Date => "date",
            FieldKind::Time | FieldKind::Moment => "time",
            _ => return naming::label(&self.name),
        };
        let Some((verb, "at" | "on")) = self.name.rsplit_once('_') else { return naming::label(&self.name) };
        let verb = naming::label(verb);
        match verb.strip_suffix('s') {
            _ if verb.ends_with("ed") => format!("{noun} {verb}"),
            Some(noun_of) => format!("{noun_of} {noun}"),
            None => format!("{verb} {noun}"),
        }
    }
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// A person's name, by which people call the record.
    Person,
    /// A title, by which people call the record.
    Title,
    /// Free wording.
    Text,
    /// A whole number.
    Number,
    /// An amount of money.
    Money,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and time.
    Moment,
    /// Yes or no.
    YesNo,
    /// One of a few values.
    Choice(Vec<String>),
    /// A telephone number.
    Phone,
    /// An address for e-mail.
    Email,
    /// A city.
    City,
}

impl FieldKind {
    const NAMES: [&str; 13] = [
        "person", "title", "text", "number", "money", "date", "time", "moment", "yes_no", "choice", "phone",
        "email", "city",
    ];

    /// Whether people call a record by it.
    #[must_use]
    pub const fn is_name(&self) -> bool {
        matches!(self, Self::Person | Self::Title)
    }
}

impl ResourceDraft {
    /// The field by which people call a record.
    #[must_use]
    pub fn display(&self) -> Option<&FieldDraft> {
        self.fields.iter().find(|field| field.kind.is_name())
    }

    /// The field with the key.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}_id", self.idea.name)
    }

    /// What people call a record of its kind.
    #[must_use]
    pub fn label(&self) -> String {
        naming::label(&self.idea.name)
    }
}

/// Asks which kinds of records a domain keeps.
pub struct ListResources<'a> {
    /// The domain.
    pub domain: &'a Domain,
}

/// Kinds of records of a domain, at least and at most.
const RESOURCES: std::ops::RangeInclusive<usize> = 2..=4;

impl Step for ListResources<'_> {
    type Output = Vec<ResourceIdea>;
    const NAME: &'static str = "resources";

    fn input(&self) -> Json {
        json!({ "domain": self.domain })
    }

    fn schema(&self) -> Option<Json> {
        let item = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 24 },
                "description": { "type": "string", "maxLength": 90 },
                "records": { "type": "integer" },
            },
            "required": ["name", "description", "records"],
            "additionalProperties": false,
        });
        Some(list("resources", &item, *RESOURCES.start(), *RESOURCES.end()))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Self::Output> {
        let json = read_json(reply, wrong)?;
        let mut found: Vec<ResourceIdea> = Vec::new();
        for item in form::items(&json, "resources", *RESOURCES.end(), wrong) {
            let Some(name) = form::name(item, "name", wrong) else { continue };
            let name = naming::resource_name(&name);
            if name.len() > 32 || found.iter().any(|known| known.name == name) {
                wrong.add(format!("`resources`: found `{name}` twice or too long, expected another noun"));
                continue;
            }
            let description = item.get("description").and_then(Json::as_str);
            let description = description
                .and_then(|text| form::cleaned(text, 160))
                .unwrap_or_else(|| format!("One {} of the service", naming::label(&name)));
            let records = item.get("records").and_then(Json::as_i64).unwrap_or(16).clamp(10, 40) as u32;
            found.push(ResourceIdea { name, description, records });
        }
        if found.len() < *RESOURCES.start() {
            wrong.add(format!("`resources`: found {} that can be used, expected 2 to 4", found.len()));
            return None;
        }
        Some(found)
    }
}

/// The fields of a resource and what it belongs to, as proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldsDraft {
    /// The earlier resources that a record belongs to.
    pub belongs_to: Vec<String>,
    /// Its own fields.
    pub fields: Vec<FieldDraft>,
}

/// Asks what a kind of record holds.
pub struct ListFields<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// The kind.
    pub idea: &'a ResourceIdea,
    /// The kinds before it, to which it may belong.
    pub earlier: &'a [ResourceDraft],
}

impl ListFields<'_> {
    fn parents(&self) -> Vec<String> {
        self.earlier.iter().map(|earlier| earlier.idea.name.clone()).collect()
    }
}

/// Fields of a kind of record, at most.
const FIELDS: usize = 7;

impl Step for ListFields<'_> {
    type Output = FieldsDraft;
    const NAME: &'static str = "fields";

    fn input(&self) -> Json {
        json!({ "domain": self.domain, "resource": self.idea, "parents": self.parents() })
    }

    fn schema(&self) -> Option<Json> {
        let item = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 24 },
                "type": { "enum": FieldKind::NAMES },
                "values": { "type": "array", "items": { "type": "string", "maxLength": 20 }, "maxItems": 5 },
            },
            "required": ["name", "type", "values"],
            "additionalProperties": false,
        });
        let mut schema = list("fields", &item, 2, FIELDS);
        let parents = self.parents();
        if !parents.is_empty() {
            schema["properties"]["belongs_to"] =
                json!({ "type": "array", "items": { "enum": parents }, "maxItems": 2 });
            schema["required"] = json!(["fields", "belongs_to"]);
        }
        Some(schema)
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<FieldsDraft> {
        let json = read_json(reply, wrong)?;
        let parents = self.parents();
        let belongs_to =
            if parents.is_empty() { Vec::new() } else { form::chosen(&json, "belongs_to", &parents, wrong) };
        let mut fields: Vec<FieldDraft> = Vec::new();
        for item in form::items(&json, "fields", FIELDS, wrong) {
            let Some(name) = form::name(item, "name", wrong) else { continue };
            let taken = |other: &str| other == name;
            let reference = parents.iter().any(|parent| taken(parent) || taken(&format!("{parent}_id")));
            if reference || name == format!("{}_id", self.idea.name) || name == "id" {
                // The key and what it belongs to are made anyhow.
                continue;
            }
            if fields.iter().any(|known| taken(&known.name)) {
                wrong.add(format!("`fields`: found `{name}` twice, expected each name once"));
                continue;
            }
            let Some(kind) = kind(item, wrong) else { continue };
            // People call a record by one name.
            let second = kind.is_name() && fields.iter().any(|known| known.kind.is_name());
            let kind = if second { FieldKind::Text } else { kind };
            fields.push(FieldDraft { name, kind });
        }
        if fields.is_empty() {
            wrong.add("`fields`: found none that can be used, expected two to seven");
            return None;
        }
        if self.earlier.is_empty() && !fields.iter().any(|field| field.kind.is_name()) {
            wrong.add("`fields`: found none of type person or title, expected one by which people call it");
        }
        Some(FieldsDraft { belongs_to, fields })
    }
}

fn kind(item: &Json, wrong: &mut Complaints) -> Option<FieldKind> {
    let found = item.get("type").and_then(Json::as_str).unwrap_or_default();
    Some(match found {
        "person" => FieldKind::Person,
        "title" => FieldKind::Title,
        "text" => FieldKind::Text,
        "number" => FieldKind::Number,
        "money" => FieldKind::Money,
        "date" => FieldKind::Date,
        "time" => FieldKind::Time,
        "moment" => FieldKind::Moment,
        "yes_no" => FieldKind::YesNo,
        "phone" => FieldKind::Phone,
        "email" => FieldKind::Email,
        "city" => FieldKind::City,
        "choice" => {
            let mut values: Vec<String> = Vec::new();
            for value in form::items(item, "values", 6, wrong) {
                let value = value.as_str().and_then(|value| form::cleaned(value, 24));
                let value = value.map(|value| naming::snake(&value)).filter(|value| value != "value");
                values.extend(value.filter(|value| !values.contains(value)));
            }
            if values.len() < 2 {
                wrong.add("`values`: found fewer than two, expected two to six values of the choice");
                return None;
            }
            FieldKind::Choice(values)
        }
        _ => {
            let known: Vec<String> = FieldKind::NAMES.map(str::to_owned).to_vec();
            wrong.add(format!(
                "`type`: found {}, expected {}",
                form::shown(item.get("type")),
                form::one_of(&known)
            ));
            return None;
        }
    })
}

/// Asks for titles of records.
pub struct NameRecords<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// The kind of record.
    pub resource: &'a ResourceDraft,
}

impl Step for NameRecords<'_> {
    type Output = Vec<String>;
    const NAME: &'static str = "titles";

    fn input(&self) -> Json {
        let label = self.resource.label();
        json!({ "domain": self.domain, "resource": self.resource.idea, "label": label, "plural": english::plural(&label) })
    }

    fn schema(&self) -> Option<Json> {
        Some(list("titles", &json!({ "type": "string", "maxLength": 36 }), 6, 16))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Vec<String>> {
        let json = read_json(reply, wrong)?;
        let mut found: Vec<String> = Vec::new();
        for item in form::items(&json, "titles", 40, wrong) {
            let title = item.as_str().and_then(|text| form::cleaned(text, 48));
            // One inside another would leave open which is meant.
            let title = title.filter(|title| {
                let title = english::fold(title);
                let apart = |known: &String| {
                    let known = english::fold(known);
                    !known.contains(&title) && !title.contains(&known)
                };
                title.len() > 2 && title.chars().any(char::is_alphabetic) && found.iter().all(apart)
            });
            match title {
                Some(title) => found.push(title),
                None => wrong.add(format!(
                    "`titles`: found {}, expected a title unlike the others",
                    form::shown(Some(item))
                )),
            }
        }
        if found.len() < 4 {
            wrong.add(format!("`titles`: found {} that can be used, expected at least 4", found.len()));
            return None;
        }
        Some(found)
    }
}

/// The schema of a form with one list.
pub fn list(name: &str, item: &Json, least: usize, most: usize) -> Json {
    json!({
        "type": "object",
        "properties": { name: { "type": "array", "items": item, "minItems": least, "maxItems": most } },
        "required": [name],
        "additionalProperties": false,
    })
}
