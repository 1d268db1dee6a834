//! jq programs of the parser role: checked here, and run by `jaq` in a process with limits of time and
//! memory.
//!
//! A program from a model is untrusted. jaq limits neither steps nor memory (`[range(1e9)]`, or a string that
//! doubles a hundred times). So an agent only parses a program and hands it to a [`JqRunner`], which runs
//! [`evaluate`] in a limited process. Programs cannot read files, the environment or the clock.

#[cfg(test)]
mod tests;

use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars};
use jaq_json::Val;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Maximum number of characters in a program.
const MAX_PROGRAM_CHARS: usize = 1_000;
/// Maximum nesting of brackets.
const MAX_DEPTH: usize = 32;
/// Excluded functions, which read the environment or the clock.
const LEFT_OUT: [&str; 4] = ["env", "now", "localtime", "strflocaltime"];

/// Runs untrusted programs.
pub trait JqRunner: Send + Sync {
    /// Runs a program on a value, within limits of time and memory. Returns its outputs.
    ///
    /// # Errors
    /// Returns an error if the program fails or exceeds its limits.
    fn run(&self, program: &Program, input: &Json) -> Result<Vec<Json>, JqError>;
}

/// A valid program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program(String);

/// The reason for which a program has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum JqError {
    /// It does not parse, or uses an unknown name.
    #[error("{0}")]
    Program(String),
    /// It fails on this value.
    #[error("{0}")]
    Value(String),
    /// Its process was stopped.
    #[error("the program was stopped: {0}; ask for less")]
    Stopped(String),
}

impl Program {
    /// Parses a program without running it.
    ///
    /// # Errors
    /// Returns an error if it is too long, too deep, or invalid.
    pub fn read(text: &str) -> Result<Self, JqError> {
        let text = text.trim();
        let wrong = |what: &str| Err(JqError::Program(what.to_owned()));
        if text.is_empty() {
            return wrong("the program is empty");
        }
        if text.chars().count() > MAX_PROGRAM_CHARS {
            return wrong("the program is longer than 1,000 characters");
        }
        // The parser recurses for brackets and signs, so their depth is checked first.
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
        match jaq_core::load::parse(text, |parser| parser.term()) {
            Some(_) => Ok(Self(text.to_owned())),
            None => wrong("the program is not valid jq"),
        }
    }
}

/// Runs a program without limits. Only for the process that a [`JqRunner`] limits.
///
/// # Errors
/// Returns an error if it uses an unknown name or fails on the value.
pub fn evaluate(program: &Program, input: &Json) -> Result<Vec<Json>, JqError> {
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(defs).load(&arena, File { code: program.0.as_str(), path: () });
    let modules = modules.map_err(|_| JqError::Program("the program is not valid jq".to_owned()))?;
    let filter = Compiler::default().with_funs(funs.filter(|(name, ..)| !LEFT_OUT.contains(name)));
    let filter = filter.compile(modules).map_err(|errors| {
        let named: Vec<String> =
            errors.iter().flat_map(|(_, names)| names).map(|(name, _)| format!("`{name}`")).collect();
        JqError::Program(format!("there is no {} here", named.join(", ")))
    })?;
    let unlike =
        |error: &dyn std::fmt::Display| JqError::Value(format!("found a value that is no JSON: {error}"));
    let input = jaq_json::read::parse_single(input.to_string().as_bytes()).map_err(|error| unlike(&error))?;
    let outputs = filter.id.run((Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([])), input));
    let read = outputs.map(|output| match output {
        Ok(value) => serde_json::from_str(&value.to_string()).map_err(|error| unlike(&error)),
        Err(stopped) => Err(JqError::Value(
            stopped.get_err().map_or_else(|_| "the program halts".to_owned(), |error| error.to_string()),
        )),
    });
    read.collect()
}
