//! Owns placeholder strings, which carry no information. Their form marks them, and optional ones are
//! dropped.

use diorama_seeds::doc::FieldDoc;
use diorama_seeds::materialise::{is_described, is_written_about};
use serde_json::{Value as Json, json};

use crate::nouns;
use crate::words::{singular, words};

/// The suffix of placeholders. No question asks for one, and no message contains one.
const ANYTHING: &str = " ###";

/// Returns a placeholder provider: the words of the name and a number.
pub(crate) fn anything(name: &str) -> Json {
    let called = words(name).join(" ").replace(['{', '}', '#'], "");
    let called: String = called.chars().take(24).collect();
    json!({"provider": "code", "format": format!("{}{ANYTHING}", called.trim_end())})
}

/// Returns true if a field holds placeholders.
pub(crate) fn is_anything(doc: &FieldDoc) -> bool {
    let mut fake = doc.fake.as_ref();
    // The provider may stand inside `chance` and `list`.
    while let Some(inner) = fake.and_then(|fake| fake.get("of")).filter(|of| of.is_object()) {
        fake = Some(inner);
    }
    let format = fake.and_then(|fake| fake.get("format")?.as_str());
    format.is_some_and(|format| format.ends_with(ANYTHING))
}

/// Returns a title provider from the member's name, else from the noun: `Regional policy` for `policy_name`.
pub(crate) fn title(name: &str, noun: &str) -> Json {
    let mut of = words(name);
    of.pop();
    of.pop_if(|last| last == "display");
    let thing = if of.is_empty() { noun.to_owned() } else { of.join(" ") };
    json!({"provider": "template", "text": format!("{{purpose}} {}", thing.replace(['{', '}'], ""))})
}

/// Leaves a field empty in all initial records.
pub(crate) fn leave_out(doc: &mut FieldDoc) {
    if let Some(Json::Object(fake)) = &mut doc.fake {
        fake.insert("share".to_owned(), json!(0.0));
    }
}

/// Returns true if generic sentences are the values of a field.
pub(crate) fn is_prose(doc: &FieldDoc) -> bool {
    ["paragraph", "sentence"].iter().any(|prose| is_made_by(doc, prose))
}

/// Returns true if generated prose fits a member of such a resource. The tables cover products and reviews,
/// and no connectors.
pub(crate) fn is_writable(name: &str, of: &str) -> bool {
    let last = words(name).pop().unwrap_or_default();
    let whose = words(of).pop().unwrap_or_default();
    match last.as_str() {
        "content" | "body" | "text" | "message" => true,
        last if nouns::is("descriptions", last) => is_described(of),
        last => singular(last) == whose || is_written_about(of),
    }
}

/// Returns true if a provider makes the values of a field, always or by chance.
pub(crate) fn is_made_by(doc: &FieldDoc, provider: &str) -> bool {
    let fake = doc.fake.as_ref().map(|fake| fake.get("of").unwrap_or(fake));
    fake.is_some_and(|fake| fake == provider)
}
