//! Owns the tasks of a server, numbered by split and position.

use std::collections::HashMap;

use diorama_sessions::{Kind, Problem, TaskSource, TaskSummary, quoted};
use serde::Serialize;

/// The tasks of a server. They do not change while it runs.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: Vec<TaskSummary>,
    splits: Vec<Split>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug)]
struct Split {
    name: String,
    /// Positions of its tasks among all tasks.
    tasks: Vec<usize>,
}

/// A split in the form of OpenEnv and ORS.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SplitView {
    pub(crate) name: String,
    /// `train`, `validation` or `test`.
    pub(crate) r#type: &'static str,
}

/// A task in the form of OpenEnv and ORS. It reveals nothing about the solution.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TaskView<'a> {
    pub(crate) id: &'a str,
    pub(crate) split: &'a str,
    /// Its position in the split.
    pub(crate) index: usize,
    pub(crate) world: &'a str,
    pub(crate) ability: &'a str,
}

impl Tasks {
    pub(crate) fn new(source: Option<&dyn TaskSource>) -> Self {
        let all = source.map_or_else(Vec::new, |source| source.list(0, source.count()));
        let mut splits: Vec<Split> = Vec::new();
        for (position, task) in all.iter().enumerate() {
            match splits.iter_mut().find(|split| split.name == task.split) {
                Some(split) => split.tasks.push(position),
                None => splits.push(Split { name: task.split.clone(), tasks: vec![position] }),
            }
        }
        let by_id = all.iter().enumerate().map(|(position, task)| (task.id.clone(), position)).collect();
        Self { all, splits, by_id }
    }

    pub(crate) fn splits(&self) -> Vec<SplitView> {
        let view = |split: &Split| SplitView { name: split.name.clone(), r#type: kind(&split.name) };
        self.splits.iter().map(view).collect()
    }

    /// Returns the number of tasks in a split.
    ///
    /// # Errors
    /// Returns a problem for an unknown split.
    pub(crate) fn count(&self, split: &str) -> Result<usize, Problem> {
        Ok(self.split(split)?.tasks.len())
    }

    /// Returns the task at a position of a split.
    ///
    /// # Errors
    /// Returns a problem for an unknown split or position.
    pub(crate) fn at(&self, split: &str, index: i64) -> Result<TaskView<'_>, Problem> {
        let found = self.split(split)?;
        let position = usize::try_from(index).ok().filter(|index| *index < found.tasks.len());
        let position = position.ok_or_else(|| {
            let count = found.tasks.len();
            Problem::new(
                Kind::Malformed,
                format!("`index`: found {index}, expected 0 to {} of `{split}`", count.saturating_sub(1)),
            )
        })?;
        self.view(found, position)
    }

    /// Returns the tasks in a range of positions. Negative positions count from the end, as in Python's
    /// slices.
    ///
    /// # Errors
    /// Returns a problem for an unknown split.
    pub(crate) fn range(
        &self,
        split: &str,
        start: Option<i64>,
        stop: Option<i64>,
    ) -> Result<Vec<TaskView<'_>>, Problem> {
        let found = self.split(split)?;
        let count = i64::try_from(found.tasks.len()).unwrap_or(i64::MAX);
        let place =
            |given: i64| if given < 0 { count.saturating_add(given).max(0) } else { given.min(count) };
        let (start, stop) = (start.map_or(0, place), stop.map_or(count, place));
        let positions = (start..stop).filter_map(|position| usize::try_from(position).ok());
        positions.map(|position| self.view(found, position)).collect()
    }

    /// Returns the id of the task for a seed: the seed modulo the number of tasks.
    ///
    /// # Errors
    /// Returns a problem if the server has no tasks.
    pub(crate) fn of_seed(&self, seed: u64) -> Result<&str, Problem> {
        let position = usize::try_from(seed.checked_rem(self.all.len() as u64).unwrap_or(0)).unwrap_or(0);
        let task = self.all.get(position).ok_or_else(|| {
            Problem::new(Kind::Malformed, "the server has no tasks; start it with --tasks and a dataset")
        })?;
        Ok(&task.id)
    }

    /// Returns the id of an existing task.
    ///
    /// # Errors
    /// Returns a problem for an unknown id.
    pub(crate) fn known(&self, id: &str) -> Result<&str, Problem> {
        let task = self.by_id.get(id).and_then(|position| self.all.get(*position));
        task.map(|task| &*task.id).ok_or_else(|| {
            let expected = "one of the dataset that the server was started with";
            let detail = format!("found no task {}, expected {expected}", quoted(id, 60));
            Problem::new(Kind::Invalid, detail)
        })
    }

    fn split(&self, name: &str) -> Result<&Split, Problem> {
        self.splits.iter().find(|split| split.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.splits.iter().map(|split| &*split.name).collect();
            let (found, expected) = (quoted(name, 60), names.join(", "));
            Problem::new(Kind::Malformed, format!("`split`: found {found}, expected one of {expected}"))
        })
    }

    fn view<'a>(&'a self, split: &'a Split, index: usize) -> Result<TaskView<'a>, Problem> {
        let task = split.tasks.get(index).and_then(|position| self.all.get(*position));
        let task =
            task.ok_or_else(|| Problem::new(Kind::Failed, "a split names a task that is not there"))?;
        let TaskSummary { id, world, ability, .. } = task;
        Ok(TaskView { id, split: &split.name, index, world, ability })
    }
}

/// Returns the protocols' kind of a split.
fn kind(name: &str) -> &'static str {
    match name {
        "train" => "train",
        "test" => "test",
        _ => "validation",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may end this way")]
    use super::*;

    /// Returns five training tasks and two test tasks, `t0` to `t6`.
    pub(crate) fn seven() -> Tasks {
        let task = |number: usize| TaskSummary {
            id: format!("t{number}"),
            world: "shop".to_owned(),
            split: if number < 5 { "train" } else { "test" }.to_owned(),
            ability: "call".to_owned(),
        };
        struct Seven(Vec<TaskSummary>);
        impl TaskSource for Seven {
            fn count(&self) -> usize {
                self.0.len()
            }
            fn list(&self, offset: usize, limit: usize) -> Vec<TaskSummary> {
                self.0.iter().skip(offset).take(limit).cloned().collect()
            }
            fn task(
                &self,
                _: &str,
            ) -> Result<Option<diorama_sessions::TaskSpec>, diorama_sessions::TaskError> {
                Ok(None)
            }
        }
        Tasks::new(Some(&Seven((0..7).map(task).collect())))
    }

    #[test]
    fn ranges_are_those_of_slices() {
        let tasks = seven();
        let ids = |start, stop| -> Vec<String> {
            tasks.range("train", start, stop).unwrap().iter().map(|task| task.id.to_owned()).collect()
        };
        assert_eq!(ids(None, None), ["t0", "t1", "t2", "t3", "t4"]);
        assert_eq!(ids(Some(-2), None), ["t3", "t4"]);
        assert_eq!(ids(Some(1), Some(-3)), ["t1"]);
        assert_eq!(ids(Some(4), Some(2)), Vec::<String>::new());
        assert_eq!(ids(Some(i64::MIN), Some(i64::MAX)).len(), 5);
        assert_eq!(tasks.at("test", 1).unwrap().id, "t6");
        for index in [-1, 2, i64::MAX] {
            assert_eq!(tasks.at("test", index).unwrap_err().status(), 400);
        }
        assert_eq!(
            tasks.count("dev").unwrap_err().detail(),
            "`split`: found `dev`, expected one of train, test"
        );
        assert_eq!((tasks.of_seed(8).unwrap(), tasks.of_seed(u64::MAX).unwrap()), ("t1", "t1"));
        assert!(Tasks::default().of_seed(3).is_err());
    }
}
