//! Search entries: APIs in the form that searches index.

use diorama_seeds::model::{Api, BehaviourKind, FieldId, Member, Method, ResourceId, Shape, Source, World};
use diorama_seeds::schema::Type;

use super::words::{split, words};

/// An API in the form that searches index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiEntry {
    /// The name of its world.
    pub world: String,
    /// Its name.
    pub api: String,
    /// The name of its domain.
    pub domain: String,
    /// The domain's title and description.
    pub domain_title: String,
    /// Its HTTP method.
    pub method: Option<Method>,
    /// True if a call changes records.
    pub writes: bool,
    /// Its description.
    pub description: String,
    /// Names and descriptions of its parameters.
    pub parameters: String,
    /// Phrases that people use for it.
    pub phrases: String,
    /// The inputs that users may not know.
    pub inputs: Vec<Port>,
    /// The values in a reply.
    pub outputs: Vec<Port>,
}

/// An input or an output of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// The kind of value. An output fits every input of the same kind.
    pub thing: String,
    /// True for an identifier, which users do not mention.
    pub hidden: bool,
}

impl Port {
    /// Makes a port from its name only. The words of the name become its kind.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let words: Vec<String> = words(name).collect();
        let hidden = words.last().is_some_and(|last| ["id", "key", "token", "code"].contains(&last.as_str()));
        Self { name: name.to_owned(), thing: words.join(" "), hidden }
    }
}

impl ApiEntry {
    /// Sorts entries by world and name, so that ties by position are ties by name. Also returns the original
    /// position of each.
    pub fn sorted(entries: Vec<Self>) -> (Vec<usize>, Vec<Self>) {
        let mut sorted: Vec<(usize, Self)> = entries.into_iter().enumerate().collect();
        sorted.sort_by(|(_, left), (_, right)| (&left.world, &left.api).cmp(&(&right.world, &right.api)));
        sorted.into_iter().unzip()
    }

    /// Returns the text for an embedder: the words of the name, the description and the domain.
    #[must_use]
    pub fn text(&self) -> String {
        let name: Vec<String> = spoken(&self.api);
        let description = self.description.trim_end_matches('.');
        [name.join(" "), description.to_owned(), spoken(&self.domain).join(" ")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(". ")
    }
}

/// Returns the words of a name in lower case.
fn spoken(name: &str) -> Vec<String> {
    split(name).map(str::to_lowercase).collect()
}

/// Returns the search entries of a world's APIs.
#[must_use]
pub fn entries(name: &str, world: &World) -> Vec<ApiEntry> {
    world.apis.iter().map(|api| entry(name, world, api)).collect()
}

fn entry(name: &str, world: &World, api: &Api) -> ApiEntry {
    let domain = world.domains.get(api.domain.index());
    let parameters: Vec<String> = api
        .parameters
        .iter()
        .map(|parameter| format!("{} {} {}", parameter.name, parameter.label, parameter.description))
        .collect();
    ApiEntry {
        world: name.to_owned(),
        api: api.name.to_string(),
        domain: domain.map(|domain| domain.name.to_string()).unwrap_or_default(),
        domain_title: domain
            .map(|domain| format!("{} {} {}", domain.title, domain.sector, domain.description))
            .unwrap_or_default(),
        method: Some(api.method),
        writes: api.writes(),
        description: api.description.to_string(),
        parameters: parameters.join(" "),
        phrases: api.search.join(", "),
        inputs: inputs(world, api),
        outputs: KeyCollector { world, ports: Vec::new() }.of(api),
    }
}

/// Returns the inputs that only another API can supply: record keys and tokens.
fn inputs(world: &World, api: &Api) -> Vec<Port> {
    let hidden = |name: &str, thing: String| Port { name: name.to_owned(), thing, hidden: true };
    let keys = api.parameters.iter().filter(|parameter| parameter.required).filter_map(|parameter| {
        let Type::Reference { resource, .. } = &parameter.schema.kind else { return None };
        Some(hidden(&parameter.name, key_of(world, *resource)))
    });
    let token = api.token.map(|_| hidden("token", token_of(world, api)));
    keys.chain(token).collect()
}

fn key_of(world: &World, resource: ResourceId) -> String {
    format!("{}/key", world.resource(resource).qualified)
}

fn token_of(world: &World, api: &Api) -> String {
    let domain = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.name);
    format!("{domain}/token")
}

/// Collects the keys in a reply.
struct KeyCollector<'a> {
    world: &'a World,
    ports: Vec<Port>,
}

impl KeyCollector<'_> {
    fn of(mut self, api: &Api) -> Vec<Port> {
        if let BehaviourKind::SignIn { .. } = &api.behaviour.kind {
            self.add("token", token_of(self.world, api));
        }
        if let Some(resource) = api.behaviour.kind.shown() {
            self.members(&api.reply.members, resource);
        }
        self.ports
    }

    fn add(&mut self, name: &str, thing: String) {
        if !self.ports.iter().any(|port| port.thing == thing) {
            self.ports.push(Port { name: name.to_owned(), thing, hidden: true });
        }
    }

    fn members(&mut self, members: &[Member], resource: ResourceId) {
        members.iter().for_each(|member| self.source(&member.name, &member.source, resource));
    }

    fn source(&mut self, name: &str, source: &Source, resource: ResourceId) {
        match source {
            Source::Field(field) => self.field(name, resource, *field),
            Source::Follow(_, target, shape) => self.shape(name, shape, *target),
            Source::Many(many) => self.shape(name, &many.shape, many.resource),
            Source::Object(members) => self.members(members, resource),
            Source::Expr(_) | Source::Value(_) => {}
        }
    }

    fn shape(&mut self, name: &str, shape: &Shape, resource: ResourceId) {
        match shape {
            Shape::Object(members) => self.members(members, resource),
            Shape::Bare(source) => self.source(name, source, resource),
        }
    }

    fn field(&mut self, name: &str, resource: ResourceId, field: FieldId) {
        let holder = self.world.resource(resource);
        if holder.key == field {
            self.add(name, key_of(self.world, resource));
        }
        if let Type::Reference { resource: target, .. } = &holder.field(field).schema.kind {
            self.add(name, key_of(self.world, *target));
        }
    }
}
