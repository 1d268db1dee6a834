//! Removes filters that would answer at once, and shows lists in short pages: callers then read the pages and
//! compare the records.

use std::collections::BTreeSet;

use diorama_seeds::doc::{
    ApiDoc, DomainDoc, FieldDoc, FilterDoc, PageDoc, PageStyle, ReplyFieldDoc, ScenarioDoc, ScenarioGoalDoc,
    ScenarioStepDoc, Tag, TypeName,
};
use diorama_seeds::english::stem;
use rand::RngExt;
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

/// The share of eligible lists that lose a filter.
const WITHOUT_FILTER: f64 = 0.9;
/// Members of a goal or a step that hold wordings: only names in braces refer to replies.
const WORDINGS: [&str; 4] = ["user", "end", "declined", "say"];
/// Items on a page of a list that is read page by page.
const PAGE_ITEMS: std::ops::RangeInclusive<u32> = 2..=4;
/// The parameter of a list that has got pages.
const PAGE: &str = "page";

/// Removes one filter from lists of a domain, and shows its lists in short pages. A list shows the removed
/// filter's field, so that a caller can compare it.
pub(super) fn leave_out_filters(domain: &mut DomainDoc, rng: &mut ChaCha8Rng) {
    for position in 0..domain.apis.len() {
        if rng.random_bool(WITHOUT_FILTER) {
            leave_out_one(domain, position, rng);
        }
        shorten_pages(domain, position, rng);
    }
}

/// Removes one filter from a list that has a usable one.
fn leave_out_one(domain: &mut DomainDoc, position: usize, rng: &mut ChaCha8Rng) {
    let Some(api) = domain.apis.get(position) else { return };
    let usable: Vec<(String, String)> = api
        .behaviour
        .filters
        .iter()
        .filter_map(|(parameter, filter)| {
            let description = describe_without(api, parameter, field_of(filter)?)?;
            let is_usable = !is_read(api, parameter) && is_replaceable(api, parameter, &domain.scenarios);
            is_usable.then(|| (parameter.clone(), description))
        })
        .collect();
    if let Some((parameter, description)) = usable.into_iter().choose(rng) {
        leave_out(domain, position, &parameter, description);
    }
}

/// Returns true if an expression of an API names a parameter.
fn is_read(api: &ApiDoc, parameter: &str) -> bool {
    let mut texts = Vec::new();
    let mut behaviour = api.behaviour.clone();
    behaviour.filters.shift_remove(parameter);
    let parts = [serde_json::to_value(behaviour), serde_json::to_value(&api.reply)];
    parts.into_iter().flatten().for_each(|part| add_expressions(&part, false, &mut texts));
    texts.iter().any(|text| words(text).any(|word| word == parameter))
}

/// Returns the field that a filter compares; none for a text search.
fn field_of(filter: &FilterDoc) -> Option<&str> {
    match filter {
        FilterDoc::Field(field) => Some(field),
        FilterDoc::Compare(compare) => Some(&compare.field),
        FilterDoc::Text(_) => None,
    }
}

/// Returns the description of a list without one of its parameters.
/// Returns none if the parameter is required, the list hides the field, or the description still mentions it.
fn describe_without(api: &ApiDoc, parameter: &str, field: &str) -> Option<String> {
    api.behaviour.list.as_ref()?;
    let is_optional = api.parameters.get(parameter)?.optional;
    let is_shown = api.reply.fields.as_ref().is_none_or(|fields| {
        fields.iter().any(|shown| matches!(shown, ReplyFieldDoc::Field(name) if name == field))
    });
    let stems: BTreeSet<String> = parameter.split('_').chain(field.split('_')).map(stem).collect();
    let speaks_of = |text: &str| {
        text.split(|letter: char| !letter.is_alphanumeric()).any(|word| stems.contains(&stem(word)))
    };
    let sentences: Vec<&str> = api.description.trim_end_matches('.').split(". ").collect();
    let (first, rest) = sentences.split_first()?;
    let first = if speaks_of(first) { first.split([',', ':']).next()? } else { first };
    let kept = std::iter::once(first).chain(rest.iter().copied().filter(|sentence| !speaks_of(sentence)));
    let description = format!("{}.", kept.collect::<Vec<_>>().join(". "));
    (is_optional && is_shown && !speaks_of(first) && first.contains(' ')).then_some(description)
}

/// Returns true if scenarios use the parameter, and at least half of these calls can do without it.
fn is_replaceable(api: &ApiDoc, parameter: &str, scenarios: &[ScenarioDoc]) -> bool {
    let calls = scenarios.iter().flat_map(|scenario| {
        let giving = scenario.calls().filter(|call| gives(call, api, parameter));
        giving.map(move |call| can_go_without(scenario, call, api))
    });
    let (mut can, mut cannot) = (0, 0);
    calls.for_each(|goes| if goes { can += 1 } else { cannot += 1 });
    can > 0 && can >= cannot
}

fn gives(call: &ScenarioStepDoc, api: &ApiDoc, parameter: &str) -> bool {
    call.call.as_deref() == Some(&*api.name) && call.with.contains_key(parameter)
}

/// Returns true if the rest of a scenario never names a call's reply, and the goal uses records of the list.
fn can_go_without(scenario: &ScenarioDoc, call: &ScenarioStepDoc, api: &ApiDoc) -> bool {
    let page = api.behaviour.page.as_ref();
    let paging = page.map(|page| {
        [page.parameter.as_deref().unwrap_or(page.style.as_str()), page.limit.as_deref().unwrap_or_default()]
    });
    let pages_itself = paging.is_some_and(|names| names.iter().any(|name| call.with.contains_key(*name)));
    let is_named = call.name.as_deref().is_some_and(|name| is_mentioned(scenario, name));
    let goal = scenario.goals.iter().find(|goal| goal.does.iter().any(|step| std::ptr::eq(step, call)));
    let is_plain = call.each.is_none() && !call.fails && !call.governed && call.until.is_empty();
    is_plain
        && !pages_itself
        && !is_named
        && !scenario.shows.contains(&Tag::NextPage)
        && goal.is_some_and(|goal| goal.refused.is_empty() && !wanted(scenario, goal, call, api).is_empty())
}

/// Returns the bindings of the list's records that the goal uses in later calls or facts.
fn wanted(
    scenario: &ScenarioDoc,
    goal: &ScenarioGoalDoc,
    call: &ScenarioStepDoc,
    api: &ApiDoc,
) -> Vec<String> {
    let after = goal.does.iter().skip_while(|step| !std::ptr::eq(*step, call)).skip(1);
    let later = after.flat_map(|step| std::iter::once(step).chain(&step.together));
    let mut named = BTreeSet::new();
    for step in later {
        step.with
            .values()
            .chain(&step.each.clone().map(Json::from))
            .for_each(|given| add_names(given, &mut named));
    }
    goal.facts.iter().for_each(|fact| named.extend(words(fact)));
    let of_list = scenario
        .bind
        .iter()
        .filter(|(_, place)| place.a.as_ref().or(place.some.as_ref()) == api.behaviour.list.as_ref());
    of_list.map(|(name, _)| name.clone()).filter(|name| named.contains(name)).collect()
}

fn add_names(given: &Json, names: &mut BTreeSet<String>) {
    match given {
        Json::String(text) => names.extend(words(text)),
        Json::Array(items) => items.iter().for_each(|item| add_names(item, names)),
        Json::Object(members) => members.values().for_each(|member| add_names(member, names)),
        _ => {}
    }
}

/// Returns the names in an expression.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(str::to_owned)
}

/// Returns true if the goals of a scenario name a reply, in an expression or in the braces of a wording.
fn is_mentioned(scenario: &ScenarioDoc, name: &str) -> bool {
    let mut texts = Vec::new();
    for goal in &scenario.goals {
        add_expressions(&serde_json::to_value(goal).unwrap_or_default(), false, &mut texts);
    }
    texts.iter().any(|text| words(text).any(|word| word == name))
}

fn add_expressions(json: &Json, in_words: bool, texts: &mut Vec<String>) {
    match json {
        Json::String(text) if in_words => {
            texts.extend(text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0.to_owned())));
        }
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| add_expressions(item, in_words, texts)),
        Json::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "as" && *name != "call") {
                add_expressions(member, in_words || WORDINGS.contains(&name.as_str()), texts);
            }
        }
        _ => {}
    }
}

/// Removes a filter from a list. Scenarios that cannot do without it are left out.
fn leave_out(domain: &mut DomainDoc, position: usize, parameter: &str, description: String) {
    let DomainDoc { apis, scenarios, .. } = domain;
    let Some(api) = apis.get_mut(position) else { return };
    let is_stuck = |scenario: &ScenarioDoc| {
        scenario.calls().any(|call| gives(call, api, parameter) && !can_go_without(scenario, call, api))
    };
    scenarios.retain(|scenario| !is_stuck(scenario));
    let steps = scenarios.iter_mut().flat_map(|scenario| &mut scenario.goals).flat_map(|goal| &mut goal.does);
    for step in steps.filter(|step| gives(step, api, parameter)) {
        step.with.shift_remove(parameter);
    }
    api.parameters.shift_remove(parameter);
    api.behaviour.filters.shift_remove(parameter);
    api.description = description;
}

/// Shows a list in short pages of a fixed size. Scenarios read it until it shows the records that they need;
/// those that cannot are left out. The list stays as it is where these would be the most, or one has a policy.
fn shorten_pages(domain: &mut DomainDoc, position: usize, rng: &mut ChaCha8Rng) {
    let DomainDoc { apis, scenarios, .. } = domain;
    let Some(api) = apis.get_mut(position).filter(|api| may_have_pages(api)) else { return };
    let reads = |call: &ScenarioStepDoc| call.call.as_deref() == Some(&*api.name) && call.until.is_empty();
    let is_stuck = |scenario: &ScenarioDoc| {
        scenario.calls().any(|call| reads(call) && !can_go_without(scenario, call, api))
    };
    let reading = || scenarios.iter().filter(|scenario| scenario.calls().any(reads));
    let (stuck, free): (Vec<&ScenarioDoc>, Vec<&ScenarioDoc>) =
        reading().partition(|scenario| is_stuck(scenario));
    if free.len() <= stuck.len() || stuck.iter().any(|scenario| scenario.policy) {
        return;
    }
    scenarios.retain(|scenario| !is_stuck(scenario));
    for scenario in scenarios.iter_mut() {
        let whole = scenario.clone();
        for (goal, whole_goal) in scenario.goals.iter_mut().zip(&whole.goals) {
            for (step, whole_step) in goal.does.iter_mut().zip(&whole_goal.does) {
                if reads(whole_step) {
                    step.until = wanted(&whole, whole_goal, whole_step, api);
                }
            }
        }
    }
    let size = rng.random_range(PAGE_ITEMS);
    if api.behaviour.page.is_none() {
        api.parameters.insert(PAGE.to_owned(), page_parameter());
    }
    let page = api.behaviour.page.get_or_insert(PageDoc {
        style: PageStyle::Page,
        size: None,
        parameter: None,
        first: None,
        limit: None,
        number: None,
    });
    page.size = Some(size.min(page.size.unwrap_or(u32::MAX)));
    let limit = api.behaviour.page.as_ref().and_then(|page| page.limit.clone());
    let is_given =
        |limit: &String| scenarios.iter().flat_map(ScenarioDoc::calls).any(|call| gives(call, api, limit));
    if let Some(limit) = limit.filter(|limit| !is_given(limit)) {
        api.parameters.shift_remove(&limit);
        api.behaviour.page.iter_mut().for_each(|page| page.limit = None);
    }
}

/// Returns true if an API is a list that has pages, or may get them: its reply is an object, and no parameter
/// has the name of the page.
fn may_have_pages(api: &ApiDoc) -> bool {
    let is_object = api.reply.items.as_deref() != Some("");
    let is_free = !api.parameters.contains_key(PAGE);
    api.behaviour.list.is_some() && (api.behaviour.page.is_some() || (is_object && is_free))
}

/// Returns the parameter for the number of a page.
fn page_parameter() -> FieldDoc {
    FieldDoc {
        kind: Some(TypeName::Integer),
        min: Some(Json::from(1)),
        default: Some(Json::from(1)),
        description: Some("Number of the page, from 1".to_owned()),
        ..FieldDoc::default()
    }
}

#[cfg(test)]
mod tests {
    use diorama_seeds::task::Ability;
    use diorama_seeds::world;
    use rand::SeedableRng;

    use super::super::lengthen_lists;
    use super::*;
    use crate::scenarios::rehearse::rehearse;
    use crate::scenarios::{ScenarioSet, Shares};
    use crate::worlds::make::make_world;
    use crate::worlds::world::WorldTemplate;

    fn pages(scenario: &ScenarioDoc) -> bool {
        scenario.calls().any(|call| !call.until.is_empty())
    }

    #[test]
    fn lists_of_the_catalog_lack_filters_and_scenarios_follow() {
        let (mut shorter, mut paging) = (0, 0);
        for (seed, doc) in crate::catalog::worlds().unwrap().into_iter().enumerate() {
            let name = doc.name.clone();
            let varied = lengthen_lists(doc.clone(), &mut ChaCha8Rng::seed_from_u64(seed as u64));
            let compiled = world::compile(&varied).unwrap();
            let (_, findings) = ScenarioSet::new(&varied, &compiled);
            assert!(findings.is_empty(), "{name}: {findings:?}");
            let (before, after) = (doc.to_domains(), varied.to_domains());
            let apis =
                before.iter().zip(after.iter()).flat_map(|(one, other)| one.apis.iter().zip(&other.apis));
            shorter += apis
                .filter(|(one, other)| one.behaviour.filters.len() > other.behaviour.filters.len())
                .count();
            paging +=
                after.iter().flat_map(|domain| &domain.scenarios).filter(|scenario| pages(scenario)).count();
        }
        assert!(shorter > 15 && paging > 10, "{shorter} lists, {paging} scenarios");
    }

    #[test]
    fn a_list_without_its_filter_is_read_until_the_record_is_shown() {
        let (mut rows, mut several) = (0, 0);
        for (seed, doc) in crate::catalog::worlds().unwrap().into_iter().enumerate().step_by(2) {
            let varied = lengthen_lists(doc, &mut ChaCha8Rng::seed_from_u64(seed as u64));
            let template = WorldTemplate::new(&varied, 5, &Shares::new(), &Ability::ALL).unwrap();
            let world = make_world(&template, 1).unwrap();
            let scenarios = template.scenario_set.scenarios().iter().filter(|scenario| pages(&scenario.doc));
            for (scenario, attempt) in
                scenarios.flat_map(|scenario| (0..4).map(move |attempt| (scenario, attempt)))
            {
                let Ok((candidate, _)) = rehearse(&world, (scenario, &[]), Ability::Call, attempt) else {
                    continue;
                };
                rows += 1;
                let list = scenario
                    .doc
                    .calls()
                    .find(|call| !call.until.is_empty())
                    .and_then(|call| call.call.clone());
                let calls = candidate.calls().filter(|call| Some(&call.api) == list.as_ref());
                several += usize::from(calls.count() > 1);
            }
        }
        assert!(rows > 5 && several > 2, "{rows} rows, {several} with several pages");
    }
}
