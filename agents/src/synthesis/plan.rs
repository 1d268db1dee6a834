//! The planner: from a goal to the calls that reach it, backwards through their arguments.
//!
//! As in Reverse Chain, the final API is chosen first and its arguments are completed from the request, from other
//! APIs, or recursively. Every planned call is executed in a scratch session, so a plan that does not work is never
//! proposed, and every place that an argument comes from is known from the reply's provenance.

use std::sync::{Arc, PoisonError};

use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::{Body, Origin};
use diorama_seeds::model::{
    Api, ApiId, BehaviourKind, DomainId, Parameter, ParameterId, Record, ResourceId, World,
};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Call, Derivation};
use diorama_seeds::value::Value;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::draft::{Detail, Step, StepArgument};
use super::goal::{first_part, first_parts};
use super::say::{self, Moment};
use super::text::{Segment, assemble, literal};
use super::world::{BatchWorld, refers_to};
use diorama_proof::ground::names_of;

/// Look-ups nest at most so deep under a goal's own call.
const MAX_NESTING: u32 = 3;

/// A plan under construction.
pub struct Planner<'a> {
    /// The world.
    pub world: &'a BatchWorld,
    /// The stream of choices.
    pub rng: &'a mut ChaCha8Rng,
    /// The session in which planned calls are executed.
    pub session: Session,
    /// Calls so far.
    pub steps: Vec<Step>,
    /// Their log entries.
    pub entries: Vec<Arc<LogEntry>>,
    /// How likely the optional part of a phrase is left in.
    pub optional: f64,
    /// Records that the request names anyway, so that a look-up may take their keys.
    pub named: Vec<(ResourceId, Value)>,
    /// Whether people say keys instead of names.
    pub by_key: bool,
    /// So many of those who ask for a record have its key at hand.
    pub keys_at_hand: f64,
    /// A record that the conversation is about: drawn where one of its resource is.
    pub topic: Option<(ResourceId, Value)>,
    /// Which API the first request is for, as a share of those there are: the row's own, so that APIs whose requests are
    /// easily made are asked for no more often than others. None for what follows.
    pub share: Option<f64>,
    /// What is special.
    pub tags: Vec<&'static str>,
    /// How many calls the plan may have, the goal's own among them.
    pub most_calls: usize,
    /// The signed-in user, by domain, with the step that gave the token.
    signed_in: Option<(DomainId, Record, usize, String)>,
    /// How the assistant tells moments, once it has told one.
    style: Option<u32>,
}

/// A point to which a planner can go back.
pub struct Checkpoint {
    session: Session,
    steps: usize,
    tags: usize,
    signed_in: Option<(DomainId, Record, usize, String)>,
}

impl<'a> Planner<'a> {
    /// Begins a plan on a fresh scratch session.
    pub fn new(world: &'a BatchWorld, rng: &'a mut ChaCha8Rng, session_seed: u64) -> Self {
        let options = SessionOptions { seed: session_seed, ..SessionOptions::default() };
        let session = Session::new(world.base.clone(), options);
        Self {
            world,
            rng,
            session,
            steps: Vec::new(),
            entries: Vec::new(),
            optional: 1.0,
            share: None,
            named: Vec::new(),
            by_key: false,
            keys_at_hand: 0.1,
            topic: None,
            tags: Vec::new(),
            most_calls: usize::MAX,
            signed_in: None,
            style: None,
        }
    }

    /// How a value of an answer is told: of a document's records all alike.
    pub(super) fn style(&mut self) -> u32 {
        let drawn = self.rng.random_range(0..6);
        let documented = self.world.base.world().apis.iter().any(|api| api.contract.is_some());
        if documented { *self.style.get_or_insert(drawn) } else { drawn }
    }

    /// The moment at which the user speaks.
    #[must_use]
    pub fn moment(&self) -> Moment<'a> {
        let world = self.world.base.world();
        Moment { now: world.clock, zone: &world.zone }
    }

    /// Remembers this point.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            session: self.session.fork(),
            steps: self.steps.len(),
            tags: self.tags.len(),
            signed_in: self.signed_in.clone(),
        }
    }

    /// Goes back to a point.
    pub fn back_to(&mut self, point: &Checkpoint) {
        self.session = point.session.fork();
        self.steps.truncate(point.steps);
        self.entries.truncate(point.steps);
        self.tags.truncate(point.tags);
        self.signed_in = point.signed_in.clone();
    }

    /// Executes a call and makes it a step, whatever its status.
    pub fn call(&mut self, api: ApiId, arguments: Vec<StepArgument>) -> Arc<LogEntry> {
        let world = self.world.base.world();
        let step = Step { api, arguments };
        let mut planned = self.world.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = self.session.call_again(&call_of(world, &step), &mut planned);
        drop(planned);
        self.steps.push(step);
        self.entries.push(entry.clone());
        entry
    }

    /// Whether the plan may have another call before the goal's own.
    fn has_room(&self) -> bool {
        self.steps.len() + 1 < self.most_calls
    }

    /// A value in the user's words.
    pub fn say(&mut self, api: ApiId, parameter: ParameterId, value: &Value) -> Option<Vec<Segment>> {
        let world = self.world.base.world();
        let described = &world.api(api).parameters[parameter.index()];
        let spoken = say::argument(value, described, self.moment(), self.rng)?;
        match spoken.by {
            Derivation::Synonym => self.tags.push("synonym"),
            Derivation::DatePhrase => self.tags.push("date_phrase"),
            Derivation::NumberWord => self.tags.push("number_word"),
            _ => {}
        }
        Some(vec![Segment::Value(spoken.words)])
    }

    /// Signs a user in where the API needs it; chooses the user at the first need.
    pub fn token(&mut self, api: ApiId) -> Option<StepArgument> {
        let world = self.world.base.world();
        let described = world.api(api);
        let parameter = described.token?;
        let domain = described.domain;
        self.sign_in(domain)?;
        let (_, _, step, path) = self.signed_in.as_ref().filter(|(signed, ..)| *signed == domain)?;
        let value = self.entries[*step].reply.body.at(path).and_then(Body::value)?.clone();
        Some(StepArgument { parameter, value })
    }

    /// Signs a user of a domain in.
    pub fn sign_in(&mut self, domain: DomainId) -> Option<Record> {
        if let Some((signed, user, ..)) = &self.signed_in {
            return (*signed == domain).then(|| user.clone());
        }
        self.has_room().then_some(())?;
        let world = self.world.base.world();
        let auth = world.domains[domain.index()].auth.as_ref()?;
        let api = self.world.world_template.survey.sign_in(domain)?;
        let BehaviourKind::SignIn { login, secret } = world.api(api).behaviour.kind else { return None };
        let user = world.resource(auth.user).records.choose(self.rng)?.clone();
        let mut arguments = Vec::new();
        for (parameter, field) in [(login, auth.login), (secret, auth.secret)] {
            arguments.push(StepArgument { parameter, value: user.get(field.index())?.clone() });
        }
        let entry = self.call(api, arguments);
        let path = entry.reply.is_success().then(|| {
            entry.reply.body.leaves().find(|(path, ..)| path.ends_with("token")).map(|(path, ..)| path)
        })??;
        self.signed_in = Some((domain, user.clone(), self.steps.len() - 1, path));
        self.tags.push("sign_in");
        Some(user)
    }

    /// The step that signs a user in, where there is one, with the credentials as details that the user knows.
    #[must_use]
    pub fn credentials(&self) -> Option<(usize, Vec<Detail>)> {
        let (domain, _, step, _) = self.signed_in.as_ref()?;
        let world = self.world.base.world();
        let auth = world.domains[domain.index()].auth.as_ref()?;
        let users = world.resource(auth.user);
        let labels = [&users.field(auth.login).label, &users.field(auth.secret).label];
        let planned = self.steps.get(*step)?;
        let parameters = &world.api(planned.api).parameters;
        let details = planned.arguments.iter().zip(labels).map(|(argument, label)| Detail {
            about: label.to_string(),
            words: names_of(&parameters[argument.parameter.index()], world).collect(),
            say: format!("My {label} is {}.", argument.value.to_text(&world.zone)),
        });
        Some((*step, details.collect()))
    }

    /// The owner's key where records of this resource belong to the signed-in user.
    #[must_use]
    pub fn owner_key(&self) -> Option<Value> {
        let (domain, user, ..) = self.signed_in.as_ref()?;
        let world = self.world.base.world();
        let auth = world.domains[domain.index()].auth.as_ref()?;
        user.get(world.resource(auth.user).key.index()).cloned()
    }

    /// A record's key in a way that users have words for: by name through a look-up, by an attribute through a
    /// list, or by the key itself where the record has no name.
    pub fn refer(&mut self, resource: ResourceId, key: &Value, nesting: u32) -> Option<Vec<Segment>> {
        let world = self.world.base.world();
        let described = world.resource(resource);
        // A key that a reply has shown needs no other look-up.
        if self.entries.iter().any(|entry| key_path(self.world, entry, resource, key).is_some()) {
            return Some(vec![Segment::Value(self.display(resource, key)?)]);
        }
        // Where nothing finds a name, people have the key at hand.
        let finders = &self.world.world_template.survey.finders[resource.index()];
        let is_key = described.display == Some(described.key);
        let is_found = !self.by_key && !is_key && finders.iter().any(|finder| self.takes_known(finder));
        if described.display.is_some() && nesting < MAX_NESTING && is_found {
            return self.find_by_name(resource, key, nesting);
        }
        if !self.by_key && !is_key && described.display.is_some() && nesting < MAX_NESTING {
            let point = self.checkpoint();
            if let Some(referred) = self.find_below(resource, key, nesting) {
                return Some(referred);
            }
            self.back_to(&point);
        }
        if nesting < MAX_NESTING && self.has_room() && self.rng.random_bool(0.6) {
            let point = self.checkpoint();
            if let Some(referred) = self.find_by_list(resource, key, nesting) {
                return Some(referred);
            }
            self.back_to(&point);
        }
        Some(vec![Segment::Value(key.to_text(&world.zone))])
    }

    /// What people call a record.
    #[must_use]
    pub fn display(&self, resource: ResourceId, key: &Value) -> Option<String> {
        let base = &self.world.base;
        let described = base.world().resource(resource);
        let record = self.session.state().get(base, resource, key)?;
        match described.display {
            Some(field) => record.get(field.index())?.as_str().map(str::to_owned),
            None => Some(key.to_text(&base.world().zone)),
        }
    }

    fn find_by_name(&mut self, resource: ResourceId, key: &Value, nesting: u32) -> Option<Vec<Segment>> {
        self.has_room().then_some(())?;
        let name = self.display(resource, key)?;
        let mut finders = self.world.world_template.survey.finders[resource.index()].clone();
        finders.shuffle(self.rng);
        // Reading a whole list for a name comes after asking for the name.
        finders.sort_by_key(|finder| finder.by.is_none());
        for finder in finders {
            let point = self.checkpoint();
            let Some(arguments) = self.other_arguments(finder.api, finder.by, nesting + 1) else {
                self.back_to(&point);
                continue;
            };
            let mut arguments = arguments;
            // The words stand in the request either way: as the look-up's argument, or to be recognised in its reply.
            if let Some(parameter) = finder.by {
                arguments.push(StepArgument { parameter, value: Value::string(&name) });
            }
            arguments.sort_by_key(|argument| argument.parameter);
            let entry = self.call(finder.api, arguments);
            if key_path(self.world, &entry, resource, key).is_some() {
                return Some(vec![Segment::Value(name)]);
            }
            self.back_to(&point);
        }
        None
    }

    /// Says what a record is called and whose it is, where a list of a document gives the records of an owner: the channel
    /// `travel of the guild Ravens United`.
    fn find_below(&mut self, resource: ResourceId, key: &Value, nesting: u32) -> Option<Vec<Segment>> {
        let world = self.world.base.world();
        let record = self.session.state().get(&self.world.base, resource, key)?.clone();
        let owner = |of: ResourceId| {
            let mut fields = world.resource(resource).fields.iter().enumerate();
            let (index, _) = fields.find(|(_, field)| refers_to(&field.schema.kind) == Some(of))?;
            record.get(index).filter(|key| !key.is_missing()).map(|key| (of, key.clone()))
        };
        let finders = self.world.world_template.survey.finders[resource.index()].iter();
        let mut owners = finders.filter_map(|finder| {
            let api = world.api(finder.api);
            api.contract.as_ref()?;
            let known = |id| Some(id) == finder.by || api.token == Some(id);
            let needed = api.parameters.iter().enumerate();
            let mut needed =
                needed.filter(|(index, parameter)| parameter.required && !known(ParameterId(*index as u16)));
            let (_, only) = needed.next().filter(|_| needed.next().is_none())?;
            owner(refers_to(&only.schema.kind)?)
        });
        let (of, owner) = owners.find(|(of, _)| *of != resource && world.resource(*of).display.is_some())?;
        let whose = self.refer(of, &owner, nesting + 1)?;
        self.named.push((of, owner));
        let found = self.find_by_name(resource, key, nesting);
        self.named.pop();
        let mut words = found?;
        words.push(literal(format!(" of the {} ", world.resource(of).label)));
        words.extend(whose);
        Some(words)
    }

    /// Singles a record out as the only one that a list gives for some of its attributes.
    fn find_by_list(&mut self, resource: ResourceId, key: &Value, nesting: u32) -> Option<Vec<Segment>> {
        let world = self.world.base.world();
        let record = self.session.state().get(&self.world.base, resource, key)?.clone();
        let mut lists: Vec<ApiId> = self.world.world_template.survey.lists.clone();
        lists.shuffle(self.rng);
        for api in lists {
            let BehaviourKind::List(query) = &world.api(api).behaviour.kind else { continue };
            if query.resource != resource {
                continue;
            }
            let point = self.checkpoint();
            if let Some(referred) = self.single_out(api, &record, key, nesting) {
                return Some(referred);
            }
            self.back_to(&point);
        }
        None
    }

    fn single_out(&mut self, api: ApiId, record: &Record, key: &Value, nesting: u32) -> Option<Vec<Segment>> {
        let world = self.world.base.world();
        let BehaviourKind::List(query) = &world.api(api).behaviour.kind else { return None };
        let resource = query.resource;
        let template = self.world.world_template.guide.api(api).noun.choose(self.rng)?.clone();
        let mut values: Vec<(ParameterId, Value)> = Vec::new();
        for filter in &query.filters {
            if let diorama_seeds::model::FilterTest::Compare(field, diorama_seeds::model::Comparison::Equal) =
                &filter.test
            {
                let value = record.get(field.index())?.clone();
                if !value.is_missing() {
                    values.push((filter.parameter, value));
                }
            }
        }
        let Filled { segments, arguments, .. } = self.fill(api, &template, &values, 0.9, nesting + 1)?;
        (!arguments.is_empty()).then_some(())?;
        let entry = self.call(api, arguments);
        let path = key_path(self.world, &entry, resource, key)?;
        let (array, index) = array_of(&path)?;
        let only =
            index == 0 && matches!(entry.reply.body.at(&array), Some(Body::List(items)) if items.len() == 1);
        only.then_some(())?;
        self.tags.push("described");
        let mut words = vec![literal(ONLY)];
        words.extend(segments);
        Some(words)
    }

    /// Arguments of an API other than the one named, where it requires any.
    fn other_arguments(
        &mut self,
        api: ApiId,
        except: Option<ParameterId>,
        nesting: u32,
    ) -> Option<Vec<StepArgument>> {
        let world = self.world.base.world();
        let described = world.api(api);
        let mut arguments = Vec::new();
        for (index, parameter) in described.parameters.iter().enumerate() {
            let id = ParameterId(index as u16);
            if Some(id) == except || !parameter.required {
                continue;
            }
            if described.token == Some(id) {
                arguments.push(self.token(api)?);
                continue;
            }
            if let Some(value) = self.named_first(described, id) {
                arguments.push(self.argument(api, id, &value, nesting)?.1);
                continue;
            }
            // A look-up that needs more than is named would put words into the request that nobody says.
            let of = refers_to(&parameter.schema.kind)?;
            let key = self.named.iter().find(|(resource, _)| *resource == of).map(|(_, key)| key.clone())?;
            (nesting < MAX_NESTING).then_some(())?;
            arguments.push(self.argument(api, id, &key, nesting)?.1);
        }
        Some(arguments)
    }

    /// Whether a look-up needs nothing but the name and what the request names anyway.
    fn takes_known(&self, finder: &diorama_proof::survey::Finder) -> bool {
        let api = self.world.base.world().api(finder.api);
        api.parameters.iter().enumerate().all(|(index, parameter)| {
            let id = Some(ParameterId(index as u16));
            let named = || {
                let of = refers_to(&parameter.schema.kind);
                of.is_some_and(|of| self.named.iter().any(|(resource, _)| *resource == of))
            };
            let first = || self.named_first(api, ParameterId(index as u16)).is_some();
            !parameter.required || id == finder.by || id == api.token || named() || first()
        })
    }

    /// The first part of the key of a record that the request names anyway.
    fn named_first(&self, api: &Api, id: ParameterId) -> Option<Value> {
        let base = &self.world.base;
        let (first, resource) = first_parts(api).find(|(first, _)| *first == id)?;
        let (_, key) = self.named.iter().find(|(of, _)| *of == resource)?;
        let record = self.session.state().get(base, resource, key)?;
        first_part(base.world(), api, (first, resource), record)
    }

    /// Fills a template of an API with values and references; gives words and arguments. Optional parts are there
    /// with the probability `share`.
    pub fn fill(
        &mut self,
        api: ApiId,
        template: &super::text::Template,
        values: &[(ParameterId, Value)],
        share: f64,
        nesting: u32,
    ) -> Option<Filled> {
        let world = self.world.base.world();
        let described = world.api(api);
        let mut wanted: Vec<&str> = template.required().collect();
        let optional: Vec<Vec<&str>> = template.optional().collect();
        for part in &optional {
            if self.rng.random_bool(share * self.optional) {
                wanted.extend(part);
            }
        }
        let mut said: Vec<(String, Vec<Segment>)> = Vec::new();
        let mut told: Vec<(usize, Vec<Segment>)> = Vec::new();
        let mut arguments: Vec<StepArgument> = Vec::new();
        for name in wanted {
            if said.iter().any(|(known, _)| known == name) {
                return None;
            }
            let Some(parameter) = described.parameter_named(name) else {
                template.required().any(|required| required == name).then_some(())?;
                return None;
            };
            let is_required = template.required().any(|required| required == name);
            let Some((_, value)) = values.iter().find(|(id, _)| *id == parameter) else {
                if is_required {
                    return None;
                }
                continue;
            };
            let point = self.checkpoint();
            match self.argument(api, parameter, value, nesting) {
                Some((segments, argument)) => {
                    told.push((parameter.index(), segments.clone()));
                    said.push((name.to_owned(), segments));
                    arguments.push(argument);
                }
                None if is_required => return None,
                None => self.back_to(&point),
            }
        }
        for (index, parameter) in described.parameters.iter().enumerate() {
            let id = ParameterId(index as u16);
            if described.token == Some(id) {
                arguments.push(self.token(api)?);
            } else if parameter.required && !arguments.iter().any(|argument| argument.parameter == id) {
                return None;
            }
        }
        arguments.sort_by_key(|argument| argument.parameter);
        let mut segments = template.fill(&mut |name| {
            said.iter().find(|(known, _)| known == name).map(|(_, segments)| segments.clone())
        })?;
        let nouns = arguments.iter().filter_map(|argument| {
            let resource = refers_to(&described.parameters[argument.parameter.index()].schema.kind)?;
            Some(format!("the {} ", world.resource(resource).label))
        });
        leave_out_nouns(&mut segments, &nouns.collect::<Vec<_>>());
        // Both parts of a key are told as one.
        for (first, resource) in first_parts(described) {
            let is_second = |parameter: &Parameter| refers_to(&parameter.schema.kind) == Some(resource);
            let second =
                told.iter().position(|(index, _)| described.parameters.get(*index).is_some_and(is_second));
            let at = told.iter().position(|(index, _)| *index == first.index());
            if let (Some(second), Some(at)) = (second, at) {
                let begin: Vec<Segment> = told[at].1.iter().cloned().chain([literal("/")]).collect();
                told[second].1.splice(0..0, begin);
                told.remove(at);
            }
        }
        let alone = told.len() == 1;
        let details = told.iter().map(|(index, segments)| {
            let mut told = detail(&described.parameters[*index], segments, alone, world);
            if described.contract.is_some() && told.say.ends_with("\".") {
                told.say = quoted(&told.say, &assemble(segments));
            }
            told
        });
        Some(Filled { segments, arguments, details: details.collect() })
    }

    /// One argument: its words in the request, and its source.
    pub fn argument(
        &mut self,
        api: ApiId,
        parameter: ParameterId,
        value: &Value,
        nesting: u32,
    ) -> Option<(Vec<Segment>, StepArgument)> {
        let world = self.world.base.world();
        let described = &world.api(api).parameters[parameter.index()];
        let segments = match (&described.schema.kind, value) {
            (Type::Reference { resource, .. }, _) => self.refer(*resource, value, nesting)?,
            (Type::List(item), Value::List(items)) if refers_to(&item.kind).is_some() => {
                let resource = refers_to(&item.kind)?;
                self.refer_all(resource, items)?
            }
            _ => self.say(api, parameter, value)?,
        };
        Some((segments, StepArgument { parameter, value: value.clone() }))
    }

    fn refer_all(&mut self, resource: ResourceId, keys: &[Value]) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                segments.push(literal(if index + 1 == keys.len() { " and " } else { ", " }));
            }
            // A list of bare keys is nothing that people say; names are enough.
            self.world.base.world().resource(resource).display?;
            segments.extend(self.find_by_name(resource, key, 0)?);
        }
        (!segments.is_empty()).then_some(segments)
    }
}

/// A phrase filled with values: its words, the arguments they become, and each value as a detail of its own.
pub struct Filled {
    /// The words.
    pub segments: Vec<Segment>,
    /// The arguments.
    pub arguments: Vec<StepArgument>,
    /// What the words tell, one by one.
    pub details: Vec<Detail>,
}

/// A value as a user tells it when asked: by itself, or saying what it is where others are told with it.
fn detail(parameter: &Parameter, segments: &[Segment], alone: bool, world: &World) -> Detail {
    let label = match refers_to(&parameter.schema.kind) {
        Some(resource) => world.resource(resource).label.to_string(),
        None => parameter.label.to_string(),
    };
    let words = assemble(segments);
    let words = words.strip_prefix("on ").unwrap_or(&words);
    let words = words.trim_end_matches('.');
    // An address, a code or a name in lower case is written as it is.
    let is_word = words.starts_with(char::is_uppercase)
        && words.split(' ').next().is_some_and(|first| first.chars().all(char::is_alphabetic));
    let say = match (alone, is_word) {
        // What somebody wrote is quoted.
        (false, _) if matches!(parameter.schema.kind, Type::String) && words.split(' ').count() > 4 => {
            format!("The {label} is \"{words}\".")
        }
        (false, _) => format!("The {label} is {words}."),
        (true, true) => format!("{words}."),
        (true, false) => format!("It's {words}."),
    };
    Detail { about: label, words: names_of(parameter, world).collect(), say }
}

/// `The note is "words".` with the words as they are sent: with their own stop, where they have one.
fn quoted(say: &str, words: &str) -> String {
    let lead = say.split_once('"').map_or(say, |(lead, _)| lead);
    let stop = if words.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{lead}\"{words}\"{stop}")
}

/// How a record is begun that is the only one of its kind.
const ONLY: &str = "the only one of the ";

/// `delete the parcel the only one of the parcels` is `delete the only one of the parcels`; the webhook Puebla webhook is
/// the Puebla webhook, and the project Project Lumen is Project Lumen.
fn leave_out_nouns(segments: &mut [Segment], nouns: &[String]) {
    for at in 1..segments.len() {
        let (before, rest) = segments.split_at_mut(at);
        let (Some(Segment::Text(before)), Some(next)) = (before.last_mut(), rest.first()) else { continue };
        let Some(noun) = nouns.iter().find(|noun| before.ends_with(noun.as_str())) else { continue };
        let said = noun.trim_start_matches("the ");
        let kept = match next {
            Segment::Text(text) if text.starts_with(ONLY) => 0,
            Segment::Value(name) if name.to_lowercase().starts_with(said) => 0,
            Segment::Value(name) if name.ends_with(&format!(" {}", said.trim_end())) => "the ".len(),
            _ => continue,
        };
        before.truncate(before.len() - noun.len() + kept);
    }
}

/// The call of a step, with its values as they were planned.
#[must_use]
pub fn call_of(world: &diorama_seeds::model::World, step: &Step) -> Call {
    let api = world.api(step.api);
    let arguments = step
        .arguments
        .iter()
        .map(|argument| {
            (api.parameters[argument.parameter.index()].name.to_string(), argument.value.to_json(&world.zone))
        })
        .collect();
    Call { api: api.name.to_string(), arguments }
}

/// The first place in a reply where the key of a record stands, preferring the record's own key field.
#[must_use]
pub fn key_path(world: &BatchWorld, entry: &LogEntry, resource: ResourceId, key: &Value) -> Option<String> {
    if !entry.reply.is_success() {
        return None;
    }
    let described = world.base.world();
    let key_field = described.resource(resource).key;
    let mut second = None;
    for (path, value, origin) in entry.reply.body.leaves() {
        let Origin::Field { resource: of, field, .. } = origin else { continue };
        if value != key {
            continue;
        }
        if *of == resource && *field == key_field {
            return Some(path);
        }
        let kind = &described.resource(*of).field(*field).schema.kind;
        if second.is_none() && matches!(kind, Type::Reference { resource: to, .. } if *to == resource) {
            second = Some(path);
        }
    }
    second
}

/// Splits `items[3].name` into the array's place and the index: `("items", 3)`.
#[must_use]
pub fn array_of(path: &str) -> Option<(String, usize)> {
    let open = path.find('[')?;
    let close = path[open..].find(']')? + open;
    Some((path[..open].to_owned(), path[open + 1..close].parse().ok()?))
}
