//! Owns the rows of a dataset's folder. An index in memory answers filters, and each shown row is read again
//! from its file.

use std::collections::{BTreeMap, HashMap};

use diorama_console::{Count, DatasetSummary, ReadError, Row, RowFilter, RowPage, RowSummary, Rows};
use diorama_output::folder::{Folder, Part};
use diorama_output::row::{Dialogue, Role, ability_name};
use rayon::prelude::*;

use super::turns::{documents, turns};
use crate::cli::error::CliError;

/// Rows of a folder, for the console.
pub(crate) struct DatasetRows {
    folder: Folder,
    parts: Vec<Part>,
    index: Vec<Entry>,
    by_id: HashMap<String, usize>,
}

/// Members of a row that filters need, and its position.
struct Entry {
    summary: RowSummary,
    /// Id and words of user and assistant, in lower case.
    text: Box<str>,
    part: usize,
    row: usize,
}

impl DatasetRows {
    /// Builds the index of all rows, on all cores.
    ///
    /// # Errors
    /// Returns an error if a file of the dataset is damaged.
    pub(crate) fn open(folder: Folder) -> Result<Self, CliError> {
        let parts = folder.parts()?;
        let entries = parts.par_iter().enumerate().map(|(part, rows)| {
            let rows = folder.read(rows)?.enumerate();
            rows.map(|(row, dialogue)| Ok(Entry::new(dialogue?, part, row)))
                .collect::<Result<Vec<_>, CliError>>()
        });
        let index: Vec<Entry> = entries.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let ids = index.iter().enumerate().map(|(position, entry)| (entry.summary.id.clone(), position));
        Ok(Self { by_id: ids.collect(), folder, parts, index })
    }

    /// Returns the row with an id.
    pub(super) fn dialogue(&self, id: &str) -> Result<Option<Dialogue>, ReadError> {
        self.entry(id).map(|entry| self.read(entry)).transpose()
    }

    /// Returns the domains of the row with an id.
    pub(super) fn domains(&self, id: &str) -> Option<Vec<String>> {
        self.entry(id).map(|entry| entry.summary.domains.clone())
    }

    /// Returns the ability and the tags of the row with an id.
    pub(super) fn ability_and_tags(&self, id: &str) -> Option<(&'static str, &[String])> {
        self.entry(id).map(|entry| (entry.summary.ability, entry.summary.tags.as_slice()))
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.by_id.get(id).and_then(|position| self.index.get(*position))
    }

    fn read(&self, entry: &Entry) -> Result<Dialogue, ReadError> {
        let changed = || {
            ReadError(
                "the dataset's files have changed since they were opened; start the command again".to_owned(),
            )
        };
        let part = self.parts.get(entry.part).ok_or_else(changed)?;
        let unreadable = |error: diorama_output::rows::ReadError| ReadError(error.to_string());
        let mut rows = self.folder.read(part).map_err(unreadable)?;
        let row = rows.nth(entry.row).ok_or_else(changed)?.map_err(unreadable)?;
        if row.id == entry.summary.id { Ok(row) } else { Err(changed()) }
    }
}

impl Entry {
    fn new(row: Dialogue, part: usize, position: usize) -> Self {
        let mut text = row.id.to_lowercase();
        let spoken =
            row.messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
        for content in spoken.filter_map(|message| message.content.as_deref()) {
            text.push('\n');
            text.push_str(&content.to_lowercase());
        }
        Self { summary: summary(&row), text: text.into(), part, row: position }
    }

    fn is_taken(&self, filter: &RowFilter<'_>, words: &[String]) -> bool {
        let RowSummary { split, ability, domains, tags, .. } = &self.summary;
        let among = |wanted: Option<&str>, names: &[String]| {
            wanted.is_none_or(|wanted| names.iter().any(|name| name == wanted))
        };
        filter.split.is_none_or(|wanted| wanted == *split)
            && filter.ability.is_none_or(|wanted| wanted == *ability)
            && among(filter.domain, domains)
            && among(filter.tag, tags)
            && words.iter().all(|word| self.text.contains(word.as_str()))
    }
}

/// Returns the counts of a dataset, from its manifest.
pub(crate) fn summarise(folder: &Folder) -> DatasetSummary {
    let manifest = folder.manifest();
    let counts = &manifest.counts;
    let count = |name: &str, count: u64| Count { name: name.to_owned(), count };
    let skeletons = manifest.skeletons.map(|skeletons| count("Different sequences of APIs", skeletons));
    let sizes = [count("Calls", counts.calls), count("User turns", counts.turns)];
    let dropped = manifest.funnel.dropped.iter();
    DatasetSummary {
        name: folder.storage().location().to_string(),
        rows: counts.dialogues,
        sizes: sizes.into_iter().chain(skeletons).collect(),
        splits: list(&counts.splits),
        abilities: list(&counts.abilities),
        domains: list(&counts.domains),
        tags: list(&counts.tags),
        proposed: manifest.funnel.proposed,
        dropped: dropped.map(|(step, reasons)| (step.clone(), list(reasons))).collect(),
    }
}

impl Rows for DatasetRows {
    fn summary(&self) -> DatasetSummary {
        summarise(&self.folder)
    }

    fn find(&self, filter: &RowFilter<'_>, offset: usize, limit: usize) -> Result<RowPage, ReadError> {
        let words = words(filter);
        let taken: Vec<&Entry> =
            self.index.par_iter().filter(|entry| entry.is_taken(filter, &words)).collect();
        let rows = taken.iter().skip(offset).take(limit).map(|entry| entry.summary.clone()).collect();
        Ok(RowPage { total: taken.len(), rows })
    }

    fn row(&self, id: &str) -> Result<Option<Row>, ReadError> {
        let Some(entry) = self.entry(id) else { return Ok(None) };
        let row = self.read(entry)?;
        let facts = [
            ("World", row.world_id.clone()),
            ("Depth", row.depth.to_string()),
            ("Licence", row.license.clone()),
            ("Source", row.source.clone()),
        ];
        Ok(Some(Row {
            summary: entry.summary.clone(),
            facts: facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect(),
            turns: turns(&row),
            documents: documents(&row),
        }))
    }
}

fn summary(row: &Dialogue) -> RowSummary {
    RowSummary {
        id: row.id.clone(),
        split: row.split.as_str(),
        ability: ability_name(row.ability),
        domains: row.domains.clone(),
        tags: row.tags.clone(),
        opening: row.first_user_turn().unwrap_or_default().to_owned(),
    }
}

/// Returns the words of a text filter, in lower case.
fn words(filter: &RowFilter<'_>) -> Vec<String> {
    filter.text.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect()
}

/// Returns counts as a list, the greatest first.
pub(super) fn list(counts: &BTreeMap<String, u64>) -> Vec<Count> {
    let mut list: Vec<Count> =
        counts.iter().map(|(name, count)| Count { name: name.clone(), count: *count }).collect();
    list.sort_by_key(|count| std::cmp::Reverse(count.count));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_take_rows_by_names_and_words() {
        let entry = Entry {
            summary: RowSummary {
                id: "train-7".to_owned(),
                split: "train",
                ability: "call",
                domains: vec!["library".to_owned()],
                tags: vec!["correction".to_owned()],
                opening: String::new(),
            },
            text: "train-7\nplease cancel my größe loan".into(),
            part: 0,
            row: 0,
        };
        let check = |filter: RowFilter<'_>, expect: bool| {
            let words: Vec<String> = words(&filter);
            assert_eq!(entry.is_taken(&filter, &words), expect, "{filter:?}");
        };
        let all = RowFilter::default();
        check(all, true);
        check(RowFilter { split: Some("test"), ..all }, false);
        check(
            RowFilter { ability: Some("call"), domain: Some("library"), tag: Some("correction"), ..all },
            true,
        );
        check(RowFilter { domain: Some("lib"), ..all }, false);
        check(RowFilter { tag: Some("branch"), ..all }, false);
        check(RowFilter { text: Some("  LOAN Cancel "), ..all }, true);
        check(RowFilter { text: Some("GRÖSSE"), ..all }, false);
        check(RowFilter { text: Some("train-7 GRÖßE"), ..all }, true);
        check(RowFilter { text: Some("loan return"), ..all }, false);
    }
}
