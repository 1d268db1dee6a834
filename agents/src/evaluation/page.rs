//! The report of one run, or of two side by side, as one HTML file: tables, and plots as SVG drawn here. No script, no font and
//! no picture comes from anywhere else.

mod plot;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use self::plot::{Bar, Interval, Point};
use super::cells::{CellRate, Effort, Rate};
use super::paired::Difference;

/// What is shown of a run: a part of its `report.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Shown {
    /// The agent.
    pub agent: String,
    /// Whether it needs no model.
    pub embedded: bool,
    /// The model.
    pub model: Option<String>,
    /// Tasks.
    pub tasks: u64,
    /// Success with its interval.
    pub success_rate: Rate,
    /// Success by dimension and cell.
    pub cells: BTreeMap<String, BTreeMap<String, CellRate>>,
    /// The other shares and means of the whole run.
    #[serde(flatten)]
    figures: Figures,
    /// Failed episodes by whose fault they are.
    #[serde(default)]
    attribution: BTreeMap<String, u64>,
    /// Episodes by class of error.
    #[serde(default)]
    errors: BTreeMap<String, u64>,
    #[serde(default)]
    faults: Option<Faults>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    run: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Figures {
    partial_credit: f64,
    correct_path: f64,
    delta_len: f64,
    call_accuracy: f64,
    rouge_l: f64,
    pass_k: BTreeMap<String, f64>,
    masked: u64,
    unfinished: u64,
    effort: Effort,
    retrieval: Option<Retrieved>,
}

#[derive(Clone, Debug, Deserialize)]
struct Retrieved {
    recall: BTreeMap<String, f64>,
    completeness: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Faults {
    without: Rate,
    counting_masked: Rate,
}

/// What is said where both kinds of agents are shown.
const NOTE: &str = "one of these agents is embedded: it needs no model, and its figures say what the tasks ask of an agent; they \
                    do not stand beside those of a model as a result";

impl Shown {
    /// Who was run.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.model {
            Some(model) => format!("{} with {model}", self.agent),
            None => format!("{} (embedded, no model)", self.agent),
        }
    }

    /// What is to be known where embedded agents and models are shown beside each other.
    #[must_use]
    pub fn note(runs: &[Self]) -> Option<&'static str> {
        let embedded = |run: &Self| run.embedded;
        (runs.iter().any(embedded) && !runs.iter().all(embedded)).then_some(NOTE)
    }

    fn episodes(&self) -> u64 {
        self.success_rate.of + self.figures.masked + self.figures.unfinished
    }
}

/// Names in the order that people count in: by the number that they begin with, then as they are.
pub fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names: Vec<&String> = names.collect();
    let number = |name: &str| {
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(u64::MAX)
    };
    names.sort_by_key(|name| (number(name), (*name).clone()));
    names.dedup();
    names
}

/// The page of one run, or of two; `paired` is the second against the first.
#[must_use]
pub fn page(runs: &[Shown], paired: Option<&Difference>) -> String {
    let title = runs.iter().map(Shown::label).collect::<Vec<_>>().join(" beside ");
    let mut body = String::new();
    head(runs, paired, &mut body);
    figures(runs, &mut body);
    for (dimension, heading) in [
        ("ability", "Success by ability"),
        ("depth", "Success by depth: calls nested through their arguments"),
        ("phenomenon", "Success by phenomenon"),
        ("pool", "Success by pool: APIs to tell apart"),
    ] {
        section(heading, &plot::intervals(&intervals(runs, dimension)), &mut body);
    }
    section("Success against cost", &cost(runs), &mut body);
    let causes = counts(runs, |run| &run.attribution, Shown::episodes);
    section("Failed episodes, by where they went wrong first", &causes, &mut body);
    let errors = counts(runs, |run| &run.errors, |run| run.success_rate.of);
    section("Episodes with an error of a class", &errors, &mut body);
    crossed(runs, &mut body);
    asked_for(runs, &mut body);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{}</style></head><body><main>{body}\
         </main></body></html>\n",
        escaped(&title),
        include_str!("page/style.css")
    )
}

fn head(runs: &[Shown], paired: Option<&Difference>, out: &mut String) {
    let _ = write!(out, "<h1>{}</h1>", if runs.len() > 1 { "Two runs" } else { "A run" });
    for (at, run) in runs.iter().enumerate() {
        let Rate { share, low, high, solved, of } = run.success_rate;
        let kind = if run.embedded { "<span class=\"tag\">embedded, no model</span>" } else { "" };
        let name = run.model.as_ref().map_or_else(|| run.agent.clone(), |_| run.label());
        let _ = write!(
            out,
            "<p class=\"run\"><span class=\"key s{at}\"></span><b>{}</b> {kind}<br><span class=\"big\">{:.1} %</span> solved, \
             {solved} of {of} [{:.1}, {:.1}]</p>",
            escaped(&name),
            100.0 * share,
            100.0 * low,
            100.0 * high,
        );
    }
    if let Some(note) = Shown::note(runs) {
        let _ = write!(out, "<p class=\"note\">Note: {note}.</p>");
    }
    if let Some(paired) = paired {
        let Difference { pairs, both, first_only, second_only, neither, difference, low, high, p } = paired;
        let _ = write!(
            out,
            "<p>On the {pairs} episodes that both have, the second solves {:+.1} points [{:+.1}, {:+.1}]: {both} are solved by \
             both, {first_only} by the first alone, {second_only} by the second alone, {neither} by neither (McNemar's exact \
             test, p = {p:.2e}).</p>",
            100.0 * difference,
            100.0 * low,
            100.0 * high,
        );
    }
}

/// The figures of whole runs, a row each.
fn figures(runs: &[Shown], out: &mut String) {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut row = |name: &str, value: &dyn Fn(&Shown) -> Option<String>| {
        let values: Vec<Option<String>> = runs.iter().map(value).collect();
        if values.iter().any(Option::is_some) {
            let shown = values.into_iter().map(|value| value.unwrap_or_else(|| "–".to_owned()));
            rows.push((name.to_owned(), shown.collect()));
        }
    };
    let share = |share: f64| Some(format!("{:.1} %", 100.0 * share));
    let of_rate = |rate: &Rate| Some(rate.percent());
    row("tasks", &|run| Some(run.tasks.to_string()));
    row("episodes", &|run| Some(run.episodes().to_string()));
    row("success", &|run| of_rate(&run.success_rate));
    row("without faults", &|run| of_rate(&run.faults.as_ref()?.without));
    row("under faults, masked counted", &|run| of_rate(&run.faults.as_ref()?.counting_masked));
    let ks: Vec<&String> = in_order(runs.iter().flat_map(|run| run.figures.pass_k.keys()));
    for k in ks.into_iter().skip(1) {
        row(&format!("pass^{k}"), &|run| share(*run.figures.pass_k.get(k)?));
    }
    row("partial credit", &|run| share(run.figures.partial_credit));
    row("correct path", &|run| share(run.figures.correct_path));
    row("Δ length", &|run| Some(format!("{:+.2}", run.figures.delta_len)));
    row("call accuracy", &|run| share(run.figures.call_accuracy));
    row("ROUGE-L", &|run| Some(format!("{:.3}", run.figures.rouge_l)));
    for k in ["1", "3", "5", "10"] {
        row(&format!("recall@{k}"), &|run| share(*run.figures.retrieval.as_ref()?.recall.get(k)?));
        row(&format!("completeness@{k}"), &|run| {
            share(*run.figures.retrieval.as_ref()?.completeness.get(k)?)
        });
    }
    row("calls an episode", &|run| Some(format!("{:.2}", run.figures.effort.calls)));
    row("tokens an episode", &|run| {
        (run.figures.effort.tokens > 0.0).then(|| format!("{:.0}", run.figures.effort.tokens))
    });
    row("cost of the run", &|run| Some(format!("{:.4}", run.cost?)));
    row("seconds, median and 95 of 100", &|run| {
        let effort = &run.figures.effort;
        Some(format!("{:.2}, {:.2}", effort.seconds_p50?, effort.seconds_p95?))
    });
    row("masked, in no share", &|run| Some(run.figures.masked.to_string()));
    row("unfinished, in no share", &|run| Some(run.figures.unfinished.to_string()));
    out.push_str("<h2>Figures</h2>");
    table(&labels(runs), &rows, out);
}

/// The head of a table with a column for each run.
fn labels(runs: &[Shown]) -> Vec<String> {
    std::iter::once(String::new()).chain(runs.iter().map(Shown::label)).collect()
}

fn table(head: &[String], rows: &[(String, Vec<String>)], out: &mut String) {
    out.push_str("<table><thead><tr>");
    head.iter().for_each(|name| out.push_str(&format!("<th>{}</th>", escaped(name))));
    out.push_str("</tr></thead><tbody>");
    for (name, values) in rows {
        let _ = write!(out, "<tr><th>{}</th>", escaped(name));
        values.iter().for_each(|value| out.push_str(&format!("<td>{}</td>", escaped(value))));
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
}

fn section(heading: &str, drawing: &str, out: &mut String) {
    if !drawing.is_empty() {
        let _ = write!(out, "<h2>{}</h2>{drawing}", escaped(heading));
    }
}

/// A row for each cell of a dimension, with every run's share.
fn intervals(runs: &[Shown], dimension: &str) -> Vec<Interval> {
    let names = in_order(runs.iter().filter_map(|run| run.cells.get(dimension)).flat_map(BTreeMap::keys));
    let interval = |name: &String| Interval {
        label: name.replace('_', " "),
        rates: runs.iter().map(|run| Some(run.cells.get(dimension)?.get(name)?.rate)).collect(),
    };
    names.into_iter().map(interval).collect()
}

/// Success against tokens, or against calls where no model is asked: each run, and its abilities.
fn cost(runs: &[Shown]) -> String {
    let of_tokens = runs.iter().any(|run| run.figures.effort.tokens > 0.0);
    let mut points = Vec::new();
    for (series, run) in runs.iter().enumerate() {
        let effort = &run.figures.effort;
        let at = |calls: f64, tokens: f64| if of_tokens { tokens } else { calls };
        let x = at(effort.calls, effort.tokens);
        points.push(Point { series, label: "all".to_owned(), x, rate: run.success_rate, whole: true });
        for (name, cell) in run.cells.get("ability").into_iter().flatten() {
            let x = at(cell.calls, cell.tokens);
            points.push(Point { series, label: name.replace('_', " "), x, rate: cell.rate, whole: false });
        }
    }
    plot::scatter(&points, if of_tokens { "tokens an episode" } else { "calls an episode" })
}

/// Counts as shares of so many episodes.
fn counts(
    runs: &[Shown],
    of: impl Fn(&Shown) -> &BTreeMap<String, u64>,
    episodes: impl Fn(&Shown) -> u64,
) -> String {
    let mut names = in_order(runs.iter().flat_map(|run| of(run).keys()));
    let most = |name: &String| runs.iter().filter_map(|run| of(run).get(name)).max().copied();
    names.sort_by_key(|name| std::cmp::Reverse(most(name)));
    let bar = |name: &String| Bar {
        label: name.replace('_', " "),
        values: runs
            .iter()
            .map(|run| {
                let count = of(run).get(name).copied().unwrap_or(0);
                (count, count as f64 / episodes(run).max(1) as f64)
            })
            .collect(),
    };
    plot::bars(&names.into_iter().map(bar).collect::<Vec<_>>())
}

/// Success by ability and phenomenon: abilities across, phenomena down.
fn crossed(runs: &[Shown], out: &mut String) {
    for run in runs {
        let Some(cells) = run.cells.get("ability_and_phenomenon") else { continue };
        let mut rows: BTreeMap<&str, BTreeMap<&str, &CellRate>> = BTreeMap::new();
        for (name, cell) in cells {
            if let Some((ability, phenomenon)) = name.split_once(" / ") {
                rows.entry(phenomenon).or_default().insert(ability, cell);
            }
        }
        let mut abilities: Vec<&str> = rows.values().flat_map(BTreeMap::keys).copied().collect();
        abilities.sort_unstable();
        abilities.dedup();
        let head = std::iter::once("").chain(abilities.iter().copied()).map(|name| name.replace('_', " "));
        let shown = |cell: Option<&&CellRate>| match cell {
            Some(cell) => format!("{:.1} % of {}", 100.0 * cell.rate.share, cell.rate.of),
            None => "–".to_owned(),
        };
        let rows: Vec<(String, Vec<String>)> = rows
            .into_iter()
            .map(|(name, cells)| {
                let values = abilities.iter().map(|ability| shown(cells.get(ability)));
                (name.replace('_', " "), values.collect())
            })
            .collect();
        let _ = write!(out, "<h2>Success by phenomenon and ability: {}</h2>", escaped(&run.label()));
        table(&head.collect::<Vec<_>>(), &rows, out);
    }
}

/// What the runs were asked for.
fn asked_for(runs: &[Shown], out: &mut String) {
    let names: Vec<&String> = in_order(runs.iter().flat_map(|run| run.run.keys()));
    let value = |run: &Shown, name: &String| match run.run.get(name) {
        None | Some(serde_json::Value::Null) => "–".to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let rows: Vec<(String, Vec<String>)> = names
        .into_iter()
        .map(|name| (name.replace('_', " "), runs.iter().map(|run| value(run, name)).collect()))
        .collect();
    out.push_str("<h2>Options</h2>");
    table(&labels(runs), &rows, out);
    out.push_str(
        "<p class=\"small\">Intervals are Wilson's at 95 %. The measures are defined in docs/agents.md.</p>",
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
