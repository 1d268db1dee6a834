//! Answers calls that the user is asked to confirm: yes if the user wants each, else what they want instead.
//!
//! This module compares calls alone, and reads no words of the assistant.

use diorama_answers::TextContent;
use diorama_grade::arguments;
use diorama_seeds::model::World;
use diorama_seeds::schema::Type;
use diorama_seeds::script::{Goal, WantedCall};
use diorama_seeds::task::Call;
use diorama_seeds::value::Value;

/// The user's answer to calls that they are asked to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentAnswer {
    /// The answer as text.
    pub words: String,
    /// True if the answer is a yes.
    pub agrees: bool,
}

const YES: &str = "Yes, please.";
const NOT_THAT: &str = "No, that's not what I want.";

/// The difference between a call and a wanted one.
enum Difference {
    /// The user said another value, in these words.
    Said(String),
    /// The user wants another value, and has no word for it.
    Other,
}

/// Returns the user's answer to calls that they are asked to confirm.
#[must_use]
pub fn confirm(goal: &Goal, calls: &[Call], world: &World) -> ConsentAnswer {
    let denied = |words: String| ConsentAnswer { words, agrees: false };
    for call in calls {
        // The wanted call with the fewest differences gives the correction.
        let alike = goal.wants.iter().filter(|want| want.api == call.api);
        let differences = alike.map(|want| compare(want, call, world));
        let Some(differences) = differences.min_by_key(Vec::len) else { return denied(NOT_THAT.to_owned()) };
        if differences.is_empty() {
            continue;
        }
        let said = differences.into_iter().filter_map(|difference| match difference {
            Difference::Said(words) => Some(words),
            Difference::Other => None,
        });
        let said: Vec<String> = said.collect();
        return denied(if said.is_empty() {
            NOT_THAT.to_owned()
        } else {
            format!("No, I said {}.", said.join(", "))
        });
    }
    let agrees = !calls.is_empty();
    ConsentAnswer { words: if agrees { YES } else { NOT_THAT }.to_owned(), agrees }
}

/// Compares a call with a wanted one: the values that the user knows, and the arguments that the call adds.
fn compare(want: &WantedCall, call: &Call, world: &World) -> Vec<Difference> {
    let Some(api) = world.api_named(&call.api).map(|id| world.api(id)) else {
        return vec![Difference::Other];
    };
    let wanted = Call { api: want.api.clone(), arguments: want.arguments.clone() };
    let (Some(wanted), Some(given)) = (arguments(&wanted, api, world), arguments(call, api, world)) else {
        return vec![Difference::Other];
    };
    let mut differences = Vec::new();
    for (index, parameter) in api.parameters.iter().enumerate() {
        let id = diorama_seeds::model::ParameterId(index as u16);
        let is_free = matches!(parameter.schema.kind, Type::String);
        let holds = match (wanted.get(&id), given.get(&id)) {
            (Some(wanted), Some(given)) => is_alike(wanted, given, is_free),
            // The service provides a value that the user does not know, such as a new key.
            (None, Some(_)) => want.unknown.iter().any(|name| **name == *parameter.name),
            (wanted, None) => wanted.is_none(),
        };
        if !holds {
            let words = want.words.get(&*parameter.name).cloned();
            differences.push(words.map_or(Difference::Other, Difference::Said));
        }
    }
    differences
}

/// Returns true if a value equals the wanted one; a free text may paraphrase it.
fn is_alike(wanted: &Value, given: &Value, is_free: bool) -> bool {
    let says = |(wanted, given): (&str, &str)| {
        wanted.eq_ignore_ascii_case(given) || TextContent::read(wanted).is_said_by(&TextContent::read(given))
    };
    wanted.loosely_equals(given) || (is_free && wanted.as_str().zip(given.as_str()).is_some_and(says))
}

#[cfg(test)]
mod tests {
    use diorama_seeds::world::{compile, read};
    use serde_json::{Value as Json, json};

    use super::*;

    const TOURS: &str = r#"
world: 1
name: tours
materialised: 0
clock: 2026-03-02T09:00
resources:
  tour:
    key: tour_id
    fields:
      tour_id: {type: string}
      day: {type: date}
      people: {type: integer, default: 2}
      note: {type: string, free_text: true, optional: true}
      lot: {type: string}
    records: []
apis:
  - name: Book
    method: POST
    path: /tours
    parameters: {day: {like: tour.day}, people: {like: tour.people, default: 2}, note: {like: tour.note, optional: true}, lot: {like: tour.lot}}
    behaviour: {create: tour}
  - name: Drop
    method: DELETE
    path: /tours/{tour_id}
    parameters: {tour_id: {ref: tour}}
    behaviour: {delete: tour}
"#;

    fn answer(calls: &[(&str, Json)]) -> String {
        let world = compile(&read("tours.yaml", TOURS.as_bytes()).unwrap()).unwrap();
        let want = WantedCall {
            api: "Book".into(),
            arguments: json!({"day": "2026-03-05", "note": "we bring a large dog"})
                .as_object()
                .cloned()
                .unwrap(),
            unknown: vec!["lot".into()],
            words: [("day".to_owned(), "Thursday".to_owned())].into_iter().collect(),
        };
        let goal = Goal { wants: vec![want], ..Goal::default() };
        let made = |(api, arguments): &(&str, Json)| Call {
            api: (*api).to_owned(),
            arguments: arguments.as_object().cloned().unwrap(),
        };
        let calls: Vec<Call> = calls.iter().map(made).collect();
        let answer = confirm(&goal, &calls, &world);
        assert_eq!(answer.agrees, answer.words == YES);
        answer.words
    }

    #[test]
    fn the_user_says_yes_to_the_calls_that_they_want() {
        let right = json!({"day": "2026-03-05", "note": "We bring a large dog.", "lot": "L7"});
        assert_eq!(answer(&[("Book", right.clone())]), YES);
        // The first call writes a default out, and spells a value differently.
        let spelt =
            json!({"day": "2026-03-05", "people": "2", "note": "a large dog, which we bring", "lot": "L8"});
        assert_eq!(answer(&[("Book", spelt), ("Book", right)]), YES);
    }

    #[test]
    fn the_user_denies_other_calls_with_what_they_said() {
        let day = json!({"day": "2026-03-06", "note": "we bring a large dog", "lot": "L7"});
        assert_eq!(answer(&[("Book", day)]), "No, I said Thursday.");
        let people = json!({"day": "2026-03-05", "people": 3, "note": "we bring a large dog", "lot": "L7"});
        assert_eq!(answer(&[("Book", people)]), NOT_THAT);
        let note = json!({"day": "2026-03-05", "note": "we bring a small cat", "lot": "L7"});
        assert_eq!(answer(&[("Book", note)]), NOT_THAT);
        assert_eq!(answer(&[("Book", json!({"lot": "L7"}))]), "No, I said Thursday.");
        assert_eq!(answer(&[("Book", json!({"day": "soon"}))]), NOT_THAT);
        assert_eq!(answer(&[("Drop", json!({"tour_id": "T1"}))]), NOT_THAT);
        assert_eq!(answer(&[("Unknown", json!({}))]), NOT_THAT);
        assert_eq!(answer(&[]), NOT_THAT);
    }
}
