//! Checks that no text makes the reading of statements fail.

use diorama_seeds::task::Fact;
use diorama_seeds::value::Zone;
use proptest::prelude::*;

use super::{Visible, find_unsupported, states};
use diorama_answers::prose::Prose;
use diorama_answers::{Clock, extract};

fn facts() -> Vec<Fact> {
    serde_json::from_value(serde_json::json!([
        {"kind": "number", "value": 12.4, "unit": "km"},
        {"kind": "number", "value": -1e300},
        {"kind": "money", "minor": i64::MAX, "scale": 9, "currency": "EUR"},
        {"kind": "count", "value": u64::MAX},
        {"kind": "date", "value": "9999-12-31"},
        {"kind": "time", "value": "23:59"},
        {"kind": "date_time", "value": "2026-03-05T14:30:00+00:00"},
        {"kind": "entity", "value": "Dr. Ana Silva", "of": ["dentist", "name"]},
        {"kind": "boolean", "value": true, "when_true": ["heated"], "when_false": ["not heated"]},
        {"kind": "list", "items": [{"kind": "count", "value": 1}, {"kind": "count", "value": 1}]},
    ]))
    .unwrap()
}

/// Pieces that the recognisers react to, in any order.
const PIECES: &[&str] = &[
    "5",
    "12",
    "2026",
    "00",
    "1234567890123456789012",
    ".",
    ",",
    ":",
    "-",
    "–",
    "/",
    " ",
    "\n",
    "|",
    "*",
    "**",
    "`",
    "~~",
    "$",
    "€",
    "\\(",
    "\\frac{1}",
    "March",
    "may",
    "Mon",
    "fri",
    "the",
    "fifth",
    "of",
    "at",
    "half",
    "quarter",
    "past",
    "to",
    "noon",
    "am",
    "p.m.",
    "in",
    "days",
    "ago",
    "h",
    "km",
    "°",
    "C",
    "%",
    "k",
    "M",
    "hundred",
    "and",
    "a",
    "twenty",
    "one",
    "no",
    "none",
    "not",
    "but",
    "than",
    "euros",
    "cents",
    "EUR",
    "US$",
    "Dr.",
    "Ana",
    "Silva",
    "Rui",
    "Costa",
    "It",
    "heated",
    "yes",
    "?",
    "(",
    ")",
    "[1]",
    "](",
    "<br>",
    "https://x.y/1",
    "1\u{fe0f}\u{20e3}",
    "½",
    "\u{a0}",
    "é",
    "日本",
    "T",
    "Z",
    "+",
    "Final Answer:",
    "<think>",
    "</think>",
    "#",
    "{,}",
    "\\u20ac",
    "\"",
    "'s",
    "’",
    "room",
    "respectively",
    "cheaper",
    "from",
    "was",
    "now",
    "you",
    "asked",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reading_any_text_does_not_fail(text in "\\PC{0,200}|(?s).{0,120}") {
        read(&text)?;
    }

    #[test]
    fn reading_any_mixture_of_cues_does_not_fail(pieces in proptest::collection::vec((0..PIECES.len(), any::<bool>()), 0..60)) {
        let text: String = pieces.iter().map(|(piece, spaced)| format!("{}{}", PIECES[*piece], if *spaced { " " } else { "" })).collect();
        read(&text)?;
    }
}

fn read(text: &str) -> Result<(), TestCaseError> {
    let zone = Zone::utc();
    let clock = Clock::at(zone.parse_instant("2026-03-02T09:00").unwrap(), &zone);
    for mention in extract(text, &clock) {
        prop_assert!(
            mention.start < mention.end && text.get(mention.start..mention.end).is_some(),
            "{mention:?}"
        );
    }
    read_all(text, &clock);
    Ok(())
}

/// Reads a text with every recogniser.
fn read_all(text: &str, clock: &Clock) {
    let turns = [Prose::read(text, clock)];
    let now = clock.zone.instant(clock.today, diorama_seeds::value::Time(0));
    let visible = Visible::of_facts(clock, now, &turns, &[]);
    for fact in facts() {
        states(&turns[0], &fact, "fee of May", &visible);
    }
    assert!(find_unsupported(&turns[0], &visible).len() <= turns[0].mentions().len());
}

#[test]
fn long_texts_take_linear_time_and_no_deep_stack() {
    let zone = Zone::utc();
    let clock = Clock::at(zone.parse_instant("2026-03-02T09:00").unwrap(), &zone);
    for piece in [
        "1-",
        "5/",
        "twenty-",
        "a ",
        "9 to ",
        "March 5-",
        "Ana, ",
        "\\",
        "$",
        "[1](",
        "one hundred ",
        "?",
        "| 5 ",
        "- 1\n",
        "not ",
        "1 234 ",
    ] {
        let text = piece.repeat(30_000 / piece.len());
        read_all(&text, &clock);
    }
}
