//! Owns the tests of defined names, of states, and of parts that only serve the generation of records.

use super::*;
use crate::model::{BehaviourKind, Setter};

/// A box office with seats that tickets occupy.
const OFFICE: &str = r#"
world: 1
name: office
clock: 2026-03-02T09:00
resources:
  show:
    key: show_id
    fields: {title: {type: string, unique: true}, starts_at: {type: date-time}}
    define:
      free: "seat.count(s, s.show_id == item.show_id && s.free)"
      soon(hours_ahead): "item.starts_at < now + hours(hours_ahead)"
    records: 3
  seat:
    key: seat_id
    fields: {show_id: {ref: show}, label: {type: string}}
    define: {free: "!ticket.any(t, t.seat_id == item.seat_id && t.status == 'valid')"}
    records: 9
  ticket:
    key: ticket_id
    fields: {seat_id: {ref: seat}, status: {enum: [valid, refunded, used], default: valid}}
    states: {field: status, to: {refunded: {from: [valid]}, used: {from: [valid], else: it lets nobody in}}}
    records: 4
apis:
  - name: Buy
    method: POST
    path: /tickets
    parameters: {seat_id: {ref: seat}}
    behaviour: {create: ticket, require: [{that: CONDITION, else: {status: 409, message: no}}]}
  - name: Refund
    method: POST
    path: /tickets/{ticket_id}/refund
    parameters: {ticket_id: {ref: ticket}}
    behaviour: {action: ticket, moves: refunded, require: [{that: "record.seat_id.show_id.starts_at > now", else: {status: 409, message: over}}]}
  - name: Use
    method: PATCH
    path: /tickets/{ticket_id}
    parameters: {ticket_id: {ref: ticket}}
    behaviour: {patch: ticket, moves: used}
"#;

fn office(condition: &str) -> Result<World, Report> {
    let text = OFFICE.replace("CONDITION", &serde_json::to_string(condition).unwrap());
    load("office.yaml", text.as_bytes()).map(|(_, world)| world)
}

/// Returns the tree of the first API's condition.
fn tree(condition: &str) -> String {
    let world = office(condition).map_err(|report| report.to_string()).unwrap();
    format!("{:?}", world.apis[0].behaviour.require[0].that.node)
}

#[test]
fn a_name_means_its_expression_written_out() {
    let check = |short: &str, long: &str| assert_eq!(tree(short), tree(long), "{short}");
    let free = "!ticket.any(t, t.seat_id == seat.get(args.seat_id).seat_id && t.status == 'valid')";
    check("seat.get(args.seat_id).free", free);
    check("args.seat_id.free", free);
    check(
        "seat.any(t, t.free && t.label == 'A1')",
        "seat.any(t, !ticket.any(u, u.seat_id == t.seat_id && u.status == 'valid') && t.label == 'A1')",
    );
    check(
        "args.seat_id.show_id.free > 1",
        "seat.count(s, s.show_id == show.get(seat.get(args.seat_id).show_id).show_id && !ticket.any(t, t.seat_id == s.seat_id && t.status == 'valid')) > 1",
    );
    check(
        "args.seat_id.show_id.soon(1 + 1)",
        "show.get(seat.get(args.seat_id).show_id).starts_at < now + hours(1 + 1)",
    );
}

#[test]
fn a_name_that_cannot_be_used_is_found_where_it_stands() {
    let check = |condition: &str, expect: &str| {
        let found = office(condition).map(|_| "fine".to_owned()).unwrap_or_else(|report| report.to_string());
        assert!(found.starts_with("office.yaml:28:") && found.contains(expect), "{condition}: {found}");
    };
    check("args.seat_id.fre", "`seat` has no field `fre`; did you mean free?");
    check("args.seat_id.show_id.soon()", "found 0 arguments of `soon`; expected `.soon(hours_ahead)`");
    check("args.seat_id.show_id.soon('x')", "in `soon: item.starts_at < now + hours(hours_ahead)`: ");
    // A definition does not see the names around its use.
    let with_args = OFFICE.replace("item.starts_at < now", "args.seat_id != null && item.starts_at < now");
    let with_args = with_args.replace("CONDITION", "args.seat_id.show_id.soon(1)");
    let found = load("office.yaml", with_args.as_bytes()).map(|_| String::new()).unwrap_err().to_string();
    assert!(found.contains("`args` has no meaning in a definition"), "{found}");
    check("seat.any(s, s.free && u.free)", "unknown name `u`");
}

#[test]
fn a_definition_that_is_wrong_is_found_at_its_line() {
    let check = |old: &str, new: &str, expect: &str| {
        assert!(OFFICE.contains(old), "{old}");
        let text = OFFICE.replace(old, new).replace("CONDITION", "true");
        let found = load("office.yaml", text.as_bytes()).map(|_| String::new()).unwrap_err().to_string();
        assert!(found.starts_with("office.yaml:") && found.contains(expect), "{found}");
    };
    check("s.free)", "s.free && item.free > 1)", "`free` is defined by itself");
    check("t.status == 'valid')\"", "args.x == 'valid')\"", "the API has no parameter `x`");
    check("item.starts_at < now", "item.starts_at <> now", "soon(hours_ahead)");
    check("soon(hours_ahead)", "soon(show)", "`show` is a resource; choose another name");
    check("soon(hours_ahead)", "soon(a, a)", "expected a name, or a name with parameters");
    check("      free: \"seat", "      title: \"seat", "found the name `title` a second time");
    check("define: {free: \"!", "define: {in: \"!", "expected a name, or a name with parameters");
    check("field: status, to", "field: seat_id, to", "expected an enum of `ticket`");
    check("refunded: {from: [valid]}", "refunded: {from: [sold]}", "found the state `sold`");
    check("moves: refunded", "moves: valid", "expected one that a record comes to: refunded, used");
    let twice = "found a move and another new value of `ticket.status`";
    check("moves: used}", "moves: used, set: {status: \"'valid'\"}}", twice);
    check(
        "{ticket_id: {ref: ticket}}\n    behaviour: {patch",
        "{ticket_id: {ref: ticket}, status: {like: ticket.status}}\n    behaviour: {patch",
        twice,
    );
    let also = "moves: refunded, also: [{update: ticket, key: args.ticket_id, set: {status: \"'valid'\"}}],";
    check("moves: refunded,", also, twice);
}

#[test]
fn names_multiply_within_a_bound() {
    let mut define = "{n0: \"item.label == 'x'\"".to_owned();
    for n in 1..40 {
        define.push_str(&format!(", n{n}: \"item.n{} && !item.n{}\"", n - 1, n - 1));
    }
    let text = OFFICE
        .replace("define: {free: \"!ticket", &format!("define: {define}, free: \"!ticket"))
        .replace("CONDITION", "true");
    let found = load("office.yaml", text.as_bytes()).map(|_| String::new()).unwrap_err().to_string();
    assert!(found.contains("operations long") || found.contains("operators deep"), "{found}");
}

#[test]
fn a_move_is_a_check_and_a_change() {
    let world = office("true").unwrap();
    let [_, refund, used] = [0, 1, 2].map(|at| &world.apis[at].behaviour);
    let messages: Vec<&str> = refund.require.iter().map(|check| &*check.message).collect();
    assert_eq!(messages, ["only a ticket that is valid can become refunded", "over"]);
    assert_eq!((refund.require[0].status, refund.also.len()), (409, 1));
    assert_eq!(&*used.require[0].message, "it lets nobody in");
    let BehaviourKind::Patch { set, .. } = &used.kind else { panic!("{:?}", used.kind) };
    assert!(matches!(set.as_slice(), [(_, Setter::Expr(to))] if &*to.source == "'used'"), "{set:?}");
}

#[test]
fn a_state_may_have_an_apostrophe() {
    let text = OFFICE.replace("== 'valid'", "== 'used'").replace("valid", "holder's");
    let text = text.replace("CONDITION", "true");
    let (_, world) = load("office.yaml", text.as_bytes()).map_err(|report| report.to_string()).unwrap();
    assert_eq!(&*world.apis[1].behaviour.require[0].that.source, r"record.status == 'holder\'s'");
}

#[test]
fn definitions_and_states_are_part_of_a_materialised_world() {
    let doc = read("office.yaml", OFFICE.replace("CONDITION", "args.seat_id.free").as_bytes()).unwrap();
    let made = crate::materialise::materialised(&doc, 3).unwrap();
    let (_, again) =
        load("made.json", made.canonical.as_bytes()).map_err(|report| report.to_string()).unwrap();
    assert_eq!(again.hash.as_deref(), Some(&*made.hash));
    assert_eq!(format!("{:?}", again.apis), format!("{:?}", made.world.apis));
}
