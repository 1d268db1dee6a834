//! `README.md`: the dataset card, for people and for the Hugging Face hub.
//!
//! The card is a function of the manifest alone, so its bytes do not depend on where or how the dataset was
//! made.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use diorama_seeds::task::Difficulty;
use serde_json::Value as Json;

use crate::columns;
use crate::manifest::{LICENSES, Manifest};
use crate::row::Split;

/// Maximum number of domains in the card. The manifest has all of them.
const DOMAINS_SHOWN: usize = 20;

/// Maximum number of sources in the card.
const SOURCES_SHOWN: usize = 50;
/// Maximum number of licences in the card.
const LICENSES_SHOWN: usize = 40;

/// Maximum number of characters in the name of a licence that the hub does not know.
const MAX_NAME_CHARS: usize = 100;

/// The hub's licence names: lower-case SPDX identifiers, without `-only` and `-or-later`.
const HUB_LICENSES: &str = "\
    apache-2.0 mit cc0-1.0 cc-by-4.0 cc-by-sa-4.0 cc-by-nc-4.0 bsd-2-clause bsd-3-clause odc-by pddl \
    unlicense isc agpl-3.0 gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 mpl-2.0 epl-2.0 cc-by-2.0 cc-by-3.0 \
    cc-by-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-nc-nd-4.0 bsl-1.0 zlib";

/// Returns the text of the card.
pub fn render(manifest: &Manifest) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, so results are dropped throughout.
    write_front_matter(&mut text, manifest);
    write_introduction(&mut text, manifest);
    write_loader(&mut text, manifest);
    write_counts(&mut text, manifest);
    write_funnel(&mut text, manifest);
    let _ = writeln!(text, "## Columns\n\n{}", columns::markdown());
    text.push_str(METHOD);
    text
}

fn write_front_matter(text: &mut String, manifest: &Manifest) {
    text.push_str("---\npretty_name: Diorama dialogues\n");
    match find_hub_license(manifest) {
        Some(name) => {
            let _ = writeln!(text, "license: {name}");
        }
        None => {
            let licenses = manifest.counts.licenses.keys();
            let names = licenses.map(|license| make_identifier(license)).collect::<Vec<_>>().join("-and-");
            let name: String = names.chars().take(MAX_NAME_CHARS).collect();
            let _ = writeln!(text, "license: other\nlicense_name: {}", Json::from(name));
            let _ = writeln!(text, "license_link: {LICENSES}");
        }
    }
    text.push_str("language:\n- en\ntask_categories:\n- text-generation\n");
    text.push_str("tags:\n- tool-use\n- function-calling\n- agents\n- synthetic\n");
    if manifest.benchmark {
        text.push_str("- benchmark\n");
    }
    let _ = writeln!(text, "size_categories:\n- {}", size_category(manifest.counts.dialogues));
    text.push_str("configs:\n");
    for (name, folder) in [("default", "data"), ("structured", "structured"), ("worlds", "worlds")] {
        let _ = writeln!(text, "- config_name: {name}\n  data_files:");
        for split in list_splits(manifest) {
            let _ = writeln!(text, "  - split: {split}\n    path: {folder}/{split}-*.parquet");
        }
    }
    text.push_str("---\n\n");
}

/// Returns the licence file that the card links to, or none if the hub has a name for the licence.
pub fn render_licenses(manifest: &Manifest) -> Option<String> {
    if find_hub_license(manifest).is_some() {
        return None;
    }
    let mut text = String::from(
        "# Licences\n\nEach row names the licence of the world that it was made in, as the world's document states it, in the column \
         `license`.\n\n",
    );
    write_table(&mut text, "license", "dialogues", sort_by_count(&manifest.counts.licenses).into_iter());
    Some(text)
}

fn write_introduction(text: &mut String, manifest: &Manifest) {
    let counts = &manifest.counts;
    let _ = writeln!(
        text,
        "# Diorama dialogues\n\n{} dialogues in which an assistant calls APIs: {} calls in {} user turns, over {} domains \
         of {} worlds. Every reply was computed by the world that the row names; none was written by a model.\n",
        counts.dialogues,
        counts.calls,
        counts.turns,
        counts.domains.len(),
        manifest.worlds.len(),
    );
    if let Some(skeletons) = manifest.skeletons {
        let _ = writeln!(
            text,
            "The reference calls make {skeletons} different sequences of APIs (by their names in the catalog, searches left out).\n"
        );
    }
    if manifest.benchmark {
        text.push_str("**Benchmark worlds were allowed in this dataset. Do not train on it.**\n\n");
    }
    let _ = writeln!(
        text,
        "| | |\n| --- | --- |\n| seed | {} |\n| configuration | `{}` |\n| engine | {} |\n| grader | {} |\n| search | {} |\n| generator | {} |\n",
        manifest.seed,
        manifest.config_hash,
        escape_cell(&manifest.engine_version),
        escape_cell(&manifest.grader_version),
        escape_cell(&manifest.search_version),
        escape_cell(&manifest.generator_version),
    );
}

fn write_loader(text: &mut String, manifest: &Manifest) {
    let split = list_splits(manifest).first().copied().unwrap_or(Split::Train);
    let files = manifest.files.iter().filter(|(name, _)| name.starts_with("structured/"));
    let rows: u64 = files.filter_map(|(_, entry)| entry.rows).sum();
    let _ = writeln!(
        text,
        "## Load\n\n```python\nimport json, os, datasets\nrows = datasets.load_dataset(os.getcwd(), \"structured\", split=\"{split}\")\n\
         messages, tools = rows[0][\"messages\"], json.loads(rows[0][\"tools\"])\n\
         for call in (call for message in messages for call in message[\"tool_calls\"] or []):\n    \
         call[\"function\"][\"arguments\"] = json.loads(call[\"function\"][\"arguments\"])  # chat templates encode \
         them\n```\n\nRun it in this folder, or give the name of the repository for `os.getcwd()`.\n\n\
         - `default` has all columns. Goals end with a message.\n\
         - `structured` is for training: goals end with a call of `finish`, whose arguments the grader reads, and found APIs are \
         called through `call_api`. {rows} rows; it lacks those without a structured form. A message with `train` \
         false has an avoidable error: do not learn from it.\n\
         - `worlds` has the canonical JSON of each world.\n\n\
         `diorama dataset export` writes the formats of trainers. `diorama dataset verify` replays every row.\n"
    );
}

fn write_counts(text: &mut String, manifest: &Manifest) {
    let counts = &manifest.counts;
    text.push_str("## Counts\n\n");
    write_table(text, "split", "dialogues", counts.splits.iter());
    write_table(text, "ability", "dialogues", counts.abilities.iter());
    if !counts.difficulties.is_empty() {
        let bands = Difficulty::ALL.map(|band| band.name().to_owned());
        let counted = bands.iter().filter_map(|band| Some((band, counts.difficulties.get(band)?)));
        write_table(text, "difficulty", "dialogues", counted);
    }
    if !counts.tags.is_empty() {
        let _ = writeln!(text, "| tag | dialogues that have it | share |\n| --- | ---: | ---: |");
        for (name, count) in &counts.tags {
            let share = 100.0 * *count as f64 / counts.dialogues.max(1) as f64;
            let _ = writeln!(text, "| {} | {count} | {share:.1} % |", escape_cell(name));
        }
        text.push('\n');
    }
    write_most(text, "license", &counts.licenses, LICENSES_SHOWN);
    write_most(text, "source", &counts.sources, SOURCES_SHOWN);
    write_most(text, "domain", &counts.domains, DOMAINS_SHOWN);
}

/// Sorts by the number of dialogues, the most first.
fn sort_by_count(counts: &BTreeMap<String, u64>) -> Vec<(&String, &u64)> {
    let mut all: Vec<(&String, &u64)> = counts.iter().collect();
    all.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    all
}

/// Writes a table of the `shown` entries with the most dialogues.
fn write_most(text: &mut String, name: &str, counts: &BTreeMap<String, u64>, shown: usize) {
    if counts.is_empty() {
        return;
    }
    let all = sort_by_count(counts);
    let more = all.len().saturating_sub(shown);
    write_table(text, name, "dialogues", all.into_iter().take(shown));
    if more > 0 {
        let _ = writeln!(text, "and {more} more {name}s, in `manifest.json`.\n");
    }
}

/// Returns the hub's name of a dataset's only licence. Returns none if there are several, or if the hub has
/// no name for it.
fn find_hub_license(manifest: &Manifest) -> Option<&'static str> {
    let mut licenses = manifest.counts.licenses.keys();
    let license = licenses.next().filter(|_| licenses.next().is_none())?;
    find_hub_name(license)
}

/// Returns the hub's name of an SPDX identifier. Example: `agpl-3.0` for `AGPL-3.0-only`.
fn find_hub_name(license: &str) -> Option<&'static str> {
    let lower = license.to_lowercase();
    let bare = lower.strip_suffix("-only").or_else(|| lower.strip_suffix("-or-later")).unwrap_or(&lower);
    HUB_LICENSES.split(' ').find(|name| *name == bare)
}

/// Returns a licence as an identifier for the hub: lower-case letters, digits, dots and hyphens.
fn make_identifier(license: &str) -> String {
    let plain = license.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { ' ' });
    plain.collect::<String>().to_lowercase().split_whitespace().collect::<Vec<_>>().join("-")
}

fn write_funnel(text: &mut String, manifest: &Manifest) {
    let funnel = &manifest.funnel;
    text.push_str("## What was dropped\n\n| gate | reason | tasks |\n| --- | --- | ---: |\n");
    let _ = writeln!(text, "| proposed | | {} |", funnel.proposed);
    for (gate, reasons) in &funnel.dropped {
        for (reason, count) in reasons {
            let _ = writeln!(text, "| {} | {} | {count} |", escape_cell(gate), escape_cell(reason));
        }
    }
    let _ = writeln!(text, "| written | | {} |", funnel.written);
    if funnel.exhausted > 0 {
        let _ = writeln!(
            text,
            "\nFor {} row indexes no task passed every gate; they have no row.",
            funnel.exhausted
        );
    }
    text.push('\n');
    if !funnel.mutants.is_empty() {
        text.push_str("Mutants of reference traces:\n\n| mutation | killed | survived | equivalent |\n| --- | ---: | ---: | ---: |\n");
        for (kind, mutants) in &funnel.mutants {
            let name = escape_cell(kind);
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} |",
                mutants.killed, mutants.survived, mutants.equivalent
            );
        }
        text.push('\n');
    }
}

fn write_table<'a>(
    text: &mut String,
    name: &str,
    what: &str,
    rows: impl Iterator<Item = (&'a String, &'a u64)>,
) {
    let _ = writeln!(text, "| {name} | {what} |\n| --- | ---: |");
    for (name, count) in rows {
        let _ = writeln!(text, "| {} | {count} |", escape_cell(name));
    }
    text.push('\n');
}

/// Escapes text for a table cell. Names come from worlds, which anybody may write.
fn escape_cell(text: &str) -> String {
    text.chars()
        .flat_map(|character| match character {
            '|' | '\\' | '`' | '*' | '<' | '[' => vec!['\\', character],
            character if character.is_control() => vec![' '],
            character => vec![character],
        })
        .collect()
}

fn list_splits(manifest: &Manifest) -> Vec<Split> {
    let has = |split: &Split| {
        let prefix = format!("data/{split}-");
        manifest.files.keys().any(|name| name.starts_with(&prefix))
    };
    Split::ALL.into_iter().filter(has).collect()
}

const fn size_category(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        _ => "n>10M",
    }
}

const METHOD: &str = "\
## Method of each figure

- **dialogues**: rows in the Parquet files. **calls**: tool calls in assistant messages, searches for tools among them. \
**user turns**: messages of role `user`. **domains**, **worlds**: different values among the rows.
- **tags**: rows that list the tag; a row can list several, so the column does not add up to the rows.
- **What was dropped**: every attempt is one proposed task. It is dropped by the first gate it fails and counted there once, \
with the reason that gate gives, or it is written.
- **Mutants**: single changes to a reference trace. *Killed*: the checks then failed, as they must. *Survived*: they still \
passed; the row was dropped. *Equivalent*: by facts of the engine nothing that matters changed, so nothing is proved.
- Diversity (`distinct_2`, `distinct_first3`, `duplicate_rate` at similarities of 0.8 and 0.6, `distinct_apis`) is measured from the rows by `diorama dataset stats`, \
which also states its methods.
- No figure depends on the machine, the number of threads or the number of shards. `manifest.json` has them all, with the \
BLAKE3 checksum of every file.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_an_identifier_of_the_hub() {
        assert_eq!(make_identifier("AGPL-3.0-only"), "agpl-3.0-only");
        assert_eq!(make_identifier("Apache License, Version 2.0"), "apache-license-version-2.0");
        assert_eq!(make_identifier("https://x.org/terms?a=b"), "https-x.org-terms-a-b");
        assert_eq!(find_hub_name("AGPL-3.0-only"), Some("agpl-3.0"));
        assert_eq!(find_hub_name("CC-BY-4.0"), Some("cc-by-4.0"));
        assert_eq!(find_hub_name("unstated"), None);
    }
}
