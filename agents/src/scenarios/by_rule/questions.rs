//! Writes questions about one record, about a missing record, and for figures that the world computes.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::doc::{PlaceDoc, ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc, Tag};
use diorama_seeds::model::{BehaviourKind, FieldId, ResourceId};
use diorama_seeds::schema::{Type, refers_to};
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::author::{Author, REPLY};
use super::lists::next_of;
use super::shape::Shape;
use super::sketch::Sketch;
use super::spoken::SPOKEN;
use super::wording;
use super::writer::choices;

/// The greatest number of fields of a record that are asked for, each in a scenario of its own.
const MAX_FIELDS: usize = 4;

/// The greatest number of changes that follow a question about a record.
const MAX_CHANGES: usize = 3;

/// A path in a reply that shows a field of the requested record.
pub(crate) struct ShownField {
    pub(crate) path: String,
    pub(crate) field: FieldId,
}

impl<'a> Author<'a> {
    /// Writes questions about one record.
    pub(crate) fn read(&mut self, resource: ResourceId) {
        let Some(sketch) = self.sketch(&BTreeSet::new()) else { return };
        let Some(calls) = self.try_calls(&sketch) else { return };
        let Some((last, before)) = calls.split_last() else { return };
        let fields = self.askable(resource, last, before);
        // If the world has phrases for some fields, the others are skipped.
        let guide = self.writer.guide();
        let with_words = |shown: &&ShownField| !guide.asks(resource, shown.field).is_empty();
        let pool: Vec<&ShownField> = match self.has_asks() {
            true => fields.iter().filter(with_words).collect(),
            false => fields.iter().collect(),
        };
        let (kept, mut pool): (Vec<&ShownField>, Vec<&ShownField>) =
            pool.into_iter().partition(|shown| self.is_bookkeeping(resource, shown.field));
        let firsts = pool.len().clamp(1, MAX_FIELDS);
        pool.extend(kept.into_iter().take(1));
        if pool.is_empty() {
            self.reason = "its reply shows nothing of the record to ask for".to_owned();
        }
        let it = self.it(&sketch, resource);
        let own = sketch.named(resource).map(|at| sketch.records[at].place.clone());
        for (at, shown) in pool.iter().enumerate().take(firsts) {
            let mut sketch = sketch.clone();
            if let Some(place) = &own {
                sketch.only_telling(place, resource, shown.field);
            }
            let next = next_of(&pool, at).and_then(|next| {
                sketch.further((resource, next.field), None, &sketch.place_in(REPLY, &next.path)?)
            });
            for bare in [false, true] {
                let goal = self.question(&sketch, resource, shown, &it, bare);
                let goals = std::iter::once(goal).chain(next.clone()).collect();
                if self.keep_longest(Shape::Read, &sketch, goals) {
                    break;
                }
            }
        }
        if let Some(first) = pool.first() {
            self.correct(&sketch, resource, first, &it);
            self.branch(&sketch, resource, first, &it);
        }
        self.missing(resource);
    }

    /// Returns true if a field only holds the time of creation or change: users prefer other fields.
    pub(crate) fn is_bookkeeping(&self, resource: ResourceId, field: FieldId) -> bool {
        let described = self.writer.world().resource(resource);
        let doc = described.field(field);
        matches!(doc.schema.kind, Type::Date | Type::DateTime)
            && (SPOKEN.is_made(&doc.label, &described.label) || SPOKEN.is_changed(&doc.label))
    }

    /// Returns true if a field holds the creation time of a record.
    pub(crate) fn tells_making(&self, resource: ResourceId, field: FieldId) -> bool {
        let described = self.writer.world().resource(resource);
        let doc = described.field(field);
        matches!(doc.schema.kind, Type::Date | Type::DateTime) && SPOKEN.is_made(&doc.label, &described.label)
    }

    /// Returns true if a user may remove a record for the value of a field: its state, or its age.
    pub(crate) fn may_remove_for(&self, resource: ResourceId, field: FieldId) -> bool {
        let label = &self.writer.world().resource(resource).field(field).label;
        SPOKEN.is_state(label) || self.is_bookkeeping(resource, field)
    }

    /// Changes the record after the answer.
    fn branch(&mut self, sketch: &Sketch<'a>, resource: ResourceId, shown: &ShownField, it: &str) {
        let goal = self.question(sketch, resource, shown, it, false);
        let removes = self.may_remove_for(resource, shown.field);
        for (second, change) in
            sketch.changes_after(self.api.domain, (resource, removes), goal.facts.first()).take(MAX_CHANGES)
        {
            self.keep_goals(Shape::Branch, &second, vec![goal.clone(), change]);
        }
    }

    /// Returns the words for the record in a question: its name and its owners, or only its owner.
    pub(crate) fn it(&self, sketch: &Sketch<'a>, resource: ResourceId) -> String {
        let world = self.writer.world();
        let own = sketch.records.iter().rposition(|named| named.resource == resource);
        let described = world.resource(resource);
        match own {
            Some(own) => {
                let mut it = sketch.name_with_noun(own);
                for at in (0..sketch.records.len()).filter(|at| *at != own).rev() {
                    let words = sketch.name_with_noun(at);
                    if !it.contains(&words)
                        && sketch.said.iter().any(|(_, said)| {
                            said.iter().any(|said| words.contains(said.trim_matches(['{', '}'])))
                        })
                    {
                        it.push_str(&format!(" of {words}"));
                    }
                }
                it
            }
            // Without sign-in a record is not the user's own.
            None if sketch.records.is_empty() && world.domains[described.domain.index()].auth.is_none() => {
                format!("the {}", described.label)
            }
            None if sketch.records.is_empty() => format!("my {}", described.label),
            None => {
                let above: Vec<String> =
                    (0..sketch.records.len()).rev().map(|at| sketch.name_with_noun(at)).collect();
                format!("the {} of {}", described.label, above.join(" of "))
            }
        }
    }

    /// Returns the fields of the requested record in the last reply that no earlier reply shows.
    fn askable(&self, resource: ResourceId, last: &LogEntry, before: &[Arc<LogEntry>]) -> Vec<ShownField> {
        let described = self.writer.world().resource(resource);
        let own = last.reply.body.leaves().find_map(|(_, _, origin)| match origin {
            Origin::Field { resource: of, key, .. } if *of == resource => Some(key.clone()),
            _ => None,
        });
        let own = own.filter(|own| self.is_of_call(last, resource, own));
        let shown_before = |key: &Value, field: FieldId| {
            let origin = Origin::Field { resource, key: key.clone(), field };
            before.iter().any(|entry| entry.reply.body.values().any(|(_, other)| *other == origin))
        };
        let mut fields = Vec::new();
        for (path, value, origin) in last.reply.body.leaves() {
            let Origin::Field { resource: of, key, field } = origin else { continue };
            let kind = &described.fields.get(field.index()).map(|field| &field.schema.kind);
            let is_plain_value =
                !matches!(value, Value::Null | Value::Absent | Value::List(_) | Value::Object(_))
                    && !matches!(kind, Some(Type::Reference { .. }))
                    && (!matches!(kind, Some(Type::Boolean))
                        || !self.writer.guide().asks(resource, *field).is_empty());
            if *of == resource
                && own.as_ref() == Some(key)
                && *field != described.key
                && described.display != Some(*field)
                && described.owner != Some(*field)
                && is_plain_value
                && !path.contains('[')
                && !shown_before(key, *field)
                && fields.iter().all(|shown: &ShownField| shown.field != *field)
            {
                fields.push(ShownField { path, field: *field });
            }
        }
        fields
    }

    /// Returns true if a record is the one that the call names by a key.
    fn is_of_call(&self, entry: &LogEntry, resource: ResourceId, key: &Value) -> bool {
        let names =
            self.api.parameters.iter().filter(|parameter| {
                parameter.required && refers_to(&parameter.schema.kind) == Some(resource)
            });
        let sent: Vec<&Json> =
            names.filter_map(|parameter| entry.call.arguments.get(&*parameter.name)).collect();
        let key = key.to_json(&self.writer.world().zone);
        sent.is_empty() || sent.contains(&&key)
    }

    pub(crate) fn question(
        &self,
        sketch: &Sketch<'a>,
        resource: ResourceId,
        shown: &ShownField,
        it: &str,
        bare: bool,
    ) -> ScenarioGoalDoc {
        let Some(place) = sketch.place_in(REPLY, &shown.path) else { return ScenarioGoalDoc::default() };
        ScenarioGoalDoc {
            user: sketch.questions(resource, shown.field, it),
            does: sketch.steps.clone(),
            end: sketch.statements(resource, shown.field, it, &place, bare),
            facts: vec![place],
            ..ScenarioGoalDoc::default()
        }
    }

    /// Writes a question that is repeated about another record, because the user named the wrong one.
    fn correct(&mut self, sketch: &Sketch<'a>, resource: ResourceId, shown: &ShownField, it: &str) {
        let described = self.writer.world().resource(resource);
        let [named] = sketch.records.as_slice() else { return };
        if named.resource != resource || described.display.is_none() || named.phrase.is_some() {
            return;
        }
        let (first, second) = (named.place.clone(), format!("{}_too", named.place));
        let mut doc = sketch.doc.clone();
        let Some(place) = doc.bind.get(&first).cloned() else { return };
        doc.bind.insert(second.clone(), place);
        let renamed = |words: &String| words.replace(&first, &second);
        let goal = self.question(sketch, resource, shown, it, false);
        let mut again = goal.clone();
        again.end.iter_mut().for_each(|words| *words = renamed(words));
        for step in &mut again.does {
            for given in step.with.values_mut() {
                if let Json::String(expression) = given {
                    *expression = renamed(expression);
                }
            }
        }
        let other = renamed(&sketch.words(0));
        let leads = [
            "Sorry, I meant {x}.",
            "My mistake, I was asking about {x}.",
            "oh wait, i meant {x}",
            "no sorry, {x}",
        ];
        again.user = leads.iter().map(|lead| lead.replace("{x}", &other)).collect();
        // A list that was read shows the other record, too.
        if again.does.len() > 1 && again.does[0].with.is_empty() {
            again.does.remove(0);
        }
        doc.shows = vec![Tag::Correction];
        doc.later = wording::further(&goal.user);
        doc.goals = vec![goal, again];
        self.keep(Shape::Correction, doc);
    }

    /// Writes a question about a record that does not exist.
    fn missing(&mut self, resource: ResourceId) {
        let described = self.writer.world().resource(resource);
        let BehaviourKind::Lookup { by, .. } = &self.api.behaviour.kind else { return };
        let [(field, parameter)] = by.as_slice() else { return };
        let needed = self.api.parameters.iter().filter(|parameter| parameter.required).count();
        let fields = (0..described.fields.len()).map(|index| FieldId(index as u16));
        let guide = self.writer.guide();
        let asked = fields.into_iter().find(|field| !guide.asks(resource, *field).is_empty());
        let (Some(asked), Some(display), 1) = (asked, described.display, needed) else { return };
        if display != *field {
            return;
        }
        let mut sketch = Sketch::new(self.writer, self.api, false);
        let place = sketch.fresh(&described.name);
        let like = Some(format!("{}.{}", described.name, described.field(display).name));
        sketch.doc.bind.insert(place.clone(), PlaceDoc { like, ..PlaceDoc::default() });
        let step = ScenarioStepDoc {
            call: Some(self.api.name.to_string()),
            with: [(sketch.name_of(&self.api.parameters[parameter.index()]), Json::from(place.clone()))]
                .into_iter()
                .collect(),
            fails: true,
            ..ScenarioStepDoc::default()
        };
        let it = format!("{{{place}}}");
        let label = &described.label;
        let end = [
            format!("I'm sorry, I could not find the {label} {it}."),
            format!("There is no {label} called {it} here, so I can't answer that."),
            format!("I looked for {it}, but no {label} of that name was found."),
        ];
        let user = sketch.questions(resource, asked, &it);
        let goal = ScenarioGoalDoc {
            does: vec![step],
            end: end.to_vec(),
            refused: vec![RefusalClass::NotFound],
            asks: vec![format!("{}.{}", described.name, described.field(asked).name)],
            user,
            ..ScenarioGoalDoc::default()
        };
        let doc =
            ScenarioDoc { later: wording::further(&goal.user), goals: vec![goal], ..sketch.doc.clone() };
        self.keep(Shape::Missing, doc);
    }

    /// Writes questions for figures that the world computes.
    pub(crate) fn compute(&mut self) {
        for (turn, chosen) in choices(self.api, self.writer.guide(), self.id).into_iter().enumerate() {
            let Some(sketch) = self.sketch(&chosen) else { continue };
            let (clauses, requests) = (sketch.clauses(self.id), sketch.requests(self.id));
            let Some(calls) = self.try_calls(&sketch).filter(|_| clauses.len() + requests.len() > 0) else {
                continue;
            };
            let Some(last) = calls.last() else { continue };
            let figures: Vec<String> = last
                .reply
                .body
                .leaves()
                .filter(|(path, value, origin)| {
                    matches!(origin, Origin::Computed)
                        && value.as_f64().is_some()
                        && !path.ends_with("_id")
                        && !path.contains('[')
                })
                .map(|(path, ..)| path)
                .collect();
            for path in figures.iter().take(MAX_FIELDS) {
                let Some(place) = sketch.place_in(REPLY, path) else { continue };
                let name = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
                let is = if name.ends_with('s') { "are" } else { "is" };
                let leads = ["I need the ", "What I want to know is the ", "need the ", "just the "];
                let told = |words: &str, lead: &str| match figures.len() {
                    1 => words.to_owned(),
                    _ => format!(
                        "{words}{} {lead}{name}",
                        if words.ends_with(['.', '?', '!']) { "" } else { "." }
                    ),
                };
                let openings = wording::openings(&SPOKEN.frames, &clauses, &requests, turn);
                let half = openings.len() / 2;
                let user = openings.iter().enumerate().map(|(number, words)| match number < half {
                    true => told(words, leads[number % 2]) + if figures.len() > 1 { "." } else { "" },
                    false => told(words, leads[2 + number % 2]),
                });
                let goal = ScenarioGoalDoc {
                    user: user.collect(),
                    does: sketch.steps.clone(),
                    // An agent could guess one or two.
                    only_if: vec![format!("{place}|n > 2")],
                    end: vec![
                        format!("The {name} {is} {{{place}}}."),
                        format!("That comes to {{{place}}}."),
                        format!("It's {{{place}}}."),
                    ],
                    facts: vec![place],
                    ..ScenarioGoalDoc::default()
                };
                let later = wording::later(&clauses, &requests, turn);
                self.keep(Shape::Compute, ScenarioDoc { later, goals: vec![goal], ..sketch.doc.clone() });
            }
        }
    }
}
