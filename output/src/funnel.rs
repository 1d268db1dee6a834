//! Owns the funnel of the proposed tasks, and counts over the written rows.
//!
//! Counts are summed over batches, files and shards. Ordered maps and integers make the sums independent of
//! the order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::row::{Dialogue, ability_name};
use crate::skeleton::sources_called;

/// The filter funnel: proposed tasks, dropped tasks by gate and reason, and written rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Funnel {
    /// Attempts made.
    pub proposed: u64,
    /// Attempts dropped, by gate and reason. Reasons are names from a small fixed set.
    pub dropped: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rows for which no attempt passed. The writer counts them.
    pub exhausted: u64,
    /// Rows written. The writer counts them.
    pub written: u64,
    /// Mutants of reference traces, by kind.
    pub mutants: BTreeMap<String, Mutants>,
    /// The use of chat models by step, for written rows and for all others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelUse>,
}

/// The use of a chat model in one step. Only complete replies count, as reported by the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUse {
    /// Replies.
    pub replies: u64,
    /// Tokens in requests.
    pub input_tokens: u64,
    /// Tokens in replies.
    pub output_tokens: u64,
}

impl ModelUse {
    /// Adds another use.
    pub const fn add(&mut self, other: &Self) {
        self.replies += other.replies;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// Counts of mutants of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mutants {
    /// Mutants that failed the checks, as they should.
    pub killed: u64,
    /// Mutants that passed the checks although they changed something. Their rows were dropped.
    pub survived: u64,
    /// Mutants that changed nothing relevant, according to the engine.
    pub equivalent: u64,
}

/// Counts over the written rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Number of rows.
    pub dialogues: u64,
    /// Number of calls in messages, including tool searches.
    pub calls: u64,
    /// Number of user turns.
    pub turns: u64,
    /// Rows by split.
    pub splits: BTreeMap<String, u64>,
    /// Rows by ability.
    pub abilities: BTreeMap<String, u64>,
    /// Rows by domain; a row can have several.
    pub domains: BTreeMap<String, u64>,
    /// Rows by tag; a row can have several.
    pub tags: BTreeMap<String, u64>,
    /// Rows by band of difficulty.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulties: BTreeMap<String, u64>,
    /// Rows that call each API, without `ToolSearcher`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub apis: BTreeMap<String, u64>,
    /// Rows whose reference calls an API, by its source: `domain.Api`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sources_called: BTreeMap<String, u64>,
    /// Rows by licence.
    pub licenses: BTreeMap<String, u64>,
    /// Rows by the source of their world.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, u64>,
}

impl Funnel {
    /// Counts an attempt.
    pub fn propose(&mut self) {
        self.proposed += 1;
    }

    /// Counts an attempt that a gate dropped.
    pub fn drop_at(&mut self, gate: &str, reason: &str) {
        let reasons = self.dropped.entry(gate.to_owned()).or_default();
        *reasons.entry(reason.to_owned()).or_default() += 1;
    }

    /// Returns the dropped attempts by gate: `dropped{gate: n}` of `generate --json`.
    pub fn dropped_by_gate(&self) -> BTreeMap<String, u64> {
        self.dropped.iter().map(|(gate, reasons)| (gate.clone(), reasons.values().sum())).collect()
    }

    /// Adds another funnel.
    pub fn add(&mut self, other: &Self) {
        self.proposed += other.proposed;
        self.exhausted += other.exhausted;
        self.written += other.written;
        for (gate, reasons) in &other.dropped {
            sum_into(self.dropped.entry(gate.clone()).or_default(), reasons);
        }
        for (kind, mutants) in &other.mutants {
            let sum = self.mutants.entry(kind.clone()).or_default();
            sum.killed += mutants.killed;
            sum.survived += mutants.survived;
            sum.equivalent += mutants.equivalent;
        }
        for (step, uses) in &other.models {
            self.models.entry(step.clone()).or_default().add(uses);
        }
    }

    /// Returns the use of chat models, summed over all steps.
    pub fn model_use(&self) -> ModelUse {
        let mut sum = ModelUse::default();
        self.models.values().for_each(|uses| sum.add(uses));
        sum
    }
}

impl Counts {
    /// Counts a row.
    pub fn count(&mut self, row: &Dialogue) {
        self.dialogues += 1;
        self.calls += row.calls();
        self.turns += row.turns();
        bump(&mut self.splits, row.split.as_str());
        bump(&mut self.abilities, ability_name(row.ability));
        row.difficulty.iter().for_each(|band| bump(&mut self.difficulties, band.name()));
        row.domains.iter().for_each(|domain| bump(&mut self.domains, domain));
        bump(&mut self.licenses, &row.license);
        bump(&mut self.sources, &row.source);
        let called = row.messages.iter().flat_map(|message| &message.tool_calls);
        let mut called: Vec<&str> = called.map(|call| &*call.function.name).collect();
        called.sort_unstable();
        called.dedup();
        called.into_iter().filter(|name| *name != "ToolSearcher").for_each(|name| bump(&mut self.apis, name));
        sources_called(row).iter().for_each(|source| bump(&mut self.sources_called, source));
        // A tag that is listed twice counts once.
        for (index, name) in row.tags.iter().enumerate() {
            if !row.tags.iter().take(index).any(|earlier| earlier == name) {
                bump(&mut self.tags, name);
            }
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.dialogues += other.dialogues;
        self.calls += other.calls;
        self.turns += other.turns;
        sum_into(&mut self.splits, &other.splits);
        sum_into(&mut self.abilities, &other.abilities);
        sum_into(&mut self.domains, &other.domains);
        sum_into(&mut self.tags, &other.tags);
        sum_into(&mut self.difficulties, &other.difficulties);
        sum_into(&mut self.apis, &other.apis);
        sum_into(&mut self.sources_called, &other.sources_called);
        sum_into(&mut self.licenses, &other.licenses);
        sum_into(&mut self.sources, &other.sources);
    }
}

fn bump(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

fn sum_into(sums: &mut BTreeMap<String, u64>, other: &BTreeMap<String, u64>) {
    for (name, count) in other {
        *sums.entry(name.clone()).or_default() += count;
    }
}
