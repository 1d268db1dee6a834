//! Lists: members that count them, members that say which page of them is shown, and members that tell a place.

use super::table::{key_of, lines};
use crate::english::{singular, split_identifier};

/// What a member beside a list says of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// How many items there are.
    Total,
    /// The number of the page, or how many pages there are.
    One,
    /// How many items a page has at most.
    Size,
    /// How many items lie before the page.
    Zero,
    /// What leads to another page, or says that there is one.
    None,
}

/// What a member of this name says of the page of the list beside it.
pub fn page_member(name: &str) -> Option<Page> {
    Some(match key_of("pages", &split_identifier(name).concat())? {
        "total" => Page::Total,
        "one" => Page::One,
        "size" => Page::Size,
        "zero" => Page::Zero,
        _ => Page::None,
    })
}

/// The plain noun of what a number counts: `track` for `tracks_count`, `total_tracks` and `numberOfTracks`.
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

/// The plain names of members that tell where a thing is: its city, its country, and what holds those.
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
