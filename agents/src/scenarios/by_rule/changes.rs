//! Changes of records: asked for at once, detail by detail, after a question, or refused.

use std::collections::BTreeSet;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::contract::is_over;
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc, ScenarioWhenDoc};
use diorama_seeds::english::enumerate;
use diorama_seeds::model::{ApiId, BehaviourKind, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;

use super::author::{Author, REPLY};
use super::questions::Shown;
use super::shape::Shape;
use super::sketch::Sketch;
use super::wording;
use super::writer::{Writer, choices};
use crate::worlds::world::refers_to;

impl<'a> Author<'a> {
    /// Changes, asked for at once or detail by detail, and those that a rule refuses.
    pub(crate) fn change(&mut self) {
        let mut asked_back = false;
        for (turn, chosen) in choices(self.api, self.writer.guide(), self.id).into_iter().enumerate() {
            let Some(sketch) = self.sketch(&chosen) else { continue };
            let (clauses, requests) = (sketch.clauses(self.id), sketch.requests(self.id));
            if clauses.is_empty() && requests.is_empty() {
                self.reason = "it has no words: give it `phrases.do` or `phrases.request` (docs/world-format.md; of a document, in a file for --overlay)".to_owned();
                continue;
            }
            self.refused(&sketch, &clauses, &requests, turn);
            let Some(calls) = self.try_calls(&sketch) else { continue };
            let Some(last) =
                calls.last().filter(|entry| !entry.changes.is_empty() && !ends_what_is_over(entry))
            else {
                continue;
            };
            let key = match &self.api.behaviour.kind {
                BehaviourKind::Create { resource, .. } => find_key(last, *resource, self.writer)
                    .and_then(|path| Some((*resource, sketch.place_in(REPLY, &path)?))),
                _ => None,
            };
            let goal = ScenarioGoalDoc {
                user: wording::openings(&clauses, &requests, turn),
                does: sketch.steps.clone(),
                end: sketch.done(self.id, REPLY, key),
                ..ScenarioGoalDoc::default()
            };
            if !asked_back {
                asked_back = self.ask_back(&sketch, &goal);
            }
            let later = wording::later(&clauses, &requests, turn);
            self.keep(Shape::Write, ScenarioDoc { later, goals: vec![goal], ..sketch.doc.clone() });
        }
    }

    /// The request without what it needs: the assistant asks for it.
    fn ask_back(&mut self, sketch: &Sketch<'a>, goal: &ScenarioGoalDoc) -> bool {
        let Some(clause) = sketch.vague(self.id) else { return false };
        let world = self.writer.world();
        let labelled: Vec<(String, bool, String)> = sketch
            .said
            .iter()
            // Both parts of a key are told as one.
            .filter(|(id, _)| !sketch.is_first_part(self.api, *id))
            .map(|(id, words)| {
                let schema = &self.api.parameters[id.index()].schema;
                let of = refers_to(&schema.kind).map(|resource| world.resource(resource).label.to_string());
                let is_record = of.is_some();
                let own = refers_to(&schema.kind).and_then(|resource| sketch.named(resource));
                let whole = own.map(|at| sketch.words(at));
                let words = whole.as_ref().or(words.last()).map_or("", String::as_str);
                let words = words.strip_prefix("on ").or(words.strip_prefix("at ")).unwrap_or(words);
                let words = match (&schema.kind, words.strip_suffix('}')) {
                    (Type::String, Some(place)) if !place.contains(['|', '}']) => format!("{place}|quoted}}"),
                    _ => words.to_owned(),
                };
                (of.unwrap_or_else(|| self.api.parameters[id.index()].label.to_string()), is_record, words)
            })
            .collect();
        let the: Vec<String> = labelled.iter().map(|(label, ..)| format!("the {label}")).collect();
        let ask = match labelled.as_slice() {
            [] => return false,
            [(label, true, _)] => {
                vec![format!("Which {label} do you mean?"), format!("Sure. Which {label} is it?")]
            }
            [(label, false, _)] => vec![
                format!("What should the {label} be?"),
                format!("Of course. What {label} would you like?"),
            ],
            _ => {
                let all = enumerate(&the);
                vec![format!("Sure. Could you tell me {all}?"), format!("I can do that. I still need {all}.")]
            }
        };
        let tell: Vec<String> = match labelled.as_slice() {
            [(_, _, words)] => vec![
                format!("It's {words}."),
                format!("That would be {words}."),
                format!("its {words}"),
                words.clone(),
            ],
            _ => {
                let one = |(label, _, words): &(String, bool, String)| format!("The {label} is {words}.");
                let two = |(label, _, words): &(String, bool, String)| format!("{label}: {words}");
                let three = |(label, _, words): &(String, bool, String)| format!("{label} is {words}");
                vec![
                    labelled.iter().map(one).collect::<Vec<_>>().join(" "),
                    format!("Sure. {}", labelled.iter().map(one).collect::<Vec<_>>().join(" ")),
                    labelled.iter().map(two).collect::<Vec<_>>().join(", "),
                    labelled.iter().map(three).collect::<Vec<_>>().join(", "),
                ]
            }
        };
        let mut doc = sketch.doc.clone();
        doc.withheld.insert("details".to_owned(), tell);
        let asks =
            ScenarioStepDoc { say: ask, ask: Some("details".to_owned()), ..ScenarioStepDoc::default() };
        let mut goal = goal.clone();
        goal.does.insert(0, asks);
        let clause = [clause];
        goal.user = wording::openings(&clause, &[], self.id.index());
        doc.later = wording::later(&clause, &[], self.id.index());
        doc.goals = vec![goal];
        self.keep(Shape::AskBack, doc)
    }

    /// A change that one of the API's checks refuses.
    fn refused(&mut self, sketch: &Sketch<'a>, clauses: &[String], requests: &[String], turn: usize) {
        let statuses: BTreeSet<u16> = self.api.behaviour.require.iter().map(|check| check.status).collect();
        for class in statuses.into_iter().filter_map(RefusalClass::of_status) {
            let mut steps = sketch.steps.clone();
            let Some(last) = steps.last_mut() else { return };
            last.fails = true;
            let end = [
                "I'm sorry, I couldn't do that: {found.detail}",
                "Unfortunately this isn't possible. {found.detail}",
                "That was refused, and nothing has been changed: {found.detail}",
            ];
            let goal = ScenarioGoalDoc {
                user: wording::openings(clauses, requests, turn + 5),
                does: steps,
                end: end.map(str::to_owned).to_vec(),
                refused: vec![class],
                ..ScenarioGoalDoc::default()
            };
            let later = wording::later(clauses, requests, turn);
            if self.keep(Shape::Refusal, ScenarioDoc { later, goals: vec![goal], ..sketch.doc.clone() }) {
                return;
            }
        }
    }

    /// A change of the record once the answer is there.
    pub(crate) fn branch(&mut self, sketch: &Sketch<'a>, resource: ResourceId, shown: &Shown, it: &str) {
        let world = self.writer.world();
        let takes = |id: &&ApiId| {
            let api = world.api(**id);
            let of = |kind: &Type| refers_to(kind) == Some(resource);
            api.domain == self.api.domain
                && api.parameters.iter().any(|parameter| parameter.required && of(&parameter.schema.kind))
        };
        let writers: Vec<ApiId> = self.writer.survey().writers.iter().filter(takes).copied().collect();
        for id in writers {
            let mut second = sketch.clone();
            let known = second.steps.len();
            second.said.clear();
            second.new.clear();
            let Some(chosen) = choices(world.api(id), self.writer.guide(), id).pop() else { continue };
            if second.call(id, &chosen, "changed").is_none() {
                continue;
            }
            let steps = second.steps.split_off(known);
            let clauses = second.clauses(id);
            if clauses.is_empty() {
                continue;
            }
            let goal = self.question(sketch, resource, shown, it, false);
            let leads = [
                "Thanks. Then please {x}.",
                "Good to know. Please {x}.",
                "ok then {x}",
                "alright, please {x}",
            ];
            let turned = leads.iter().enumerate();
            let user =
                turned.map(|(number, lead)| lead.replace("{x}", &clauses[number % clauses.len()])).collect();
            let change = ScenarioGoalDoc {
                when: Some(ScenarioWhenDoc { shown: goal.facts.first().cloned(), outcome: None }),
                user,
                does: steps,
                end: second.done(id, "changed", None),
                ..ScenarioGoalDoc::default()
            };
            let doc = ScenarioDoc {
                later: wording::further(&goal.user),
                goals: vec![goal, change],
                ..second.doc.clone()
            };
            self.keep(Shape::Branch, doc);
        }
    }
}

/// Finds where a reply shows the key of the record that was made.
fn find_key(entry: &LogEntry, resource: ResourceId, writer: &Writer<'_>) -> Option<String> {
    let key = writer.world().resource(resource).key;
    entry.reply.body.leaves().find_map(|(path, _, origin)| {
        let own =
            matches!(origin, Origin::Field { resource: of, field, .. } if *of == resource && *field == key);
        (own && !path.contains('[')).then_some(path)
    })
}

/// Returns true if something is ended that is over: nobody cancels what has failed.
fn ends_what_is_over(entry: &LogEntry) -> bool {
    entry.changes.iter().any(|change| {
        let Some((before, after)) = change.before.as_ref().zip(change.after.as_ref()) else { return false };
        (0..after.len()).any(|field| {
            let text = |record: &diorama_seeds::model::Record| {
                record.get(field).and_then(Value::as_str).map(str::to_owned)
            };
            let (had, has) = (text(before), text(after));
            had != has && [had, has].iter().flatten().filter(|state| is_over(state)).count() == 2
        })
    })
}
