//! The rows of a dataset, as the console reads them.

use crate::turns::Turn;

/// The rows of a dataset. The package that knows its files implements it.
pub trait Rows: Send + Sync {
    /// The dataset as a whole.
    fn summary(&self) -> DatasetSummary;

    /// The rows that a filter takes, in their order: how many, and those from `offset` on, at most `limit`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn find(&self, filter: &RowFilter<'_>, offset: usize, limit: usize) -> Result<RowPage, ReadError>;

    /// A row by its id; none where there is no such row.
    ///
    /// # Errors
    /// When it cannot be read.
    fn row(&self, id: &str) -> Result<Option<Row>, ReadError>;
}

/// Why rows or episodes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(pub String);

/// A dataset as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetSummary {
    /// Where it is.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// Counts that tell its size: calls, turns, skeletons.
    pub sizes: Vec<Count>,
    /// Rows by split.
    pub splits: Vec<Count>,
    /// Rows by ability.
    pub abilities: Vec<Count>,
    /// Rows by domain.
    pub domains: Vec<Count>,
    /// Rows by tag.
    pub tags: Vec<Count>,
    /// Attempts that were made.
    pub proposed: u64,
    /// Attempts that were dropped, by step and reason.
    pub dropped: Vec<(String, Vec<Count>)>,
}

/// A name and how many have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The name.
    pub name: String,
    /// The number of rows with this name.
    pub count: u64,
}

/// A filter of rows. A member that is none takes all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowFilter<'a> {
    /// The split.
    pub split: Option<&'a str>,
    /// The ability.
    pub ability: Option<&'a str>,
    /// A domain that the row calls.
    pub domain: Option<&'a str>,
    /// A tag of the row.
    pub tag: Option<&'a str>,
    /// Words that all stand in the row's id or in its messages.
    pub text: Option<&'a str>,
}

/// A part of the rows that a filter takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPage {
    /// The number of rows that the filter takes, on all pages.
    pub total: usize,
    /// The rows of this page.
    pub rows: Vec<RowSummary>,
}

/// A row in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSummary {
    /// Its id.
    pub id: String,
    /// Its split.
    pub split: &'static str,
    /// Its ability.
    pub ability: &'static str,
    /// The domains that it calls.
    pub domains: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The user's first words.
    pub opening: String,
}

/// A row as a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its line in the list.
    pub summary: RowSummary,
    /// Short facts about it, by name: world, licence, depth.
    pub facts: Vec<(String, String)>,
    /// The conversation.
    pub turns: Vec<Turn>,
    /// JSON texts of the row, by name: checks, gates, tools.
    pub documents: Vec<(String, String)>,
}
