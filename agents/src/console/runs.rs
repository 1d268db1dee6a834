//! Owns the stored runs of `eval --out`. An index of each is in memory, and each shown episode is read again
//! from its file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use diorama_baselines::shares::{Rate, Share};
use diorama_console::{
    Episode, EpisodeFilter, EpisodePage, EpisodePair, EpisodeSummary, PassRate, ReadError, RunComparison,
    RunSummary, Runs, ShareInterval,
};
use serde_json::{Map, Value as Json, json};

use super::rows::{DatasetRows, list};
use super::steps::turns;
use crate::cli::error::CliError;
use crate::evaluation::batch;
use crate::evaluation::measures::word_of;
use crate::evaluation::paired::{Difference, Rank, keep};
use crate::evaluation::results::pass_rates;

const EPISODES: &str = "episodes.jsonl";
const OPTIONS: &str = "run.json";

/// StoredRun runs, for the console.
pub(crate) struct StoredRuns {
    runs: Vec<StoredRun>,
    summaries: Vec<RunSummary>,
    rows: Option<DatasetRows>,
}

/// A run: its file, and the members of its episodes that filters need.
struct StoredRun {
    file: PathBuf,
    index: Vec<Entry>,
}

struct Entry {
    summary: EpisodeSummary,
    /// Offset and length of the line, in bytes.
    place: (u64, usize),
}

impl StoredRuns {
    /// Builds the index of the runs. The dataset gives domains and references of their episodes.
    ///
    /// # Errors
    /// Returns an error if a folder holds no run, or if a line is not an episode.
    pub(crate) fn open(folders: &[PathBuf], rows: Option<DatasetRows>) -> Result<Self, CliError> {
        let (mut runs, mut summaries) = (Vec::new(), Vec::new());
        for folder in folders {
            let (stored, summary) = open_one(folder, rows.as_ref())?;
            runs.push(stored);
            summaries.push(summary);
        }
        Ok(Self { runs, summaries, rows })
    }
}

fn open_one(folder: &Path, rows: Option<&DatasetRows>) -> Result<(StoredRun, RunSummary), CliError> {
    let file = folder.join(EPISODES);
    let unreadable = |source| CliError::Read { path: file.clone(), source };
    let mut reader = BufReader::new(File::open(&file).map_err(unreadable)?);
    let (mut index, mut shares) = (Vec::new(), Shares::default());
    let (mut failures, mut errors) = (BTreeMap::new(), BTreeMap::new());
    let (mut agent, mut start, mut line) = (String::new(), 0, Vec::new());
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).map_err(unreadable)?;
        // A line that is still being written is skipped.
        if !line.ends_with(b"\n") {
            break;
        }
        let episode: batch::Episode = serde_json::from_slice(&line).map_err(|error| {
            let what = format!("{error}; expected an episode as `eval --out` writes it");
            CliError::Empty(format!("{}, line {}: {what}", file.display(), index.len() + 1))
        })?;
        let domains = rows.and_then(|rows| rows.domains(&episode.task)).unwrap_or_default();
        let summary = summarise(&episode, index.len(), domains);
        if episode.counts() {
            shares.add(&episode, rows, &summary.domains);
            summary.errors.iter().collect::<BTreeSet<_>>().into_iter().for_each(|error| {
                *errors.entry(error.clone()).or_insert(0) += 1;
            });
        }
        if let Some(failure) = summary.failure.clone().filter(|_| !episode.is_unfinished()) {
            *failures.entry(failure).or_insert(0) += 1;
        }
        agent = episode
            .model
            .as_ref()
            .map_or_else(|| episode.agent.clone(), |model| format!("{} with {model}", episode.agent));
        index.push(Entry { summary, place: (start, length) });
        start += length as u64;
    }
    let pass_k = shares.pass_rates();
    let (success, shares) = shares.rates();
    let summary = RunSummary {
        name: folder.display().to_string(),
        agent,
        success,
        shares,
        pass_k,
        failures: list(&failures),
        errors: list(&errors),
        facts: facts(folder),
    };
    Ok((StoredRun { file, index }, summary))
}

/// Returns the options of a run that were set.
fn facts(folder: &Path) -> Vec<(String, String)> {
    let text = std::fs::read(folder.join(OPTIONS)).unwrap_or_default();
    let options: Map<String, Json> = serde_json::from_slice(&text).unwrap_or_default();
    let is_given = |value: &Json| match value {
        Json::Null | Json::Bool(false) => false,
        Json::Array(items) => !items.is_empty(),
        _ => true,
    };
    let given = options.into_iter().filter(|(_, value)| is_given(value));
    given
        .map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

fn summarise(episode: &batch::Episode, position: usize, domains: Vec<String>) -> EpisodeSummary {
    EpisodeSummary {
        position,
        task: episode.task.clone(),
        trial: episode.trial,
        is_faulty: !episode.faults.is_empty(),
        success: episode.grade.success,
        excluded: !episode.counts(),
        failure: episode.attribution.map(word_of),
        errors: episode.grade.errors.iter().map(|error| word_of(error.class)).collect(),
        domains,
        calls: episode.calls(),
        tokens: episode.tokens,
    }
}

/// Results of the trials of each task, over all counted episodes and by heading and name.
#[derive(Default)]
struct Shares {
    whole: BTreeMap<String, Share>,
    /// Those of episodes without faults.
    faultless: BTreeMap<String, Share>,
    by: BTreeMap<(&'static str, String), BTreeMap<String, Share>>,
}

/// Shares of success under each heading, by name.
type Headings = Vec<(String, Vec<(String, ShareInterval)>)>;

impl Shares {
    fn add(&mut self, episode: &batch::Episode, rows: Option<&DatasetRows>, domains: &[String]) {
        let (task, success) = (&episode.task, episode.grade.success);
        self.whole.entry(task.clone()).or_default().add(success);
        if episode.faults.is_empty() {
            self.faultless.entry(task.clone()).or_default().add(success);
        }
        let mut add = |heading: &'static str, name: &str| {
            let tasks = self.by.entry((heading, name.to_owned())).or_default();
            tasks.entry(task.clone()).or_default().add(success);
        };
        domains.iter().for_each(|domain| add("Domain", domain));
        if let Some((ability, tags)) = rows.and_then(|rows| rows.ability_and_tags(task)) {
            add("Ability", ability);
            tags.iter().for_each(|tag| add("Tag", tag));
        }
    }

    /// Returns pass^k for each k from 2 on.
    fn pass_rates(&self) -> Vec<PassRate> {
        let tasks = self.faultless.values().map(|share| (share.of as usize, share.all as usize));
        let rates = (1..).zip(pass_rates(&tasks.collect::<Vec<_>>()));
        rates.skip(1).map(|(k, rate)| PassRate { k, share: rate.share, tasks: rate.tasks }).collect()
    }

    fn rates(self) -> (ShareInterval, Headings) {
        let of = |tasks: BTreeMap<String, Share>| interval(&tasks.into_values().collect::<Vec<_>>());
        let mut headings: Headings =
            ["Domain", "Ability", "Tag"].map(|heading| (heading.to_owned(), Vec::new())).into();
        for ((heading, name), tasks) in self.by {
            let found = headings.iter_mut().find(|(own, _)| own == heading);
            found.into_iter().for_each(|(_, shares)| shares.push((name.clone(), of(tasks.clone()))));
        }
        headings.retain(|(_, shares)| !shares.is_empty());
        (of(self.whole), headings)
    }
}

fn interval(tasks: &[Share]) -> ShareInterval {
    let Rate { solved, of, share, low, high } = Rate::of_tasks(tasks);
    ShareInterval { solved, of, share, low, high }
}

fn is_taken(summary: &EpisodeSummary, filter: &EpisodeFilter<'_>) -> bool {
    filter.success.is_none_or(|success| success == summary.success)
        && filter.failure.is_none_or(|failure| summary.failure.as_deref() == Some(failure))
        && filter.error.is_none_or(|error| summary.errors.iter().any(|own| own == error))
        && filter.domain.is_none_or(|domain| summary.domains.iter().any(|own| own == domain))
}

impl Runs for StoredRuns {
    fn list(&self) -> &[RunSummary] {
        &self.summaries
    }

    fn find(&self, run: usize, filter: &EpisodeFilter<'_>, offset: usize, limit: usize) -> EpisodePage {
        let index = self.runs.get(run).map_or(&[][..], |run| &run.index);
        let taken: Vec<&EpisodeSummary> =
            index.iter().map(|entry| &entry.summary).filter(|summary| is_taken(summary, filter)).collect();
        let episodes = taken.iter().skip(offset).take(limit).map(|summary| (*summary).clone()).collect();
        EpisodePage { total: taken.len(), episodes }
    }

    fn episode(&self, run: usize, position: usize) -> Result<Option<Episode>, ReadError> {
        let Some(stored) = self.runs.get(run) else { return Ok(None) };
        let Some(entry) = stored.index.get(position) else { return Ok(None) };
        let unreadable = |error: std::io::Error| ReadError(format!("{}: {error}", stored.file.display()));
        let read = || {
            let (start, length) = entry.place;
            let mut bytes = vec![0; length];
            let mut file = File::open(&stored.file)?;
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
            serde_json::from_slice(&bytes).map_err(std::io::Error::other)
        };
        let episode: batch::Episode = read().map_err(unreadable)?;
        let row = self.rows.as_ref().map(|rows| rows.dialogue(&episode.task)).transpose()?.flatten();
        Ok(Some(Episode {
            summary: entry.summary.clone(),
            turns: turns(&episode, row.as_ref()),
            grade: json!(episode.grade),
            reference: row.as_ref().map(super::turns::turns),
        }))
    }

    fn compare(&self, first: usize, second: usize) -> Option<RunComparison> {
        let counted = |run: usize| {
            let mut found: BTreeMap<(&str, u32), (Rank, &EpisodeSummary)> = BTreeMap::new();
            let entries = self.runs.get(run).map_or(&[][..], |run| &run.index).iter();
            for one in entries.map(|entry| &entry.summary) {
                let rank = (one.is_faulty, (!one.excluded).then_some(one.success));
                keep(&mut found, (&one.task, one.trial), rank, one);
            }
            found.retain(|_, ((_, solved), _)| solved.is_some());
            found
        };
        let others = counted(second);
        let pairs: Vec<(&EpisodeSummary, &EpisodeSummary)> = counted(first)
            .into_iter()
            .filter_map(|(key, (_, one))| Some((one, others.get(&key)?.1)))
            .collect();
        let verdicts = pairs.iter().map(|(one, other)| (&*one.task, (one.success, other.success)));
        let Difference { both, first_only, second_only, neither, difference, low, high, p, .. } =
            Difference::of(verdicts)?;
        let differing = pairs.into_iter().filter(|(one, other)| one.success != other.success);
        let differing =
            differing.map(|(one, other)| EpisodePair { first: one.clone(), second: other.clone() }).collect();
        Some(RunComparison { both, first_only, second_only, neither, difference, low, high, p, differing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a line of a run. The verdicts on its goals are not needed.
    fn line(task: &str, trial: u32, success: bool, failure: Option<&str>) -> String {
        let verdict = if success { "passed" } else { "failed" };
        let errors = if success { json!([]) } else { json!([{"class": "missing_fact", "message": "<b>"}]) };
        json!({
            "episode": 1, "task": task, "trial": trial, "seed": 1, "agent": "oracle", "model": null, "answers": "structured",
            "grade": {
                "version": "grade/4", "success": success, "reward": 0.0, "goals": [], "errors": errors,
                "components": {"outcome": verdict, "change": verdict, "damage": verdict, "answer": verdict, "evidence": verdict},
            },
            "attribution": failure, "stopped": null, "tokens": 0,
            "steps": [{"step": "called", "api": "Get", "arguments": {"id": 1}, "status": 200, "body": {"a": 1}}],
        })
        .to_string()
    }

    #[test]
    fn a_run_is_summed_up_filtered_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let lines = [
            line("t1", 0, true, None),
            line("t1", 1, true, None),
            line("t2", 0, false, Some("wrong_argument")),
            line("t2", 1, false, Some("gave_up")),
        ];
        // The last line is still being written.
        std::fs::write(folder.path().join(EPISODES), format!("{}\n{{\"episode\":1", lines.join("\n")))
            .unwrap();
        let runs = StoredRuns::open(&[folder.path().to_owned()], None).unwrap();
        let [run] = runs.list() else { panic!("one run") };
        assert_eq!((run.agent.as_str(), run.success.solved, run.success.of), ("oracle", 2, 4));
        // Trials of a task with equal results count as one, so that the interval is that of 1 of 2.
        let of_two = Rate::from(Share { of: 1, all: 2 });
        assert!((run.success.low - of_two.low).abs() < 1e-9, "{:?}", run.success);
        let counts = |counts: &[diorama_console::Count]| {
            counts.iter().map(|count| (count.name.clone(), count.count)).collect::<Vec<_>>()
        };
        assert_eq!(counts(&run.failures), [("gave_up".to_owned(), 1), ("wrong_argument".to_owned(), 1)]);
        assert_eq!(counts(&run.errors), [("missing_fact".to_owned(), 2)]);
        let found = |filter: EpisodeFilter<'_>| {
            let page = runs.find(0, &filter, 0, 10);
            page.episodes.iter().map(|episode| episode.position).collect::<Vec<_>>()
        };
        assert_eq!(found(EpisodeFilter::default()), [0, 1, 2, 3]);
        assert_eq!(found(EpisodeFilter { success: Some(false), ..EpisodeFilter::default() }), [2, 3]);
        assert_eq!(found(EpisodeFilter { failure: Some("gave_up"), ..EpisodeFilter::default() }), [3]);
        assert_eq!(found(EpisodeFilter { error: Some("missing_fact"), ..EpisodeFilter::default() }), [2, 3]);
        let page = runs.find(0, &EpisodeFilter::default(), 3, 10);
        assert_eq!((page.total, page.episodes.len()), (4, 1));
        let episode = runs.episode(0, 2).unwrap().unwrap();
        assert_eq!((episode.summary.task.as_str(), episode.turns.len(), episode.reference), ("t2", 1, None));
        assert!(runs.episode(0, 4).unwrap().is_none() && runs.episode(1, 0).unwrap().is_none());
    }

    #[test]
    fn two_runs_are_compared_by_task_and_trial() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = |number: usize, lines: &[String]| {
            std::fs::write(folders[number].path().join(EPISODES), format!("{}\n", lines.join("\n"))).unwrap();
        };
        store(0, &[line("t1", 0, true, None), line("t1", 1, false, None), line("t2", 0, false, None)]);
        store(1, &[line("t3", 0, true, None), line("t1", 1, true, None), line("t1", 0, true, None)]);
        let paths = folders.each_ref().map(|folder| folder.path().to_owned());
        let runs = StoredRuns::open(&paths, None).unwrap();
        let compared = runs.compare(0, 1).unwrap();
        let counts = (compared.both, compared.first_only, compared.second_only, compared.neither);
        assert_eq!(counts, (1, 0, 1, 0));
        assert_eq!(compared.difference, 0.5);
        let differing: Vec<_> =
            compared.differing.iter().map(|pair| (pair.first.position, pair.second.position)).collect();
        assert_eq!(differing, [(1, 1)]);
        assert_eq!(runs.compare(0, 2), None);
        assert_eq!(runs.list()[0].pass_k, [PassRate { k: 2, share: 0.0, tasks: 1 }]);
    }

    #[test]
    fn a_line_that_is_no_episode_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(EPISODES), format!("{}\n{{}}\n", line("t", 0, true, None)))
            .unwrap();
        let error = StoredRuns::open(&[folder.path().to_owned()], None).err().unwrap().to_string();
        assert!(error.contains("line 2: missing field `episode`"), "{error}");
    }
}
