//! Owns the attribution of a failed episode to a cause, by its calls, the results of its searches, and
//! its grade.

use diorama_baselines::trace::{Note, Step};
use diorama_engine::tools::{TOOL_SEARCHER, is_of_solution};
use diorama_grade::{ErrorClass, NeededCall, Verdict, exclusion};
use diorama_seeds::task::{Call, Evidence, GoalCheck, GoldCall, Outcome};
use diorama_user::tells_nothing;
use serde::{Deserialize, Serialize};

use super::judge::{Judge, JudgedEpisode};
use diorama_baselines::environment::EnvironmentError;

/// First cause of an episode's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// The agent searched, and no search showed an API of the reference calls, or the basis of a refusal.
    RetrieverMissed,
    /// The agent gave up, or its replies could not be parsed.
    GaveUp,
    /// Steps, calls, tokens or time ran out, or a goal stayed open.
    StoppedEarly,
    /// The agent called an API of the reference too seldom, although it was visible or could be found. Or
    /// another API changed a record.
    WrongApi,
    /// The agent called the right API with wrong arguments.
    WrongArgument,
    /// The calls were right and the final answer was wrong.
    MisreadReply,
    /// The simulated user did not understand a question.
    User,
    /// The model, the server, or the simulator failed.
    Environment,
}

/// Returns the first cause of an episode's failure, or none if it succeeded.
pub fn attribute(judge: &Judge, judged: &JudgedEpisode, steps: &[Step]) -> Option<Attribution> {
    if judged.grade.success {
        return None;
    }
    let needed = NeededCall::collect(&judge.task().gold, judge.base());
    let hindered = exclusion(&needed, &judged.log, judge.world()).is_some();
    if hindered || judged.stopped.as_ref().is_some_and(EnvironmentError::is_outage) {
        return Some(Attribution::Environment);
    }
    let task = judge.task();
    let wanted: Vec<&GoldCall> = task.gold.iter().filter(|gold| is_of_solution(gold)).collect();
    let made: Vec<&Call> = judged.log.iter().map(|entry| &entry.call).collect();
    let missing = missing_apis(wanted.iter().map(|gold| &*gold.api), made.iter().map(|call| &*call.api));
    if task.episode.visible.is_empty() && has_missed_search(&missing, steps) {
        return Some(Attribution::RetrieverMissed);
    }
    if steps.iter().any(|step| matches!(step, Step::Noted(Note::GaveUp { .. }))) {
        return Some(Attribution::GaveUp);
    }
    if judged.stopped.is_some() {
        return Some(Attribution::StoppedEarly);
    }
    let has = |class: ErrorClass| judged.grade.errors.iter().any(|error| error.class == class);
    let puzzled = steps.iter().any(|step| match step {
        Step::Said { words, answer: Some(answer), .. } if tells_nothing(answer, &task.script) => {
            task.script.goals.iter().flat_map(|goal| &goal.withheld).any(|held| asks_for(words, &held.about))
        }
        _ => false,
    });
    if !missing.is_empty() {
        return Some(if puzzled {
            Attribution::User
        } else if has(ErrorClass::MissingGoal) {
            Attribution::StoppedEarly
        } else {
            let refuses = steps
                .iter()
                .any(|step| matches!(step, Step::Finished { end, .. } if end.outcome != Outcome::Done));
            let expected = task.goals.iter().any(|goal| goal.outcome != Outcome::Done);
            if refuses && !expected { Attribution::GaveUp } else { Attribution::WrongApi }
        });
    }
    if has(ErrorClass::CollateralDamage) || has(ErrorClass::PrematureChange) {
        let stray = made
            .iter()
            .any(|call| call.api != TOOL_SEARCHER && !wanted.iter().any(|gold| gold.api == call.api));
        return Some(if stray { Attribution::WrongApi } else { Attribution::WrongArgument });
    }
    // Evidence that no tool does something comes from a search.
    let goals = task.checks.goals.iter().zip(&judged.grade.goals);
    let unfounded = goals.filter(|(_, grade)| grade.evidence == Verdict::Failed).map(|(goal, _)| goal);
    let only_unfounded =
        !has(ErrorClass::MissingChange) && !has(ErrorClass::WrongValue) && rest_on_search(unfounded);
    if only_unfounded {
        let has_searched = made.iter().any(|call| call.api == TOOL_SEARCHER);
        return Some(if has_searched { Attribution::RetrieverMissed } else { Attribution::WrongApi });
    }
    let argument = [ErrorClass::MissingChange, ErrorClass::WrongValue, ErrorClass::NoEvidence];
    if argument.into_iter().any(has) {
        return Some(Attribution::WrongArgument);
    }
    Some(Attribution::MisreadReply)
}

/// Returns true if there are goals, and each requires a search as its only evidence.
fn rest_on_search<'a>(mut goals: impl Iterator<Item = &'a GoalCheck>) -> bool {
    goals.next().is_some_and(rests_on_search) && goals.all(rests_on_search)
}

/// Returns true if a goal requires a search as its only evidence.
fn rests_on_search(goal: &GoalCheck) -> bool {
    let is_search = |evidence: &Evidence| matches!(evidence, Evidence::Searched { .. });
    goal.answer.is_empty() && !goal.evidence.is_empty() && goal.evidence.iter().all(is_search)
}

/// Returns the wanted APIs without a call of their own. An API that is wanted twice needs two calls.
fn missing_apis<'a>(
    wanted: impl Iterator<Item = &'a str>,
    made: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut unused: Vec<&str> = made.collect();
    let mut is_missing = |api: &&str| match unused.iter().position(|made| made == api) {
        Some(at) => {
            unused.swap_remove(at);
            false
        }
        None => true,
    };
    wanted.filter(|api| is_missing(api)).collect()
}

/// Returns true if an agent searched, and no search showed some of these APIs.
fn has_missed_search(apis: &[&str], steps: &[Step]) -> bool {
    let searches = steps.iter().filter_map(|step| match step {
        Step::Called { call, found, .. } if call.api == TOOL_SEARCHER => Some(found),
        _ => None,
    });
    let searches: Vec<&Vec<String>> = searches.collect();
    let is_shown = |api: &&str| searches.iter().any(|found| found.iter().any(|name| name == api));
    !searches.is_empty() && !apis.iter().all(is_shown)
}

/// Returns true if a question names all words of a withheld detail.
fn asks_for(question: &str, about: &str) -> bool {
    let question = question.to_lowercase();
    about.split(['_', ' ']).all(|word| question.contains(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn called(api: &str, found: &[&str]) -> Step {
        let call = Call { api: api.to_owned(), arguments: Map::new() };
        let found = found.iter().map(|name| (*name).to_owned()).collect();
        Step::Called { call, status: 200, body: json!({}), found }
    }

    #[test]
    fn a_search_misses_only_where_there_was_one() {
        let check = |steps: &[Step], expect: bool| {
            assert_eq!(has_missed_search(&["GetRoom", "BookRoom"], steps), expect, "{steps:?}");
        };
        check(&[], false);
        check(&[called("GetRoom", &[])], false);
        check(&[called(TOOL_SEARCHER, &["GetRoom", "ListRooms"])], true);
        check(&[called(TOOL_SEARCHER, &["GetRoom"]), called(TOOL_SEARCHER, &["BookRoom"])], false);
        assert!(!has_missed_search(&[], &[called(TOOL_SEARCHER, &[])]));
    }

    #[test]
    fn a_refusal_for_want_of_a_tool_rests_on_a_search() {
        let goal = |evidence: serde_json::Value| -> GoalCheck {
            serde_json::from_value(
                json!({"outcome": "refused", "refusal": ["no_tool"], "evidence": evidence}),
            )
            .unwrap()
        };
        let search = json!({"kind": "searched", "tools": ["GetRoom"]});
        assert!(rests_on_search(&goal(json!([search]))));
        assert!(!rests_on_search(&goal(json!([search, {"kind": "empty", "api": "GetRoom"}]))));
        assert!(!rests_on_search(&goal(json!([]))));
        let (founded, other) = (goal(json!([search])), goal(json!([])));
        assert!(rest_on_search([&founded, &founded].into_iter()));
        assert!(!rest_on_search([&founded, &other].into_iter()) && !rest_on_search([].into_iter()));
    }

    #[test]
    fn an_api_that_is_wanted_twice_has_to_be_called_twice() {
        let check = |wanted: &[&str], made: &[&str], expect: &[&str]| {
            assert_eq!(missing_apis(wanted.iter().copied(), made.iter().copied()), expect, "{made:?}");
        };
        check(&["Get", "Get", "Book"], &["Book", "Get"], &["Get"]);
        check(&["Get", "Get"], &["Get", "Book", "Get", "Get"], &[]);
        check(&["Get"], &[], &["Get"]);
    }
}
