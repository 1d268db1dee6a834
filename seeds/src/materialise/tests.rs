use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::schema::Type;
use crate::value::{Value, Zone};
use crate::world;

mod providers;

const SHELTER: &str = include_str!("tests/shelter.yaml");

fn source(text: &str) -> Result<Source, Report> {
    Source::new(world::read("test.yaml", text.as_bytes())?)
}

fn made(text: &str, seed: u64) -> Result<MaterialisedWorld, Report> {
    source(text)?.materialise(seed)
}

/// Returns a world of one domain with these resources, as YAML in flow style.
fn of(resources: &str) -> String {
    format!("world: 1\nname: test\nclock: 2026-03-02T09:00\nresources: {{{resources}}}\n")
}

/// Returns the records as lines, one resource after the other.
fn shown(made: &MaterialisedWorld) -> String {
    let mut lines = String::new();
    for resource in &made.world.resources {
        lines.push_str(&format!("{}\n", resource.qualified));
        for record in &resource.records {
            let present = resource
                .fields
                .iter()
                .zip(record.iter())
                .filter(|(_, value)| !matches!(value, Value::Absent));
            let cells: Vec<String> = present
                .map(|(field, value)| format!("{}: {}", field.name, value.to_json(&made.world.zone)))
                .collect();
            lines.push_str(&format!("  {}\n", cells.join(", ")));
        }
    }
    lines
}

/// Returns the values of one field in the order of keys.
fn column(made: &MaterialisedWorld, resource: &str, field: &str) -> Vec<Value> {
    let resource = made.world.resource(made.world.resource_named(resource).unwrap());
    let field = resource.field_named(field).unwrap().index();
    resource.records.iter().map(|record| record[field].clone()).collect()
}

/// Returns the error of a world that cannot be materialised.
fn refusal(resources: &str) -> String {
    made(&of(resources), 1).map(|made| shown(&made)).unwrap_err().to_string()
}

/// Checks that the written document parses to the same records. Parsing checks types, limits, uniqueness and
/// references.
fn holds(made: &MaterialisedWorld) {
    let (doc, read) = match world::load("made.json", made.canonical.as_bytes()) {
        Ok(read) => read,
        Err(report) => panic!("{report}"),
    };
    for (resource, again) in made.world.resources.iter().zip(&read.resources) {
        assert_eq!(resource.records, again.records, "{}", resource.qualified);
        assert_eq!(resource.key_format, again.key_format, "{}", resource.qualified);
    }
    assert_eq!(read.hash, made.world.hash);
    assert_eq!(world::canonical_json(&doc, &read), made.canonical);
}

#[test]
fn a_small_world_has_these_records() {
    insta::assert_snapshot!(shown(&made(SHELTER, 1).unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_seed_gives_records_that_hold(seed in any::<u64>()) {
        let made = made(SHELTER, seed).unwrap();
        holds(&made);
        for (starts, ends) in column(&made, "visit", "starts_at").iter().zip(&column(&made, "visit", "ends_at")) {
            prop_assert!(starts < ends);
        }
    }
}

#[test]
fn the_catalog_is_materialised_and_holds() {
    for name in diorama_catalog::names() {
        let text = diorama_catalog::source(name).unwrap();
        let source = source(text).unwrap_or_else(|report| panic!("{name}: {report}"));
        for seed in 0..4 {
            let made =
                source.materialise(seed).unwrap_or_else(|report| panic!("{name}, seed {seed}: {report}"));
            holds(&made);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_gives_others() {
    let source = source(SHELTER).unwrap();
    let [first, again, other] = [7, 7, 8].map(|seed| source.materialise(seed).unwrap());
    assert_eq!((first.canonical.as_str(), &first.hash), (again.canonical.as_str(), &again.hash));
    let doc = world::read("first.json", first.canonical.as_bytes()).unwrap();
    assert_eq!(doc.materialised, Some(7));
    assert_ne!(first.hash, other.hash);
    let keys =
        |made: &MaterialisedWorld| column(made, "visit", "visit_id").into_iter().collect::<BTreeSet<Value>>();
    assert!(keys(&first).is_disjoint(&keys(&other)), "keys follow from the seed");
    // A document that is already materialised stays unchanged for any seed.
    let kept = materialised(&doc, 99).unwrap();
    assert_eq!(kept.canonical, first.canonical);
    assert_eq!((kept.world.hash.as_ref(), shown(&kept)), (Some(&first.hash), shown(&first)));
}

#[test]
fn what_is_added_elsewhere_changes_nothing_here() {
    let plain = of("person: {key: id, fields: {name: {type: string}, note: {type: string}}, records: 6}");
    let more = of("pet: {key: id, fields: {name: {type: string}}, records: 3}, \
         person: {key: id, fields: {age: {type: integer}, name: {type: string}, email: {type: string}, note: {type: string}}, records: 9}");
    let (plain, more) = (made(&plain, 3).unwrap(), made(&more, 3).unwrap());
    let records = |made: &MaterialisedWorld| -> BTreeSet<(Value, Value, Value)> {
        let fields = ["id", "name", "note"].map(|field| column(made, "person", field));
        let [ids, names, notes] = fields;
        ids.into_iter().zip(names).zip(notes).map(|((id, name), note)| (id, name, note)).collect()
    };
    assert!(records(&plain).is_subset(&records(&more)));
}

#[test]
fn a_record_is_about_one_person_and_one_place() {
    let text = of(
        "person: {key: id, fields: {first_name: {type: string}, last_name: {type: string}, full_name: {type: string}, \
         city: {type: string}, country: {type: string}, country_code: {type: string}, to_city: {type: string}}, records: 30}",
    );
    let made = made(&text, 2).unwrap();
    let cells = |field: &str| -> Vec<String> {
        column(&made, "person", field).iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let (first, last, full) = (cells("first_name"), cells("last_name"), cells("full_name"));
    for (i, name) in full.iter().enumerate() {
        assert_eq!(*name, format!("{} {}", first[i], last[i]));
        let city = tables::cities().iter().find(|known| known.name == cells("city")[i]).unwrap();
        assert_eq!(
            (city.country.name, city.country.code),
            (&*cells("country")[i], &*cells("country_code")[i])
        );
    }
    assert_ne!(cells("city"), cells("to_city"));
}

#[test]
fn every_value_of_an_enum_occurs() {
    let text = of(
        "job: {key: id, fields: {state: {enum: [a, b, c, d, e]}, level: {enum: [x, y], optional: true}}, records: 5}",
    );
    for seed in 0..20 {
        let made = made(&text, seed).unwrap();
        assert_eq!(column(&made, "job", "state").into_iter().collect::<BTreeSet<_>>().len(), 5);
        assert!(
            column(&made, "job", "level")
                .into_iter()
                .filter(|value| !value.is_missing())
                .collect::<BTreeSet<_>>()
                .len()
                == 2
        );
    }
}

#[test]
fn uniqueness_is_kept_to_the_last_value() {
    let full = of(
        "seat: {key: id, unique_together: [[row, place]], records: 20, fields: {row: {enum: [a, b, c, d]}, place: {type: integer, min: 1, max: 5}}}, \
         badge: {key: id, records: 20, fields: {seat: {ref: seat, unique: true}, number: {type: integer, min: 1, max: 20, unique: true}}}",
    );
    for seed in 0..10 {
        holds(&made(&full, seed).unwrap());
    }
    // Values for the field's name are used only if there are enough of them.
    let sizes = |unique: bool| {
        let part =
            format!("part: {{key: id, records: 40, fields: {{size: {{type: string, unique: {unique}}}}}}}");
        let made = made(&of(&part), 1).unwrap();
        holds(&made);
        column(&made, "part", "size").into_iter().collect::<BTreeSet<_>>().len()
    };
    assert_eq!(sizes(true), 40);
    assert!(sizes(false) < 10);
    assert_eq!(
        refusal("seat: {key: id, records: 21, fields: {row: {enum: [a, b], unique: true}}}"),
        "test: resources.seat.fields.row: found 21 records, but only 2 different values are possible in this unique field\n  \
         fix: ask for fewer records, or let the field take more values"
    );
    let pattern = refusal(
        "seat: {key: id, records: 2000, fields: {row: {type: string, pattern: \"[A-Z]{2}\", unique: true}}}",
    );
    assert!(pattern.contains("found no new value for record"), "{pattern}");
    assert!(!pattern.contains(&u64::MAX.to_string()), "{pattern}");
    let pairs = refusal(
        "seat: {key: id, unique_together: [[row, place]], records: 5, fields: {row: {enum: [a, b]}, place: {enum: [c, d]}}}",
    );
    assert!(
        pairs.contains("found no new row and place for record 5 of 5; about 4 different groups are possible"),
        "{pairs}"
    );
    let keys = refusal(
        "seat: {key: id, records: 30, fields: {id: {type: string, fake: {provider: code, format: \"R#\"}}}}",
    );
    assert!(keys.contains("found 30 records, but the key's format has only 10 keys"), "{keys}");
}

#[test]
fn given_records_may_refer_by_name_also_in_circles() {
    let text = of(
        "boss: {key: id, display: name, fields: {name: {type: string}, deputy: {ref: clerk, nullable: true}}, \
           records: [{name: Ana, deputy: Bo}, {name: Cy, deputy: null}]}, \
         clerk: {key: code, display: name, fields: {code: {type: string, fake: {provider: code, format: \"C-###\"}}, \
           name: {type: string}, boss: {ref: boss}, helps: {type: list, items: {ref: clerk}}}, \
           records: [{name: Bo, boss: Cy, helps: [Di]}, {name: Di, boss: Ana, helps: []}]}",
    );
    let made = made(&text, 1).unwrap();
    holds(&made);
    let of_name = |resource: &str, name: &str, field: &str| {
        let at =
            column(&made, resource, "name").iter().position(|value| value.as_str() == Some(name)).unwrap();
        column(&made, resource, field)[at].clone()
    };
    assert_eq!(of_name("boss", "Ana", "deputy"), of_name("clerk", "Bo", "code"));
    assert_eq!(of_name("clerk", "Bo", "boss"), of_name("boss", "Cy", "id"));
    assert_eq!(of_name("clerk", "Bo", "helps"), Value::List([of_name("clerk", "Di", "code")].into()));
    let twice = refusal(
        "pet: {key: id, fields: {owner: {ref: man, unique: true}}, records: [{owner: Adam}, {owner: Adam}]}, \
         man: {key: id, display: name, fields: {name: {type: string}}, records: [{name: Adam}]}",
    );
    assert!(twice.contains("resources.pet.records[1].owner: found"), "{twice}");
    let nobody = refusal(
        "pet: {key: id, fields: {owner: {ref: man}}, records: [{owner: Eve}]}, \
         man: {key: id, display: name, fields: {id: {type: string}, name: {type: string}}, records: [{name: Adam}, {name: Adam}]}",
    );
    assert!(
        nobody.contains("found a reference to \"Eve\", which is neither key nor name of a man"),
        "{nobody}"
    );
    let several = refusal(
        "pet: {key: id, fields: {owner: {ref: man}}, records: [{owner: Adam}]}, \
         man: {key: id, display: name, fields: {id: {type: string}, name: {type: string}}, records: [{name: Adam}, {name: Adam}]}",
    );
    assert!(several.contains("which 2 records are called"), "{several}");
}

#[test]
fn records_for_each_parent_are_numbered_and_follow_it() {
    let text = of(
        "episode: {key: id, each: [{of: season, by: season, min: 2, max: 3, set: {kind: regular}}], records: [], fields: {season: {ref: season}, \
           kind: {type: string}, number: {type: integer, fake: {provider: position}}, \
           show: {ref: show, fake: {provider: through, ref: season, field: show}}}}, \
         season: {key: id, each: [{of: show, by: show, min: 1, max: 2}], records: [], fields: {show: {ref: show}}}, \
         show: {key: id, fields: {title: {type: string}}, records: 4}",
    );
    let made = made(&text, 5).unwrap();
    holds(&made);
    let (ids, shows) = (column(&made, "season", "id"), column(&made, "season", "show"));
    assert_eq!(shows.iter().collect::<BTreeSet<_>>().len(), 4, "every show has a season");
    let episodes: Vec<_> =
        ["season", "show", "number", "kind"].map(|field| column(&made, "episode", field)).into();
    for (id, show) in ids.iter().zip(&shows) {
        let own: Vec<usize> = (0..episodes[0].len()).filter(|i| episodes[0][*i] == *id).collect();
        let mut numbers: Vec<&Value> = own.iter().map(|i| &episodes[2][*i]).collect();
        numbers.sort();
        assert!((2..=3).contains(&own.len()));
        assert_eq!(
            numbers,
            (1..=own.len() as i64).map(Value::Integer).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
        assert!(own.iter().all(|i| episodes[1][*i] == *show && episodes[3][*i].as_str() == Some("regular")));
    }
}

#[test]
fn references_to_the_own_resource_make_a_forest_where_they_may_be_missing() {
    let made =
        made(&of("folder: {key: id, fields: {parent: {ref: folder, nullable: true}}, records: 40}"), 1)
            .unwrap();
    let (ids, parents) = (column(&made, "folder", "id"), column(&made, "folder", "parent"));
    for start in 0..ids.len() {
        let mut at = start;
        let mut steps = 0;
        while let Some(parent) = ids.iter().position(|id| *id == parents[at]) {
            (at, steps) = (parent, steps + 1);
            assert!(steps < ids.len(), "a circle of parents");
        }
    }
}

#[test]
fn lists_of_lists_are_bounded() {
    // The type gives no number of items, so the innermost lists have one.
    let nested = |levels: usize, of: &str| {
        format!("{}{of}{}", "{type: list, items: ".repeat(levels), "}".repeat(levels))
    };
    let text =
        of(&format!("grid: {{key: id, records: 3, fields: {{cells: {}}}}}", nested(12, "{type: integer}")));
    holds(&made(&text, 0).unwrap());
    let list = "{provider: list, min: 500, max: 500, of: ".repeat(3);
    let found = refusal(&format!(
        "grid: {{key: id, records: 2, fields: {{cells: {{type: list, items: {}, fake: {list}{{provider: integer, min: 0, max: 9999}}}}}}}}}}}}}}",
        nested(2, "{type: integer}"),
    ));
    assert!(found.contains("found lists of which one record takes more than 200000 items"), "{found}");
}

#[test]
fn worlds_that_give_all_records_have_others_as_alternates() {
    let text = |fake: &str| {
        of(&format!(
            "vet: {{key: vet_id, display: name, fields: {{name: {{type: string, unique: true{fake}}}, room: {{type: string}}}}, \
             records: [{{name: Orla Fitz, room: blue}}, {{name: Ruth Ade, room: red}}]}}"
        ))
    };
    let alternates = |fake: &str| {
        let source = Source::new(world::read("vets.yaml", text(fake).as_bytes()).unwrap()).unwrap();
        let resource = source.alternates(1).unwrap().resources.swap_remove(0);
        let [name, room] = ["name", "room"].map(|name| resource.field_named(name).unwrap().index());
        let pairs = resource.records.iter().map(|record| (record[name].clone(), record[room].clone()));
        pairs.collect::<Vec<_>>()
    };
    let named = alternates(", fake: person_name");
    assert!(named.len() > 2 && named.iter().any(|(name, _)| name.as_str() == Some("Orla Fitz")));
    // Only the given rooms show which names rooms have.
    assert!(named.iter().all(|(_, room)| ["blue", "red"].contains(&room.as_str().unwrap())));
    // A name that cannot be generated is one of the given names.
    assert_eq!(alternates(", fake: {provider: pick, of: [Orla Fitz, Ruth Ade]}").len(), 2);
}

#[test]
fn references_by_key_and_name_are_found_among_many_records() {
    let shelves: String = (0..20_000)
        .map(|n| format!("{{code: S-{n}, name: Shelf {n}, next: Shelf {}}}, ", (n + 1) % 20_000))
        .collect();
    let books: String =
        (0..20_000).map(|n| format!("{{shelf: {}-{n}}}, ", if n % 2 == 0 { "S" } else { "Shelf" })).collect();
    let text = |books: &str| {
        format!(
            "world: 1\nname: x\nclock: 2026-01-01T00:00\nresources:\n  shelf: {{key: code, display: name, fields: \
             {{code: {{type: string}}, name: {{type: string}}, next: {{ref: shelf}}}}, records: [{shelves}]}}\n  \
             book: {{key: book_id, fields: {{shelf: {{ref: shelf}}}}, records: [{books}]}}\napis: []\n"
        )
    };
    let books = books.replace("Shelf-", "Shelf ");
    let made = source(&text(&books)).unwrap().recorded(1).unwrap();
    let [shelf, book] = &made.resources[..] else { panic!("two resources") };
    assert_eq!(shelf.records.len() + book.records.len(), 40_000);
    let is_key = |value: &Value| value.as_str().is_some_and(|key| key.starts_with("S-"));
    assert!(
        shelf.records.iter().chain(&book.records).all(|record| record
            .iter()
            .filter(|value| is_key(value))
            .count()
            > 0)
    );
    let refused = source(&text("{shelf: Shelf}")).unwrap().recorded(1).unwrap_err().to_string();
    assert!(
        refused.contains("found a reference to \"Shelf\", which is neither key nor name of a shelf"),
        "{refused}"
    );
}

#[test]
fn rows_give_values_that_go_together() {
    let rows = "rows: [{fields: [name, fuel, base], of: [[Wind, power, 3], [Hearth, gas, 5], [Moor, gas, null]]}, {fields: [fuel, unit], of: [[power, kWh], [gas, m3]]}]";
    let tariff = |rows: &str| {
        of(&format!(
            "tariff: {{key: id, fields: {{name: {{type: string, unique: true}}, fuel: {{enum: [power, gas]}}, unit: {{type: string}}, base: {{type: integer, optional: true}}}}, {rows}, records: 3}}"
        ))
    };
    let with_rows = made(&tariff(rows), 4).unwrap();
    holds(&with_rows);
    let of_names = |made: &MaterialisedWorld| -> BTreeSet<String> {
        let cells = ["name", "fuel", "unit", "base"].map(|field| column(made, "tariff", field));
        let row =
            |at: usize| cells.iter().map(|column| format!("{:?}", column[at])).collect::<Vec<_>>().join(" ");
        (0..3).map(row).collect()
    };
    let expect = [
        "String(\"Hearth\") String(\"gas\") String(\"m3\") Integer(5)",
        "String(\"Moor\") String(\"gas\") String(\"m3\") Absent",
        "String(\"Wind\") String(\"power\") String(\"kWh\") Integer(3)",
    ];
    assert_eq!(of_names(&with_rows), expect.map(str::to_owned).into());
    // The values are drawn as they would be without a table.
    let picked = tariff("records: 3")
        .replace("unique: true", "unique: true, fake: {provider: pick, of: [Wind, Hearth, Moor]}");
    let picked = picked.replace("records: 3, records: 3", "records: 3");
    assert_eq!(column(&made(&picked, 4).unwrap(), "tariff", "name"), column(&with_rows, "tariff", "name"));
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let check = |rows: &str, expect: &str| {
        let found = refusal(&format!(
            "plan: {{key: id, fields: {{name: {{type: string}}, size: {{type: integer}}, fee: {{type: integer, fake: {{provider: integer}}}}}}, rows: [{rows}], records: 2}}"
        ));
        assert!(found.contains(expect), "{found}");
    };
    check("{fields: [name, size], of: [[A, x]]}", "resources.plan.rows[0].of[0][1]: expected an integer");
    check("{fields: [name, size], of: [[A]]}", "resources.plan.rows[0].of[0]: found 1 values for 2 fields");
    check(
        "{fields: [name, size], of: [[A, 1], [A, 2]]}",
        "rows[0].of[1]: found the first value of row 0 a second time",
    );
    // A value of another type is reported only once.
    let found = refusal(
        "plan: {key: id, fields: {size: {type: integer}, name: {type: string}}, rows: [{fields: [size, name], of: [[1, A], [x, B]]}], records: 2}",
    );
    assert!(found.contains("rows[0].of[1][0]: expected an integer"), "{found}");
    assert!(!found.contains("a second time"), "{found}");
    check(
        "{fields: [name, colour], of: []}",
        "rows[0].fields[1]: found `colour`, expected a field of `plan`",
    );
    check(
        "{fields: [name, fee], of: []}",
        "rows[0].fields[1]: found `fee`, which is made in another way already",
    );
    check("{fields: [fee, size], of: [[1000, 1]]}", "resources.plan.fields.size: found no row for ");
}

#[test]
fn private_fields_serve_the_making_alone() {
    let text = |private: &str| {
        format!(
            "{}apis: [{{name: List, method: GET, path: /a, behaviour: {{list: show}}}}]\n",
            of(&format!(
                "venue: {{key: id, fields: {{place: {{type: integer, fake: position{private}}}}}, records: 3}}, show: {{key: id, unique_together: [[venue, day]], fields: {{venue: {{ref: venue}}, day: {{type: date, fake: {{provider: date, from: +1d, to: +3d}}{private}}}, number: {{type: integer, fake: {{provider: expr, of: 'record.venue.place * 100 + day(record.day)'}}}}}}, records: 9}}"
            ))
        )
    };
    let (open, private) = (made(&text(""), 2).unwrap(), made(&text(", private: true"), 2).unwrap());
    holds(&private);
    // The other values stay the same: each venue has one show a day.
    let numbers = column(&private, "show", "number");
    assert_eq!(numbers, column(&open, "show", "number"));
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 9);
    assert!(
        !private.canonical.contains("place") && !private.canonical.contains("\"day\""),
        "{}",
        private.canonical
    );
    let show = private.world.resource(private.world.resource_named("show").unwrap());
    assert_eq!((show.fields.len(), show.unique_together.len()), (3, 0));
    let named = text(", private: true").replace("{list: show}", "{list: show, where: 'item.day > today'}");
    let found = world::load("test.yaml", named.as_bytes()).map(|_| String::new()).unwrap_err().to_string();
    assert!(found.contains("`show` has no field `day`"), "{found}");
    let found = refusal(
        "venue: {key: id, fields: {spot: {fields: {row: {type: integer, private: true}}}}, records: 3}",
    );
    assert!(
        found.contains("venue.fields.spot.fields.row.private: found `private` inside a field"),
        "{found}"
    );
}
