//! Owns the pages of stored runs: success with intervals, failures, and one episode with the reference beside
//! it.

use diorama_sessions::{Kind, Problem, quoted};
use maud::{Markup, html};

use crate::answer::{Answer, Page, Section};
use crate::pieces::{Range, crumbs, pager, short};
use crate::rows::Count;
use crate::rows_page::unreadable;
use crate::runs::{EpisodeFilter, EpisodeSummary, PassRate, RunSummary, Runs, ShareInterval};
use crate::turns::conversation;
use crate::verdicts::verdicts;
use crate::visit::Visit;

/// Number of episodes on a page.
const EPISODES_PER_PAGE: usize = 50;
/// Width of the image of an interval, in pixels.
const WIDTH: f64 = 220.0;

pub(crate) fn runs<'a>(visit: &Visit<'a>) -> Result<&'a dyn Runs, Problem> {
    let none = || Problem::new(Kind::NotFound, "this server shows no run; see `diorama eval show`");
    visit.console.runs().ok_or_else(none)
}

/// Returns the run at the position in a path.
pub(crate) fn run<'a>(runs: &'a dyn Runs, position: &str) -> Result<(usize, &'a RunSummary), Problem> {
    let found =
        position.parse().ok().and_then(|position: usize| Some((position, runs.list().get(position)?)));
    found.ok_or_else(|| Problem::new(Kind::NotFound, format!("there is no run {}", quoted(position, 20))))
}

/// Lists the runs.
pub(crate) fn list(visit: &Visit<'_>) -> Answer {
    let runs = runs(visit)?;
    let body = html! {
        h1 { "Runs" }
        table {
            caption.sr { "Runs" }
            thead { tr { th scope="col" { "Run" } th scope="col" { "Agent" } th scope="col" { "Success" } th.number scope="col" { "Episodes" } } }
            tbody { @for (position, run) in runs.list().iter().enumerate() {
                tr {
                    td { a href=(visit.links.page(&["runs", &position.to_string()])) { (short(&run.name)) } }
                    td { (short(&run.agent)) }
                    td { (interval(run.success)) }
                    td.number { (run.success.of) }
                }
            } }
        }
    };
    Ok(Page::reply(Section::Runs, "Runs", body))
}

/// Shows the summary of a run, with the episodes that match the filters.
pub(crate) fn one(visit: &Visit<'_>, position: &str) -> Answer {
    let runs = runs(visit)?;
    let (number, summary) = run(runs, position)?;
    let given = |name: &str| visit.query.get(name);
    let filter = EpisodeFilter {
        success: given("success").map(|word| word == "solved"),
        failure: given("failure"),
        error: given("error"),
        domain: given("domain"),
    };
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let found = runs.find(number, &filter, offset, EPISODES_PER_PAGE);
    let pairs: Vec<(&str, &str)> = ["success", "failure", "error", "domain"]
        .into_iter()
        .filter_map(|name| Some((name, given(name)?)))
        .collect();
    let range = Range { offset, limit: EPISODES_PER_PAGE, total: found.total };
    let by = |name: &'static str| {
        move |count: &Count| visit.links.query(&["runs", position], &[(name, &count.name)])
    };
    let body = html! {
        (crumbs(&[(visit.links.page(&["runs"]), "Runs")]))
        h1 { (short(&summary.agent)) }
        p { "Success " (interval(summary.success)) " of " (summary.success.of) " episodes" }
        @if !summary.pass_k.is_empty() {
            p { @for PassRate { k, share, tasks } in &summary.pass_k { "pass^" (k) " " (format!("{:.1}", 100.0 * share)) " % of " (tasks) " tasks. " } }
        }
        @if runs.list().len() > 1 {
            p { "Compare with " @for (other, run) in runs.list().iter().enumerate().filter(|(other, _)| *other != number) {
                a href=(visit.links.query(&["runs", "compare"], &[("first", position), ("second", &other.to_string())])) { (short(&run.agent)) " (run " (other + 1) ")" } " "
            } }
        }
        dl.facts { dt { "Run" } dd { bdi { (summary.name) } } @for (name, fact) in &summary.facts { dt { (name) } dd { (short(fact)) } } }
        div.columns {
            section { h2 { "Failures, by where they went wrong first" } (counts(&summary.failures, by("failure"))) }
            section { h2 { "Errors by class" } (counts(&summary.errors, by("error"))) }
        }
        @for (heading, shares) in &summary.shares { (shares_table(visit, position, heading, shares)) }
        section #episodes aria-label="Episodes" {
            h2 { "Episodes" }
            p { strong { (found.total) } " episodes" @for (name, value) in &pairs { ", " (name) " " bdi { (value) } }
                @if !pairs.is_empty() { " " a href=(visit.links.page(&["runs", position])) { "show all" } }
                " · " a href=(format!("{}#episodes", visit.links.query(&["runs", position], &[("success", "failed")]))) { "failed" }
                " · " a href=(format!("{}#episodes", visit.links.query(&["runs", position], &[("success", "solved")]))) { "solved" } }
            @if !found.episodes.is_empty() { (episodes(visit, position, &found.episodes)) }
            (pager(&visit.links, &["runs", position], &pairs, range))
        }
    };
    Ok(Page::reply(Section::Runs, summary.agent.clone(), body))
}

fn counts(counts: &[Count], link: impl Fn(&Count) -> String) -> Markup {
    let most = counts.iter().map(|count| count.count).max().unwrap_or(1).max(1);
    html! {
        @if counts.is_empty() { p.hint { "None." } } @else {
            table.shares {
                thead.sr { tr { th scope="col" { "Name" } th scope="col" { "Share" } th scope="col" { "Episodes" } } }
                tbody { @for count in counts {
                    tr {
                        th scope="row" { a href=(format!("{}#episodes", link(count))) { (count.name.replace('_', " ")) } }
                        td { meter min="0" max=(most) value=(count.count) aria-label=(format!("episodes: {}", count.name)) {} }
                        td.number { (count.count) }
                    }
                } }
            }
        }
    }
}

fn shares_table(
    visit: &Visit<'_>,
    position: &str,
    heading: &str,
    shares: &[(String, ShareInterval)],
) -> Markup {
    let is_filter = heading == "Domain";
    html! {
        details open[is_filter] {
            summary { "Success by " (heading.to_lowercase()) }
            table.shares {
                thead { tr { th scope="col" { (heading) } th scope="col" { "Success, 95 % interval" } th.number scope="col" { "Episodes" } } }
                tbody { @for (name, share) in shares {
                    tr {
                        th scope="row" {
                            @if is_filter { a href=(format!("{}#episodes", visit.links.query(&["runs", position], &[("domain", name)]))) { (short(name)) } }
                            @else { (short(name)) }
                        }
                        td { (interval(*share)) }
                        td.number { (share.of) }
                    }
                } }
            }
        }
    }
}

/// Renders a share with its interval, as an image and in numbers.
fn interval(share: ShareInterval) -> Markup {
    let ShareInterval { share, low, high, .. } = share;
    let words = format!("{:.1} % [{:.1}, {:.1}]", 100.0 * share, 100.0 * low, 100.0 * high);
    let at = |part: f64| format!("{:.1}", 5.0 + (WIDTH - 10.0) * part.clamp(0.0, 1.0));
    html! {
        span.interval {
            svg width=(WIDTH) height="14" aria-hidden="true" {
                line.axis x1=(at(0.0)) x2=(at(1.0)) y1="7" y2="7" {}
                line.range x1=(at(low)) x2=(at(high)) y1="7" y2="7" {}
                circle.share cx=(at(share)) cy="7" r="4" {}
            }
            span { (words) }
        }
    }
}

fn episodes(visit: &Visit<'_>, position: &str, episodes: &[EpisodeSummary]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of episodes" { table {
            thead { tr { th scope="col" { "Task" } th scope="col" { "Trial" } th scope="col" { "Verdict" } th scope="col" { "Went wrong first" } th scope="col" { "Errors" }
                th scope="col" { "Domains" } th.number scope="col" { "Calls" } th.number scope="col" { "Tokens" } } }
            tbody { @for episode in episodes {
                tr {
                    td { a href=(visit.links.page(&["runs", position, &episode.position.to_string()])) { code { (short(&episode.task)) } } }
                    td { (episode.trial) @if episode.is_faulty { " " span.badge { "faults" } } }
                    td { (verdict(episode)) }
                    td { (episode.failure.as_deref().unwrap_or_default().replace('_', " ")) }
                    td { (episode.errors.join(", ").replace('_', " ")) }
                    td { (episode.domains.join(", ")) }
                    td.number { (episode.calls) }
                    td.number { (episode.tokens) }
                }
            } }
        } }
    }
}

pub(crate) fn verdict(episode: &EpisodeSummary) -> Markup {
    html! {
        @if episode.success { span.badge.good { "solved" } } @else { span.badge.bad { "failed" } }
        @if episode.excluded { " " span.badge.warn { "excluded" } }
    }
}

/// Shows an episode with its verdict, and the reference beside it.
pub(crate) fn episode(visit: &Visit<'_>, position: &str, episode: &str) -> Answer {
    let runs = runs(visit)?;
    let (number, summary) = run(runs, position)?;
    let missing = || Problem::new(Kind::NotFound, format!("the run has no episode {}", quoted(episode, 20)));
    let at: usize = episode.parse().map_err(|_| missing())?;
    let episode = runs.episode(number, at).map_err(unreadable)?.ok_or_else(missing)?;
    let task = &episode.summary.task;
    let grade = &episode.grade;
    let body = html! {
        (crumbs(&[(visit.links.page(&["runs"]), "Runs"), (visit.links.page(&["runs", position]), &summary.agent)]))
        h1 { "Task " code { (short(task)) } " " (verdict(&episode.summary)) }
        p { "Trial " (episode.summary.trial) ", reward " (grade["reward"]) ", " (episode.summary.calls) " calls, " (episode.summary.tokens) " tokens"
            @if let Some(failure) = &episode.summary.failure { ", went wrong first: " strong { (failure.replace('_', " ")) } } }
        (verdicts(grade))
        div.columns {
            section aria-labelledby="agent" { h2 #agent { "The agent" } (conversation("turn", &episode.turns)) }
            section aria-labelledby="reference" {
                h2 #reference { "The reference" }
                @match &episode.reference {
                    Some(turns) => (conversation("reference", turns)),
                    None => p.hint { "Start with --tasks DATASET to see the reference." },
                }
            }
        }
    };
    Ok(Page::reply(Section::Runs, format!("Task {task}"), body))
}
