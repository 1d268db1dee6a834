//! What `diorama eval` reports: the measures, and the shares by ability, depth and phenomenon.

use diorama_llm::Books;
use serde::Serialize;

use super::run::Outcomes;
use crate::evaluation::cells::{Breakdown, Rate};
use crate::evaluation::measures::Results;

/// The report of a run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    agent: String,
    /// Whether the agent is embedded: its figures do not stand beside those of models.
    embedded: bool,
    model: Option<String>,
    #[serde(flatten)]
    pub(super) results: Results,
    #[serde(flatten)]
    breakdown: Breakdown,
    /// What the model was asked and has spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    books: Option<Books>,
}

impl Report {
    pub(super) fn new(
        agent: &str,
        model: Option<&str>,
        outcomes: &Outcomes<'_>,
        books: Option<Books>,
    ) -> Self {
        Self {
            agent: agent.to_owned(),
            embedded: model.is_none(),
            model: model.map(str::to_owned),
            results: outcomes.tally.results(),
            breakdown: outcomes.cells.breakdown(),
            books,
        }
    }

    pub(super) fn table(&self) -> String {
        let Self { agent, results, breakdown, .. } = self;
        let kind = match &self.model {
            Some(model) => format!("with {model}"),
            None => "embedded, no model".to_owned(),
        };
        let mut text = format!("{agent} ({kind}): {} tasks\n", results.tasks);
        let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<18} {value}\n"));
        line("success", rate(&breakdown.success_rate));
        line("correct path", format!("{:.4}", results.correct_path));
        line("Δ length", format!("{:.3}", results.delta_len));
        line("call accuracy", format!("{:.4}", results.call_accuracy));
        line("ROUGE-L", format!("{:.4}", results.rouge_l));
        if let Some(recall) = results.recall_at_5 {
            line("recall@5", format!("{recall:.4}"));
        }
        for (k, share) in &results.pass_k {
            line(&format!("pass^{k}"), format!("{share:.4}"));
        }
        line("without refusals", format!("{:.4}", results.success_without_refusals));
        if breakdown.unfinished > 0 {
            line("unfinished", format!("{} episodes, in no share", breakdown.unfinished));
        }
        if let Some(books) = &self.books {
            let total = &books.total;
            line("requests", format!("{} ({} replayed)", total.calls, total.replayed));
            let (sent, received) = (total.usage.input_tokens, total.usage.output_tokens);
            line("tokens", format!("{sent} sent, {received} received"));
            if books.cost > 0.0 {
                line("cost", format!("{:.4}", books.cost));
            }
        }
        for (dimension, cells) in &breakdown.cells {
            text.push_str(&format!("  by {dimension}\n"));
            for (name, share) in cells {
                text.push_str(&format!("    {name:<28} {}\n", rate(share)));
            }
        }
        for (title, counts) in [
            ("failures", counts(&breakdown.attribution)),
            ("replies that could not be read", counts(&breakdown.malformed)),
            ("other ways taken", counts(&breakdown.fell_back)),
            ("errors", counts(&results.errors)),
        ] {
            if !counts.is_empty() {
                text.push_str(&format!("  {title}\n{counts}"));
            }
        }
        text
    }
}

fn rate(rate: &Rate) -> String {
    format!("{:.4} [{:.4}, {:.4}] {} of {}", rate.share, rate.low, rate.high, rate.solved, rate.of)
}

fn counts<K: Serialize>(counts: &std::collections::BTreeMap<K, u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        let name = serde_json::to_value(name).ok();
        let name = name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        text.push_str(&format!("    {count:>8} {name}\n"));
    }
    text
}
