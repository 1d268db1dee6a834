//! Makes providers whose values look like the samples and patterns of a document.

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use crate::shape::Shape;
use crate::words::words;

/// Last words of names whose values are kinds, even when examples show each once.
pub(super) const KINDS: [&str; 12] = [
    "type",
    "status",
    "kind",
    "category",
    "department",
    "role",
    "job",
    "level",
    "state",
    "priority",
    "certification",
    "class",
];

/// Returns the kinds that only a description names: "`active` or `archived`".
pub(crate) fn kinds_in_description(name: &str, shape: &Shape) -> Option<Vec<String>> {
    let is_value = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte))
    };
    let tail = words(name).pop()?;
    let description =
        shape.description.as_deref().filter(|_| shape.samples.is_empty() && shape.format.is_none())?;
    let told: IndexSet<&str> = description.split('`').skip(1).step_by(2).filter(is_value).collect();
    (KINDS.contains(&tail.as_str()) && told.len() > 1).then(|| told.into_iter().map(str::to_owned).collect())
}

/// Returns the first thirty short values among the samples of a kind.
pub(super) fn few(samples: &[&str]) -> Option<Json> {
    let is_word =
        |sample: &&str| !sample.is_empty() && sample.len() <= 30 && !sample.contains(['{', '[', '<']);
    let short = samples.iter().copied().filter(is_word);
    let distinct: IndexSet<&str> = short.collect();
    let kept: Vec<&str> = distinct.into_iter().take(30).collect();
    (!kept.is_empty()).then(|| json!({"provider": "pick", "of": kept}))
}

/// Returns samples of one form, such as `nm0000093`, as a code: `nm#######`.
pub(super) fn sample_code(samples: &[&str]) -> Option<String> {
    let form = |sample: &str| -> Option<String> {
        let digits = sample.bytes().filter(u8::is_ascii_digit).count();
        (digits >= 4
            && sample.len() <= 40
            && sample.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'))
        .then(|| sample.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect())
    };
    let first = form(samples.first()?)?;
    samples.iter().all(|sample| form(sample).as_ref() == Some(&first)).then_some(first)
}

/// Returns a vocabulary where the samples are few short words that recur.
pub(super) fn vocabulary(samples: &[&str]) -> Option<Json> {
    let distinct: IndexSet<&str> = samples.iter().copied().collect();
    let short = distinct.iter().all(|sample| sample.len() <= 30 && sample.split(' ').count() <= 4);
    let recurs = distinct.len() * 2 <= samples.len();
    (short && !distinct.is_empty() && recurs && distinct.len() <= 30)
        .then(|| json!({"provider": "pick", "of": distinct}))
}

/// Returns times of day for a code of digits that can write them: `##:##`, `##:##:##`.
pub(super) fn clock(code: &str) -> Option<Json> {
    let seconds = match code {
        "##:##" => "",
        "##:##:##" => ":00",
        _ => return None,
    };
    let times: Vec<String> =
        (14..42).map(|half| format!("{:02}:{:02}{seconds}", half / 2, half % 2 * 30)).collect();
    Some(json!({"provider": "pick", "of": times}))
}

/// Converts a simple pattern into a code: `^tt[0-9]{7}` is `tt#######`.
pub(crate) fn pattern_code(pattern: &str) -> Option<String> {
    let mut rest = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut out = String::new();
    while let Some(first) = rest.chars().next() {
        let (unit, used) = if rest.starts_with("[0-9]") {
            ("#".to_owned(), 5)
        } else if rest.starts_with("\\d") {
            ("#".to_owned(), 2)
        } else if rest.starts_with("[A-Z]") {
            ("{A}".to_owned(), 5)
        } else if rest.starts_with("[a-f0-9]") || rest.starts_with("[0-9a-f]") {
            ("{x}".to_owned(), 8)
        } else if rest.starts_with("[0-9a-fA-F]") || rest.starts_with("[a-fA-F0-9]") {
            ("{x}".to_owned(), 11)
        } else if first.is_ascii_alphanumeric() || ['-', '_', '/', ' ', ':'].contains(&first) {
            (first.to_string(), first.len_utf8())
        } else {
            return None;
        };
        rest = rest.get(used..)?;
        let mut times = 1;
        if let Some(tail) = rest.strip_prefix('{') {
            let (count, after) = tail.split_once('}')?;
            let least = count.split(',').next()?;
            times = least.parse::<usize>().ok().filter(|times| *times <= 64)?;
            rest = after;
        } else if rest.starts_with(['*', '+', '?']) {
            return None;
        }
        for _ in 0..times {
            out.push_str(&unit);
        }
    }
    Some(out.replace("}{", "")).filter(|out| !out.is_empty())
}
