//! Owns the extracts of the guide for authors: a prompt has the sections that its step needs, by their
//! headings.

/// Text of the guide for authors.
pub(super) const GUIDE: &str = include_str!("../../../docs/writing-a-domain.md");

/// Section of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Resources, APIs, fields and behaviours.
    World,
    /// The expression language.
    Expressions,
    /// Providers and their options.
    Values,
    /// Bindings, goals and steps.
    Plots,
    /// Lines and their wordings.
    Words,
    /// Manner of speech of users and assistants.
    Speech,
    /// Size and contents of a domain.
    Domain,
    /// Reasons for which tries do not become rows.
    Findings,
}

impl Section {
    /// Returns the heading line of the section.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::World => "## The world",
            Self::Expressions => "## Expressions",
            Self::Values => "## Made-up values",
            Self::Plots => "## The plots",
            Self::Words => "## The words",
            Self::Speech => "### How people speak",
            Self::Domain => "## A good domain",
            Self::Findings => "## Trying it",
        }
    }

    /// Returns the section with its heading, up to the next heading of its level or above. The text is
    /// empty if the guide lacks the heading.
    fn text(self) -> String {
        let level = count_marks(self.heading());
        let (mut text, mut in_section, mut in_example) = (String::new(), false, false);
        for line in GUIDE.lines() {
            in_example ^= line.starts_with("```");
            // A comment in an example looks like a heading.
            let marks = if in_example { 0 } else { count_marks(line) };
            in_section = if (1..=level).contains(&marks) { line == self.heading() } else { in_section };
            if in_section {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// Counts the marks of a heading: 2 for `## The world`, 0 for any other line.
fn count_marks(line: &str) -> usize {
    line.split_once(' ')
        .map_or(0, |(marks, _)| if marks.bytes().all(|byte| byte == b'#') { marks.len() } else { 0 })
}

/// Joins the texts of sections.
pub(super) fn cut(sections: &[Section]) -> String {
    let texts: Vec<String> = sections.iter().map(|section| section.text()).collect();
    texts.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_goes_to_the_next_heading_of_its_level() {
        use Section::{Domain, Expressions, Findings, Plots, Speech, Values, Words, World};
        let sections = [World, Expressions, Values, Plots, Words, Speech, Domain, Findings];
        for section in sections {
            let text = cut(&[section]);
            assert!(text.lines().count() > 3 && GUIDE.contains(&text), "{section:?}: {text}");
            let inside = sections.into_iter().filter(|other| text.contains(other.heading()));
            let expect = if section == Words { vec![Words, Speech] } else { vec![section] };
            assert_eq!(inside.collect::<Vec<_>>(), expect);
        }
        // A comment in an example does not end the section.
        assert!(cut(&[World]).contains("**Who may ask.**"));
        assert_eq!(cut(&[Domain, Findings]).matches("## ").count(), 2);
    }
}
