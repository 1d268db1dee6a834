//! Deserialisers for the parts of a document that have two spellings.
//!
//! They are written by hand instead of as untagged enums. So errors name the expected form at its position,
//! and the records of a large world need no intermediate copy.

use std::fmt;

use indexmap::IndexMap;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::api::{CompareDoc, FilterDoc, ReplyFieldDoc, ReplyMemberDoc, TextDoc};
use super::wire::unique;
use super::world::RecordsDoc;

impl<'de> Deserialize<'de> for RecordsDoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Records;

        impl<'de> Visitor<'de> for Records {
            type Value = RecordsDoc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("how many records to make, or a list of records")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<RecordsDoc, E> {
                u32::try_from(count).map(RecordsDoc::Count).map_err(|_| {
                    E::custom(format_args!("found {count} records; expected at most {}", u32::MAX))
                })
            }

            fn visit_i64<E: Error>(self, count: i64) -> Result<RecordsDoc, E> {
                u64::try_from(count)
                    .map_err(|_| E::custom(format_args!("found {count} records; expected a number from 0")))
                    .and_then(|count| self.visit_u64(count))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RecordsDoc, A::Error> {
                let mut records = Vec::new();
                while let Some(Row(record)) = access.next_element()? {
                    records.push(record);
                }
                Ok(RecordsDoc::Given(records))
            }
        }

        deserializer.deserialize_any(Records)
    }
}

/// One record: a map without repeated names.
struct Row(IndexMap<String, Json>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        unique(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for FilterDoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Filter;

        impl<'de> Visitor<'de> for Filter {
            type Value = FilterDoc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field's name, `{field: ..., op: ...}` or `{text: [fields]}`")
            }

            fn visit_str<E: Error>(self, field: &str) -> Result<FilterDoc, E> {
                Ok(FilterDoc::Field(field.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<FilterDoc, A::Error> {
                let (mut field, mut op, mut text) = (None, None, None);
                while let Some(name) = access.next_key::<String>()? {
                    match name.as_str() {
                        "field" => field = Some(access.next_value()?),
                        "op" => op = Some(access.next_value()?),
                        "text" => text = Some(access.next_value()?),
                        other => return Err(A::Error::unknown_field(other, &["field", "op", "text"])),
                    }
                }
                match (field, op, text) {
                    (Some(field), op, None) => {
                        let op = op.unwrap_or_default();
                        Ok(FilterDoc::Compare(CompareDoc { field, op }))
                    }
                    (None, None, Some(text)) => Ok(FilterDoc::Text(TextDoc { text })),
                    _ => Err(A::Error::custom("expected either `field` and `op`, or `text`")),
                }
            }
        }

        deserializer.deserialize_any(Filter)
    }
}

impl<'de> Deserialize<'de> for ReplyFieldDoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReplyField;

        impl<'de> Visitor<'de> for ReplyField {
            type Value = ReplyFieldDoc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field's name, or a member such as `{as: name, field: ...}`")
            }

            fn visit_str<E: Error>(self, field: &str) -> Result<ReplyFieldDoc, E> {
                Ok(ReplyFieldDoc::Field(field.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<ReplyFieldDoc, A::Error> {
                let member = ReplyMemberDoc::deserialize(MapAccessDeserializer::new(access))?;
                Ok(ReplyFieldDoc::Member(Box::new(member)))
            }
        }

        deserializer.deserialize_any(ReplyField)
    }
}
