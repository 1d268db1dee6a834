//! Writes questions about lists: which records, how many, and the first in some order.

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_seeds::doc::ScenarioGoalDoc;
use diorama_seeds::model::{BehaviourKind, FieldId, FilterTest, ParameterId, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::author::{Author, REPLY};
use super::shape::Shape;
use super::sketch::{Sketch, member};
use super::spoken::{SPOKEN, both_hands};
use super::wording;
use super::writer::choices;

/// The greatest number of names in an answer.
const MAX_NAMED: usize = 12;
/// The fewest items that are counted or compared: with fewer the answer could be a guess.
const MIN_COMPARED: usize = 3;
/// The greatest number of fields of an item that are asked for.
const MAX_FIELDS: usize = 2;

/// A list that was read in the trial world.
pub(crate) struct TrialList<'l, 'a> {
    pub(crate) sketch: &'l Sketch<'a>,
    pub(crate) resource: ResourceId,
    pub(crate) last: &'l LogEntry,
    /// The path of its array in the reply; `items` is the same path as scenarios write it.
    pub(crate) array: String,
    pub(crate) items: String,
    /// The condition that it has no more pages.
    pub(crate) whole: String,
}

impl<'a> Author<'a> {
    /// Writes questions about a list.
    pub(crate) fn list(&mut self) {
        let BehaviourKind::List(query) = &self.api.behaviour.kind else { return };
        let (resource, api) = (query.resource, self.api);
        let described = self.writer.world().resource(resource);
        for (turn, chosen) in choices(api, self.writer.guide(), self.id).into_iter().enumerate() {
            // A user who names a record does not ask for its name.
            let names = |id: &ParameterId| {
                let field = api.parameters[id.index()].field;
                let searched = query.filters.iter().any(|filter| {
                    filter.parameter == *id
                        && matches!(&filter.test, FilterTest::Text(fields)
                            if described.display.is_some_and(|display| fields.contains(&display)))
                });
                searched || described.display.is_some_and(|display| field == Some((resource, display)))
            };
            if chosen.iter().any(names) {
                continue;
            }
            let Some(sketch) = self.sketch(&chosen) else { continue };
            // A label must distinguish an item from its parent: comments of a comment are dropped.
            if sketch.named(resource).is_some() {
                self.reason = "it lists things of what goes by the same noun".to_owned();
                continue;
            }
            let mut nouns = sketch.nouns(self.id);
            if nouns.is_empty() && chosen.is_empty() && sketch.said.is_empty() {
                nouns.push(described.plural.to_string());
            }
            if nouns.is_empty() {
                self.reason = "it has no words: give it `phrases.noun` (docs/world-format.md; of a document, in a file for --overlay)".to_owned();
                continue;
            }
            let Some(calls) = self.try_calls(&sketch) else { continue };
            let Some(last) = calls.last() else { continue };
            let Some(array) = array_of(last, resource) else {
                self.reason = "its reply lists nothing of the records to tell".to_owned();
                continue;
            };
            let Some(items) = sketch.place_in(REPLY, &array) else { continue };
            let size = query.page.as_ref().map(|page| page.size as usize);
            // A full page may have others after it.
            let total = self.total(last, &sketch);
            let whole = match (&total, size) {
                (Some(total), _) => format!("{total} == {items}|length"),
                (None, Some(size)) => format!("{items}|length < {size}"),
                (None, None) => "true".to_owned(),
            };
            let listed = TrialList { sketch: &sketch, resource, last, array, items, whole };
            if chosen.is_empty() {
                self.pick(&listed, &nouns[turn % nouns.len()]);
            }
            if let Some((array, member_name)) = self.find_display(last, resource)
                && let Some(items) = sketch.place_in(REPLY, &array)
            {
                self.names(&listed, &nouns, turn, (&items, &member_name));
                self.best(&sketch, &nouns, (last, &array, &items, &member_name));
            }
            if chosen.is_empty() {
                self.add_questions_of_one(&listed);
            }
        }
    }

    /// Writes a question for the names of all items, and one about an item.
    fn names(
        &mut self,
        listed: &TrialList<'_, 'a>,
        nouns: &[String],
        turn: usize,
        (items, member_name): (&str, &str),
    ) {
        let TrialList { sketch, resource, whole, .. } = listed;
        let few = format!("1 < {items}|length and {items}|length <= {MAX_NAMED}");
        let (each, dot) = match member_name.is_empty() {
            true => ("|map(\"titled\")".to_owned(), ""),
            false => (format!("|map(attribute=\"{member_name}\")|map(\"titled\")"), "."),
        };
        let end = [
            format!("I found {{{items}{each}|list}}."),
            format!("There are {{{items}|length}}: {{{items}{each}|list}}."),
            format!("{{% for one in {items} %}}- {{one{dot}{member_name}}}\n{{% endfor %}}"),
        ];
        let goal = ScenarioGoalDoc {
            user: which(nouns, turn),
            does: sketch.steps.clone(),
            only_if: vec![whole.clone(), few],
            end: end.to_vec(),
            facts: vec![format!("{items}[*]{dot}{member_name}")],
            ..ScenarioGoalDoc::default()
        };
        let mut second = (*sketch).clone();
        // The record that provided the filter values is one of the items.
        let (place, it) = match &second.example {
            Some((of, place)) if of == resource => {
                let label = &self.writer.world().resource(*resource).label;
                (place.clone(), format!("{{{place}|called(\"{label}\")}}"))
            }
            _ => {
                let at = second.record(*resource);
                (second.records[at].place.clone(), second.name_with_noun(at))
            }
        };
        let told = self.told_in_items(listed);
        let Some(field) = told.get(turn % told.len().max(1)) else {
            // A scoped or filtered list is worth a question by itself, as is any list in a world without
            // questions.
            if !sketch.said.is_empty() || !self.has_asks() {
                self.keep_goals(Shape::List, sketch, vec![goal]);
            } else {
                self.reason = "its items show a name and nothing else to tell".to_owned();
            }
            return;
        };
        let further = second.add_further((*resource, *field), Some(&it), &place);
        self.keep_goals(Shape::List, &second, std::iter::once(goal).chain(further).collect());
    }

    /// Returns the fields that a list's items show, and that users ask for.
    pub(crate) fn told_in_items(&self, listed: &TrialList<'_, 'a>) -> Vec<FieldId> {
        let described = self.writer.world().resource(listed.resource);
        let guide = self.writer.guide();
        let fields = (0..described.fields.len()).map(|index| FieldId(index as u16));
        let is_told = |id: &FieldId| {
            !guide.asks(listed.resource, *id).is_empty()
                && described.display != Some(*id)
                && described.key != *id
                && is_identifier(&described.field(*id).name)
                && member_of(&listed.last.reply.body, &listed.array, listed.resource, *id).is_some()
        };
        let mut told: Vec<FieldId> = fields.filter(is_told).collect();
        told.sort_by_key(|id| self.is_bookkeeping(listed.resource, *id));
        told
    }

    /// Writes questions about one item of a list, by its name.
    fn add_questions_of_one(&mut self, listed: &TrialList<'_, 'a>) {
        let TrialList { sketch, resource, last, .. } = listed;
        if self.find_display(last, *resource).is_none() {
            return;
        }
        let told = self.told_in_items(listed);
        // Users do not begin with the creation time if there are other fields.
        let firsts = told.iter().filter(|field| !self.is_bookkeeping(*resource, **field)).count();
        for (at, field) in told.iter().enumerate().take(firsts.clamp(1, MAX_FIELDS)) {
            let mut sketch = (*sketch).clone();
            let record = sketch.record(*resource);
            let it = sketch.name_with_noun(record);
            let place = sketch.records[record].place.clone();
            let next = next_of(&told, at).copied();
            let goals = self.about_one(&mut sketch, *resource, (&place, &it), (*field, next));
            self.keep_longest(Shape::List, &sketch, goals);
        }
    }

    /// Returns a question for a field of an item, and one for a further field of it.
    pub(crate) fn about_one(
        &self,
        sketch: &mut Sketch<'a>,
        resource: ResourceId,
        (place, it): (&str, &str),
        (field, next): (FieldId, Option<FieldId>),
    ) -> Vec<ScenarioGoalDoc> {
        let described = self.writer.world().resource(resource);
        let value = member(place, &described.field(field).name);
        sketch.only_where(place, format!("item.{} != null", described.field(field).name));
        sketch.only_telling(place, resource, field);
        let goal = ScenarioGoalDoc {
            user: sketch.questions(resource, field, it),
            does: sketch.steps.clone(),
            end: sketch.statements(resource, field, it, &value, false),
            facts: vec![value],
            ..ScenarioGoalDoc::default()
        };
        let further = next.and_then(|next| sketch.add_further((resource, next), None, place));
        std::iter::once(goal).chain(further).collect()
    }

    /// Asks for the first of a list in an order that the caller may choose.
    fn best(
        &mut self,
        sketch: &Sketch<'a>,
        nouns: &[String],
        (last, array, items, member_name): (&LogEntry, &str, &str, &str),
    ) {
        let BehaviourKind::List(query) = &self.api.behaviour.kind else { return };
        let Some((parameter, fields)) = &query.sort_parameter else { return };
        let sort = &self.api.parameters[parameter.index()];
        let Type::Enum(values) = &sort.schema.kind else { return };
        let described = self.writer.world().resource(query.resource);
        for field in fields {
            let doc = described.field(*field);
            let is_number = matches!(doc.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
            if !is_number || !sketch.stands_alone(query.resource, *field) {
                continue;
            }
            let name = &doc.name;
            let orders = [
                (true, [format!("-{name}"), format!("{name}.desc"), format!("{name}_desc")]),
                (false, [name.to_string(), format!("{name}.asc"), format!("{name}_asc")]),
            ];
            for (greatest, forms) in orders {
                let given = values.iter().find(|value| forms.iter().any(|form| **form == ***value));
                let Some((value, word)) = given.zip(SPOKEN.order(&doc.label, greatest)) else { continue };
                let shown = member_of(&last.reply.body, array, query.resource, *field);
                let Some(shown) =
                    shown.filter(|shown| shown.split('.').all(is_identifier) && !member_name.is_empty())
                else {
                    continue;
                };
                let mut steps = sketch.steps.clone();
                if let Some(step) = steps.last_mut() {
                    step.with.insert(sketch.name_of(sort), Json::from(format!("'{value}'")));
                }
                let asked = |noun: &String| {
                    both_hands(&SPOKEN.first_of, &[("noun", &with_article(noun)), ("first", &word)])
                };
                let user = nouns.iter().take(1).flat_map(asked);
                let first = format!("{items}[0].{member_name}");
                let value = wording::tell(&format!("{items}[0].{shown}"), &doc.schema, true);
                let goal = ScenarioGoalDoc {
                    user: user.collect(),
                    does: steps,
                    only_if: vec![
                        format!("{items}|length >= {MIN_COMPARED}"),
                        format!("{items}[0].{shown} != {items}[1].{shown}"),
                    ],
                    end: vec![
                        format!("{{{first}}} {word}: {value}."),
                        format!("That's {{{first}}}: {value}."),
                    ],
                    facts: vec![first],
                    ..ScenarioGoalDoc::default()
                };
                self.keep_goals(Shape::List, sketch, vec![goal]);
            }
        }
    }

    /// Returns the path at which a list shows its total.
    fn total(&self, last: &LogEntry, sketch: &Sketch<'a>) -> Option<String> {
        let name = &*self.api.reply.total;
        let mut leaves = last.reply.body.leaves();
        let (path, ..) = leaves.find(|(path, _, origin)| {
            matches!(origin, Origin::Computed) && !name.is_empty() && path.rsplit('.').next() == Some(name)
        })?;
        sketch.place_in(REPLY, &path)
    }

    /// Returns the array of a reply, and the member with the display name of its items.
    pub(crate) fn find_display(&self, last: &LogEntry, resource: ResourceId) -> Option<(String, String)> {
        let display = self.writer.name_field(resource)?;
        let (path, ..) = last.reply.body.leaves().find(|(path, _, origin)| {
            matches!(origin, Origin::Field { resource: of, field, .. } if *of == resource && *field == display)
                && path.matches('[').count() == 1
        })?;
        let (array, rest) = path.split_once('[')?;
        let (_, name) = rest.split_once(']')?;
        let name = name.trim_start_matches('.');
        name.split('.')
            .all(|part| part.is_empty() || is_identifier(part))
            .then(|| (array.to_owned(), name.to_owned()))
    }
}

/// Returns the array of a reply whose items show records of a resource.
fn array_of(last: &LogEntry, resource: ResourceId) -> Option<String> {
    let (path, ..) = last.reply.body.leaves().find(|(path, _, origin)| {
        matches!(origin, Origin::Field { resource: of, .. } if *of == resource) && path.contains('[')
    })?;
    Some(path.split_once('[')?.0.to_owned())
}

/// Returns true if the user and the assistant both know the items: "my playlists", "the tracks of the album".
fn is_known(noun: &str) -> bool {
    noun.starts_with("my ") || noun.starts_with("the ")
}

/// Returns a noun with an article: `the tracks`, `my playlists`.
pub(crate) fn with_article(noun: &str) -> String {
    if is_known(noun) { noun.to_owned() } else { format!("the {noun}") }
}

/// Returns the element after a position, cyclically; none if there is only one.
pub(crate) fn next_of<T>(all: &[T], at: usize) -> Option<&T> {
    all.get((at + 1) % all.len().max(1)).filter(|_| all.len() > 1)
}

/// Returns questions for the names of a list.
fn which(nouns: &[String], turn: usize) -> Vec<String> {
    let all = (0..6).map(|number| {
        let noun = &nouns[(turn + number) % nouns.len()];
        let (the, which, end) = match is_known(noun) {
            true => ("", "What are", "?"),
            false => ("the ", "Which", " are there?"),
        };
        match number {
            0 => format!("{which} {noun}{end}"),
            1 => format!("Show me {the}{noun}."),
            2 => format!("Could you list {the}{noun}?"),
            3 => format!("show me {the}{noun}"),
            4 => format!("what are {the}{noun}"),
            _ => format!("list {the}{noun} pls"),
        }
    });
    all.collect()
}

/// Returns the member of an array's items that shows a field.
pub(crate) fn member_of(body: &Body, array: &str, resource: ResourceId, field: FieldId) -> Option<String> {
    let prefix = format!("{array}[0]");
    body.leaves().find_map(|(path, _, origin)| {
        let Origin::Field { resource: of, field: shown, .. } = origin else { return None };
        let member = path.strip_prefix(&prefix)?.trim_start_matches('.').to_owned();
        (*of == resource && *shown == field).then_some(member)
    })
}
