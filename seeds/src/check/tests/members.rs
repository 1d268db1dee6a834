//! Owns the test of the member tables in the reference pages. Each member of the formats has a row, whose
//! example must fit the schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::check::json_schema;
use crate::contract::{Schemas, Side};
use crate::doc::{ScenariosDoc, WordsDoc};

const PAGES: [&str; 2] =
    [include_str!("../../../../docs/world-format.md"), include_str!("../../../../docs/scenarios.md")];
/// Head of a table of members.
const HEAD: &str = "| member | type | default | meaning | example |";

/// A member of a definition, or a row of a table.
#[derive(Debug, Eq, PartialEq)]
struct Member {
    required: bool,
    /// Schema of a member, or example of a row.
    value: Json,
}

/// Members by definition and name.
type Members = BTreeMap<(String, String), Member>;

/// Returns the definitions of the formats. They refer to each other as `#/schemas/NAME`.
fn read_definitions() -> Map<String, Json> {
    let mut definitions = Map::new();
    let files = [schemars::schema_for!(ScenariosDoc).to_value(), schemars::schema_for!(WordsDoc).to_value()];
    for format in files.into_iter().chain([json_schema()]) {
        let text = format.to_string().replace("#/$defs/", "#/schemas/");
        let mut format: Json = serde_json::from_str(&text).unwrap();
        let Json::Object(inner) = format["$defs"].take() else { panic!("found a schema without `$defs`") };
        definitions.extend(inner);
        definitions.insert(format["title"].as_str().unwrap().to_owned(), format);
    }
    definitions
}

/// Returns the members of an object, or of each of its forms. A form with a tag puts the tag before the name,
/// as in `pick.of`.
fn list_members(definition: &Json) -> Vec<(String, Member)> {
    if let Some(properties) = definition["properties"].as_object() {
        let is_tag = |(_, schema): &(&String, &Json)| schema.get("const").is_some_and(Json::is_string);
        let tag = properties.iter().find(is_tag).and_then(|(_, schema)| schema["const"].as_str());
        let others = properties.iter().filter(|property| !is_tag(property));
        return others
            .map(|(name, schema)| {
                let required = definition["required"].as_array().into_iter().flatten().any(|one| one == name);
                let name = tag.map_or_else(|| name.clone(), |tag| format!("{tag}.{name}"));
                (name, Member { required, value: schema.clone() })
            })
            .collect();
    }
    let forms = ["oneOf", "anyOf"].into_iter().filter_map(|word| definition[word].as_array()).flatten();
    forms.flat_map(list_members).collect()
}

/// Returns the rows of the tables on the pages. A table describes the last definition named before it as
/// "(`NAME`)".
fn read_rows(definitions: &Map<String, Json>) -> Members {
    let mut rows = Members::new();
    for page in PAGES {
        let (mut definition, mut in_table) = (String::new(), false);
        for line in page.lines() {
            let names = line.split("(`").skip(1).filter_map(|rest| rest.split_once("`)"));
            if let Some((name, _)) = names.filter(|(name, _)| definitions.contains_key(*name)).last() {
                name.clone_into(&mut definition);
            }
            in_table = line == HEAD || in_table && line.starts_with('|');
            if !in_table || !line.starts_with("| `") {
                continue;
            }
            let line = line.replace("\\|", "\u{0}");
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [name, _, default, _, example] = cells[..] else {
                panic!("found {line}, expected five cells")
            };
            let example = example.trim_matches('`').replace('\u{0}', "|");
            let read: Result<Map<String, Json>, _> = diorama_format::read_words(&example);
            let value = read.unwrap_or_else(|error| panic!("{definition}: `{example}`: {error}")).into();
            let row = Member { required: default.starts_with("required"), value };
            let name = name.trim_matches('`').to_owned();
            let known = rows.insert((definition.clone(), name.clone()), row);
            assert_eq!(known, None, "{definition}: found two rows of `{name}`, expected one");
        }
    }
    rows
}

#[test]
fn each_member_of_the_formats_has_a_row_with_an_example() {
    let definitions = read_definitions();
    let rows = read_rows(&definitions);
    let members: Members = definitions
        .iter()
        .flat_map(|(definition, schema)| {
            list_members(schema).into_iter().map(move |(name, member)| ((definition.clone(), name), member))
        })
        .collect();
    let schemas = Schemas::new(definitions.clone());
    let mut wrong = Vec::new();
    for (place, member) in &members {
        let (definition, name) = place;
        let Some(row) = rows.get(place) else {
            wrong.push(format!(
                "{definition}.{name}: found no row, expected one in the table of `{definition}`"
            ));
            continue;
        };
        if row.required && !member.required || member.required && !row.required {
            wrong.push(format!("{definition}.{name}: found another default than in the schema"));
        }
        let own = name.rsplit('.').next().unwrap_or(name);
        match row.value.as_object().filter(|example| example.len() == 1).and_then(|example| example.get(own))
        {
            Some(example) => {
                if let Err(error) = schemas.check(&member.value, example, Side::Request) {
                    wrong.push(format!("{definition}.{name}: found an example that does not fit: {error:?}"));
                }
            }
            None => wrong.push(format!("{definition}.{name}: found an example of another member")),
        }
    }
    wrong.extend(rows.keys().filter(|place| !members.contains_key(*place)).map(|(definition, name)| {
        format!("{definition}.{name}: found a row, expected none: the formats have no such member")
    }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(members.len() > 250, "found {} members", members.len());
}

#[test]
fn each_word_of_the_formats_stands_on_a_page() {
    let definitions = read_definitions();
    let alternatives =
        definitions.iter().filter_map(|(name, schema)| Some((name, schema["oneOf"].as_array()?)));
    let words = alternatives
        .flat_map(|(name, forms)| forms.iter().filter_map(move |form| Some((name, form["const"].as_str()?))));
    let is_missing =
        |(_, word): &(&String, &str)| PAGES.iter().all(|page| !page.contains(&format!("`{word}`")));
    let missing: Vec<(&String, &str)> = words.filter(is_missing).collect();
    assert!(missing.is_empty(), "expected each of these in backticks on a page: {missing:?}");
}
