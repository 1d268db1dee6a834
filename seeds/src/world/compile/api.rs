//! Owns the compilation of APIs: names, routes and parameters. Other files compile behaviour and reply.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::super::findings::Findings;
use super::field::{Types, synonyms};
use super::measures;
use super::path::{self, Piece};
use super::resource::default_label;
use super::{Names, Part, is_member_name, listed};
use crate::contract;
use crate::doc::{ApiDoc, FieldDoc, FilterDoc, StatesDoc};
use crate::expr::Scope;
use crate::model::{
    Api, Auth, Behaviour, Domain, DomainId, FieldId, Method, Parameter, ParameterId, Place, Resource,
    ResourceId,
};
use crate::schema::{KeyKind, Schema, Type};
use crate::value::{Str, Zone, nfc};
use diorama_format::path::Path;

/// Name of the search API that each session has besides the world's own.
const RESERVED_NAME: &str = "ToolSearcher";

/// Compiles the APIs of all domains.
pub(super) fn compile(
    parts: &[Part<'_>],
    names: &Names<'_>,
    domains: &[Domain],
    resources: &[Resource],
    secrets: &HashSet<(ResourceId, FieldId)>,
    zone: &Zone,
    findings: &mut Findings,
) -> Vec<Api> {
    let keys: Vec<KeyKind> = resources.iter().map(key_kind).collect();
    let docs = parts.iter().flat_map(|part| part.resources.values());
    let states: Vec<Option<&StatesDoc>> = docs.map(|doc| doc.states.as_ref()).collect();
    let mut apis = Vec::new();
    let mut seen: HashMap<&str, String> = HashMap::new();
    let mut routes: HashMap<(Method, String, String), &str> = HashMap::new();
    for (position, (part, domain)) in parts.iter().zip(domains).enumerate() {
        let here = part.path();
        let section = here.name("apis");
        let schemas = super::contract::schemas(part);
        for (i, doc) in part.apis.iter().enumerate() {
            let path = section.index(i);
            let id = DomainId(position as u16);
            check_name(&doc.name, &path, findings);
            if let Some(first) = seen.insert(&doc.name, path.to_string()) {
                error!(findings, path.name("name") =>
                    "found the API `{}` a second time, after {first}", doc.name;
                    "give every API of the world its own name");
            }
            let types = Types { names, domain: id, zone, keys: &keys, resources: Some(resources) };
            let shared = DomainContext {
                names,
                resources,
                secrets,
                zone,
                domain: id,
                auth: domain.auth.as_ref(),
                states: &states,
                part,
            };
            let mut api = api(doc, &path, &types, &shared, findings);
            api.security = super::security::needs(doc, domain, &path, findings);
            api.errors = super::errors::schemas(doc, &path, findings);
            for parameter in &mut api.parameters {
                // The `name` of a body is not the key of the same name in a path.
                let is_own = parameter.place == Place::Body
                    && contract::key_name(&parameter.name).is_none_or(|(stem, _)| stem.is_empty());
                parameter.told = !is_own && domain.list_told().any(|(name, _)| *name == parameter.name);
            }
            api.contract = super::contract::contract(doc, &api.parameters, &schemas, &path, findings);
            super::casing::apply(domain.casing, &mut api, &path, findings);
            if path::segments(&doc.path).is_some() {
                let shape = path::shape(&domain.base_path, &doc.path);
                let route = (api.method, shape, path::choice(&doc.chosen_by));
                if let Some(other) = routes.insert(route, &doc.name) {
                    error!(findings, path.name("path") =>
                        "found the route {} {}, which cannot be told from that of `{other}`", doc.method, doc.path;
                        "change a literal segment or the method, or give the domains base paths");
                }
            }
            apis.push(api);
        }
    }
    apis
}

/// The context that all APIs of a domain share.
pub(super) struct DomainContext<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) resources: &'a [Resource],
    pub(super) secrets: &'a HashSet<(ResourceId, FieldId)>,
    pub(super) zone: &'a Zone,
    pub(super) domain: DomainId,
    pub(super) auth: Option<&'a Auth>,
    /// States of each resource.
    pub(super) states: &'a [Option<&'a StatesDoc>],
    /// The part of the document that describes the domain.
    pub(super) part: &'a Part<'a>,
}

/// An API during its compilation.
pub(super) struct Builder<'a> {
    pub(super) shared: &'a DomainContext<'a>,
    pub(super) doc: &'a ApiDoc,
    pub(super) path: Path<'a>,
    pub(super) parameters: &'a [Parameter],
    pub(super) scope: Scope<'a>,
    pub(super) findings: &'a mut Findings,
}

fn check_name(name: &str, path: &Path<'_>, findings: &mut Findings) {
    let good = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !good {
        error!(findings, path.name("name") =>
            "found the API name `{name}`, expected 1 to 64 letters, digits, `_` and `-`";
            "write it like `BookAppointment`; tool-calling models take no other characters");
    }
    if name == RESERVED_NAME {
        error!(findings, path.name("name") =>
            "found the name `{RESERVED_NAME}`, which every session has already";
            "choose another name");
    }
}

fn api(
    doc: &ApiDoc,
    path: &Path<'_>,
    types: &Types<'_>,
    shared: &DomainContext<'_>,
    findings: &mut Findings,
) -> Api {
    let method = doc.method;
    let in_path = path_parameters(doc, path, findings);
    let needs_token = doc.auth || doc.behaviour.sign_out;
    if (needs_token || doc.behaviour.sign_in) && shared.auth.is_none() {
        error!(findings, path.name(if doc.auth { "auth" } else { "behaviour" }) =>
            "found an API of signed-in users in a domain without sign-in";
            "add `auth: {{user, login, secret}}` to the domain");
    }
    let mut parameters = parameters(doc, method, &in_path, path, types, findings);
    let token = shared.auth.filter(|_| needs_token).map(|auth| token(auth, &mut parameters));
    guess_fields(doc, &mut parameters, shared);
    let mut scope = Scope::new(shared.resources, shared.domain, shared.zone).with_parameters(&parameters);
    scope.set_me(shared.auth.filter(|_| needs_token).map(|auth| auth.user));
    let mut builder = Builder { shared, doc, path: *path, parameters: &parameters, scope, findings };
    let (behaviour, shown) = builder.behaviour();
    let reply = builder.reply(&behaviour, &shown);
    let slots = builder.scope.slots();
    let measures = match &doc.measures {
        Some(measures) => measures.clone(),
        None => measures::tell_units(&doc.description, &behaviour.kind, &reply, shared.resources),
    };
    Api {
        name: nfc(&doc.name),
        source_api: doc.source_api.as_deref().map(nfc),
        domain: shared.domain,
        method,
        path: nfc(&doc.path),
        chosen_by: doc.chosen_by.iter().map(|(name, value)| (nfc(name), nfc(value))).collect(),
        description: nfc(&doc.description),
        measures: nfc(&measures),
        search: doc.phrases.search.iter().map(|phrase| nfc(phrase)).collect(),
        parameters,
        token,
        errors: Vec::new(),
        security: Vec::new(),
        contract: None,
        behaviour,
        reply,
        slots,
    }
}

/// Returns the parameters that the path names.
fn path_parameters<'d>(doc: &'d ApiDoc, path: &Path<'_>, findings: &mut Findings) -> Vec<&'d str> {
    let here = path.name("path");
    let Some(segments) = path::segments(&doc.path) else {
        error!(findings, here =>
            "found the path `{}`, expected `/` and segments of text and `{{parameter}}`s, with text between two", doc.path;
            "write it like `/appointments/{{appointment_id}}/cancel`");
        return Vec::new();
    };
    let mut names = Vec::new();
    for piece in segments.into_iter().flatten() {
        let Piece::Parameter(name) = piece else { continue };
        if names.contains(&name) {
            findings.error(here, format!("found `{{{name}}}` twice"), "name each parameter once");
        } else if !doc.parameters.contains_key(name) {
            error!(findings, here =>
                "found `{{{name}}}`, expected one of the parameters: {}", listed(doc.parameters.keys().map(String::as_str));
                "add `{name}` to `parameters`, or mend the path");
        }
        names.push(name);
    }
    names
}

fn parameters(
    doc: &ApiDoc,
    method: Method,
    in_path: &[&str],
    path: &Path<'_>,
    types: &Types<'_>,
    findings: &mut Findings,
) -> Vec<Parameter> {
    let section = path.name("parameters");
    let mut parameters = Vec::with_capacity(doc.parameters.len() + 1);
    for (name, field) in &doc.parameters {
        let here = section.name(name);
        if !is_member_name(name) {
            error!(findings, here => "found the parameter name `{name}`";
                "use letters, digits, `_`, `-` and `.`");
        }
        let place = place(field, name, method, in_path, &here, findings);
        parameters.push(parameter(field, name, place, types, &here, findings));
    }
    parameters
}

fn place(
    field: &FieldDoc,
    name: &str,
    method: Method,
    in_path: &[&str],
    here: &Path<'_>,
    findings: &mut Findings,
) -> Place {
    let named = in_path.contains(&name);
    let by_default = if named {
        Place::Path
    } else if matches!(method, Method::Post | Method::Put | Method::Patch | Method::Query) {
        Place::Body
    } else {
        Place::Query
    };
    let place = field.place.unwrap_or(by_default);
    if (place == Place::Path) != named {
        let (message, fix) = if named {
            ("found a place other than the path for a parameter that the path names", "remove `in`")
        } else {
            (
                "found `in: path` for a parameter that the path does not name",
                "add it to the path in braces, or change `in`",
            )
        };
        findings.error(here.name("in"), message, fix);
    }
    if place == Place::Path && (field.optional || field.default.is_some() || field.nullable) {
        error!(findings, here => "found a path parameter that may be left out";
            "remove `optional`, `default` and `nullable`");
    }
    place
}

fn parameter(
    doc: &FieldDoc,
    name: &str,
    place: Place,
    types: &Types<'_>,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Parameter {
    let schema = types.schema(doc, path, findings);
    // The schema has already reported an unknown `like`.
    let like = doc.like.as_ref().and_then(|like| types.like(like, path, &mut Findings::default()));
    let field = like.and_then(|(resource, field)| Some(types.resources?.get(resource.index())?.field(field)));
    let only_in_fields = [
        ("unique", doc.unique),
        ("generated", doc.generated),
        ("on_delete", doc.on_delete.is_some()),
        ("private", doc.private),
        ("fake", doc.fake.is_some()),
        ("ask", !doc.ask.is_empty()),
        ("say", !doc.say.is_empty()),
    ];
    for (key, _) in only_in_fields.into_iter().filter(|(_, given)| *given) {
        error!(findings, path.name(key) => "found `{key}` in a parameter";
            "it belongs to a field; remove it");
    }
    let own = synonyms(doc, &schema, path, findings);
    let default = types.default(doc, &schema, path, findings);
    let text = |own: &Option<String>, taken: Option<&Str>| match own {
        Some(own) => nfc(own),
        None => taken.cloned().unwrap_or_else(|| Str::from("")),
    };
    let label = match (&doc.label, field) {
        (Some(label), _) => nfc(label),
        (None, Some(field)) if *field.name == *name => field.label.clone(),
        _ => nfc(&default_label(name, &schema)),
    };
    Parameter {
        name: nfc(name),
        required: !doc.optional && default.is_none(),
        default,
        told: false,
        sent_as: doc.sent_as.as_deref().map(nfc),
        separator: doc.separator,
        hidden: doc.hidden && (doc.optional || doc.default.is_some()),
        place,
        description: text(&doc.description, field.map(|field| &field.description)),
        label,
        free_text: doc.free_text || field.is_some_and(|field| field.free_text),
        field: like,
        synonyms: if own.is_empty() { kept_synonyms(field, &schema) } else { own },
        schema,
    }
}

/// Returns the synonyms from `like` for the values that the parameter has.
fn kept_synonyms(field: Option<&crate::model::Field>, schema: &Schema) -> IndexMap<Str, Vec<Str>> {
    let Some(field) = field else { return IndexMap::new() };
    let known: HashSet<&Str> = match &schema.kind {
        Type::Enum(values) => values.iter().collect(),
        _ => HashSet::new(),
    };
    let kept = |value: &Str| match &schema.kind {
        Type::Enum(_) => known.contains(value),
        _ => true,
    };
    field
        .synonyms
        .iter()
        .filter(|(value, _)| kept(value))
        .map(|(value, words)| (value.clone(), words.clone()))
        .collect()
}

/// Returns the parameter that carries the token: the one with this name, or a new one at the end.
fn token(auth: &Auth, parameters: &mut Vec<Parameter>) -> ParameterId {
    if let Some(declared) = parameters.iter().position(|parameter| parameter.name == auth.parameter) {
        return ParameterId(declared as u16);
    }
    parameters.push(Parameter {
        name: auth.parameter.clone(),
        schema: Schema::of(Type::String),
        required: true,
        default: None,
        told: false,
        sent_as: None,
        separator: None,
        hidden: false,
        place: Place::Header,
        description: Str::from("Token from signing in"),
        label: Str::from("token"),
        free_text: false,
        field: None,
        synonyms: IndexMap::new(),
    });
    ParameterId((parameters.len() - 1) as u16)
}

/// Finds the field that a parameter represents if `like` does not name it: by its filter, its name, or its
/// reference.
fn guess_fields(doc: &ApiDoc, parameters: &mut [Parameter], shared: &DomainContext<'_>) {
    let behaviour = &doc.behaviour;
    let named = behaviour.resource().or(behaviour.aggregate.as_ref()).map(String::as_str);
    let members = [&behaviour.members, &behaviour.add_members, &behaviour.remove_members];
    let holder =
        members.into_iter().flatten().next().and_then(|path| path.split_once('.')).map(|(name, _)| name);
    let about = named.or(holder).and_then(|name| shared.names.resource(shared.domain, name));
    for parameter in parameters.iter_mut().filter(|parameter| parameter.field.is_none()) {
        let of_about = |name: &str| {
            let resource = about?;
            let fields = shared.resources.get(resource.index())?;
            // A member in another case is the same field: `FriendlyName` and `friendly_name`.
            let same = || {
                fields.fields.iter().position(|field| contract::plain(&field.name) == contract::plain(name))
            };
            let field = fields.field_named(name).or_else(|| same().map(|index| FieldId(index as u16)))?;
            Some((resource, field))
        };
        let filtered = match behaviour.filters.get(&*parameter.name) {
            Some(FilterDoc::Field(field)) => of_about(field),
            Some(FilterDoc::Compare(compare)) => of_about(&compare.field),
            _ => None,
        };
        let sought = behaviour
            .by
            .iter()
            .find(|(_, name)| ***name == *parameter.name)
            .and_then(|(field, _)| of_about(field));
        let target = match &parameter.schema.kind {
            Type::Reference { resource, .. } => Some((*resource, shared.resources[resource.index()].key)),
            _ => None,
        };
        parameter.field = filtered.or(sought).or_else(|| of_about(&parameter.name)).or(target);
    }
}

pub(super) fn key_kind(resource: &Resource) -> KeyKind {
    match resource.field(resource.key).schema.kind {
        Type::String | Type::Enum(_) | Type::Reference { key: KeyKind::String, .. } => KeyKind::String,
        _ => KeyKind::Integer,
    }
}

impl<'a> Builder<'a> {
    pub(super) fn resource(&self, id: ResourceId) -> &'a Resource {
        &self.shared.resources[id.index()]
    }

    /// Returns the resource with this name, or reports a finding.
    pub(super) fn find_resource(&mut self, name: &str, path: &Path<'_>) -> Option<ResourceId> {
        let found = self.shared.names.resource(self.shared.domain, name);
        if found.is_none() {
            let known = self.shared.names.known(self.shared.domain);
            error!(self.findings, path => "found the resource `{name}`, expected one of {known}";
                "name a resource of this domain");
        }
        found
    }

    /// Returns the field with this name, or reports a finding.
    pub(super) fn find_field(
        &mut self,
        resource: ResourceId,
        name: &str,
        path: &Path<'_>,
    ) -> Option<FieldId> {
        let of = self.resource(resource);
        let found = of.field_named(name);
        if found.is_none() {
            let known = listed(of.fields.iter().map(|field| &*field.name));
            error!(self.findings, path => "found `{name}`, expected a field of `{}`: {known}", of.name;
                "name one of these fields");
        }
        found
    }

    /// Returns the parameter with this name, or reports a finding.
    pub(super) fn find_parameter(&mut self, name: &str, path: &Path<'_>) -> Option<ParameterId> {
        let found = self.parameter_named(name);
        if found.is_none() {
            let known = listed(self.parameters.iter().map(|parameter| &*parameter.name));
            error!(self.findings, path => "found `{name}`, expected one of the parameters: {known}";
                "add `{name}` to `parameters`, or name another");
        }
        found
    }

    pub(super) fn parameter_named(&self, name: &str) -> Option<ParameterId> {
        self.parameters
            .iter()
            .position(|parameter| &*parameter.name == name)
            .map(|index| ParameterId(index as u16))
    }

    pub(super) fn parameter(&self, id: ParameterId) -> &'a Parameter {
        &self.parameters[id.index()]
    }
}

/// Returns a placeholder for a behaviour with errors.
pub(super) fn nothing() -> Behaviour {
    Behaviour {
        kind: crate::model::BehaviourKind::Action { target: None },
        bindings: Vec::new(),
        require: Vec::new(),
        rules: Vec::new(),
        replaced: Vec::new(),
        misreadings: Vec::new(),
        confirms: Vec::new(),
        also: Vec::new(),
        keep: None,
        upsert: false,
        each: None,
    }
}
