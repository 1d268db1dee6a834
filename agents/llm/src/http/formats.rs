//! Which way of asking for JSON a server takes, as far as the run has found out.
//!
//! A refusal counts for one schema until a poorer way has worked: a request that is wrong in itself is refused in every way,
//! and must not make the whole run poorer.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use blake3::Hash;

use super::Fallback;
use crate::chat::{Format, OutputSchema};

/// Failures (500) of a way that never worked after which it is given up: some servers answer so to what they don't know.
const FAILURES: u32 = 3;

/// What is known of a server's ways of asking for JSON.
#[derive(Debug)]
pub(super) struct Formats {
    configured: Format,
    fallback: Fallback,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// For the run.
    given_up: HashSet<Format>,
    /// For one schema.
    refused: HashSet<(Format, Hash)>,
    worked: HashSet<Format>,
    failures: u32,
}

/// How one request asks.
pub(super) struct Asked {
    pub(super) format: Format,
    schema: Hash,
}

impl Formats {
    pub(super) fn new(configured: Format, fallback: Fallback) -> Self {
        Self { configured, fallback, known: Mutex::default() }
    }

    /// The richest way that has not been given up.
    pub(super) fn current(&self) -> Format {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.richest(|format| !known.given_up.contains(&format))
    }

    /// How to ask for this schema.
    pub(super) fn choose(&self, schema: &OutputSchema) -> Asked {
        let schema = blake3::hash(schema.schema.to_string().as_bytes());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |format| !known.given_up.contains(&format) && !known.refused.contains(&(format, schema));
        Asked { format: self.richest(open), schema }
    }

    /// Notes that the server answered.
    pub(super) fn taken(&self, asked: &Asked) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.worked.insert(asked.format);
        for richer in Format::ALL.into_iter().filter(|format| *format < asked.format) {
            if known.refused.contains(&(richer, asked.schema)) && !known.worked.contains(&richer) {
                known.given_up.insert(richer);
            }
        }
    }

    /// Notes a refusal, and says whether the request is to be sent again in a poorer way.
    pub(super) fn refused(&self, asked: &Asked, status: u16) -> bool {
        if self.fallback == Fallback::Off {
            return false;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.format == Format::Prompt {
            // Every way was refused, so it was not the way.
            if matches!(status, 400 | 422) {
                known.refused.retain(|(_, schema)| *schema != asked.schema);
            }
            return false;
        }
        match status {
            400 | 422 | 501 => {}
            500 if !known.worked.contains(&asked.format) => {
                known.failures += 1;
                if known.failures < FAILURES {
                    return false;
                }
                known.failures = 0;
            }
            _ => return false,
        }
        known.refused.insert((asked.format, asked.schema));
        true
    }

    fn richest(&self, open: impl Fn(Format) -> bool) -> Format {
        let configured = self.configured;
        let ways = Format::ALL.into_iter().filter(|format| *format >= configured);
        ways.into_iter().find(|format| open(*format)).unwrap_or(Format::Prompt)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(name: &str) -> OutputSchema {
        OutputSchema { name: name.to_owned(), schema: json!({ "title": name }), strict: true }
    }

    #[test]
    fn a_way_that_never_worked_is_given_up_once_a_poorer_one_works() {
        let formats = Formats::new(Format::JsonSchema, Fallback::Poorer);
        let asked = formats.choose(&schema("a"));
        assert_eq!(asked.format, Format::JsonSchema);
        assert!(formats.refused(&asked, 400));
        assert_eq!(formats.choose(&schema("b")).format, Format::JsonSchema);
        let asked = formats.choose(&schema("a"));
        assert_eq!(asked.format, Format::JsonObject);
        formats.taken(&asked);
        assert_eq!(formats.choose(&schema("b")).format, Format::JsonObject);
        assert_eq!(formats.current(), Format::JsonObject);
    }

    #[test]
    fn a_way_that_worked_is_left_for_one_schema_only() {
        let formats = Formats::new(Format::JsonSchema, Fallback::Poorer);
        formats.taken(&formats.choose(&schema("a")));
        assert!(formats.refused(&formats.choose(&schema("b")), 400));
        formats.taken(&formats.choose(&schema("b")));
        assert_eq!(formats.choose(&schema("b")).format, Format::JsonObject);
        assert_eq!(formats.choose(&schema("a")).format, Format::JsonSchema);
    }

    #[test]
    fn a_request_that_is_refused_in_every_way_changes_nothing() {
        let formats = Formats::new(Format::JsonSchema, Fallback::Poorer);
        assert!(formats.refused(&formats.choose(&schema("a")), 400));
        assert!(formats.refused(&formats.choose(&schema("a")), 400));
        let last = formats.choose(&schema("a"));
        assert_eq!(last.format, Format::Prompt);
        assert!(!formats.refused(&last, 400));
        assert_eq!(formats.choose(&schema("a")).format, Format::JsonSchema);
    }

    #[test]
    fn failures_count_only_while_the_way_never_worked() {
        let formats = Formats::new(Format::JsonSchema, Fallback::Poorer);
        let fails = |formats: &Formats| formats.refused(&formats.choose(&schema("a")), 500);
        assert_eq!([fails(&formats), fails(&formats), fails(&formats)], [false, false, true]);
        let formats = Formats::new(Format::JsonSchema, Fallback::Poorer);
        formats.taken(&formats.choose(&schema("a")));
        assert!((0..10).all(|_| !fails(&formats)));
        let formats = Formats::new(Format::JsonSchema, Fallback::Off);
        assert!(!formats.refused(&formats.choose(&schema("a")), 400));
    }
}
