//! Text to syntax tree, by the `cel` crate's parser, behind the [`guard`](super::guard).

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cel::common::ast::{IdedExpr, SourceInfo};

use crate::expr::{ExprError, guard};

/// A syntax tree, and where in the text its nodes stand.
pub(super) struct Parsed<'t> {
    tree: Arc<Tree>,
    source: &'t str,
}

struct Tree {
    root: IdedExpr,
    info: SourceInfo,
}

/// Trees of texts that were parsed before: the surfaces of a world have the same expressions many times over.
#[derive(Default)]
struct Known {
    trees: HashMap<Box<str>, Arc<Tree>>,
    /// Of the texts.
    bytes: usize,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Bytes of text that are kept; with one more, all go.
const MAX_KNOWN: usize = 512 * 1024;

impl Known {
    fn keep(&mut self, source: &str, tree: &Arc<Tree>) {
        if self.bytes + source.len() > MAX_KNOWN {
            *self = Self::default();
        }
        if self.trees.insert(source.into(), tree.clone()).is_none() {
            self.bytes += source.len();
        }
    }
}

/// Deepest recursion of the parser: brackets, and the right sides of conditionals.
const MAX_RECURSION: u16 = 64;

/// Parses text.
pub(super) fn parse(source: &str) -> Result<Parsed<'_>, ExprError> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).trees.get(source).cloned();
    if let Some(tree) = known {
        return Ok(Parsed { tree, source });
    }
    guard::admit(source)?;
    // An environment of its own has no macros: `all` and `exists` are ours, and stay as they are written.
    let parser =
        cel::Env::default().parser().enable_optional_syntax(false).max_recursion_depth(MAX_RECURSION);
    match parser.parse_with_source_info(source) {
        Ok((root, info)) => {
            let tree = Arc::new(Tree { root, info });
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).keep(source, &tree);
            Ok(Parsed { tree, source })
        }
        Err(errors) => Err(first_error(source, &errors)),
    }
}

impl Parsed<'_> {
    pub(super) fn root(&self) -> &IdedExpr {
        &self.tree.root
    }

    /// Where a node starts, as a byte offset. For operators and member accesses this is the operator, for calls
    /// the bracket.
    pub(super) fn offset(&self, id: u64) -> usize {
        let start = self.tree.info.offset_for(id).map_or(0, |(start, _)| start as usize);
        if self.source.is_char_boundary(start) { start } else { 0 }
    }

    /// Where the name stands before the bracket of its call.
    pub(super) fn name_before(&self, bracket: usize, name: &str) -> usize {
        let before = self.source.get(..bracket).unwrap_or_default().trim_end();
        before.strip_suffix(name).map_or(bracket, str::len)
    }
}

fn first_error(source: &str, errors: &cel::ParseErrors) -> ExprError {
    let Some(error) = errors.errors.first() else {
        return ExprError { offset: 0, message: "this is not an expression".to_owned() };
    };
    let (line, column) = error.pos;
    let line_start: usize =
        source.split_inclusive('\n').take(usize::try_from(line - 1).unwrap_or(0)).map(str::len).sum();
    let rest = source.get(line_start..).unwrap_or_default();
    let characters = usize::try_from(column - 1).unwrap_or(0);
    let offset = line_start + rest.char_indices().nth(characters).map_or(rest.len(), |(offset, _)| offset);
    ExprError { offset: offset.min(source.len()), message: reword(&error.msg, source, offset) }
}

/// The parser's messages name its grammar's tokens; say what stands there instead.
fn reword(message: &str, source: &str, offset: usize) -> String {
    if message.contains("Recursion limit") {
        return "the expression is nested too deeply; split it with `let`".to_owned();
    }
    let there: String = source.get(offset..).unwrap_or_default().chars().take(20).collect();
    let there = there.split_whitespace().next().unwrap_or_default();
    if message.starts_with("Syntax error") || message.starts_with("Incomplete") {
        return match there {
            "" => "the expression ends too early; expected an operand".to_owned(),
            _ => {
                format!("found `{there}` where an operator or the end was expected, or an operand is missing")
            }
        };
    }
    match message {
        "invalid int literal" => return "the integer does not fit into 64 bits".to_owned(),
        "invalid double literal" => return "the number is too large".to_owned(),
        _ => {}
    }
    let mut characters = message.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
