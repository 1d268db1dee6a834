//! Owns the pieces of pages: values, tables of records, links between the pages of a list. Each shows a
//! bounded part of its input.

use std::borrow::Cow;

use diorama_seeds::model::{Record, Resource};
use diorama_seeds::value::{Value, Zone};
use maud::{Markup, html};
use serde_json::Value as Json;

use crate::links::Links;

/// Maximum length of a value in a table, in characters.
const MAX_CELL_CHARS: usize = 240;
/// Maximum length of a value in a block of its own, in characters.
const MAX_BLOCK_CHARS: usize = 20_000;

/// Renders JSON over several lines.
pub(crate) fn json_block(label: &str, json: &Json) -> Markup {
    text_block(label, &serde_json::to_string_pretty(json).unwrap_or_default())
}

/// Renders a text in a block that keeps its spaces and line breaks.
pub(crate) fn text_block(label: &str, text: &str) -> Markup {
    let (shown, left) = shorten(text, MAX_BLOCK_CHARS);
    html! {
        // The attribute lets the keyboard scroll the block.
        pre tabindex="0" role="region" aria-label=(label) { code { bdi { (shown) } } }
        @if left > 0 { p.hint { (left) " more characters are left out here; the HTTP API has them." } }
    }
}

/// Renders a text of a person or a model with its line breaks.
pub(crate) fn prose(text: &str) -> Markup {
    let (shown, left) = shorten(text, MAX_BLOCK_CHARS);
    html! {
        p.prose dir="auto" { (shown) }
        @if left > 0 { p.hint { (left) " more characters are left out here." } }
    }
}

/// Renders a value in a table.
pub(crate) fn cell(value: &Json) -> Markup {
    let text = match value {
        Json::Null => return html! { span.none { "null" } },
        Json::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(other.to_string()),
    };
    short(&text)
}

/// Renders a text in a table.
pub(crate) fn short(text: &str) -> Markup {
    let (shown, left) = shorten(text, MAX_CELL_CHARS);
    html! { bdi { (shown) } @if left > 0 { span.none { " … " (left) " more" } } }
}

/// Returns the beginning of a text, and the number of omitted characters.
fn shorten(text: &str, most: usize) -> (Cow<'_, str>, usize) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (visible(&text[..end]), text[end..].chars().count()),
        None => (visible(text), 0),
    }
}

/// Replaces characters that change the writing direction by their JSON escapes: `\u202e`.
fn visible(text: &str) -> Cow<'_, str> {
    let turns = |found: char| matches!(found, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(turns) {
        return Cow::Borrowed(text);
    }
    let mut spelt = String::with_capacity(text.len());
    for found in text.chars() {
        if turns(found) { spelt.push_str(&format!("\\u{:04x}", u32::from(found))) } else { spelt.push(found) }
    }
    Cow::Owned(spelt)
}

/// Renders the value of a field. An absent value has a word of its own.
pub(crate) fn field(value: &Value, zone: &Zone) -> Markup {
    match value {
        Value::Absent => html! { span.none { "absent" } },
        value => cell(&value.to_json(zone)),
    }
}

/// CSS class of a row in a table of records, and a word for it.
pub(crate) type Mark = Option<(&'static str, &'static str)>;

/// Renders records as a table, each with its mark.
pub(crate) fn records<'r>(
    resource: &Resource,
    zone: &Zone,
    caption: &str,
    rows: impl Iterator<Item = (&'r Record, Mark)>,
) -> Markup {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return html! { p.hint { "No records." } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr {
                    th scope="col" { span.sr { "Change" } }
                    @for field in &resource.fields { th scope="col" { (field.name) } }
                } }
                tbody {
                    @for (record, mark) in rows {
                        tr class=[mark.map(|(class, _)| class)] {
                            td { @if let Some((class, word)) = mark { span.badge.(class) { (word) } } }
                            @for value in record.iter() { td { (field(value, zone)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Page of a list.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    pub(crate) total: usize,
}

/// Renders the range of a list page, with links to the pages before and after it. `pairs` are the other
/// members of the query string.
pub(crate) fn pager(links: &Links, segments: &[&str], pairs: &[(&str, &str)], range: Range) -> Markup {
    let Range { offset, limit, total } = range;
    if total <= limit && offset == 0 {
        return html! {};
    }
    let address = |offset: usize| {
        let text = offset.to_string();
        let pairs: Vec<(&str, &str)> = pairs.iter().copied().chain([("offset", text.as_str())]).collect();
        links.query(segments, &pairs)
    };
    let end = offset.saturating_add(limit).min(total);
    html! {
        nav.pager aria-label="Pages of the list" {
            @if offset > 0 { a rel="prev" href=(address(offset.saturating_sub(limit))) { "← Before" } }
            span { (offset.min(total).saturating_add(1)) "–" (end) " of " (total) }
            @if end < total { a rel="next" href=(address(end)) { "After →" } }
        }
    }
}

/// Renders links to the pages above this one.
pub(crate) fn crumbs(above: &[(String, &str)]) -> Markup {
    html! {
        nav.crumbs aria-label="Pages above this one" {
            @for (address, name) in above { a href=(address) { (short(name)) } " / " }
        }
    }
}

/// Returns the start of a session's id, for running text.
pub(crate) fn short_id(id: &str) -> &str {
    id.char_indices().nth(8).map_or(id, |(end, _)| &id[..end])
}

/// Returns the CSS class of a badge for the status of a reply.
pub(crate) const fn status_class(status: u16) -> &'static str {
    match status {
        200..=299 => "good",
        500.. => "bad",
        _ => "warn",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_escaped_and_bounded() {
        let check = |json: Json, expect: &str| assert_eq!(cell(&json).into_string(), expect);
        check(json!("<b>\u{202e}x"), "<bdi>&lt;b&gt;\\u202ex</bdi>");
        check(json!(["a\"b"]), "<bdi>[&quot;a\\&quot;b&quot;]</bdi>");
        check(
            json!("é".repeat(241)),
            &format!("<bdi>{}</bdi><span class=\"none\"> … 1 more</span>", "é".repeat(240)),
        );
        let block = text_block("x", &"a".repeat(1 << 20)).into_string();
        assert!(block.len() < MAX_BLOCK_CHARS + 200, "{}", block.len());
    }
}
