//! Markdown removal: replaces markup by blanks and block ends by line ends. The length stays, so byte
//! positions remain valid.

use std::borrow::Cow;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Marks the end of a table cell.
pub(crate) const CELL: char = '\u{1f}';

/// Returns the text with its markup and its struck-through parts blanked.
pub(crate) fn plain(source: &str) -> Cow<'_, str> {
    let is_marked = |c: char| matches!(c, '*' | '_' | '`' | '#' | '|' | '~' | '<' | '[' | '\n' | '\\' | '&');
    let starts_list = source.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '>'));
    if !starts_list && !source.contains(is_marked) {
        return Cow::Borrowed(source);
    }
    let mut plain = vec![b' '; source.len()];
    let mut struck = 0_usize;
    let mut items: Vec<usize> = Vec::new();
    for (event, range) in
        Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).into_offset_iter()
    {
        let mut mark = |at: usize, with: u8| {
            if let Some(byte) = plain.get_mut(at).filter(|byte| **byte == b' ') {
                *byte = with;
            }
        };
        match event {
            Event::Start(Tag::Strikethrough) => struck += 1,
            Event::Start(Tag::Item) => items.push(range.start),
            Event::End(TagEnd::Strikethrough) => struck = struck.saturating_sub(1),
            Event::Text(_) | Event::Code(_) if struck == 0 => {
                let text = source.as_bytes().get(range.clone()).unwrap_or_default();
                if let Some(place) = plain.get_mut(range) {
                    place.copy_from_slice(text);
                    place.iter_mut().filter(|byte| **byte == b'`').for_each(|byte| *byte = b' ');
                }
            }
            Event::SoftBreak | Event::HardBreak => mark(range.start, b'\n'),
            Event::InlineHtml(tag) if tag.starts_with("<br") => mark(range.start, b'\n'),
            Event::Html(_) => {
                // Keeps the text between HTML tags and turns each tag into line ends.
                let mut inside = false;
                for (at, byte) in source.as_bytes().iter().enumerate().take(range.end).skip(range.start) {
                    inside |= *byte == b'<';
                    plain[at] = if inside { b'\n' } else { *byte };
                    inside &= *byte != b'>';
                }
            }
            Event::End(TagEnd::TableCell) => {
                mark(range.end.min(source.len().saturating_sub(1)), CELL as u8);
            }
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead,
            ) => {
                // The last byte of a block is its line end or part of its text.
                let own =
                    source.as_bytes().get(range.end.saturating_sub(1)).is_some_and(u8::is_ascii_whitespace);
                mark(if own { range.end - 1 } else { range.end }, b'\n');
            }
            _ => {}
        }
    }
    // A single list item such as `7. The fastest is ..` is a sentence that begins with a number. A list has
    // at least two items.
    if let [only] = *items {
        let number = source[only..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        plain[only..only + number].copy_from_slice(&source.as_bytes()[only..only + number]);
    }
    String::from_utf8(plain).map_or(Cow::Borrowed(source), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_blanked_and_places_stay() {
        for (source, expect) in [
            ("**Ana** costs *80*", "  Ana   costs  80 "),
            ("1. Ana\n2. Rui", "   Ana\n   Rui"),
            ("it was ~~80~~ 90", "it was        90"),
            ("[Room 5](https://x.example/12) is free", " Room 5                        is free"),
            ("2 * 3 is 6 and in_progress", "2 * 3 is 6 and in_progress"),
        ] {
            let plain = plain(source);
            assert_eq!(plain.len(), source.len());
            assert_eq!(plain.trim_end(), expect.trim_end());
        }
    }
}
