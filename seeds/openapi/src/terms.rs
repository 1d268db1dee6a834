//! Reads the licence and the source of a document from its `info`.

use serde_json::Value as Json;

/// The greatest number of characters of a licence or of a part of a source.
const MAX_CHARS: usize = 200;

/// Returns the licence of a document: the SPDX identifier, else the name, else the address.
pub(super) fn license(root: &Json) -> Option<String> {
    let license = root.pointer("/info/license")?;
    let word = |key: &str| license.get(key).and_then(plain);
    word("identifier").or_else(|| word("name")).or_else(|| word("url")).or_else(|| plain(license))
}

/// Returns the provider, title and version of a document, as far as it gives them.
pub(super) fn source(root: &Json, title: &str) -> String {
    let text = |pointer: &str| root.pointer(pointer).and_then(plain);
    let provider = text("/info/x-providerName").or_else(|| host(root));
    let version = text("/info/version").map(|version| format!("version {version}"));
    let title = plain(&Json::from(title));
    provider.into_iter().chain(title).chain(version).collect::<Vec<_>>().join(", ")
}

/// Returns the host of the first server whose address has one: `api.example.com`.
fn host(root: &Json) -> Option<String> {
    let servers = root.get("servers").and_then(Json::as_array).into_iter().flatten();
    let host = |server: &Json| {
        let (_, rest) = server.get("url").and_then(Json::as_str)?.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        // A host with variables stands for several.
        plain(&Json::from(host)).filter(|host| !host.contains('{'))
    };
    servers.take(16).find_map(host)
}

/// Returns a value as one line without control characters; none where it is empty.
fn plain(value: &Json) -> Option<String> {
    let text = match value {
        Json::String(text) => text.clone(),
        // YAML reads `version: 2.0` as a number.
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    let spaced = text.chars().take(4 * MAX_CHARS).map(|c| if c.is_control() { ' ' } else { c });
    let words: Vec<String> = spaced.collect::<String>().split_whitespace().map(str::to_owned).collect();
    let line: String = words.join(" ").chars().take(MAX_CHARS).collect();
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_states_its_licence_and_source() {
        let check = |info: Json, servers: Json, expect_license: Option<&str>, expect_source: &str| {
            let root = json!({"info": info, "servers": servers});
            assert_eq!(license(&root).as_deref(), expect_license);
            assert_eq!(source(&root, "Pets"), expect_source);
        };
        let all = json!({"identifier": "AGPL-3.0-only", "name": "Affero", "url": "https://x.org/l"});
        check(json!({"license": all, "version": "2"}), json!([]), Some("AGPL-3.0-only"), "Pets, version 2");
        check(
            json!({"license": {"name": " CC-BY\n4.0 "}, "version": 1.5, "x-providerName": "x.org"}),
            json!([{"url": "https://api.x.org/v1"}]),
            Some("CC-BY 4.0"),
            "x.org, Pets, version 1.5",
        );
        check(
            json!({"license": {"name": "", "url": "https://x.org/l"}}),
            json!([{"url": "/v1"}, {"url": "https://{region}.x.org"}, {"url": "https://api.x.org/v1"}]),
            Some("https://x.org/l"),
            "api.x.org, Pets",
        );
        for none in
            [json!({}), json!({"license": {}}), json!({"license": null}), json!({"license": {"name": ["x"]}})]
        {
            check(none, json!(null), None, "Pets");
        }
    }
}
