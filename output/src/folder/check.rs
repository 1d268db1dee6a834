//! Checks a folder against its manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use serde_json::Value as Json;

use super::open::{Failure, Folder, Part, is_rows};
use crate::columns::STRUCTURED_VERSION;
use crate::export::structured::make_structured;
use crate::funnel::Counts;
use crate::manifest::{CARD, FileEntry, MANIFEST, Manifest, QUALITY, STEPS, Versions, structured_file};
use crate::row::parts::Provenance;
use crate::row::{Dialogue, Split, row_id};
use crate::skeleton::skeleton;
use crate::storage::Fingerprint;

/// Counts over the rows. Each thread has its own, and their sum is compared with the manifest.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    ids: BTreeSet<String>,
    counts: Counts,
    skeletons: BTreeSet<String>,
    rows: BTreeMap<String, u64>,
    worlds: BTreeMap<String, BTreeSet<Split>>,
    domains: BTreeMap<String, BTreeSet<Split>>,
    repeated: Vec<Failure>,
    /// Positions and row indexes of each file's rows.
    row_indexes: BTreeMap<String, Vec<(Place, u64)>>,
}

/// The position of a row in its file: row group, and number in the group.
type Place = (usize, usize);

impl Tally {
    /// Records the position of a row. Rows must be in the order of their indexes.
    pub fn place(&mut self, part: &Part, number: usize, row: &Dialogue) {
        let row_index =
            serde_json::from_str::<Provenance>(&row.provenance).map_or(0, |provenance| provenance.row);
        self.row_indexes.entry(part.file.clone()).or_default().push(((part.group, number), row_index));
    }

    /// Returns failures for rows that are out of order.
    fn find_misplaced(&self) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut last: Option<(&str, u64)> = None;
        // Files are numbered, so their names sort in the order of their rows.
        for (file, rows) in &self.row_indexes {
            let mut rows = rows.clone();
            rows.sort_unstable();
            let split =
                file.rsplit_once("-of-").map_or("", |(name, _)| name.trim_end_matches(char::is_numeric));
            for (_, row_index) in rows {
                if let Some((_, before)) = last.filter(|(of, before)| *of == split && row_index <= *before) {
                    let what = format!("row {row_index} stands after row {before}");
                    failures.push(failure(file, what));
                }
                last = Some((split, row_index));
            }
        }
        failures
    }

    /// Counts a row of a file.
    pub fn count(&mut self, file: &str, row: &Dialogue) {
        *self.rows.entry(file.to_owned()).or_default() += 1;
        self.counts.count(row);
        self.skeletons.insert(skeleton(row));
        self.worlds.entry(row.world_id.clone()).or_default().insert(row.split);
        for domain in &row.domains {
            self.domains.entry(domain.clone()).or_default().insert(row.split);
        }
        if !self.ids.insert(row.id.clone()) {
            self.repeated.push(repeated(file, &row.id));
        }
    }

    /// Adds the counts of another thread.
    pub fn add(&mut self, other: Self) {
        for (file, rows) in other.rows {
            *self.rows.entry(file).or_default() += rows;
        }
        self.counts.add(&other.counts);
        self.skeletons.extend(other.skeletons);
        for (world, splits) in other.worlds {
            self.worlds.entry(world).or_default().extend(splits);
        }
        for (domain, splits) in other.domains {
            self.domains.entry(domain).or_default().extend(splits);
        }
        self.repeated.extend(other.repeated);
        for (file, row_indexes) in other.row_indexes {
            self.row_indexes.entry(file).or_default().extend(row_indexes);
        }
        for id in other.ids {
            if self.ids.contains(&id) {
                self.repeated.push(repeated("data", &id));
            } else {
                self.ids.insert(id);
            }
        }
    }

    /// Returns the number of counted rows.
    pub const fn rows(&self) -> u64 {
        self.counts.dialogues
    }
}

impl Folder {
    /// Compares the versions that made the rows with the present ones. Rows of other versions cannot be
    /// reproduced.
    pub fn check_versions(&self, ours: &Versions) -> Vec<Failure> {
        let found = self.manifest().identity().versions;
        [
            ("engine", found.engine, &ours.engine),
            ("grader", found.grader, &ours.grader),
            ("search", found.search, &ours.search),
        ]
        .into_iter()
        .filter(|(_, found, ours)| found != *ours)
        .map(|(what, found, ours)| {
            failure(MANIFEST, format!("found {what} version {found}, this release has {ours}; verify with the release that wrote it"))
        })
        .collect()
    }

    /// Compares every file with its size and checksum in the manifest, and finds missing and superfluous
    /// files. Reads no rows.
    pub fn check_files(&self) -> Vec<Failure> {
        let mut failures = self.check_listing();
        for (name, entry) in &self.manifest().files {
            let found = self.check_file(name, entry);
            if found.is_none()
                && let Err(error) = self.check_worlds(name, &entry.worlds)
            {
                failures.push(failure(name, error.to_string()));
            }
            failures.extend(found);
        }
        failures
    }

    /// Checks a row by itself: its split, its world, and the syntax of its JSON.
    pub fn check_row(&self, file: &str, row: &Dialogue) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut fail = |what: String| {
            failures.push(Failure { file: file.to_owned(), row: Some(row.id.clone()), what });
        };
        if let Err(fault) = row.check() {
            fail(format!("column `{}` {}", fault.column, fault.what));
        }
        if !file.starts_with(&format!("data/{}-", row.split)) {
            fail(format!("found split {} in a file of another split", row.split));
        }
        match self.manifest().worlds.get(&row.world_id) {
            None => fail(format!("names world `{}`, which the manifest does not have", row.world_id)),
            Some(hash) if *hash != row.world_hash => {
                let (world, found) = (&row.world_id, &row.world_hash);
                fail(format!("names world `{world}` with hash {found}, expected {hash}"));
            }
            Some(_) => {}
        }
        failures
    }

    /// Compares a row's provenance with the manifest.
    pub fn check_provenance(&self, row: &Dialogue) -> Vec<String> {
        let provenance: Provenance = match serde_json::from_str(&row.provenance) {
            Ok(provenance) => provenance,
            Err(error) => return vec![format!("column `provenance`: {error}")],
        };
        let manifest = self.manifest();
        let mut wrong = Vec::new();
        let mut same = |what: &str, found: &dyn Display, expected: &dyn Display| {
            if found.to_string() != expected.to_string() {
                wrong.push(format!("{what} is {found}, expected {expected}"));
            }
        };
        same("the id", &row.id, &row_id(row.split, provenance.row));
        same("`provenance.seed`", &provenance.seed, &manifest.seed);
        same("`provenance.version`", &provenance.version, &manifest.generator_version);
        if let Some(Json::String(backend)) = manifest.config.get("backend") {
            same("`provenance.backend`", &provenance.backend, backend);
        }
        let row_indexes = manifest.plan.rows;
        if provenance.row >= row_indexes {
            wrong.push(format!("`provenance.row` is {}, expected one below {row_indexes}", provenance.row));
        }
        wrong
    }

    /// Compares all rows with the manifest, and train with test. The tally must have counted every row.
    pub fn check_tally(&self, tally: &Tally) -> Vec<Failure> {
        let manifest = self.manifest();
        let mut failures = tally.repeated.clone();
        for name in self.row_files() {
            let expected = manifest.files.get(name).and_then(|entry| entry.rows).unwrap_or(0);
            let found = tally.rows.get(name).copied().unwrap_or(0);
            if found != expected {
                failures.push(failure(name, format!("found {found} rows, expected {expected}")));
            }
        }
        for what in list_differing_counts(&tally.counts, &manifest.counts) {
            failures.push(failure(MANIFEST, format!("`counts.{what}` is not what the rows hold")));
        }
        // Earlier versions did not count skeletons.
        let skeletons = tally.skeletons.len() as u64;
        if let Some(found) = manifest.skeletons.filter(|found| *found != skeletons) {
            let what = format!("`skeletons` is {found}, expected {skeletons}, those of the rows");
            failures.push(failure(MANIFEST, what));
        }
        if manifest.funnel.written != tally.counts.dialogues {
            let (written, rows) = (manifest.funnel.written, tally.counts.dialogues);
            failures.push(failure(
                MANIFEST,
                format!("`funnel.written` is {written}, expected {rows}, the number of rows"),
            ));
        }
        for world in manifest.worlds.keys().filter(|world| !tally.worlds.contains_key(*world)) {
            failures.push(failure(MANIFEST, format!("no row names world `{world}`")));
        }
        for (kind, splits) in [("world", &tally.worlds), ("domain", &tally.domains)] {
            for (name, _) in splits.iter().filter(|(_, splits)| splits.len() > 1) {
                failures.push(failure("data", format!("{kind} `{name}` is in train and in test")));
            }
        }
        failures
    }

    /// Checks the order of the rows, and the parts of funnel and plan that rows can confirm. The tally must
    /// have counted and placed every row.
    pub fn check_making(&self, tally: &Tally) -> Vec<Failure> {
        let Manifest { funnel, plan, .. } = self.manifest();
        let mut failures = tally.find_misplaced();
        let mut same = |what: &str, found: u64, expected: u64, of: &str| {
            if found != expected {
                failures.push(failure(MANIFEST, format!("`{what}` is {found}, expected {expected}, {of}")));
            }
        };
        let dropped: u64 = funnel.dropped.values().flat_map(BTreeMap::values).sum();
        same("funnel.proposed", funnel.proposed, dropped + tally.rows(), "those dropped and the rows");
        same("plan.rows", plan.rows, tally.rows() + funnel.exhausted, "the rows and the rows without one");
        failures
    }

    /// Checks everything on one thread.
    pub fn check_all(&self) -> Vec<Failure> {
        let mut failures = self.check_files();
        let mut tally = Tally::default();
        for name in self.row_files() {
            let rows = match self.open_rows(name).and_then(|file| file.read()) {
                Ok(rows) => rows,
                Err(error) => {
                    failures.push(failure(name, error.to_string()));
                    continue;
                }
            };
            for row in rows {
                match row {
                    Ok(row) => {
                        failures.extend(self.check_row(name, &row));
                        tally.count(name, &row);
                    }
                    Err(error) => failures.push(failure(name, error.to_string())),
                }
            }
        }
        failures.extend(self.row_files().into_iter().flat_map(|name| self.check_structured(name)));
        failures.extend(self.check_tally(&tally));
        failures
    }

    /// Compares the structured rows of a file with those made from its rows. Reading the rows themselves
    /// reports unreadable ones.
    pub fn check_structured(&self, rows: &str) -> Vec<Failure> {
        // Earlier versions have no structured rows.
        if self.manifest().schema_version < STRUCTURED_VERSION {
            return Vec::new();
        }
        let name = structured_file(rows);
        let open = |name: &str| self.open_rows(name).and_then(|file| file.read());
        let Ok(rows) = open(rows) else { return Vec::new() };
        let mut stored = match open(&name) {
            Ok(stored) => stored,
            Err(error) => return vec![failure(&name, error.to_string())],
        };
        let mut found = 0;
        for row in rows {
            let Ok(row) = row else { return Vec::new() };
            // A row without a structured form is left out.
            let Ok(expected) = make_structured(&row) else { continue };
            let what = match stored.next() {
                Some(Ok(stored)) if stored == expected => {
                    found += 1;
                    continue;
                }
                Some(Ok(_)) => "is not the structured form of its row".to_owned(),
                Some(Err(error)) => error.to_string(),
                None => "is missing".to_owned(),
            };
            return vec![Failure { file: name, row: Some(row.id), what }];
        }
        let expected = self.manifest().files.get(&name).and_then(|entry| entry.rows).unwrap_or(0);
        let more = stored.next().is_some();
        match found == expected && !more {
            true => Vec::new(),
            false => {
                let more = if more { " and more" } else { "" };
                vec![failure(&name, format!("found {found}{more} rows, expected {expected}"))]
            }
        }
    }

    /// Compares the row files with their checksums.
    pub fn check_row_files(&self) -> Vec<Failure> {
        let files =
            self.row_files().into_iter().filter_map(|name| Some((name, self.manifest().files.get(name)?)));
        files.filter_map(|(name, entry)| self.check_file(name, entry)).collect()
    }

    fn check_file(&self, name: &str, entry: &FileEntry) -> Option<Failure> {
        // A file of another size is not read.
        let found = match self.storage().open_file(name) {
            Ok(Some(file)) if file.size() != entry.size => {
                Ok(Some(Fingerprint { size: file.size(), blake3: String::new() }))
            }
            _ => self.storage().fingerprint(name),
        };
        let what = match found {
            Err(error) => error.to_string(),
            Ok(None) => "is missing".to_owned(),
            Ok(Some(Fingerprint { size, .. })) if size != entry.size => {
                format!("found {size} bytes, expected {}", entry.size)
            }
            Ok(Some(Fingerprint { blake3, .. })) if blake3 != entry.blake3 => {
                format!("found checksum {blake3}, expected {}", entry.blake3)
            }
            Ok(Some(_)) => return None,
        };
        Some(failure(name, what))
    }

    fn check_listing(&self) -> Vec<Failure> {
        let manifest = self.manifest();
        let mut failures = Vec::new();
        for (folder, prefix) in
            [("", ""), ("data", "data/"), ("structured", "structured/"), ("worlds", "worlds/")]
        {
            let entries = match self.storage().list(folder) {
                Ok(entries) => entries,
                Err(error) => {
                    failures.push(failure(folder, error.to_string()));
                    continue;
                }
            };
            for name in entries.into_iter().map(|entry| entry.name) {
                // Hidden entries at the top belong to tools such as git and the hub's client. Loaders read
                // neither these nor the reports of a run with a model.
                let beside = [MANIFEST, "data", "structured", "worlds", STEPS, QUALITY];
                let other = folder.is_empty() && (name.starts_with('.') || beside.contains(&name.as_str()));
                let name = format!("{prefix}{name}");
                if !other && !manifest.files.contains_key(&name) {
                    failures.push(failure(&name, "is not in the manifest".to_owned()));
                }
            }
        }
        if !manifest.files.contains_key(CARD) {
            failures.push(failure(MANIFEST, format!("has no entry for {CARD}")));
        }
        for (world, hash) in &manifest.worlds {
            let Some(place) = self.world_place(world) else {
                failures.push(failure(MANIFEST, format!("has no file for world `{world}`")));
                continue;
            };
            let entry = manifest.files.get(&place.file).filter(|_| place.group.is_none());
            if entry.is_some_and(|entry| entry.blake3 != *hash) {
                failures.push(failure(MANIFEST, format!("has two hashes for world `{world}`")));
            }
        }
        for (name, entry) in manifest.files.iter().filter(|(name, _)| name.starts_with("worlds/")) {
            let json = name.strip_prefix("worlds/").and_then(|name| name.strip_suffix(".json"));
            let ids = entry.worlds.iter().map(String::as_str).chain(json);
            for world in ids.filter(|world| !manifest.worlds.contains_key(*world)) {
                failures.push(failure(name, format!("no row names world `{world}`")));
            }
        }
        failures.extend(self.find_gaps().into_iter().map(|what| failure(MANIFEST, what)));
        failures
    }

    /// Returns numbered files that the manifest lacks. The file names contain their total number.
    fn find_gaps(&self) -> Vec<String> {
        let files = &self.manifest().files;
        let mut gaps = Vec::new();
        for split in Split::ALL {
            let prefix = format!("data/{split}-");
            let numbered: Vec<Option<(u64, u64)>> = files
                .keys()
                .filter_map(|name| name.strip_prefix(&prefix)?.strip_suffix(".parquet"))
                .map(|middle| {
                    let (number, count) = middle.split_once("-of-")?;
                    Some((number.parse().ok()?, count.parse().ok()?))
                })
                .collect();
            let found = numbered.len() as u64;
            let complete =
                numbered.iter().enumerate().all(|(index, name)| *name == Some((index as u64, found)));
            if !complete {
                gaps.push(format!(
                    "its {split} files are not a whole series {prefix}00000-of-..., one is left out"
                ));
            }
        }
        let rows_without_count = files.iter().filter(|(name, entry)| is_rows(name) && entry.rows.is_none());
        gaps.extend(rows_without_count.map(|(name, _)| format!("has no row count for {name}")));
        gaps
    }
}

fn list_differing_counts(found: &Counts, expected: &Counts) -> Vec<&'static str> {
    [
        ("dialogues", found.dialogues == expected.dialogues),
        ("calls", found.calls == expected.calls),
        ("turns", found.turns == expected.turns),
        ("splits", found.splits == expected.splits),
        ("abilities", found.abilities == expected.abilities),
        ("domains", found.domains == expected.domains),
        ("tags", found.tags == expected.tags),
        // Earlier versions did not count these.
        ("difficulties", expected.difficulties.is_empty() || found.difficulties == expected.difficulties),
        ("apis", expected.apis.is_empty() || found.apis == expected.apis),
        (
            "sources_called",
            expected.sources_called.is_empty() || found.sources_called == expected.sources_called,
        ),
        ("licenses", found.licenses == expected.licenses),
        ("sources", expected.sources.is_empty() || found.sources == expected.sources),
    ]
    .into_iter()
    .filter(|(_, same)| !same)
    .map(|(name, _)| name)
    .collect()
}

fn repeated(file: &str, id: &str) -> Failure {
    Failure { file: file.to_owned(), row: Some(id.to_owned()), what: "another row has this id".to_owned() }
}

fn failure(file: &str, what: String) -> Failure {
    Failure { file: file.to_owned(), row: None, what }
}
