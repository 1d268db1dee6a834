use std::ffi::OsString;
use std::sync::OnceLock;

use diorama_output::folder::Folder;
use diorama_output::row::{Dialogue, Role};
use diorama_output::storage::Storage;
use diorama_seeds::task::Difficulty;
use serde_json::{Map, Value as Json, json};

use super::replay;
use crate::episode::Worlds;

/// Change of a row. Returns true if the row has a value to change.
type Tampering = fn(&mut Dialogue) -> bool;

/// Domains whose requests, taken together, have everything that the test tampers with.
const DOMAINS: [&str; 8] = [
    "beekeeping",
    "city_library",
    "dental_clinic",
    "home_insurance",
    "hotel_rooms",
    "meeting_rooms",
    "parcel_shipping",
    "pharmacy_counter",
];

/// Returns the folder of generated rows with their worlds, and the rows.
fn dataset() -> &'static (tempfile::TempDir, Vec<Dialogue>) {
    static DATASET: OnceLock<(tempfile::TempDir, Vec<Dialogue>)> = OnceLock::new();
    DATASET.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("dataset");
        let line = ["diorama", "generate", "--dialogues", "800", "--seed", "7"].into_iter().chain(DOMAINS);
        let line = line.map(OsString::from).chain(["--out".into(), out.clone().into_os_string()]);
        let mut said = Vec::new();
        let _ = crate::cli::main(line, &mut Vec::new(), &mut said);
        let folder_of_rows =
            Folder::open(Storage::local(&out)).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        let rows = folder_of_rows.rows().map(Result::unwrap).collect();
        (folder, rows)
    })
}

fn worlds() -> Worlds {
    Worlds::new(Folder::open(Storage::local(&dataset().0.path().join("dataset"))).unwrap())
}

/// Replaces a value.
fn put(place: &mut Json, value: Json) -> Option<()> {
    *place = value;
    Some(())
}

/// Changes a JSON column.
fn edit(column: &mut String, change: impl FnOnce(&mut Json) -> Option<()>) -> bool {
    let mut json = serde_json::from_str(column).unwrap();
    let found = change(&mut json).is_some();
    *column = json.to_string();
    found
}

/// Changes the first goal of the checks that has a value to change.
fn goal(row: &mut Dialogue, change: impl Fn(&mut Json) -> Option<()>) -> bool {
    edit(&mut row.checks, |checks| checks.get_mut("goals")?.as_array_mut()?.iter_mut().find_map(change))
}

/// Removes a member of a goal's checks.
fn without(row: &mut Dialogue, member: &str) -> bool {
    goal(row, |goal| goal.as_object_mut()?.remove(member).map(drop))
}

/// Changes the goals of the script.
fn script(row: &mut Dialogue, change: impl FnOnce(&mut Vec<Json>) -> Option<()>) -> bool {
    edit(&mut row.user_facts, |facts| change(facts.get_mut("goals")?.as_array_mut()?))
}

/// Changes the last message with words of a role.
fn message(row: &mut Dialogue, role: Role) -> bool {
    let said = row.messages.iter_mut().rfind(|message| message.role == role);
    said.and_then(|message| message.content.as_mut()).map(|words| words.push_str(" Thanks.")).is_some()
}

/// Single changes, and the path that the error must name.
const TAMPERINGS: [(&str, Tampering, &str); 31] = [
    (
        "another tolerance",
        |row| {
            goal(row, |goal| {
                let mut facts = goal.get_mut("answer")?.as_array_mut()?.iter_mut();
                facts
                    .find_map(|check| check.get_mut("fact")?.get_mut("tolerance"))
                    .map(|found| *found = json!(1e9))
            })
        },
        "fact.tolerance",
    ),
    ("no answer", |row| without(row, "answer"), "checks.goals["),
    ("no evidence", |row| without(row, "evidence"), ".evidence: found nothing"),
    ("no refusal", |row| without(row, "refusal"), ".refusal: found nothing"),
    ("no asks", |row| without(row, "asks"), ".asks: found nothing"),
    (
        "another name of a fact",
        |row| {
            goal(row, |goal| put(goal.get_mut("answer")?.get_mut(0)?.get_mut("about")?, json!("the weather")))
        },
        "answer[0].about: found \"the weather\"",
    ),
    (
        "fewer facts",
        |row| {
            goal(row, |goal| {
                goal.get_mut("answer")?.as_array_mut().filter(|all| all.len() > 1)?.pop().map(drop)
            })
        },
        "answer",
    ),
    (
        "another alternative",
        |row| {
            goal(row, |goal| {
                let evidence = goal.get_mut("answer")?.get_mut(0)?.get_mut("evidence")?.as_array_mut()?;
                evidence.push(evidence.first()?.clone());
                Some(())
            })
        },
        "answer[0].evidence: found 2 items",
    ),
    (
        "no changes",
        |row| edit(&mut row.checks, |checks| checks.as_object_mut()?.remove("changes").map(drop)),
        "checks.changes: found nothing",
    ),
    (
        "another value",
        |row| {
            edit(&mut row.checks, |checks| {
                let fields = checks.get_mut("changes")?.get_mut(0)?.get_mut("fields")?.as_object_mut()?;
                fields.values_mut().next().map(|matcher| *matcher = json!({"text": "x"}))
            })
        },
        "checks.changes[0].fields.",
    ),
    (
        "allowances",
        |row| {
            edit(&mut row.checks, |checks| {
                let resource = checks.get_mut("changes")?.get(0)?["resource"].clone();
                put(&mut checks["allowed"], json!([{ "resource": resource, "field": "x" }]))
            })
        },
        "checks.allowed: found [",
    ),
    ("another system message", |row| message(row, Role::System), "episode.system_hash"),
    (
        "another licence",
        |row| {
            row.license = "MIT".to_owned();
            true
        },
        "license",
    ),
    (
        "another source",
        |row| {
            row.source = "somewhere else".to_owned();
            true
        },
        "source",
    ),
    (
        "no condition",
        |row| {
            script(row, |goals| {
                goals.iter_mut().find_map(|goal| goal.as_object_mut()?.remove("when")).map(drop)
            })
        },
        "].when: found nothing",
    ),
    (
        "another condition",
        |row| {
            edit(&mut row.gold_answer, |answer| {
                let claims = answer.get_mut("claims")?.as_array_mut()?.iter_mut();
                claims.filter_map(|claim| claim.as_object_mut()?.remove("when")).next().map(drop)
            })
        },
        "when",
    ),
    (
        "fewer goals",
        |row| script(row, |goals| (goals.len() > 1).then(|| goals.pop()).map(drop)),
        "user_facts.goals: found",
    ),
    (
        "fewer lines",
        |row| {
            script(row, |goals| {
                goals.iter_mut().find_map(|goal| goal.get_mut("lines")?.as_array_mut()?.pop()).map(drop)
            })
        },
        "user_facts.goals[",
    ),
    (
        "fewer details",
        |row| {
            script(row, |goals| {
                goals.iter_mut().find_map(|goal| goal.get_mut("withheld")?.as_array_mut()?.pop()).map(drop)
            })
        },
        "user_facts.goals[",
    ),
    (
        "another opening",
        |row| script(row, |goals| put(&mut goals[0]["user"], json!("Tell me a joke."))),
        "user_facts.goals[0].user: found \"Tell me a joke.\"",
    ),
    (
        "a claim less",
        |row| {
            edit(&mut row.gold_answer, |answer| {
                let claims = answer.get_mut("claims")?.as_array_mut()?.iter_mut();
                claims
                    .filter_map(|claim| claim.get_mut("ends")?.get_mut("facts")?.as_array_mut()?.pop())
                    .next()
                    .map(drop)
            })
        },
        "checks.goals[",
    ),
    (
        "no claims",
        |row| edit(&mut row.gold_answer, |answer| answer.as_object_mut()?.remove("claims").map(drop)),
        "gold_answer: claims: found 0",
    ),
    (
        "another source",
        |row| {
            edit(&mut row.gold_calls, |calls| {
                let sources = calls.as_array_mut()?.iter_mut().filter_map(|call| call.get_mut("sources"));
                let mut sources = sources.filter_map(Json::as_object_mut).flat_map(Map::values_mut);
                let user = sources.find(|source| source.get("from") == Some(&json!("user")))?;
                put(user, json!({"from": "default"}))
            })
        },
        "gold_calls[",
    ),
    (
        "a later message of the user",
        |row| message(row, Role::User) && row.turns() > 1,
        "episode.dialogue_hash",
    ),
    (
        "words of the assistant on the way",
        |row| {
            let says =
                row.messages.iter_mut().find(|said| said.content.is_some() && !said.tool_calls.is_empty());
            says.map(|said| said.content.as_mut().unwrap().push_str(" Thanks.")).is_some()
        },
        "episode.dialogue_hash",
    ),
    (
        "not to be learned from",
        |row| {
            row.messages.iter_mut().find(|said| said.role == Role::Assistant).unwrap().train = false;
            true
        },
        "messages[",
    ),
    (
        "a call of the solution taken for a mistake",
        |row| edit(&mut row.gold_calls, |calls| put(&mut calls[0]["mistake"], json!(true))),
        "messages[",
    ),
    (
        "another outcome",
        |row| edit(&mut row.episode, |episode| put(&mut episode["outcome"], json!("refused"))),
        "episode.outcome",
    ),
    (
        "another band",
        |row| {
            row.difficulty = row.difficulty.map(|band| Difficulty::ALL[(band as usize + 1) % 3]);
            true
        },
        "difficulty: found",
    ),
    (
        "no band",
        |row| {
            row.difficulty = None;
            true
        },
        "difficulty: found",
    ),
    (
        "more near misses",
        |row| edit(&mut row.provenance, |made| put(&mut made["difficulty"]["near_misses"], json!(999))),
        "provenance.difficulty.near_misses: found 999",
    ),
];

#[test]
fn a_row_that_was_made_easier_is_found_and_the_place_named() {
    let (worlds, (_, rows)) = (worlds(), dataset());
    for (name, tamper, place) in TAMPERINGS {
        let found = rows.iter().find_map(|row| {
            let mut tampered = row.clone();
            tamper(&mut tampered).then_some((row, tampered))
        });
        let (row, tampered) = found.unwrap_or_else(|| panic!("{name}: no row has it"));
        assert!(matches!(replay(row, &worlds), Ok(true)), "{name}: {}", row.id);
        let message = match replay(&tampered, &worlds) {
            Err(unproven) => unproven.to_string(),
            Ok(_) => panic!("{name}: {} passes", row.id),
        };
        assert!(message.contains(place), "{name}: expected {place} in {message}");
    }
}

#[test]
fn rows_of_an_older_version_hold_as_far_as_they_can_be_derived() {
    let (worlds, (_, rows)) = (worlds(), dataset());
    // Rows of that version name one domain.
    let mut row = rows.iter().find(|row| row.domains.len() == 1).unwrap().clone();
    edit(&mut row.gold_answer, |answer| answer.as_object_mut()?.remove("claims").map(drop));
    edit(&mut row.episode, |episode| {
        let episode = episode.as_object_mut()?;
        episode.remove("system_hash").and(episode.remove("dialogue_hash")).map(drop)
    });
    assert!(replay(&row, &worlds).is_err(), "rows of this version have claims");
    edit(&mut row.provenance, |provenance| put(&mut provenance["version"], json!("generate/1")));
    let replayed = replay(&row, &worlds);
    assert!(matches!(replayed, Ok(false)), "{:?}", replayed.map_err(|error| error.to_string()));
}
