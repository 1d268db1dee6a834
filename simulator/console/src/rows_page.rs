//! Owns the pages of a dataset: a list of rows with filters, the summary, and one row as a conversation.

use diorama_sessions::{Kind, Problem, quoted};
use maud::{Markup, html};
use serde_json::Value as Json;

use crate::answer::{Answer, Page, Section};
use crate::pieces::{Range, crumbs, json_block, pager, short, text_block};
use crate::rows::{Count, DatasetSummary, ReadError, RowFilter, RowSummary, Rows};
use crate::turns::conversation;
use crate::visit::Visit;

/// Number of rows on a page.
const ROWS_PER_PAGE: usize = 50;

/// Names of the filters in the query string.
const FILTERS: [&str; 5] = ["split", "ability", "domain", "tag", "text"];

fn rows<'a>(visit: &Visit<'a>) -> Result<&'a dyn Rows, Problem> {
    let none =
        || Problem::new(Kind::NotFound, "this server shows no dataset; see `diorama dataset view --web`");
    visit.console.rows().ok_or_else(none)
}

/// Returns the problem of an unreadable dataset or run.
pub(crate) fn unreadable(ReadError(why): ReadError) -> Problem {
    Problem::new(Kind::Failed, why)
}

/// Lists the rows that match the filters.
pub(crate) fn list(visit: &Visit<'_>) -> Answer {
    let rows = rows(visit)?;
    let given = |name: &str| visit.query.get(name);
    let filter = RowFilter {
        split: given("split"),
        ability: given("ability"),
        domain: given("domain"),
        tag: given("tag"),
        text: given("text"),
    };
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let summary = rows.summary();
    let found = rows.find(&filter, offset, ROWS_PER_PAGE).map_err(unreadable)?;
    let pairs: Vec<(&str, &str)> = FILTERS.iter().filter_map(|name| Some((*name, given(name)?))).collect();
    let range = Range { offset, limit: ROWS_PER_PAGE, total: found.total };
    let address = visit.links.page(&["rows"]);
    let body = html! {
        h1 { "Rows" }
        p.hint { bdi { (summary.name) } ": " (summary.rows) " rows. " a href=(visit.links.page(&["dataset"])) { "Counts and funnel" } }
        form.filters method="get" action=(address) hx-get=(address) hx-target="#rows" hx-select="#rows" hx-swap="outerHTML"
            hx-trigger="change, input changed delay:300ms from:#text, submit" hx-replace-url="true" hx-sync="this:replace" {
            label for="text" { "Words" }
            input #text type="search" name="text" value=[filter.text];
            (choice("split", "Split", &summary.splits, filter.split))
            (choice("ability", "Ability", &summary.abilities, filter.ability))
            (choice("domain", "Domain", &summary.domains, filter.domain))
            (choice("tag", "Tag", &summary.tags, filter.tag))
            button { "Show" }
        }
        section #rows aria-live="polite" aria-label="Rows" {
            p { strong { (found.total) } " of " (summary.rows) " rows" }
            @if !found.rows.is_empty() { (table(visit, &found.rows)) }
            (pager(&visit.links, &["rows"], &pairs, range))
        }
    };
    Ok(Page::reply(Section::Rows, "Rows", body))
}

fn choice(name: &str, label: &str, counts: &[Count], chosen: Option<&str>) -> Markup {
    html! {
        span.pair {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { "all" }
                @for Count { name, count } in counts {
                    option value=(name) selected[chosen == Some(name.as_str())] { (name) " (" (count) ")" }
                }
            }
        }
    }
}

fn table(visit: &Visit<'_>, rows: &[RowSummary]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of rows" { table {
            thead { tr { th scope="col" { "Row" } th scope="col" { "The user begins" } th scope="col" { "Domains" } th scope="col" { "Ability" } th scope="col" { "Tags" } } }
            tbody { @for row in rows {
                tr {
                    td { a href=(visit.links.page(&["rows", &row.id])) { code { (short(&row.id)) } } }
                    td { (short(&row.opening)) }
                    td { (row.domains.join(", ")) }
                    td { (row.ability) }
                    td { (row.tags.join(", ")) }
                }
            } }
        } }
    }
}

/// Shows the summary of the dataset: its counts and its funnel.
pub(crate) fn dataset(visit: &Visit<'_>) -> Answer {
    let summary = rows(visit)?.summary();
    if let Some(second) = visit.console.second_dataset() {
        return Ok(Page::reply(Section::Rows, "Two datasets", two_datasets(visit, &summary, second)));
    }
    let by = |name: &str, counts: &[Count]| {
        let link = |count: &Count| visit.links.query(&["rows"], &[(name, &count.name)]);
        bars(counts, summary.rows, link)
    };
    let body = html! {
        (crumbs(&[(visit.links.page(&["rows"]), "Rows")]))
        h1 { "Dataset" }
        p.hint { bdi { (summary.name) } }
        dl.facts {
            dt { "Rows" } dd { (summary.rows) }
            @for Count { name, count } in &summary.sizes { dt { (name) } dd { (count) } }
        }
        (funnel(&summary))
        h2 { "Splits" } (by("split", &summary.splits))
        h2 { "Abilities" } (by("ability", &summary.abilities))
        h2 { "Domains" } (by("domain", &summary.domains))
        h2 { "Tags" } (by("tag", &summary.tags))
    };
    Ok(Page::reply(Section::Rows, "Dataset", body))
}

/// Renders the counts of two datasets side by side, as numbers and as shares of their rows.
fn two_datasets(visit: &Visit<'_>, one: &DatasetSummary, other: &DatasetSummary) -> Markup {
    let drops = |summary: &DatasetSummary| -> Vec<Count> {
        let sum = |(step, reasons): &(String, Vec<Count>)| Count {
            name: step.clone(),
            count: reasons.iter().map(|reason| reason.count).sum(),
        };
        summary.dropped.iter().map(sum).collect()
    };
    let whole = |summary: &DatasetSummary| Count { name: "Rows".to_owned(), count: summary.rows };
    let sizes = |summary: &DatasetSummary| [vec![whole(summary)], summary.sizes.clone()].concat();
    let attempts = [one.proposed, other.proposed];
    let of_rows = [one.rows, other.rows];
    html! {
        (crumbs(&[(visit.links.page(&["rows"]), "Rows")]))
        h1 { "Two datasets" }
        p { "First: " bdi { (one.name) } ". Second: " bdi { (other.name) } "." }
        h2 { "Size" } (side_by_side(&sizes(one), &sizes(other), None))
        h2 { "Dropped attempts by step" } (side_by_side(&drops(one), &drops(other), Some(attempts)))
        h2 { "Splits" } (side_by_side(&one.splits, &other.splits, Some(of_rows)))
        h2 { "Abilities" } (side_by_side(&one.abilities, &other.abilities, Some(of_rows)))
        h2 { "Domains" } (side_by_side(&one.domains, &other.domains, Some(of_rows)))
        h2 { "Tags" } (side_by_side(&one.tags, &other.tags, Some(of_rows)))
    }
}

/// Renders the counts of the same names in two datasets. `wholes` are what the shares are of.
fn side_by_side(one: &[Count], other: &[Count], wholes: Option<[u64; 2]>) -> Markup {
    let of = |counts: &[Count], name: &str| {
        counts.iter().find(|count| count.name == name).map_or(0, |count| count.count)
    };
    let only_second = other.iter().filter(|count| !one.iter().any(|own| own.name == count.name));
    let names = one.iter().chain(only_second).map(|count| &*count.name);
    let share = |count: u64, whole: u64| format!("{:.1} %", 100.0 * count as f64 / whole.max(1) as f64);
    html! {
        table {
            thead { tr { th scope="col" { "Name" } th.number scope="col" { "First" } th.number scope="col" { "Second" } } }
            tbody { @for name in names {
                tr {
                    th scope="row" { (short(name)) }
                    @for (side, counts) in [one, other].into_iter().enumerate() {
                        @let count = of(counts, name);
                        td.number { (count) @if let Some(wholes) = wholes { " (" (share(count, wholes[side])) ")" } }
                    }
                }
            } }
        }
    }
}

fn bars(counts: &[Count], whole: u64, link: impl Fn(&Count) -> String) -> Markup {
    html! {
        table.shares {
            thead.sr { tr { th scope="col" { "Name" } th scope="col" { "Share" } th scope="col" { "Rows" } } }
            tbody { @for count in counts {
                tr {
                    th scope="row" { a href=(link(count)) { (short(&count.name)) } }
                    td { meter min="0" max=(whole.max(1)) value=(count.count) aria-label=(format!("share of {}", count.name)) {} }
                    td.number { (count.count) }
                }
            } }
        }
    }
}

fn funnel(summary: &DatasetSummary) -> Markup {
    html! {
        h2 { "Funnel" }
        p { strong { (summary.proposed) } " attempts, " strong { (summary.rows) } " rows" }
        @if !summary.dropped.is_empty() {
            table {
                caption.sr { "Dropped attempts by step and reason" }
                thead { tr { th scope="col" { "Dropped by" } th scope="col" { "Reason" } th.number scope="col" { "Attempts" } } }
                tbody { @for (step, reasons) in &summary.dropped { @for Count { name, count } in reasons {
                    tr { td { (step) } td { (short(name)) } td.number { (count) } }
                } } }
            }
        }
    }
}

/// Shows a row as a conversation.
pub(crate) fn row(visit: &Visit<'_>, id: &str) -> Answer {
    let missing = || Problem::new(Kind::NotFound, format!("the dataset has no row {}", quoted(id, 60)));
    let row = rows(visit)?.row(id).map_err(unreadable)?.ok_or_else(missing)?;
    let body = html! {
        (crumbs(&[(visit.links.page(&["rows"]), "Rows")]))
        h1 { "Row " code { (short(&row.summary.id)) } }
        p { span.badge { (row.summary.split) } " " span.badge { (row.summary.ability) } " "
            @for tag in &row.summary.tags { a.badge href=(visit.links.query(&["rows"], &[("tag", tag)])) { (tag) } " " } }
        dl.facts {
            dt { "Domains" }
            dd { @for domain in &row.summary.domains { a href=(visit.links.query(&["rows"], &[("domain", domain)])) { (domain) } " " } }
            @for (name, fact) in &row.facts { dt { (name) } dd { (short(fact)) } }
        }
        h2 { "Conversation" }
        (conversation("turn", &row.turns))
        h2 { "More of the row" }
        @for (name, text) in &row.documents { (document(name, text)) }
    };
    Ok(Page::reply(Section::Rows, format!("Row {id}"), body))
}

fn document(name: &str, text: &str) -> Markup {
    html! {
        details { summary { (name) }
            @match serde_json::from_str::<Json>(text) {
                Ok(json) => (json_block(name, &json)),
                Err(_) => (text_block(name, text)),
            }
        }
    }
}
