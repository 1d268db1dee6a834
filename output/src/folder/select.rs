//! Selects rows of a dataset.

use diorama_seeds::task::{Ability, Difficulty};

use super::open::Folder;
use crate::manifest::Manifest;
use crate::row::{Dialogue, Split, ability_name};
use crate::rows::ReadError;

/// Conditions on rows. An empty list is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The row has this split.
    pub split: Option<Split>,
    /// The row has one of these domains.
    pub domains: Vec<String>,
    /// The row has one of these abilities.
    pub abilities: Vec<Ability>,
    /// The row has all of these tags.
    pub tags: Vec<String>,
    /// The row has one of these bands of difficulty.
    pub difficulties: Vec<Difficulty>,
    /// The row has one of these ids.
    pub ids: Vec<String>,
    /// Maximum number of rows.
    pub limit: Option<usize>,
}

/// A condition that no row of the dataset meets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no row of the dataset has {what} `{found}`; it has {known}")]
pub struct NoSuchRows {
    what: &'static str,
    found: String,
    /// The existing values, with their numbers of rows.
    known: String,
}

/// Maximum number of names in a message.
const MAX_NAMED: usize = 40;

impl Selection {
    /// Selects the rows of one split.
    pub fn of_split(split: Split) -> Self {
        Self { split: Some(split), ..Self::default() }
    }

    /// Returns true if there is no condition.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that the dataset has rows of each split, domain, ability and tag that is named.
    ///
    /// # Errors
    /// Returns the first value that no row has, with the existing values.
    pub fn check(&self, manifest: &Manifest) -> Result<(), NoSuchRows> {
        let counts = &manifest.counts;
        let splits = self.split.iter().map(|split| split.as_str());
        let abilities = self.abilities.iter().map(|ability| ability_name(*ability));
        let difficulties = self.difficulties.iter().map(|band| band.name());
        let named = splits
            .map(|name| ("the split", name, &counts.splits))
            .chain(self.domains.iter().map(|name| ("the domain", name.as_str(), &counts.domains)))
            .chain(abilities.map(|name| ("the ability", name, &counts.abilities)))
            .chain(self.tags.iter().map(|name| ("the tag", name.as_str(), &counts.tags)))
            .chain(difficulties.map(|name| ("the difficulty", name, &counts.difficulties)));
        for (what, found, known) in named {
            if known.get(found).is_none_or(|rows| *rows == 0) {
                let names: Vec<String> =
                    known.iter().take(MAX_NAMED).map(|(name, rows)| format!("{name} ({rows})")).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(NoSuchRows { what, found: found.to_owned(), known });
            }
        }
        Ok(())
    }

    /// Returns true if a row meets the conditions, without regard to the limit.
    pub fn takes(&self, row: &Dialogue) -> bool {
        let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        self.split.is_none_or(|split| split == row.split)
            && (self.domains.is_empty() || row.domains.iter().any(|domain| self.domains.contains(domain)))
            && (self.abilities.is_empty() || self.abilities.contains(&row.ability))
            && self.tags.iter().all(|tag| row.tags.contains(tag))
            && (self.difficulties.is_empty()
                || row.difficulty.is_some_and(|band| self.difficulties.contains(&band)))
            && among(&self.ids, &row.id)
    }
}

impl Folder {
    /// Returns the selected rows in order, like [`rows`](Self::rows). Errors are always included.
    pub fn select<'a>(
        &'a self,
        selection: &'a Selection,
    ) -> impl Iterator<Item = Result<Dialogue, ReadError>> + 'a {
        let rows = self.rows_of_split(selection.split);
        let wanted = rows.filter(|row| row.as_ref().map_or(true, |row| selection.takes(row)));
        wanted.take(selection.limit.unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::tests::dataset;
    use crate::storage::Storage;

    #[test]
    fn rows_are_selected_by_what_they_are() {
        let (_guard, path) = dataset();
        let folder = Folder::open(Storage::local(&path)).unwrap();
        let all: Vec<Dialogue> = folder.rows().map(Result::unwrap).collect();
        let check = |selection: Selection, wanted: &dyn Fn(&Dialogue) -> bool| {
            let found: Vec<String> = folder.select(&selection).map(|row| row.unwrap().id).collect();
            let limit = selection.limit.unwrap_or(usize::MAX);
            let wanted = all.iter().filter(|row| wanted(row)).take(limit);
            assert_eq!(found, wanted.map(|row| row.id.clone()).collect::<Vec<_>>(), "{selection:?}");
            selection.check(folder.manifest())
        };
        let whole = Selection::default();
        assert_eq!(check(whole.clone(), &|_| true), Ok(()));
        assert_eq!(check(Selection::of_split(Split::Test), &|row| row.split == Split::Test), Ok(()));
        let domains = vec!["train_clinic_0".to_owned(), "test_clinic_1".to_owned()];
        let of_domains = Selection { domains: domains.clone(), ..whole.clone() };
        assert_eq!(check(of_domains, &|row| domains.contains(&row.domains[0])), Ok(()));
        let of_tags = Selection {
            tags: vec!["tag_0".to_owned(), "tag_1".to_owned()],
            abilities: vec![Ability::PlanRetrieveCall],
            limit: Some(5),
            ..whole.clone()
        };
        let wanted = |row: &Dialogue| row.tags.len() == 2 && row.ability == Ability::PlanRetrieveCall;
        assert_eq!(check(of_tags, &wanted), Ok(()));
        let of_bands = Selection { difficulties: vec![Difficulty::Easy, Difficulty::Hard], ..whole.clone() };
        assert_eq!(check(of_bands, &|row| row.difficulty != Some(Difficulty::Medium)), Ok(()));
        let ids = vec!["d00000007".to_owned(), "x".to_owned()];
        assert_eq!(check(Selection { ids, ..whole.clone() }, &|row| row.id == "d00000007"), Ok(()));
        let error = check(Selection { tags: vec!["tag_9".to_owned()], ..whole }, &|_| false).unwrap_err();
        let expect = "no row of the dataset has the tag `tag_9`; it has tag_0 (53), tag_1 (26)";
        assert_eq!(error.to_string(), expect);
    }
}
