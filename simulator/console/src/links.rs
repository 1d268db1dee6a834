//! Addresses of pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that stand for themselves in a segment of a path and in a query string.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of the first page, which all others lie below.
pub(crate) struct Links {
    root: String,
}

impl Links {
    pub(crate) const fn new(root: String) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// The address of the page that these segments name.
    pub(crate) fn page(&self, segments: &[&str]) -> String {
        let mut address = self.root.clone();
        for segment in segments {
            address.push('/');
            address.extend(utf8_percent_encode(segment, &PLAIN));
        }
        address
    }

    /// The address of the page that these segments name, with a query string.
    pub(crate) fn query(&self, segments: &[&str], pairs: &[(&str, &str)]) -> String {
        let mut address = self.page(segments);
        for (position, (name, value)) in pairs.iter().enumerate() {
            address.push(if position == 0 { '?' } else { '&' });
            address.push_str(name);
            address.push('=');
            address.extend(utf8_percent_encode(value, &PLAIN));
        }
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_values_are_escaped() {
        let links = Links::new("/x".to_owned());
        assert_eq!(links.page(&["worlds", "a/b?c"]), "/x/worlds/a%2Fb%3Fc");
        assert_eq!(links.query(&["rows"], &[("text", "a&b"), ("n", "1")]), "/x/rows?text=a%26b&n=1");
    }
}
