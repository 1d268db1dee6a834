//! Owns the rules of API-Bank's released evaluator: its comparison of calls, and its ROUGE-L.
//!
//! It compares a call's arguments with the recorded ones, by rules for each API, and its reply with the
//! recorded reply. Replies come from our world. A search is right if the nearest API or the keywords equal
//! the recorded ones.

use std::collections::BTreeSet;

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use super::dialogue::Gold;
use super::world::BankWorld;

/// A comparison of an argument with the recorded one.
#[derive(Clone, Copy)]
enum Rule {
    /// The values are the same.
    Same,
    /// The texts are the same without outer spaces.
    Trimmed,
    /// The texts are the same without case and outer spaces.
    Folded,
    /// The texts are the same without any space.
    Spaceless,
    /// More than half of all words occur in both texts.
    Overlap,
    /// The same as `Overlap`, without case.
    FoldedOverlap,
    /// The texts are the same day.
    Day,
    /// The texts are the same day and time.
    Time,
    /// The texts are the same day of a year.
    MonthDay,
    /// The lists of devices have the same names and descriptions, in any order.
    Devices,
}

use Rule::*;

/// The comparisons of arguments.
type Rules = &'static [(&'static str, Rule)];

/// Comparisons by API. For an unlisted API, all arguments must be equal.
const RULES: &[(&[&str], Rules)] = &[
    (
        &["AddAgenda", "ModifyAgenda", "QueryAgenda"],
        &[("content", Overlap), ("time", Same), ("location", Same)],
    ),
    (&["AddReminder", "ModifyReminder", "QueryReminder"], &[("content", FoldedOverlap), ("time", Same)]),
    (
        &["AddMeeting", "ModifyMeeting", "QueryMeeting"],
        &[
            ("token", Same),
            ("meeting_topic", Overlap),
            ("start_time", Same),
            ("end_time", Same),
            ("location", Same),
            ("attendees", Same),
        ],
    ),
    // Meetings have no argument of this name, so no call of DeleteMeeting is right.
    (&["DeleteAgenda", "DeleteReminder", "DeleteMeeting"], &[("time", Same)]),
    (&["AddScene", "ModifyScene"], &[("name", Folded), ("devices", Devices)]),
    (&["QueryScene", "DeleteScene"], &[("name", Folded)]),
    (&["AppointmentRegistration"], &[("patient_name", Trimmed), ("date", Day), ("doctor_name", Trimmed)]),
    (
        &["ModifyRegistration"],
        &[("appointment_id", Trimmed), ("new_appointment_date", Day), ("new_appointment_doctor", Trimmed)],
    ),
    (&["QueryRegistration"], &[("patient_name", Trimmed), ("date", Day)]),
    (&["CancelRegistration"], &[("appointment_id", Trimmed)]),
    (&["Calculator"], &[("formula", Spaceless)]),
    (&["TimedSwitch"], &[("name", Folded), ("time", Time), ("on", Same)]),
    (&["CancelTimedSwitch"], &[("name", Folded), ("time", Time)]),
    (&["DocumentQA"], &[("url", Trimmed), ("question", Trimmed)]),
    (&["EmergencyKnowledge", "SymptomSearch"], &[("symptom", Folded)]),
    (&["PlayMusic"], &[("music_name", Folded)]),
    (&["QueryHealthData"], &[("user_id", Folded), ("start_time", Time), ("end_time", Time)]),
    (&["RecordHealthData"], &[("user_id", Folded), ("time", Time)]),
    (&["QueryHistoryToday"], &[("date", MonthDay)]),
    (&["QueryStock"], &[("stock_code", Folded), ("date", Day)]),
    (&["SendEmail"], &[("receiver", Folded), ("subject", Trimmed), ("content", Trimmed)]),
    (&["Translate"], &[("src", Same)]),
    (&["Dictionary", "Wiki", "SearchEngine", "GetToday"], &[]),
];

/// APIs whose replies are not compared. A success suffices.
const ANY_REPLY: [&str; 3] = ["AddScene", "AppointmentRegistration", "RegisterUser"];

/// Returns true if a call is right.
pub(super) fn is_right(world: &BankWorld, call: &Call, gold: &Gold) -> bool {
    if call.api != gold.api {
        return false;
    }
    if gold.api == TOOL_SEARCHER {
        let keywords = |arguments: &Map<String, Json>| text(arguments.get("keywords"));
        let found = world.nearest(call);
        let is_found = found.is_some() && found == gold.found();
        return keywords(&call.arguments) == keywords(&gold.arguments) || is_found;
    }
    let (own, recorded) = (world.effect(&as_read(call, gold)), world.effect(&gold.call()));
    own.status < 400
        && recorded.status < 400
        && are_right(&call.api, &call.arguments, &gold.arguments)
        && (ANY_REPLY.contains(&&*call.api) || own.body == recorded.body)
}

/// Returns the call as the benchmark's own APIs would parse it. An argument equivalent to the recorded one
/// becomes the recorded one, and a list written as text becomes a list.
fn as_read(call: &Call, gold: &Gold) -> Call {
    let rules = rules_of(&call.api);
    let argument = |(name, own): (&String, &Json)| {
        let rule = rules.unwrap_or_default().iter().find(|(known, _)| known == name).map(|(_, rule)| *rule);
        let recorded = gold.arguments.get(name).filter(|recorded| match rule {
            Some(Overlap | FoldedOverlap) => false,
            rule => rule.unwrap_or(Same).holds(own, recorded),
        });
        let list = || own.as_str().filter(|text| text.trim().starts_with('[')).and_then(listed);
        (name.clone(), recorded.cloned().or_else(list).unwrap_or_else(|| own.clone()))
    };
    Call { api: call.api.clone(), arguments: call.arguments.iter().map(argument).collect() }
}

/// Returns the comparisons of an API, or none if all arguments must be equal.
fn rules_of(api: &str) -> Option<Rules> {
    RULES.iter().find(|(apis, _)| apis.contains(&api)).map(|(_, rules)| *rules)
}

/// Returns true if arguments are right in comparison with the recorded ones.
fn are_right(api: &str, own: &Map<String, Json>, recorded: &Map<String, Json>) -> bool {
    let value = |name: &str| own.get(name).unwrap_or(&Json::Null);
    match rules_of(api) {
        Some(rules) => rules.iter().all(|(name, rule)| {
            recorded.get(*name).is_some_and(|recorded| rule.holds(value(name), recorded))
        }),
        None => {
            own.iter().all(|(name, value)| value.is_null() || recorded.contains_key(name))
                && recorded.iter().all(|(name, recorded)| Same.holds(value(name), recorded))
        }
    }
}

impl Rule {
    fn holds(self, own: &Json, recorded: &Json) -> bool {
        let (one, other) = (text(Some(own)), text(Some(recorded)));
        match self {
            Same => is_same(own, recorded),
            Trimmed => one.trim() == other.trim(),
            Folded => one.trim().to_lowercase() == other.trim().to_lowercase(),
            Spaceless => one.replace(' ', "") == other.replace(' ', ""),
            Overlap => overlap(&one, &other) > 0.5,
            FoldedOverlap => overlap(&one.to_lowercase(), &other.to_lowercase()) > 0.5,
            Day => is_same_moment(&one, &other, 3),
            Time => is_same_moment(&one, &other, 6),
            MonthDay => match (numbers(&one).as_deref(), numbers(&other).as_deref()) {
                (Some([.., month, day]), Some([.., other_month, other_day])) => {
                    (month, day) == (other_month, other_day)
                }
                _ => false,
            },
            Devices => match (devices(own), devices(recorded)) {
                (Some(own), Some(recorded)) => own == recorded,
                _ => false,
            },
        }
    }
}

fn text(value: Option<&Json>) -> String {
    match value {
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// Returns true if two values are equal. Texts are parsed as the type of the recorded value.
fn is_same(own: &Json, recorded: &Json) -> bool {
    match (own, recorded) {
        (Json::String(own), Json::Number(number)) => {
            own.trim().parse::<f64>().is_ok_and(|own| Some(own) == number.as_f64())
        }
        (Json::String(own), Json::Bool(recorded)) => own.eq_ignore_ascii_case(&recorded.to_string()),
        (Json::String(own), Json::Array(_) | Json::Object(_)) => listed(own).as_ref() == Some(recorded),
        (Json::Number(_) | Json::Bool(_), Json::String(_)) => text(Some(own)) == text(Some(recorded)),
        _ => own == recorded,
    }
}

/// Parses a list written as text, with either kind of quotes.
fn listed(text: &str) -> Option<Json> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\""))).ok()
}

/// Returns the share of the words of two texts that occur in both.
fn overlap(one: &str, other: &str) -> f64 {
    let words = |text| str::split(text, ' ').collect::<BTreeSet<&str>>();
    let (one, other) = (words(one), words(other));
    one.intersection(&other).count() as f64 / one.union(&other).count() as f64
}

/// Parses the numbers of a day or time such as `2023-03-27 09:00:00`.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let numbers = text.split(['-', ' ', ':']).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

fn is_same_moment(one: &str, other: &str, length: usize) -> bool {
    let (one, other) = (numbers(one), numbers(other));
    one.as_ref().is_some_and(|numbers| numbers.len() == length) && one == other
}

fn devices(value: &Json) -> Option<BTreeSet<(String, String)>> {
    let read = value.as_str().and_then(listed);
    let items = read.as_ref().unwrap_or(value).as_array()?;
    let device = |item: &Json| {
        let name = text(item.get("name")).trim().to_lowercase();
        (name, text(item.get("description")).trim().to_owned())
    };
    Some(items.iter().map(device).collect())
}

/// Returns ROUGE-L of the Python package `rouge` at summary level. Sentences end at points, each word counts
/// once, and the words of the longest common subsequences of all sentence pairs are joined.
pub(super) fn rouge_l(said: &str, recorded: &str) -> f64 {
    let sentences = |text: &str| -> Vec<Vec<String>> {
        let sentences = text.split('.').filter(|sentence| !sentence.is_empty());
        let plain = sentences.map(|sentence| sentence.split_whitespace().collect::<Vec<_>>().join(" "));
        plain.map(|sentence| sentence.split(' ').map(str::to_owned).collect()).collect()
    };
    let (said, recorded) = (sentences(said), sentences(recorded));
    let different =
        |sentences: &[Vec<String>]| sentences.iter().flatten().collect::<BTreeSet<_>>().len() as f64;
    let mut common: BTreeSet<&str> = BTreeSet::new();
    for sentence in &recorded {
        said.iter().for_each(|other| common.extend(longest_common(sentence, other)));
    }
    if common.is_empty() {
        return 0.0;
    }
    let common = common.len() as f64;
    let (precision, recall) = (common / different(&said), common / different(&recorded));
    2.0 * (precision * recall / (precision + recall + 1e-8))
}

/// Returns the words of a longest common subsequence. Of several, returns the one whose words are earliest in
/// the second text.
fn longest_common<'a>(one: &'a [String], other: &[String]) -> Vec<&'a str> {
    let mut table = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for (i, word) in one.iter().enumerate() {
        for (j, known) in other.iter().enumerate() {
            table[i + 1][j + 1] =
                if word == known { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
        }
    }
    let (mut i, mut j, mut found) = (one.len(), other.len(), Vec::new());
    while i > 0 && j > 0 {
        if one[i - 1] == other[j - 1] {
            found.push(&*one[i - 1]);
            (i, j) = (i - 1, j - 1);
        } else if table[i - 1][j] > table[i][j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_compared_as_the_released_evaluator_does() {
        let check = |api: &str, own: Json, recorded: Json, expect: bool| {
            let found = are_right(api, own.as_object().unwrap(), recorded.as_object().unwrap());
            assert_eq!(found, expect, "{api} {own} {recorded}");
        };
        let agenda =
            |content: &str| json!({"content": content, "time": "t", "location": "l", "token": content});
        check("AddAgenda", agenda("Meeting with Ada"), agenda("Meeting with Ada B"), true);
        check("AddAgenda", agenda("Meeting"), agenda("Meeting Ada"), false);
        check("AddAgenda", agenda("meeting ada"), agenda("Meeting Ada"), false);
        let reminder = |content: &str| json!({"content": content, "time": "t"});
        check("AddReminder", reminder("pay Bills"), reminder("Pay bills"), true);
        let answer = |question: &str| json!({"url": "u", "question": question});
        check("DocumentQA", answer(" Why? "), answer("Why?"), true);
        check("AddAlarm", json!({"token": " a ", "time": "t"}), json!({"token": "a", "time": "t"}), false);
        check(
            "AddAlarm",
            json!({"token": "a", "time": "t", "more": 1}),
            json!({"token": "a", "time": "t"}),
            false,
        );
        let meeting = json!({"meeting_topic": "m", "start_time": "s"});
        check("DeleteMeeting", meeting.clone(), meeting, false);
        let day = |date: &str| json!({"stock_code": "x", "date": date});
        check("QueryStock", day("2023-4-5 "), day("2023-04-05"), true);
        check("QueryStock", day("April 5"), day("April 5"), false);
        check("QueryHistoryToday", json!({"date": "2023-12-10"}), json!({"date": "12-10"}), true);
        let hotel = |count: Json, name: &str| json!({"room_count": count, "hotel_name": name});
        check("BookHotel", hotel(json!("2"), "H"), hotel(json!(2), "H"), true);
        check("BookHotel", hotel(json!(2), "H"), hotel(json!(2), "h"), false);
        check("Calculator", json!({"formula": "8 * 8"}), json!({"formula": "8*8"}), true);
        let listed = json!({"devices": "[{'name': 'Light', 'description': 'd '}]", "name": "n"});
        check(
            "AddScene",
            listed,
            json!({"devices": [{"name": "light", "description": "d"}], "name": "N "}),
            true,
        );
    }

    /// The expected values are those of the `rouge` package, version 1.0.1.
    #[test]
    fn rouge_is_that_of_the_public_package() {
        let check = |said: &str, recorded: &str, expect: f64| {
            let found = rouge_l(said, recorded);
            assert!((found - expect).abs() < 1e-6, "{said} | {recorded}: {found}");
        };
        check("", "x", 0.0);
        check(".", "x", 0.0);
        check("The alarm is set.", "The alarm is set.", 0.999_999_995);
        check("the alarm is set", "The alarm is set.", 0.749_999_995);
        let asked = "The alarm is set for 8. Is there anything else? the alarm";
        check("Your alarm for 8 is set. Anything else?", asked, 0.421_052_626_704);
        check("a b c d", "b a d c", 0.499_999_995);
        check("Done. . ok", "ok. Done", 0.799_999_995_2);
        check("I have set the the alarm", "the alarm was set by me. I have an alarm", 0.571_428_566_837);
    }
}
