//! Pairs of a message and the same message with a mutant.

use serde_json::{Map, Value as Json, json};

use super::{NO_MUTANTS, RejectedMutant, row, searched_row};
use crate::export::formats::write;
use crate::export::{Format, Options, SearchForm};
use crate::row::Dialogue;

fn rejected(kind: &'static str, call: usize, instead: Option<(&str, Json)>) -> RejectedMutant {
    let arguments = |json: Json| json.as_object().cloned().unwrap_or_else(Map::new);
    RejectedMutant { kind, call, instead: instead.map(|(api, json)| (api.to_owned(), arguments(json))) }
}

fn pairs(options: Options, row: &Dialogue, mutants: Vec<RejectedMutant>) -> Vec<Json> {
    let lines = write(&options.shape().unwrap(), 0, row, &|_| mutants.clone()).unwrap().lines;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const USUAL: Options = Options::new(Format::TrlPreference);

#[test]
fn each_kind_of_mutant_makes_one_pair() {
    let mutants = vec![
        rejected("change_argument", 1, Some(("FindDentist", json!({"name": "Eva"})))),
        rejected("change_argument", 2, Some(("FindDentist", json!({"name": "Eva"})))),
        rejected("add_write", 3, Some(("FindDentist", json!({"name": "Pia"})))),
    ];
    let lines = pairs(USUAL, &row(), mutants);
    let kinds: Vec<&Json> = lines.iter().map(|line| &line["damage"]).collect();
    assert_eq!(kinds, ["change_argument", "add_write"]);
    for line in &lines {
        let turn = line["turn"].as_u64().unwrap() as usize;
        assert_eq!(line["prompt"].as_array().unwrap().len(), turn);
        assert_ne!(line["chosen"][0]["tool_calls"], line["rejected"][0]["tool_calls"]);
        assert_eq!(line["rejected"][0].get("reasoning_content"), None);
    }
    // One of the calls made together differs, with the same id.
    let calls = |message: &Json| message["tool_calls"].as_array().unwrap().clone();
    let (chosen, wrong) = (calls(&lines[0]["chosen"][0]), calls(&lines[0]["rejected"][0]));
    let differing = chosen.iter().zip(&wrong).filter(|(one, other)| one != other).count();
    assert_eq!((chosen.len(), wrong.len(), differing), (2, 2, 1));
    assert!(chosen.iter().zip(&wrong).all(|(one, other)| one["id"] == other["id"]));
    // The mutant comes after the reference calls and replaces the last message.
    assert_eq!(lines[1]["chosen"][0]["content"], "At \"1\" and 2.");
    assert_eq!(calls(&lines[1]["rejected"][0])[0]["function"]["arguments"], json!({"name": "Pia"}));
}

#[test]
fn a_call_that_is_left_out_is_answered_at_once() {
    let lines = pairs(USUAL, &searched_row(), vec![rejected("drop_call", 4, None)]);
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(line["rejected"][0].get("tool_calls"), None);
    let said = line["rejected"][0]["content"].as_str().unwrap();
    assert!(searched_row().messages.iter().any(|message| message.content.as_deref() == Some(said)));
    // A message of several calls makes no pair without one of them.
    assert_eq!(pairs(USUAL, &row(), vec![rejected("drop_call", 1, None)]), Vec::<Json>::new());
}

#[test]
fn calls_of_a_wrong_form_make_no_pair() {
    let none = |row: &Dialogue, mutant: RejectedMutant| {
        assert_eq!(pairs(USUAL, row, vec![mutant.clone()]), Vec::<Json>::new(), "{mutant:?}");
    };
    let change = |call, api, arguments| rejected("change_argument", call, Some((api, arguments)));
    none(&row(), change(1, "FindDentist", json!({"name": 7})));
    none(&row(), change(1, "FindDentist", json!({})));
    none(&row(), change(1, "Nobody", json!({"name": "Eva"})));
    // An equal call is not worse, and the first message is no training target.
    none(&row(), change(1, "FindDentist", json!({"name": "Ann"})));
    none(&super::mistaken_row(), change(0, "FindDentist", json!({"name": "Eva"})));
    let lines = pairs(USUAL, &row(), Vec::new());
    assert_eq!(lines, Vec::<Json>::new());
    let shape = USUAL.shape().unwrap();
    assert_eq!(lines, lines_of_none(&shape));
}

fn lines_of_none(shape: &crate::export::options::Shape) -> Vec<Json> {
    let lines = write(shape, 0, &row(), NO_MUTANTS).unwrap().lines;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_pair_is_the_same_in_each_rendering() {
    let rendered = |searched| {
        let options = Options { searched: Some(searched), ..USUAL };
        let room = ("BookRoom", json!({"room": 8}));
        pairs(options, &searched_row(), vec![rejected("change_argument", 1, Some(room))]).remove(0)
    };
    let (text, dispatch) = (rendered(SearchForm::Text), rendered(SearchForm::Dispatch));
    assert_eq!(text["turn"], dispatch["turn"]);
    let direct = &text["rejected"][0]["tool_calls"][0]["function"];
    let through = &dispatch["rejected"][0]["tool_calls"][0]["function"];
    assert_eq!(through["arguments"], json!({"name": direct["name"], "arguments": direct["arguments"]}));
}
