//! Locates paths: finds the line and column of a document path, by walking the YAML events of the text. JSON
//! is YAML here.
//!
//! Runs only if there are findings. Builds no tree of the document, so a large or hostile text costs one
//! pass.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::path::{Step, parse};
use crate::report::{Finding, Report};

impl Report {
    /// Fills in lines and columns from the text that the document was read from. Sorts the findings by
    /// position and sets the file's name.
    #[must_use]
    pub fn located(mut self, name: &str, text: &[u8]) -> Self {
        name.clone_into(&mut self.name);
        locate(self.findings.iter_mut(), text);
        self.findings.sort_by_key(|finding| (finding.line.unwrap_or(0), finding.column.unwrap_or(0)));
        self
    }
}

/// Fills in missing lines and columns in one pass over the text. A path into an alias gets the position of
/// its nearest ancestor. So does a path that the text lacks, such as a default.
pub(crate) fn locate<'f>(findings: impl Iterator<Item = &'f mut Finding>, text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut wanted = PathTree::default();
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

/// The paths to locate, as a tree. Node 0 is the document.
#[derive(Default)]
struct PathTree {
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
    /// The content of a scalar, and the number of characters before it. None if it spans lines or has
    /// escapes.
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

/// A sequence or mapping that the walk is inside of.
struct Open {
    /// Its node in the tree of wanted paths, if a finding is inside of it.
    node: Option<usize>,
    kind: Kind,
}

enum Kind {
    /// Index of the next item.
    Sequence(usize),
    /// The last key, with its position. `None` if the next node is a key.
    Mapping(Option<(Step, (u32, u32))>),
}

impl PathTree {
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
                        // A block scalar begins on the line below its key, so the key's position is taken.
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
                        // A key that is itself a collection has no path, so its pair is skipped.
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

    /// Locates the items of a block scalar with one item per line. `from` is the line of the scalar's start
    /// or of its `|`.
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

    /// Returns the tree node of the value that begins now, and the position of its key in a mapping.
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
    // With escapes or folded lines, the scalar is longer in the file than its value, so offsets do not match.
    let same =
        span.len() == value.chars().count() + 2 * quote as usize && span.start.line() == span.end.line();
    same.then(|| (value.to_owned(), quote))
}
