//! Aggregate metrics of rollouts, computed as NeMo Gym's own servers do. Each number in the replies to
//! `/verify` gets mean, maximum, minimum, median and standard deviation, by task and overall.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The members that identify a rollout.
const TASK_INDEX: &str = "_ng_task_index";
const ROLLOUT_INDEX: &str = "_ng_rollout_index";

/// The rollouts to aggregate: replies to `/verify` without their largest members.
#[derive(Debug, Deserialize)]
pub(super) struct AggregateMetricsRequest {
    pub(super) verify_responses: Vec<Map<String, Json>>,
}

/// The aggregate metrics.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct AggregateMetrics {
    group_level_metrics: Vec<Map<String, Json>>,
    agent_metrics: Map<String, Json>,
    key_metrics: Map<String, Json>,
}

/// The numbers of one rollout, by name.
type Numbers = BTreeMap<String, f64>;

impl AggregateMetrics {
    /// Aggregates rollouts. Those without a reward are excluded from all metrics.
    pub(super) fn of(rollouts: &[Map<String, Json>]) -> Self {
        if rollouts.is_empty() {
            return Self::default();
        }
        let counted = rollouts.iter().filter(|rollout| rollout.get("reward").is_some_and(Json::is_number));
        let mut tasks: BTreeMap<i64, Vec<&Map<String, Json>>> = BTreeMap::new();
        let mut all: Vec<Numbers> = Vec::new();
        for rollout in counted {
            tasks.entry(index(rollout, TASK_INDEX)).or_default().push(rollout);
            all.push(numbers(rollout));
        }
        let mut agent_metrics = figures(&all);
        let excluded = rollouts.len() - all.len();
        if excluded > 0 {
            agent_metrics.insert("excluded_rollouts".to_owned(), json!(excluded));
        }
        let key_metrics = agent_metrics.iter().filter(|(name, _)| name.starts_with("mean/"));
        let key_metrics = key_metrics.map(|(name, value)| (name.clone(), value.clone())).collect();
        let group_level_metrics =
            tasks.into_iter().map(|(task, rollouts)| of_task(task, &rollouts)).collect();
        Self { group_level_metrics, agent_metrics, key_metrics }
    }
}

/// Returns the metrics of one task's rollouts, with the rollouts.
fn of_task(task: i64, rollouts: &[&Map<String, Json>]) -> Map<String, Json> {
    let mut sorted = rollouts.to_vec();
    sorted.sort_by_key(|rollout| index(rollout, ROLLOUT_INDEX));
    let info = |rollout: &&Map<String, Json>| {
        let number = index(rollout, ROLLOUT_INDEX);
        let mut info = Map::new();
        info.insert("rollout_id".to_owned(), json!(format!("{task}:{number}")));
        info.insert(TASK_INDEX.to_owned(), json!(task));
        info.insert(ROLLOUT_INDEX.to_owned(), json!(number));
        info.extend(numbers(rollout).into_iter().map(|(name, value)| (name, json!(value))));
        Json::Object(info)
    };
    let infos: Vec<Json> = sorted.iter().map(info).collect();
    let all: Vec<Numbers> = rollouts.iter().map(|rollout| numbers(rollout)).collect();
    let mut metrics = figures(&all);
    metrics.insert(TASK_INDEX.to_owned(), json!(task));
    metrics.insert("num_rollouts".to_owned(), json!(infos.len()));
    metrics.insert("rollout_infos".to_owned(), Json::Array(infos));
    metrics
}

fn index(rollout: &Map<String, Json>, name: &str) -> i64 {
    rollout.get(name).and_then(Json::as_i64).unwrap_or(0)
}

/// Returns the numbers of a rollout and of its token usage. True counts as 1 and false as 0.
fn numbers(rollout: &Map<String, Json>) -> Numbers {
    let usage = rollout.get("response").and_then(|response| response.get("usage")).and_then(Json::as_object);
    let members = rollout.iter().chain(usage.into_iter().flatten());
    let members = members.filter(|(name, _)| *name != TASK_INDEX && *name != ROLLOUT_INDEX);
    let number =
        |value: &Json| value.as_f64().or_else(|| value.as_bool().map(|truth| f64::from(u8::from(truth))));
    members.filter_map(|(name, value)| Some((name.clone(), number(value)?))).collect()
}

/// Returns `mean/NAME`, `max/NAME`, `min/NAME`, `median/NAME` and `std/NAME` of each number. The deviation is
/// that of a sample. It is 0 if all numbers have a single value.
fn figures(rollouts: &[Numbers]) -> Map<String, Json> {
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, value) in rollouts.iter().flatten() {
        columns.entry(name).or_default().push(*value);
    }
    let single = columns.values().all(|values| values.len() < 2);
    let mut figures = Map::new();
    for (name, values) in &mut columns {
        values.sort_by(f64::total_cmp);
        let mut add = |figure: &str, value: f64| figures.insert(format!("{figure}/{name}"), json!(value));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        add("mean", mean);
        if let (Some(least), Some(greatest)) = (values.first(), values.last()) {
            add("max", *greatest);
            add("min", *least);
        }
        add("median", median(values));
        if values.len() > 1 {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            add("std", (squares / (values.len() - 1) as f64).sqrt());
        } else if single {
            add("std", 0.0);
        }
    }
    figures
}

/// Returns the median of sorted values. The list must not be empty.
fn median(values: &[f64]) -> f64 {
    let middle = |place: usize| values.get(place).copied().unwrap_or_default();
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        middle(half)
    } else {
        f64::midpoint(middle(half.saturating_sub(1)), middle(half))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may end this way")]
    use super::*;

    #[test]
    fn rollouts_are_added_up_by_task_and_overall_without_those_that_are_excluded() {
        let rollout = |task: i64, number: i64, reward: Json| {
            json!({
                "_ng_task_index": task, "_ng_rollout_index": number, "reward": reward, "excluded": reward.is_null(), "id": "a",
                "response": {"usage": {"total_tokens": 10 * number}},
            })
        };
        let rollouts = [
            rollout(1, 1, json!(0.0)),
            rollout(0, 0, json!(1.0)),
            rollout(1, 0, json!(1.0)),
            rollout(1, 2, Json::Null),
        ];
        let rollouts: Vec<Map<String, Json>> =
            rollouts.iter().map(|one| one.as_object().unwrap().clone()).collect();
        insta::assert_json_snapshot!(AggregateMetrics::of(&rollouts));
        assert_eq!(AggregateMetrics::of(&[]), AggregateMetrics::default());
    }
}
