//! Owns the provider, service and name of a document. They come from the document, else from its path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use diorama_seeds::naming::snake;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

/// File names that do not identify an API.
const PLAIN_STEMS: [&str; 4] = ["openapi", "swagger", "api", "index"];
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 60;

/// Provider and service of an API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// Provider of the API.
    pub provider: String,
    /// Service among those of the provider.
    pub service: Option<String>,
    /// Name made of both.
    pub name: String,
}

#[derive(Default, Deserialize)]
struct Head {
    #[serde(default)]
    info: Info,
}

#[derive(Default, Deserialize)]
struct Info {
    #[serde(rename = "x-providerName")]
    provider: Option<String>,
    #[serde(rename = "x-serviceName")]
    service: Option<String>,
}

/// Names a document by `x-providerName` and `x-serviceName`, else by its folders:
/// `provider/service/version/openapi.yaml`, `provider/service.json`. Without either, the name is that of its
/// file.
pub fn naming(label: &str, text: &[u8]) -> Naming {
    let info = info(text);
    let parts: Vec<&str> = label.split('/').collect();
    let (file, folders) = parts.split_last().unwrap_or((&label, &[]));
    let stem = file.rsplit_once('.').map_or(*file, |(stem, _)| stem);
    let of_path = |from: usize| {
        let own = folders.iter().skip(from).copied().chain(Some(stem));
        let telling: Vec<&str> =
            own.filter(|part| !is_version(part) && !PLAIN_STEMS.contains(part)).collect();
        Some(telling.join("-")).filter(|name| !name.is_empty())
    };
    let (provider, service) = match (info.provider, folders.first()) {
        (Some(provider), first) => {
            let below = usize::from(first.is_some_and(|first| *first == provider));
            let is_alone = folders.is_empty() && below == 0;
            let service = info.service.or_else(|| if is_alone { None } else { of_path(below) });
            (provider, service)
        }
        (None, Some(first)) => ((*first).to_owned(), info.service.or_else(|| of_path(1))),
        (None, None) => (stem.to_owned(), info.service),
    };
    let service = service.filter(|service| *service != provider);
    let short = provider.strip_suffix(".com").unwrap_or(&provider);
    let whole = service.iter().fold(short.to_owned(), |whole, service| format!("{whole} {service}"));
    let name: String = snake(&whole).chars().take(MAX_NAME).collect();
    Naming { name: name.trim_end_matches('_').to_owned(), provider, service }
}

/// Numbers names that occur several times, in order. The empty names of documents without a world stay.
pub fn number(names: &mut [String]) {
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for name in names.iter_mut().filter(|name| !name.is_empty()) {
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        if *times == 1 {
            continue;
        }
        let mut number = *times;
        let numbered = |number: u32| format!("{name}_{number}");
        while !taken.insert(numbered(number)) {
            number += 1;
        }
        *name = numbered(number);
    }
}

/// Returns true if the name of a folder is a version: `1.0`, `v2`, `v1beta1`, `2024-01-01-preview`.
fn is_version(part: &str) -> bool {
    static VERSION: LazyLock<Option<regex::Regex>> =
        LazyLock::new(|| regex::Regex::new(r"(?i)^v?\d[\d._-]*((alpha|beta|preview|rc|p)[\d._-]*)*$").ok());
    VERSION.as_ref().is_some_and(|version| version.is_match(part))
}

/// Returns the provider and service in a document. In YAML it reads only plain values on one line.
fn info(text: &[u8]) -> Info {
    if let Ok(head) = serde_json::from_slice::<Head>(text) {
        return head.info;
    }
    let member = |key: &str| {
        let line = Regex::new(&format!(r#"(?m)^\s+["']?{key}["']?:\s*["']?([^"'\s#]+)"#)).ok()?;
        let value = line.captures(text)?.get(1)?;
        std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned)
    };
    Info { provider: member("x-providerName"), service: member("x-serviceName") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_named_by_its_provider_and_service() {
        let check = |label: &str, text: &str, expect: (&str, Option<&str>, &str)| {
            let found = naming(label, text.as_bytes());
            assert_eq!((&*found.provider, found.service.as_deref(), &*found.name), expect, "{label}");
        };
        let json =
            r#"{"openapi": "3.0.0", "info": {"x-providerName": "azure.com", "x-serviceName": "network"}}"#;
        check("a.json", json, ("azure.com", Some("network"), "azure_network"));
        let yaml = "openapi: 3.0.0\ninfo:\n  x-providerName: 'box.com'\n  title: x\n";
        check("box.com/2.0/openapi.yaml", yaml, ("box.com", None, "box"));
        check("box.com.yaml", yaml, ("box.com", None, "box"));
        check("box.com/sign/2.0/openapi.yaml", yaml, ("box.com", Some("sign"), "box_sign"));
        check("nba.org/stats/v2/swagger.json", "{}", ("nba.org", Some("stats"), "nba_org_stats"));
        check("nba.org/stats.json", "{}", ("nba.org", Some("stats"), "nba_org_stats"));
        check("nba.org/2024-01-01/api.yaml", "x: 1", ("nba.org", None, "nba_org"));
        check("parcel_post.json", "{}", ("parcel_post", None, "parcel_post"));
        check("b.json", "{ broken", ("b", None, "b"));
    }

    #[test]
    fn versions_are_told_from_services() {
        for version in ["1.0", "v2", "v1beta1", "2024-01-01", "2015-07-31-preview"] {
            assert!(is_version(version), "{version}");
        }
        for service in ["storage", "sql-managedInstances", "v", "nhl-v3-scores", "3scale"] {
            assert!(!is_version(service), "{service}");
        }
    }

    #[test]
    fn names_that_occur_twice_are_numbered() {
        let mut names = ["a", "", "b", "a", "", "a_2", "a"].map(str::to_owned);
        number(&mut names);
        assert_eq!(names, ["a", "", "b", "a_3", "", "a_2", "a_4"]);
    }
}
