//! The plan of a row: a chain of calls over sampled records that the engine has run and the gates have passed, and the same in
//! plain words for a model. No model has a part in it, so that gold and checks come from what happened.

use std::collections::BTreeSet;

use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Clock, What};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, Origin};
use diorama_proof::answer::Asked;
use diorama_proof::candidate::Opening;
use diorama_proof::{GateReport, Grounded};
use diorama_seeds::model::{Api, DomainId, World};
use diorama_seeds::task::{Ability, ArgumentSource, GoldCall, Outcome};
use diorama_seeds::value::Value;
use indexmap::IndexSet;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::lines::{Kind, UserLines, kinds};
use crate::synthesis::pipeline::{ATTEMPTS, Agents, SAME_SCENARIO, ability};
use crate::synthesis::query::{Proposal, TaskSpec, propose};
use crate::synthesis::recipe::Recipe;
use crate::synthesis::scenario::{Drawn, Joins};
use crate::synthesis::world::BatchWorld;

/// A proven conversation whose words are to be written by a model.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The offline conversation, grounded.
    pub grounded: Grounded,
    /// What the gates found.
    pub report: GateReport,
    /// The ability.
    pub ability: Ability,
    /// What is special about it.
    pub tags: Vec<&'static str>,
    /// The domain that it is written for, where its author knows.
    pub domain: Option<DomainId>,
}

/// Plans a conversation for an attempt at a row: a function of the world and of the numbers.
#[must_use]
pub fn plan(recipe: &Recipe, agents: &Agents, world: &BatchWorld, place: (u64, u32)) -> Option<Plan> {
    // The ability is the row's, so that a model's trouble with one of them changes no shares.
    let ability = ability(&recipe.abilities, &mut recipe.stream("row", place.0));
    let mut stream = stream(recipe, "plan", place);
    let scenario_set = &world.world_template.scenario_set;
    let mut drawn = Drawn { domain: None, place: stream.random() };
    for proposal in 0..ATTEMPTS {
        if proposal > 0 && proposal % SAME_SCENARIO == 0 {
            drawn.place = scenario_set.another(ability, drawn, stream.random());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
        let (joins, clock) = (Joins::Nothing, world.base.world().clock);
        let spec = TaskSpec { ability, joins, session_seed: rng.random(), clock, detour: None, drawn };
        let Ok(Proposal { candidate, tags, domain }) = propose(world, &spec, &mut rng) else { continue };
        if let Ok((grounded, report)) = agents.tester.test(world, candidate, &mut rng) {
            return Some(Plan { grounded, report, ability, tags, domain: Some(domain) });
        }
    }
    None
}

/// The choices of one use at a place: a row and an attempt.
pub(super) fn stream(recipe: &Recipe, purpose: &str, (row_index, attempt): (u64, u32)) -> ChaCha8Rng {
    recipe.stream(purpose, row_index.wrapping_mul(1 << 10).wrapping_add(u64::from(attempt)))
}

/// A plan in plain words: what the query agent is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// The domains.
    pub services: String,
    /// The day and the time.
    pub now: String,
    /// The voice of the user.
    pub persona: String,
    /// What the conversation shows.
    pub tags: Vec<String>,
    /// The goals.
    pub goals: Vec<GoalBrief>,
}

/// One goal in plain words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GoalBrief {
    /// When it comes up.
    pub opens: Option<String>,
    /// What is done, call by call.
    pub does: Vec<String>,
    /// Why it cannot be done.
    pub refused: Option<String>,
    /// The facts that are asked for.
    pub asks: Vec<String>,
    /// What is meant, where no calls tell it.
    pub meaning: Option<String>,
    /// What the opening has to say.
    pub says: Vec<String>,
    /// Answers that are held back.
    pub held: Vec<LineBrief>,
    /// Lines of the user's own.
    pub later: Vec<LineBrief>,
}

/// One later line in plain words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LineBrief {
    /// The assistant's words before it.
    pub after: String,
    /// What it says.
    pub says: Vec<String>,
    /// What it means, where values alone don't tell.
    pub meaning: String,
}

impl Plan {
    /// The plan in plain words.
    #[must_use]
    pub fn brief(&self, world: &BatchWorld, persona: &str) -> Brief {
        let model = world.base.world();
        let told = Told { plan: self, world: model, prose: self.prose(model) };
        let services: Vec<&str> =
            self.domains(model).into_iter().map(|domain| &*model.domains[domain].title).collect();
        let date = model.zone.date_of(self.grounded.clock);
        let time = model.zone.time_of(self.grounded.clock);
        let shown =
            ["withheld", "correction", "confirmation", "branch", "second_request", "refusal", "recovery"];
        let tags = self.tags.iter().filter(|name| shown.contains(name));
        Brief {
            services: services.join(", "),
            now: format!("{}, {date}, {time}", crate::synthesis::render::weekday(date)),
            persona: persona.to_owned(),
            tags: tags.map(|name| name.replace('_', " ")).collect(),
            goals: (0..self.grounded.candidate.goals.len()).map(|at| told.goal(at)).collect(),
        }
    }

    /// The words of the user that arguments follow from.
    #[must_use]
    pub fn spoken(&self) -> Vec<&str> {
        fn spans<'a>(source: &ArgumentSource, turns: &'a [String], found: &mut Vec<&'a str>) {
            match source {
                ArgumentSource::User { turn, start, end, .. } => {
                    let words =
                        turns.get(*turn as usize).and_then(|turn| turn.get(*start as usize..*end as usize));
                    found.extend(words.map(str::trim).filter(|words| words.len() > 1));
                }
                ArgumentSource::Arithmetic { of, .. } => of.iter().for_each(|part| spans(part, turns, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        let sources = self.grounded.gold.iter().flat_map(|call| call.sources.values());
        sources.for_each(|source| spans(source, &self.grounded.user_turns, &mut found));
        found
    }

    /// The turns of the user, read.
    fn prose(&self, world: &World) -> Vec<Prose> {
        let clock = Clock::at(self.grounded.clock, &world.zone);
        self.grounded.user_turns.iter().map(|turn| Prose::read(turn, &clock)).collect()
    }

    /// The domains whose APIs are called; all where none is.
    fn domains(&self, world: &World) -> Vec<usize> {
        let called = self.grounded.gold.iter().filter_map(|call| world.api_named(&call.api));
        let used: IndexSet<usize> = called.map(|api| world.api(api).domain.index()).collect();
        if used.is_empty() { (0..world.domains.len()).collect() } else { used.into_iter().collect() }
    }

    /// The stems of the words that the APIs are called and described by which the goal of a line of the user calls. Lines are
    /// counted as [`UserLines`] gives them.
    #[must_use]
    pub fn deeds(&self, world: &BatchWorld, line: usize) -> BTreeSet<u64> {
        let lines = UserLines::of(&self.grounded.candidate);
        let mut until = 0;
        let goal = lines.goals.iter().position(|goal| {
            until += 1 + goal.held.len() + goal.later.len();
            line < until
        });
        let calls = goal.and_then(|goal| self.grounded.goals.get(goal)).map(|run| run.calls.clone());
        let called = calls.into_iter().flatten().filter_map(|call| self.grounded.gold.get(call));
        let apis = called.filter_map(|gold| world.base.world().api_named(&gold.api));
        apis.flat_map(|api| world.world_template.told_of(api)).copied().collect()
    }

    /// What all that is said in its domains has in common, as a vector.
    #[must_use]
    pub fn topic(&self, world: &BatchWorld) -> Vec<f32> {
        let domains = self.domains(world.base.world());
        let mut topic: Vec<f32> = Vec::new();
        for of_domain in domains.iter().filter_map(|domain| world.world_template.topics().get(*domain)) {
            topic.resize(of_domain.len(), 0.0);
            topic.iter_mut().zip(of_domain).for_each(|(sum, value)| *sum += value / domains.len() as f32);
        }
        topic
    }
}

/// A plan on its way into words.
struct Told<'a> {
    plan: &'a Plan,
    world: &'a World,
    prose: Vec<Prose>,
}

impl Told<'_> {
    fn goal(&self, number: usize) -> GoalBrief {
        let grounded = &self.plan.grounded;
        let (goal, run) = (&grounded.candidate.goals[number], &grounded.goals[number]);
        let first: usize = grounded.candidate.goals[..number].iter().map(|goal| kinds(goal).len()).sum();
        let kinds = kinds(goal);
        let turn_of = |wanted: &Kind| kinds.iter().position(|kind| kind == wanted).map(|at| first + at);
        let calls: Vec<usize> =
            run.calls.clone().filter(|call| grounded.gold[*call].api != TOOL_SEARCHER).collect();
        let asks = run.asked.iter().map(|asked| self.asked(asked)).collect::<Vec<_>>();
        let vain = run
            .asks
            .iter()
            .map(|(resource, field)| self.world.resource(*resource).field(*field).label.to_string());
        let asks: Vec<String> = asks.into_iter().chain(vain).collect();
        let refused = (run.outcome == Outcome::Refused).then(|| self.refusal(run.refused_by));
        let held = (0..goal.withheld.len()).map(|at| {
            let turn =
                (0..kinds.len()).find(|turn| matches!(&kinds[*turn], Kind::Held(held) if held.contains(&at)));
            let says = turn.map(|turn| self.says(first + turn)).unwrap_or_default();
            let text = &goal.withheld[at];
            // One answer can tell several details: each line says its own.
            let own = says.into_iter().filter(|(_, words)| text.contains(words.as_str())).map(quoted);
            LineBrief {
                after: turn.map(|turn| asked_before(goal, turn)).unwrap_or_default(),
                says: own.collect(),
                meaning: text.clone(),
            }
        });
        let later = kinds.iter().enumerate().filter_map(|(turn, kind)| match kind {
            Kind::Later(at) => Some((turn, *at)),
            _ => None,
        });
        let later = later.map(|(turn, _)| LineBrief {
            after: asked_before(goal, turn),
            says: self.says(first + turn).into_iter().map(quoted).collect(),
            meaning: self.prose.get(first + turn).map(|prose| prose.source().to_owned()).unwrap_or_default(),
        });
        let says = turn_of(&Kind::Opening).map(|turn| self.says(turn)).unwrap_or_default();
        GoalBrief {
            opens: goal.when.as_ref().map(|when| self.opens(when)),
            meaning: (calls.is_empty() || (asks.is_empty() && says.is_empty())).then(|| goal.user.clone()),
            does: counted(calls.iter().map(|call| self.call(&grounded.gold[*call]))),
            refused,
            asks: counted(asks.into_iter()),
            says: says.into_iter().map(quoted).collect(),
            held: held.collect(),
            later: later.collect(),
        }
    }

    /// A call in words: what the API does, and where each argument comes from.
    fn call(&self, gold: &GoldCall) -> String {
        let Some(api) = self.world.api_named(&gold.api).map(|id| self.world.api(id)) else {
            return gold.api.clone();
        };
        let arguments: Vec<String> = gold
            .sources
            .iter()
            .filter_map(|(name, source)| {
                let from = match source {
                    ArgumentSource::User { .. }
                    | ArgumentSource::Dictated { .. }
                    | ArgumentSource::Arithmetic { .. } => "as the user says",
                    ArgumentSource::Reply { .. } | ArgumentSource::Replies { .. } => "found by the assistant",
                    _ => return None,
                };
                Some(format!("{} {from}", label(api, name)))
            })
            .collect();
        let description = api.description.trim_end_matches('.');
        if arguments.is_empty() {
            description.to_owned()
        } else {
            format!("{description} ({})", arguments.join(", "))
        }
    }

    /// What a turn has to say: the words of its values, each with what it is.
    fn says(&self, turn: usize) -> Vec<(String, String)> {
        let mut says: Vec<(String, String)> = Vec::new();
        let mut add = |about: String, words: &str| {
            let words = words.trim();
            if !words.is_empty() && !says.iter().any(|(_, known)| known.contains(words)) {
                says.retain(|(_, known)| !words.contains(known.as_str()));
                says.push((about, words.to_owned()));
            }
        };
        for gold in self.plan.grounded.gold.iter().filter(|gold| gold.api != TOOL_SEARCHER) {
            let Some(api) = self.world.api_named(&gold.api).map(|id| self.world.api(id)) else { continue };
            for (name, source) in &gold.sources {
                let mut words = Vec::new();
                self.words_of(source, turn, gold.arguments.get(name), &mut words);
                words.iter().for_each(|words| add(label(api, name), words));
            }
        }
        for (about, words) in self.picked(turn) {
            add(about, &words);
        }
        says
    }

    /// The words of a turn that a source stands on.
    fn words_of(
        &self,
        source: &ArgumentSource,
        wanted: usize,
        value: Option<&serde_json::Value>,
        words: &mut Vec<String>,
    ) {
        match source {
            ArgumentSource::User { turn, start, end, .. } if *turn as usize == wanted => {
                let span = Span { start: *start as usize, end: *end as usize };
                words.extend(self.prose.get(wanted).map(|prose| prose.words_at(span).to_owned()));
            }
            ArgumentSource::Arithmetic { of, .. } => {
                of.iter().for_each(|part| self.words_of(part, wanted, None, words));
            }
            ArgumentSource::Dictated { turns, .. } if turns.iter().any(|turn| *turn as usize == wanted) => {
                words.extend(value.and_then(|value| value.as_str()).map(str::to_owned));
            }
            _ => {}
        }
    }

    /// What a turn says of records whose keys the assistant finds: by these words they are told from others.
    fn picked(&self, turn: usize) -> Vec<(String, String)> {
        let Some(prose) = self.prose.get(turn) else { return Vec::new() };
        let grounded = &self.plan.grounded;
        let places = grounded
            .gold
            .iter()
            .flat_map(|gold| gold.sources.values())
            .flat_map(diorama_proof::ground::places);
        let mut found = Vec::new();
        for (call, path) in places {
            let Some(entry) = grounded.entries.get(call as usize) else { continue };
            let Some(Body::Leaf(_, Origin::Field { resource, key, .. })) = entry.reply.body.at(path) else {
                continue;
            };
            for (_, value, origin) in entry.reply.body.leaves() {
                let Origin::Field { resource: of, key: whose, field } = origin else { continue };
                if (of, whose) != (resource, key) {
                    continue;
                }
                if let Some(words) = self.words_for(value, prose) {
                    let label = self.world.resource(*of).field(*field).label.to_string();
                    if !found.contains(&(label.clone(), words.clone())) {
                        found.push((label, words));
                    }
                }
            }
        }
        found
    }

    /// The words of a text that say a value.
    fn words_for(&self, value: &Value, prose: &Prose) -> Option<String> {
        let zone = &self.world.zone;
        let today = zone.date_of(self.plan.grounded.clock);
        let mention = |fits: &dyn Fn(&What) -> bool| {
            let mention = prose.mentions().iter().find(|mention| fits(&mention.what))?;
            Some(prose.words_at(mention.span()).to_owned())
        };
        let day = |date| mention(&move |what| matches!(what, What::Date(day) if day.means(date, today)));
        match value {
            Value::String(text) => {
                let span = prose.find(&text.replace('_', " ")).into_iter().next()?;
                Some(prose.words_at(span).to_owned())
            }
            Value::Date(date) => day(*date),
            Value::DateTime(instant) => day(zone.date_of(*instant)),
            Value::Time(time) => mention(
                &|what| matches!(what, What::Time(clock) if clock.time == *time || clock.other == Some(*time)),
            ),
            _ => None,
        }
    }

    fn asked(&self, asked: &Asked) -> String {
        let (Asked::Leaf { call, about, .. }
        | Asked::Each { call, about, .. }
        | Asked::Count { call, about, .. }) = asked;
        let of = self.plan.grounded.entries.get(*call).and_then(|entry| match asked {
            Asked::Leaf { path, .. } => match entry.reply.body.at(path) {
                Some(Body::Leaf(_, Origin::Field { resource, field, .. })) => {
                    let resource = self.world.resource(*resource);
                    Some(format!("{} of the {}", resource.field(*field).label, resource.label))
                }
                _ => None,
            },
            Asked::Each { .. } | Asked::Count { .. } => None,
        });
        let how_many = if matches!(asked, Asked::Count { .. }) { "how many: " } else { "" };
        format!("{how_many}{}", of.unwrap_or_else(|| about.clone()))
    }

    fn refusal(&self, by: Option<usize>) -> String {
        let entry = by.and_then(|call| self.plan.grounded.entries.get(call));
        let message = entry.and_then(|entry| {
            let body = &entry.reply.body;
            let text = |body: &Body| body.value().and_then(Value::as_str).map(str::to_owned);
            let said = ["detail", "message"].into_iter().find_map(|name| body.member(name).and_then(text));
            said.or_else(|| body.leaves().find_map(|(_, value, _)| value.as_str().map(str::to_owned)))
        });
        message.unwrap_or_else(|| "nothing is found".to_owned())
    }

    fn opens(&self, when: &Opening) -> String {
        let ended = when.outcome.map(|outcome| match outcome {
            Outcome::Refused => "when the request before could not be carried out",
            _ => "when the request before has been carried out",
        });
        let shown = when.call.map(|_| "when the assistant has found what it depends on");
        ended.or(shown).unwrap_or("afterwards").to_owned()
    }
}

/// Equal texts once, with how often they come.
fn counted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: indexmap::IndexMap<String, usize> = indexmap::IndexMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let told =
        |(text, count): (String, usize)| if count > 1 { format!("{text} ({count} times)") } else { text };
    counts.into_iter().map(told).collect()
}

fn quoted((about, words): (String, String)) -> String {
    format!("{about}: \"{words}\"")
}

fn label(api: &Api, name: &str) -> String {
    let parameter = api.parameter_named(name).map(|id| &api.parameters[id.index()]);
    parameter.map_or_else(|| name.replace('_', " "), |parameter| parameter.label.to_string())
}

/// The assistant's words before a turn of the user in a goal; turns of the user count from 0, the opening.
fn asked_before(goal: &diorama_proof::candidate::CandidateGoal, turn: usize) -> String {
    let mut users = 0;
    let mut last = "";
    for turn_of_goal in &goal.turns {
        if turn_of_goal.user.is_some() {
            users += 1;
            if users == turn {
                break;
            }
        } else if let Some(say) = &turn_of_goal.say {
            last = say;
        }
    }
    last.to_owned()
}
