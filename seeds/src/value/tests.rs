use super::*;
use proptest::prelude::*;

fn json(value: &Value) -> String {
    let mut out = String::new();
    value.write_json(&mut out, &Zone::utc());
    out
}

#[test]
fn each_type_has_one_spelling() {
    let lisbon = Zone::named("Europe/Lisbon").unwrap();
    let summer =
        Value::DateTime(lisbon.instant(Date::parse("2026-07-01").unwrap(), Time::parse("9:00").unwrap()));
    assert_eq!(summer.to_text(&lisbon), "2026-07-01T09:00:00+01:00");
    assert_eq!(json(&Value::number(-0.0).unwrap()), "0");
    assert_eq!(json(&Value::Number(1.0)), "1");
    assert_eq!(json(&Value::Number(0.1)), "0.1");
    assert_eq!(json(&Value::Decimal(Decimal { minor: -5, scale: 2 })), "-0.05");
    assert_eq!(json(&Value::Decimal(Decimal { minor: 1250, scale: 2 })), "12.5");
    assert_eq!(json(&Value::Time(Time::parse("9:05").unwrap())), "\"09:05\"");
    assert_eq!(json(&Value::string("e\u{301}\"\n")), "\"é\\\"\\n\"");
    assert!(Value::number(f64::NAN).is_none());
}

#[test]
fn instants_are_read_with_and_without_offset() {
    let zone = Zone::named("America/New_York").unwrap();
    let expected = zone.parse_instant("2026-03-02T09:00:00-05:00");
    assert!(expected.is_some());
    for text in
        ["2026-03-02T09:00", "2026-03-02 9:00", "2026-03-02T14:00:00Z", "2026-03-02T15:00:00.905+01:00"]
    {
        assert_eq!(zone.parse_instant(text), expected, "{text}");
    }
    for text in [
        "2026-03-02",
        "2026-02-30T09:00",
        "2026-03-02T25:00",
        "2026-03-02T09:00:00.",
        "é",
        "2026-03-02T09:00+1:00",
    ] {
        assert_eq!(zone.parse_instant(text), None, "{text}");
    }
}

#[test]
fn the_ends_of_the_calendar_are_days_like_others() {
    for name in ["UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati"] {
        let zone = Zone::named(name).unwrap();
        for day in ["0000-01-01", "9999-12-30", "9999-12-31"] {
            assert_eq!(Date::parse(day).unwrap().to_string(), day);
            for time in ["00:00:00", "23:59:59"] {
                let local = format!("{day}T{time}");
                let instant = zone.parse_instant(&local).unwrap();
                assert!(Value::DateTime(instant).to_text(&zone).starts_with(&local), "{name} {local}");
                // An offset that leads beyond the end of the calendar gives its end.
                for offset in ["Z", "-12:00", "+14:00"] {
                    let instant = zone.parse_instant(&format!("{local}{offset}")).unwrap();
                    let text = Value::DateTime(instant).to_text(&zone);
                    assert!(zone.has(instant) && text[..4] == local[..4], "{name} {local}{offset} {text}");
                }
            }
        }
        assert!(!zone.has(Instant(i64::MAX)) && !zone.has(Instant(i64::MIN)));
        let _ = Value::DateTime(Instant(i64::MAX)).to_text(&zone);
    }
    assert_eq!(Date::LAST.to_string(), "9999-12-31");
    assert_eq!(Date(i32::MAX).civil(), Date::LAST.civil());
}

#[test]
fn days_are_civil_dates_of_the_library() {
    let mut date = jiff::civil::date(1899, 12, 30);
    for days in -25_569..60_000 {
        assert_eq!((Date::from_civil(date), Date(days).civil()), (Date(days), date));
        date = date.tomorrow().unwrap();
    }
}

#[test]
fn decimals_compare_and_hash_by_number() {
    let half = Value::Decimal(Decimal { minor: 5, scale: 1 });
    let also_half = Value::Decimal(Decimal { minor: 50, scale: 2 });
    assert_eq!(half, also_half);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    half.write_canonical(&mut a);
    also_half.write_canonical(&mut b);
    assert_eq!(a, b);
    assert_eq!(Decimal::parse("1.005", 2), None);
    assert_eq!(Decimal::parse("1.50", 1), Some(Decimal { minor: 15, scale: 1 }));
    assert_eq!(Decimal::round(1.005, 2), Some(Decimal { minor: 101, scale: 2 }));
    assert_eq!(Decimal::round(2640.0, 6), Some(Decimal { minor: 2_640_000_000, scale: 6 }));
}

proptest! {
    #[test]
    fn dates_and_instants_survive_their_text(days in -200_000_i32..200_000, second in 0_u32..86_400) {
        prop_assert_eq!(Date::parse(&Date(days).to_string()).map(|date| date.0), (days >= -719_528).then_some(days));
        prop_assert_eq!(Time::parse(&Time(second).to_string()), Some(Time(second)));
        let zone = Zone::named("Asia/Kolkata").unwrap();
        if days >= -719_000 {
            let instant = Instant(i64::from(days) * 86_400 + i64::from(second));
            // Historical offsets had seconds. Those of the last hundred years do not.
            if days > -20_000 {
                let text = Value::DateTime(instant).to_text(&zone);
                prop_assert_eq!(zone.parse_instant(&text), Some(instant));
            }
        }
    }

    #[test]
    fn json_text_and_json_tree_agree(number in proptest::num::f64::NORMAL, text in ".*", minor in any::<i32>()) {
        for value in [Value::number(number).unwrap(), Value::string(&text), Value::Decimal(Decimal { minor: minor.into(), scale: 2 })] {
            let parsed: serde_json::Value = serde_json::from_str(&json(&value)).unwrap();
            prop_assert_eq!(parsed, value.to_json(&Zone::utc()));
        }
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".*") {
        let _ = Date::parse(&text);
        let _ = Time::parse(&text);
        let _ = Decimal::parse(&text, 2);
        let _ = Zone::utc().parse_instant(&text);
    }
}
