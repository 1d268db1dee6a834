//! jq as the parser agent writes it: read by `jaq`'s own parser, evaluated here within bounds.
//!
//! A program that a model wrote is untrusted. jaq's evaluator has no bound on steps or memory (`[range(1e9)]`, or a string
//! that doubles a hundred times), so the terms it parses are evaluated over a budget that every value made and every value
//! looked at is charged to. Nothing here loops but over what is charged, recursion is as deep as the program is long, and there
//! is no function that reads a file, the environment or the clock. What is left out (`def`, `reduce`, assignments, regular
//! expressions) is refused by name, so that the model can be told.

mod error;
mod functions;
#[cfg(test)]
mod tests;
mod value;

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::ops::{Cmp, Math};
use jaq_core::path::{Opt, Part, Path};
use serde_json::{Map, Value as Json};

pub use self::error::JqError;
use self::error::{MAX_STEPS, fails, unknown};
use self::value::{arithmetic, compare, index, is_true, size, slice};

/// Characters of a program.
const MAX_PROGRAM_CHARS: usize = 1_000;
/// Brackets inside brackets.
const MAX_DEPTH: usize = 32;
/// A valid program.
#[derive(Clone, Debug)]
pub struct Program {
    text: String,
}

/// One evaluation: the steps that are left, and the variables in scope.
pub(crate) struct Run {
    left: usize,
    variables: Vec<(String, Json)>,
}

type Values = Result<Vec<Json>, JqError>;
type Filter<'s> = Term<&'s str>;

impl Program {
    /// Parses a program, and does not run it.
    ///
    /// # Errors
    /// When it is too long, too deep, or no jq.
    pub fn read(text: &str) -> Result<Self, JqError> {
        let text = text.trim();
        let wrong = |what: &str| Err(JqError::Program(what.to_owned()));
        if text.is_empty() {
            return wrong("the program is empty");
        }
        if text.chars().count() > MAX_PROGRAM_CHARS {
            return wrong("the program is longer than 1,000 characters");
        }
        // The parser recurses over brackets and signs.
        let mut depth = 0_usize;
        for character in text.chars() {
            match character {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                return wrong("the program has more than 32 brackets inside each other");
            }
        }
        if text.contains("-----") {
            return wrong("the program has a run of signs");
        }
        match parsed(text) {
            Some(_) => Ok(Self { text: text.to_owned() }),
            None => wrong("the program is not valid jq"),
        }
    }

    /// Runs it on a value: its outputs.
    ///
    /// # Errors
    /// When it fails, or goes beyond its bounds.
    pub fn run(&self, input: &Json) -> Result<Vec<Json>, JqError> {
        let Some(term) = parsed(&self.text) else {
            return Err(JqError::Program("the program is not valid jq".to_owned()));
        };
        let mut run = Run { left: MAX_STEPS, variables: Vec::new() };
        run.eval(&term, input)
    }
}

fn parsed(text: &str) -> Option<Filter<'_>> {
    jaq_core::load::parse(text, |parser| parser.term())
}

impl Run {
    /// Charges a value that is made.
    pub(crate) fn make(&mut self, value: Json) -> Result<Json, JqError> {
        self.charge(size(&value, self.left))?;
        Ok(value)
    }

    pub(crate) fn charge(&mut self, steps: usize) -> Result<(), JqError> {
        match self.left.checked_sub(steps.max(1)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(JqError::Bound)
            }
        }
    }

    /// The outputs of a term for an input.
    pub(crate) fn eval(&mut self, term: &Filter<'_>, input: &Json) -> Values {
        self.charge(1)?;
        match term {
            Term::Id => Ok(vec![self.make(input.clone())?]),
            Term::Recurse => {
                let mut found = Vec::new();
                self.recurse(input, &mut found)?;
                Ok(found)
            }
            Term::Num(text) => match serde_json::from_str(text) {
                Ok(number) => Ok(vec![number]),
                Err(_) => fails(format!("{text} is not a number")),
            },
            Term::Str(None, parts) => self.text(parts, input),
            Term::Str(Some(format), _) => unknown(format),
            Term::Arr(None) => Ok(vec![Json::Array(Vec::new())]),
            Term::Arr(Some(inner)) => {
                let items = self.eval(inner, input)?;
                Ok(vec![self.make(Json::Array(items))?])
            }
            Term::Obj(members) => self.object(members, input),
            Term::Neg(inner) => {
                let values = self.eval(inner, input)?;
                values.iter().map(|value| arithmetic(&Math::Sub, &Json::from(0), value)).collect()
            }
            Term::BinOp(left, op, right) => self.operation(left, op, right, input),
            Term::TryCatch(body, handler) => match self.eval(body, input) {
                Err(JqError::Value(what)) => match handler {
                    Some(handler) => self.eval(handler, &Json::from(what)),
                    None => Ok(Vec::new()),
                },
                other => other,
            },
            Term::IfThenElse(branches, otherwise) => self.branch(branches, otherwise.as_deref(), input),
            Term::Call(name, arguments) => functions::call(self, name, arguments, input),
            Term::Var(name) => {
                let known = self.variables.iter().rev().find(|(own, _)| own == name);
                match known.map(|(_, value)| value.clone()) {
                    Some(value) => Ok(vec![self.make(value)?]),
                    None => unknown(name),
                }
            }
            Term::Path(start, path) => {
                let starts = self.eval(start, input)?;
                self.walk(starts, path, input)
            }
            Term::Label(..) | Term::Break(_) => unknown("label"),
            Term::Fold(name, ..) => unknown(name),
            Term::Def(..) => unknown("def"),
        }
    }

    fn recurse(&mut self, value: &Json, found: &mut Vec<Json>) -> Result<(), JqError> {
        found.push(self.make(value.clone())?);
        match value {
            Json::Array(items) => items.iter().try_for_each(|item| self.recurse(item, found)),
            Json::Object(members) => members.values().try_for_each(|member| self.recurse(member, found)),
            _ => Ok(()),
        }
    }

    fn text(&mut self, parts: &[StrPart<&str, Filter<'_>>], input: &Json) -> Values {
        let mut texts = vec![String::new()];
        for part in parts {
            let pieces = match part {
                StrPart::Str(text) => vec![(*text).to_owned()],
                StrPart::Char(character) => vec![character.to_string()],
                StrPart::Term(term) => self.eval(term, input)?.iter().map(value::plain).collect(),
            };
            let mut joined = Vec::new();
            for piece in &pieces {
                for text in &texts {
                    self.charge(text.len() + piece.len())?;
                    joined.push(format!("{text}{piece}"));
                }
            }
            texts = joined;
        }
        Ok(texts.into_iter().map(Json::String).collect())
    }

    fn object(&mut self, members: &[(Filter<'_>, Option<Filter<'_>>)], input: &Json) -> Values {
        let mut objects = vec![Map::new()];
        for (named, value) in members {
            let keys = match named {
                // `{$name}`
                Term::Var(name) => vec![Json::from(name.trim_start_matches('$'))],
                other => self.eval(other, input)?,
            };
            let mut next = Vec::new();
            for key in &keys {
                let Some(name) = key.as_str() else { return fails(format!("{key} cannot be a key")) };
                let values = match (value, named) {
                    (Some(value), _) => self.eval(value, input)?,
                    (None, Term::Var(_)) => self.eval(named, input)?,
                    (None, _) => vec![index(input, key)?],
                };
                for value in values {
                    for object in &objects {
                        let mut object: Map<String, Json> = object.clone();
                        object.insert(name.to_owned(), value.clone());
                        let made = self.make(Json::Object(object))?;
                        if let Json::Object(made) = made {
                            next.push(made);
                        }
                    }
                }
            }
            objects = next;
        }
        Ok(objects.into_iter().map(Json::Object).collect())
    }

    fn operation(
        &mut self,
        left: &Filter<'_>,
        op: &BinaryOp<&str>,
        right: &Filter<'_>,
        input: &Json,
    ) -> Values {
        match op {
            BinaryOp::Pipe(None) => {
                let values = self.eval(left, input)?;
                self.flat_map(&values, |run, value| run.eval(right, value))
            }
            BinaryOp::Pipe(Some(Pattern::Var(name))) => {
                let values = self.eval(left, input)?;
                self.flat_map(&values, |run, value| {
                    run.variables.push(((*name).to_owned(), value.clone()));
                    let outputs = run.eval(right, input);
                    run.variables.pop();
                    outputs
                })
            }
            BinaryOp::Pipe(Some(_)) => unknown("a pattern after `as`"),
            BinaryOp::Comma => {
                let mut found = self.eval(left, input)?;
                found.extend(self.eval(right, input)?);
                Ok(found)
            }
            BinaryOp::Alt => {
                let mut found = match self.eval(left, input) {
                    Err(JqError::Value(_)) => Vec::new(),
                    other => other?,
                };
                found.retain(is_true);
                if found.is_empty() { self.eval(right, input) } else { Ok(found) }
            }
            BinaryOp::Or | BinaryOp::And => {
                let decided = matches!(op, BinaryOp::Or);
                let values = self.eval(left, input)?;
                self.flat_map(&values, |run, value| {
                    if is_true(value) == decided {
                        return Ok(vec![Json::Bool(decided)]);
                    }
                    let others = run.eval(right, input)?;
                    Ok(others.iter().map(|other| Json::Bool(is_true(other))).collect())
                })
            }
            BinaryOp::Math(math) => self.pairs(left, right, input, |run, a, b| run.computed(math, a, b)),
            BinaryOp::Cmp(cmp) => {
                let holds = |ordering: std::cmp::Ordering| match cmp {
                    Cmp::Lt => ordering.is_lt(),
                    Cmp::Le => ordering.is_le(),
                    Cmp::Gt => ordering.is_gt(),
                    Cmp::Ge => ordering.is_ge(),
                    Cmp::Eq => ordering.is_eq(),
                    Cmp::Ne => ordering.is_ne(),
                };
                self.pairs(left, right, input, |run, a, b| {
                    run.charge(size(a, usize::MAX).min(size(b, usize::MAX)))?;
                    Ok(Json::Bool(holds(compare(a, b))))
                })
            }
            BinaryOp::Assign | BinaryOp::Update | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => {
                unknown("an assignment")
            }
        }
    }

    fn computed(&mut self, math: &Math, a: &Json, b: &Json) -> Result<Json, JqError> {
        // Charged before it is made.
        self.charge(size(a, self.left).saturating_add(size(b, self.left)))?;
        arithmetic(math, a, b)
    }

    fn pairs(
        &mut self,
        left: &Filter<'_>,
        right: &Filter<'_>,
        input: &Json,
        mut make: impl FnMut(&mut Self, &Json, &Json) -> Result<Json, JqError>,
    ) -> Values {
        let (ones, others) = (self.eval(left, input)?, self.eval(right, input)?);
        self.flat_map(&others, |run, other| ones.iter().map(|one| make(run, one, other)).collect())
    }

    /// The outputs of `make` for each of the values.
    pub(crate) fn flat_map(
        &mut self,
        values: &[Json],
        mut make: impl FnMut(&mut Self, &Json) -> Values,
    ) -> Values {
        let mut found = Vec::new();
        for value in values {
            found.extend(make(self, value)?);
        }
        Ok(found)
    }

    fn branch(
        &mut self,
        branches: &[(Filter<'_>, Filter<'_>)],
        otherwise: Option<&Filter<'_>>,
        input: &Json,
    ) -> Values {
        let Some(((condition, then), others)) = branches.split_first() else {
            return otherwise.map_or_else(|| Ok(vec![input.clone()]), |term| self.eval(term, input));
        };
        let values = self.eval(condition, input)?;
        self.flat_map(&values, |run, value| {
            if is_true(value) { run.eval(then, input) } else { run.branch(others, otherwise, input) }
        })
    }

    fn walk(&mut self, starts: Vec<Json>, path: &Path<Filter<'_>>, input: &Json) -> Values {
        path.0.iter().try_fold(starts, |values, (part, opt)| {
            self.flat_map(&values, |run, value| match run.part(value, part, input) {
                Err(JqError::Value(_)) if matches!(opt, Opt::Optional) => Ok(Vec::new()),
                result => result,
            })
        })
    }

    fn part(&mut self, value: &Json, part: &Part<Filter<'_>>, input: &Json) -> Values {
        match part {
            Part::Index(at) => {
                let positions = self.eval(at, input)?;
                self.flat_map(&positions, |run, at| Ok(vec![run.make(index(value, at)?)?]))
            }
            Part::Range(None, None) => self.items(value),
            Part::Range(from, to) => {
                let mut bound = |term: &Option<Filter<'_>>| -> Result<Option<i64>, JqError> {
                    let Some(term) = term else { return Ok(None) };
                    Ok(self.eval(term, input)?.first().and_then(Json::as_i64))
                };
                let (from, to) = (bound(from)?, bound(to)?);
                let cut = slice(value, from, to)?;
                Ok(vec![self.make(cut)?])
            }
        }
    }

    /// The items of a list, or the values of an object.
    pub(crate) fn items(&mut self, value: &Json) -> Values {
        match value {
            Json::Array(items) => items.iter().map(|item| self.make(item.clone())).collect(),
            Json::Object(members) => members.values().map(|member| self.make(member.clone())).collect(),
            other => fails(format!("cannot iterate over {}", value::kind(other))),
        }
    }
}
