//! Owns the report of one run, or of two side by side, as one HTML file without external scripts, fonts
//! or pictures.

use std::collections::BTreeMap;

use minijinja::{AutoEscape, Environment, Value, context};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::paired::Difference;
use super::results::CellRate;
use super::shares::{Rate, ratio};

/// Stored run: its `report.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct ReportFile {
    /// Name of the agent.
    pub agent: String,
    /// True for an agent without a model.
    pub scripted: bool,
    /// Name of the model.
    pub model: Option<String>,
    /// Success rate with its interval.
    pub success_rate: Rate,
    /// Success by dimension and cell.
    pub cells: BTreeMap<String, BTreeMap<String, CellRate>>,
    #[serde(default)]
    attribution: BTreeMap<String, u64>,
    #[serde(default)]
    errors: BTreeMap<String, u64>,
    #[serde(default)]
    run: BTreeMap<String, Json>,
    #[serde(skip)]
    json: Json,
}

/// Dimensions of the success tables, with their headings.
const DIMENSIONS: [(&str, &str); 6] = [
    ("ability", "Success by ability"),
    ("difficulty", "Success by difficulty"),
    ("depth", "Success by depth: calls nested through their arguments"),
    ("tag", "Success by tag"),
    ("pool", "Success by pool: APIs to tell apart"),
    ("ability_and_tag", "Success by ability and tag"),
];

/// Format of a figure.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Percent,
    Interval,
    /// Share, with the number of its tasks.
    PassRate,
    /// Number with so many decimal places.
    Fixed(usize),
}

/// Figures of a whole run: name, JSON pointer into the report, format.
const FIGURES: [(&str, &str, Form); 24] = [
    ("tasks", "/tasks", Form::Plain),
    ("success", "/success_rate", Form::Interval),
    ("without faults", "/faults/without", Form::Interval),
    ("under faults, excluded counted", "/faults/counting_excluded", Form::Interval),
    ("partial credit", "/partial_credit", Form::Percent),
    ("correct path", "/correct_path", Form::Percent),
    ("Δ solution length", "/delta_solution_length", Form::Fixed(2)),
    ("call accuracy", "/call_accuracy", Form::Percent),
    ("ROUGE-L", "/rouge_l", Form::Fixed(3)),
    ("recall@1", "/retrieval/recall/1", Form::Percent),
    ("recall@3", "/retrieval/recall/3", Form::Percent),
    ("recall@5", "/retrieval/recall/5", Form::Percent),
    ("recall@10", "/retrieval/recall/10", Form::Percent),
    ("completeness@1", "/retrieval/completeness/1", Form::Percent),
    ("completeness@3", "/retrieval/completeness/3", Form::Percent),
    ("completeness@5", "/retrieval/completeness/5", Form::Percent),
    ("completeness@10", "/retrieval/completeness/10", Form::Percent),
    ("calls an episode", "/effort/calls", Form::Fixed(2)),
    ("tokens an episode", "/effort/tokens", Form::Fixed(0)),
    ("cost of the run", "/cost", Form::Fixed(4)),
    ("seconds, median", "/effort/seconds_p50", Form::Fixed(2)),
    ("seconds, 95 of 100", "/effort/seconds_p95", Form::Fixed(2)),
    ("excluded, in no share", "/excluded", Form::Plain),
    ("unfinished, in no share", "/unfinished", Form::Plain),
];

/// Note on a page that shows both kinds of agents.
const NOTE: &str = "one of these agents is scripted: it needs no model, and its figures say what the tasks ask of an agent; they \
                    do not stand beside those of a model as a result";

impl ReportFile {
    /// Parses a report.
    ///
    /// # Errors
    /// Returns an error if the JSON is not a report.
    pub fn read(json: Json) -> Result<Self, serde_json::Error> {
        Ok(Self { json: json.clone(), ..serde_json::from_value(json)? })
    }

    /// Returns the agent with its model.
    pub fn label(&self) -> String {
        match &self.model {
            Some(model) => format!("{} with {model}", self.agent),
            None => format!("{} (scripted, no model)", self.agent),
        }
    }

    /// Returns the note on scripted agents beside agents with a model, or none if all runs are of one
    /// kind.
    pub fn note(runs: &[Self]) -> Option<&'static str> {
        let scripted = |run: &Self| run.scripted;
        (runs.iter().any(scripted) && !runs.iter().all(scripted)).then_some(NOTE)
    }

    fn number(&self, pointer: &str) -> f64 {
        self.json.pointer(pointer).and_then(Json::as_f64).unwrap_or(0.0)
    }

    fn figure(&self, pointer: &str, form: Form) -> Option<String> {
        let value = self.json.pointer(pointer).filter(|value| !value.is_null())?;
        Some(match form {
            Form::Plain => value.to_string(),
            Form::Percent => percent(value.as_f64()?),
            Form::PassRate => format!("{} of {} tasks", percent(value["share"].as_f64()?), value["tasks"]),
            Form::Interval => serde_json::from_value::<Rate>(value.clone()).ok()?.percent(),
            Form::Fixed(digits) => format!("{:.digits$}", value.as_f64()?),
        })
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Sorts names by the number at their start, then as text, without repetition.
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

/// Returns the cells of a dimension in order, each with every run's success.
pub fn by_cell(runs: &[ReportFile], dimension: &str) -> Vec<(String, Vec<Option<Rate>>)> {
    let cells = |run: &'_ ReportFile| run.cells.get(dimension).cloned().unwrap_or_default();
    let all: Vec<BTreeMap<String, CellRate>> = runs.iter().map(cells).collect();
    let names = in_order(all.iter().flat_map(BTreeMap::keys));
    let rates = |name: &String| all.iter().map(|cells| Some(cells.get(name)?.rate)).collect();
    names.into_iter().map(|name| (name.clone(), rates(name))).collect()
}

/// Renders the page of one run or of two. `paired` compares the second with the first.
///
/// # Errors
/// Returns an error if the template fails.
pub fn page(runs: &[ReportFile], paired: Option<&Difference>) -> std::io::Result<String> {
    rendered(runs, paired).map_err(std::io::Error::other)
}

fn rendered(runs: &[ReportFile], paired: Option<&Difference>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.add_filter("percent", percent);
    environment.add_filter("counts", |rate: Value| -> Result<String, minijinja::Error> {
        Ok(format!("{} of {}", rate.get_attr("solved")?, rate.get_attr("of")?))
    });
    environment.add_template("page.html", include_str!("page/page.html"))?;
    let shown = |run: &ReportFile| {
        let name = if run.model.is_some() { run.label() } else { run.agent.clone() };
        json!({"name": name, "scripted": run.scripted, "rate": run.success_rate})
    };
    let shares = DIMENSIONS.map(|(dimension, heading)| (heading, by_cell(runs, dimension)));
    let shares = shares.into_iter().filter(|(_, rows)| !rows.is_empty());
    let episodes =
        |run: &ReportFile| run.success_rate.of as f64 + run.number("/excluded") + run.number("/unfinished");
    let counts = [
        (
            "Failed episodes, by where they went wrong first",
            counts(runs, |run| (&run.attribution, episodes(run))),
        ),
        ("Episodes with an error of a class", counts(runs, |run| (&run.errors, run.success_rate.of as f64))),
    ];
    let counts = counts.into_iter().filter(|(_, rows)| !rows.is_empty());
    let section = |(heading, rows): (&str, Json)| json!({"heading": heading, "rows": rows});
    environment.get_template("page.html")?.render(context! {
        style => include_str!("page/style.css"),
        labels => runs.iter().map(ReportFile::label).collect::<Vec<_>>(),
        runs => runs.iter().map(shown).collect::<Vec<_>>(),
        note => ReportFile::note(runs),
        paired => paired.map(|paired| {
            let points = [paired.difference, paired.low, paired.high].map(|part| format!("{:+.1}", 100.0 * part));
            let [difference, low, high] = points;
            let mut shown = json!(paired);
            shown["points"] = json!(format!("{difference} [{low}, {high}]"));
            shown["p"] = json!(format!("{:.2e}", paired.p));
            shown
        }),
        tables => [("Figures", figures(runs)), ("Options", options(runs))].map(|(heading, rows)| section((heading, json!(rows)))),
        shares => shares.map(|(heading, rows)| section((heading, json!(rows)))).collect::<Vec<_>>(),
        cost => cost(runs),
        counts => counts.map(|(heading, rows)| section((heading, json!(rows)))).collect::<Vec<_>>(),
    })
}

/// Values of each run, by name.
type Rows = Vec<(String, Vec<Option<String>>)>;

/// Returns the figures that at least one run has.
fn figures(runs: &[ReportFile]) -> Rows {
    let trials =
        runs.iter().filter_map(|run| run.json.get("pass_k")?.as_object().map(serde_json::Map::len)).max();
    let pass_k =
        (2..=trials.unwrap_or(0)).map(|k| (format!("pass^{k}"), format!("/pass_k/{k}"), Form::PassRate));
    let fixed = FIGURES.map(|(name, pointer, form)| (name.to_owned(), pointer.to_owned(), form));
    let rows = fixed.into_iter().chain(pass_k).map(|(name, pointer, form)| {
        (name, runs.iter().map(|run| run.figure(&pointer, form)).collect::<Vec<_>>())
    });
    rows.filter(|(_, values)| values.iter().any(Option::is_some)).collect()
}

/// Returns the options of the runs.
fn options(runs: &[ReportFile]) -> Rows {
    let value = |run: &ReportFile, name: &String| match run.run.get(name)? {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let names = in_order(runs.iter().flat_map(|run| run.run.keys()));
    let row = |name: &String| (name.clone(), runs.iter().map(|run| value(run, name)).collect());
    names.into_iter().map(row).collect()
}

/// Returns success against tokens, or against calls if no run asks a model: each run, and its abilities.
fn cost(runs: &[ReportFile]) -> Json {
    let of_tokens = runs.iter().any(|run| run.number("/effort/tokens") > 0.0);
    let (mut points, mut most) = (Vec::new(), 0.0_f64);
    for (number, run) in runs.iter().enumerate() {
        let (calls, tokens) = (run.number("/effort/calls"), run.number("/effort/tokens"));
        let whole = CellRate { rate: run.success_rate, calls, tokens };
        let abilities = run.cells.get("ability").into_iter().flatten();
        let abilities = abilities.map(|(name, cell)| (Some(name), cell));
        for (name, cell) in std::iter::once((None, &whole)).chain(abilities) {
            let x = if of_tokens { cell.tokens } else { cell.calls };
            most = most.max(x);
            let shown = name.map_or("all", String::as_str);
            points.push(
                json!({"run": number, "name": shown, "x": x, "rate": cell.rate, "whole": name.is_none()}),
            );
        }
    }
    let unit = 10_f64.powf(most.max(1e-9).log10().floor());
    let axis = if of_tokens { "tokens an episode" } else { "calls an episode" };
    json!({"axis": axis, "end": if most > 0.0 { (most / unit).ceil() * unit } else { 0.0 }, "points": points})
}

/// Returns counts with their shares of all episodes, the most frequent first.
fn counts<'a>(
    runs: &'a [ReportFile],
    of: impl Fn(&'a ReportFile) -> (&'a BTreeMap<String, u64>, f64),
) -> Vec<(String, Vec<(u64, f64)>)> {
    let mut names = in_order(runs.iter().flat_map(|run| of(run).0.keys()));
    names.sort_by_key(|name| std::cmp::Reverse(runs.iter().filter_map(|run| of(run).0.get(*name)).max()));
    let bar = |run: &'a ReportFile, name: &String| {
        let (counts, episodes) = of(run);
        let count = counts.get(name).copied().unwrap_or(0);
        (count, ratio(count as f64, episodes))
    };
    let row = |name: &String| (name.clone(), runs.iter().map(|run| bar(run, name)).collect());
    names.into_iter().map(row).collect()
}
