//! Readers: parse YAML or JSON into documents, within limits, and report errors with line and column.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::doc::{WORLD_VERSION, WorldDoc};
use crate::report::{Finding, Report};

/// Maximum size of a text.
const MAX_BYTES: usize = 64 << 20;

/// Maximum nesting of lists and mappings.
const MAX_DEPTH: usize = 64;

/// Reads a world document from YAML or JSON text. `name` is the file's name, for messages. Text that begins
/// with `{` and is not a YAML flow mapping is JSON.
///
/// # Errors
/// A report of the first error: another format version, an unknown key, broken syntax, or an exceeded limit
/// (size, depth, aliases).
pub fn read(name: &str, text: &[u8]) -> Result<WorldDoc, Report> {
    parse(name, text).map_err(|finding| Report::one(name, *finding))
}

/// Reads a file of words that belongs to no domain, with the same limits as a world.
///
/// # Errors
/// A message with the error and its position.
pub fn read_words<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| error.to_string())
}

fn parse(name: &str, text: &[u8]) -> Result<WorldDoc, Box<Finding>> {
    if text.len() > MAX_BYTES {
        let found = text.len();
        return Err(Box::new(Finding::error(
            "",
            format!("found {found} bytes, expected at most {MAX_BYTES}"),
            "split the world, or make fewer records",
        )));
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .filter(|byte| **byte & 0xc0 != 0x80)
            .count()
            + 1;
        Box::new(
            Finding::error("", "found bytes that are not UTF-8", "save the file as UTF-8")
                .at(to_u32(line), to_u32(column)),
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        match from_json(text) {
            Err(problem) if problem.syntax && !name.ends_with(".json") => {
                from_yaml(text).map_err(|_| problem.finding)
            }
            result => result.map_err(|problem| problem.finding),
        }
    } else {
        from_yaml(text)
    }
}

/// The first error of a JSON text. `syntax` is true if the text may be YAML instead.
struct JsonProblem {
    syntax: bool,
    finding: Box<Finding>,
}

fn from_json(text: &str) -> Result<WorldDoc, JsonProblem> {
    let mut first = None;
    // This stops with an error after the first entry. Only the entry matters.
    let _ = FirstEntry(&mut first).deserialize(&mut serde_json::Deserializer::from_str(text));
    check_version(first.as_ref())
        .map_err(|finding| JsonProblem { syntax: false, finding: Box::new(finding.at(1, 1)) })?;
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (to_u32(error.line()), to_u32(error.column()));
        JsonProblem {
            syntax: error.is_syntax() || error.is_eof(),
            finding: Box::new(
                Finding::error("", plain_message(&error.to_string()), fix(error.is_data()))
                    .at(line.max(1), column.max(1)),
            ),
        }
    })
}

fn from_yaml(text: &str) -> Result<WorldDoc, Box<Finding>> {
    let mut first = None;
    let _ = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        FirstEntry(&mut first).deserialize(deserializer)
    });
    check_version(first.as_ref()).map_err(|finding| Box::new(finding.at(1, 1)))?;
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let message = message_of(&error);
        let fix = fix_of_shape(&message, fix(true));
        let finding = Finding::error("", message, fix);
        Box::new(match error.location() {
            Some(place) => finding.at(to_u32(place.line()), to_u32(place.column())),
            None => finding,
        })
    })
}

/// Options for YAML 1.2: `yes`, `0755` and `1_000` are strings. Limits bound what a hostile text can cost.
pub fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_events: 8_000_000,
            max_nodes: 4_000_000,
            max_aliases: 2_000,
            max_anchors: 2_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 200_000,
            max_replay_stack_depth: 16,
        },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    }
}

pub(crate) fn message_of(error: &serde_saphyr::Error) -> String {
    let message = plain_message(&error.without_snippet().to_string());
    match message.as_str() {
        "invalid u8" | "invalid u16" | "invalid u32" | "invalid u64" => {
            "expected a whole number from 0".to_owned()
        }
        tab if tab.starts_with("tabs disallowed") => "found a tab, expected spaces before a key".to_owned(),
        "invalid bool" | "invalid boolean" => "expected true or false".to_owned(),
        _ => message,
    }
}

/// Returns a parser message without its position, which the finding has as line and column, in the wording of
/// findings.
fn plain_message(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    let message = message[..end].strip_prefix("error: ").unwrap_or(&message[..end]);
    message
        .strip_prefix("unknown variant ")
        .map_or_else(|| message.to_owned(), |rest| format!("found {rest}"))
}

fn fix(shape: bool) -> &'static str {
    if shape {
        "see docs/world-format.md or `diorama schema world` for the keys that may stand here"
    } else {
        "mend the syntax at this place"
    }
}

/// Returns the fix for a document with unknown members, or `otherwise` if the message shows no cause. In an
/// unquoted text, the part after a comma becomes a member.
pub(crate) fn fix_of_shape(message: &str, otherwise: &'static str) -> &'static str {
    let is_mark = |mark: char| !mark.is_alphanumeric() && !"_-".contains(mark);
    let name = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    match name {
        Some((name, _)) if name.contains(is_mark) => {
            "put the text or expression that this belongs to in double quotes: without them a comma ends it"
        }
        _ => otherwise,
    }
}

fn check_version(first: Option<&(String, Json)>) -> Result<(), Finding> {
    // A document without a first entry fails later with the parser's own message.
    let Some((key, value)) = first else { return Ok(()) };
    if key == "openapi" || key == "swagger" {
        return Err(Finding::error(
            "",
            "found an OpenAPI document, expected a world file",
            "import it with `diorama world import`; `generate` and `serve` take it as it is",
        ));
    }
    if key != "world" {
        return Err(Finding::error(
            "",
            format!("found `{key}` as the first key, expected `world: {WORLD_VERSION}`"),
            format!("write `world: {WORLD_VERSION}` before everything else"),
        ));
    }
    let version = value.as_f64();
    if version == Some(f64::from(WORLD_VERSION)) {
        return Ok(());
    }
    Err(Finding::error(
        "world",
        format!("found world format version {value}; this program reads version {WORLD_VERSION}"),
        if version.is_some_and(|version| version > f64::from(WORLD_VERSION)) {
            "use a newer version of the program".to_owned()
        } else {
            format!("write `world: {WORLD_VERSION}`")
        },
    ))
}

/// Reads the first entry of a mapping, then stops with an error.
struct FirstEntry<'a>(&'a mut Option<(String, Json)>);

impl<'de> DeserializeSeed<'de> for FirstEntry<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FirstEntry<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a world document: a mapping that begins with `world: 1`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Some(key) = access.next_key::<String>()? {
            let value = if key == "world" { access.next_value()? } else { Json::Null };
            *self.0 = Some((key, value));
        }
        Err(A::Error::custom("read far enough"))
    }
}

pub(crate) fn to_u32(value: impl TryInto<u32>) -> u32 {
    value.try_into().unwrap_or(u32::MAX)
}
