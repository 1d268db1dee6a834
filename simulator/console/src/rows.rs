//! Owns the rows of a dataset in the form that the console reads.

use crate::turns::Turn;

/// Rows of a dataset. The package that reads its files implements it.
pub trait Rows: Send + Sync {
    /// Returns the summary of the dataset.
    fn summary(&self) -> DatasetSummary;

    /// Returns the number of rows that match a filter, and at most `limit` of them from `offset` on, in
    /// order.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be read.
    fn find(&self, filter: &RowFilter<'_>, offset: usize, limit: usize) -> Result<RowPage, ReadError>;

    /// Returns a row by its id, or none if the id is unknown.
    ///
    /// # Errors
    /// Returns an error if the row cannot be read.
    fn row(&self, id: &str) -> Result<Option<Row>, ReadError>;
}

/// Reason for which rows or episodes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(pub String);

/// Summary of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetSummary {
    /// Location of the dataset.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Counts for its size: calls, turns, skeletons.
    pub sizes: Vec<Count>,
    /// Rows by split.
    pub splits: Vec<Count>,
    /// Rows by ability.
    pub abilities: Vec<Count>,
    /// Rows by domain.
    pub domains: Vec<Count>,
    /// Rows by tag.
    pub tags: Vec<Count>,
    /// Number of attempts.
    pub proposed: u64,
    /// Dropped attempts, by step and reason.
    pub dropped: Vec<(String, Vec<Count>)>,
}

/// Count of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The name itself.
    pub name: String,
    /// Number of rows or other items with this name.
    pub count: u64,
}

/// Filter of rows. A member that is none matches all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowFilter<'a> {
    /// Split of the row.
    pub split: Option<&'a str>,
    /// Ability of the row.
    pub ability: Option<&'a str>,
    /// A domain that the row calls.
    pub domain: Option<&'a str>,
    /// A tag of the row.
    pub tag: Option<&'a str>,
    /// Words that must all occur in the row's id or in its messages.
    pub text: Option<&'a str>,
}

/// Page of the rows that match a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPage {
    /// Number of matching rows on all pages.
    pub total: usize,
    /// Rows of this page.
    pub rows: Vec<RowSummary>,
}

/// Row in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSummary {
    /// Id of the row.
    pub id: String,
    /// Split of the row.
    pub split: &'static str,
    /// Ability of the row.
    pub ability: &'static str,
    /// Domains that the row calls.
    pub domains: Vec<String>,
    /// Tags of the row.
    pub tags: Vec<String>,
    /// First message of the user.
    pub opening: String,
}

/// Row as a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Summary of the row in the list.
    pub summary: RowSummary,
    /// Short facts by name: world, licence, depth.
    pub facts: Vec<(String, String)>,
    /// Turns of the conversation.
    pub turns: Vec<Turn>,
    /// JSON texts of the row, by name: checks, gates, tools.
    pub documents: Vec<(String, String)>,
}
