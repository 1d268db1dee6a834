//! Changes of records: asked for at once, detail by detail, after a question, or refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::contract::is_over;
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::english::enumerate;
use diorama_seeds::model::{BehaviourKind, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;

use super::author::{Author, REPLY};
use super::shape::Shape;
use super::sketch::{Sketch, member};
use super::spoken::{SPOKEN, both_hands};
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
            let Some(calls) = self.try_calls(&sketch) else {
                self.refused(&sketch, &clauses, &requests, turn);
                continue;
            };
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
            let mut sketch = sketch;
            let mut end = sketch.done(self.id, REPLY, key);
            if sketch.keep_names(self.id, &mut end).is_none() {
                continue;
            }
            let mut goal = ScenarioGoalDoc {
                user: wording::openings(&clauses, &requests, turn),
                does: sketch.steps.clone(),
                end,
                ..ScenarioGoalDoc::default()
            };
            self.look_first(&sketch, &calls, &goal);
            if let Some(consent) = sketch.consent(self.id) {
                goal.does.insert(goal.does.len().saturating_sub(1), consent);
            }
            if !asked_back {
                asked_back = self.ask_back(&sketch, &goal);
            }
            let later = wording::later(&clauses, &requests, turn);
            self.keep(Shape::Write, ScenarioDoc { later, goals: vec![goal], ..sketch.doc.clone() });
            self.refused(&sketch, &clauses, &requests, turn);
        }
    }

    /// A question for what a record has, and the change of just that.
    fn look_first(
        &mut self,
        sketch: &Sketch<'a>,
        calls: &[Arc<LogEntry>],
        goal: &ScenarioGoalDoc,
    ) -> Option<()> {
        let (BehaviourKind::Patch { resource, .. } | BehaviourKind::Replace { resource, .. }) =
            self.api.behaviour.kind
        else {
            return None;
        };
        let body = sketch.said.iter().filter(|(id, _)| {
            refers_to(&self.api.parameters[id.index()].schema.kind).is_none()
                && !sketch.is_first_part(self.api, *id)
        });
        let [(id, words)] = body.collect::<Vec<_>>()[..] else { return None };
        let (_, field) = self.api.parameters[id.index()].field.filter(|(of, _)| *of == resource)?;
        // What it is called, the question would say.
        if self.writer.world().resource(resource).display == Some(field) {
            return None;
        }
        let is_it = |origin: &Origin| matches!(origin, Origin::Field { resource: of, field: own, .. } if *of == resource && *own == field);
        let (_, looks) = calls.split_last()?;
        looks.iter().any(|entry| entry.reply.body.values().any(|(_, origin)| is_it(origin))).then_some(())?;
        let at = sketch.named(resource)?;
        let name = &self.writer.world().resource(resource).field(field).name;
        let place = member(&sketch.records[at].place, name);
        let it = sketch.name_with_noun(at);
        let question = sketch.bare_question(resource, field, Some(&it))?;
        let (last, before) = sketch.steps.split_last()?;
        let ask = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.now, &[("x", &question)]),
            does: before.to_vec(),
            end: sketch.statements(resource, field, &it, &place, false),
            facts: vec![place],
            ..ScenarioGoalDoc::default()
        };
        let value = match &self.api.parameters[id.index()].schema.kind {
            Type::String => quoted(words.first()?),
            _ => words.first()?.clone(),
        };
        let change = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.change_to, &[("value", &value)]),
            does: sketch.consent(self.id).into_iter().chain([last.clone()]).collect(),
            end: goal.end.clone(),
            ..ScenarioGoalDoc::default()
        };
        self.keep_goals(Shape::Branch, sketch, vec![ask, change]);
        Some(())
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
                let words = if words.starts_with("the latest ") { "the latest one" } else { words };
                let words = match &schema.kind {
                    Type::String => quoted(words),
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
}

/// A place in a request, in quotation marks where it holds a sentence.
fn quoted(words: &str) -> String {
    match words.strip_suffix('}') {
        Some(place) if !place.contains(['|', '}']) => format!("{place}|quoted}}"),
        _ => words.to_owned(),
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
