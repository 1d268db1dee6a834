//! `heuristic` where calls are planned and not made: Reverse Chain's rule without a model.
//!
//! Each API is tried as the last one. Its arguments are completed all at once: by what the request's words say, as the user
//! wrote it, or by another API that gives a value of that name; of the plans, the one that binds most is taken. A fit is a sum
//! of small points, so that the same request and APIs always lead to the same plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use diorama_seeds::english::split_identifier;
use diorama_simulator::embed::embedded;
use diorama_simulator::grade::extract::prose::Prose;
use diorama_simulator::search::{ApiEntry, ApiIndex, ApiQuery, Port, SearchError};
use serde_json::Value as Json;

use super::spans::{Look, Request, Span};
use crate::Agent;
use crate::environment::{Environment, Soon};
use crate::mind::{Stop, rest};
use crate::plan::{Filled, Plan, carry_out};
use crate::toolbox::{Document, documents};
use crate::types::members;

/// APIs that are looked at without a search, and those that a search among more finds.
const CONSIDERED: usize = 12;
const FOUND: usize = 8;
/// Points of a span that fits a parameter for certain, and of one that is worth taking over a weak provider.
const CERTAIN: i32 = 50;
const LIKELY: i32 = 30;

/// The agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backwards;

impl Agent for Backwards {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let all = documents(environment.view());
            let request = environment.view().user_turns().collect::<Vec<_>>().join(" ");
            let gives = |document: &Document| {
                let schema = environment.reply_schema(&document.name).unwrap_or_default();
                members(&schema).into_iter().map(|(name, schema)| Member::of(name, schema)).collect()
            };
            let given: Vec<Vec<Member>> = all.iter().map(gives).collect();
            let Some(plan) = planned(&request, &all, &given) else {
                return rest(
                    environment,
                    Err(Stop::Ended("no API shares a word with the request".to_owned())),
                );
            };
            let result = carry_out(environment, &plan, &all).await.map(|_| ());
            rest(environment, result)
        })
    }
}

/// A parameter, or a member of a reply, by its words.
struct Member {
    name: String,
    /// Stems of its name.
    words: BTreeSet<u64>,
    /// Stems of its description.
    about: BTreeSet<u64>,
    is_id: bool,
    sorts: Vec<Sort>,
}

/// What a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Email,
    Id,
    Day,
    Time,
    Number,
    Person,
    Place,
    Title,
    Quality,
}

fn stems(words: &str) -> BTreeSet<u64> {
    Prose::stems_of(&split_identifier(words).join(" ")).into_iter().chain(Prose::stems_of(words)).collect()
}

/// Stems of sets of words.
struct Lexicon {
    people: BTreeSet<u64>,
    places: BTreeSet<u64>,
    amounts: BTreeSet<u64>,
    qualities: BTreeSet<u64>,
    things: BTreeSet<u64>,
    days: BTreeSet<u64>,
    codes: BTreeSet<u64>,
    diets: BTreeSet<u64>,
    purposes: BTreeSet<u64>,
    nations: BTreeSet<u64>,
    from: BTreeSet<u64>,
    to: BTreeSet<u64>,
    until: BTreeSet<u64>,
    time: BTreeSet<u64>,
    email: BTreeSet<u64>,
    number: BTreeSet<u64>,
    food: BTreeSet<u64>,
    verbs: BTreeSet<u64>,
    empty: BTreeSet<u64>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon {
    people: stems(
        "user person customer passenger sender receiver member username profile guest driver author director patient employee \
         actor artist owner student friend people client",
    ),
    places: stems(
        "city location place country town area region address destination origin departure arrival start airport state source \
         venue station",
    ),
    amounts: stems(
        "quantity number amount budget size seats nights star age price speed count duration party rating level weight height \
         distance income copies days people persons guests",
    ),
    qualities: stems(
        "type genre cuisine preference diet dietary occasion quality style category kind rating gender mood activity class \
         restriction ingredient intolerance allergy season",
    ),
    things: stems(
        "title name product book movie film song item restaurant hotel event flight team dish food show store playlist bank \
         airline medicine car company game",
    ),
    days: stems("date day birth checkin checkout"),
    codes: stems("isbn code zip zipcode ip plate sku route"),
    diets: stems("diet dietary restriction intolerance allergy preference"),
    purposes: stems("occasion purpose event reason"),
    nations: stems("cuisine type style language category food favorite"),
    from: stems("origin departure source start sender"),
    to: stems("destination arrival end receiver"),
    until: stems("out checkout end return"),
    time: stems("time hour"),
    email: stems("email mail"),
    number: stems("number"),
    food: stems("cuisine restaurant dish food"),
    verbs: stems("find get search list recommend suggest book api based return"),
    empty: stems(
        "name id info information detail data status list number get find specific user time date city type value given provide \
         return",
    ),
});

fn meet(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> bool {
    one.intersection(other).next().is_some()
}

impl Member {
    fn of(name: &str, schema: &Json) -> Self {
        let text = |key: &str| schema.get(key).and_then(Json::as_str).unwrap_or_default();
        let words = stems(name);
        let about: BTreeSet<u64> = stems(text("description")).difference(&words).copied().collect();
        let lower = name.to_lowercase();
        let is_id = lower.ends_with("id")
            && (lower.len() == 2 || name.ends_with("ID") || name.ends_with("Id") || lower.ends_with("_id"));
        let mut member = Self { name: name.to_owned(), words, about, is_id, sorts: Vec::new() };
        member.sorts = member.sorts(text("type"), &text("title").to_lowercase());
        member
    }

    fn sorts(&self, kind: &str, title: &str) -> Vec<Sort> {
        let lexicon = &*LEXICON;
        let has = |of: &BTreeSet<u64>| meet(&self.words, of);
        if has(&lexicon.email) {
            return vec![Sort::Email];
        }
        if self.is_id || has(&lexicon.codes) {
            return vec![Sort::Id];
        }
        let number = ["integer", "number"].contains(&kind);
        let mut sorts = Vec::new();
        if title.starts_with("date") || (has(&lexicon.days) && !number) {
            sorts.push(Sort::Day);
        }
        if title == "time" || has(&lexicon.time) {
            sorts.push(Sort::Time);
        }
        if number || (sorts.is_empty() && has(&lexicon.amounts) && !has(&lexicon.qualities)) {
            sorts.push(Sort::Number);
            let alone = !number && has(&lexicon.number);
            sorts.extend(alone.then_some(Sort::Id));
        }
        if !sorts.is_empty() {
            return sorts;
        }
        if has(&lexicon.qualities) {
            return vec![Sort::Quality];
        }
        if has(&lexicon.places) {
            sorts.push(Sort::Place);
        }
        if has(&lexicon.people) {
            sorts.push(Sort::Person);
        }
        if sorts.is_empty() && has(&lexicon.things) {
            sorts.push(Sort::Title);
        }
        if sorts.is_empty() && meet(&self.about, &lexicon.places) {
            sorts.push(Sort::Place);
        }
        if sorts.is_empty() { vec![Sort::Title, Sort::Quality, Sort::Place] } else { sorts }
    }

    fn telling(&self) -> BTreeSet<u64> {
        self.words.difference(&LEXICON.empty).copied().collect()
    }

    /// Points for another API's member as the value of this parameter.
    fn given_by(&self, member: &Self) -> i32 {
        let plain =
            |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let (own, other) = (self.telling(), member.telling());
        let points = if plain(&self.name).trim_end_matches('s') == plain(&member.name).trim_end_matches('s') {
            return 30;
        } else if !own.is_empty() && !other.is_empty() && (own.is_subset(&other) || other.is_subset(&own)) {
            24
        } else if meet(&own, &other) {
            16
        } else {
            let mine: BTreeSet<u64> = own.union(&self.about).copied().collect();
            let theirs: BTreeSet<u64> = other.union(&member.about).copied().collect();
            let shared = mine.intersection(&theirs).filter(|stem| !LEXICON.empty.contains(stem)).count();
            if shared == 0 { 0 } else { 8 + 2 * shared as i32 }
        };
        if self.is_id == member.is_id { points } else { points - 8 }
    }
}

struct Api<'a> {
    document: &'a Document,
    parameters: Vec<Member>,
    gives: &'a [Member],
    nouns: Vec<u64>,
}

/// The plan that binds most of a request; `given` is what each API gives.
fn planned(request: &str, all: &[Document], given: &[Vec<Member>]) -> Option<Plan> {
    let read = Request::read(request);
    let near = considered(request, all, given);
    let apis = near.into_iter().filter_map(|at| Some(Api::of(all.get(at)?, given.get(at)?)));
    let apis: Vec<Api<'_>> = apis.collect();
    let asked = stems(request);
    let mut best: Option<(i32, Plan)> = None;
    for last in &apis {
        let mut planner = Planner {
            request: &read,
            apis: &apis,
            claimed: BTreeMap::new(),
            used: BTreeSet::new(),
            points: 0,
        };
        let plan = planner.complete(last, &mut vec![&last.document.name]);
        let shared = planner.used.iter().map(|name| stems(name).intersection(&asked).count() as i32);
        let points = planner.points + 4 * shared.sum::<i32>();
        if best.as_ref().is_none_or(|(known, _)| points > *known) {
            best = Some((points, plan));
        }
    }
    best.map(|(_, plan)| plan)
}

/// The positions of the APIs that are looked at: all of a few, else those that a search for the request finds, with what they
/// need.
fn considered(request: &str, all: &[Document], given: &[Vec<Member>]) -> Vec<usize> {
    if all.len() <= CONSIDERED {
        return (0..all.len()).collect();
    }
    let entries = all.iter().zip(given).map(|(document, gives)| ApiEntry {
        api: document.name.clone(),
        description: document.description.clone(),
        inputs: document.parameters().map(|(name, ..)| Port::named(name)).collect(),
        outputs: gives.iter().map(|member| Port::named(&member.name)).collect(),
        ..ApiEntry::default()
    });
    let found = || -> Result<Vec<usize>, SearchError> {
        let index = ApiIndex::new(entries.collect(), embedded()?)?;
        index.positions(ApiQuery { text: request, k: FOUND, ..ApiQuery::default() })
    };
    // The index is a part of the program; where it cannot be made, the first of the list are as good as any.
    found().unwrap_or_else(|_| (0..FOUND).collect())
}

impl<'a> Api<'a> {
    fn of(document: &'a Document, gives: &'a [Member]) -> Self {
        let parameters = document.parameters().map(|(name, schema, _)| Member::of(name, schema)).collect();
        let mut nouns = stems(&document.name);
        nouns.extend(stems(&document.description));
        if meet(&nouns, &LEXICON.food) {
            nouns.extend(&LEXICON.food);
        }
        let nouns = nouns.difference(&LEXICON.verbs).copied().collect();
        Self { document, parameters, gives, nouns }
    }
}

struct Planner<'a, 'd> {
    request: &'a Request,
    apis: &'a [Api<'d>],
    /// By the place of a span: the words of the parameters that have taken it.
    claimed: BTreeMap<usize, BTreeSet<u64>>,
    used: BTreeSet<&'d str>,
    points: i32,
}

impl<'a, 'd> Planner<'a, 'd> {
    fn complete(&mut self, api: &'a Api<'d>, stack: &mut Vec<&'d str>) -> Plan {
        self.used.insert(&api.document.name);
        let providers: Vec<Option<(i32, &'a Api<'d>)>> =
            api.parameters.iter().map(|parameter| self.provider(parameter, stack)).collect();
        let values = self.values(api, &providers);
        let mut arguments = Vec::new();
        for (number, parameter) in api.parameters.iter().enumerate() {
            let filled = match (values.get(&number), providers.get(number).copied().flatten()) {
                (Some(span), _) => Filled::Value(value(span, parameter)),
                (None, Some((strength, inner))) => {
                    if !self.used.contains(&*inner.document.name) {
                        self.points += strength / 2;
                    }
                    stack.push(&inner.document.name);
                    let plan = self.complete(inner, stack);
                    stack.pop();
                    Filled::Call(plan)
                }
                (None, None) => {
                    self.points -= 8;
                    continue;
                }
            };
            arguments.push((Some(parameter.name.clone()), filled));
        }
        Plan { api: api.document.name.clone(), arguments }
    }

    /// The API that gives a parameter its value best, of those that are not waiting for it.
    fn provider(&self, parameter: &Member, stack: &[&str]) -> Option<(i32, &'a Api<'d>)> {
        let open = self.apis.iter().filter(|api| !stack.contains(&&*api.document.name));
        let scored = open.map(|api| {
            let points = api.gives.iter().map(|given| parameter.given_by(given)).max().unwrap_or(0);
            (points, api)
        });
        // The first of those that are equally good.
        scored.filter(|(points, _)| *points >= 12).rev().max_by_key(|(points, _)| *points)
    }

    /// By parameter, the span that the request gives for it: the best fit first, no span twice in one call.
    fn values(&mut self, api: &'a Api<'d>, providers: &[Option<(i32, &Api<'_>)>]) -> BTreeMap<usize, Span> {
        let mut options: Vec<(i32, usize, Span)> = Vec::new();
        for (number, parameter) in api.parameters.iter().enumerate() {
            let nouns: Vec<u64> = api.nouns.iter().chain(&parameter.words).copied().collect();
            for span in self.request.spans.iter().cloned().chain(self.request.about(&nouns)) {
                let Some(fit) = self.fit(&span, parameter) else { continue };
                let label = self.label(&span, parameter);
                let claimed = self
                    .claimed
                    .get(&span.start)
                    .map_or(0, |words| if meet(words, &parameter.telling()) { 3 } else { -15 });
                let points = fit + label + claimed;
                let strength = providers.get(number).copied().flatten().map(|(strength, _)| strength);
                if strength.is_none_or(|strength| self.beats(&span, parameter, points, label, strength)) {
                    options.push((points, number, span));
                }
            }
        }
        options.sort_by(|(a, one, left), (b, other, right)| {
            b.cmp(a).then(left.start.cmp(&right.start)).then(one.cmp(other))
        });
        let mut values: BTreeMap<usize, Span> = BTreeMap::new();
        for (_, number, span) in options {
            let taken = values.values().any(|other| span.start < other.end && other.start < span.end);
            if !taken && !values.contains_key(&number) {
                if let Some(parameter) = api.parameters.get(number) {
                    self.claimed.entry(span.start).or_default().extend(parameter.telling());
                }
                values.insert(number, span);
            }
        }
        values
    }

    /// Whether what the request says is taken over an API that gives the value.
    fn beats(&self, span: &Span, parameter: &Member, points: i32, label: i32, strength: i32) -> bool {
        if parameter.sorts == [Sort::Id] {
            let named = self
                .request
                .before(span.start, 3)
                .iter()
                .any(|word| ["id", "number", "isbn"].contains(&&**word));
            let digits = span.text.contains(|c: char| c.is_ascii_digit());
            return digits && (named || (label >= 24 && matches!(span.look, Look::Code | Look::Number)));
        }
        match strength {
            30.. => false,
            20..30 => points >= CERTAIN,
            _ => points >= LIKELY,
        }
    }

    /// Points for what a span looks like; none where it cannot be the parameter's.
    fn fit(&self, span: &Span, parameter: &Member) -> Option<i32> {
        let lexicon = &*LEXICON;
        let before = self.request.before(span.start, 1);
        let before = before.first().map(String::as_str).unwrap_or_default();
        let is = |of: &BTreeSet<u64>| meet(&parameter.words, of) || meet(&parameter.about, of);
        let somewhere = ["in", "to", "from", "at", "near", "of", "around", "into"].contains(&before);
        let points = |sort: &Sort| match (sort, span.look) {
            (Sort::Email, Look::Email) => Some(50),
            (Sort::Day, Look::Day) | (Sort::Time, Look::Time) => Some(40),
            (Sort::Number, Look::Number) | (Sort::Id, Look::Code) => Some(30),
            (Sort::Id, Look::Number | Look::Quoted) => Some(10),
            (Sort::Person, Look::Name) if before == "by" => Some(40),
            (Sort::Person, Look::Name) => Some(if somewhere { 15 } else { 30 }),
            (Sort::Person, Look::Quoted) => Some(if before == "by" { 40 } else { 20 }),
            (Sort::Person, Look::Code) => Some(15),
            (Sort::Place, Look::Name) => Some(if somewhere { 30 } else { 15 }),
            (Sort::Place | Sort::Quality, Look::Quoted) => Some(15),
            (Sort::Title, Look::Quoted) => Some(30),
            (Sort::Title, Look::Name) => Some(if somewhere { 12 } else { 20 }),
            (Sort::Title, Look::Code) => Some(10),
            (Sort::Title, Look::Modifier) => Some(16),
            (Sort::Quality, Look::Nation) => Some(if is(&lexicon.nations) { 40 } else { 10 }),
            (Sort::Title | Sort::Place, Look::Nation) => Some(if is(&lexicon.nations) { 20 } else { 5 }),
            (Sort::Quality, Look::Diet) => Some(if is(&lexicon.diets) { 50 } else { 10 }),
            (Sort::Quality, Look::Purpose) => Some(if is(&lexicon.purposes) { 30 } else { 5 }),
            (Sort::Quality, Look::Modifier) => Some(30),
            _ => None,
        };
        let mut best = parameter.sorts.iter().filter_map(points).max()?;
        let named = matches!(span.look, Look::Name | Look::Quoted);
        if named && meet(&parameter.words, &lexicon.from) {
            best += if before == "from" { 20 } else { -15 };
        }
        if named && meet(&parameter.words, &lexicon.to) {
            best += match before {
                "to" | "for" => 20,
                "from" => -15,
                _ => 0,
            };
        }
        if span.look == Look::Day && meet(&parameter.words, &lexicon.until) {
            best += if ["to", "until", "till"].contains(&before) { 15 } else { -5 };
        }
        Some(best)
    }

    /// Points for words of a parameter that stand beside a span.
    fn label(&self, span: &Span, parameter: &Member) -> i32 {
        let own = parameter.telling();
        let near = |words: Vec<String>, name: [i32; 4], about: [i32; 4]| -> i32 {
            let points = words.iter().zip(name).zip(about).map(|((word, name), about)| {
                let stems = Prose::stems_of(word);
                if stems.iter().any(|stem| own.contains(stem)) {
                    name
                } else if stems
                    .iter()
                    .any(|stem| parameter.about.contains(stem) && !LEXICON.empty.contains(stem))
                {
                    about
                } else {
                    0
                }
            });
            points.sum()
        };
        near(self.request.before(span.start, 4), [30, 24, 18, 12], [12, 9, 6, 3])
            + near(self.request.after(span.end, 2), [20, 12, 0, 0], [10, 6, 0, 0])
    }
}

fn value(span: &Span, parameter: &Member) -> Json {
    let number = span.look == Look::Number && parameter.sorts.contains(&Sort::Number);
    let number = number.then(|| serde_json::from_str::<serde_json::Number>(&span.text).ok()).flatten();
    number.map_or_else(|| Json::from(span.text.as_str()), Json::Number)
}
