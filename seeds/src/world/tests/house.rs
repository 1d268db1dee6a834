//! Owns the tests of policies: the sentences of rules, the numbers that worlds draw, and errors.

use crate::materialise::Source;
use crate::model::{ReadingError, World};
use crate::world::{compile, load, read};

/// Returns a world with these members of its policy.
fn world(house: &str) -> String {
    format!(
        r#"
world: 1
name: boats
clock: 2026-03-02T09:00
domain:
  name: boats
  house:
{house}
resources:
  outing:
    key: outing_id
    fields:
      starts_at: {{type: date-time, fake: {{provider: date_time, from: "+1d", to: "+9d"}}}}
      guest: {{type: string, fake: person_name}}
      people: {{type: integer, min: 1, max: 9}}
    records: 4
apis:
  - name: CancelOuting
    method: POST
    path: /outings/{{outing_id}}/cancel
    parameters: {{outing_id: {{ref: outing}}, people: {{type: integer, default: 1}}}}
    behaviour: {{delete: outing}}
"#
    )
}

const RULES: &str = r#"
    numbers: {notice: [24, 1, 48], most: [2, 3]}
    rules:
      - {name: notice, calls: [CancelOuting], act: cancel an outing, notice: {of: record.starts_at, hours: notice, until: it starts}, unless: [{that: record.people > 6, where: more than six come along}]}
      - {name: days, calls: [CancelOuting], act: cancel an outing, notice: {of: record.starts_at, days: 1, until: it starts}}
      - {name: cap, calls: [CancelOuting], act: cancel an outing, cap: {of: args.people, at_most: most, what: the number of people, unit: people}}
      - {name: window, calls: [CancelOuting], act: cancel an outing, window: {of: time(record.starts_at), from: 9, to: 17, clock: true, what: the start}}
      - {name: role, calls: [CancelOuting], act: cancel an outing, role: {is: record.people > 1, where: somebody comes along}}
      - {name: owner, calls: [CancelOuting], when: record.people > 8, act: cancel a large outing, role: {by: the owner}}
      - {name: frequency, calls: [CancelOuting], act: cancel an outing, frequency: {of: "outing.count(o, o.guest == record.guest)", at_most: most, what: outings, who: a guest}}
      - {name: obligation, calls: [CancelOuting], act: cancel an outing, obligation: {done: record.guest != '', duty: the guest is known}}
      - {name: order, calls: [CancelOuting], act: cancel an outing, order: {after: record.starts_at < now, event: the outing has begun}}
      - {name: confirm, calls: [CancelOuting], when: record.people > 1, act: cancel an outing, confirm: {state: [{of: record.starts_at, what: its start}, {of: record.guest, what: the guest}]}, unless: [{that: record.people > 8, where: nine people come along}]}
"#;

fn compiled(house: &str) -> World {
    compile(&read("boats.yaml", world(house).as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_rule_says_the_same_in_three_wordings_and_one_expression() {
    let world = compiled(RULES);
    let said: Vec<String> = (world.domains[0].house.iter())
        .map(|rule| format!("{}: {}", rule.name, rule.sentences.join(" | ")))
        .collect();
    let rules: Vec<String> = (world.apis[0].behaviour.rules.iter())
        .map(|rule| format!("{} {}: {}", rule.status, rule.message, rule.that.source))
        .collect();
    let confirms: Vec<String> = (world.apis[0].behaviour.confirms.iter())
        .map(|confirm| {
            let state: Vec<&str> = confirm.state.iter().map(|(_, value)| &*value.source).collect();
            format!("{} states {}, exempt: {}", confirm.rule, state.join(", "), confirm.exempt.source)
        })
        .collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("house", format!("{}\n\n{}", said.join("\n"), [rules, confirms].concat().join("\n")));
    });
}

#[test]
fn a_rule_can_be_misread_by_its_numbers_and_its_exceptions() {
    let behaviour = &compiled(RULES).apis[0].behaviour;
    let found: Vec<String> = (behaviour.misreadings.iter())
        .map(|misreading| {
            let name = &behaviour.rules[misreading.rule].message;
            format!("{name} {:?}: {}", misreading.error, misreading.that.source)
        })
        .filter(|line| line.starts_with("notice ") || line.starts_with("cap "))
        .collect();
    assert_eq!(
        found,
        [
            "notice ByOne: ((record.starts_at) >= now + hours(23)) || (record.people > 6)",
            "notice ByOne: ((record.starts_at) >= now + hours(25)) || (record.people > 6)",
            "notice NextNumber: ((record.starts_at) >= now + hours(1)) || (record.people > 6)",
            "notice NextNumber: ((record.starts_at) >= now + hours(48)) || (record.people > 6)",
            "notice NoException: ((record.starts_at) >= now + hours(24))",
            "cap ByOne: ((args.people) <= 1)",
            "cap ByOne: ((args.people) <= 3)",
        ]
    );
}

#[test]
fn each_materialised_world_draws_its_numbers_and_keeps_them() {
    let source = Source::new(read("boats.yaml", world(RULES).as_bytes()).unwrap()).unwrap();
    let sentence = |world: &World| world.domains[0].house[0].sentences[0].to_string();
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let made = source.materialise(seed).unwrap();
        let (_, again) = load("boats.json", made.canonical.as_bytes()).unwrap();
        assert_eq!(sentence(&again), sentence(&made.world), "a world that is read back has its numbers");
        let misread = &again.apis[0].behaviour.misreadings;
        assert!(misread.iter().any(|misreading| misreading.error == ReadingError::NextNumber));
        drawn.insert(sentence(&made.world));
    }
    assert_eq!(drawn.len(), 3, "{drawn:?}");
    let later = source.materialise_at(7, crate::value::Instant(source.world().clock.0 + 3600)).unwrap();
    assert_eq!(sentence(&later.world), sentence(&source.materialise(7).unwrap().world));
    assert_eq!(later.world.clock.0, source.world().clock.0 + 3600);
}

#[test]
fn faults_of_rules_are_named_by_their_place() {
    let check = |house: &str, expected: &[&str]| {
        let text = world(house);
        let report = load("boats.yaml", text.as_bytes()).unwrap_err().to_string();
        for expected in expected {
            assert!(report.contains(expected), "{report}");
        }
    };
    let rule = |rest: &str| {
        format!("    rules:\n      - {{name: a, calls: [CancelOuting], act: cancel an outing, {rest}}}")
    };
    check(
        &rule("cap: {of: args.people, at_most: unknown, what: x}"),
        &["boats.yaml:9", "rules[0].cap", "`unknown`"],
    );
    check(
        &rule("cap: {of: args.unknown, at_most: 2, what: x}"),
        &["boats.yaml:9", "rules[0].cap", "unknown"],
    );
    check(&rule("role: {by: me}, order: {after: \"true\", event: x}"), &["exactly one of"]);
    check(&rule("notice: {of: record.starts_at, until: x}"), &["exactly one of"]);
    check(&rule("confirm: {state: []}"), &["exactly one of"]);
    check(
        &rule("confirm: {state: [{of: record.nothing, what: x}]}"),
        &["rules[0].confirm.state[0].of", "nothing"],
    );
    check(&rule("window: {of: time(now), from: 9, to: 25, clock: true, what: x}"), &["exactly one of"]);
    check(&rule("role: {by: me}, unless: [{that: record.nothing, where: x}]"), &["unless[0].that"]);
    check(
        "    rules:\n      - {name: a, calls: [Cancel], act: x, role: {by: me}}\n      - {name: a, calls: [], act: '', role: {by: me}}",
        &["`Cancel`", "expected one that no other rule has", "found no words", "found no API"],
    );
    check("    numbers: {n: []}\n    rules: []", &["numbers.n"]);
}
