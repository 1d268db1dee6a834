//! Owns the addresses of pages: on a server, or in files of one folder.

use std::cell::RefCell;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that need no escape in a segment of a path and in a query string.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Addresses of pages.
pub(crate) enum Links {
    /// Addresses below that of the first page of a server.
    Served(String),
    /// Names of files. The cell records the requested addresses, so that their pages are written as well.
    Files(RefCell<Vec<Address>>),
}

/// Path and query string of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) segments: Vec<String>,
    pub(crate) pairs: Vec<(String, String)>,
}

impl Links {
    /// Returns the address of the first page.
    pub(crate) fn root(&self) -> String {
        self.page(&[])
    }

    /// Returns true if pages are files.
    pub(crate) const fn are_files(&self) -> bool {
        matches!(self, Self::Files(_))
    }

    /// Returns the address of the page at a path.
    pub(crate) fn page(&self, segments: &[&str]) -> String {
        self.query(segments, &[])
    }

    /// Returns the address of the page at a path with a query string.
    pub(crate) fn query(&self, segments: &[&str], pairs: &[(&str, &str)]) -> String {
        match self {
            Self::Served(root) => server_address(root, segments, pairs),
            Self::Files(noted) => {
                let address = Address::new(segments, pairs);
                let name = address.file();
                noted.borrow_mut().push(address);
                name
            }
        }
    }
}

impl Address {
    pub(crate) fn new(segments: &[&str], pairs: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            segments: segments.iter().map(|segment| (*segment).to_owned()).collect(),
            pairs: pairs.iter().map(pair).collect(),
        }
    }

    /// Returns the name of its file. A segment or value that is not short and plain is hashed, because others
    /// may have written it.
    pub(crate) fn file(&self) -> String {
        let mut name = self.segments.iter().map(|segment| word(segment)).collect::<Vec<_>>().join("-");
        for (own, value) in &self.pairs {
            name.push_str(&format!(".{own}-{}", word(value)));
        }
        if name.is_empty() { "index.html".to_owned() } else { format!("{name}.html") }
    }
}

/// Returns a text as a part of a file's name, hashed unless it is short and plain.
fn word(text: &str) -> String {
    let is_plain =
        text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_plain { text.to_owned() } else { blake3::hash(text.as_bytes()).to_hex()[..16].to_owned() }
}

fn server_address(root: &str, segments: &[&str], pairs: &[(&str, &str)]) -> String {
    let mut address = root.to_owned();
    for segment in segments {
        address.push('/');
        address.extend(utf8_percent_encode(segment, &PLAIN));
    }
    for (position, (name, value)) in pairs.iter().enumerate() {
        address.push(if position == 0 { '?' } else { '&' });
        address.push_str(name);
        address.push('=');
        address.extend(utf8_percent_encode(value, &PLAIN));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_values_are_escaped() {
        let links = Links::Served("/x".to_owned());
        assert_eq!(links.page(&["worlds", "a/b?c"]), "/x/worlds/a%2Fb%3Fc");
        assert_eq!(links.query(&["rows"], &[("text", "a&b"), ("n", "1")]), "/x/rows?text=a%26b&n=1");
    }

    #[test]
    fn names_of_files_hold_no_text_of_others() {
        let check = |segments: &[&str], pairs: &[(&str, &str)], expect: &str| {
            assert_eq!(Address::new(segments, pairs).file(), expect);
        };
        check(&["runs", "0", "12"], &[], "runs-0-12.html");
        check(&["runs", "0"], &[("offset", "50")], "runs-0.offset-50.html");
        check(&[], &[], "index.html");
        let hostile = Address::new(&["runs", "../x"], &[("domain", "/etc/passwd")]).file();
        assert!(!hostile.contains('/') && !hostile.contains(".."), "{hostile}");
    }
}
