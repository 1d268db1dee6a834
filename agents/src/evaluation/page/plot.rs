//! Plots as SVG: shares with their intervals, bars, and shares against a cost.

use std::fmt::Write;

use super::escaped;
use crate::evaluation::cells::Rate;

/// The width of every plot, in its own units.
const WIDTH: f64 = 820.0;
/// Where the labels of rows end.
const LEFT: f64 = 200.0;
/// Where counts begin, to the right of what is drawn.
const RIGHT: f64 = 640.0;
/// The height of one run's mark.
const STEP: f64 = 16.0;

/// A row of shares, one for each run.
pub(super) struct Interval {
    pub(super) label: String,
    pub(super) rates: Vec<Option<Rate>>,
}

/// A row of counts with their shares, one for each run.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) values: Vec<(u64, f64)>,
}

/// A share at a cost.
pub(super) struct Point {
    pub(super) series: usize,
    pub(super) label: String,
    pub(super) x: f64,
    pub(super) rate: Rate,
    /// Whether it is a whole run, and not a part of one.
    pub(super) whole: bool,
}

fn svg(height: f64, name: &str, inside: &str) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{name}\">{inside}</svg>")
}

fn text(x: f64, y: f64, anchor: &str, class: &str, words: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
        escaped(words)
    )
}

fn line(from: (f64, f64), to: (f64, f64), class: &str, width: f64) -> String {
    format!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\" stroke-width=\"{width}\"/>",
        from.0, from.1, to.0, to.1
    )
}

/// The height of a row of marks.
fn row_height(series: usize) -> f64 {
    STEP * series.max(1) as f64 + 8.0
}

/// The middle of a mark.
fn mark(top: f64, series: usize) -> f64 {
    top + STEP * (series as f64 + 0.5)
}

/// Shares from 0 to 100 %, each a dot on its interval, with its counts beside it.
pub(super) fn intervals(rows: &[Interval]) -> String {
    let series = rows.iter().map(|row| row.rates.len()).max().unwrap_or(0);
    if rows.is_empty() {
        return String::new();
    }
    let height = row_height(series) * rows.len() as f64 + 30.0;
    let x = |share: f64| LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0);
    let mut out = String::new();
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        out.push_str(&line((x(tick), 20.0), (x(tick), height - 6.0), "grid", 1.0));
        out.push_str(&text(x(tick), 13.0, "middle", "soft", &format!("{:.0} %", 100.0 * tick)));
    }
    for (number, row) in rows.iter().enumerate() {
        let top = 24.0 + row_height(series) * number as f64;
        let middle = top + STEP * series as f64 / 2.0 + 4.0;
        out.push_str(&text(LEFT - 12.0, middle, "end", "", &row.label));
        for (at, rate) in row.rates.iter().enumerate() {
            let Some(rate) = rate else { continue };
            let y = mark(top, at);
            let (name, said) = (escaped(&row.label), rate.percent());
            let _ = write!(out, "<g><title>{name}: {said}, {} of {}</title>", rate.solved, rate.of);
            out.push_str(&line((x(rate.low), y), (x(rate.high), y), &format!("s{at}"), 2.0));
            let _ = write!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" class=\"s{at}\"/></g>",
                x(rate.share)
            );
            let counts = format!("{:.1} %  ({} of {})", 100.0 * rate.share, rate.solved, rate.of);
            out.push_str(&text(RIGHT + 16.0, y + 4.0, "start", "soft", &counts));
        }
    }
    svg(height, "shares with intervals", &out)
}

/// Bars of shares, the longest as long as there is room.
pub(super) fn bars(rows: &[Bar]) -> String {
    let series = rows.iter().map(|row| row.values.len()).max().unwrap_or(0);
    let most = rows.iter().flat_map(|row| &row.values).map(|(_, share)| *share).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let height = row_height(series) * rows.len() as f64 + 8.0;
    let mut out = line((LEFT, 0.0), (LEFT, height), "grid", 1.0);
    for (number, row) in rows.iter().enumerate() {
        let top = 4.0 + row_height(series) * number as f64;
        let middle = top + STEP * series as f64 / 2.0 + 4.0;
        out.push_str(&text(LEFT - 12.0, middle, "end", "", &row.label));
        for (at, (count, share)) in row.values.iter().enumerate() {
            let (y, width) = (mark(top, at), (RIGHT - LEFT) * share / most);
            let _ = write!(
                out,
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" class=\"s{at}\"/>",
                y - STEP / 2.0 + 2.0,
                STEP - 4.0
            );
            let counts = format!("{count}  ({:.1} % of episodes)", 100.0 * share);
            out.push_str(&text(LEFT + width + 8.0, y + 4.0, "start", "soft", &counts));
        }
    }
    svg(height, "counts", &out)
}

/// A round number that is not below another.
fn rounded_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.max(1e-9).log10().floor());
    [1.0, 2.0, 4.0, 5.0, 8.0, 10.0]
        .into_iter()
        .map(|times| times * unit)
        .find(|round| *round >= value)
        .unwrap_or(value)
}

/// Shares against a cost: whole runs are filled, their parts hollow.
pub(super) fn scatter(points: &[Point], axis: &str) -> String {
    let most = points.iter().map(|point| point.x).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let (top, bottom, left, right) = (26.0, 290.0, 56.0, 700.0);
    let end = rounded_up(most * 1.05);
    let x = |cost: f64| left + (right - left) * cost / end;
    let y = |share: f64| bottom - (bottom - top) * share;
    let mut out = String::new();
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        out.push_str(&line((left, y(tick)), (right, y(tick)), "grid", 1.0));
        out.push_str(&text(left - 8.0, y(tick) + 4.0, "end", "soft", &format!("{:.0} %", 100.0 * tick)));
        let cost = end * tick;
        let words = if end >= 20.0 { format!("{cost:.0}") } else { format!("{cost:.2}") };
        out.push_str(&text(x(cost), bottom + 18.0, "middle", "soft", &words));
    }
    out.push_str(&text((left + right) / 2.0, bottom + 38.0, "middle", "soft", axis));
    for point in points {
        let Point { series, label, rate, whole, .. } = point;
        let at = (x(point.x), y(rate.share));
        out.push_str(&line((at.0, y(rate.low)), (at.0, y(rate.high)), &format!("s{series}"), 1.5));
        let (class, radius) =
            if *whole { (format!("s{series}"), 6.0) } else { (format!("s{series} hollow"), 4.5) };
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" class=\"{class}\" stroke-width=\"1.5\"><title>{}: {:.1} % at \
             {:.1}</title></circle>",
            at.0,
            at.1,
            escaped(label),
            100.0 * rate.share,
            point.x
        );
        // A whole run's name stands above its mark, so that those of its parts stay legible.
        let (right, up) = if *whole { (-3.0, 12.0) } else { (9.0, -4.0) };
        out.push_str(&text(at.0 + right, at.1 - up, "start", "", label));
    }
    svg(bottom + 46.0, "success against cost", &out)
}
