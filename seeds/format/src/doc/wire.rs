//! Deserialisers and serialisers for values and maps of a document.

use std::fmt::{self, Display};
use std::hash::Hash;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::Serializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_saphyr::FlowSeq;

/// Reads any value, including null, as present: a constant null differs from a missing constant.
pub(super) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Reads a map and refuses duplicate names, since the second entry would hide the first.
pub(super) fn unique<'de, D, K, V>(deserializer: D) -> Result<IndexMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Display + Eq + Hash,
    V: Deserialize<'de>,
{
    struct Unique<K, V>(PhantomData<(K, V)>);

    impl<'de, K: Deserialize<'de> + Display + Eq + Hash, V: Deserialize<'de>> Visitor<'de> for Unique<K, V> {
        type Value = IndexMap<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = IndexMap::new();
            while let Some((name, value)) = access.next_entry::<K, V>()? {
                if map.contains_key(&name) {
                    return Err(A::Error::custom(format_args!(
                        "found the name `{name}` twice; names here are unique"
                    )));
                }
                map.insert(name, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Unique(PhantomData))
}

/// Reads wordings: a list of strings, or a string with one wording per line. A line of `-` alone is an empty
/// wording.
pub(super) fn wordings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Wordings;

    impl<'de> Visitor<'de> for Wordings {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of wordings, or a text with one wording on each line")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(lines.map(|line| if line == "-" { "" } else { line }.to_owned()).collect())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<String>, A::Error> {
            let mut wordings = Vec::new();
            while let Some(wording) = access.next_element()? {
                wordings.push(wording);
            }
            Ok(wordings)
        }
    }

    deserializer.deserialize_any(Wordings)
}

/// Writes the rows of a table. In YAML each row takes one line.
pub(super) fn lines<S: Serializer>(rows: &[Vec<Json>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(FlowSeq))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}
