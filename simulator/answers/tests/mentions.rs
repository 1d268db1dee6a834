//! Snapshots of the mentions in sample texts, with values and stances.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test may end this way")]

use std::fmt::Write as _;

use diorama_seeds::value::Zone;

use diorama_answers::prose::{Prose, measures};
use diorama_answers::units::Unit;
use diorama_answers::{Clock, Mention, NumberRole, Stance, What, extract};

/// Formats a mention as `words: value`, followed by its unusual properties.
fn shown(mention: &Mention, text: &str) -> String {
    let words = text.get(mention.start..mention.end).unwrap_or("nothing");
    let mut shown = format!("`{words}`: ");
    match &mention.what {
        What::Number(number) => {
            write!(shown, "{}", number.value).unwrap();
            if let Some(other) = number.other {
                write!(shown, " or {other}").unwrap();
            }
            if let Some(unit) = number.unit {
                write!(shown, " times {} {:?}", unit.factor, unit.dimension).unwrap();
            }
            if number.role != NumberRole::Plain {
                write!(shown, ", {:?}", number.role).unwrap();
            }
        }
        What::Money(money) => {
            write!(shown, "{}", money.amount.as_f64()).unwrap();
            for code in ["EUR", "USD", "GBP", "JPY"].into_iter().filter(|code| money.currency.means(code)) {
                write!(shown, " {code}").unwrap();
            }
        }
        What::Date(day) => {
            for reading in day.readings.iter().flatten() {
                write!(shown, "{reading} ").unwrap();
            }
            write!(shown, "{:?}", day.form).unwrap();
        }
        What::Time(said) => {
            write!(shown, "{}", said.time).unwrap();
            if let Some(other) = said.other {
                write!(shown, " or {other}").unwrap();
            }
        }
        What::None => shown.push_str("none"),
    }
    if mention.stance != Stance::Asserted {
        write!(shown, ", {:?}", mention.stance).unwrap();
    }
    shown.trim_end().to_owned()
}

#[test]
fn values_are_read_from_the_ways_people_write_them() {
    let zone = Zone::utc();
    let clock = Clock::at(zone.parse_instant("2026-03-02T09:00").unwrap(), &zone);
    let mut read = String::new();
    for text in [
        "Tuesday, the 3rd of March, suits me.",
        "It opens on Tuesday (the 3rd).",
        "We meet on 5. März 2026, not on 5-Mar-2025.",
        "The 5–8 March are free, and so is 12 and 14 April.",
        "March 5–8, 2026, and 5/3/2026.",
        "They sat for 3 hours, and may march 5 km on Sat.",
        "Next Friday, last Monday, in three days and two weeks ago.",
        "At 1430 hours or 0900h, but 2026 rooms and 1430 guests.",
        "The show is at seven forty-five, or at two thirty pm.",
        "Half past one, a quarter to one, twenty-five past nine.",
        "At 9 we open, at 10.30 pm we close, and 9 am to 5 pm is busy.",
        "2 o'clock, 14h30, 12 noon and midnight.",
        "It was 21 degrees, 70 degrees Fahrenheit and 5 degrees north.",
        "A 30-euro voucher, a 45-minute ride, and 30 - euro.",
        "€80, 80 €, US$12.50, 1.234,56 EUR, 50 cents and twenty pounds.",
        "Between €3 and €5, up to €20, at least 7 kg, more than twelve.",
        "The code is 123456789012345678, the card 12345678901234567.",
        "Two out of 5 rooms, two out of five, and two of them.",
        "Two point two five metres, minus five, one and a half hours.",
        "Two hundred and five thousand and six, a dozen, 1.2k and 3 million.",
        "It costs €80, which is cheaper than the €95 of the other one.",
        "Room 5 isn't free, but 6 is; 7 is not the one.",
        "It isn't €80 but €95, and no longer 4.",
        "Is it 5? If it were 6, I could also offer 7.",
        "About 5, I'm not sure; it was 4 before and now it is 3.",
        "[Room 5](https://x.example/12) costs $30 [1].",
        "| room | fee |\n|---|---|\n| 5 | 30 |\n| 6 | kg |",
        "1. Ana, 2 hours\n2. Rui, 3 hours",
        "12 m², 5 square metres, 3 km/h, 20 %, ten per cent.",
        "No rooms, none, nothing, zero guests.",
    ] {
        let mentions = extract(text, &clock);
        writeln!(read, "{text}").unwrap();
        for mention in &mentions {
            writeln!(read, "  {}", shown(mention, text)).unwrap();
        }
    }
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("mentions", read);
    });
}

#[test]
fn texts_name_units_of_several_words() {
    let check = |text: &str, expect: &[&str]| {
        let expect: Vec<Unit> = expect.iter().map(|name| Unit::named(name).unwrap()).collect();
        assert_eq!(measures(text).0, expect, "{text}");
    };
    check("Wind speed in km/h; gusts in m/s; battery in %.", &["km/h", "m/s", "%"]);
    check("kilometres per hour, miles an hour, 4 m a second, m²", &["km/h", "mph", "m/s", "m²"]);
    check("The h of a day, km a week", &["days", "km", "weeks"]);
}

#[test]
fn forms_of_one_word_meet() {
    for (one, other, expect) in [
        ("stopped", "stop", true),
        ("booked", "booking", true),
        ("parties", "party", true),
        ("staff", "staf", false),
    ] {
        let meet = Prose::stems_of(one) == Prose::stems_of(other);
        assert_eq!(meet, expect, "{one} and {other}");
    }
}
