use rand::SeedableRng;

use super::*;
use crate::expr::eval::NoRecords;
use crate::model::DomainId;
use crate::scenario::compile;
use crate::world::load;

#[test]
fn drawn_numbers_that_no_condition_takes_are_given_up() {
    let places: String =
        ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name}: {{from: 1, to: 6}}, ")).concat();
    let text = format!(
        "world: 1\nname: x\nclock: 2026-01-01T00:00\napis:\n  - {{name: A, method: GET, path: /a, behaviour: {{compute: {{n: '1'}}}}}}\n\
         scenarios:\n  - name: never\n    who: nobody\n    bind: {{{places}}}\n    given: ['a + b + c + d + e + f < 0']\n    \
         goals: [{{user: [x], end: [y]}}]\n"
    );
    let (doc, world) = load("x.yaml", text.as_bytes()).map_err(|report| report.to_string()).unwrap();
    let (scenarios, findings) = compile(&doc.scenarios, DomainId(0), &world);
    assert_eq!(findings, []);
    let (people, prior) = (PersonFields::default(), Prior::NONE);
    let source = RecordSource {
        world: &world,
        records: &NoRecords,
        alternates: &world,
        clock: world.clock,
        people: &people,
        prior: &prior,
    };
    let bound = scenarios[0].bind(source, &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(bound.err(), Some(TOO_MANY_VALUES));
}
