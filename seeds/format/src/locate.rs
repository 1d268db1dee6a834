//! From a path in a document to its line and column, by walking the text's YAML events (JSON is YAML here).
//!
//! Runs only when there are findings. No tree is built, so a large or hostile text costs one pass.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::path::{Step, parse};
use crate::report::{Finding, Report};

impl Report {
    /// Fills in lines and columns from the text that the document was read from, puts the findings in the order
    /// of the text, and takes the file's name.
    #[must_use]
    pub fn located(mut self, name: &str, text: &[u8]) -> Self {
        name.clone_into(&mut self.name);
        locate(self.findings.iter_mut(), text);
        self.findings.sort_by_key(|finding| (finding.line.unwrap_or(0), finding.column.unwrap_or(0)));
        self
    }
}

/// Fills in the lines and columns that are not known yet, in one pass over the text. A path into an alias, or one that
/// the text does not have (a default, a missing key), gets the place of its nearest ancestor.
pub(crate) fn locate<'f>(findings: impl Iterator<Item = &'f mut Finding>, text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut wanted = Wanted::default();
    let mut open: Vec<(&mut Finding, usize)> = Vec::new();
    for finding in findings.filter(|finding| finding.line.is_none()) {
        if let Some(steps) = parse(&finding.path) {
            open.push((finding, wanted.insert(steps)));
        }
    }
    if open.is_empty() {
        return;
    }
    wanted.walk(text);
    for (finding, asked) in open {
        let mut node = asked;
        let place = loop {
            if let Some(place) = &wanted.nodes[node].place {
                break Some(place);
            }
            if node == 0 {
                break None;
            }
            node = wanted.nodes[node].parent;
        };
        if let Some(place) = place {
            let inside = if node == asked { place.inside(finding.offset) } else { 0 };
            finding.line = Some(place.line);
            finding.column = Some(place.column.saturating_add(inside));
        }
    }
}

/// The wanted paths as a tree; node 0 is the document.
#[derive(Default)]
struct Wanted {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    parent: usize,
    children: HashMap<Step, usize>,
    place: Option<Place>,
}

struct Place {
    line: u32,
    column: u32,
    /// A scalar's text and how many characters stand before it, when it is on one line and has no escapes.
    verbatim: Option<(String, u32)>,
}

impl Place {
    fn inside(&self, offset: Option<u32>) -> u32 {
        match (offset, &self.verbatim) {
            (Some(offset), Some((text, before))) => {
                let head = text.get(..offset as usize).unwrap_or(text);
                before.saturating_add(u32::try_from(head.chars().count()).unwrap_or(0))
            }
            _ => 0,
        }
    }
}

/// A collection that is being walked.
struct Open {
    /// The node of the tree that stands for it, if any finding is inside.
    node: Option<usize>,
    kind: Kind,
}

enum Kind {
    /// The next item's position.
    Sequence(usize),
    /// The key read last, with its place; `None` when the next node is a key.
    Mapping(Option<(Step, (u32, u32))>),
}

impl Wanted {
    fn insert(&mut self, steps: Vec<Step>) -> usize {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        steps.into_iter().fold(0, |parent, step| {
            if let Some(child) = self.nodes[parent].children.get(&step) {
                return *child;
            }
            let child = self.nodes.len();
            self.nodes.push(Node { parent, ..Node::default() });
            self.nodes[parent].children.insert(step, child);
            child
        })
    }

    fn walk(&mut self, text: &str) {
        let mut open: Vec<Open> = Vec::new();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { return };
            match event {
                Event::Scalar(value, style, ..) => {
                    if let Some(Open { kind: Kind::Mapping(key @ None), .. }) = open.last_mut() {
                        *key = Some((Step::Name(value.into_owned()), start(&span)));
                        continue;
                    }
                    let (node, key) = self.enter(&mut open);
                    if let Some(node) = node {
                        // A text of several lines begins below its key.
                        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                        let (line, column) = key.filter(|_| is_block).unwrap_or_else(|| start(&span));
                        let verbatim = verbatim(&value, style, &span);
                        self.nodes[node].place = Some(Place { line, column, verbatim });
                        if style == ScalarStyle::Literal {
                            self.place_lines(node, text, start(&span).0);
                        }
                    }
                }
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    let key_of_mapping = matches!(open.last(), Some(Open { kind: Kind::Mapping(None), .. }));
                    let (node, key) = if key_of_mapping {
                        // A collection as a key has no path; its pair is skipped.
                        if let Some(Open { kind: Kind::Mapping(key), .. }) = open.last_mut() {
                            *key = Some((Step::Index(usize::MAX), start(&span)));
                        }
                        (None, None)
                    } else {
                        self.enter(&mut open)
                    };
                    if let Some(node) = node {
                        let (line, column) = key.unwrap_or_else(|| start(&span));
                        self.nodes[node].place = Some(Place { line, column, verbatim: None });
                    }
                    let sequence = matches!(event, Event::SequenceStart(..));
                    open.push(Open {
                        node,
                        kind: if sequence { Kind::Sequence(0) } else { Kind::Mapping(None) },
                    });
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                }
                Event::Alias(_) => {
                    if let Some(Open { kind: Kind::Mapping(key @ None), .. }) = open.last_mut() {
                        *key = Some((Step::Index(usize::MAX), start(&span)));
                        continue;
                    }
                    if let (Some(node), _) = self.enter(&mut open) {
                        let (line, column) = start(&span);
                        self.nodes[node].place = Some(Place { line, column, verbatim: None });
                    }
                }
                Event::DocumentEnd | Event::StreamEnd => return,
                _ => {}
            }
        }
    }

    /// Gives the items of a text with one item on each line their lines. `from` is where the text begins, or its `|`.
    fn place_lines(&mut self, node: usize, text: &str, from: u32) {
        let wanted: Vec<(usize, usize)> = self.nodes[node]
            .children
            .iter()
            .filter_map(|(step, child)| match step {
                Step::Index(item) => Some((*item, *child)),
                Step::Name(_) => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        let is_head = |line: &str| line.trim_end_matches(['-', '+']).ends_with('|');
        let lines = (1..).zip(text.lines()).skip(from.saturating_sub(1) as usize);
        let items: Vec<(u32, u32)> = lines
            .enumerate()
            .filter(|(position, (_, line))| {
                !(line.trim().is_empty() || *position == 0 && is_head(line.trim_end()))
            })
            .map(|(_, (number, line))| {
                (number, u32::try_from(line.len() - line.trim_start().len()).unwrap_or(0) + 1)
            })
            .take(wanted.iter().map(|(item, _)| item + 1).max().unwrap_or(0))
            .collect();
        for (item, child) in wanted {
            if let Some((line, column)) = items.get(item) {
                self.nodes[child].place = Some(Place { line: *line, column: *column, verbatim: None });
            }
        }
    }

    /// The tree's node for the value that starts now, and the place of its key in a mapping.
    fn enter(&self, open: &mut [Open]) -> (Option<usize>, Option<(u32, u32)>) {
        let Some(parent) = open.last_mut() else { return (Some(0), None) };
        let (step, key) = match &mut parent.kind {
            Kind::Sequence(next) => {
                *next += 1;
                (Step::Index(*next - 1), None)
            }
            Kind::Mapping(key) => match key.take() {
                Some((step, place)) => (step, Some(place)),
                None => return (None, None),
            },
        };
        let node = parent.node.and_then(|node| self.nodes[node].children.get(&step).copied());
        (node, key)
    }
}

fn start(span: &Span) -> (u32, u32) {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (number(span.start.line()), number(span.start.col()).saturating_add(1))
}

fn verbatim(value: &str, style: ScalarStyle, span: &Span) -> Option<(String, u32)> {
    let quote = match style {
        ScalarStyle::Plain => 0,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => 1,
        _ => return None,
    };
    // With an escape, or folded over lines, the text in the file is longer than the value.
    let same =
        span.len() == value.chars().count() + 2 * quote as usize && span.start.line() == span.end.line();
    same.then(|| (value.to_owned(), quote))
}
