//! Grounded: every argument can be derived again from text visible before its call, and cannot once its words are
//! deleted.

use diorama_seeds::model::{Parameter, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ArgumentSource, Derivation, GoldCall};
use diorama_seeds::value::Value;
use diorama_simulator::engine::tools::TOOL_SEARCHER;

use crate::synthesis::caller::{stem, words};
use crate::synthesis::resolve::{Shown, occurs, readings};
use crate::synthesis::tester::{GateReport, Trial};

/// Runs the gate.
///
/// # Errors
/// How an argument is not grounded.
pub fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    for (index, gold) in trial.solution.gold.iter().enumerate() {
        for (name, json) in &gold.arguments {
            let source = gold.sources.get(name).ok_or("an argument without a source")?;
            if gold.api == TOOL_SEARCHER {
                keywords(trial, index, json.as_str().unwrap_or_default(), source)?;
                report.grounded += 1;
                continue;
            }
            let api = world.api(world.api_named(&gold.api).ok_or("an unknown API")?);
            let id = api.parameter_named(name).ok_or("an unknown parameter")?;
            let parameter = &api.parameters[id.index()];
            let value = parameter
                .schema
                .parse_json(json, &world.zone)
                .map_err(|_| "an argument of the wrong type")?;
            argument(trial, world, index, gold, parameter, &value, source)?;
            report.grounded += 1;
        }
    }
    Ok(())
}

fn argument(
    trial: &Trial<'_>,
    world: &World,
    index: usize,
    gold: &GoldCall,
    parameter: &Parameter,
    value: &Value,
    source: &ArgumentSource,
) -> Result<(), &'static str> {
    let shown = Shown { now: world.clock, zone: &world.zone };
    match source {
        ArgumentSource::User { turn, start, end, by } => {
            if *turn > gold.turn {
                return Err("words of a later turn");
            }
            let text = &trial.draft.turns.get(*turn as usize).ok_or("a turn that is not there")?.text;
            let words = text.get(*start as usize..*end as usize).ok_or("a span outside its turn")?;
            let derived = match by {
                Derivation::SortPhrase => sort_reading(words, parameter, trial, gold).as_ref() == Some(value),
                _ => readings(words, parameter, shown).contains(value),
            };
            if !derived {
                return Err("words that do not give the value");
            }
            let rest = format!("{} {}", &text[..*start as usize], &text[*end as usize..]);
            if *by != Derivation::SortPhrase && occurs(&rest, value, parameter, shown) {
                return Err("the value stands elsewhere too");
            }
            Ok(())
        }
        ArgumentSource::Reply { call, path } => {
            let entry = trial.solution.entries.get(*call as usize).filter(|_| (*call as usize) < index);
            let leaf = entry
                .ok_or("a reply that comes later")?
                .reply
                .body
                .at(path)
                .ok_or("a place that is not there")?;
            if leaf.value() == Some(value) { Ok(()) } else { Err("a reply with another value") }
        }
        ArgumentSource::Replies { places } => {
            let Value::List(items) = value else { return Err("a list that is none") };
            let same = places.len() == items.len()
                && places.iter().zip(items.iter()).all(|((call, path), item)| {
                    (*call as usize) < index
                        && trial
                            .solution
                            .entries
                            .get(*call as usize)
                            .and_then(|entry| entry.reply.body.at(path))
                            .and_then(|leaf| leaf.value())
                            == Some(item)
                });
            if same { Ok(()) } else { Err("replies with other values") }
        }
        ArgumentSource::Default => {
            if parameter.default.as_ref() == Some(value) {
                Ok(())
            } else {
                Err("another default")
            }
        }
        ArgumentSource::Clock { .. }
        | ArgumentSource::Arithmetic { .. }
        | ArgumentSource::Keywords { .. } => Err("a source of the wrong kind"),
    }
}

/// `lowest fee` as the order `fee`, `highest fee` as `-fee`, in whichever spelling the parameter lists.
fn sort_reading(words: &str, parameter: &Parameter, trial: &Trial<'_>, gold: &GoldCall) -> Option<Value> {
    let world = trial.world.base.world();
    let api = world.api(world.api_named(&gold.api)?);
    let diorama_seeds::model::BehaviourKind::List(query) = &api.behaviour.kind else { return None };
    let (superlative, label) = words.split_once(' ')?;
    let descending = match superlative {
        "highest" => true,
        "lowest" => false,
        _ => return None,
    };
    let resource = world.resource(query.resource);
    let mut fields = query
        .sort_parameter
        .iter()
        .flat_map(|(_, fields)| fields)
        .filter(|field| &*resource.field(**field).label == label);
    let field = &resource.field(*fields.next()?).name;
    if fields.next().is_some() {
        return None;
    }
    let Type::Enum(values) = &parameter.schema.kind else { return None };
    let fits = |value: &str| {
        let (bare, down) = if let Some(bare) = value.strip_prefix('-') {
            (bare, true)
        } else if let Some(bare) = value.strip_suffix(".desc").or_else(|| value.strip_suffix("_desc")) {
            (bare, true)
        } else {
            (value.trim_end_matches(".asc").trim_end_matches("_asc"), false)
        };
        bare == &**field && down == descending
    };
    let mut fitting = values.iter().filter(|value| fits(value));
    let value = fitting.next()?;
    fitting.next().is_none().then(|| Value::String(value.clone()))
}

fn keywords(
    trial: &Trial<'_>,
    index: usize,
    text: &str,
    source: &ArgumentSource,
) -> Result<(), &'static str> {
    let ArgumentSource::Keywords { turns, calls } = source else { return Err("keywords of another source") };
    let mut seen: Vec<String> = words(&trial.solution.system);
    for turn in turns {
        seen.extend(words(&trial.draft.turns.get(*turn as usize).ok_or("a turn that is not there")?.text));
    }
    let zone = &trial.world.base.world().zone;
    for call in calls.iter().filter(|call| (**call as usize) < index) {
        seen.extend(words(
            &trial
                .solution
                .entries
                .get(*call as usize)
                .ok_or("a reply that is not there")?
                .reply
                .to_json(zone),
        ));
    }
    if words(text).iter().all(|word| seen.iter().any(|other| stem(other) == stem(word))) {
        Ok(())
    } else {
        Err("keywords from nowhere")
    }
}
