//! Owns the tests of the providers.

use super::*;

#[test]
fn a_reference_takes_no_provider() {
    let found = refusal(
        "a: {key: id, records: 2, fields: {n: {type: integer}}}, b: {key: id, records: 2, fields: {a_id: {ref: a, fake: {provider: integer}}}}",
    );
    assert!(
        found.contains("found the provider `integer` on a reference, which is the key of a record"),
        "{found}"
    );
    assert!(found.contains("leave `fake` out: one of the records is taken"), "{found}");
}

#[test]
fn every_documented_provider_makes_a_value_of_its_type() {
    let texts = "person_name first_name last_name username email phone company job_title street_address city country \
        country_code postcode word words sentence paragraph colour language currency_code uuid url image_url ip \
        product_name book_title movie_title song_title band_name course_title dish licence_plate isbn iban";
    let fields: Vec<String> =
        texts.split_whitespace().map(|name| format!("{name}_: {{type: string, fake: {name}}}")).collect();
    let others = "latitude_: {type: number, fake: latitude}, longitude_: {type: number, fake: longitude}, \
        integer_: {type: integer, fake: {provider: integer, min: 3, max: 9, step: 3}}, \
        decimal_: {type: decimal, fake: {provider: decimal, min: 1, max: 2, step: 0.25}}, \
        number_: {type: number, fake: {provider: number, min: 1, max: 2, step: 0.5}}, \
        date_: {type: date, fake: {provider: date, from: -3d, to: 2026-03-04, weekdays: [1]}}, \
        time_: {type: time, fake: {provider: time, from: '09:00', to: '10:00', step: 30m}}, \
        list_: {type: list, items: {type: string}, fake: {provider: list, of: word, min: 2, max: 3}}, \
        chance_: {type: string, optional: true, fake: {provider: chance, share: 0.5, of: word}}, \
        expr_: {type: integer, fake: {provider: expr, of: 'record.integer_ * 2'}}";
    let text = of(&format!("thing: {{key: id, fields: {{{}, {others}}}, records: 60}}", fields.join(", ")));
    let made = made(&text, 4).unwrap();
    holds(&made);
    let all = |field: &str| column(&made, "thing", field).into_iter().collect::<BTreeSet<_>>();
    let shown = |field: &str| {
        all(field).iter().map(|value| value.to_text(&Zone::utc())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("integer_"), "3 6 9");
    assert_eq!(shown("decimal_"), "1 1.25 1.5 1.75 2");
    assert_eq!(shown("number_"), "1 1.5 2");
    assert_eq!(shown("date_"), "2026-03-02");
    assert_eq!(shown("time_"), "09:00 09:30 10:00");
    assert_eq!(shown("expr_"), "6 12 18");
    let absent =
        column(&made, "thing", "chance_").iter().filter(|value| matches!(value, Value::Absent)).count();
    assert!((15..45).contains(&absent), "{absent}");
    for field in &made.world.resources[0].fields {
        if matches!(field.schema.kind, Type::String) {
            let texts = all(&field.name);
            assert!(texts.len() > 15, "{} has only {}", field.name, texts.len());
            assert!(
                texts.iter().all(|text| text
                    .as_str()
                    .is_none_or(|text| !text.is_empty() && !text.contains(['{', '}'])))
            );
        }
    }
}

#[test]
fn limits_narrow_what_is_made_up() {
    let text = of(
        "thing: {key: id, records: 40, fields: {name: {type: string, max_length: 8}, code: {type: string, pattern: '[A-C]{2}-\\d{3}'}, \
         price: {type: decimal, min: 900, max: 905}, age: {type: integer, min: 3}, score: {type: number, max: 0.5}, \
         day: {type: date, min: 2026-04-01, max: 2026-04-03}, late: {type: date, min: 2027-04-01}, long_ago: {type: date-time, max: '2001-04-01T09:00'}, noon: {type: time, min: '12:00', max: '12:30'}, written: {type: string, format: date}, tags: {type: list, items: {type: string}, min_length: 2, max_length: 2}}}",
    );
    for seed in 0..10 {
        holds(&made(&text, seed).unwrap());
    }
}

#[test]
fn what_is_wrong_with_a_provider_is_said_with_its_place() {
    let check = |field: &str, expect: &str| {
        let refusal = refusal(&format!("thing: {{key: id, fields: {{x: {field}}}, records: 2}}"));
        assert!(refusal.contains("resources.thing.fields.x.fake: ") && refusal.contains(expect), "{refusal}");
    };
    check("{type: string, fake: nonsense}", "found the provider `nonsense`");
    check("{type: integer, fake: city}", "found the provider `city` on a field that holds an integer");
    check("{type: string, fake: {provider: city, min: 1}}", "found the option `min`, but `city` has none");
    check("{type: integer, fake: {provider: integer, min: 5, max: 1}}", "found the range 5 to 1");
    check("{type: date, fake: {provider: date, from: soon}}", "found `from: soon`");
    check("{type: integer, fake: {provider: expr, of: 'record.y'}}", "in `of`");
    check("{type: string, fake: {provider: template, text: '{field:y}'}}", "found the field `y`");
    check("{type: string, fake: {provider: pick, of: [a], weights: [1, 2]}}", "found 2 weights for 1 values");
    let circle = refusal(
        "thing: {key: id, records: 1, fields: {a: {type: integer, fake: {provider: expr, of: record.b}}, b: {type: integer, fake: {provider: expr, of: record.a}}}}",
    );
    assert!(circle.contains("found fields that are made from each other: a, b"), "{circle}");
    let empty =
        refusal("a: {key: id, fields: {b: {ref: b}}, records: 1}, b: {key: id, fields: {}, records: 0}");
    assert!(empty.contains("found no record of `b` to refer to"), "{empty}");
}

#[test]
fn spans_that_end_before_they_begin_are_refused() {
    let check = |field: &str, expect: &str| {
        let found = refusal(&format!("visit: {{key: id, records: 2, fields: {{at: {field}}}}}"));
        assert!(found.starts_with(&format!("test: resources.visit.fields.at.fake: {expect}")), "{found}");
    };
    check(
        "{type: date, fake: {provider: date, from: +10d, to: +2d}}",
        "found `from: +10d` after `to: +2d`\n  fix: write both, the earlier one as `from`",
    );
    check(
        "{type: date, optional: true, fake: {provider: date, from: +40d}}",
        "found `from: +40d` after `to: +30d`, which is the default",
    );
    check(
        "{type: date-time, fake: {provider: date_time, from: 2026-05-01, to: 2026-04-01}}",
        "found `from: 2026-05-01` after `to: 2026-04-01`",
    );
    check(
        "{type: time, fake: {provider: time, from: '18:00', to: '08:00'}}",
        "found `from: 18:00` after `to: 08:00`",
    );
    check(
        "{type: list, items: {type: date}, fake: {provider: list, of: {provider: date, to: -40d}}}",
        "found `from: -30d`, which is the default after `to: -40d`",
    );
}

#[test]
fn the_format_lists_every_provider_with_options() {
    let text = include_str!("../../../../docs/world-format.md");
    let (_, section) = text.split_once("## Made-up values").unwrap();
    let (section, _) = section.split_once("## Phrases").unwrap();
    let schema = crate::check::json_schema();
    let missing: Vec<&str> = schema["$defs"]["FakeDoc"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|provider| provider["properties"]["provider"]["const"].as_str().unwrap())
        .filter(|name| !section.contains(&format!("`{name}`")) && !section.contains(&format!("| `{name}.")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
