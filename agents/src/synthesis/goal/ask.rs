//! Questions about one record.

use crate::synthesis::draft::AnswerPart;
use diorama_engine::{Body, Origin};
use diorama_proof::answer::Asked;
use diorama_seeds::english::{article, lowered};
use diorama_seeds::model::{Api, ApiId, BehaviourKind, FieldId, ParameterId, Record, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::values::{first_parts, keys, keys_named, own_record};
use super::words::{question, statement};
use super::{Again, Goal, NoGoal, Result};
use crate::synthesis::plan::Planner;
use crate::synthesis::text::{Segment, literal};
use crate::synthesis::world::refers_to;

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
    let (resource, own) = match &api.behaviour.kind {
        BehaviourKind::Lookup { resource, by } => match by.as_slice() {
            [(field, parameter)] if world.resource(*resource).display == Some(*field) => {
                (*resource, Some(*parameter))
            }
            _ => return Err(NoGoal),
        },
        BehaviourKind::Get { resource, .. } => {
            let parameter = api.parameters.iter().position(|parameter| {
                refers_to(&parameter.schema.kind) == Some(*resource) && parameter.required
            });
            (*resource, parameter.map(|index| ParameterId(index as u16)))
        }
        _ => return Err(NoGoal),
    };
    let described = world.resource(resource);
    let record = match own {
        Some(_) => Some(own_record(planner, resource).ok_or(NoGoal)?),
        None => None,
    };
    let others = above(planner, api, own, record.clone().map(|record| (resource, record)))?;
    planner.named = keys_named(api, &others);
    let mut arguments = Vec::new();
    let mut it = match (own, &record) {
        (Some(parameter), Some(record)) => {
            let key = record.get(described.key.index()).cloned().ok_or(NoGoal)?;
            let value = match api.behaviour.kind {
                BehaviourKind::Lookup { .. } => {
                    Value::string(&planner.display(resource, &key).ok_or(NoGoal)?)
                }
                _ => key,
            };
            // Some have the key at hand.
            planner.by_key = planner.rng.random_bool(planner.keys_at_hand);
            let found = planner.argument(id, parameter, &value, 0);
            planner.by_key = false;
            let (it, argument) = found.ok_or(NoGoal)?;
            arguments.push(argument);
            it
        }
        _ if others.is_empty() && is_person(&described.label) => vec![literal("my account")],
        _ if others.is_empty() => vec![literal(format!("my {}", described.label))],
        _ => vec![literal(format!("the {}", described.label))],
    };
    let mut of = Vec::new();
    // The nearest first.
    let mut nearer: Option<ResourceId> = None;
    let mut begins = None;
    for (parameter, key) in others.iter().rev() {
        let (words, argument) = planner.argument(id, *parameter, key, 0).ok_or(NoGoal)?;
        if first_parts(api).any(|(first, _)| first == *parameter) {
            // The first part of a key stands before the second.
            let (whole, at) = match begins {
                Some(at) => (&mut of, at),
                None => (&mut it, 0),
            };
            whole.splice(at..at, words.into_iter().chain([literal("/")]));
            arguments.push(argument);
            continue;
        }
        let resource = refers_to(&api.parameters[parameter.index()].schema.kind).ok_or(NoGoal)?;
        let belongs = |nearer: ResourceId| {
            let mut fields = world.resource(nearer).fields.iter();
            fields.any(|field| refers_to(&field.schema.kind) == Some(resource))
        };
        let joint = if nearer.is_none_or(belongs) { "of" } else { "in" };
        of.push(literal(format!(" {joint} the {} ", world.resource(resource).label)));
        nearer = Some(resource);
        begins = Some(of.len());
        of.extend(words);
        arguments.push(argument);
    }
    if api.token.is_some() {
        arguments.push(planner.token(id).ok_or(NoGoal)?);
    }
    arguments.sort_by_key(|argument| argument.parameter);
    let before = planner.entries.clone();
    let entry = planner.call(id, arguments);
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let step = planner.steps.len() - 1;
    let shown = entry.reply.body.leaves().find_map(|(_, _, origin)| match origin {
        Origin::Field { resource: of, key, .. } if *of == resource => Some(key.clone()),
        _ => None,
    });
    let key = record.and_then(|record| record.get(described.key.index()).cloned()).or(shown).ok_or(NoGoal)?;
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
            entry.reply.body.values().any(|(_, origin)| {
                matches!(origin, Origin::Field { resource: of, key: whose, field: shown } if *of == resource && *whose == key && shown == field)
            })
        })
    });
    let with_words: Vec<(String, FieldId)> = askable
        .iter()
        .filter(|(_, field)| !planner.world.world_template.guide.asks(resource, *field).is_empty())
        .cloned()
        .collect();
    // Where the world has words for some, the others are left alone.
    let pool = if planner.world.world_template.guide.has_asks() { &with_words } else { &askable };
    let count = if planner.rng.random_bool(0.25) { 2 } else { 1 };
    let mut chosen: Vec<(String, FieldId)> = pool.sample(planner.rng, count).cloned().collect();
    chosen.dedup_by_key(|(_, field)| *field);
    if chosen.is_empty() {
        return Err(NoGoal);
    }
    if own.is_some()
        && described.display.is_none()
        && !it.iter().any(|segment| matches!(segment, Segment::Text(text) if text.contains("the only one")))
    {
        it.insert(0, literal(format!("{} ", described.label)));
    }
    // A name alone does not say what it is the name of.
    let says_what = |ask: &String| ask.to_lowercase().contains(&*described.label.to_lowercase());
    let told = chosen
        .iter()
        .any(|(_, field)| planner.world.world_template.guide.asks(resource, *field).iter().any(says_what));
    let named = it.first() != Some(&Segment::Value(key.to_text(&world.zone)));
    if own.is_some() && described.display.is_some() && !told && !(named && is_person(&described.label)) {
        it.insert(0, literal(format!("the {} ", described.label)));
    }
    it.extend(of);
    let mut words = Vec::new();
    let mut asked = Vec::new();
    let mut answer = Vec::new();
    for (index, (path, field)) in chosen.iter().enumerate() {
        let label = described.field(*field).label.to_string();
        if index == 0 {
            words = question(planner, resource, *field, &it);
        } else {
            let asks = planner.world.world_template.guide.asks(resource, *field);
            match asks.choose(planner.rng) {
                Some(ask) if follows_on(ask) && !is_person(&described.label) => {
                    words.push(literal(format!(" And {}", lowered(&of_it(ask)))));
                }
                // What is told by a clause has no noun.
                Some(_) if label.ends_with(" at") => continue,
                _ => words.push(literal(format!(" And what about the {label}?"))),
            }
        }
        asked.push(Asked::Leaf {
            call: step,
            path: path.clone(),
            about: described.about(*field),
            several: false,
        });
        answer.extend(statement(planner, resource, *field, &it, step, path, index > 0));
    }
    let again = own.filter(|_| others.is_empty());
    let again = again.map(|parameter| Again { resource, key, parameter, fields: chosen });
    Ok(Goal { again, ..Goal::question(id, words, asked, answer) })
}

/// What a record stands above it that a call must name, in the order of its parameters.
fn above(
    planner: &mut Planner<'_>,
    api: &Api,
    own: Option<ParameterId>,
    about: Option<(ResourceId, Record)>,
) -> Result<Vec<(ParameterId, Value)>> {
    let mut others = keys(planner, api, about);
    others.retain(|(parameter, _)| Some(*parameter) != own);
    others.sort_by_key(|(parameter, _)| {
        let name = &api.parameters[parameter.index()].name;
        api.path.find(&format!("{{{name}}}"))
    });
    let is_known =
        |id: ParameterId| Some(id) == own || Some(id) == api.token || others.iter().any(|(of, _)| *of == id);
    let all = api
        .parameters
        .iter()
        .enumerate()
        .all(|(index, parameter)| !parameter.required || is_known(ParameterId(index as u16)));
    if all { Ok(others) } else { Err(NoGoal) }
}

/// The same question about another record of the kind, as somebody asks it who had named the wrong one.
///
/// # Errors
/// [`NoGoal`] when there is no other record, or nothing to say of it.
pub fn ask_again(planner: &mut Planner<'_>, first: &Goal) -> Result<Goal> {
    let Again { resource, key, parameter, fields } = first.again.clone().ok_or(NoGoal)?;
    let world = planner.world.base.world();
    let api = world.api(first.api);
    let described = world.resource(resource);
    let record = own_record(planner, resource).ok_or(NoGoal)?;
    let other = record.get(described.key.index()).cloned().ok_or(NoGoal)?;
    if other == key || described.display.is_none() {
        return Err(NoGoal);
    }
    let value = match api.behaviour.kind {
        BehaviourKind::Lookup { .. } => Value::string(&planner.display(resource, &other).ok_or(NoGoal)?),
        _ => other,
    };
    let (it, argument) = planner.argument(first.api, parameter, &value, 0).ok_or(NoGoal)?;
    let mut arguments = vec![argument];
    if api.token.is_some() {
        arguments.push(planner.token(first.api).ok_or(NoGoal)?);
    }
    arguments.sort_by_key(|argument| argument.parameter);
    let entry = planner.call(first.api, arguments);
    let step = planner.steps.len() - 1;
    let (mut asked, mut answer) = (Vec::new(), Vec::new());
    for (index, (path, field)) in fields.iter().enumerate() {
        let shown = entry.reply.body.at(path).and_then(Body::value).is_some_and(|value| !value.is_missing());
        if !entry.reply.is_success() || !shown {
            return Err(NoGoal);
        }
        let about = described.about(*field);
        asked.push(Asked::Leaf { call: step, path: path.clone(), about, several: false });
        answer.extend(statement(planner, resource, *field, &it, step, path, index > 0));
    }
    let lead = ["Sorry, I meant ", "Oh wait, I meant ", "My mistake, I was asking about ", "No, sorry: "];
    let mut words = vec![literal(*lead.choose(planner.rng).unwrap_or(&lead[0]))];
    words.extend(it);
    words.push(literal("."));
    Ok(Goal::question(first.api, words, asked, answer))
}

/// Whether records of this label are people, for whom nobody says "it".
pub(super) fn is_person(label: &str) -> bool {
    const PEOPLE: &[&str] = &[
        "person",
        "user",
        "member",
        "customer",
        "client",
        "student",
        "teacher",
        "professor",
        "patient",
        "dentist",
        "doctor",
        "guest",
        "technician",
        "artist",
        "author",
        "actor",
        "director",
        "owner",
        "vet",
        "applicant",
        "candidate",
        "employee",
        "contact",
        "payee",
        "reader",
        "passenger",
        "driver",
        "profile",
    ];
    label.to_lowercase().split(' ').any(|word| PEOPLE.contains(&word))
}

/// A sentence about a record that was just spoken of: `the status of {it}` is its status.
pub(super) fn of_it(sentence: &str) -> String {
    let owned = sentence.split_once(" of {it}").and_then(|(before, after)| {
        let (lead, noun) = before.rsplit_once("the ").or_else(|| before.rsplit_once("The "))?;
        let its = if lead.is_empty() { "Its" } else { "its" };
        Some(format!("{lead}{its} {noun}{after}"))
    });
    owned.unwrap_or_else(|| match sentence.strip_prefix("{it}") {
        Some(rest) => format!("It{}", rest.replace("{it}", "it")),
        None => sentence.replace("{it}", "it"),
    })
}

/// Whether "it" can stand for the record in a further question: not in "the {it}" or "the scene {it}".
fn follows_on(ask: &str) -> bool {
    const BEFORE: &[&str] = &[
        "is", "are", "was", "does", "do", "did", "can", "will", "of", "in", "on", "for", "about", "with",
        "to", "has", "have", "from", "by", "would", "could", "should", "under", "keep", "see",
    ];
    let Some((before, after)) = ask.split_once("{it}") else { return false };
    let word = before.trim_end().rsplit(' ').next().unwrap_or("").to_lowercase();
    BEFORE.contains(&word.as_str())
        && !after.starts_with('\'')
        && !after.contains("{it}")
        && after.chars().next().is_none_or(|next| !next.is_alphanumeric())
        && !after.trim_start().starts_with("branch")
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
    if world.resource(*resource).display != Some(*field)
        || api.parameters.iter().filter(|other| other.required).count() != 1
    {
        return Err(NoGoal);
    }
    let stranger = planner.world.alternates.resource(*resource).records.choose(planner.rng).ok_or(NoGoal)?;
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
        .filter(|field| !planner.world.world_template.guide.asks(*resource, *field).is_empty())
        .collect();
    let asked_field = *asks.choose(planner.rng).ok_or(NoGoal)?;
    let (it, argument) = planner.argument(id, *parameter, &name, 0).ok_or(NoGoal)?;
    let entry = planner.call(id, vec![argument]);
    if entry.reply.status != 404 {
        return Err(NoGoal);
    }
    let words = question(planner, *resource, asked_field, &it);
    let label = &world.resource(*resource).label;
    let shown = name.as_str().unwrap_or_default().to_owned();
    let a = article(label);
    let answer = match planner.rng.random_range(0..4) {
        0 => format!("I'm sorry, but I could not find {a} {label} called {shown}."),
        1 => format!("There is no {label} named {shown} in the system, so I can't answer that."),
        2 => format!("I looked for {shown}, but no {label} of that name was found."),
        _ => format!("Unfortunately no {label} with the name {shown} exists here."),
    };
    Ok(Goal {
        refusal: Some(RefusalClass::NotFound),
        asks: vec![(*resource, asked_field)],
        ..Goal::question(id, words, Vec::new(), vec![AnswerPart::Text(answer)])
    })
}
