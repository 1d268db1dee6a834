//! Owns the meanings of members beside a list: counts of its items, the page that it shows, and names of
//! locations.

use super::table::{key_of, lines};
use crate::english::{singular, split_identifier};

/// Meaning of a member beside a list for the paging of that list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Number of all items.
    Total,
    /// Number of the page, or number of pages.
    One,
    /// Maximum number of items of a page.
    Size,
    /// Number of items before the page.
    Zero,
    /// Link to another page, or a flag that another page exists.
    None,
}

/// Returns the paging role of a member with this name.
pub fn page_member(name: &str) -> Option<Page> {
    Some(match key_of("pages", &split_identifier(name).concat())? {
        "total" => Page::Total,
        "one" => Page::One,
        "size" => Page::Size,
        "zero" => Page::Zero,
        _ => Page::None,
    })
}

/// Returns the noun that a number counts: `track` for `tracks_count`, `total_tracks` and `numberOfTracks`.
pub fn counted(name: &str) -> Option<String> {
    let parts = split_identifier(name);
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let things = match texts.as_slice() {
        ["number" | "num" | "no", "of", things @ ..] | ["num" | "nb" | "total" | "count", things @ ..] => {
            things
        }
        [things @ .., "count" | "counter"] => things,
        _ => return None,
    };
    let (last, before) = things.split_last()?;
    Some(format!("{}{}", before.concat(), singular(last)))
}

/// Returns the plain names of members that hold a location: its city, its country, or the object around
/// these.
pub fn place_names(kind: &str) -> impl Iterator<Item = &'static str> {
    lines("places").iter().filter(move |line| line.key == kind).flat_map(|line| line.words.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_beside_a_list_tell_of_it() {
        for name in ["total_tracks", "trackCount", "number_of_tracks"] {
            assert_eq!(counted(name).as_deref(), Some("track"), "{name}");
        }
        assert_eq!(["total", "count", "account"].map(counted), [None, None, None]);
        let roles = ["per_page", "totalResults", "current_page", "hasMore", "size_kb"].map(page_member);
        assert_eq!(roles, [Some(Page::Size), Some(Page::Total), Some(Page::One), Some(Page::None), None]);
    }
}
