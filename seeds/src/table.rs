//! Owns tables in embedded text files. A row is a line that is neither empty nor a comment. Comments begin
//! with `# `, so a row may begin with `#1f4e79`.

use std::collections::HashMap;

/// Returns the rows of a table, without surrounding spaces.
pub fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !(line.is_empty() || *line == "#" || line.starts_with("# ")))
}

/// Returns the keys and values of the rows `key: value` of a table. It skips other rows.
pub fn pairs(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    rows(text).filter_map(|row| row.split_once(": "))
}

/// Returns the words of the rows `key: word word` of a table, by key.
pub fn group_words<C: FromIterator<&'static str>>(text: &'static str) -> HashMap<&'static str, C> {
    pairs(text).map(|(key, words)| (key, words.split_whitespace().collect())).collect()
}

/// Returns the name in a heading `[name]`, or none for any other row.
pub(crate) fn read_heading(row: &'static str) -> Option<&'static str> {
    row.strip_prefix('[')?.strip_suffix(']')
}

/// Returns the rows below the headings `[section]` of a table, each with the name of its section. Rows before
/// the first heading have an empty name.
pub(crate) fn sections(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    rows(text).filter_map(move |row| match read_heading(row) {
        Some(name) => {
            section = name;
            None
        }
        None => Some((section, row)),
    })
}

/// Returns the columns of a row, which `|` separates. Missing columns are empty.
pub(crate) fn columns<const N: usize>(row: &'static str) -> [&'static str; N] {
    let mut parts = row.split('|');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_no_rows() {
        let text = "# Names.\n#\n\nabove: 1\n[first]\n  a: b: c  \n[second]\n#d1e2f3\nx|y\n";
        let all = ["above: 1", "[first]", "a: b: c", "[second]", "#d1e2f3", "x|y"];
        assert_eq!(rows(text).collect::<Vec<_>>(), all);
        assert_eq!(pairs(text).collect::<Vec<_>>(), [("above", "1"), ("a", "b: c")]);
        assert_eq!(
            group_words::<Vec<_>>(text),
            HashMap::from([("above", vec!["1"]), ("a", vec!["b:", "c"])])
        );
        let found: Vec<_> = sections(text).collect();
        assert_eq!(found, [("", "above: 1"), ("first", "a: b: c"), ("second", "#d1e2f3"), ("second", "x|y")]);
        assert_eq!(columns::<3>("x|y"), ["x", "y", ""]);
    }
}
