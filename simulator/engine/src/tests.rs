//! Transcripts of calls: each line of the input is a call, and a snapshot has its reply and changes.

use std::sync::Arc;

use diorama_seeds::model::Record;

pub(crate) use self::shared::{base, call, shop};
use super::{Base, RecordChange, State, apply};

mod catalog;
mod errors;
mod extremes;
mod laws;
mod lists;
mod possible;
mod provenance;
mod reads;
pub(crate) mod shared;
mod signing;
mod writes;

/// Makes a base from resources and APIs. The clock is 09:00 on 2 March 2026.
fn small(resources_and_apis: &str) -> Arc<Base> {
    let head = "world: 1\nname: small\nmaterialised: 0\nclock: 2026-03-02T09:00\ndomain: {name: small}\n";
    base(&format!("{head}{resources_and_apis}"))
}

/// Runs calls in order. `clock TEXT` sets the clock, and `$token` is the token of the last sign-in.
fn transcript(base: &Base, calls: &str) -> String {
    let zone = &base.world().zone;
    let mut state = State::initial(base, 1);
    let mut token = String::new();
    let mut out = String::new();
    for line in calls.lines().map(str::trim).filter(|line| !line.is_empty()) {
        out.push_str(&format!("> {line}\n"));
        if let Some(clock) = line.strip_prefix("clock ") {
            state.set_clock(zone.parse_instant(clock).unwrap());
            continue;
        }
        let applied = apply(base, &state, &call(&line.replace("$token", &token)));
        out.push_str(&format!("{} {}\n", applied.reply.status, applied.reply.to_json(zone)));
        applied.changes.iter().for_each(|change| out.push_str(&described(base, change)));
        assert!(
            applied.reply.is_success() || applied.state.digest() == state.digest(),
            "a refusal changed something"
        );
        if let Some(issued) = applied.reply.body.at("token").and_then(|body| body.value()) {
            token = issued.to_text(zone);
        }
        state = applied.state;
        assert_eq!(state.digest(), state.digest_from_scratch(base), "after {line}");
    }
    out
}

fn described(base: &Base, change: &RecordChange) -> String {
    let resource = base.world().resource(change.resource);
    let zone = &base.world().zone;
    let shown = |record: &Record, other: Option<&Record>| {
        let fields = resource.fields.iter().zip(record.iter()).enumerate();
        let differs = fields.filter(|(at, (_, value))| other.is_none_or(|other| other[*at] != **value));
        let named = differs.map(|(_, (field, value))| match value {
            diorama_seeds::value::Value::Absent => format!("{}: absent", field.name),
            value => format!("{}: {}", field.name, value.to_json(zone)),
        });
        named.collect::<Vec<_>>().join(", ")
    };
    let key = change.key.to_text(zone);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            format!("  ~ {} {key}: {}\n", resource.name, shown(after, Some(before)))
        }
        (None, Some(after)) => format!("  + {} {key}: {}\n", resource.name, shown(after, None)),
        (Some(_), None) => format!("  - {} {key}\n", resource.name),
        (None, None) => panic!("a change of nothing"),
    }
}

/// Compares the transcript of calls in the shop with a named snapshot.
fn check(name: &str, calls: &str) {
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, transcript(&shop(), calls));
    });
}
