//! Owns the report of `diorama eval`: the measures, and the shares by ability, depth, tag and pool.

use std::collections::BTreeMap;

use diorama_engine::fault::Rule;
use diorama_llm::{Prices, UsageReport};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::evaluation::measures::word_of;
use crate::evaluation::page::in_order;
use crate::evaluation::paired::Difference;
use crate::evaluation::results::{PassRate, Results, success_rate, usage};
use crate::evaluation::run::Outcome;
use crate::evaluation::shares::Rate;

/// Report of a run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    agent: String,
    /// True for an agent without a model, whose figures are not comparable with those of models.
    scripted: bool,
    model: Option<String>,
    /// Model that filled in `finish` from the agent's messages. The figures then measure both models and are
    /// no reward.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers_transcribed_by: Option<String>,
    #[serde(flatten)]
    pub(super) results: Results,
    /// Effect of faults, if the run injects them.
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<UnderFaults>,
    /// Cost of the tokens of all episodes including resumed ones, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// Requests and spending of the model since the run was last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_report: Option<UsageReport>,
    /// Options of the run.
    run: Map<String, Json>,
}

/// Results of the same episodes without and with faults.
#[derive(Debug, Serialize)]
struct UnderFaults {
    rules: Vec<Rule>,
    /// Success without faults.
    without: Rate,
    /// Success with faults. Excluded episodes count as failures.
    counting_excluded: Rate,
    /// Paired difference of each episode with and without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop: Option<Difference>,
}

/// Agent of the run.
pub(super) struct Who<'a> {
    pub(super) agent: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) transcriber: Option<&'a str>,
    pub(super) faults: &'a [Rule],
}

impl Report {
    pub(super) fn new(
        who: &Who<'_>,
        outcome: &Outcome,
        usage_report: Option<UsageReport>,
        prices: Option<Prices>,
        run: Map<String, Json>,
    ) -> Self {
        let usage = usage(&outcome.episodes).plus(usage(&outcome.without));
        let finished = || outcome.episodes.iter().filter(|episode| !episode.unfinished);
        let pairs = outcome.without.iter().zip(&outcome.episodes);
        let pairs = pairs.filter(|(before, under)| before.counts() && !under.unfinished);
        let faults = (!who.faults.is_empty()).then(|| UnderFaults {
            rules: who.faults.to_vec(),
            without: success_rate(Outcome::counted(&outcome.without)),
            counting_excluded: success_rate(finished()),
            drop: Difference::of(
                pairs.map(|(before, under)| (&*before.task, (before.success, under.success))),
            ),
        });
        Self {
            agent: who.agent.to_owned(),
            scripted: who.model.is_none(),
            model: who.model.map(str::to_owned),
            answers_transcribed_by: who.transcriber.map(str::to_owned),
            results: Results::of(&outcome.episodes),
            faults,
            cost: prices.map(|prices| prices.cost(usage)).filter(|cost| *cost > 0.0),
            usage_report,
            run,
        }
    }

    pub(super) fn table(&self) -> String {
        let Self { agent, results, .. } = self;
        let kind = match &self.model {
            Some(model) => format!("with {model}"),
            None => "scripted, no model".to_owned(),
        };
        let mut text = format!("{agent} ({kind}): {} tasks\n", results.tasks);
        if let Some(model) = &self.answers_transcribed_by {
            text.push_str(&format!("  answers were transcribed by {model}: not a reward\n"));
        }
        for (name, value) in self.figures() {
            text.push_str(&format!("  {name:<18} {value}\n"));
        }
        for dimension in ["ability", "difficulty", "depth", "tag", "pool"] {
            let Some(cells) = results.cells.get(dimension) else { continue };
            text.push_str(&format!("  by {dimension}\n"));
            for name in in_order(cells.keys()) {
                text.push_str(&format!("    {name:<28} {}\n", rate(&cells[name].rate)));
            }
        }
        for (title, counts) in [
            ("failures", counts(&results.attribution)),
            ("replies that could not be read", counts(&results.malformed)),
            ("other ways taken", counts(&results.fell_back)),
            ("errors", counts(&results.errors)),
        ] {
            if !counts.is_empty() {
                text.push_str(&format!("  {title}\n{counts}"));
            }
        }
        text
    }

    /// Returns the figures of the whole run, by name.
    fn figures(&self) -> Vec<(String, String)> {
        let results = &self.results;
        let effort = &results.effort;
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        let measured = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.digits$}"))
        };
        line("success", rate(&results.success_rate));
        if let Some(faults) = &self.faults {
            line("without faults", rate(&faults.without));
            line("excluded counted", rate(&faults.counting_excluded));
            if let Some(drop) = &faults.drop {
                line("change by faults", difference(drop));
            }
        }
        line("partial credit", measured(results.partial_credit, 4));
        line("correct path", measured(results.correct_path, 4));
        line("Δ solution length", measured(results.delta_solution_length, 3));
        line("call accuracy", measured(results.call_accuracy, 4));
        line("ROUGE-L", measured(results.rouge_l, 4));
        if let Some(found) = &results.retrieval {
            let by_k = |shares: &BTreeMap<usize, f64>| {
                shares.iter().map(|(k, share)| format!("@{k} {share:.4}")).collect::<Vec<_>>().join("  ")
            };
            line("recall", by_k(&found.recall));
            line("completeness", by_k(&found.completeness));
        }
        for (k, PassRate { share, tasks }) in &results.pass_k {
            line(&format!("pass^{k}"), format!("{share:.4} over {tasks} tasks of {k} trials and more"));
        }
        line("without refusals", measured(results.success_without_refusals, 4));
        line("calls", format!("{:.2} an episode", effort.calls));
        if let (Some(p50), Some(p95)) = (effort.seconds_p50, effort.seconds_p95) {
            line("seconds", format!("{p50:.2} (median), {p95:.2} (95 of 100)"));
        }
        if results.excluded > 0 {
            line("excluded", format!("{} failed episodes, in no share", results.excluded));
        }
        if results.unfinished > 0 {
            line("unfinished", format!("{} episodes, in no share", results.unfinished));
        }
        if let Some(usage_report) = &self.usage_report {
            let total = &usage_report.total;
            line("requests", format!("{} ({} replayed)", total.calls, total.replayed));
            let (sent, received) = (effort.sent, effort.received);
            line("tokens", format!("{sent} sent, {received} received, {:.0} an episode", effort.tokens));
        }
        if let Some(cost) = self.cost {
            let solved = results.success_rate.solved.max(1) as f64;
            line("cost", format!("{cost:.4}, {:.4} a solved episode", cost / solved));
        }
        lines
    }
}

pub(super) fn rate(rate: &Rate) -> String {
    if rate.of == 0 {
        return "not measured: no episode counts".to_owned();
    }
    format!("{:.4} [{:.4}, {:.4}] {} of {}", rate.share, rate.low, rate.high, rate.solved, rate.of)
}

pub(super) fn difference(difference: &Difference) -> String {
    let Difference { pairs, first_only, second_only, difference, low, high, p, .. } = difference;
    format!(
        "{difference:+.4} [{low:+.4}, {high:+.4}] over {pairs} pairs: {first_only} lost, {second_only} gained, p {p:.2e}"
    )
}

fn counts<K: Serialize>(counts: &BTreeMap<K, u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        text.push_str(&format!("    {count:>8} {}\n", word_of(name)));
    }
    text
}
