//! Goals: what a user wants of one API, in words, with the plan that reaches it.
//!
//! Owns the choice of records and values and the wording of a single wish. Joining wishes into a request is the
//! query agent's.

use diorama_seeds::model::{
    Api, ApiId, BehaviourKind, FieldId, FilterTest, ParameterId, Record, ResourceId,
};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Derivation, RefusalClass};
use diorama_seeds::value::{Date, Time, Value};
use diorama_simulator::engine::{Body, Origin};
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::draft::{AnswerPart, Asked, Described, Singled, Source, StepArgument};
use super::plan::{Planner, array_of};
use super::text::{Segment, Template, literal};
use super::world::refers_to;

/// One wish.
#[derive(Clone, Debug)]
pub struct Goal {
    /// How it is worded.
    pub mood: Mood,
    /// Its words.
    pub words: Vec<Segment>,
    /// The facts it asks for.
    pub asked: Vec<Asked>,
    /// What the assistant says.
    pub answer: Vec<AnswerPart>,
    /// The API that it is about.
    pub api: ApiId,
    /// For goals that the world refuses: why.
    pub refusal: Option<RefusalClass>,
}

/// How a wish is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// A clause that starts with a verb.
    Imperative,
    /// A whole request.
    Sentence,
    /// A question.
    Question,
}

/// A wish that the plan could not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoGoal;

/// What is wanted of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It must succeed.
    Success,
    /// One of the API's own checks must refuse it.
    Refusal,
}

type Result<T> = std::result::Result<T, NoGoal>;

/// A change of records by one API.
///
/// # Errors
/// [`NoGoal`] when the drawn values do not lead there; another draw may.
pub fn write(planner: &mut Planner<'_>, id: ApiId, wanted: Wanted) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    if matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut) {
        return Err(NoGoal);
    }
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let (mood, template) = template(planner, id);
    let (words, arguments) = planner.fill(id, &template, &values, 0.45, 0).ok_or(NoGoal)?;
    let said = said(&template, &words, api);
    let entry = planner.call(id, arguments, &api.description);
    let step = planner.steps.len() - 1;
    let refusal = match (wanted, entry.reply.is_success()) {
        (Wanted::Success, true) if !entry.changes.is_empty() => None,
        (Wanted::Refusal, false) if api.behaviour.require.iter().any(|check| check.status == entry.reply.status) => {
            Some(match entry.reply.status {
                404 => RefusalClass::NotFound,
                403 => RefusalClass::Forbidden,
                409 => RefusalClass::Conflict,
                _ => RefusalClass::Invalid,
            })
        }
        _ => return Err(NoGoal),
    };
    let answer = match refusal {
        None => done(planner, id, step, &said),
        Some(class) => refused(planner, &entry.reply.body, class),
    };
    Ok(Goal { mood, words, asked: Vec::new(), answer, api: id, refusal })
}

/// A question about one or two fields of one record.
///
/// # Errors
/// [`NoGoal`] when the drawn record has nothing to ask for.
pub fn ask(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let (resource, key_parameter) = match &api.behaviour.kind {
        BehaviourKind::Lookup { resource, by } => match by.as_slice() {
            [(field, parameter)] if world.resource(*resource).display == Some(*field) => (*resource, *parameter),
            _ => return Err(NoGoal),
        },
        BehaviourKind::Get { resource, .. } => {
            let parameter = api.parameters.iter().position(|parameter| {
                refers_to(&parameter.schema.kind) == Some(*resource) && parameter.required
            });
            (*resource, ParameterId(parameter.ok_or(NoGoal)? as u16))
        }
        _ => return Err(NoGoal),
    };
    let others = api.parameters.iter().enumerate().any(|(index, parameter)| {
        parameter.required && index != key_parameter.index() && api.token.map(ParameterId::index) != Some(index)
    });
    if others {
        return Err(NoGoal);
    }
    let record = own_record(planner, resource).ok_or(NoGoal)?;
    let described = world.resource(resource);
    let key = record.get(described.key.index()).cloned().ok_or(NoGoal)?;
    let value = match api.behaviour.kind {
        BehaviourKind::Lookup { .. } => Value::string(&planner.display(resource, &key).ok_or(NoGoal)?),
        _ => key.clone(),
    };
    let (mut it, argument) = planner.argument(id, key_parameter, &value, 0).ok_or(NoGoal)?;
    let mut arguments = vec![argument];
    if api.token.is_some() {
        arguments.push(planner.token(id).ok_or(NoGoal)?);
    }
    arguments.sort_by_key(|argument| argument.parameter);
    let before = planner.entries.clone();
    let entry = planner.call(id, arguments, &api.description);
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let step = planner.steps.len() - 1;
    let mut askable: Vec<(String, FieldId)> = entry
        .reply
        .body
        .leaves()
        .filter_map(|(path, value, origin)| {
            let Origin::Field { resource: of, key: whose, field } = origin else { return None };
            let wanted = *of == resource
                && *whose == key
                && *field != described.key
                && described.display != Some(*field)
                && described.owner != Some(*field)
                && !matches!(value, Value::Null | Value::Absent | Value::List(_) | Value::Object(_))
                && !matches!(described.field(*field).schema.kind, Type::Reference { .. } | Type::Boolean);
            (wanted && !path.contains('[')).then_some((path, *field))
        })
        .collect();
    // A fact that an earlier reply of the plan shows already would make this call superfluous.
    askable.retain(|(_, field)| {
        !before.iter().any(|entry| {
            entry.reply.body.leaves().any(|(_, _, origin)| {
                matches!(origin, Origin::Field { resource: of, key: whose, field: shown } if *of == resource && *whose == key && shown == field)
            })
        })
    });
    let with_words: Vec<(String, FieldId)> =
        askable.iter().filter(|(_, field)| !planner.world.family.guide.asks(resource, *field).is_empty()).cloned().collect();
    let pool = if with_words.is_empty() || planner.rng.random_bool(0.15) { &askable } else { &with_words };
    let chosen: Vec<(String, FieldId)> =
        pool.sample(planner.rng, if planner.rng.random_bool(0.25) { 2 } else { 1 }).cloned().collect();
    if chosen.is_empty() {
        return Err(NoGoal);
    }
    if described.display.is_none() && !it.iter().any(|segment| matches!(segment, Segment::Text(text) if text.contains("the only one"))) {
        it.insert(0, literal(format!("{} ", described.label)));
    }
    let mut words = Vec::new();
    let mut asked = Vec::new();
    let mut answer = Vec::new();
    for (index, (path, field)) in chosen.iter().enumerate() {
        let label = described.field(*field).label.to_string();
        if index == 0 {
            words = question(planner, resource, *field, &it);
        } else {
            words.push(literal(format!(" And what about the {label}?")));
        }
        asked.push(Asked::Leaf { step, path: path.clone(), about: format!("{label} of the {}", described.label) });
        answer.extend(statement(planner, resource, *field, &it, step, path, index > 0));
    }
    Ok(Goal { mood: Mood::Question, words, asked, answer, api: id, refusal: None })
}

/// A question about a record that does not exist.
///
/// # Errors
/// [`NoGoal`] when the API is not a look-up by name or every drawn name exists.
pub fn ask_missing(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    let BehaviourKind::Lookup { resource, by } = &api.behaviour.kind else { return Err(NoGoal) };
    let [(field, parameter)] = by.as_slice() else { return Err(NoGoal) };
    if world.resource(*resource).display != Some(*field) || api.parameters.iter().filter(|other| other.required).count() != 1 {
        return Err(NoGoal);
    }
    let stranger = planner.world.family.shadow.resource(*resource).records.choose(planner.rng).ok_or(NoGoal)?;
    let name = stranger.get(field.index()).cloned().ok_or(NoGoal)?;
    let known = world.resource(*resource).records.iter().any(|record| {
        let existing = record.get(field.index()).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let wanted = name.as_str().unwrap_or_default().to_lowercase();
        existing.contains(&wanted) || wanted.contains(&existing)
    });
    if known || api.token.is_some() {
        return Err(NoGoal);
    }
    let asks: Vec<FieldId> = (0..world.resource(*resource).fields.len())
        .map(|index| FieldId(index as u16))
        .filter(|field| !planner.world.family.guide.asks(*resource, *field).is_empty())
        .collect();
    let asked_field = *asks.choose(planner.rng).ok_or(NoGoal)?;
    let (it, argument) = planner.argument(id, *parameter, &name, 0).ok_or(NoGoal)?;
    let entry = planner.call(id, vec![argument], &api.description);
    if entry.reply.status != 404 {
        return Err(NoGoal);
    }
    let words = question(planner, *resource, asked_field, &it);
    let label = &world.resource(*resource).label;
    let shown = name.as_str().unwrap_or_default().to_owned();
    let answer = match planner.rng.random_range(0..4) {
        0 => format!("I'm sorry, but I could not find a {label} called {shown}."),
        1 => format!("There is no {label} named {shown} in the system, so I can't answer that."),
        2 => format!("I looked for {shown}, but no {label} of that name was found."),
        _ => format!("Unfortunately no {label} with the name {shown} exists here."),
    };
    Ok(Goal {
        mood: Mood::Question,
        words,
        asked: Vec::new(),
        answer: vec![AnswerPart::Text(answer)],
        api: id,
        refusal: Some(RefusalClass::NotFound),
    })
}

/// A question about a list: which, how many, or the first in some order.
///
/// # Errors
/// [`NoGoal`] when the drawn filters give nothing to ask for.
pub fn list(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    let BehaviourKind::List(query) = &api.behaviour.kind else { return Err(NoGoal) };
    let resource = query.resource;
    let described = world.resource(resource);
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let noun = planner.world.family.guide.api(id).noun.choose(planner.rng).cloned();
    let noun = noun.unwrap_or_else(|| Template::parse(&described.plural));
    let (phrase, mut arguments) = planner.fill(id, &noun, &values, 0.6, 0).ok_or(NoGoal)?;

    let best = (planner.rng.random_bool(0.4)).then(|| sorted_best(planner, api, query)).flatten();
    if let Some((parameter, order, field, words)) = best {
        let slot = planner.slot(order.clone(), Derivation::SortPhrase, id, parameter);
        arguments.push(StepArgument { parameter, value: order, source: Source::Slot(slot) });
        arguments.sort_by_key(|argument| argument.parameter);
        let entry = planner.call(id, arguments, &described.plural);
        let step = planner.steps.len() - 1;
        let (path, array) = display_of_first(planner, &entry.reply.body, resource).ok_or(NoGoal)?;
        let member = member_of(&entry.reply.body, &array, resource, field).ok_or(NoGoal)?;
        let value_path = format!("{array}[0]{}{member}", if member.is_empty() { "" } else { "." });
        planner.described.push(Described { step, how: Singled::First { array, member } });
        planner.phenomena.push("superlative");
        let mut sentence = vec![literal(*["Which of the ", "Out of the ", "Among the "].choose(planner.rng).unwrap_or(&"Which of the "))];
        let which = matches!(&sentence[0], Segment::Text(text) if text.starts_with("Which"));
        sentence.extend(phrase);
        sentence.push(literal(if which { " has the " } else { ", which one has the " }));
        sentence.push(Segment::Slot { slot, words: words.clone() });
        sentence.push(literal("?"));
        let style = planner.rng.random_range(0..6);
        let answer = vec![
            AnswerPart::Leaf { call: step, path: path.clone(), style: 0 },
            AnswerPart::Text(format!(" has the {words}: ")),
            AnswerPart::Leaf { call: step, path: value_path, style },
            AnswerPart::Text(".".into()),
        ];
        let asked = vec![Asked::Leaf { step, path, about: format!("the {} with the {words}", described.label) }];
        return Ok(Goal { mood: Mood::Question, words: sentence, asked, answer, api: id, refusal: None });
    }

    let entry = planner.call(id, arguments, &described.plural);
    let step = planner.steps.len() - 1;
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let body = &entry.reply.body;
    let total = body.leaves().find(|(path, _, origin)| {
        matches!(origin, Origin::Computed) && path.rsplit('.').next() == Some(&*api.reply.total) && !api.reply.total.is_empty()
    });
    let first = display_of_first(planner, body, resource);
    let names = first.and_then(|(path, array)| {
        let shown = match body.at(&array) {
            Some(Body::List(items)) => items.len(),
            _ => 0,
        };
        let all = total.as_ref().is_none_or(|(_, value, _)| value.as_f64() == Some(shown as f64));
        let complete = all && (1..=6).contains(&shown) && (total.is_some() || query.page.is_none());
        let member = path.split_once("].").map(|(_, member)| member.to_owned())?;
        complete.then_some((array, member))
    });
    match (names, total) {
        (Some((array, member)), _) if planner.rng.random_bool(0.7) => {
            let mut words = vec![literal(
                *["Which ", "Show me the ", "List the ", "What are the ", "Give me the names of the ", "I'd like to see all "]
                    .choose(planner.rng)
                    .unwrap_or(&"Which "),
            )];
            let end = match &words[0] {
                Segment::Text(text) if text.starts_with("Which") => " are there?",
                Segment::Text(text) if text.starts_with("What") => "?",
                _ => ".",
            };
            words.extend(phrase);
            words.push(literal(end));
            let style = planner.rng.random_range(0..6);
            let lead = ["I found ", "Here is what I found: ", "These match: ", "That would be "];
            let answer = vec![
                AnswerPart::Text((*lead.choose(planner.rng).unwrap_or(&"I found ")).into()),
                AnswerPart::Each { call: step, array: array.clone(), member: member.clone(), style },
                AnswerPart::Text(".".into()),
            ];
            let asked = vec![Asked::Each { step, array, member, about: format!("names of the {}", described.plural) }];
            Ok(Goal { mood: Mood::Question, words, asked, answer, api: id, refusal: None })
        }
        (_, Some((path, value, _))) if value.as_f64().is_some_and(|total| total > 0.0) => {
            let mut words = vec![literal(*["How many ", "Can you count the ", "What is the number of "].choose(planner.rng).unwrap_or(&"How many "))];
            let end = match &words[0] {
                Segment::Text(text) if text.starts_with("How") => " are there?",
                _ => "?",
            };
            words.extend(phrase);
            words.push(literal(end));
            let lead = if value.as_f64() == Some(1.0) { "There is " } else { "There are " };
            let answer = vec![
                AnswerPart::Text(lead.into()),
                AnswerPart::Leaf { call: step, path: path.clone(), style: 0 },
                AnswerPart::Text(" in total.".into()),
            ];
            let asked = vec![Asked::Count { step, path, about: format!("number of {}", described.plural) }];
            Ok(Goal { mood: Mood::Question, words, asked, answer, api: id, refusal: None })
        }
        _ => Err(NoGoal),
    }
}

/// A computed or aggregated figure.
///
/// # Errors
/// [`NoGoal`] when the drawn values give no figure.
pub fn compute(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let (mood, template) = template(planner, id);
    let (mut words, arguments) = planner.fill(id, &template, &values, 0.6, 0).ok_or(NoGoal)?;
    let entry = planner.call(id, arguments, &api.description);
    let step = planner.steps.len() - 1;
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let figures: Vec<(String, Value)> = entry
        .reply
        .body
        .leaves()
        .filter(|(path, value, origin)| {
            matches!(origin, Origin::Computed)
                && value.as_f64().is_some_and(|number| number.abs() > 1e-9)
                && !path.ends_with("_id")
                && !path.contains('[')
        })
        .map(|(path, value, _)| (path, value.clone()))
        .collect();
    let (path, _) = match figures.as_slice() {
        [] => return Err(NoGoal),
        [one] => one.clone(),
        several => several.last().cloned().ok_or(NoGoal)?,
    };
    let name = path.rsplit('.').next().unwrap_or(&path).replace('_', " ");
    if figures.len() > 1 || mood != Mood::Imperative || planner.rng.random_bool(0.3) {
        let ends = matches!(words.last(), Some(Segment::Text(text)) if text.trim_end().ends_with(['.', '?', '!']));
        let lead = ["I need the ", "Tell me the ", "What I want to know is the ", "Just give me the "];
        let lead = *lead.choose(planner.rng).unwrap_or(&"I need the ");
        words.push(literal(format!("{}{lead}{name}.", if ends { " " } else { ". " })));
    }
    let style = planner.rng.random_range(0..6);
    let answer = vec![
        AnswerPart::Text(format!("The {name} is ")),
        AnswerPart::Leaf { call: step, path: path.clone(), style },
        AnswerPart::Text(".".into()),
    ];
    let asked = vec![Asked::Leaf { step, path, about: name }];
    Ok(Goal { mood, words, asked, answer, api: id, refusal: None })
}

/// Values for all parameters of an API, drawn so that they go together.
fn arguments(planner: &mut Planner<'_>, id: ApiId) -> Vec<(ParameterId, Value)> {
    let world = planner.world.base.world();
    let api = world.api(id);
    // Filters take their values from one record, so that at least that one matches.
    let example = match &api.behaviour.kind {
        BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. } => {
            own_record(planner, query.resource).map(|record| (query, record))
        }
        _ => None,
    };
    let mut rows: Vec<(ResourceId, Record)> = Vec::new();
    let mut values: Vec<(ParameterId, Value)> = Vec::new();
    for (index, parameter) in api.parameters.iter().enumerate() {
        let parameter_id = ParameterId(index as u16);
        if api.token == Some(parameter_id) {
            continue;
        }
        let value = match &example {
            Some((query, record)) => {
                let filter = query.filters.iter().find(|filter| filter.parameter == parameter_id);
                match filter.map(|filter| &filter.test) {
                    Some(FilterTest::Compare(field, comparison)) => {
                        record.get(field.index()).and_then(|value| filter_value(planner, value, *comparison))
                    }
                    Some(FilterTest::Text(fields)) => fields.iter().find_map(|field| {
                        let text = record.get(field.index())?.as_str()?;
                        text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).choose(planner.rng).map(Value::string)
                    }),
                    None if parameter.required => draw(planner, api, parameter_id, &values, &mut rows),
                    None => None,
                }
            }
            None => draw(planner, api, parameter_id, &values, &mut rows),
        };
        if let Some(value) = value {
            values.push((parameter_id, value));
        }
    }
    values
}

fn filter_value(planner: &Planner<'_>, value: &Value, comparison: diorama_seeds::model::Comparison) -> Option<Value> {
    use diorama_seeds::model::Comparison;
    match (comparison, value) {
        (_, Value::Null | Value::Absent) => None,
        (Comparison::On, Value::DateTime(instant)) => {
            Some(Value::Date(planner.world.base.world().zone.date_of(*instant)))
        }
        (Comparison::Has, Value::List(items)) => items.first().cloned(),
        (Comparison::In, value) => Some(Value::List([value.clone()].into())),
        (Comparison::NotEqual | Comparison::Less | Comparison::Greater, _) => None,
        (_, value) => Some(value.clone()),
    }
}

/// A value for a parameter of a write or a computation.
fn draw(
    planner: &mut Planner<'_>,
    api: &Api,
    id: ParameterId,
    earlier: &[(ParameterId, Value)],
    rows: &mut Vec<(ResourceId, Record)>,
) -> Option<Value> {
    let world = planner.world.base.world();
    let parameter = &api.parameters[id.index()];
    if let BehaviourKind::RemoveMembers { resource, field, member, .. } = &api.behaviour.kind {
        if *member == id {
            let (_, key) = earlier.iter().find(|(other, _)| {
                refers_to(&api.parameters[other.index()].schema.kind) == Some(*resource)
            })?;
            let record = planner.session.state().get(&planner.world.base, *resource, key)?;
            let Value::List(items) = record.get(field.index())? else { return None };
            let item = items.choose(planner.rng)?.clone();
            return Some(match parameter.schema.kind {
                Type::List(_) => Value::List([item].into()),
                _ => item,
            });
        }
    }
    match &parameter.schema.kind {
        Type::Reference { resource, .. } => {
            let record = own_record(planner, *resource)?;
            return record.get(world.resource(*resource).key.index()).cloned();
        }
        Type::List(item) => {
            if let Some(resource) = refers_to(&item.kind) {
                let key = world.resource(resource).key.index();
                let count = planner.rng.random_range(1..=3);
                let records = &world.resource(resource).records;
                let chosen: Vec<Value> =
                    records.sample(planner.rng, count).filter_map(|record| record.get(key).cloned()).collect();
                return (!chosen.is_empty()).then(|| Value::List(chosen.into()));
            }
        }
        _ => {}
    }
    if let Some((resource, field)) = parameter.field {
        let row = match rows.iter().find(|(of, _)| *of == resource) {
            Some((_, row)) => row.clone(),
            None => {
                let row = planner.world.family.shadow.resource(resource).records.choose(planner.rng)?.clone();
                rows.push((resource, row.clone()));
                row
            }
        };
        let value = row.get(field.index())?.clone();
        return (!value.is_missing() && parameter.schema.allows(&value)).then_some(value);
    }
    let today = world.zone.date_of(world.clock);
    let limit = |value: &Option<Value>, otherwise: i64| value.as_ref().and_then(Value::as_f64).map_or(otherwise, |v| v as i64);
    let (low, high) = (limit(&parameter.schema.limits.min, 1), limit(&parameter.schema.limits.max, 12));
    let rng = &mut *planner.rng;
    match &parameter.schema.kind {
        Type::Integer => Some(Value::Integer(rng.random_range(low..=high.clamp(low, low.saturating_add(11))))),
        Type::Number => Value::number(rng.random_range(low..=high.max(low)) as f64),
        Type::Decimal { scale, .. } => {
            let whole = rng.random_range(low..=high.clamp(low, low.saturating_add(500)));
            Some(Value::Decimal(diorama_seeds::value::Decimal {
                minor: whole.checked_mul(10_i64.checked_pow(u32::from(*scale))?)?,
                scale: *scale,
            }))
        }
        Type::Date => Some(Value::Date(Date(today.0 + rng.random_range(1..21)))),
        Type::Time => Some(Value::Time(Time(rng.random_range(16..40) * 1800))),
        Type::DateTime => {
            let date = Date(today.0 + rng.random_range(1..14));
            Some(Value::DateTime(world.zone.instant(date, Time(rng.random_range(18..36) * 1800))))
        }
        Type::Enum(values) => values.choose(rng).cloned().map(Value::String),
        Type::Boolean => Some(Value::Bool(true)),
        _ => None,
    }
}

/// A record of the resource; of the signed-in user where records have owners and somebody signed in.
fn own_record(planner: &mut Planner<'_>, resource: ResourceId) -> Option<Record> {
    let described = planner.world.base.world().resource(resource);
    let owner = described.owner.zip(planner.owner_key());
    let records = planner.session.state().iter(&planner.world.base, resource);
    let mine = |record: &&Record| {
        owner.as_ref().is_none_or(|(field, key)| record.get(field.index()) == Some(key))
    };
    records.filter(mine).choose(planner.rng).cloned()
}

fn template(planner: &mut Planner<'_>, id: ApiId) -> (Mood, Template) {
    let words = planner.world.family.guide.api(id);
    let whole = !words.request.is_empty() && (words.imperative.is_empty() || planner.rng.random_bool(0.45));
    if whole {
        if let Some(template) = words.request.choose(planner.rng) {
            return (Mood::Sentence, template.clone());
        }
    }
    match words.imperative.choose(planner.rng) {
        Some(template) => (Mood::Imperative, template.clone()),
        None => (Mood::Imperative, plain_template(planner.world.base.world().api(id))),
    }
}

/// A clause for an API that has no phrases: the description's verb, then the parameters by their labels.
fn plain_template(api: &Api) -> Template {
    let mut text = infinitive(&api.description).unwrap_or_else(|| spaced(&api.name));
    let mut joint = " with ";
    for (index, parameter) in api.parameters.iter().enumerate() {
        if api.token.map(ParameterId::index) == Some(index) {
            continue;
        }
        if parameter.required {
            text.push_str(&format!("{joint}{} {{{}}}", parameter.label, parameter.name));
            joint = ", ";
        }
    }
    Template::parse(&text)
}

/// `Books an appointment with a dentist.` as `book an appointment with a dentist`.
#[must_use]
pub fn infinitive(description: &str) -> Option<String> {
    let sentence = description.split(['.', ';', ':', ',']).next()?.trim();
    let (verb, rest) = sentence.split_once(' ')?;
    let lower = verb.to_lowercase();
    let base = if let Some(stem) = lower.strip_suffix("ies") {
        format!("{stem}y")
    } else if ["sses", "shes", "ches", "xes", "oes"].iter().any(|ending| lower.ends_with(ending)) {
        lower.strip_suffix("es")?.to_owned()
    } else if lower.ends_with('s') && !lower.ends_with("ss") {
        lower.strip_suffix('s')?.to_owned()
    } else {
        lower
    };
    let plain = base.chars().all(char::is_alphabetic) && !rest.contains(['{', '}', '[', ']', '(', ')', '`']);
    plain.then(|| format!("{base} {rest}"))
}

fn spaced(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The words of each parameter in the filled template, for the closing sentence.
fn said(template: &Template, words: &[Segment], api: &Api) -> Vec<(String, String)> {
    // Re-filling with the same words is not possible here; the plan keeps slots by parameter instead.
    let _ = template;
    let _ = api;
    words
        .iter()
        .filter_map(|segment| match segment {
            Segment::Slot { slot, words } => Some((slot.to_string(), words.clone())),
            Segment::Text(_) => None,
        })
        .collect()
}

fn done(planner: &mut Planner<'_>, id: ApiId, step: usize, said: &[(String, String)]) -> Vec<AnswerPart> {
    let _ = said;
    let world = planner.world.base.world();
    let templates: Vec<Template> = planner.world.family.guide.api(id).done.clone();
    let api = world.api(id);
    if let Some(template) = templates.choose(planner.rng) {
        let mut parts = Vec::new();
        let body = planner.entries[step].reply.body.clone();
        let arguments = planner.steps[step].arguments.clone();
        let filled = template.fill(&mut |name| {
            if let Some(path) = name.strip_prefix("reply:") {
                body.at(path).and_then(Body::value).filter(|value| !value.is_missing())?;
                return Some(vec![Segment::Slot { slot: usize::MAX, words: path.to_owned() }]);
            }
            let parameter = api.parameter_named(name)?;
            let argument = arguments.iter().find(|argument| argument.parameter == parameter)?;
            let described = &api.parameters[parameter.index()];
            let words = match &described.schema.kind {
                Type::Reference { resource, .. } => planner_display(planner.world, planner.session.state(), *resource, &argument.value)?,
                Type::List(item) if refers_to(&item.kind).is_some() => {
                    let resource = refers_to(&item.kind)?;
                    let Value::List(items) = &argument.value else { return None };
                    let names: Option<Vec<String>> = items
                        .iter()
                        .map(|key| planner_display(planner.world, planner.session.state(), resource, key))
                        .collect();
                    super::say::enumerate(&names?)
                }
                _ => told_argument(&argument.value, described, &world.zone),
            };
            Some(vec![literal(words)])
        });
        if let Some(segments) = filled {
            for segment in segments {
                match segment {
                    Segment::Text(text) => parts.push(AnswerPart::Text(text)),
                    Segment::Slot { words, .. } => parts.push(AnswerPart::Leaf { call: step, path: words, style: 0 }),
                }
            }
            return parts;
        }
    }
    let general = ["Done.", "That's done.", "All set.", "I've taken care of that.", "It is done as you asked.", "Finished: everything went through."];
    vec![AnswerPart::Text((*general.choose(planner.rng).unwrap_or(&"Done.")).into())]
}

fn told_argument(value: &Value, parameter: &diorama_seeds::model::Parameter, zone: &diorama_seeds::value::Zone) -> String {
    let told = super::say::told(value, &parameter.schema, zone, 0);
    match value {
        Value::Date(_) | Value::DateTime(_) => format!("on {told}"),
        Value::Time(_) => format!("at {told}"),
        _ => told,
    }
}

fn planner_display(
    world: &super::world::UnitWorld,
    state: &diorama_simulator::engine::State,
    resource: ResourceId,
    key: &Value,
) -> Option<String> {
    let described = world.base.world().resource(resource);
    let field = match described.display {
        Some(field) => field,
        None => return Some(key.to_text(&world.base.world().zone)),
    };
    // A record that the call deleted is known from the start.
    let record = state.get(&world.base, resource, key).or_else(|| {
        described.records.iter().find(|record| record.get(described.key.index()) == Some(key))
    })?;
    record.get(field.index())?.as_str().map(str::to_owned)
}

fn refused(planner: &mut Planner<'_>, body: &Body, class: RefusalClass) -> Vec<AnswerPart> {
    let detail = body.at("detail").and_then(Body::value).and_then(Value::as_str).unwrap_or("the request was refused").trim_end_matches('.').to_owned();
    let text = match planner.rng.random_range(0..5) {
        0 => format!("I'm sorry, I couldn't do that: {detail}."),
        1 => format!("Unfortunately this isn't possible, because {detail}."),
        2 => format!("That was refused: {detail}. Nothing has been changed."),
        3 => format!("I wasn't able to do it. The reason given is that {detail}."),
        _ => format!("This can't be done at the moment: {detail}."),
    };
    let _ = class;
    vec![AnswerPart::Text(text)]
}

fn question(planner: &mut Planner<'_>, resource: ResourceId, field: FieldId, it: &[Segment]) -> Vec<Segment> {
    let described = planner.world.base.world().resource(resource);
    let asks = planner.world.family.guide.asks(resource, field);
    let template = match asks.choose(planner.rng) {
        Some(ask) => Template::parse(ask),
        None => {
            let label = &described.field(field).label;
            let plain = [
                format!("What is the {label} of {{it}}?"),
                format!("Can you tell me the {label} of {{it}}?"),
                format!("Look up the {label} of {{it}} for me."),
                format!("I need the {label} of {{it}}."),
            ];
            Template::parse(plain.choose(planner.rng).map_or("", String::as_str))
        }
    };
    template.fill(&mut |name| (name == "it").then(|| it.to_vec())).unwrap_or_else(|| it.to_vec())
}

fn statement(
    planner: &mut Planner<'_>,
    resource: ResourceId,
    field: FieldId,
    it: &[Segment],
    step: usize,
    path: &str,
    further: bool,
) -> Vec<AnswerPart> {
    let described = planner.world.base.world().resource(resource);
    let name: String = it
        .iter()
        .map(|segment| match segment {
            Segment::Text(text) => text.as_str(),
            Segment::Slot { words, .. } => words.as_str(),
        })
        .collect();
    let name = if name.starts_with("the only one") { format!("that {}", described.label) } else { name };
    let says = planner.world.family.guide.says(resource, field);
    let template = match says.choose(planner.rng) {
        Some(say) => Template::parse(say),
        None => Template::parse(&format!("The {} of {{it}} is {{value}}.", described.field(field).label)),
    };
    let style = planner.rng.random_range(0..6);
    let filled = template.fill(&mut |slot| match slot {
        "it" => Some(vec![literal(name.clone())]),
        "value" => Some(vec![Segment::Slot { slot: 0, words: String::new() }]),
        _ => None,
    });
    let mut parts = Vec::new();
    if further {
        parts.push(AnswerPart::Text(" ".into()));
    }
    for (index, segment) in filled.unwrap_or_default().into_iter().enumerate() {
        parts.push(match segment {
            Segment::Text(text) if index == 0 => AnswerPart::Text(super::text::capitalised(&text)),
            Segment::Text(text) => AnswerPart::Text(text),
            Segment::Slot { .. } => AnswerPart::Leaf { call: step, path: path.to_owned(), style },
        });
    }
    parts
}

/// An order that a caller may choose and people have words for: parameter, its value, field, words.
fn sorted_best(
    planner: &mut Planner<'_>,
    api: &Api,
    query: &diorama_seeds::model::Query,
) -> Option<(ParameterId, Value, FieldId, String)> {
    let (parameter, fields) = query.sort_parameter.as_ref()?;
    let Type::Enum(values) = &api.parameters[parameter.index()].schema.kind else { return None };
    let described = planner.world.base.world().resource(query.resource);
    let numeric = |field: &&FieldId| {
        matches!(described.field(**field).schema.kind, Type::Integer | Type::Number | Type::Decimal { .. })
    };
    let field = *fields.iter().filter(numeric).choose(planner.rng)?;
    let name = &described.field(field).name;
    let descending = planner.rng.random_bool(0.5);
    let forms: [String; 3] = if descending {
        [format!("-{name}"), format!("{name}.desc"), format!("{name}_desc")]
    } else {
        [name.to_string(), format!("{name}.asc"), format!("{name}_asc")]
    };
    let value = values.iter().find(|value| forms.iter().any(|form| **form == ***value))?;
    let word = if descending { "highest" } else { "lowest" };
    Some((*parameter, Value::String(value.clone()), field, format!("{word} {}", described.field(field).label)))
}

/// The place of the first item's display name, and of its array.
fn display_of_first(planner: &Planner<'_>, body: &Body, resource: ResourceId) -> Option<(String, String)> {
    let display = planner.world.base.world().resource(resource).display?;
    body.leaves().find_map(|(path, _, origin)| {
        let Origin::Field { resource: of, field, .. } = origin else { return None };
        let (array, index) = array_of(&path)?;
        (*of == resource && *field == display && index == 0).then_some((path, array))
    })
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
