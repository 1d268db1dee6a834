//! Owns the report that `generate` prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use diorama_output::dataset::Summary;
use diorama_output::documents::{DocumentReport, NO_TURN};
use diorama_proof::Gate;
use serde_json::json;

use super::Generate;
use super::closing::closing;
use crate::cli::Streams;
use crate::cli::error::CliError;
use crate::cli::inputs::RefusedDocument;
use crate::rows::uses::Use;

/// Formats the funnel: proposed tasks, losses with their reasons, and written rows.
pub(super) fn funnel(summary: &Summary) -> String {
    let mut text = String::new();
    let funnel = &summary.funnel;
    let _ = writeln!(text, "{:>10}  tasks proposed", funnel.proposed);
    let order = ["query", "query_rewrite", "duplicate", "caller"]
        .into_iter()
        .chain(Gate::ALL.iter().map(|gate| gate.name()))
        .chain(["tester", "difficulty"]);
    for step in order {
        let Some(reasons) = funnel.dropped.get(step) else { continue };
        let count = format!("-{}", reasons.values().sum::<u64>());
        let who = if Gate::ALL.iter().any(|gate| gate.name() == step) { "gate" } else { "step" };
        let _ = writeln!(text, "{count:>10}  dropped by the {who} {step}");
        let mut reasons: Vec<(&String, &u64)> = reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), (*reason).clone()));
        for (reason, count) in reasons.into_iter().take(6) {
            let _ = writeln!(text, "{count:>18}  {reason}");
        }
    }
    if funnel.exhausted > 0 {
        let _ = writeln!(text, "{:>10}  rows given up: no attempt passed the gates", funnel.exhausted);
    }
    let _ = writeln!(text, "{:>10}  written", summary.counts.dialogues);
    if !funnel.mutants.is_empty() {
        text.push_str("Reference solutions with one mistake, which the grader must reject:\n");
    }
    for (kind, mutants) in &funnel.mutants {
        let [rejected, accepted, same] = [mutants.killed, mutants.survived, mutants.equivalent];
        let _ = writeln!(
            text,
            "{rejected:>10}  {kind} rejected, {accepted} accepted ({same} more change nothing)"
        );
    }
    text
}

/// Maximum number of reasons in a table.
const MAX_REASONS: usize = 10;

/// Result of a run over a folder of documents.
pub(super) struct Outcome<'a> {
    /// Counts over the rows.
    pub(super) summary: &'a Summary,
    /// Reports on the documents.
    pub(super) reports: &'a [DocumentReport],
    /// Duration in seconds.
    pub(super) seconds: f64,
}

/// Prints the result of a run over a folder: data on stdout, and a short table on stderr.
///
/// # Errors
/// Returns an error if stdout cannot be written.
pub(super) fn report(
    command: &Generate,
    outcome: &Outcome<'_>,
    streams: &mut Streams<'_>,
) -> Result<(), CliError> {
    let Outcome { summary, reports, seconds } = *outcome;
    // A closed stderr must not end the work.
    let _ = streams.err.write_all(table(reports).as_bytes());
    let refused: Vec<RefusedDocument> = reports
        .iter()
        .filter(|report| report.name.is_empty())
        .map(|report| RefusedDocument {
            document: report.document.clone(),
            reason: report.failed.clone().unwrap_or_default(),
        })
        .collect();
    let data = json!({
        "dialogues": summary.counts.dialogues,
        "worlds": summary.worlds.len(),
        "domains": summary.counts.domains.len(),
        "apis": reports.iter().map(|report| report.operations).sum::<u64>(),
        "proposed": summary.funnel.proposed,
        "dropped": summary.funnel.dropped_by_gate(),
        "abilities": summary.counts.abilities,
        "seconds": seconds,
        "uses": uses(reports),
        "refused": refused,
        "documents": reports,
        "skeletons": summary.skeleton_count,
        "shard": command.shard,
        "out": command.out.to_string(),
    });
    streams.print(&data, || {
        let closing = closing(summary.counts.dialogues, &command.out, seconds);
        format!("{}{closing}", funnel(summary))
    })
}

/// Returns the operations of all documents, with the number of dialogues that call each.
fn uses(reports: &[DocumentReport]) -> Vec<Use> {
    let of_document = |report: &DocumentReport| {
        let entry = |api: &String, dialogues: u64, why: Option<String>| Use {
            domain: report.name.clone(),
            api: api.clone(),
            dialogues,
            why,
        };
        let asked = report.asked.iter().map(|(api, rows)| entry(api, *rows, None));
        let unasked = report
            .unasked
            .iter()
            .flat_map(|(why, apis)| apis.iter().map(|api| entry(api, 0, Some(why.clone()))));
        asked.chain(unasked).collect::<Vec<_>>()
    };
    reports.iter().flat_map(of_document).collect()
}

/// Formats the totals, and the most frequent reasons for which documents and operations give no rows.
fn table(reports: &[DocumentReport]) -> String {
    let giving = reports.iter().filter(|report| report.rows > 0).count();
    let refused = reports.iter().filter(|report| report.name.is_empty()).count();
    let operations: u64 = reports.iter().map(|report| report.operations).sum();
    let asked: usize = reports.iter().map(|report| report.asked.len()).sum();
    let none = reports.len() - giving - refused;
    let mut text = format!(
        "documents: {}, of which {giving} give rows, {none} give none, and {refused} have no world\n\
         operations: {operations}, of which {asked} are in rows\n",
        reports.len()
    );
    let mut of_documents: BTreeMap<&str, u64> = BTreeMap::new();
    for report in reports.iter().filter(|report| report.rows == 0) {
        let most = report.unasked.iter().max_by_key(|(_, apis)| apis.len()).map(|(why, _)| why.as_str());
        *of_documents.entry(report.failed.as_deref().or(most).unwrap_or(NO_TURN)).or_default() += 1;
    }
    let mut of_operations: BTreeMap<&str, u64> = BTreeMap::new();
    for (why, apis) in reports.iter().flat_map(|report| &report.unasked) {
        *of_operations.entry(why).or_default() += apis.len() as u64;
    }
    for (title, counts) in [
        ("documents without rows, by their main reason", of_documents),
        ("operations in no row, by reason", of_operations),
    ] {
        if counts.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}:");
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), *why));
        let rest: u64 = counts.iter().skip(MAX_REASONS).map(|(_, count)| count).sum();
        for (why, count) in counts.iter().take(MAX_REASONS) {
            let _ = writeln!(text, "{count:>10}  {why}");
        }
        if rest > 0 {
            let _ = writeln!(text, "{rest:>10}  for other reasons");
        }
    }
    let _ = writeln!(text, "documents.json of the dataset says it of each document");
    text
}
