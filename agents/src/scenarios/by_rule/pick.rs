//! Writes questions that need a whole list: the item that is newest or has the most of something, and the
//! items of a kind.

use std::collections::BTreeMap;

use diorama_seeds::doc::{PlaceDoc, ScenarioGoalDoc};
use diorama_seeds::model::{BehaviourKind, Field, FieldId, FilterTest, ResourceId};
use diorama_seeds::schema::{Type, refers_to};
use serde_json::Value as Json;

use super::author::Author;
use super::lists::{TrialList, next_of, with_article};
use super::shape::Shape;
use super::sketch::{Sketch, member};
use super::spoken::{SPOKEN, both_hands};
use super::wording::{sentence, tell_choice, tell_field};
use crate::scenarios::speech::fill;

/// The greatest number of questions for the first in some order.
const MAX_ORDERS: usize = 2;
/// The greatest number of changes that take turns after questions about an item.
const MAX_CHANGES: usize = 4;
/// The greatest number of questions for the items of a kind.
const MAX_KINDS: usize = 1;
/// The greatest number of values of a field that distinguishes kinds.
const MAX_VALUES: usize = 12;
/// The least and the greatest number of items of a kind in an answer.
const MIN_OF_KIND: usize = 2;
const MAX_OF_KIND: usize = 8;

impl<'a> Author<'a> {
    /// Writes questions about a whole list that `noun` names.
    pub(crate) fn pick(&mut self, listed: &TrialList<'_, 'a>, noun: &str) {
        let noun = with_article(noun);
        let told = self.told_in_items(listed);
        let is_named = self.find_display(listed.last, listed.resource).is_some();
        if !is_named {
            return self.latest(listed, &told);
        }
        let before = self.written.len();
        for field in &told {
            if self.written.len() - before < MAX_ORDERS {
                self.first_of(listed, &noun, *field, &told);
            }
        }
        let before = self.written.len();
        for field in &told {
            if self.written.len() - before < MAX_KINDS {
                self.of_kind(listed, &noun, *field, &told);
            }
        }
    }

    /// Returns the owners of a list's items, as the request names them.
    fn above(listed: &TrialList<'_, 'a>) -> Vec<ResourceId> {
        listed.sketch.records.iter().map(|named| named.resource).collect()
    }

    /// Asks for the first item in the order of a field, then another question about it, and changes it.
    fn first_of(&mut self, listed: &TrialList<'_, 'a>, noun: &str, field: FieldId, told: &[FieldId]) {
        let TrialList { sketch, resource, items, whole, .. } = listed;
        let described = self.writer.world().resource(*resource);
        let doc = described.field(field);
        let is_ordered = matches!(
            doc.schema.kind,
            Type::Date | Type::DateTime | Type::Integer | Type::Number | Type::Decimal { .. }
        );
        let greatest = !field.index().is_multiple_of(2);
        let made = match greatest {
            true => "is the newest",
            false => "is the oldest",
        };
        let first = match self.tells_making(*resource, field) {
            true => Some(made.to_owned()),
            false => SPOKEN.order(&doc.label, greatest).filter(|_| is_ordered),
        };
        // Amounts in several currencies have no order.
        let first = first.filter(|_| sketch.stands_alone(*resource, field));
        let (Some(first), Some(display)) = (first, self.writer.name_field(*resource)) else { return };
        let mut second = (*sketch).clone();
        let at = second.record(*resource);
        second.records[at].found_by_list();
        let place = second.records[at].place.clone();
        second.only_extreme(&place, *resource, field, &Self::above(listed), greatest);
        let value = tell_field(&member(&place, &doc.name), doc, false);
        let it = second.name_with_noun(at);
        let told_end =
            |words: &String| sentence(&fill(words, &[("it", &it), ("first", &first), ("value", &value)]));
        let goal = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.first_of, &[("noun", noun), ("first", &first)]),
            does: sketch.steps.clone(),
            only_if: vec![whole.clone(), format!("{items}|length > 2")],
            end: SPOKEN.first_of_end.iter().map(told_end).collect(),
            facts: vec![member(&place, &described.field(display).name)],
            ..ScenarioGoalDoc::default()
        };
        let next = told.iter().find(|next| **next != field);
        let further = next.and_then(|next| second.add_further((*resource, *next), None, &place));
        let goals = std::iter::once(goal).chain(further).collect();
        // A user may remove the oldest item, and keeps the one that was changed last.
        let removes = !greatest && self.is_bookkeeping(*resource, field);
        self.keep_with_change(&second, (*resource, removes), goals, field.index());
    }

    /// Keeps questions with a change of their record, or else alone. Changes take turns by a number.
    fn keep_with_change(
        &mut self,
        sketch: &Sketch<'a>,
        changed: (ResourceId, bool),
        goals: Vec<ScenarioGoalDoc>,
        turn: usize,
    ) {
        let changes: Vec<(Sketch<'a>, ScenarioGoalDoc)> =
            sketch.changes_after(self.api.domain, changed, None).take(MAX_CHANGES).collect();
        if let Some((third, change)) = changes.get(turn % changes.len().max(1)) {
            let goals = goals.iter().cloned().chain([change.clone()]).collect();
            if self.keep_goals(Shape::List, third, goals) {
                return;
            }
        }
        self.keep_longest(Shape::List, sketch, goals);
    }

    /// Asks for the items of a kind that no argument filters by, then about one of them, or for the number of
    /// all items.
    fn of_kind(&mut self, listed: &TrialList<'_, 'a>, noun: &str, field: FieldId, told: &[FieldId]) {
        let TrialList { sketch, resource, items, whole, .. } = listed;
        let BehaviourKind::List(query) = &self.api.behaviour.kind else { return };
        let filters = |filter: &FilterTest| match filter {
            FilterTest::Compare(own, _) => *own == field,
            FilterTest::Text(own) => own.contains(&field),
        };
        let described = self.writer.world().resource(*resource);
        let doc = described.field(field);
        let (Type::Enum(_) | Type::String, Some(display)) =
            (&doc.schema.kind, self.writer.name_field(*resource))
        else {
            return;
        };
        if query.filters.iter().any(|filter| filters(&filter.test)) {
            return;
        }
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for record in &described.records {
            if let Some(value) = record.get(field.index()).and_then(|value| value.as_str()) {
                *held.entry(value.to_owned()).or_default() += 1;
            }
        }
        let held_values = held.len();
        let values: Vec<Json> = held
            .into_iter()
            .filter(|(_, count)| *count >= MIN_OF_KIND)
            .map(|(value, _)| Json::from(value))
            .collect();
        if values.is_empty() || held_values > MAX_VALUES {
            return;
        }
        let is_said_of_things = SPOKEN.is_state(&doc.label)
            && values.iter().filter_map(Json::as_str).all(|value| SPOKEN.is_adjective(value));
        let mut second = (*sketch).clone();
        let kind = second.fresh("kind");
        second.doc.bind.insert(kind.clone(), PlaceDoc { pick: values, ..PlaceDoc::default() });
        let mut tests = vec![(&doc.name, kind.clone())];
        for named in &sketch.records {
            let refers = |field: &&Field| refers_to(&field.schema.kind) == Some(named.resource);
            if let Some(field) = described.fields.iter().find(refers) {
                let above = self.writer.world().resource(named.resource);
                tests.push((&field.name, member(&named.place, &above.field(above.key).name)));
            }
        }
        let test = |variable: &str| {
            let tests = tests.iter().map(|(field, value)| format!("{variable}.{field} == {value}"));
            tests.collect::<Vec<_>>().join(" && ")
        };
        let them = second.fresh("them");
        let some = PlaceDoc {
            some: Some(described.name.to_string()),
            condition: Some(test("item")),
            min: Some(MIN_OF_KIND),
            ..PlaceDoc::default()
        };
        second.doc.bind.insert(them.clone(), some);
        let count = format!("{}.count(x, {})", described.name, test("x"));
        second.doc.given.push(format!("{count} <= {MAX_OF_KIND}"));
        let value = tell_choice(&kind, &doc.label);
        // A state reads `Which are open?`, and another value `which have the status success?`
        let user = if is_said_of_things { &SPOKEN.of_state } else { &SPOKEN.of_kind };
        let end = SPOKEN.of_kind_end.iter().map(|words| {
            let (all, count) = (format!("{{{them}|map('titled')|list}}"), format!("{{{them}|length}}"));
            fill(words, &[("them", &all), ("count", &count)])
        });
        let goal = ScenarioGoalDoc {
            user: both_hands(user, &[("noun", noun), ("label", &doc.label), ("value", &value)]),
            does: sketch.steps.clone(),
            only_if: vec![whole.clone(), format!("{items}|length > {them}|length")],
            end: end.collect(),
            facts: vec![member(&them, &described.field(display).name)],
            ..ScenarioGoalDoc::default()
        };
        // The next question is about one of the items, or else about all.
        let mut one = second.clone();
        let at = one.record(*resource);
        one.records[at].found_by_list();
        let place = one.records[at].place.clone();
        one.only_where(&place, test("item"));
        let it = one.name_with_noun(at);
        let next = told.iter().find(|next| **next != field);
        let further = next.and_then(|next| one.add_further((*resource, *next), Some(&it), &place));
        if let Some(further) = further {
            let removes = SPOKEN.is_state(&doc.label);
            return self.keep_with_change(&one, (*resource, removes), vec![goal, further], field.index());
        }
        let (plural, counted) = (&*described.plural, format!("{{{items}|length}}"));
        let fill_in = |words: &String| fill(words, &[("plural", plural), ("count", &counted)]);
        let in_all = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.in_all, &[("plural", plural)]),
            end: SPOKEN.in_all_end.iter().map(fill_in).collect(),
            facts: vec![format!("count({items})")],
            ..ScenarioGoalDoc::default()
        };
        self.keep_longest(Shape::List, &second, vec![goal, in_all]);
    }

    /// Asks about the latest item, where items have no names.
    fn latest(&mut self, listed: &TrialList<'_, 'a>, told: &[FieldId]) {
        let TrialList { sketch, resource, .. } = listed;
        let Some(made) = sketch.made_field(*resource).filter(|made| told.contains(made)) else {
            self.reason = "its items show no name, nor which is the latest".to_owned();
            return;
        };
        let label = &self.writer.world().resource(*resource).label;
        let firsts = told.iter().filter(|field| !self.is_bookkeeping(*resource, **field)).count();
        for (at, field) in told.iter().enumerate().take(firsts.clamp(1, MAX_ORDERS)) {
            let mut second = (*sketch).clone();
            let record = second.record(*resource);
            second.records[record].phrase = Some(format!("the latest {label}"));
            let place = second.records[record].place.clone();
            second.only_extreme(&place, *resource, made, &Self::above(listed), true);
            let mut it = format!("the latest {label}");
            for above in (0..sketch.records.len()).rev() {
                it.push_str(&format!(" of {}", sketch.name_with_noun(above)));
            }
            let next = next_of(told, at).copied();
            let mut goals = self.about_one(&mut second, *resource, (&place, &it), (*field, next));
            for goal in goals.iter_mut().take(1) {
                goal.only_if.push(listed.whole.clone());
            }
            self.keep_longest(Shape::List, &second, goals);
        }
    }
}
