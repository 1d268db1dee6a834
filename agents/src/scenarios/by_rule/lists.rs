//! Questions about lists: which, how many, the first in some order.

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
use super::wording;
use super::writer::choices;

/// More names than these are no answer.
const MOST_NAMED: usize = 12;
/// Fewer things than these are neither counted nor compared: the answer would be a guess.
const FEW: usize = 3;
/// Fields of the things of a list that are asked for, at most.
const MOST_FIELDS: usize = 2;

impl<'a> Author<'a> {
    /// Questions about a list.
    pub(crate) fn list(&mut self) {
        let BehaviourKind::List(query) = &self.api.behaviour.kind else { return };
        let (resource, api) = (query.resource, self.api);
        let described = self.writer.world().resource(resource);
        for (turn, chosen) in choices(api, self.writer.guide(), self.id).into_iter().enumerate() {
            // Nobody asks for the name of what he names.
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
            let total = self.total(last, &sketch);
            if let Some((array, member_name)) = self.find_display(last, resource)
                && let Some(items) = sketch.place_in(REPLY, &array)
            {
                let size = query.page.as_ref().map(|page| page.size as usize);
                let whole = match (&total, size) {
                    (Some(total), _) => format!("{total} == {items}|length"),
                    (None, Some(size)) => format!("{items}|length < {size}"),
                    (None, None) => "true".to_owned(),
                };
                let few = format!("0 < {items}|length and {items}|length <= {MOST_NAMED}");
                let (each, dot) = match member_name.is_empty() {
                    true => (String::new(), ""),
                    false => (format!("|map(attribute=\"{member_name}\")"), "."),
                };
                let end = [
                    format!("I found {{{items}{each}|list}}."),
                    format!("Here is what I found: {{{items}{each}|list}}."),
                    format!("{{% for one in {items} %}}- {{one{dot}{member_name}}}\n{{% endfor %}}"),
                ];
                let goal = ScenarioGoalDoc {
                    user: which(&nouns, turn),
                    does: sketch.steps.clone(),
                    only_if: vec![whole, few],
                    end: end.to_vec(),
                    facts: vec![format!("{items}[*]{dot}{member_name}")],
                    ..ScenarioGoalDoc::default()
                };
                self.keep_question(Shape::List, &sketch, goal);
                self.best(&sketch, &nouns, (last, &array, &items, &member_name));
            }
            if let Some(total) = total {
                self.count(&sketch, how_many(&nouns, turn), &total, (total.clone(), None));
            } else if let Some(items) =
                array_of(last, resource).and_then(|array| sketch.place_in(REPLY, &array))
            {
                // A page that is full may have others behind it.
                let size = query.page.as_ref().map(|page| page.size);
                let whole = size.map(|size| format!("{items}|length < {size}"));
                let counted = format!("{items}|length");
                self.count(&sketch, how_many(&nouns, turn), &counted, (format!("count({items})"), whole));
            }
            // A list that is too long to be told still tells of each of its things.
            if self.written.len() < FEW && chosen.is_empty() && sketch.records.is_empty() {
                self.add_questions_of_one(&sketch, resource, last);
            }
        }
    }

    /// Keeps a question for the number of a list's things, which stands in a reply or is counted.
    fn count(
        &mut self,
        sketch: &Sketch<'a>,
        user: Vec<String>,
        number: &str,
        (fact, whole): (String, Option<String>),
    ) {
        let goal = ScenarioGoalDoc {
            user,
            does: sketch.steps.clone(),
            only_if: std::iter::once(format!("{number} >= {FEW}")).chain(whole).collect(),
            end: vec![
                format!("There are {{{number}}} in total."),
                format!("I count {{{number}}}."),
                format!("{{{number}}} altogether."),
            ],
            facts: vec![fact],
            ..ScenarioGoalDoc::default()
        };
        self.keep_question(Shape::List, sketch, goal);
    }

    /// Adds questions about one thing of a list, which it shows by its name.
    fn add_questions_of_one(&mut self, sketch: &Sketch<'a>, resource: ResourceId, last: &LogEntry) {
        let described = self.writer.world().resource(resource);
        let guide = self.writer.guide();
        let Some((array, _)) = self.find_display(last, resource) else { return };
        let is_shown = |id: FieldId| member_of(&last.reply.body, &array, resource, id).is_some();
        let fields: Vec<FieldId> = (0..described.fields.len())
            .map(|index| FieldId(index as u16))
            .filter(|id| {
                !guide.asks(resource, *id).is_empty() && described.display != Some(*id) && is_shown(*id)
            })
            .take(MOST_FIELDS)
            .collect();
        for field in fields {
            let mut sketch = sketch.clone();
            let at = sketch.record(resource);
            let it = sketch.name_with_noun(at);
            let name = &described.field(field).name;
            let place = sketch.records[at].place.clone();
            let value = member(&place, name);
            if !is_identifier(name) {
                continue;
            }
            sketch.only_where(&place, format!("item.{name} != null"));
            let goal = ScenarioGoalDoc {
                user: sketch.questions(resource, field, &it),
                does: sketch.steps.clone(),
                end: sketch.statements(resource, field, &it, &value, false),
                facts: vec![value],
                ..ScenarioGoalDoc::default()
            };
            self.keep_question(Shape::List, &sketch, goal);
        }
    }

    /// The first of a list in an order that the caller may choose.
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
            if !matches!(doc.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. }) {
                continue;
            }
            let name = &doc.name;
            let orders = [
                ("highest", [format!("-{name}"), format!("{name}.desc"), format!("{name}_desc")]),
                ("lowest", [name.to_string(), format!("{name}.asc"), format!("{name}_asc")]),
            ];
            for (word, forms) in orders {
                let Some(value) = values.iter().find(|value| forms.iter().any(|form| **form == ***value))
                else {
                    continue;
                };
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
                let label = &doc.label;
                let user = nouns.iter().flat_map(|noun| {
                    let of = if is_known(noun) { noun.clone() } else { format!("the {noun}") };
                    [
                        format!("Which of {of} has the {word} {label}?"),
                        format!("Out of {of}, which one has the {word} {label}?"),
                        format!("I'm looking for the {word} {label} among {of}."),
                        format!("which of {of} has the {word} {label}"),
                        format!("whats the one with the {word} {label} of {of}"),
                        format!("need the {word} {label} among {of}"),
                    ]
                });
                let first = format!("{items}[0].{member_name}");
                let value = wording::tell(&format!("{items}[0].{shown}"), &doc.schema, true);
                let goal = ScenarioGoalDoc {
                    user: user.take(12).collect(),
                    does: steps,
                    only_if: vec![
                        format!("{items}|length >= {FEW}"),
                        format!("{items}[0].{shown} != {items}[1].{shown}"),
                    ],
                    end: vec![
                        format!("{{{first}}} has the {word} {label}: {value}."),
                        format!("That's {{{first}}}, with {value}."),
                    ],
                    facts: vec![first],
                    ..ScenarioGoalDoc::default()
                };
                self.keep_question(Shape::List, sketch, goal);
            }
        }
    }

    /// Finds where a list tells how many there are.
    fn total(&self, last: &LogEntry, sketch: &Sketch<'a>) -> Option<String> {
        let name = &*self.api.reply.total;
        let mut leaves = last.reply.body.leaves();
        let (path, ..) = leaves.find(|(path, _, origin)| {
            matches!(origin, Origin::Computed) && !name.is_empty() && path.rsplit('.').next() == Some(name)
        })?;
        sketch.place_in(REPLY, &path)
    }

    /// Finds the array of a reply, and the member of its items that people call them by.
    fn find_display(&self, last: &LogEntry, resource: ResourceId) -> Option<(String, String)> {
        let display = self.writer.world().resource(resource).display?;
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

/// The array of a reply whose items show records of a resource.
fn array_of(last: &LogEntry, resource: ResourceId) -> Option<String> {
    let (path, ..) = last.reply.body.leaves().find(|(path, _, origin)| {
        matches!(origin, Origin::Field { resource: of, .. } if *of == resource) && path.contains('[')
    })?;
    Some(path.split_once('[')?.0.to_owned())
}

/// Returns true if the things are some that both know: "my playlists", "the tracks of the album".
fn is_known(noun: &str) -> bool {
    noun.starts_with("my ") || noun.starts_with("the ")
}

/// Questions for the names of a list.
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

/// Questions for the length of a list.
fn how_many(nouns: &[String], turn: usize) -> Vec<String> {
    let all = (0..6).map(|number| {
        let noun = &nouns[(turn + number) % nouns.len()];
        let (the, many) = if is_known(noun) { ("", "many of") } else { ("the ", "many") };
        match number {
            0 => format!("How {many} {noun} are there?"),
            1 => format!("Can you count {the}{noun}?"),
            2 => format!("What is the number of {noun}?"),
            3 => format!("how {many} {noun} are there"),
            4 => format!("can you count {the}{noun}"),
            _ => format!("need to know how {many} {noun} there are"),
        }
    });
    all.collect()
}

/// The member of an array's items that shows a field.
fn member_of(body: &Body, array: &str, resource: ResourceId, field: FieldId) -> Option<String> {
    let prefix = format!("{array}[0]");
    body.leaves().find_map(|(path, _, origin)| {
        let Origin::Field { resource: of, field: shown, .. } = origin else { return None };
        let member = path.strip_prefix(&prefix)?.trim_start_matches('.').to_owned();
        (*of == resource && *shown == field).then_some(member)
    })
}
