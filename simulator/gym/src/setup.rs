//! Owns the setup of an episode: the members of rows, resets and task specs that all protocols share.

use diorama_sessions::{Kind, Problem};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use crate::tasks::Tasks;

/// The members of a request that define the start of an episode. Other members belong to the protocol or the
/// trainer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Setup {
    /// The id of a task.
    #[serde(alias = "task")]
    id: Option<String>,
    /// With `index`, the position of a task in this split.
    split: Option<String>,
    index: Option<i64>,
    /// The seed of the session. If the request names no task, it also chooses one. Accepts digits as text,
    /// because trainers aggregate numeric members of rows.
    #[serde(default, deserialize_with = "read_seed")]
    seed: Option<u64>,
    /// The rules of injected faults.
    faults: Option<Vec<Json>>,
    /// The episode to fork.
    fork_of: Option<String>,
    /// The number of calls after which to fork that episode. If none, its current state.
    at: Option<usize>,
}

/// The start of an episode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// The start of a task.
    Task { task: String, seed: Option<u64>, faults: Vec<Json> },
    /// The current state of another episode, or an earlier one.
    Fork { of: String, at: Option<usize> },
}

impl Setup {
    /// Parses the setup.
    ///
    /// # Errors
    /// 422 if a member has another type.
    pub(crate) fn read(members: &Map<String, Json>) -> Result<Self, Problem> {
        let read = Self::deserialize(Json::Object(members.clone()));
        read.map_err(|error| {
            let expected =
                "a task by `id`, or `split` and `index`, with `seed` and `faults`; or `fork_of` and `at`";
            Problem::new(
                Kind::Invalid,
                format!("what the episode begins with: found {error}, expected {expected}"),
            )
        })
    }

    /// Returns the start of the episode. If the request names no task, `any` decides if the seed chooses one.
    ///
    /// # Errors
    /// 400 or 422 unless the request names exactly one task or one fork.
    pub(crate) fn start(self, tasks: &Tasks, any: AnyTask) -> Result<Start, Problem> {
        let Self { id, split, index, seed, faults, fork_of, at } = self;
        let named = id.is_some() || split.is_some() || index.is_some();
        if let Some(of) = fork_of {
            if named || seed.is_some() || faults.is_some() {
                let detail = "found `fork_of` beside a task, a seed or faults, expected it alone: a fork has those of its origin";
                return Err(Problem::new(Kind::Invalid, detail));
            }
            return Ok(Start::Fork { of, at });
        }
        let task = match (id, split, index) {
            // Rows and task views have a split beside the id, so the id alone counts.
            (Some(id), ..) => tasks.known(&id)?.to_owned(),
            (None, Some(split), Some(index)) => tasks.at(&split, index)?.id.to_owned(),
            (None, None, None) if any == AnyTask::BySeed => tasks.of_seed(seed.unwrap_or(0))?.to_owned(),
            (None, None, None) => {
                return Err(Problem::new(
                    Kind::Invalid,
                    "found no task, expected its `id`, or `split` and `index`",
                ));
            }
            _ => {
                return Err(Problem::new(
                    Kind::Invalid,
                    "found one of `split` and `index`, expected both, or a task's `id`",
                ));
            }
        };
        Ok(Start::Task { task, seed, faults: faults.unwrap_or_default() })
    }
}

/// Parses a seed from a number or from digits as text.
fn read_seed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a seed, which is a whole number from 0, or its digits as text")]
    enum Seed {
        Number(u64),
        Digits(String),
    }
    match Option::<Seed>::deserialize(from)? {
        None => Ok(None),
        Some(Seed::Number(seed)) => Ok(Some(seed)),
        Some(Seed::Digits(text)) => {
            let expected = "expected a whole number from 0 of at most 64 bits";
            text.parse().map(Some).map_err(|_| {
                D::Error::custom(format!(
                    "the seed {:?}, {expected}",
                    text.chars().take(30).collect::<String>()
                ))
            })
        }
    }
}

/// Decides if a request may leave out the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyTask {
    /// The seed chooses a task.
    BySeed,
    /// The request must name a task.
    Never,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may end this way")]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_start_is_one_task_or_one_fork() {
        let check = |members: Json, expect: Result<Start, (u16, &str)>| {
            let tasks = crate::tasks::tests::seven();
            let setup = Setup::read(members.as_object().unwrap());
            let start = setup.and_then(|setup| setup.start(&tasks, AnyTask::Never));
            match expect {
                Ok(expect) => assert_eq!(start, Ok(expect), "{members}"),
                Err((status, part)) => {
                    let problem = start.unwrap_err();
                    assert_eq!(problem.status(), status, "{members}: {}", problem.detail());
                    assert!(problem.detail().contains(part), "{members}: {}", problem.detail());
                }
            }
        };
        let task = |task: &str, seed| Start::Task { task: task.to_owned(), seed, faults: Vec::new() };
        check(json!({"id": "t1", "split": "test", "other": 1}), Ok(task("t1", None)));
        check(json!({"task": "t1", "seed": 7, "faults": null}), Ok(task("t1", Some(7))));
        check(
            json!({"split": "test", "index": 1, "seed": "18446744073709551615"}),
            Ok(task("t6", Some(u64::MAX))),
        );
        check(json!({"fork_of": "a", "at": 2}), Ok(Start::Fork { of: "a".to_owned(), at: Some(2) }));
        check(json!({}), Err((422, "found no task")));
        check(json!({"split": "test"}), Err((422, "expected both")));
        check(json!({"split": "dev", "index": 0}), Err((400, "expected one of train, test")));
        check(json!({"id": "t9"}), Err((422, "found no task `t9`")));
        check(json!({"id": 9}), Err((422, "expected a string")));
        check(json!({"id": "t1", "seed": -1}), Err((422, "a seed, which is")));
        check(json!({"id": "t1", "seed": "x"}), Err((422, "the seed \"x\"")));
        check(json!({"fork_of": "a", "id": "t1"}), Err((422, "expected it alone")));
    }

    #[test]
    fn a_seed_alone_chooses_a_task_where_it_may() {
        let tasks = crate::tasks::tests::seven();
        let setup = Setup { seed: Some(9), ..Setup::default() };
        let start = setup.start(&tasks, AnyTask::BySeed).unwrap();
        assert_eq!(start, Start::Task { task: "t2".to_owned(), seed: Some(9), faults: Vec::new() });
    }
}
