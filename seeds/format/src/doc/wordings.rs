//! Wordings of scenarios: the file of words beside a world, and the lines of a scenario that they belong to.

use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::scenario::{ReactionsDoc, ScenarioDoc, ScenarioStepDoc, SignInDoc};
use super::wire;

/// Words for the scenarios of a world: a file that stands beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsDoc {
    /// By scenario and line, the line's wordings, added to those that the scenario itself has. The lines are `later`, `user`, `end` and
    /// `declined` of the first goal, `user 2`, `end 2` and `declined 2` of the second one, `tell NAME` of what is withheld, and of steps `say NAME` and `user NAME`.
    #[serde(deserialize_with = "wire::unique")]
    pub words: IndexMap<String, IndexMap<String, Wordings>>,
    /// As in a file of scenarios.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub search: IndexMap<String, Vec<String>>,
    /// As in a file of scenarios.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub system: Vec<String>,
    /// As in a file of scenarios.
    #[serde(default, skip_serializing_if = "ReactionsDoc::is_empty")]
    pub reactions: ReactionsDoc,
    /// As in a file of scenarios.
    #[serde(default, skip_serializing_if = "SignInDoc::is_empty")]
    pub sign_in: SignInDoc,
}

/// The wordings of a line: a list, or a text with one wording on each line, in which `-` alone says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Wordings(pub Vec<String>);

impl<'de> Deserialize<'de> for Wordings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::wordings(deserializer).map(Self)
    }
}

/// A line of a scenario, with its wordings.
#[derive(Debug)]
pub struct Line<'d> {
    /// Name of the line in a file of words. Example: `user 2`.
    pub name: String,
    /// Path of the line in the scenario. Example: `goals[1].user`.
    pub path: String,
    /// Its wordings.
    pub wordings: &'d mut Vec<String>,
}

fn line(name: String, path: String, wordings: &mut Vec<String>) -> Line<'_> {
    Line { name, path, wordings }
}

impl ScenarioDoc {
    /// Returns the lines that people say, including those without wordings.
    pub fn lines_mut(&mut self) -> impl Iterator<Item = Line<'_>> {
        let names = StepNames::of(self);
        let goals = self.goals.iter_mut().enumerate().flat_map(move |(goal, doc)| {
            let of_goal =
                |name: &str| if goal == 0 { name.to_owned() } else { format!("{name} {}", goal + 1) };
            let path = format!("goals[{goal}]");
            let ends = [
                line(of_goal("user"), format!("{path}.user"), &mut doc.user),
                line(of_goal("end"), format!("{path}.end"), &mut doc.end),
                line(of_goal("declined"), format!("{path}.declined"), &mut doc.declined),
            ];
            let names = names.clone();
            let steps = doc.does.iter_mut().enumerate().flat_map(move |(step, doc)| {
                let name = names.of_step(doc, goal, step);
                let path = format!("{path}.does[{step}]");
                // In other steps only the assistant speaks.
                let is_talk = doc.talk.is_some() || !doc.user.is_empty();
                let say = line(format!("say {name}"), format!("{path}.say"), &mut doc.say);
                let user = line(format!("user {name}"), format!("{path}.user"), &mut doc.user);
                std::iter::once(say).chain(is_talk.then_some(user))
            });
            ends.into_iter().chain(steps)
        });
        let withheld = self
            .withheld
            .iter_mut()
            .map(move |(name, wordings)| line(format!("tell {name}"), format!("withheld.{name}"), wordings));
        std::iter::once(line("later".to_owned(), "later".to_owned(), &mut self.later))
            .chain(withheld)
            .chain(goals)
    }

    /// Adds an empty entry for each withheld detail that a step asks for, so that a file of words can fill
    /// it.
    pub fn complete_withheld(&mut self) {
        let asked = self.goals.iter().flat_map(|goal| &goal.does).filter_map(|step| step.ask.clone());
        for name in asked.collect::<Vec<_>>() {
            self.withheld.entry(name).or_default();
        }
    }
}

/// Counts the steps that give each name. A name that several steps give identifies none of them.
#[derive(Clone)]
struct StepNames(HashMap<String, usize>);

impl StepNames {
    fn of(scenario: &ScenarioDoc) -> Self {
        let mut counts = HashMap::new();
        for name in scenario.goals.iter().flat_map(|goal| &goal.does).filter_map(own_name) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
        Self(counts)
    }

    /// Returns the name of a step, else its position. Example: `2.1` is the first step of the second goal.
    fn of_step(&self, step: &ScenarioStepDoc, goal: usize, position: usize) -> String {
        match own_name(step).filter(|name| self.0.get(*name) == Some(&1)) {
            Some(name) => name.to_owned(),
            None => format!("{}.{}", goal + 1, position + 1),
        }
    }
}

/// Returns the name that a step gives to its reply, its question or its talk.
fn own_name(step: &ScenarioStepDoc) -> Option<&str> {
    step.name.as_deref().or(step.ask.as_deref()).or(step.talk.as_deref())
}
