//! The API agent's later steps: what callers may do with a kind of record, and when they are refused.

use diorama_seeds::english;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::asking::{Complaints, Step, read_json};
use super::domain::Domain;
use super::form;
use super::resources::{FieldDraft, FieldKind, ResourceDraft};

/// What callers may do with a kind of record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deeds {
    /// Fields that lists are filtered by.
    pub list_by: Vec<String>,
    /// Whether records are made.
    pub create: bool,
    /// Fields that may be changed.
    pub update: Vec<String>,
    /// Whether records are deleted.
    pub delete: bool,
    /// Verbs that move a choice from one value to another.
    pub changes: Vec<Change>,
    /// The choice by which records are counted.
    pub count_by: Option<String>,
}

/// A verb that moves a choice from one value to another: `cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// One word.
    pub verb: String,
    /// The choice.
    pub field: String,
    /// The value that it must have.
    pub from: String,
    /// The value that it gets.
    pub to: String,
}

/// Asks what callers may do with a kind of record.
pub struct ChooseDeeds<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// The kind.
    pub resource: &'a ResourceDraft,
}

impl ChooseDeeds<'_> {
    /// Fields that a list can be filtered by, references included.
    fn filters(&self) -> Vec<String> {
        let fields = self.resource.fields.iter().filter(|field| {
            matches!(
                field.kind,
                FieldKind::Choice(_)
                    | FieldKind::City
                    | FieldKind::Date
                    | FieldKind::Moment
                    | FieldKind::Money
                    | FieldKind::Number
            )
        });
        let own = fields.map(|field| field.name.clone());
        own.chain(self.resource.belongs_to.iter().cloned()).collect()
    }

    /// Fields that may be changed: what is not a name and not moved by a verb.
    fn changeable(&self) -> Vec<String> {
        let fields = self.resource.fields.iter();
        fields
            .filter(|field| !field.kind.is_name() && !matches!(field.kind, FieldKind::Choice(_)))
            .map(|field| field.name.clone())
            .collect()
    }
}

/// The choices among the fields of a resource.
pub fn choices(resource: &ResourceDraft) -> Vec<(&FieldDraft, &[String])> {
    let fields = resource.fields.iter();
    fields
        .filter_map(|field| match &field.kind {
            FieldKind::Choice(values) => Some((field, values.as_slice())),
            _ => None,
        })
        .collect()
}

impl Step for ChooseDeeds<'_> {
    type Output = Deeds;
    const NAME: &'static str = "deeds";

    fn input(&self) -> Json {
        let choices: Vec<Json> = choices(self.resource)
            .into_iter()
            .map(|(field, values)| json!({ "name": field.name, "values": values }))
            .collect();
        json!({
            "domain": self.domain, "label": self.resource.label(), "fields": self.resource.fields,
            "filters": self.filters(), "changeable": self.changeable(), "choices": choices,
        })
    }

    fn schema(&self) -> Option<Json> {
        let (filters, changeable, choices) = (self.filters(), self.changeable(), choices(self.resource));
        let of = |offered: &[String], most: usize| json!({ "type": "array", "items": { "enum": offered }, "maxItems": most });
        let mut properties = serde_json::Map::new();
        if !filters.is_empty() {
            properties.insert("list_by".to_owned(), of(&filters, 3));
        }
        properties.insert("create".to_owned(), json!({ "type": "boolean" }));
        properties.insert("delete".to_owned(), json!({ "type": "boolean" }));
        if !changeable.is_empty() {
            properties.insert("update".to_owned(), of(&changeable, 3));
        }
        if !choices.is_empty() {
            let fields: Vec<&str> = choices.iter().map(|(field, _)| field.name.as_str()).collect();
            let mut values: Vec<&String> = choices.iter().flat_map(|(_, values)| *values).collect();
            values.sort_unstable();
            values.dedup();
            properties.insert(
                "changes".to_owned(),
                json!({
                    "type": "array", "maxItems": 3,
                    "items": {
                        "type": "object",
                        "properties": {
                            "verb": { "type": "string", "maxLength": 14 },
                            "field": { "enum": fields }, "from": { "enum": values }, "to": { "enum": values },
                        },
                        "required": ["verb", "field", "from", "to"],
                        "additionalProperties": false,
                    },
                }),
            );
            properties.insert("count_by".to_owned(), json!({ "enum": fields }));
        }
        let required: Vec<&String> = properties.keys().collect();
        Some(
            json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false }),
        )
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Deeds> {
        let json = read_json(reply, wrong)?;
        if !json.is_object() {
            wrong.add(format!("found {}, expected an object", form::shown(Some(&json))));
            return None;
        }
        let mut deeds = Deeds {
            create: form::yes(&json, "create", wrong),
            delete: form::yes(&json, "delete", wrong),
            ..Deeds::default()
        };
        let (filters, changeable, choices) = (self.filters(), self.changeable(), choices(self.resource));
        if !filters.is_empty() {
            deeds.list_by = form::chosen(&json, "list_by", &filters, wrong);
            deeds.list_by.truncate(4);
        }
        if !changeable.is_empty() {
            deeds.update = form::chosen(&json, "update", &changeable, wrong);
            deeds.update.truncate(4);
        }
        if !choices.is_empty() {
            for item in form::items(&json, "changes", 3, wrong) {
                let change = change(item, &choices, wrong);
                deeds.changes.extend(
                    change.filter(|change| deeds.changes.iter().all(|known| known.verb != change.verb)),
                );
            }
            let count_by = json.get("count_by").and_then(Json::as_str);
            deeds.count_by =
                count_by.filter(|by| choices.iter().any(|(field, _)| field.name == *by)).map(str::to_owned);
        }
        Some(deeds)
    }
}

fn change(item: &Json, choices: &[(&FieldDraft, &[String])], wrong: &mut Complaints) -> Option<Change> {
    /// Verbs that other APIs of a resource are named by.
    const TAKEN: [&str; 9] = ["create", "add", "delete", "update", "list", "find", "get", "count", "remove"];
    let verb = form::text(item, "verb", 30, wrong)?.to_lowercase();
    let verb = verb.split([' ', '_', '-']).next().unwrap_or_default().to_owned();
    if !(3..=14).contains(&verb.len())
        || !verb.bytes().all(|byte| byte.is_ascii_lowercase())
        || TAKEN.contains(&verb.as_str())
    {
        wrong.add(format!("`verb`: found `{verb}`, expected one verb of its own such as cancel or approve"));
        return None;
    }
    let named = item.get("field").and_then(Json::as_str).unwrap_or_default();
    let Some((field, values)) = choices.iter().find(|(field, _)| field.name == named) else {
        let known: Vec<String> = choices.iter().map(|(field, _)| field.name.clone()).collect();
        wrong.add(format!("`field`: found `{named}`, expected {}", form::one_of(&known)));
        return None;
    };
    let value = |member: &str| {
        let found = item.get(member).and_then(Json::as_str).unwrap_or_default();
        values.iter().find(|value| *value == found).cloned()
    };
    match (value("from"), value("to")) {
        (Some(from), Some(to)) if from != to => Some(Change { verb, field: field.name.clone(), from, to }),
        _ => {
            wrong.add(format!(
                "`from` and `to` of `{verb}`: expected two different ones of {}",
                values.join(", ")
            ));
            None
        }
    }
}

/// A check that an API may make before it does anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// By which a model chooses it: `create_1`.
    pub id: String,
    /// In words: what is refused.
    pub refuses: String,
    /// The expression that must hold.
    pub that: String,
    /// The status of the refusal.
    pub status: u16,
    /// What the caller is told.
    pub message: String,
    /// Whether it is for the API that deletes; else for the one that creates.
    pub on_delete: bool,
}

/// The checks that make sense for a resource, from which a model chooses.
#[must_use]
pub fn possible_rules(resource: &ResourceDraft, deeds: &Deeds, all: &[ResourceDraft]) -> Vec<Rule> {
    const MOST: usize = 10;
    let label = resource.label();
    let mut rules = Vec::new();
    let mut add = |refuses: String, that: String, status: u16, message: String, on_delete: bool| {
        let id = format!("{}_{}", if on_delete { "delete" } else { "create" }, rules.len() + 1);
        rules.push(Rule { id, refuses, that, status, message, on_delete });
    };
    let times = |field: &&FieldDraft| matches!(field.kind, FieldKind::Date | FieldKind::Moment);
    if deeds.create {
        for field in resource.fields.iter().filter(times) {
            let (name, said) = (&field.name, field.label());
            let now = if field.kind == FieldKind::Date { "today" } else { "now" };
            let message = format!("the {said} is in the past");
            add(
                format!("a {label} whose {said} is in the past"),
                format!("args.{name} > {now}"),
                422,
                message,
                false,
            );
        }
        for parent in
            resource.belongs_to.iter().filter_map(|name| all.iter().find(|other| other.idea.name == *name))
        {
            let (of, key) = (&parent.idea.name, parent.key());
            for (field, values) in choices(parent) {
                for value in values.iter().take(3) {
                    let said = value.replace('_', " ");
                    add(
                        format!("a {label} for a {} that is not {said}", parent.label()),
                        format!("{of}.get(args.{key}).{} == '{value}'", field.name),
                        409,
                        format!("the {} is not {said}", parent.label()),
                        false,
                    );
                }
            }
            for field in resource.fields.iter().filter(times) {
                let (own, name) = (&resource.idea.name, &field.name);
                add(
                    format!("a second {label} for the same {} at the same {}", parent.label(), field.label()),
                    format!("!{own}.any(other, other.{key} == args.{key} && other.{name} == args.{name})"),
                    409,
                    format!("this {} is already taken at that time", parent.label()),
                    false,
                );
            }
        }
    }
    if deeds.delete {
        for (field, values) in choices(resource) {
            for value in values.iter().take(3) {
                let said = value.replace('_', " ");
                let plural = english::plural(&label);
                add(
                    format!("deleting a {label} that is not {said}"),
                    format!("record.{} == '{value}'", field.name),
                    409,
                    format!("only {plural} that are {said} can be deleted"),
                    true,
                );
            }
        }
    }
    rules.truncate(MOST);
    rules
}

/// Asks which checks an API makes.
pub struct ChooseRules<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// The kind of record.
    pub resource: &'a ResourceDraft,
    /// The checks that make sense.
    pub possible: &'a [Rule],
}

impl Step for ChooseRules<'_> {
    type Output = Vec<Rule>;
    const NAME: &'static str = "rules";

    fn input(&self) -> Json {
        json!({ "domain": self.domain, "label": self.resource.label(), "rules": self.possible })
    }

    fn schema(&self) -> Option<Json> {
        let ids: Vec<&str> = self.possible.iter().map(|rule| rule.id.as_str()).collect();
        Some(super::resources::list("rules", &json!({ "enum": ids }), 0, 3))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Vec<Rule>> {
        let json = read_json(reply, wrong)?;
        if json.get("rules").is_none() {
            wrong.add("`rules`: found nothing, expected a list of ids, which may be empty");
            return None;
        }
        let ids: Vec<String> = self.possible.iter().map(|rule| rule.id.clone()).collect();
        let chosen = form::chosen(&json, "rules", &ids, wrong);
        let chosen = chosen.iter().filter_map(|id| self.possible.iter().find(|rule| rule.id == *id));
        Some(chosen.take(4).cloned().collect())
    }
}
