//! Owns the page of two stored runs side by side: the difference of their success, and the episodes with
//! different verdicts.

use diorama_sessions::Problem;
use maud::{Markup, html};

use crate::answer::{Answer, Page, Section};
use crate::pieces::{Range, crumbs, pager, short};
use crate::runs::{EpisodePair, EpisodeSummary, RunComparison};
use crate::runs_page::{run, runs, verdict};
use crate::visit::Visit;

/// Number of episodes on a page.
const EPISODES_PER_PAGE: usize = 50;

/// Shows two runs side by side.
pub(crate) fn show(visit: &Visit<'_>) -> Answer {
    let runs = runs(visit)?;
    let given = |name: &str| {
        let number = visit.query.get(name);
        number.ok_or_else(|| Problem::about(name, "the number of a run", "nothing"))
    };
    let (first, second) = (given("first")?, given("second")?);
    let (left, one) = run(runs, first)?;
    let (right, other) = run(runs, second)?;
    let compared = runs.compare(left, right);
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let pairs = [("first", first), ("second", second)];
    let body = html! {
        (crumbs(&[(visit.links.page(&["runs"]), "Runs")]))
        h1 { "Two runs" }
        p { "First: " a href=(visit.links.page(&["runs", first])) { (short(&one.agent)) } " (" bdi { (one.name) } "). Second: "
            a href=(visit.links.page(&["runs", second])) { (short(&other.agent)) } " (" bdi { (other.name) } ")." }
        @match &compared {
            None => p.hint { "The runs have no counted episode of the same task and trial." },
            Some(compared) => {
                @let range = Range { offset, limit: EPISODES_PER_PAGE, total: compared.differing.len() };
                (difference(compared))
                section #episodes aria-label="Episodes" {
                    h2 { "Episodes with different verdicts" }
                    @if compared.differing.is_empty() { p.hint { "None." } }
                    @else { (table(visit, [first, second], &compared.differing, range)) }
                    (pager(&visit.links, &["runs", "compare"], &pairs, range))
                }
            }
        }
    };
    Ok(Page::reply(Section::Runs, "Two runs", body))
}

fn difference(compared: &RunComparison) -> Markup {
    let RunComparison { both, first_only, second_only, neither, difference, low, high, p, .. } = compared;
    let percent = |share: &f64| format!("{:+.1}", 100.0 * share);
    html! {
        p { "Second less first: " strong { (percent(difference)) " %" } " [" (percent(low)) ", " (percent(high)) "] of "
            (both + first_only + second_only + neither) " episodes that both have, p = " (format!("{p:.3}")) }
        table {
            caption.sr { "Episodes by verdict in both runs" }
            thead { tr { th scope="col" { "" } th.number scope="col" { "Second solved" } th.number scope="col" { "Second failed" } } }
            tbody {
                tr { th scope="row" { "First solved" } td.number { (both) } td.number { (first_only) } }
                tr { th scope="row" { "First failed" } td.number { (second_only) } td.number { (neither) } }
            }
        }
    }
}

fn table(visit: &Visit<'_>, runs: [&str; 2], pairs: &[EpisodePair], range: Range) -> Markup {
    let cell = |run: &str, episode: &EpisodeSummary| {
        html! {
            a href=(visit.links.page(&["runs", run, &episode.position.to_string()])) { (verdict(episode)) }
            @if let Some(failure) = &episode.failure { " " (failure.replace('_', " ")) }
        }
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of episodes" { table {
            thead { tr { th scope="col" { "Task" } th scope="col" { "Trial" } th scope="col" { "First" } th scope="col" { "Second" } th scope="col" { "Domains" } } }
            tbody { @for EpisodePair { first, second } in pairs.iter().skip(range.offset).take(range.limit) {
                tr {
                    td { code { (short(&first.task)) } }
                    td { (first.trial) @if first.is_faulty { " " span.badge { "faults" } } }
                    td { (cell(runs[0], first)) }
                    td { (cell(runs[1], second)) }
                    td { (first.domains.join(", ")) }
                }
            } }
        } }
    }
}
