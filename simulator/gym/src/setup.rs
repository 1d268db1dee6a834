//! What an episode begins with, as rows, resets and task specs say it: every protocol reads the same members.

use diorama_sessions::{Kind, Problem};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use crate::tasks::Tasks;

/// The members of a request that say what an episode begins with. Others belong to the protocol or the trainer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Setup {
    /// The id of a task.
    #[serde(alias = "task")]
    id: Option<String>,
    /// With `index`: a task by its position in a split.
    split: Option<String>,
    index: Option<i64>,
    /// The seed of the session. Where no task is named, it also chooses one. Also as text: trainers add numbers of rows up.
    #[serde(default, deserialize_with = "read_seed")]
    seed: Option<u64>,
    /// Rules of faults to inject.
    faults: Option<Vec<Json>>,
    /// The episode that this one is a fork of.
    fork_of: Option<String>,
    /// After how many calls of that episode; now without it.
    at: Option<usize>,
}

/// How an episode begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// At the beginning of a task.
    Task { task: String, seed: Option<u64>, faults: Vec<Json> },
    /// Where another episode is, or was.
    Fork { of: String, at: Option<usize> },
}

impl Setup {
    /// Reads the members that say what an episode begins with.
    ///
    /// # Errors
    /// 422 where one is of another type.
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

    /// How the episode begins. Where no task is named, `any` says whether the seed chooses one.
    ///
    /// # Errors
    /// 400 or 422 where it is not one task, or one fork.
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
            // Views of tasks and rows have a split beside the id.
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

/// Reads a seed: a number, or the digits of one.
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

/// Whether an episode may begin without naming its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyTask {
    /// The seed chooses one.
    BySeed,
    /// The task has to be named.
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
