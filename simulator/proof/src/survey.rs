//! Analyses a world statically: the APIs that find, show and change records.
//!
//! It must not execute calls.

use diorama_seeds::model::{
    Api, ApiId, BehaviourKind, Comparison, DomainId, FilterTest, Parameter, ParameterId, Query, World,
};

/// The APIs that find, show and change records.
#[derive(Clone, Debug)]
pub struct Survey {
    /// For each resource, the APIs that return a record's key for its display name.
    pub finders: Vec<Vec<Finder>>,
    /// The APIs that change records.
    pub writers: Vec<ApiId>,
    /// For each domain, its sign-in API.
    pub sign_in: Vec<Option<ApiId>>,
}

/// A way to a record's key.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// The API to call.
    pub api: ApiId,
    /// The parameter that takes the display name; without one the caller searches the list for the record.
    pub by: Option<ParameterId>,
}

impl Finder {
    /// Returns the required parameters of its API beside the name and the token.
    pub fn needs<'a>(&self, api: &'a Api) -> impl Iterator<Item = &'a Parameter> {
        let parameters = api.parameters.iter().enumerate();
        let needed = parameters.filter(move |(index, parameter)| {
            let id = ParameterId(*index as u16);
            parameter.required && self.by != Some(id) && !api.is_filled(id)
        });
        needed.map(|(_, parameter)| parameter)
    }
}

impl Survey {
    /// Analyses a world.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let mut survey = Self {
            finders: vec![Vec::new(); world.resources.len()],
            writers: Vec::new(),
            sign_in: vec![None; world.domains.len()],
        };
        for (index, api) in world.apis.iter().enumerate() {
            survey.add(world, ApiId(index as u16), api);
        }
        survey
    }

    fn add(&mut self, world: &World, id: ApiId, api: &Api) {
        if api.writes() {
            self.writers.push(id);
        }
        match &api.behaviour.kind {
            BehaviourKind::Lookup { resource, by } => {
                if let [(field, parameter)] = by.as_slice()
                    && world.resource(*resource).display == Some(*field)
                {
                    self.finders[resource.index()].push(Finder { api: id, by: Some(*parameter) });
                }
            }
            BehaviourKind::List(query) => {
                let by = name_parameter(world, query);
                self.finders[query.resource.index()].push(Finder { api: id, by });
            }
            BehaviourKind::SignIn { .. } => self.sign_in[api.domain.index()] = Some(id),
            _ => {}
        }
    }

    /// Removes APIs.
    pub fn leave_out(&mut self, gone: impl Fn(ApiId) -> bool) {
        self.finders.iter_mut().for_each(|finders| finders.retain(|finder| !gone(finder.api)));
        self.writers.retain(|api| !gone(*api));
    }

    /// Returns the sign-in API of a domain.
    #[must_use]
    pub fn sign_in(&self, domain: DomainId) -> Option<ApiId> {
        self.sign_in.get(domain.index()).copied().flatten()
    }
}

/// Returns the parameter of a list that takes the display name of its records.
fn name_parameter(world: &World, query: &Query) -> Option<ParameterId> {
    let display = world.resource(query.resource).display?;
    query.filters.iter().find_map(|filter| match &filter.test {
        FilterTest::Compare(field, Comparison::Equal | Comparison::Contains | Comparison::Prefix)
            if *field == display =>
        {
            Some(filter.parameter)
        }
        FilterTest::Text(fields) if fields.contains(&display) => Some(filter.parameter),
        _ => None,
    })
}

/// Returns true if an API only reads: it changes no records, and signs no one in or out.
#[must_use]
pub fn reads(api: &Api) -> bool {
    !api.writes() && !matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut)
}
