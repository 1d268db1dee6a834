//! Owns the command `diorama task grade`.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use diorama_output::storage::Location;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::{CommandEnd, Streams};
use crate::episode::{Task, Worlds};
use crate::evaluation::labelled::{self, Agreement, Label};
use crate::evaluation::measures::class_name;
use crate::evaluation::shares::Share;

/// Grade labelled episodes and print how often the grader errs.
///
/// Each line of the file is an episode: `task` (a row's id), `label` (right or wrong), `kind`, and `calls`, `answer` and `finish`,
/// or `goals` with those of each. Its calls are made again in a session of the row's seed, unless `seed` names another, and its
/// structured final answers (`finish`) are graded; where there is none, the reference's.
#[derive(Debug, Args)]
pub(super) struct Grade {
    /// Files of labelled episodes, one JSON object per line.
    #[arg(value_name = "FILE", required = true)]
    episodes: Vec<PathBuf>,
    /// Dataset that holds the tasks: a folder or a URL (s3://, gs://, az://).
    #[arg(long, value_name = "LOCATION")]
    tasks: Location,
    /// Maximum episodes to list on which grader and label differ.
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// Maximum share of episodes on which grader and label differ, from 0 to 1, for right and wrong ones each. Exits with 3 above
    /// it.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    max_error: Option<f64>,
}

impl Grade {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let mut tasks: HashMap<String, (Task, String)> = HashMap::new();
        let folder = open_dataset(&self.tasks)?;
        let worlds = Worlds::new(folder.clone());
        for row in folder.rows() {
            let row = row?;
            tasks.insert(row.id.clone(), (Task::of(&row)?, row.world_id.clone()));
        }
        let mut agreement = Agreement::default();
        let mut shown = 0;
        for file in &self.episodes {
            for labelled in labelled::read(file).map_err(|error| CliError::Usage(error.to_string()))? {
                let Some((task, world)) = tasks.get_mut(&labelled.task) else {
                    let (file, tasks) = (file.display(), &self.tasks);
                    let what = format!("{file}: found the task {}, expected a row of {tasks}", labelled.task);
                    return Err(CliError::Usage(what));
                };
                let world = worlds.get(world)?;
                task.tell_changes_by_goal(&world)?;
                let grade = labelled.grade(task, &world)?;
                agreement.add(&labelled, grade.success);
                if grade.success != (labelled.label == Label::Right) && shown < self.show {
                    shown += 1;
                    let said: Vec<&str> = labelled
                        .goals
                        .iter()
                        .chain([&labelled.only])
                        .filter_map(|goal| goal.answer.as_deref())
                        .collect();
                    let errors = grade.errors.iter();
                    let errors: Vec<String> = errors
                        .map(|error| format!("{}: {}", class_name(error.class), error.message))
                        .collect();
                    let _ = writeln!(
                        streams.err,
                        "{:?} {} {}\n  user: {}\n  said: {}\n  grader: {}\n",
                        labelled.label,
                        labelled.kind,
                        labelled.task,
                        task.turns.join(" / "),
                        said.join(" / "),
                        errors.join("; ")
                    );
                }
            }
        }
        streams.print(&agreement, || {
            let mut text = format!(
                "right episodes that fail: {}\nwrong episodes that pass: {}\n",
                agreement.false_reject, agreement.false_accept
            );
            for (kind, share) in &agreement.kinds {
                text.push_str(&format!("  {kind:<28} {} of {}\n", share.of, share.all));
            }
            text
        })?;
        let above = |share: Share| {
            self.max_error.is_some_and(|most| share.all > 0 && share.of as f64 / share.all as f64 > most)
        };
        let met = !above(agreement.false_reject) && !above(agreement.false_accept);
        Ok(if met { CommandEnd::Met } else { CommandEnd::NotMet })
    }
}
