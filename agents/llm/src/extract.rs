//! Owns the search for JSON in a model's text: alone, in a code fence, or inside prose.

use serde_json::Value as Json;

/// A reply in which no JSON is found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}, expected one JSON object; ask again with this message, or with another response format")]
pub struct NoJson {
    /// Start of the text that was found instead.
    pub found: String,
}

/// Finds the JSON of a reply.
///
/// It takes the whole text if that is JSON. Otherwise it skips reasoning in `<think>` tags. It then tries in
/// turn: the first code fence that holds an object or a list, the longest object in the prose, the longest
/// list. It never takes a value from inside another that is cut short or broken.
///
/// ```
/// let reply = "Here it is:\n```json\n{\"name\": \"Ana\"}\n```\nAnything else?";
/// assert_eq!(diorama_llm::json_in(reply).unwrap()["name"], "Ana");
/// ```
pub fn json_in(text: &str) -> Result<Json, NoJson> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let said = after_thinking(text).trim();
    if let Ok(value) = serde_json::from_str(said) {
        return Ok(value);
    }
    fenced(said).or_else(|| longest(said)).ok_or_else(|| NoJson { found: describe(said) })
}

/// Returns the text after the reasoning in tags. If no tag closes the reasoning, it returns an empty text.
fn after_thinking(text: &str) -> &str {
    match text.rfind("</think>") {
        Some(at) => &text[at + "</think>".len()..],
        None if text.starts_with("<think>") => "",
        None => text,
    }
}

fn fenced(text: &str) -> Option<Json> {
    ["```", "~~~"].into_iter().find_map(|fence| {
        let mut parts = text.split(fence).skip(1).step_by(2);
        parts.find_map(|part| {
            // Models write the language on the line of the fence, or right before the value.
            let start = part.find(['{', '['])?;
            let info = part[..start].trim();
            let value = serde_json::from_str::<Json>(part[start..].trim()).ok()?;
            info.chars().all(char::is_alphanumeric).then_some(value)
        })
    })
}

fn longest(text: &str) -> Option<Json> {
    // The longest object and the longest list so far, with their lengths in bytes.
    let mut object: Option<(usize, Json)> = None;
    let mut list: Option<(usize, Json)> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '[']) {
        let start = at + found;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
        match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                let best = if value.is_object() { &mut object } else { &mut list };
                if best.as_ref().is_none_or(|(longest, _)| length > *longest) {
                    *best = Some((length, value));
                }
                at = start + length;
            }
            Some(Err(error)) if error.is_eof() || begins_a_value(&text[start..]) => return None,
            _ => at = start + 1,
        }
    }
    object.or(list).map(|(_, value)| value)
}

/// Returns true if a bracket begins a value rather than an aside in prose, as in "{name}" or "[sic]".
fn begins_a_value(text: &str) -> bool {
    let next = text[1..].trim_start().chars().next();
    if text.starts_with('{') { next == Some('"') } else { matches!(next, Some('"' | '{' | '[')) }
}

fn describe(text: &str) -> String {
    const SHOWN: usize = 160;
    if text.is_empty() {
        return "nothing was said".to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    let more = if start.len() < text.len() { " ..." } else { "" };
    format!("text without complete JSON was said ({start:?}{more})")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Json) {
        assert_eq!(json_in(text), Ok(expect), "{text}");
    }

    #[test]
    fn json_is_found_alone_in_fences_and_in_prose() {
        check(" {\"a\": 1}\n", json!({"a": 1}));
        check("\u{feff}[1, 2]", json!([1, 2]));
        check("```json\n{\"a\": 1}\n```", json!({"a": 1}));
        check("Sure!\n~~~\n{\"a\": [1]}\n~~~\nDone.", json!({"a": [1]}));
        check("```{\"a\": 1}```", json!({"a": 1}));
        check("```json\nnot this\n```\nbut\n```json\n{\"b\": 2}\n```", json!({"b": 2}));
        check("The answer [1] is {\"a\": {\"b\": \"}\"}}, not {\"c\": 1}.", json!({"a": {"b": "}"}}));
        check("{braces} in prose, then {\"a\": 1}", json!({"a": 1}));
        check("a list: [\"x\", \"y\"].", json!(["x", "y"]));
        check("```json\n{\"a\": 1}", json!({"a": 1}));
        check("{\"text\": \"```json\\n{}\\n```\"} as asked", json!({"text": "```json\n{}\n```"}));
    }

    #[test]
    fn reasoning_in_tags_is_passed_over() {
        check("<think>maybe {\"a\": 1, \"b\": 2}?</think>{\"a\": 3}", json!({"a": 3}));
        check("<think>hm</think>\nIt is {\"a\": 3}.", json!({"a": 3}));
        assert!(json_in("<think>maybe {\"a\": 1}").is_err());
        check("{\"tag\": \"</think>\"}", json!({"tag": "</think>"}));
    }

    #[test]
    fn what_holds_no_whole_value_is_described() {
        assert_eq!(json_in("  ").unwrap_err().found, "nothing was said");
        assert_eq!(
            json_in("{\"a\": 1, \"b").unwrap_err().found,
            r#"text without complete JSON was said ("{\"a\": 1, \"b")"#
        );
        assert!(json_in("I cannot help with that.").is_err());
        assert!(json_in("{\"a\": {\"b\": 1}, \"c").is_err());
        assert!(json_in("{\"a\": {\"b\": 1}, c: 2}").is_err());
        assert!(json_in("For example {\"a\": 1}. So: [{\"a\": 2}, {\"a\"").is_err());
    }

    #[test]
    fn hostile_text_is_given_up_soon() {
        assert!(json_in(&"[".repeat(1 << 20)).is_err());
        assert!(json_in(&"{\"a\":[1,".repeat(1 << 18)).is_err());
        assert!(json_in(&"[0, \"".repeat(1 << 18)).is_err());
    }
}
