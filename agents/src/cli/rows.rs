//! Owns the options that select rows of a dataset.

use clap::Args;
use diorama_output::folder::{Folder, Selection};
use diorama_output::row::{Dialogue, Split};
use diorama_seeds::task::{Ability, Difficulty};

use super::ability::ability;
use super::error::CliError;

/// Rows to take. All where nothing is given.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Rows")]
pub struct RowsArgs {
    /// Split of the rows: train or test [default: both].
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<Split>,
    /// Domain that the rows call. Repeatable: any of them [default: all].
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Vec<String>,
    /// Ability that the rows need. Repeatable: any of them [default: all].
    #[arg(long, value_name = "A", value_parser = ability())]
    pub ability: Vec<Ability>,
    /// Tag that the rows have. Repeatable: all of them [default: any].
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Band of difficulty of the rows: easy, medium or hard. Repeatable: any of them [default: all].
    #[arg(long, value_name = "D")]
    pub difficulty: Vec<Difficulty>,
    /// Id of a row. Repeatable: any of them [default: all].
    #[arg(long, value_name = "ID")]
    pub id: Vec<String>,
    /// Maximum rows, the first ones [default: all].
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,
}

impl RowsArgs {
    /// Returns the selection of the options.
    pub fn selection(&self) -> Selection {
        Selection {
            split: self.split,
            domains: self.domain.clone(),
            abilities: self.ability.clone(),
            tags: self.tag.clone(),
            difficulties: self.difficulty.clone(),
            ids: self.id.clone(),
            limit: self.limit,
        }
    }

    /// Reads the selected rows.
    ///
    /// # Errors
    /// Returns an error if the dataset has none of them, or cannot be read.
    pub fn read(&self, folder: &Folder) -> Result<Vec<Dialogue>, CliError> {
        let selection = self.selection();
        check(&selection, folder)?;
        let rows = folder.select(&selection).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(make_no_rows_error(folder));
        }
        Ok(rows)
    }
}

/// Checks that a dataset has rows with each selected name.
///
/// # Errors
/// Returns an error for the first name that no row has.
pub fn check(selection: &Selection, folder: &Folder) -> Result<(), CliError> {
    selection.check(folder.manifest()).map_err(|error| {
        let hint = match selection.split {
            Some(Split::Test) if !folder.manifest().counts.splits.contains_key("test") => NO_TEST,
            _ => "",
        };
        CliError::Empty(format!("{error}{hint}"))
    })
}

const NO_TEST: &str = ". `generate` makes one batch of 50 rows in ten of the split test: make 500 rows, or fewer with a larger \
                       --test-share; several worlds of your own need --test-domains or --test-share";

/// Makes the error of a command that finds no selected row.
pub fn make_no_rows_error(folder: &Folder) -> CliError {
    let place = folder.storage().location();
    CliError::Empty(format!("{place} has no row with all that is asked for; ask for less"))
}
