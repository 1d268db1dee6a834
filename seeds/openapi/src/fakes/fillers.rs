//! Fillers: texts that only look as if they told something. They are marked by their form, and left out where they may be.

use diorama_seeds::doc::FieldDoc;
use diorama_seeds::materialise::{is_described, is_written_about};
use serde_json::{Value as Json, json};

use crate::nouns;
use crate::words::{singular, words};

/// The end of texts that nothing tells anything about but their name. Nobody asks for them, and nobody says them.
const ANYTHING: &str = " ###";

/// A text that nothing tells anything about: its name and a number.
pub(crate) fn anything(name: &str) -> Json {
    let called = words(name).join(" ").replace(['{', '}', '#'], "");
    let called: String = called.chars().take(24).collect();
    json!({"provider": "code", "format": format!("{}{ANYTHING}", called.trim_end())})
}

/// Whether what a field holds is anything at all.
pub(crate) fn is_anything(doc: &FieldDoc) -> bool {
    let mut fake = doc.fake.as_ref();
    // Inside chances and lists.
    while let Some(inner) = fake.and_then(|fake| fake.get("of")).filter(|of| of.is_object()) {
        fake = Some(inner);
    }
    let format = fake.and_then(|fake| fake.get("format")?.as_str());
    format.is_some_and(|format| format.ends_with(ANYTHING))
}

/// What a thing is called of which nothing is known but its noun, or the name of the member: the `Regional policy` of a `policy_name`.
pub(crate) fn title(name: &str, noun: &str) -> Json {
    let mut of = words(name);
    of.pop();
    of.pop_if(|last| last == "display");
    let thing = if of.is_empty() { noun.to_owned() } else { of.join(" ") };
    json!({"provider": "template", "text": format!("{{purpose}} {}", thing.replace(['{', '}'], ""))})
}

/// Has no record of those that are there at the beginning hold a value.
pub(crate) fn leave_out(doc: &mut FieldDoc) {
    if let Some(Json::Object(fake)) = &mut doc.fake {
        fake.insert("share".to_owned(), json!(0.0));
    }
}

/// Whether sentences that fit anything make the values of a field.
pub(crate) fn is_prose(doc: &FieldDoc) -> bool {
    ["paragraph", "sentence"].iter().any(|prose| is_made_by(doc, prose))
}

/// Whether made-up prose fits a member of what a noun names: the tables have sentences for products and reviews, and none for connectors.
pub(crate) fn is_writable(name: &str, of: &str) -> bool {
    let last = words(name).pop().unwrap_or_default();
    let whose = words(of).pop().unwrap_or_default();
    match last.as_str() {
        "content" | "body" | "text" | "message" => true,
        last if nouns::is("descriptions", last) => is_described(of),
        last => singular(last) == whose || is_written_about(of),
    }
}

/// Whether a provider makes the values of a field, always or by chance.
pub(crate) fn is_made_by(doc: &FieldDoc, provider: &str) -> bool {
    let fake = doc.fake.as_ref().map(|fake| fake.get("of").unwrap_or(fake));
    fake.is_some_and(|fake| fake == provider)
}
