//! Owns plain words for a plot, with which it can be played and proven before a model writes its words.

use std::collections::BTreeSet;

use diorama_seeds::doc::{PlaceDoc, ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc, WorldDoc};
use diorama_seeds::english::{capitalised, lowered};
use diorama_seeds::naming;
use indexmap::IndexMap;
use serde_json::Value as Json;

/// Returns the plot without its words.
#[must_use]
pub fn strip_words(plot: &ScenarioDoc) -> ScenarioDoc {
    let mut plot = plot.clone();
    plot.withheld.clear();
    plot.lines_mut().for_each(|line| line.wordings.clear());
    plot
}

/// Returns the plot with one plain wording in each required line. Requests and facts use the names of the
/// APIs, and a question names its binding.
#[must_use]
pub fn add_plain_words(doc: &WorldDoc, plot: &ScenarioDoc) -> ScenarioDoc {
    let mut plot = strip_words(plot);
    let steps = plot.goals.iter().flat_map(|goal| &goal.does);
    let withheld: Vec<String> = steps.filter_map(|step| step.ask.clone()).collect();
    let names = plot.calls().flat_map(|call| call.name.iter().chain(&call.each));
    let replies: BTreeSet<String> =
        names.filter_map(|name| name.split(' ').next().map(str::to_owned)).collect();
    let places = Places { doc, bind: &plot.bind, withheld: &withheld, replies: &replies };
    for goal in &mut plot.goals {
        goal.user = vec![places.ask_for(goal, &plot.name)];
        goal.end = vec![places.tell(goal)];
        for step in &mut goal.does {
            if let Some(name) = &step.ask {
                step.say = vec![format!("What is the {}?", naming::label(name))];
            } else if step.talk.is_some() {
                step.say = vec!["Shall I go on?".to_owned()];
                step.user = vec!["Yes, please.".to_owned()];
            }
        }
    }
    for name in withheld {
        let words = format!("{{{name}}}");
        plot.withheld.insert(name, vec![words]);
    }
    plot
}

/// Meanings of the names in a plot.
struct Places<'a> {
    doc: &'a WorldDoc,
    bind: &'a IndexMap<String, PlaceDoc>,
    /// Bindings whose values the user withholds until asked.
    withheld: &'a [String],
    /// Names of replies, and of the items of lists whose items each get a call.
    replies: &'a BTreeSet<String>,
}

impl Places<'_> {
    /// Returns the request for the calls of a goal, with their arguments:
    /// `I need what this does: finds a pilot by name. Name: {who.name}.`
    fn ask_for(&self, goal: &ScenarioGoalDoc, plot: &str) -> String {
        let calls: Vec<&ScenarioStepDoc> = goal
            .does
            .iter()
            .flat_map(|step| std::iter::once(step).chain(&step.together))
            .filter(|step| step.call.is_some())
            .collect();
        let mut parts = Vec::new();
        for call in &calls {
            let name = call.call.as_deref().unwrap_or_default();
            let api = self.doc.apis.iter().find(|api| api.name == name);
            let description = api.map_or("", |api| &api.description);
            let first = description.split_once(". ").map_or(description, |(first, _)| first);
            parts.push(format!("I need what this does: {}", lowered(first.trim_end_matches('.'))));
            for (parameter, given) in &call.with {
                parts.extend(self.value(parameter, given));
            }
        }
        if calls.is_empty() {
            parts.push(format!("Please {}", naming::label(plot)));
        }
        parts.extend(goal.facts.iter().map(|fact| format!("Tell me the {}", name_fact(fact))));
        let mut said = BTreeSet::new();
        parts.retain(|part| said.insert(part.clone()));
        parts.join(". ") + "."
    }

    /// Returns the user's words for an argument. None means that a reply gives its value, or that the
    /// user is asked for it.
    fn value(&self, parameter: &str, given: &Json) -> Option<String> {
        let label = capitalised(&naming::label(parameter.strip_suffix("_id").unwrap_or(parameter)));
        let Json::String(expression) = given else {
            return match given {
                Json::Bool(true) => Some(label),
                Json::Bool(false) => Some(format!("Not {}", lowered(&label))),
                given => Some(format!("{label}: {given}")),
            };
        };
        if let Some(text) = expression.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Some(format!("{label}: {}", text.replace('_', " ")));
        }
        let root = expression.split(['.', '[', '|', ' ', '(']).next().unwrap_or_default();
        let is_said =
            root != "me" && !self.replies.contains(root) && self.withheld.iter().all(|name| name != root);
        is_said.then(|| format!("{label}: {{{expression}}}"))
    }

    /// Returns the final answer with the facts of a goal: `Fee: {found.fee}.`
    fn tell(&self, goal: &ScenarioGoalDoc) -> String {
        if !goal.refused.is_empty() {
            return "That is not possible.".to_owned();
        }
        let facts = goal.facts.iter().map(|fact| {
            let within = |name: &str| fact.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
            let path = within("magnitude").unwrap_or(fact);
            let value = match (within("count"), path.split_once("[*].")) {
                (Some(list), _) => format!("{list}|length"),
                (None, Some((list, member))) => format!("{list}|list('{{{member}}}')"),
                (None, None) => match path.split_once('.') {
                    Some((place, field))
                        if self.bind.get(place).is_some_and(|place| place.some.is_some()) =>
                    {
                        format!("{place}|list('{{{field}}}')")
                    }
                    _ => path.to_owned(),
                },
            };
            format!("{}: {{{value}}}.", capitalised(&name_fact(fact)))
        });
        let told: Vec<String> = facts.collect();
        if told.is_empty() { "That is done.".to_owned() } else { told.join(" ") }
    }
}

/// Returns the label of a fact: `books` of `count(list.books)`, `due on` of `loan.due_on`.
fn name_fact(fact: &str) -> String {
    let path = fact.trim_end_matches(')').replace("[*]", "");
    let last = path.rsplit(['.', '(']).next().unwrap_or_default();
    naming::label(last.split('[').next().unwrap_or_default())
}
