//! Owns the compilation of a document into the checked model: it resolves names, checks types and
//! expressions, and types records.
//!
//! It continues after an error, so that one pass finds many. It generates no data: a source world compiles
//! with empty record lists.

mod api;
mod behaviour;
mod casing;
mod contract;
mod defines;
mod effects;
mod errors;
mod expressions;
mod field;
mod house;
mod measures;
mod misread;
mod options;
pub mod path;
mod query;
mod records;
mod reply;
mod resource;
mod security;
mod states;

use std::collections::{HashMap, HashSet};

use super::canonical;
use super::findings::Findings;
use super::part::Part;
use crate::doc::{DomainHead, GivenDoc, WORLD_VERSION, WorldDoc};
use crate::english::capitalised;
use crate::model::{Auth, Domain, DomainId, FieldId, Resource, ResourceId, StartValue, World};
use crate::naming;
use crate::schema::Type;
use crate::value::{Instant, Str, Value, Zone, nfc};
use diorama_format::Report;
use diorama_format::path::Path;
use serde_json::Value as Json;

/// Maximum number of resources, APIs, fields or parameters, because positions have 16 bits.
const MAX_POSITIONS: usize = u16::MAX as usize;

/// Names of resources, by domain.
#[derive(Default)]
pub(super) struct Names<'d> {
    ids: HashMap<(DomainId, &'d str), ResourceId>,
}

impl Names<'_> {
    pub(super) fn resource(&self, domain: DomainId, name: &str) -> Option<ResourceId> {
        self.ids.get(&(domain, name)).copied()
    }

    /// Returns the resources of a domain, for messages.
    pub(super) fn known(&self, domain: DomainId) -> String {
        let mut ids: Vec<(ResourceId, &str)> = self
            .ids
            .iter()
            .filter(|((of, _), _)| *of == domain)
            .map(|((_, name), id)| (*id, *name))
            .collect();
        ids.sort_unstable();
        listed(ids.into_iter().map(|(_, name)| name))
    }
}

/// Checks a document, and makes the model that runs.
///
/// # Errors
/// Returns a report with all errors, named after the world. [`Report::located`] adds line numbers.
pub fn compile(doc: &WorldDoc) -> Result<World, Report> {
    compile_whole(&doc.without_private())
}

/// Compiles like [`compile`], with private fields, for the generation of records.
///
/// # Errors
/// Returns the errors of [`compile`].
pub(crate) fn compile_whole(doc: &WorldDoc) -> Result<World, Report> {
    let mut findings = Findings::default();
    let world = compile_into(doc, &mut findings);
    match world {
        Some(mut world) if !findings.has_errors() => {
            if world.materialised {
                world.hash = Some(Str::from(canonical::hash(&canonical::canonical_json(doc, &world))));
            }
            Ok(world)
        }
        _ => Err(Report { name: doc.name.clone(), findings: findings.into_list() }),
    }
}

fn compile_into(doc: &WorldDoc, findings: &mut Findings) -> Option<World> {
    let root = Path::ROOT;
    if doc.world != WORLD_VERSION {
        let found = doc.world;
        error!(findings, root.name("world") =>
            "found world format version {found}; this program reads version {WORLD_VERSION}";
            "write the document in that version");
        return None;
    }
    check_identifier(findings, &root.name("name"), &doc.name);
    let zone = Zone::named(&doc.zone).unwrap_or_else(|| {
        error!(findings, root.name("zone") => "found `{}`, expected an IANA time zone", doc.zone;
            "write a name such as `Europe/Lisbon` or `UTC`");
        Zone::utc()
    });
    let clock = zone.parse_instant(&doc.clock).unwrap_or_else(|| {
        error!(findings, root.name("clock") => "found `{}`, expected a date-time", doc.clock;
            "write the moment the world starts at, such as `2026-03-02T09:00`");
        Instant(0)
    });
    let parts = Part::all(doc);
    if parts.is_empty() {
        error!(findings, root => "found no domain";
            "add `domain`, `resources` and `apis`, or a list of `domains`");
    }
    check_sizes(findings, &parts)?;
    let (mut domains, names) = declare(doc, &parts, findings);
    for (part, domain) in parts.iter().zip(&mut domains) {
        domain.house = house::compile(part, house::Moment { clock, zone: &zone }, findings);
    }
    let mut resources = resource::compile(doc, &parts, &names, &zone, findings);
    let sound = findings.errors();
    defines::check(&parts, &resources, &zone, findings);
    states::check(&parts, &resources, findings);
    for (position, (part, domain)) in parts.iter().zip(&mut domains).enumerate() {
        let resolver = Resolver { part, names: &names, id: DomainId(position as u16), resources: &resources };
        resolver.resolve_auth(domain, findings);
        resolver.resolve_given(domain, findings);
        domain.articles = resolver.find_articles(findings);
    }
    if findings.errors() > sound {
        // Findings about owners, APIs of signed-in users and uses of a name would repeat these findings.
        return None;
    }
    resource::check_owners(&parts, &domains, &resources, findings);
    let secrets: HashSet<(ResourceId, FieldId)> = domains
        .iter()
        .filter_map(|domain| domain.auth.as_ref())
        .map(|auth| (auth.user, auth.secret))
        .collect();
    let mut apis = api::compile(&parts, &names, &domains, &resources, &secrets, &zone, findings);
    if doc.materialised.is_some() {
        // The description that callers were shown stays unchanged.
        let docs = parts.iter().flat_map(|part| part.apis);
        let told = apis.iter_mut().zip(docs).filter(|(_, doc)| doc.measures.is_none());
        told.for_each(|(api, _)| api.measures = Str::from(""));
    }
    records::compile(doc, &parts, &zone, &mut resources, findings);
    Some(World {
        name: nfc(&doc.name),
        title: nfc(doc.title.as_deref().unwrap_or(&naming::label(&doc.name))),
        clock,
        zone,
        benchmark: doc.benchmark,
        materialised: doc.materialised.is_some(),
        domains,
        resources,
        apis,
        hash: None,
    })
}

/// Checks the number of parts before they are numbered, because positions have 16 bits.
fn check_sizes(findings: &mut Findings, parts: &[Part<'_>]) -> Option<()> {
    let resources: usize = parts.iter().map(|part| part.resources.len()).sum();
    let apis: usize = parts.iter().map(|part| part.apis.len()).sum();
    let widest = parts.iter().flat_map(|part| part.resources.values()).map(|doc| doc.fields.len() + 1).max();
    let parameters = parts.iter().flat_map(|part| part.apis).map(|api| api.parameters.len() + 1).max();
    let counts = [
        (parts.len(), "domains"),
        (resources, "resources"),
        (apis, "APIs"),
        (widest.unwrap_or(0), "fields of one resource"),
        (parameters.unwrap_or(0), "parameters of one API"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > MAX_POSITIONS) {
        error!(findings, Path::ROOT => "found {count} {what}, expected at most {MAX_POSITIONS}"; "split the world");
    }
    (!findings.has_errors() || counts.iter().all(|(count, _)| *count <= MAX_POSITIONS)).then_some(())
}

/// Numbers domains and resources, and checks their names. Sign-in is resolved later.
fn declare<'d>(doc: &WorldDoc, parts: &[Part<'d>], findings: &mut Findings) -> (Vec<Domain>, Names<'d>) {
    let mut domains: Vec<Domain> = Vec::with_capacity(parts.len());
    let mut names = Names::default();
    let mut next = 0;
    for (position, part) in parts.iter().enumerate() {
        let here = part.path();
        let (head_path, resources_path) = (here.name("domain"), here.name("resources"));
        let empty = DomainHead::default();
        let head = part.head.unwrap_or(&empty);
        let name = if part.head.is_none() { &doc.name } else { &head.name };
        if part.head.is_some() {
            check_identifier(findings, &head_path.name("name"), name);
        }
        if domains.iter().any(|other| *other.name == **name) {
            error!(findings, head_path.name("name") => "found the domain `{name}` twice";
                "give each domain its own name");
        }
        let base_path = head.base_path.as_str();
        let segments_ok =
            base_path.split('/').skip(1).all(|segment| !segment.is_empty() && path::is_literal(segment));
        if !(base_path.is_empty() || base_path.starts_with('/') && segments_ok) {
            error!(findings, head_path.name("base_path") =>
                "found `{base_path}`, expected a path of literal segments without a final slash";
                "write it like `/dental-clinic`");
        }
        for resource in part.resources.keys() {
            let id = ResourceId(next);
            next = next.saturating_add(1);
            names.ids.insert((DomainId(position as u16), resource), id);
            if !is_expression_name(resource) {
                error!(findings, resources_path.name(resource) =>
                    "found the resource name `{resource}`, expected letters, digits and `_`, and no word of the expression language";
                    "rename the resource");
            }
        }
        let title = head.title.clone().unwrap_or_else(|| capitalised(&naming::label(name)));
        domains.push(Domain {
            name: nfc(name),
            title: nfc(&title),
            description: nfc(head.description.as_deref().unwrap_or("")),
            sector: nfc(head.sector.as_deref().unwrap_or("")),
            base_path: nfc(base_path),
            casing: head.casing,
            users: None,
            auth: None,
            security: security::schemes(&head.security, &head_path.name("security"), findings),
            given: Vec::new(),
            house: Vec::new(),
            articles: None,
        });
    }
    (domains, names)
}

/// Resolves the references of a domain's head to its resources.
struct Resolver<'a> {
    part: &'a Part<'a>,
    names: &'a Names<'a>,
    id: DomainId,
    resources: &'a [Resource],
}

impl Resolver<'_> {
    /// Resolves the values that callers get at the start.
    fn resolve_given(&self, domain: &mut Domain, findings: &mut Findings) {
        let root = self.part.path();
        let head = root.name("domain");
        let path = head.name("given");
        for (name, doc) in self.part.head.iter().flat_map(|head| &head.given) {
            let given = match doc {
                GivenDoc::Value(Json::String(text)) => Some(StartValue::Value(Value::String(nfc(text)))),
                GivenDoc::Value(Json::Number(number)) => {
                    number.as_i64().map(|number| StartValue::Value(Value::Integer(number)))
                }
                GivenDoc::Value(_) => None,
                GivenDoc::FieldOf(place) => place.split_once('.').and_then(|(resource, field)| {
                    let resource = self.names.resource(self.id, resource)?;
                    let field = self.resources.get(resource.index())?.field_named(field)?;
                    Some(StartValue::FieldOf(resource, field))
                }),
            };
            match given {
                Some(given) => domain.given.push((nfc(&domain.casing.write(name)), given)),
                None => {
                    error!(findings, path.name(name) =>
                        "found neither a text, nor a whole number, nor a field of a resource";
                        "write `{{value: main}}` or `{{field_of: project.project_id}}`");
                }
            }
        }
    }

    /// Resolves the resource of the users, and their sign-in.
    fn resolve_auth(&self, domain: &mut Domain, findings: &mut Findings) {
        let root = self.part.path();
        let head = root.name("domain");
        if let Some(users) = self.part.head.and_then(|head| head.users.as_ref()) {
            domain.users = self.names.resource(self.id, users);
            if domain.users.is_none() {
                error!(findings, head.name("users") =>
                    "found the resource `{users}`, expected one of {}", self.names.known(self.id);
                    "name the resource of the people whom the service serves");
            }
        }
        let Some(auth) = self.part.head.and_then(|head| head.auth.as_ref()) else { return };
        let path = head.name("auth");
        let Some(user) = self.names.resource(self.id, &auth.user) else {
            error!(findings, path.name("user") =>
                "found the resource `{}`, expected one of {}", auth.user, self.names.known(self.id);
                "name the resource whose records are the users");
            return;
        };
        let resource = &self.resources[user.index()];
        let mut field = |key: &str, name: &str| {
            let found = resource.field_named(name);
            let text = found.is_some_and(|field| matches!(resource.field(field).schema.kind, Type::String));
            if !text {
                error!(findings, path.name(key) =>
                    "found `{name}`, expected a string field of `{}`", auth.user;
                    "name one of {}", listed(resource.fields.iter().map(|field| &*field.name)));
            }
            found
        };
        let (login, secret) = (field("login", &auth.login), field("secret", &auth.secret));
        if auth.parameter.is_empty() {
            error!(findings, path.name("parameter") => "found an empty name";
                "name the argument that carries the token");
        }
        if auth.expires_in_s == 0 {
            error!(findings, path.name("expires_in_s") => "found 0, expected at least 1";
                "say how long a token lasts");
        }
        domain.users = domain.users.or(Some(user));
        if let (Some(login), Some(secret)) = (login, secret) {
            domain.auth = Some(Auth {
                user,
                login,
                secret,
                parameter: nfc(&auth.parameter),
                expires_in_s: auth.expires_in_s,
            });
        }
    }
}

/// Checks a name of a world or domain, which occurs in file names and paths.
fn check_identifier(findings: &mut Findings, path: &Path<'_>, name: &str) {
    let good = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'));
    if !good {
        error!(findings, path =>
            "found the name `{name}`, expected 1 to 64 lower-case letters, digits, `_` and `-`, a letter first";
            "write it like `dental_clinic`");
    }
}

/// Returns true for a name that expressions can use: an identifier that is not reserved.
fn is_expression_name(name: &str) -> bool {
    const TAKEN: [&str; 10] = ["args", "record", "item", "me", "now", "today", "true", "false", "null", "in"];
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !TAKEN.contains(&name)
}

/// Returns true if fields and parameters may have this name. The rules are lax, because external documents
/// have unusual names.
pub fn is_member_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && !name.chars().any(|character| character.is_control() || "{}[]/\"".contains(character))
}

/// Returns true for a path that an API can have.
pub fn is_path(path: &str) -> bool {
    path::segments(path).is_some()
}

/// Returns `a, b and 3 more`, for messages.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.collect();
    match names.len() {
        0 => "none (there are none)".to_owned(),
        count if count > SHOWN + 1 => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}
