//! Outcomes of cases, and their totals by group.

use std::collections::BTreeMap;

use diorama_baselines::shares::{Rate, Share};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Maximum number of groups of a dimension in tables. JSON has all of them.
const MAX_GROUPS_IN_TABLE: usize = 8;
/// Width of the names in tables, in characters.
const NAME_COLUMNS: usize = 48;

/// A measure: its key in JSON, and its name in tables.
pub type Measure = (&'static str, &'static str);

/// The outcome of one case.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Name of the case.
    pub case: String,
    /// Groups of the case: dimension and name, such as `level` and `2`.
    #[serde(serialize_with = "as_map")]
    pub groups: Vec<(&'static str, String)>,
    /// Measures that are shares: 0 or 1 of 1, or a part of the case.
    pub shares: BTreeMap<&'static str, Share>,
    /// Numeric measures, which a summary averages.
    pub numbers: BTreeMap<&'static str, f64>,
    /// The class of the case's error, by kind of class.
    pub errors: BTreeMap<&'static str, String>,
    /// Remarks, which tables show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Details for people.
    #[serde(flatten)]
    pub details: Map<String, Json>,
    /// The reason for missing measures: the model or its server failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Reason of the agent for giving up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gave_up: Option<String>,
    /// Number of malformed replies of the model.
    pub malformed: u32,
    /// Tokens of the model.
    pub tokens: u64,
}

fn as_map<S: serde::Serializer>(groups: &[(&'static str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(groups.iter().map(|(dimension, name)| (dimension, name)))
}

impl Outcome {
    /// Returns the outcome of a case, without measures.
    #[must_use]
    pub fn new(case: impl Into<String>) -> Self {
        Self { case: case.into(), ..Self::default() }
    }

    /// Adds a measure with a yes or no result.
    pub fn share(&mut self, measure: &'static str, holds: bool) {
        self.part(measure, u64::from(holds), 1);
    }

    /// Adds a measure as a part of the case.
    pub fn part(&mut self, measure: &'static str, of: u64, all: u64) {
        self.shares.insert(measure, Share { of, all });
    }

    /// Adds a detail.
    pub fn detail(&mut self, name: &str, value: impl Into<Json>) {
        self.details.insert(name.to_owned(), value.into());
    }
}

/// A mean of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Number of values.
    pub of: u64,
}

/// A measure over the cases of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A share with its interval.
    Rate(Rate),
    /// A mean.
    Mean(Mean),
}

/// The totals of outcomes. Cases without an end, because the model failed, are in no measure.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The agent, or the replayed calls.
    pub agent: String,
    /// The model, if the agent asks one.
    pub model: Option<String>,
    /// The setting, such as `{"candidates": "10"}`.
    pub setting: BTreeMap<&'static str, String>,
    /// Number of cases.
    pub cases: usize,
    /// Measures over `all` and by group (`level 2`). Empty if no case has the measure.
    pub measures: IndexMap<&'static str, IndexMap<String, Figure>>,
    /// Counts of errors by class.
    pub errors: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Number of cases without an end, because the model failed.
    pub unfinished: usize,
    /// Tokens of the model.
    pub tokens: u64,
    /// The cases.
    pub outcomes: Vec<Outcome>,
    #[serde(skip)]
    names: &'static [Measure],
}

#[derive(Default)]
struct Sum {
    share: Share,
    number: f64,
}

impl Summary {
    /// Aggregates outcomes.
    #[must_use]
    pub fn of(agent: &str, model: Option<&str>, names: &'static [Measure], outcomes: Vec<Outcome>) -> Self {
        let mut errors: BTreeMap<&'static str, BTreeMap<String, u64>> = BTreeMap::new();
        let ended = || outcomes.iter().filter(|outcome| outcome.unfinished.is_none());
        for (kind, class) in ended().flat_map(|outcome| &outcome.errors) {
            *errors.entry(kind).or_default().entry(class.clone()).or_default() += 1;
        }
        let measures = names.iter().map(|(measure, _)| (*measure, by_group(measure, ended()))).collect();
        Self {
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            setting: BTreeMap::new(),
            cases: outcomes.len(),
            measures,
            errors,
            unfinished: outcomes.len() - ended().count(),
            tokens: outcomes.iter().map(|outcome| outcome.tokens).sum(),
            names,
            outcomes,
        }
    }

    /// Returns a measure over all cases as a rate. Returns 0 of 0 if it is no share.
    #[must_use]
    pub fn rate(&self, measure: &str) -> Rate {
        match self.measures.get(measure).and_then(|groups| groups.get("all")) {
            Some(Figure::Rate(rate)) => *rate,
            _ => Rate::from(Share::default()),
        }
    }

    /// Returns a table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let model = self.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        let mut text = format!("{}{model}, {} cases", self.agent, self.cases);
        for (name, value) in &self.setting {
            text.push_str(&format!(", {name} {value}"));
        }
        text.push('\n');
        for (measure, name) in self.names {
            let groups = self.measures.get(measure);
            let groups = groups.into_iter().flatten().filter(|(group, _)| {
                let dimension = dimension(group);
                let all = self.measures.get(measure).into_iter().flat_map(IndexMap::keys);
                all.filter(|other| self::dimension(other) == dimension).count() <= MAX_GROUPS_IN_TABLE
            });
            let mut is_empty = true;
            for (group, figure) in groups {
                is_empty = false;
                let name = if group == "all" { (*name).to_owned() } else { format!("  {group}") };
                text.push_str(&match figure {
                    Figure::Rate(rate) => rate.line(&name, NAME_COLUMNS),
                    Figure::Mean(Mean { mean, of }) => {
                        format!("  {name:NAME_COLUMNS$} {mean:.3} over {of}\n")
                    }
                });
            }
            if is_empty {
                text.push_str(&format!("  {name:NAME_COLUMNS$} not evaluated\n"));
            }
        }
        for (kind, classes) in &self.errors {
            for (class, count) in classes {
                text.push_str(&format!("  {kind}: {class}: {count}\n"));
            }
        }
        for outcome in &self.outcomes {
            for note in &outcome.notes {
                text.push_str(&format!("  {}: {note}\n", outcome.case));
            }
        }
        if self.unfinished > 0 {
            text.push_str(&format!("  without an end for want of a model: {}\n", self.unfinished));
        }
        text
    }
}

fn dimension(group: &str) -> &str {
    group.split(' ').next().unwrap_or_default()
}

/// Aggregates one measure: over all cases, then by group, sorted by dimension and name.
fn by_group<'a>(measure: &str, outcomes: impl Iterator<Item = &'a Outcome>) -> IndexMap<String, Figure> {
    let mut sums: BTreeMap<(&str, usize, &str), (Sum, bool)> = BTreeMap::new();
    for outcome in outcomes {
        let share = outcome.shares.get(measure);
        let number = outcome.numbers.get(measure);
        if share.is_none() && number.is_none() {
            continue;
        }
        // Numeric names are sorted by value, since shorter ones come first.
        let groups = outcome.groups.iter().map(|(dimension, name)| (*dimension, name.len(), &**name));
        for group in std::iter::once(("", 0, "all")).chain(groups) {
            let (sum, is_share) = sums.entry(group).or_default();
            *is_share = share.is_some();
            sum.share.merge(&share.copied().unwrap_or(Share { of: 0, all: 1 }));
            sum.number += number.copied().unwrap_or_default();
        }
    }
    let figure = |sum: Sum, is_share: bool| match is_share {
        true => Figure::Rate(sum.share.into()),
        false => Figure::Mean(Mean { mean: sum.number / sum.share.all as f64, of: sum.share.all }),
    };
    let name = |dimension: &str, name: &str| match dimension {
        "" => name.to_owned(),
        dimension => format!("{dimension} {name}"),
    };
    let sums = sums.into_iter();
    sums.map(|((dimension, _, group), (sum, is_share))| (name(dimension, group), figure(sum, is_share)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURES: &[Measure] = &[("right", "right"), ("length", "length"), ("told", "told")];

    fn outcome(level: &str, right: bool, length: Option<f64>) -> Outcome {
        let mut outcome = Outcome::new(format!("case of {level}"));
        outcome.groups.push(("level", level.to_owned()));
        outcome.share("right", right);
        outcome.numbers.extend(length.map(|length| ("length", length)));
        outcome
    }

    #[test]
    fn measures_are_added_up_over_all_and_by_group() {
        let unfinished = Outcome { unfinished: Some("no model".into()), ..outcome("2", false, None) };
        let all = vec![
            outcome("10", true, Some(4.0)),
            outcome("2", false, Some(1.0)),
            outcome("2", true, None),
            unfinished,
        ];
        let summary = Summary::of("replay", None, MEASURES, all);
        assert_eq!((summary.cases, summary.unfinished), (4, 1));
        let groups: Vec<(&str, u64)> = summary.measures["right"]
            .iter()
            .map(|(group, figure)| match figure {
                Figure::Rate(rate) => (&**group, 10 * rate.solved + rate.of),
                Figure::Mean(_) => panic!("{group}"),
            })
            .collect();
        assert_eq!(groups, [("all", 23), ("level 2", 12), ("level 10", 11)]);
        assert_eq!(summary.measures["length"]["all"], Figure::Mean(Mean { mean: 2.5, of: 2 }));
        assert!(summary.measures["told"].is_empty());
        assert!(summary.table().contains("not evaluated"), "{}", summary.table());
    }
}
