//! Questions that take looking through a list: which thing is the newest or has the most of something, and which are of a kind.

use std::collections::BTreeMap;

use diorama_seeds::doc::{PlaceDoc, ScenarioGoalDoc};
use diorama_seeds::model::{BehaviourKind, Field, FieldId, FilterTest, ResourceId};
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::author::Author;
use super::latest::is_made;
use super::lists::Listed;
use super::shape::Shape;
use super::sketch::member;
use super::spoken::{SPOKEN, both_hands};
use super::wording::tell;
use crate::scenarios::speech::fill;
use crate::worlds::world::refers_to;

/// Questions for the first in some order, at most.
const MOST_ORDERS: usize = 2;
/// Questions for the things of a kind, at most.
const MOST_KINDS: usize = 1;
/// Things of a kind that are told, at least and at most.
const LEAST_OF_KIND: usize = 2;
const MOST_OF_KIND: usize = 8;

impl<'a> Author<'a> {
    /// Questions about a whole list that `noun` names.
    pub(crate) fn pick(&mut self, listed: &Listed<'_, 'a>, noun: &str) {
        let noun = match noun.starts_with("my ") || noun.starts_with("the ") {
            true => noun.to_owned(),
            false => format!("the {noun}"),
        };
        let told = self.told_in_items(listed);
        let is_named = self.find_display(listed.last, listed.resource).is_some();
        if !is_named {
            return self.latest(listed, &noun, &told);
        }
        if !self.writer.guide().has_asks() {
            self.count(listed, &noun);
        }
        let before = self.written.len();
        for field in &told {
            if self.written.len() - before < MOST_ORDERS {
                self.first_of(listed, &noun, *field, &told);
            }
        }
        let before = self.written.len();
        for field in &told {
            if self.written.len() - before < MOST_KINDS {
                self.of_kind(listed, &noun, *field);
            }
        }
    }

    /// What stands above the things of a list, as the request names it.
    fn above(listed: &Listed<'_, 'a>) -> Vec<ResourceId> {
        listed.sketch.records.iter().map(|named| named.resource).collect()
    }

    /// Which thing is the first in the order of a field, a further question about it, and a change of it.
    fn first_of(&mut self, listed: &Listed<'_, 'a>, noun: &str, field: FieldId, told: &[FieldId]) {
        let Listed { sketch, resource, items, whole, .. } = listed;
        let described = self.writer.world().resource(*resource);
        let doc = described.field(field);
        let greatest = !field.index().is_multiple_of(2);
        let label = &doc.label;
        // A moment whose name is a clause has no noun.
        if !is_made(label) && [" at", " on"].iter().any(|end| label.ends_with(end)) {
            return;
        }
        let first = match (&doc.schema.kind, greatest) {
            (Type::Date | Type::DateTime, true) if is_made(label) => "newest".to_owned(),
            (Type::Date | Type::DateTime, false) if is_made(label) => "oldest".to_owned(),
            (Type::Date | Type::DateTime, true) => format!("one with the latest {label}"),
            (Type::Date | Type::DateTime, false) => format!("one with the earliest {label}"),
            (Type::Integer | Type::Number | Type::Decimal { .. }, true) => {
                format!("one with the highest {label}")
            }
            (Type::Integer | Type::Number | Type::Decimal { .. }, false) => {
                format!("one with the lowest {label}")
            }
            _ => return,
        };
        let mut second = (*sketch).clone();
        let at = second.record(*resource);
        second.records[at].found_by_list();
        let place = second.records[at].place.clone();
        second.only_extreme(&place, *resource, field, &Self::above(listed), greatest);
        let value = member(&place, &doc.name);
        let end = SPOKEN.first_of_end.iter().map(|words| {
            let value = tell(&value, &doc.schema, false);
            fill(words, &[("it", &format!("{{{place}}}")), ("first", &first), ("value", &value)])
        });
        let display = described.display.map(|display| described.field(display).name.to_string());
        let Some(display) = display else { return };
        let goal = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.first_of, &[("noun", noun), ("first", &first)]),
            does: sketch.steps.clone(),
            only_if: vec![whole.clone(), format!("{items}|length > 2")],
            end: end.collect(),
            facts: vec![member(&place, &display)],
            ..ScenarioGoalDoc::default()
        };
        let next = told.iter().find(|next| **next != field);
        let further = next.and_then(|next| {
            let name = &described.field(*next).name;
            second.only_where(&place, format!("item.{name} != null"));
            second.further((*resource, *next), None, &member(&place, name))
        });
        let goals: Vec<ScenarioGoalDoc> = std::iter::once(goal).chain(further).collect();
        for (third, change) in self.changes_after(&second, *resource, None).into_iter().take(1) {
            let goals = goals.iter().cloned().chain([change]).collect();
            if self.keep_goals(Shape::List, &third, goals) {
                return;
            }
        }
        self.keep_longest(Shape::List, &second, goals);
    }

    /// Which things are of a kind that no argument asks for, and how many there are in all.
    fn of_kind(&mut self, listed: &Listed<'_, 'a>, noun: &str, field: FieldId) {
        let Listed { sketch, resource, items, whole, .. } = listed;
        let BehaviourKind::List(query) = &self.api.behaviour.kind else { return };
        let filters = |filter: &FilterTest| match filter {
            FilterTest::Compare(own, _) => *own == field,
            FilterTest::Text(own) => own.contains(&field),
        };
        let described = self.writer.world().resource(*resource);
        let doc = described.field(field);
        let (Type::Enum(_), Some(display)) = (&doc.schema.kind, described.display) else { return };
        if query.filters.iter().any(|filter| filters(&filter.test)) {
            return;
        }
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for record in &described.records {
            if let Some(value) = record.get(field.index()).and_then(|value| value.as_str()) {
                *held.entry(value.to_owned()).or_default() += 1;
            }
        }
        let values: Vec<Json> = held
            .into_iter()
            .filter(|(_, count)| *count >= LEAST_OF_KIND)
            .map(|(value, _)| Json::from(value))
            .collect();
        if values.is_empty() {
            return;
        }
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
            min: Some(LEAST_OF_KIND),
            ..PlaceDoc::default()
        };
        second.doc.bind.insert(them.clone(), some);
        let count = format!("{}.count(x, {})", described.name, test("x"));
        second.doc.given.push(format!("{count} <= {MOST_OF_KIND}"));
        let value = format!("{{{kind}|plain}}");
        let is_state = ["state", "status"].iter().any(|state| doc.label.ends_with(state));
        let user = if is_state { &SPOKEN.of_state } else { &SPOKEN.of_kind };
        let end = SPOKEN.of_kind_end.iter().map(|words| {
            let (all, count) = (format!("{{{them}|list}}"), format!("{{{them}|length}}"));
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
        let (plural, counted) = (&*described.plural, format!("{{{items}|length}}"));
        let in_all = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.in_all, &[("plural", plural)]),
            end: SPOKEN
                .in_all_end
                .iter()
                .map(|words| fill(words, &[("plural", plural), ("count", &counted)]))
                .collect(),
            facts: vec![format!("count({items})")],
            ..ScenarioGoalDoc::default()
        };
        self.keep_longest(Shape::List, &second, vec![goal, in_all]);
    }

    /// Where a list shows nothing else to tell, how many things it has.
    fn count(&mut self, listed: &Listed<'_, 'a>, noun: &str) {
        let Listed { sketch, items, whole, total, .. } = listed;
        // How many there are of something tells little; how many of what is named tells something of that.
        if sketch.records.is_empty() && self.writer.guide().has_asks() {
            return;
        }
        let noun = noun.strip_prefix("the ").unwrap_or(noun);
        let counted = format!("{{{}}}", total.clone().unwrap_or_else(|| format!("{items}|length")));
        let fill_in = |words: &String| fill(words, &[("plural", noun), ("count", &counted)]);
        let goal = ScenarioGoalDoc {
            user: both_hands(&SPOKEN.count, &[("noun", noun)]),
            does: sketch.steps.clone(),
            only_if: if total.is_some() {
                Vec::new()
            } else {
                vec![whole.clone(), format!("{items}|length > 2")]
            },
            end: SPOKEN.in_all_end.iter().map(fill_in).collect(),
            facts: vec![total.clone().unwrap_or_else(|| format!("count({items})"))],
            ..ScenarioGoalDoc::default()
        };
        self.is_plain = true;
        self.keep_goals(Shape::List, sketch, vec![goal]);
        self.is_plain = false;
    }

    /// Of things without names, questions about the latest.
    fn latest(&mut self, listed: &Listed<'_, 'a>, noun: &str, told: &[FieldId]) {
        let Listed { sketch, resource, .. } = listed;
        let Some(made) = sketch.made_field(*resource).filter(|made| told.contains(made)) else {
            self.reason = "its items show no name, nor which is the latest".to_owned();
            return self.count(listed, noun);
        };
        let label = &self.writer.world().resource(*resource).label;
        for (at, field) in told.iter().enumerate().take(MOST_ORDERS) {
            let mut second = (*sketch).clone();
            let record = second.record(*resource);
            second.records[record].phrase = Some(format!("the latest {label}"));
            let place = second.records[record].place.clone();
            second.only_extreme(&place, *resource, made, &Self::above(listed), true);
            let mut it = format!("the latest {label}");
            for above in (0..sketch.records.len()).rev() {
                it.push_str(&format!(" of {}", sketch.name_with_noun(above)));
            }
            let next = told.get((at + 1) % told.len()).filter(|next| *next != field);
            let mut goals = self.about_one(&mut second, *resource, (&place, &it), (*field, next.copied()));
            for goal in goals.iter_mut().take(1) {
                goal.only_if.push(listed.whole.clone());
            }
            self.keep_longest(Shape::List, &second, goals);
        }
    }
}
