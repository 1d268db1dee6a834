//! Writes scenarios that change records: requested at once, detail by detail, after a question, or refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::agreement::is_over;
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::english::enumerate;
use diorama_seeds::model::{BehaviourKind, ParameterId, ResourceId};
use diorama_seeds::schema::{Type, refers_to};
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;

use super::author::{Author, REPLY};
use super::shape::Shape;
use super::sketch::{Sketch, member};
use super::spoken::{Hands, SPOKEN, both_hands};
use super::wording::{self, quoted};
use super::writer::{Writer, choices};
use crate::scenarios::speech::fill;

/// The greatest number of uses of a new record that are tried.
const MAX_USES: usize = 3;
/// The greatest number of details that the assistant asks for at once.
const MAX_ASKED: usize = 3;

impl<'a> Author<'a> {
    /// Writes changes that are requested at once or detail by detail, and those that a rule refuses.
    pub(crate) fn change(&mut self) {
        let mut asked_back = false;
        for (turn, chosen) in choices(self.api, self.writer.guide(), self.id).into_iter().enumerate() {
            let Some(sketch) = self.sketch(&chosen) else { continue };
            let (clauses, requests) = (sketch.clauses(self.id), sketch.requests(self.id));
            if clauses.is_empty() && requests.is_empty() {
                self.reason = "it has no words: give it `phrases.do` or `phrases.request` (docs/world-format.md; of a document, in a file for --overlay)".to_owned();
                continue;
            }
            if self.makes_anything(&sketch) {
                self.reason = "its request says nothing of what it makes or changes".to_owned();
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
                user: self
                    .correction(&sketch)
                    .unwrap_or_else(|| wording::openings(self.frames(&sketch), &clauses, &requests, turn)),
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
            self.use_new(&sketch, last, &goal);
            self.keep(Shape::Write, ScenarioDoc { later, goals: vec![goal], ..sketch.doc.clone() });
            self.refused(&sketch, &clauses, &requests, turn);
        }
    }

    /// Returns true if a document's request creates or changes something without any value: `create a new
    /// ride`.
    fn makes_anything(&self, sketch: &Sketch<'a>) -> bool {
        let is_written = matches!(
            self.api.behaviour.kind,
            BehaviourKind::Create { .. } | BehaviourKind::Patch { .. } | BehaviourKind::Replace { .. }
        );
        is_written && self.api.contract.is_some() && sketch.said.is_empty()
    }

    /// Returns the only member of the body that a request gives, with its words.
    fn only_member<'s>(&self, sketch: &'s Sketch<'a>) -> Option<(ParameterId, &'s [String])> {
        let mut body = sketch.said.iter().filter(|(id, _)| {
            refers_to(&self.api.parameters[id.index()].schema.kind).is_none()
                && !sketch.is_first_part(self.api, *id)
        });
        let (id, words) = body.next().filter(|_| body.next().is_none())?;
        Some((*id, words))
    }

    /// Returns the words of an argument, in quotation marks if it is a sentence.
    fn quote(&self, id: ParameterId, words: &[String]) -> Option<String> {
        let words = words.first()?;
        let is_text = matches!(self.api.parameters[id.index()].schema.kind, Type::String);
        Some(if is_text { quoted(words) } else { words.clone() })
    }

    /// Returns the wordings of a user who corrects one member.
    fn correction(&self, sketch: &Sketch<'a>) -> Option<Vec<String>> {
        let (BehaviourKind::Patch { resource, .. } | BehaviourKind::Replace { resource, .. }) =
            self.api.behaviour.kind
        else {
            return None;
        };
        sketch.named(resource)?;
        let (id, words) = self.only_member(sketch)?;
        let parameter = &self.api.parameters[id.index()];
        // A timestamp brings a preposition of its own.
        if matches!(parameter.schema.kind, Type::Date | Type::DateTime | Type::Time) {
            return None;
        }
        let (it, value) = (self.it(sketch, resource), self.quote(id, words)?);
        let frames = if SPOKEN.is_name(&parameter.label) { &SPOKEN.rename } else { &SPOKEN.correct };
        Some(both_hands(frames, &[("it", &it), ("label", &parameter.label), ("value", &value)]))
    }

    /// Returns the frames of a request: a removal says that the record is no longer needed, unless it is a
    /// person.
    fn frames(&self, sketch: &Sketch<'a>) -> &'static Hands {
        // People do not stop using a record that they only know as the latest of its kind.
        let is_latest =
            |resource| sketch.named(resource).is_some_and(|at| sketch.records[at].phrase.is_some());
        let is_thing = |resource: ResourceId| !sketch.is_person(resource) && !is_latest(resource);
        match &self.api.behaviour.kind {
            BehaviourKind::Delete { resource, .. } if is_thing(*resource) => &SPOKEN.remove,
            _ => &SPOKEN.frames,
        }
    }

    /// Creates a record and then uses it.
    fn use_new(&mut self, sketch: &Sketch<'a>, last: &LogEntry, goal: &ScenarioGoalDoc) -> Option<()> {
        let BehaviourKind::Create { resource, .. } = self.api.behaviour.kind else { return None };
        let key = sketch.place_in(REPLY, &find_key(last, resource, self.writer)?)?;
        for (second, then) in sketch.uses_of_new(self.api.domain, resource, &key).take(MAX_USES) {
            if self.keep_goals(Shape::Branch, &second, vec![goal.clone(), then]) {
                break;
            }
        }
        Some(())
    }

    /// Asks for a field of a record, and then changes that field.
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
        let (id, words) = self.only_member(sketch)?;
        let (_, field) = self.api.parameters[id.index()].field.filter(|(of, _)| *of == resource)?;
        // The question would already contain the display name.
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
        let value = self.quote(id, words)?;
        let change = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.change_to, &[("value", &value)]),
            does: sketch.consent(self.id).into_iter().chain([last.clone()]).collect(),
            end: goal.end.clone(),
            ..ScenarioGoalDoc::default()
        };
        self.keep_goals(Shape::Branch, sketch, vec![ask, change]);
        Some(())
    }

    /// Leaves out details of the request, for which the assistant asks.
    fn ask_back(&mut self, sketch: &Sketch<'a>, goal: &ScenarioGoalDoc) -> bool {
        // A document's request names its record, and leaves out the values.
        let without = match self.api.contract.is_some() {
            true => sketch.without_values(self.id),
            false => {
                sketch.vague(self.id).map(|clause| (clause, sketch.said.iter().map(|(id, _)| *id).collect()))
            }
        };
        let Some((clause, left)) = without else { return false };
        let details = self.details(sketch, &left);
        let (ask, tell): (Vec<String>, Vec<String>) = match details.as_slice() {
            [] => return false,
            all if all.len() > MAX_ASKED => return false,
            [only] => {
                let fill_in = |words: &String| fill(words, &[("label", &only.label), ("value", &only.words)]);
                let (ask, tell) = only.kind.words();
                (ask.iter().map(fill_in).collect(), tell.iter().map(fill_in).collect())
            }
            all => {
                let parts: Vec<String> = all.iter().map(|detail| detail.part(all)).collect();
                let fill_in = |words: &String| fill(words, &[("all", &enumerate(&parts))]);
                (SPOKEN.ask.several.iter().map(fill_in).collect(), tell_several(all))
            }
        };
        let mut doc = sketch.doc.clone();
        doc.withheld.insert("details".to_owned(), tell);
        let asks =
            ScenarioStepDoc { say: ask, ask: Some("details".to_owned()), ..ScenarioStepDoc::default() };
        let mut goal = goal.clone();
        goal.does.insert(0, asks);
        let clause = [clause];
        goal.user = wording::openings(&SPOKEN.frames, &clause, &[], self.id.index());
        doc.later = wording::later(&clause, &[], self.id.index());
        doc.goals = vec![goal];
        self.keep(Shape::AskBack, doc)
    }

    /// Returns the details that a request leaves out, as the user tells them when asked.
    fn details(&self, sketch: &Sketch<'a>, left: &[ParameterId]) -> Vec<Detail> {
        let world = self.writer.world();
        // Users tell both parts of a key as one.
        let said = sketch.said.iter().filter(|(id, _)| left.contains(id));
        let said = said.filter(|(id, _)| !sketch.is_first_part(self.api, *id));
        let detail = |(id, words): &(ParameterId, Vec<String>)| {
            let parameter = &self.api.parameters[id.index()];
            let of = refers_to(&parameter.schema.kind);
            let whole = of.and_then(|resource| sketch.named(resource)).map(|at| sketch.words(at));
            let words = whole.as_ref().or(words.last()).map_or("", String::as_str);
            let words = words.strip_prefix("on ").or(words.strip_prefix("at ")).unwrap_or(words);
            let words = if words.starts_with("the latest ") { "the latest one" } else { words };
            let is_text = matches!(parameter.schema.kind, Type::String);
            let label = of.map_or(&parameter.label, |resource| &world.resource(resource).label).to_string();
            let kind = match of {
                Some(_) => DetailKind::Which,
                None if SPOKEN.is_name(&label) => DetailKind::Called,
                None if SPOKEN.is_speech(&label) => DetailKind::Says,
                None => DetailKind::Value,
            };
            let words = if is_text || of.is_some() { quoted(words) } else { words.to_owned() };
            Detail { label, kind, words }
        };
        said.map(detail).collect()
    }

    /// Writes a change that one of the API's checks refuses.
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
                user: wording::openings(&SPOKEN.frames, clauses, requests, turn + 5),
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

/// A detail that a request leaves out.
struct Detail {
    label: String,
    kind: DetailKind,
    /// Its value in the user's words.
    words: String,
}

impl Detail {
    /// Returns its part in a question for several details.
    fn part(&self, all: &[Self]) -> String {
        let words = &SPOKEN.ask_also;
        let is_alone = all.iter().filter(|other| other.kind == self.kind).count() == 1;
        let words = match self.kind {
            DetailKind::Which if is_alone => &words.which,
            DetailKind::Called if is_alone => &words.called,
            DetailKind::Says if is_alone => &words.says,
            _ => &words.value,
        };
        fill(words, &[("label", &self.label)])
    }
}

/// The kind of question for a detail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DetailKind {
    /// The identity of a record.
    Which,
    /// The name of a new record.
    Called,
    /// The content of a text.
    Says,
    /// Any other value.
    Value,
}

impl DetailKind {
    /// Returns the assistant's questions, and the user's answers.
    fn words(self) -> (&'static [String], &'static [String]) {
        let (ask, tell) = (&SPOKEN.ask, &SPOKEN.tell);
        match self {
            Self::Which => (&ask.which, &tell.which),
            Self::Called => (&ask.called, &tell.called),
            Self::Says => (&ask.says, &tell.says),
            Self::Value => (&ask.value, &tell.value),
        }
    }
}

/// Returns several details as one answer: in sentences, and as a list.
fn tell_several(details: &[Detail]) -> Vec<String> {
    let join = |one: fn(&Detail) -> String, joint: &str| -> String {
        details.iter().map(one).collect::<Vec<_>>().join(joint)
    };
    let sentences = |detail: &Detail| format!("The {} is {}.", detail.label, detail.words);
    let list = join(|detail| format!("{}: {}", detail.label, detail.words), ", ");
    let first = match details {
        [first @ Detail { kind: DetailKind::Which, .. }, second] => {
            format!("It's {}, and the {} should be {}.", first.words, second.label, second.words)
        }
        _ => format!("Sure. {}", join(sentences, " ")),
    };
    vec![
        join(sentences, " "),
        first,
        list,
        join(|detail| format!("{} is {}", detail.label, detail.words), ", "),
    ]
}

/// Finds the path at which a reply shows the key of the new record.
fn find_key(entry: &LogEntry, resource: ResourceId, writer: &Writer<'_>) -> Option<String> {
    let key = writer.world().resource(resource).key;
    entry.reply.body.leaves().find_map(|(path, _, origin)| {
        let own =
            matches!(origin, Origin::Field { resource: of, field, .. } if *of == resource && *field == key);
        (own && !path.contains('[')).then_some(path)
    })
}

/// Returns true if a call ends something that is over: a user does not cancel a failed job.
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
