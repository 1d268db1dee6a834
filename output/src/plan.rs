//! The plan: assigns rows to files before the first row is made.
//!
//! A dataset of N dialogues has rows 0..N. A batch is a fixed range of rows of one world template, so it
//! belongs to one split. A file has a fixed range of its split's batches. A shard has whole files.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::row::Split;

/// Default number of rows in a batch.
pub const ROWS_PER_BATCH: u32 = 50;
/// Default number of batches in a file.
pub const BATCHES_PER_FILE: u32 = 40;
/// Maximum number of rows. File names have five digits for the file's number.
pub const MAX_ROWS: u64 = 100_000_000;

/// The sizes from which a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSizes {
    /// Number of requested dialogues.
    pub rows: u64,
    /// Rows per batch. The last batch may have fewer.
    pub rows_per_batch: u32,
    /// Batches per file. The last file of a split may have fewer.
    pub batches_per_file: u32,
}

/// The layout of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    sizes: PlanSizes,
    files: Vec<FilePlan>,
    /// True if all batches but the last have the same number of rows.
    is_even: bool,
}

/// A planned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Index among all files, train before test.
    pub index: usize,
    /// Its name below the dataset's folder, with `/`.
    pub name: String,
    /// The split of all its batches.
    pub split: Split,
    /// Its batches, in row order.
    pub batches: Vec<Batch>,
}

/// A fixed range of rows of one world template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Index over the whole dataset, from 0.
    pub index: u64,
    /// Its split.
    pub split: Split,
    /// The range of its rows.
    pub row_indexes: Range<u64>,
}

/// A part of a dataset's files. File f belongs to shard f mod count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u32,
    count: u32,
}

/// The reason for which a plan cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A size is zero or too large.
    #[error("found {found} {what}, expected between 1 and {most}")]
    Size {
        /// The name of the size.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The maximum.
        most: u64,
    },
    /// A split has more files than its names can number.
    #[error("found {0} files in a split, expected at most 100000; put more batches in a file")]
    TooManyFiles(usize),
    /// The string is not a shard.
    #[error("found shard `{0}`, expected I/K such as 1/4, with I from 1 to K and K up to 10000")]
    Shard(String),
}

impl PlanSizes {
    /// Returns the default sizes for a number of dialogues.
    pub const fn new(rows: u64) -> Self {
        Self { rows, rows_per_batch: ROWS_PER_BATCH, batches_per_file: BATCHES_PER_FILE }
    }

    /// Returns the number of batches.
    pub fn batches(&self) -> u64 {
        self.rows.div_ceil(u64::from(self.rows_per_batch).max(1))
    }
}

impl Plan {
    /// Plans a dataset. `split_of` returns the split of a batch as a function of its index.
    ///
    /// # Errors
    /// Returns an error if a size is out of range.
    pub fn new(sizes: PlanSizes, mut split_of: impl FnMut(u64) -> Split) -> Result<Self, PlanError> {
        in_range("dialogues", sizes.rows, MAX_ROWS)?;
        in_range("rows per batch", sizes.rows_per_batch.into(), 1_000_000)?;
        in_range("batches per file", sizes.batches_per_file.into(), 1_000_000)?;
        let per_batch = u64::from(sizes.rows_per_batch);
        let batches = (0..sizes.batches()).map(|index| {
            let start = index * per_batch;
            Batch { index, split: split_of(index), row_indexes: start..(start + per_batch).min(sizes.rows) }
        });
        Ok(Self { sizes, files: files_of_batches(batches, sizes)?, is_even: true })
    }

    /// Plans a dataset from batches of different sizes. `batches` has the split and the number of rows of
    /// each, in order.
    ///
    /// # Errors
    /// Returns an error if there are no rows or too many, or a batch has more than 50.
    pub fn of_batches(batches: &[(Split, u32)]) -> Result<Self, PlanError> {
        let sizes = PlanSizes::new(batches.iter().map(|(_, rows)| u64::from(*rows)).sum());
        in_range("dialogues", sizes.rows, MAX_ROWS)?;
        let largest = batches.iter().map(|(_, rows)| *rows).max().unwrap_or_default();
        in_range("rows in a batch", largest.into(), ROWS_PER_BATCH.into())?;
        let mut start = 0;
        let batches = batches.iter().zip(0..).map(|((split, rows), index)| {
            let row_indexes = start..start + u64::from(*rows);
            start = row_indexes.end;
            Batch { index, split: *split, row_indexes }
        });
        Ok(Self { sizes, files: files_of_batches(batches, sizes)?, is_even: false })
    }

    /// Returns the sizes it was made from.
    pub const fn sizes(&self) -> PlanSizes {
        self.sizes
    }

    /// Returns all files, train before test.
    pub fn files(&self) -> &[FilePlan] {
        &self.files
    }

    /// Returns the files of a shard.
    pub fn files_of(&self, shard: Shard) -> impl Iterator<Item = &FilePlan> {
        self.files.iter().filter(move |file| shard.has(file.index))
    }

    /// Returns the BLAKE3 hash of the sizes and the split of every batch. Equal digests mean equal plans.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.sizes.rows.to_le_bytes());
        hasher.update(&self.sizes.rows_per_batch.to_le_bytes());
        hasher.update(&self.sizes.batches_per_file.to_le_bytes());
        for file in &self.files {
            hasher.update(file.name.as_bytes());
            for batch in &file.batches {
                hasher.update(&batch.index.to_le_bytes());
                if !self.is_even {
                    hasher.update(&batch.row_indexes.end.to_le_bytes());
                }
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

fn in_range(what: &'static str, found: u64, most: u64) -> Result<(), PlanError> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(PlanError::Size { what, found, most }) }
}

/// Returns the files of batches. Those of each split are in order, train before test.
fn files_of_batches(
    batches: impl Iterator<Item = Batch>,
    sizes: PlanSizes,
) -> Result<Vec<FilePlan>, PlanError> {
    let (train, test): (Vec<Batch>, Vec<Batch>) = batches.partition(|batch| batch.split == Split::Train);
    let mut files = Vec::new();
    for (split, batches) in Split::ALL.into_iter().zip([train, test]) {
        let chunks = batches.chunks(sizes.batches_per_file as usize);
        let count = chunks.len();
        if count > 100_000 {
            return Err(PlanError::TooManyFiles(count));
        }
        for (number, batches) in chunks.enumerate() {
            let name = format!("data/{split}-{number:05}-of-{count:05}.parquet");
            files.push(FilePlan { index: files.len(), name, split, batches: batches.to_vec() });
        }
    }
    Ok(files)
}

impl FilePlan {
    /// Returns the number of planned rows. Exhausted rows reduce the actual number.
    pub fn row_count(&self) -> u64 {
        self.batches.iter().map(|batch| batch.row_indexes.end - batch.row_indexes.start).sum()
    }
}

impl Shard {
    /// The only shard of a run without shards.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Makes shard `index` of `count`, counted from 1.
    ///
    /// # Errors
    /// Returns an error if there are no shards or fewer than `index`.
    pub fn new(index: u32, count: u32) -> Result<Self, PlanError> {
        if index == 0 || count > 10_000 || index > count {
            return Err(PlanError::Shard(format!("{index}/{count}")));
        }
        Ok(Self { index: index % count, count })
    }

    /// Returns its number, from 1.
    pub const fn number(self) -> u32 {
        if self.index == 0 { self.count } else { self.index }
    }

    /// Returns the number of shards.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Returns the name of its files without an extension. Example: `shard-00001-of-00004`.
    pub fn file_stem(self) -> String {
        format!("shard-{:05}-of-{:05}", self.number(), self.count())
    }

    /// Returns all of `count` shards, in order.
    pub fn all(count: u32) -> impl Iterator<Item = Self> {
        (1..=count).map(move |index| Self { index: index % count, count })
    }

    /// Returns true if a file belongs to the shard.
    pub const fn has(self, file: usize) -> bool {
        file % self.count as usize == self.index as usize
    }
}

impl FromStr for Shard {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || PlanError::Shard(text.to_owned());
        let (index, count) = text.split_once('/').ok_or_else(refused)?;
        let number = |part: &str| part.trim().parse::<u32>().map_err(|_| refused());
        Self::new(number(index)?, number(count)?)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number(), self.count)
    }
}

impl TryFrom<String> for Shard {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, PlanSizes, Shard};
    use crate::row::Split;

    fn plan(row_indexes: u64) -> Plan {
        Plan::new(
            PlanSizes::new(row_indexes),
            |batch| if batch % 10 == 3 { Split::Test } else { Split::Train },
        )
        .unwrap()
    }

    #[test]
    fn every_slot_is_in_one_file_of_its_split() {
        let plan = plan(10_020);
        let names: Vec<&str> = plan.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "data/train-00000-of-00005.parquet",
                "data/train-00001-of-00005.parquet",
                "data/train-00002-of-00005.parquet",
                "data/train-00003-of-00005.parquet",
                "data/train-00004-of-00005.parquet",
                "data/test-00000-of-00001.parquet",
            ]
        );
        let mut row_indexes: Vec<u64> = plan
            .files()
            .iter()
            .flat_map(|file| &file.batches)
            .flat_map(|batch| batch.row_indexes.clone())
            .collect();
        row_indexes.sort_unstable();
        assert_eq!(row_indexes, (0..10_020).collect::<Vec<_>>());
        assert_eq!(plan.files().iter().map(super::FilePlan::row_count).sum::<u64>(), 10_020);
        assert!(
            plan.files()[5].batches.iter().all(|batch| batch.index % 10 == 3 && batch.split == Split::Test)
        );
    }

    #[test]
    fn one_dialogue_makes_one_file_and_no_test_file() {
        let plan = plan(1);
        assert_eq!(plan.files().len(), 1);
        assert_eq!(plan.files()[0].name, "data/train-00000-of-00001.parquet");
        assert_eq!(plan.files()[0].batches[0].row_indexes, 0..1);
    }

    #[test]
    fn shards_share_out_all_files() {
        let plan = plan(10_020);
        let mut files = Vec::new();
        for name in ["1/3", "2/3", "3/3"] {
            let shard: Shard = name.parse().unwrap();
            assert_eq!(shard.to_string(), name);
            files.extend(plan.files_of(shard).map(|file| file.index));
        }
        files.sort_unstable();
        assert_eq!(files, [0, 1, 2, 3, 4, 5]);
        for wrong in ["", "1", "0/3", "4/3", "1/0", "0/0", "-1/3", "a/b", "1/10001"] {
            let error = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("found shard `{wrong}`, expected I/K")), "{error}");
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let refuse = |sizes: PlanSizes| Plan::new(sizes, |_| Split::Train).unwrap_err().to_string();
        assert_eq!(refuse(PlanSizes::new(0)), "found 0 dialogues, expected between 1 and 100000000");
        let sizes = PlanSizes { rows_per_batch: 0, ..PlanSizes::new(5) };
        assert_eq!(refuse(sizes), "found 0 rows per batch, expected between 1 and 1000000");
        let sizes = PlanSizes { rows_per_batch: 1, batches_per_file: 1, ..PlanSizes::new(200_000) };
        assert_eq!(
            refuse(sizes),
            "found 200000 files in a split, expected at most 100000; put more batches in a file"
        );
    }

    #[test]
    fn batches_of_different_sizes_share_the_rows_out() {
        let splits = [(Split::Train, 50), (Split::Test, 3), (Split::Train, 7)];
        let plan = Plan::of_batches(&splits).unwrap();
        let ranges = |file: usize| -> Vec<_> {
            plan.files()[file].batches.iter().map(|batch| (batch.index, batch.row_indexes.clone())).collect()
        };
        assert_eq!((ranges(0), ranges(1)), (vec![(0, 0..50), (2, 53..60)], vec![(1, 50..53)]));
        assert_eq!(plan.sizes(), PlanSizes::new(60));
        let other = Plan::of_batches(&[(Split::Train, 49), (Split::Test, 4), (Split::Train, 7)]).unwrap();
        assert_ne!(plan.digest(), other.digest());
        let refused = Plan::of_batches(&[(Split::Train, 51)]).unwrap_err().to_string();
        assert_eq!(refused, "found 51 rows in a batch, expected between 1 and 50");
    }

    #[test]
    fn the_digest_tells_plans_apart() {
        let all_train = Plan::new(PlanSizes::new(10_020), |_| Split::Train).unwrap();
        assert_ne!(plan(10_020).digest(), all_train.digest());
        assert_ne!(plan(10_020).digest(), plan(10_019).digest());
        assert_eq!(plan(10_020).digest(), plan(10_020).digest());
    }
}
