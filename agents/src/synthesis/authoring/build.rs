//! From drafts to a world: everything that is not the model's to decide is decided here, the same way every time.

use diorama_seeds::doc::{
    ApiDoc, BehaviourDoc, CompareDoc, Comparison, DomainHead, EffectDoc, FieldDoc, FilterDoc, Method,
    PageDoc, PageStyle, PhrasesDoc, RecordsDoc, RefusalDoc, ReplyDoc, RequireDoc, ResourceDoc, TypeName,
    WORLD_VERSION, WorldDoc,
};
use diorama_seeds::english::{article, capitalised, plural};
use diorama_seeds::naming::{camel, label, member};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::deeds::{Change, Deeds, Rule};
use super::domain::Domain;
use super::resources::{FieldDraft, FieldKind, ResourceDraft};

/// A resource with what callers may do with it.
#[derive(Clone, Debug)]
pub struct Section {
    /// The resource.
    pub resource: ResourceDraft,
    /// What callers may do.
    pub deeds: Deeds,
    /// When they are refused.
    pub rules: Vec<Rule>,
}

/// Where and when a world plays, by its number.
const PLACES: [(&str, &str, &str); 6] = [
    ("Europe/Lisbon", "EUR", "2026-03-02T09:00"),
    ("Europe/London", "GBP", "2026-05-12T08:30"),
    ("America/New_York", "USD", "2026-09-21T10:15"),
    ("Europe/Zurich", "CHF", "2026-11-04T13:45"),
    ("America/Toronto", "CAD", "2026-06-17T11:00"),
    ("Australia/Sydney", "AUD", "2026-02-10T09:40"),
];

/// The parameter for the page of a list.
const PAGE: &str = "page";

/// The world of a domain from its drafts; `number` decides where and when it plays.
#[must_use]
pub fn build(domain: &Domain, sections: &[Section], number: u64, license: &str) -> WorldDoc {
    let (zone, currency, clock) = PLACES[(number % PLACES.len() as u64) as usize];
    let builder = Builder { sections, currency };
    let mut resources = IndexMap::new();
    let mut apis = Vec::new();
    for section in sections {
        resources.insert(section.resource.idea.name.clone(), builder.resource(section));
        apis.extend(builder.apis(section));
    }
    WorldDoc {
        world: WORLD_VERSION,
        name: domain.name.clone(),
        title: Some(domain.title.clone()),
        description: Some(domain.description.clone()),
        clock: clock.to_owned(),
        zone: zone.to_owned(),
        license: Some(license.to_owned()),
        domain: Some(DomainHead {
            name: domain.name.clone(),
            title: Some(domain.title.clone()),
            description: Some(domain.description.clone()),
            sector: Some(domain.sector.clone()),
            ..DomainHead::default()
        }),
        resources,
        apis,
        ..WorldDoc::default()
    }
}

struct Builder<'a> {
    sections: &'a [Section],
    currency: &'static str,
}

impl Builder<'_> {
    fn resource(&self, section: &Section) -> ResourceDoc {
        let resource = &section.resource;
        let key = resource.key();
        let mut fields = IndexMap::new();
        if resource.display().is_none() {
            // People have to call a record somehow: by a code.
            let letters: String =
                resource.idea.name.chars().filter(char::is_ascii_alphabetic).take(3).collect();
            let code = format!("{}-####", letters.to_uppercase());
            let doc = FieldDoc {
                kind: Some(TypeName::String),
                fake: Some(json!({ "provider": "code", "format": code })),
                description: Some(format!("Number of the {}", resource.label())),
                ..FieldDoc::default()
            };
            fields.insert(key.clone(), doc);
        }
        for parent in self.parents(resource) {
            let said = parent.label();
            let doc = FieldDoc {
                reference: Some(parent.idea.name.clone()),
                description: Some(format!("Id of the {said}")),
                ask: vec![format!("Which {said} does {{it}} belong to?")],
                say: vec![format!("{{it}} belongs to {{value}}.")],
                ..FieldDoc::default()
            };
            fields.insert(parent.key(), doc);
        }
        for field in &resource.fields {
            fields.insert(field.name.clone(), self.field(resource, field));
        }
        let display = resource.display().map(|field| field.name.clone());
        let titled = display.clone().filter(|_| resource.titles.len() > 1);
        let records = match titled {
            Some(name) => RecordsDoc::Given(
                resource.titles.iter().map(|title| IndexMap::from([(name.clone(), json!(title))])).collect(),
            ),
            None => RecordsDoc::Count(resource.idea.records),
        };
        let description = Some(resource.idea.description.clone());
        ResourceDoc { key, display, description, fields, records, ..ResourceDoc::default() }
    }

    fn named(&self, name: &str) -> Option<&ResourceDraft> {
        self.sections.iter().map(|section| &section.resource).find(|resource| resource.idea.name == name)
    }

    /// The resources that a record belongs to.
    fn parents<'s>(&'s self, resource: &'s ResourceDraft) -> impl Iterator<Item = &'s ResourceDraft> {
        resource.belongs_to.iter().filter_map(move |name| self.named(name))
    }

    fn field(&self, resource: &ResourceDraft, field: &FieldDraft) -> FieldDoc {
        let said = field.label();
        let mut doc = FieldDoc {
            description: Some(format!("{} of the {}", capitalised(&said), resource.label())),
            ask: vec![format!("What is the {said} of {{it}}?")],
            say: vec![format!("The {said} of {{it}} is {{value}}.")],
            ..FieldDoc::default()
        };
        match &field.kind {
            FieldKind::Person => doc.fake = Some(json!("person_name")),
            FieldKind::Phone => doc.format = text("phone"),
            FieldKind::Email => doc.format = text("email"),
            FieldKind::City => doc.fake = Some(json!("city")),
            FieldKind::Text => {
                (doc.free_text, doc.optional, doc.fake) = (true, true, Some(json!("sentence")));
                (doc.ask, doc.say) = (Vec::new(), Vec::new());
            }
            FieldKind::Title => {}
            FieldKind::Number => {
                (doc.min, doc.max) = (Some(json!(0)), Some(json!(10_000)));
                doc.fake = Some(json!({ "provider": "integer", "min": 1, "max": 200 }));
            }
            FieldKind::Money => {
                doc.currency = text(self.currency);
                doc.min = Some(json!(0));
            }
            FieldKind::Moment => doc.fake = Some(moments("-10d", "+20d")),
            FieldKind::Date => doc.fake = Some(json!({ "provider": "date", "from": "-30d", "to": "+60d" })),
            FieldKind::Time => {
                doc.fake = Some(json!({ "provider": "time", "from": "07:00", "to": "20:00", "step": "30m" }))
            }
            FieldKind::YesNo => (doc.ask, doc.say) = (Vec::new(), Vec::new()),
            FieldKind::Choice(values) => doc.values.clone_from(values),
        }
        doc.kind = kind(&field.kind);
        doc.label = Some(said).filter(|said| *said != label(&field.name));
        if resource.display() == Some(field) {
            doc.unique = true;
            (doc.ask, doc.say) = (Vec::new(), Vec::new());
        }
        doc
    }

    fn apis(&self, section: &Section) -> Vec<ApiDoc> {
        let mut apis = vec![self.find(section), self.list(section)];
        let deeds = &section.deeds;
        if deeds.create {
            apis.push(self.create(section));
        }
        if !deeds.update.is_empty() {
            apis.push(update(section));
        }
        apis.extend(deeds.changes.iter().map(|change| changing(section, change)));
        if deeds.delete {
            apis.push(delete(section));
        }
        apis.extend(deeds.count_by.iter().map(|by| count(section, by)));
        apis
    }

    /// By name where records have one, else by key.
    fn find(&self, section: &Section) -> ApiDoc {
        let (resource, said) = (&section.resource, section.resource.label());
        let shown: Vec<String> = self.parents(resource).map(ResourceDraft::label).collect();
        let also = if shown.is_empty() {
            String::new()
        } else {
            format!(", with the ids of its {}", shown.join(" and "))
        };
        let of = Some(resource.idea.name.clone());
        let ([called, does, asked], at, by, (name, doc), behaviour) = match resource.display() {
            Some(FieldDraft { name, .. }) => (
                ["Find", "Finds", "look up"],
                "by-name".to_owned(),
                label(name),
                (name.clone(), like(resource, name)),
                BehaviourDoc {
                    lookup: of,
                    by: IndexMap::from([(name.clone(), name.clone())]),
                    ..BehaviourDoc::default()
                },
            ),
            None => (
                ["Get", "Shows", "show"],
                format!("{{{}}}", resource.key()),
                "its number".to_owned(),
                (resource.key(), reference(resource)),
                BehaviourDoc { get: of, ..BehaviourDoc::default() },
            ),
        };
        ApiDoc {
            name: format!("{called}{}", pascal(&resource.idea.name)),
            method: Method::Get,
            path: format!("/{}/{at}", segment(resource)),
            description: format!("{does} {} {said} by {by}{also}.", article(&said)),
            parameters: IndexMap::from([(name.clone(), doc)]),
            behaviour,
            phrases: PhrasesDoc {
                imperative: vec![format!("{asked} the {said} {{{name}}}")],
                request: vec![format!("What do you have on the {said} {{{name}}}?")],
                search: vec![format!("look up a {said}")],
                ..PhrasesDoc::default()
            },
            ..ApiDoc::default()
        }
    }

    fn list(&self, section: &Section) -> ApiDoc {
        let resource = &section.resource;
        let many = plural(&resource.label());
        let mut parameters = IndexMap::new();
        let mut filters = IndexMap::new();
        let mut noun = many.clone();
        let mut by = Vec::new();
        for name in &section.deeds.list_by {
            if let Some(parent) = self.named(name).filter(|_| resource.belongs_to.contains(name)) {
                let key = parent.key();
                let doc = FieldDoc { optional: true, ..reference(parent) };
                parameters.insert(key.clone(), doc);
                filters.insert(key.clone(), FilterDoc::Field(key.clone()));
                noun.push_str(&format!("[ of the {} {{{key}}}]", parent.label()));
                by.push(parent.label());
                continue;
            }
            let Some(field) = resource.fields.iter().find(|field| field.name == *name) else { continue };
            let (parameter, filter, phrase) = filter(resource, field);
            // The list's own parameter has this name.
            if parameter == PAGE {
                continue;
            }
            let description = matches!(filter, FilterDoc::Compare(_)).then(|| filter_words(field));
            let doc = match field.kind {
                FieldKind::Moment => FieldDoc { kind: Some(TypeName::Date), ..FieldDoc::default() },
                _ => like(resource, name),
            };
            parameters.insert(parameter.clone(), FieldDoc { optional: true, description, ..doc });
            filters.insert(parameter, filter);
            noun.push_str(&phrase);
            by.push(field.label());
        }
        let page = FieldDoc {
            kind: Some(TypeName::Integer),
            min: Some(json!(1)),
            default: Some(json!(1)),
            description: text("Page number from 1"),
            ..FieldDoc::default()
        };
        parameters.insert(PAGE.to_owned(), page);
        let by = if by.is_empty() { String::new() } else { format!(", if wanted by {}", by.join(", ")) };
        ApiDoc {
            name: format!("List{}", pascal(&many)),
            method: Method::Get,
            path: format!("/{}", segment(resource)),
            description: format!("Lists {many}{by}."),
            parameters,
            behaviour: BehaviourDoc {
                list: Some(resource.idea.name.clone()),
                filters,
                page: Some(PageDoc { style: PageStyle::Page, size: Some(20), ..PageDoc::default() }),
                ..BehaviourDoc::default()
            },
            phrases: PhrasesDoc {
                noun: vec![noun],
                search: vec![format!("see all {many}")],
                ..PhrasesDoc::default()
            },
            // Pages of records are counted under this name.
            reply: ReplyDoc {
                items: (member(&many) == "pages").then(|| "items".to_owned()),
                ..ReplyDoc::default()
            },
            ..ApiDoc::default()
        }
    }

    fn create(&self, section: &Section) -> ApiDoc {
        let (resource, said) = (&section.resource, section.resource.label());
        let mut parameters = IndexMap::new();
        let mut parts = Vec::new();
        for parent in self.parents(resource) {
            parameters.insert(parent.key(), reference(parent));
            parts.push(format!("for the {} {{{}}}", parent.label(), parent.key()));
        }
        let mut set = IndexMap::new();
        for field in &resource.fields {
            // A new record starts with the first value of a choice that verbs move.
            let moved = section.deeds.changes.iter().find(|change| change.field == field.name);
            if let Some(change) = moved {
                set.insert(field.name.clone(), format!("'{}'", change.from));
                continue;
            }
            let mut doc = like(resource, &field.name);
            let optional = matches!(field.kind, FieldKind::Text);
            doc.optional = optional;
            match field.kind {
                FieldKind::Moment => doc.fake = Some(moments("+1d", "+24d")),
                FieldKind::Date => {
                    doc.fake = Some(json!({ "provider": "date", "from": "+1d", "to": "+60d" }))
                }
                _ => {}
            }
            parameters.insert(field.name.clone(), doc);
            let part = said_of(field);
            parts.push(if optional { format!("[, {part}]") } else { part });
        }
        let sentence = joined(&parts);
        let gap = if sentence.starts_with("for ") {
            " "
        } else if sentence.starts_with('[') {
            ""
        } else {
            ", "
        };
        let requires = section.rules.iter().filter(|rule| !rule.on_delete).map(require).collect();
        ApiDoc {
            name: format!("Create{}", pascal(&resource.idea.name)),
            method: Method::Post,
            path: format!("/{}", segment(resource)),
            description: format!("Makes a new {said}{}.", refusals(&section.rules, false)),
            parameters,
            behaviour: BehaviourDoc {
                create: Some(resource.idea.name.clone()),
                set,
                require: requires,
                ..BehaviourDoc::default()
            },
            phrases: PhrasesDoc {
                imperative: vec![format!("add a new {said}{gap}{sentence}")],
                search: vec![format!("add a {said}")],
                ..PhrasesDoc::default()
            },
            ..ApiDoc::default()
        }
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn moments(from: &str, to: &str) -> Json {
    json!({ "provider": "date_time", "from": from, "to": to, "hours": ["08:00", "18:00"], "step": "30m" })
}

const fn kind(kind: &FieldKind) -> Option<TypeName> {
    Some(match kind {
        FieldKind::Number => TypeName::Integer,
        FieldKind::Money => TypeName::Decimal,
        FieldKind::Date => TypeName::Date,
        FieldKind::Time => TypeName::Time,
        FieldKind::Moment => TypeName::DateTime,
        FieldKind::YesNo => TypeName::Boolean,
        FieldKind::Choice(_) => return None,
        _ => TypeName::String,
    })
}

/// A name in the style of APIs: `berth_booking` is `BerthBooking`.
fn pascal(name: &str) -> String {
    camel(&name.split(['_', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>())
}

fn segment(resource: &ResourceDraft) -> String {
    plural(&resource.label()).replace(' ', "-").to_lowercase()
}

fn like(resource: &ResourceDraft, field: &str) -> FieldDoc {
    FieldDoc { like: Some(format!("{}.{field}", resource.idea.name)), ..FieldDoc::default() }
}

fn reference(resource: &ResourceDraft) -> FieldDoc {
    FieldDoc {
        reference: Some(resource.idea.name.clone()),
        description: Some(format!("Id of the {}", resource.label())),
        ..FieldDoc::default()
    }
}

/// What a list parameter is called, does, and how people say it.
fn filter(resource: &ResourceDraft, field: &FieldDraft) -> (String, FilterDoc, String) {
    let (name, said) = (&field.name, field.label());
    let compare = |op| FilterDoc::Compare(CompareDoc { field: name.clone(), op });
    let free = |wanted: String| {
        let taken = resource.fields.iter().any(|field| field.name == wanted);
        if taken { format!("{wanted}_limit") } else { wanted }
    };
    match field.kind {
        FieldKind::Money | FieldKind::Number => {
            let parameter = free(format!("max_{name}"));
            let phrase = format!("[ with a {said} of at most {{{parameter}}}]");
            (parameter, compare(Comparison::LessOrEqual), phrase)
        }
        FieldKind::Moment => {
            let parameter = free(format!("{name}_day"));
            let phrase = format!("[ whose {said} is {{{parameter}}}]");
            (parameter, compare(Comparison::On), phrase)
        }
        _ => {
            let phrase = match field.kind {
                FieldKind::Date => format!("[ whose {said} is {{{name}}}]"),
                FieldKind::City => format!("[ in {{{name}}}]"),
                _ => format!("[ with the {said} {{{name}}}]"),
            };
            (name.clone(), FilterDoc::Field(name.clone()), phrase)
        }
    }
}

fn filter_words(field: &FieldDraft) -> String {
    let said = field.label();
    match field.kind {
        FieldKind::Moment => format!("Day of the {said}"),
        _ => format!("Highest {said}"),
    }
}

/// How people give the value of a field.
fn said_of(field: &FieldDraft) -> String {
    let said = field.label();
    match field.kind {
        FieldKind::Text => format!("{said} \"{{{}}}\"", field.name),
        _ => format!("{said} {{{}}}", field.name),
    }
}

/// Parts with commas between them, those in brackets with their own.
fn joined(parts: &[String]) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() && !part.starts_with('[') {
            out.push_str(", ");
        }
        out.push_str(part);
    }
    out
}

fn require(rule: &Rule) -> RequireDoc {
    RequireDoc {
        that: rule.that.clone(),
        otherwise: RefusalDoc { status: rule.status, message: rule.message.clone() },
    }
}

fn refusals(rules: &[Rule], on_delete: bool) -> String {
    let told: Vec<&str> =
        rules.iter().filter(|rule| rule.on_delete == on_delete).map(|rule| rule.refuses.as_str()).collect();
    if told.is_empty() { String::new() } else { format!("; refuses {}", told.join(", and ")) }
}

fn update(section: &Section) -> ApiDoc {
    let (resource, said) = (&section.resource, section.resource.label());
    let key = resource.key();
    let mut parameters = IndexMap::from([(key.clone(), reference(resource))]);
    let mut phrase = format!("change the {said} {{{key}}}");
    let mut what = Vec::new();
    for name in &section.deeds.update {
        let Some(field) = resource.fields.iter().find(|field| field.name == *name) else { continue };
        parameters.insert(name.clone(), FieldDoc { optional: true, ..like(resource, name) });
        phrase.push_str(&format!("[, new {}]", said_of(field)));
        what.push(field.label());
    }
    ApiDoc {
        name: format!("Update{}", pascal(&resource.idea.name)),
        method: Method::Patch,
        path: format!("/{}/{{{key}}}", segment(resource)),
        description: format!("Changes what is given of {} {said}: {}.", article(&said), what.join(", ")),
        parameters,
        behaviour: BehaviourDoc { patch: Some(resource.idea.name.clone()), ..BehaviourDoc::default() },
        phrases: PhrasesDoc {
            imperative: vec![phrase],
            search: vec![format!("change a {said}")],
            ..PhrasesDoc::default()
        },
        ..ApiDoc::default()
    }
}

fn changing(section: &Section, change: &Change) -> ApiDoc {
    let (resource, said) = (&section.resource, section.resource.label());
    let (key, Change { verb, field, from, to }) = (resource.key(), change);
    let (from_said, to_said) = (from.replace('_', " "), to.replace('_', " "));
    let check = RequireDoc {
        that: format!("record.{field} == '{from}'"),
        otherwise: RefusalDoc { status: 409, message: format!("the {said} is not {from_said}") },
    };
    let effect = EffectDoc {
        update: Some(resource.idea.name.clone()),
        key: Some(format!("args.{key}")),
        set: IndexMap::from([(field.clone(), format!("'{to}'"))]),
        ..EffectDoc::default()
    };
    ApiDoc {
        name: format!("{}{}", camel(&[verb]), pascal(&resource.idea.name)),
        method: Method::Post,
        path: format!("/{}/{{{key}}}/{verb}", segment(resource)),
        description: format!(
            "Sets the {} of {} {said} from {from_said} to {to_said}; refuses any that is not {from_said}.",
            label(field),
            article(&said)
        ),
        parameters: IndexMap::from([(key.clone(), reference(resource))]),
        behaviour: BehaviourDoc {
            action: Some(resource.idea.name.clone()),
            require: vec![check],
            also: vec![effect],
            ..BehaviourDoc::default()
        },
        phrases: PhrasesDoc {
            imperative: vec![format!("{verb} the {said} {{{key}}}")],
            search: vec![format!("{verb} a {said}")],
            ..PhrasesDoc::default()
        },
        ..ApiDoc::default()
    }
}

fn delete(section: &Section) -> ApiDoc {
    let (resource, said) = (&section.resource, section.resource.label());
    let key = resource.key();
    ApiDoc {
        name: format!("Delete{}", pascal(&resource.idea.name)),
        method: Method::Delete,
        path: format!("/{}/{{{key}}}", segment(resource)),
        description: format!("Deletes {} {said}{}.", article(&said), refusals(&section.rules, true)),
        parameters: IndexMap::from([(key.clone(), reference(resource))]),
        behaviour: BehaviourDoc {
            delete: Some(resource.idea.name.clone()),
            require: section.rules.iter().filter(|rule| rule.on_delete).map(require).collect(),
            ..BehaviourDoc::default()
        },
        phrases: PhrasesDoc {
            imperative: vec![format!("delete the {said} {{{key}}}")],
            search: vec![format!("delete a {said}")],
            ..PhrasesDoc::default()
        },
        ..ApiDoc::default()
    }
}

fn count(section: &Section, by: &str) -> ApiDoc {
    let resource = &section.resource;
    let many = plural(&resource.label());
    let (parameter, said) = (by.to_owned(), label(by));
    let doc = FieldDoc { optional: true, ..like(resource, by) };
    ApiDoc {
        name: format!("Count{}", pascal(&many)),
        method: Method::Get,
        path: format!("/{}/count", segment(resource)),
        description: format!("Counts {many}, if wanted those with one {said}."),
        parameters: IndexMap::from([(parameter.clone(), doc)]),
        behaviour: BehaviourDoc {
            aggregate: Some(resource.idea.name.clone()),
            filters: IndexMap::from([(parameter.clone(), FilterDoc::Field(parameter.clone()))]),
            measures: IndexMap::from([("count".to_owned(), "count".to_owned())]),
            ..BehaviourDoc::default()
        },
        phrases: PhrasesDoc {
            noun: vec![format!("{many}[ with the {said} {{{parameter}}}]")],
            search: vec![format!("how many {many}")],
            ..PhrasesDoc::default()
        },
        ..ApiDoc::default()
    }
}
