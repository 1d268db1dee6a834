//! Owns the problem of a body whose JSON has the wrong shape, in the words of the other problems.

use serde::de::DeserializeOwned;

use diorama_sessions::{Kind, Problem};

/// Returns the problem of a body that is not a `T`: the wrong member, the value found, and the value
/// expected.
pub(super) fn problem<T: DeserializeOwned>(body: &[u8], error: &serde_json::Error) -> Problem {
    let reader = &mut serde_json::Deserializer::from_slice(body);
    // The body is parsed again to find the path of the error. A valid body is parsed once only.
    let path = match serde_path_to_error::deserialize::<_, T>(reader) {
        Ok(_) => String::new(),
        Err(error) => error.path().to_string(),
    };
    let text = error.to_string();
    let said = text.rsplit_once(" at line ").map_or(&*text, |(said, _)| said);
    describe(&path, said)
}

fn describe(path: &str, said: &str) -> Problem {
    if let Some(name) = said.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let name = if matches!(path, "" | ".") { name.to_owned() } else { format!("{path}.{name}") };
        return Problem::new(Kind::Invalid, format!("`{name}`: expected a value, found nothing"))
            .with("parameter", name);
    }
    if let Some((name, known)) =
        said.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "))
    {
        let shown: String = name.chars().take(60).collect();
        let expected = known.trim_start_matches("one of ").replace('`', "");
        let detail = format!("found a member `{shown}`, expected only {expected}");
        return Problem::new(Kind::Invalid, detail).with("parameter", shown).with("expected", expected);
    }
    let found = ["invalid type: ", "invalid value: ", "unknown variant "]
        .iter()
        .find_map(|kind| said.strip_prefix(kind)?.split_once(", expected "));
    match found {
        Some((found, expected)) if !matches!(path, "" | ".") => {
            let found: String = found.chars().take(60).collect();
            Problem::about(path, &plain(expected), json_words(&found))
        }
        _ => Problem::new(Kind::Invalid, format!("the body: {said}")),
    }
}

/// Returns the JSON name of a Rust type.
fn plain(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" => "a whole number, not negative and not too great".to_owned(),
        "u64" | "usize" => "a whole number, not negative".to_owned(),
        "i64" => "a whole number".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other => other.replace('`', ""),
    }
}

fn json_words(found: &str) -> String {
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct SearchBody {
        name: String,
        #[serde(default)]
        count: Option<u32>,
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Part {
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Big,
        Small,
    }

    #[test]
    fn the_member_that_is_wrong_is_named() {
        let check = |body: serde_json::Value, parameter: &str, detail: &str| {
            let text = body.to_string();
            let error = serde_json::from_str::<SearchBody>(&text).unwrap_err();
            let problem = problem::<SearchBody>(text.as_bytes(), &error).body();
            assert_eq!(problem["detail"], detail, "{body}");
            assert_eq!(problem["parameter"], parameter, "{body}");
        };
        check(json!({}), "name", "`name`: expected a value, found nothing");
        check(json!({"name": 3}), "name", "`name`: expected a string, found integer `3`");
        check(json!({"name": null}), "name", "`name`: expected a string, found null");
        check(
            json!({"name": "a", "count": -1}),
            "count",
            "`count`: expected a whole number, not negative and not too great, found integer `-1`",
        );
        check(json!({"nam": "a"}), "nam", "found a member `nam`, expected only name, count, parts");
        check(json!({"name": "a", "parts": {}}), "parts", "`parts`: expected a list, found an object");
        check(
            json!({"name": "a", "parts": [{"kind": "big"}, {"kind": "odd"}]}),
            "parts[1].kind",
            "`parts[1].kind`: expected big or small, found `odd`",
        );
        check(
            json!({"name": "a", "parts": [{}]}),
            "parts[0].kind",
            "`parts[0].kind`: expected a value, found nothing",
        );
    }
}
