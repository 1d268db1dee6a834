//! Plays a draft world: opens list items, creates, finds and deletes records, and collects failures.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_seeds::contract::{Facts, KnownValues, NoRecords};
use diorama_seeds::model::{Api, BehaviourKind, DomainId, Method, Parameter, Place};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Call;
use diorama_seeds::value::{Value, Zone};
use serde_json::{Map, Value as Json, json};

use crate::values::{Object, Values, find_member, keys, normalise, objects, part_of_key};

/// Maximum number of calls in a play. Later checks are skipped.
const MAX_CALLS: usize = 6_000;
/// Rounds of GET calls. Each uses values that the previous ones returned.
const MAX_ROUNDS: usize = 4;
/// Maximum number of ways to fill a path.
const MAX_WAYS: usize = 6;
/// Page size for lists with a limit parameter. Each item costs another reply.
const MAX_LISTED: u32 = 3;
/// Maximum number of items that are opened per list.
const MAX_OPENED: usize = 2;
/// Members that must agree between a list item and its record.
const NAMES: [&str; 5] = ["name", "title", "label", "email", "id"];

/// An expectation of a world that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A clause for people. Example: `what it deletes still opens`.
    pub what: &'static str,
    /// Indexes of the APIs involved, in the order of the world.
    pub apis: Vec<usize>,
}

/// Plays a world from its initial records. The same world gives the same failures in the same order.
#[must_use]
pub fn play(base: &Arc<Base>) -> Vec<Failure> {
    let world = base.world();
    let mut player = Player {
        session: Session::new(Arc::clone(base), SessionOptions::default()),
        apis: &world.apis,
        zone: &world.zone,
        values: Values::default(),
        opened: vec![None; world.apis.len()],
        failures: Vec::new(),
        calls: 0,
    };
    for (name, value) in world.given(DomainId(0)) {
        player.values.give(name, value.to_json(&world.zone));
    }
    player.read();
    player.open_items();
    player.find_parents();
    player.make();
    player.failures
}

/// Arguments of a call, by parameter name.
type Arguments = Map<String, Json>;

struct Player<'w> {
    session: Session,
    apis: &'w [Api],
    zone: &'w Zone,
    values: Values,
    /// The arguments and the body of the first successful call of each API.
    opened: Vec<Option<(Arguments, Json)>>,
    failures: Vec<Failure>,
    calls: usize,
}

impl Player<'_> {
    /// Calls an API and returns the status and the body.
    fn call(&mut self, session: Option<&mut Session>, api: usize, arguments: &Arguments) -> (u16, Json) {
        self.calls += 1;
        let call = Call { api: self.apis[api].name.to_string(), arguments: arguments.clone() };
        let entry = session.unwrap_or(&mut self.session).call(&call);
        (entry.reply.status, entry.reply.body.json_tree(self.zone))
    }

    fn is_spent(&self) -> bool {
        self.calls > MAX_CALLS
    }

    fn require(&mut self, holds: bool, what: &'static str, apis: &[usize]) {
        if !holds {
            self.failures.push(Failure { what, apis: apis.to_vec() });
        }
    }

    fn gets(&self) -> Vec<usize> {
        let is_get = |at: &usize| self.apis[*at].method == Method::Get;
        let mut all: Vec<usize> = (0..self.apis.len()).filter(is_get).collect();
        all.sort_by_key(|at| self.apis[*at].path.matches('{').count());
        all
    }

    /// Calls every GET operation with values that other replies showed.
    fn read(&mut self) {
        let gets = self.gets();
        for _ in 0..MAX_ROUNDS {
            let mut progress = false;
            for api in &gets {
                if self.opened[*api].is_some() {
                    continue;
                }
                for arguments in self.ways(*api) {
                    if self.is_spent() {
                        return;
                    }
                    let mut sent = arguments.clone();
                    sent.extend(limit_of(&self.apis[*api]));
                    let (status, body) = self.call(None, *api, &sent);
                    if is_success(status) {
                        self.values.learn(&filled(&self.apis[*api].path, &arguments), &body);
                        if let BehaviourKind::List(query) = &self.apis[*api].behaviour.kind {
                            let resource = self.session.base().world().resource(query.resource);
                            let key = normalise(&resource.field(resource.key).name);
                            self.values.learn_key(query.resource, &key, &body);
                        }
                        self.opened[*api] = Some((arguments, body));
                        progress = true;
                        break;
                    }
                }
            }
            if !progress {
                break;
            }
        }
        for api in gets {
            let holds = self.opened[api].is_some();
            self.require(holds, "no key that a reply shows opens it", &[api]);
        }
    }

    /// Returns ways to fill the path parameters of an operation.
    fn ways(&self, api: usize) -> Vec<Arguments> {
        let api = &self.apis[api];
        let mut ways = vec![(String::new(), Arguments::new())];
        for segment in api.path.split('/').filter(|segment| !segment.is_empty()) {
            let Some(name) = parameter_in(segment) else {
                ways.iter_mut().for_each(|(path, _)| *path = format!("{path}/{segment}"));
                continue;
            };
            let choices = api.parameters.iter().find(|known| &*known.name == name).and_then(listed_values);
            let next = ways.into_iter().flat_map(|(path, arguments)| {
                let values = choices.clone().unwrap_or_else(|| self.values.candidates(&path, name));
                values.into_iter().map(move |value| {
                    let mut arguments = arguments.clone();
                    let path = format!("{path}/{}", segment.replace(&format!("{{{name}}}"), &text(&value)));
                    arguments.insert(name.to_owned(), value);
                    (path, arguments)
                })
            });
            ways = next.take(MAX_WAYS).collect();
        }
        let complete = |(_, mut arguments): (String, Arguments)| {
            for parameter in &api.parameters {
                let name = &*parameter.name;
                let is_owed =
                    parameter.required && parameter.default.is_none() && !arguments.contains_key(name);
                if is_owed && parameter.place != Place::Body {
                    arguments.insert(name.to_owned(), self.sample(parameter));
                }
            }
            arguments
        };
        ways.into_iter().map(complete).collect()
    }

    /// Returns a value for a parameter outside of the path.
    fn sample(&self, parameter: &Parameter) -> Json {
        let key = match &parameter.schema.kind {
            Type::Reference { resource, .. } => self.values.key_of(*resource),
            _ => None,
        };
        if let Some(known) = key.or_else(|| self.values.named(&parameter.name)) {
            return known.clone();
        }
        match &parameter.schema.kind {
            Type::Enum(values) => values.first().map_or(Json::Null, |first| Json::from(&**first)),
            Type::Integer | Type::Number | Type::Decimal { .. } => {
                parameter.schema.limits.min.as_ref().map_or(json!(1), |least| least.to_json(self.zone))
            }
            Type::Boolean => json!(true),
            Type::Date => json!("2026-03-02"),
            Type::DateTime => json!("2026-03-02T09:00:00Z"),
            Type::Time => json!("09:00"),
            Type::List(_) => json!([]),
            Type::Object(_) => json!({}),
            Type::Any | Type::String | Type::Reference { .. } => {
                self.values.named("name").cloned().unwrap_or_else(|| json!("a"))
            }
        }
    }

    /// Returns the GET operation whose path is this path plus one parameter.
    fn item_of(&self, path: &str) -> Option<usize> {
        let is_item = |api: &Api| {
            let last = api.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('/'));
            api.method == Method::Get
                && last.is_some_and(|last| !last.contains('/') && parameter_in(last).is_some())
        };
        self.apis.iter().position(is_item)
    }

    /// Returns the GET operation of one record of a listed resource, if its path does not extend the list's
    /// path.
    fn item_elsewhere(&self, list: usize) -> Option<usize> {
        let BehaviourKind::List(query) = &self.apis[list].behaviour.kind else { return None };
        let shows = |api: &Api| {
            let keyed = api.path.ends_with('}') && api.method == Method::Get;
            keyed
                && matches!(&api.behaviour.kind, BehaviourKind::Get { resource, .. } if *resource == query.resource)
        };
        self.apis.iter().position(shows)
    }

    /// Opens items of lists.
    fn open_items(&mut self) {
        for list in self.gets() {
            let path = self.apis[list].path.to_string();
            let Some(item) = self.item_of(&path).or_else(|| self.item_elsewhere(list)) else { continue };
            let Some((arguments, body)) = self.opened[list].clone() else { continue };
            let shown: Vec<Object> =
                objects(&body).unwrap_or_default().into_iter().take(MAX_OPENED).cloned().collect();
            if shown.is_empty() || self.is_spent() {
                continue;
            }
            let holds = shown.iter().all(|object| self.opens(item, &arguments, object));
            self.require(holds, "what its list shows does not open as the same record", &[list, item]);
        }
    }

    /// Returns true if an object of a list opens as itself. Path parameters that the object lacks come from
    /// the list's arguments.
    fn opens(&mut self, item: usize, list: &Arguments, object: &Object) -> bool {
        let path = self.apis[item].path.to_string();
        let Some((before, last)) = path.rsplit_once('/') else { return true };
        let Some(name) = parameter_in(last) else { return true };
        let takes = |name: &str| self.apis[item].parameters.iter().any(|known| &*known.name == name);
        let mut above = list.clone();
        above.retain(|name, _| takes(name));
        for parameter in before.split('/').filter_map(parameter_in) {
            if !above.contains_key(parameter) {
                let Some(value) = part_of_key(object, parameter) else { return true };
                above.insert(parameter.to_owned(), value);
            }
        }
        let known = keys(object, before, name);
        if known.is_empty() {
            return true;
        }
        known.into_iter().take(3).any(|key| {
            let mut arguments = above.clone();
            arguments.insert(name.to_owned(), key);
            let (status, body) = self.call(None, item, &arguments);
            is_success(status) && is_same(object, &body)
        })
    }

    /// Checks that list items below a parent refer to that parent.
    fn find_parents(&mut self) {
        for list in self.gets() {
            let Some((arguments, body)) = &self.opened[list] else { continue };
            let items = objects(body).unwrap_or_default();
            let mut wrong = false;
            for (name, value) in arguments {
                let wanted = normalise(name);
                if wanted.len() > 4 {
                    let mut shown = items.iter().filter_map(|item| find_member(item, &wanted));
                    wrong |= shown.any(|shown| text(shown) != text(value));
                }
            }
            self.require(!wrong, "its items name another parent than its path", &[list]);
        }
    }

    /// Creates, finds and deletes records.
    fn make(&mut self) {
        for create in 0..self.apis.len() {
            let api = &self.apis[create];
            let path = api.path.to_string();
            let Some(item) = self.item_of(&path).filter(|_| api.method == Method::Post) else { continue };
            if self.is_spent() {
                return;
            }
            let Some(mut arguments) = self.ways(create).into_iter().next() else { continue };
            arguments.extend(self.body(create));
            let mut session = self.session.fork();
            let (status, made) = self.call(Some(&mut session), create, &arguments);
            let name = self.apis[item].path.rsplit('/').next().and_then(parameter_in).map(str::to_owned);
            let (Some(name), Some(object)) = (name, made.as_object().filter(|_| is_success(status))) else {
                continue;
            };
            let found = keys(object, &path, &name);
            if found.is_empty() {
                continue;
            }
            let in_path =
                |(known, _): &(&String, &Json)| self.apis[item].path.contains(&format!("{{{known}}}"));
            let above: Arguments = arguments
                .iter()
                .filter(in_path)
                .map(|(known, value)| (known.clone(), value.clone()))
                .collect();
            let opened = found.into_iter().take(3).find_map(|key| {
                let mut arguments = above.clone();
                arguments.insert(name.clone(), key);
                let (status, _) = self.call(Some(&mut session), item, &arguments);
                is_success(status).then_some(arguments)
            });
            let what = "what it makes does not open by the key that it answers with";
            self.require(opened.is_some(), what, &[create, item]);
            let owned = self.apis[item].path.clone();
            let delete = self.apis.iter().position(|api| api.method == Method::Delete && api.path == owned);
            if let (Some(delete), Some(arguments)) = (delete, opened) {
                let (status, _) = self.call(Some(&mut session), delete, &arguments);
                if is_success(status) {
                    let (status, _) = self.call(Some(&mut session), item, &arguments);
                    let is_gone = status == 404 || status == 410;
                    self.require(is_gone, "what it deletes still opens", &[item, delete]);
                }
            }
        }
    }

    /// Returns a sample request body of an operation.
    fn body(&self, api: usize) -> Arguments {
        let api = &self.apis[api];
        let Some((contract, schema)) =
            api.contract.as_ref().and_then(|contract| Some((contract, contract.request.as_ref()?)))
        else {
            return Arguments::new();
        };
        let facts = Facts { known: KnownValues::default().into(), list: None, now: 0, lookup: &NoRecords };
        let made = contract.schemas.reply(schema, &facts);
        if let Some(whole) = api.whole_body() {
            return Arguments::from_iter([(whole.name.to_string(), made)]);
        }
        let Json::Object(members) = made else { return Arguments::new() };
        let in_body = |name: &String| {
            let known = api.parameters.iter().find(|known| &*known.name == name);
            known.is_some_and(|known| known.place == Place::Body && known.required)
        };
        let members = members.into_iter().filter(|(name, _)| in_body(name));
        members
            .map(|(name, value)| {
                let refers = api
                    .parameters
                    .iter()
                    .any(|known| *known.name == *name && matches!(known.schema.kind, Type::Reference { .. }));
                let known = self.values.named(&name).filter(|_| refers).cloned();
                (name, known.unwrap_or(value))
            })
            .collect()
    }
}

/// Returns the argument that limits a list's page to [`MAX_LISTED`] items, if the operation accepts it.
fn limit_of(api: &Api) -> Option<(String, Json)> {
    let BehaviourKind::List(query) = &api.behaviour.kind else { return None };
    let limit = &api.parameters[query.page.as_ref()?.limit?.index()];
    let bound = |limit: &Option<Value>| limit.as_ref().and_then(Value::as_f64);
    let limits = &limit.schema.limits;
    let most = f64::from(MAX_LISTED);
    let fits = bound(&limits.min).is_none_or(|least| least <= most)
        && bound(&limits.max).is_none_or(|greatest| greatest >= most);
    (fits && matches!(limit.schema.kind, Type::Integer)).then(|| (limit.name.to_string(), json!(MAX_LISTED)))
}

/// Returns the first values of an enum parameter.
fn listed_values(parameter: &Parameter) -> Option<Vec<Json>> {
    match &parameter.schema.kind {
        Type::Enum(values) => {
            Some(values.iter().take(MAX_OPENED).map(|value| Json::from(&**value)).collect())
        }
        _ => None,
    }
}

/// Returns the parameter in a path segment.
fn parameter_in(segment: &str) -> Option<&str> {
    let (_, rest) = segment.split_once('{')?;
    rest.split_once('}').map(|(name, _)| name)
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a path with its parameters replaced by values.
fn filled(path: &str, arguments: &Arguments) -> String {
    let fill =
        |path: String, (name, value): (&String, &Json)| path.replace(&format!("{{{name}}}"), &text(value));
    arguments.iter().fold(path.to_owned(), fill)
}

/// Returns true if an item has the same names as in its list, as far as both show them.
fn is_same(object: &Object, body: &Json) -> bool {
    let inner =
        body.as_object().filter(|all| all.len() == 1).and_then(|all| all.values().next()?.as_object());
    let Some(shown) = inner.or(body.as_object()) else { return false };
    NAMES.iter().all(|name| match (find_member(object, name), find_member(shown, name)) {
        (Some(listed), Some(opened)) => listed.is_object() || listed == opened,
        _ => true,
    })
}
