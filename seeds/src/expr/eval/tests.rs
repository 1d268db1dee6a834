use super::*;
use crate::expr::fixture::{Clinic, VISIT};
use crate::expr::{compile, quote};

mod laws;

fn run(clinic: &Clinic, source: &str, budget: u64) -> Result<String, EvalError> {
    let expr = compile(source, &mut clinic.scope()).unwrap_or_else(|error| panic!("{source}: {error}"));
    let (arguments, bound, budget) = (clinic.arguments(), clinic.bound(), Budget::new(budget));
    Ok(match clinic.env(&arguments, &bound, &budget).evaluate(&expr)? {
        SlotContent::Value(value) => format!("{} {}", value.kind(), value.to_text(&clinic.zone)),
        SlotContent::Record(record) => format!("record {}", record[0].to_text(&clinic.zone)),
        SlotContent::Empty => "empty".to_owned(),
    })
}

/// Checks the kind and text of the result, with and without indexes.
fn check(source: &str, expect: &str) {
    for indexed in [true, false] {
        let clinic = Clinic { indexed, ..Clinic::new() };
        let found = run(&clinic, source, DEFAULT_BUDGET).unwrap_or_else(|error| error.to_string());
        assert_eq!(found, expect, "{source} (indexed: {indexed})");
    }
}

#[test]
fn bounds_beyond_the_calendar_compare_as_what_they_are() {
    check("date('9999-12-31') + days(1) > date('9999-12-31')", "boolean true");
    check("date('0000-01-01') - days(1) < today", "boolean true");
    check("now + days(99999999) > now && now - days(99999999) < now", "boolean true");
    check(
        "datetime(date('9999-12-31') + days(1), time('00:00')) > datetime('9999-12-31T23:59:59')",
        "boolean true",
    );
    check("days_between(date('9999-12-31'), date('9999-12-31') + days(2))", "integer 2");
    check("date('9999-12-31') + days(1) - days(1)", "date 9999-12-31");
    check("date(datetime('9999-12-31T23:59'))", "date 9999-12-31");
}

#[test]
fn a_quoted_text_is_read_as_itself() {
    let text = "it's \"a\\b\"\nand\rmore";
    check(&quote(text), &format!("string {text}"));
}

#[test]
fn numbers_promote_and_keep_their_scale() {
    check("1 + 2", "integer 3");
    check("7 / 2", "number 3.5");
    check("-7 % 3", "integer -1");
    check("record.fee * 3", "decimal 241.5");
    check("record.fee / 3", "decimal 26.83");
    check("record.fee + 1", "decimal 81.5");
    check("0.1 + 0.2 == 0.3", "boolean false");
    check("args.amount * args.amount", "decimal 150.06");
    check("args.amount / args.amount", "decimal 1");
    check("args.amount == 12.25 && args.amount > 12 && 12 <= args.amount", "boolean true");
    check("1 == 1.0 && record.fee == 80.5", "boolean true");
    check("args.n > 3 ? 1 : 2.5", "number 1");
    check("coalesce(null, args.amount, 1)", "decimal 12.25");
    check("min(3, args.amount)", "decimal 3");
    check("[1, 2, 3][1]", "integer 2");
    check("[1][9] == null", "boolean true");
}

#[test]
fn faults_of_the_world_are_errors() {
    check("9223372036854775807 + 1", "the result of `+` is out of range");
    check("1 / 0", "division by zero");
    check("args.amount / 0.0", "division by zero");
    check("args.n % 0", "division by zero");
    check("1e308 * 10", "the result of `*` is not a finite number");
    check("sqrt(0 - 1)", "the result of `sqrt` is not a finite number");
    check("integer(1e19)", "the result of `integer` is out of range");
    check("now + days(99999999)", "the result of `+` is out of range");
    check("today - days(99999999)", "the result of `-` is out of range");
    check("days(9223372036854775807)", "the result of `days` is out of range");
    check("string(today + days(99999999))", "the result of `string` is out of range");
    check("concat(now + days(99999999))", "the result of `concat` is out of range");
    check("year(today + days(99999999))", "the result of `year` is out of range");
    check("[today + days(99999999)]", "the result of `+` is out of range");
    check("record.extra + 1", "`+` does not take object");
    check("false && 1 / 0 == 1.0", "boolean false");
    check("args.n == 7 ? 1.5 : 1 / 0", "number 1.5");
}

#[test]
fn a_missing_operand_makes_null_or_false() {
    check("visit.get('V-3').minutes + 1", "null null");
    check("visit.get('V-3').minutes > 1 || visit.get('V-3').minutes <= 1", "boolean false");
    check("visit.get('V-3').minutes == null", "boolean true");
    check("visit.get('nope') == null && visit.get('V-1') != null", "boolean true");
    check("visit.get('nope').status", "null null");
    check("visit.get('nope').status == 'booked'", "boolean false");
    check("args.absent == null && !given(args.absent) && given(args.n)", "boolean true");
    check("args.absent.contains('a') || args.absent.matches('.*')", "boolean false");
    check("doctor.get(15).active || !doctor.get(15).active", "boolean true");
    check("concat('a', args.absent, 'b')", "string ab");
    check("lower(args.absent)", "null null");
    check("max(1, visit.get('V-3').minutes)", "null null");
    check("coalesce(visit.get('nope'), visit.get('V-2'))", "record V-2");
    check("doctor.exists(null) || doctor.exists(visit.get('nope').doctor_id)", "boolean false");
}

#[test]
fn records_are_found_and_folded() {
    check("doctor.get(args.doctor_id).name", "string Ana Reis");
    check("doctor.exists(12) && !doctor.exists(13)", "boolean true");
    check("visit.any(v, v.doctor_id == args.doctor_id && v.starts_at == args.starts_at)", "boolean true");
    check(
        "visit.any(v, v.doctor_id == args.doctor_id && v.starts_at == args.starts_at && v.status == 'booked')",
        "boolean false",
    );
    check("visit.all(v, v.doctor_id == 11)", "boolean false");
    check("visit.all(v, v.paid > 0)", "boolean true");
    check("visit.all(v, v.doctor_id == 11 || v.doctor_id == 12)", "boolean true");
    check("visit.count(v, v.doctor_id == record.doctor_id)", "integer 2");
    check("visit.sum(v, v.status == 'booked', v.paid)", "decimal 30.5");
    check("visit.sum(v, false, v.paid)", "decimal 0");
    check("visit.sum(v, true, v.minutes)", "integer 75");
    check("visit.avg(v, true, v.minutes)", "number 37.5");
    check("visit.avg(v, true, v.paid)", "decimal 10.17");
    check("visit.avg(v, false, v.paid)", "null null");
    check("visit.min(v, true, v.minutes)", "integer 30");
    check("visit.max(v, v.doctor_id == 11, v.starts_at)", "date-time 2026-03-02T11:00:00+00:00");
    check("visit.min(v, false, v.minutes)", "null null");
    check("visit.first(v, v.status == 'booked' && v.doctor_id == 12)", "record V-3");
    check("visit.first(v, v.paid > 100)", "null null");
    check("doctor.sum(d, visit.any(v, v.doctor_id == d.doctor_id), d.fee)", "decimal 200.5");
    check("doctor.count(d, 'kind' in d.tags && d.address.city == 'Faro')", "integer 2");
    check("visit.count(v, v.doctor_id == doctor.first(d, d.specialty == 'surgery').doctor_id)", "integer 1");
    check("visit.count(v, v.minutes == null)", "integer 1");
    check("visit.count(v, v.visit_id == visit.get('nope').visit_id)", "integer 0");
    check("visit.count(v, v.status == args.absent)", "integer 0");
}

#[test]
fn functions_do_what_their_documentation_says() {
    check("size('Olá')", "integer 3");
    check("upper('olá') + lower('ABC')", "string OLÁabc");
    check(
        "args.text.contains('Ana') && args.text.startsWith('Olá') && args.text.endsWith('na')",
        "boolean true",
    );
    check("'ABC-12'.matches('[A-Z]{3}-[0-9]+') && !'xABC-12'.matches('[A-Z]{3}-[0-9]+')", "boolean true");
    check("string(record.fee) + string(args.day) + string(true)", "string 80.52026-03-02true");
    check("concat(1, ' of ', record.fee)", "string 1 of 80.5");
    check("integer(2.9) + integer(-2.9) + integer('40')", "integer 40");
    check("integer('x') == null && number('1e3') == 1000", "boolean true");
    check("round(2.5)", "integer 3");
    check("round(-2.5)", "integer -3");
    check("round(1.005, 2)", "number 1.01");
    check("round(record.fee)", "integer 81");
    check("round(args.amount, 1)", "decimal 12.3");
    check("floor(-1.5) + ceil(-1.5)", "integer -3");
    check("floor(record.fee) + ceil(record.fee)", "integer 161");
    check("ceil(0 - record.fee)", "integer -80");
    check("abs(-3) + abs(3)", "integer 6");
    check("sqrt(16)", "number 4");
    check("max('a', 'b')", "string b");
    check("convert(10, 'mi', 'km')", "number 16.09344");
    check("convert(1, 'km', args.unit)", "number 0.621371192237");
    check("convert(1, args.text, 'km')", "null null");
    // Distance from Lisbon to Porto, by the coordinates of their town halls.
    check("round(distance_km(38.7083, -9.1389, 41.1499, -8.6109), 0)", "number 275");
}

#[test]
fn time_is_counted_in_the_worlds_zone() {
    check("now", "date-time 2026-03-02T09:00:00+00:00");
    check("today + days(27)", "date 2026-03-29");
    check("today + hours(47)", "date 2026-03-03");
    check("date(args.starts_at) == today && time(args.starts_at) == time('11:00')", "boolean true");
    check("datetime(args.day, time('8:30')) < now", "boolean true");
    // Summer time begins in Lisbon on 29 March 2026. A day is 24 hours, so local times are requested by name.
    check("datetime('2026-03-28T12:00') + days(1)", "date-time 2026-03-29T13:00:00+01:00");
    check("datetime(date('2026-03-28') + days(1), time('12:00'))", "date-time 2026-03-29T12:00:00+01:00");
    check("time('23:30') + hours(1)", "time 00:30");
    check("time('00:30') - hours(1)", "time 23:30");
    check("minutes_between(now, args.starts_at)", "integer 120");
    check("minutes_between(time('10:00'), time('9:30'))", "integer -30");
    check("days_between(today, '2026-04-01')", "integer 30");
    check("days_between(args.starts_at, today)", "integer 0");
    check("weekday(today) * 10000 + year(today) - month(today) - day(today)", "integer 12021");
    check("args.starts_at - now == hours(2) && args.starts_at - now > minutes(119)", "boolean true");
    check("(args.starts_at - now) / minutes(1)", "number 120");
    check("date('2024-02-29') - date('2023-02-28') == days(366)", "boolean true");
    check("duration('1d2h3m4s') == days(1) + hours(2) + minutes(3) + duration('4s')", "boolean true");
}

#[test]
fn steps_are_counted_and_limited() {
    let clinic = Clinic { indexed: false, ..Clinic::new() };
    assert_eq!(run(&clinic, "1 + 2", 3), Ok("integer 3".to_owned()));
    assert_eq!(run(&clinic, "1 + 2", 2), Err(EvalError::Budget));
    let nested = "doctor.all(a, doctor.all(b, doctor.all(c, doctor.all(d, doctor.all(e, a.fee + b.fee + c.fee + d.fee + e.fee > 0)))))";
    assert_eq!(run(&clinic, nested, 1000), Err(EvalError::Budget));
    assert_eq!(run(&clinic, nested, DEFAULT_BUDGET), Ok("boolean true".to_owned()));
}

#[test]
fn an_inner_fold_that_reads_no_outer_record_is_worked_out_once() {
    let clinic = Clinic { indexed: false, ..Clinic::new() };
    let steps = |source: &str| {
        let mut most = 16;
        while run(&clinic, source, most).is_err() {
            most += 16;
        }
        (most, run(&clinic, source, most))
    };
    let (once, dearest) = steps("doctor.count(x, x.fee == doctor.max(y, y.fee > 0, y.fee))");
    let (each, same) = steps("doctor.count(x, x.fee == doctor.max(y, y.fee > 0 && x.fee > 0, y.fee))");
    assert_eq!(dearest, same);
    assert!(once * 2 < each, "{once} {each}");
    let other = run(&clinic, "doctor.count(x, doctor.any(y, y.fee > x.fee))", DEFAULT_BUDGET);
    assert_ne!(
        other,
        run(&clinic, "doctor.count(x, true)", DEFAULT_BUDGET),
        "what reads the outer record is not kept"
    );
}

#[test]
fn conditions_over_items_carry_their_index() {
    let clinic = Clinic::new();
    let index = |source: &str| {
        let expr = compile(source, &mut clinic.scope()).unwrap();
        expr.index.map(|(field, node)| {
            (clinic.resources[VISIT.index()].fields[field.index()].name.to_string(), format!("{node:?}"))
        })
    };
    let found = |field: &str, node: &str| Some((field.to_owned(), node.to_owned()));
    assert_eq!(index("item.doctor_id == args.doctor_id"), found("doctor_id", "Argument(ParameterId(0))"));
    assert_eq!(
        index("item.status == 'booked' && (args.doctor_id == item.doctor_id && item.paid > 1)"),
        found("doctor_id", "Argument(ParameterId(0))")
    );
    assert_eq!(
        index("item.doctor_id == 11 && item.visit_id == 'V-1'"),
        found("visit_id", "Literal(String(\"V-1\"))")
    );
    // No index helps: no conjunct, no equality, the item on both sides, another numeric kind, or a value that
    // may fail.
    for source in [
        "item.doctor_id == 11 || item.paid > 1",
        "item.doctor_id != 11",
        "!(item.doctor_id == 11)",
        "item.visit_id == item.status",
        "item.minutes == 1.5",
        "item.minutes == 10 / 2",
        "item.minutes == null",
        "record.doctor_id == 11",
    ] {
        assert_eq!(index(source), None, "{source}");
    }
}

#[test]
fn bytes_are_bounded_as_steps_are() {
    let clinic = Clinic::new();
    let with = |value: &Value| {
        let mut arguments = clinic.arguments();
        *arguments.last_mut().unwrap() = value.clone();
        arguments
    };
    // Doubles a text or a list repeatedly, as a world may do with one `let` after another.
    let doubled = |source: &str| {
        let expr = compile(source, &mut clinic.scope()).unwrap();
        let mut value = Value::string("twelve bytes");
        for _ in 0..40 {
            match clinic.env(&with(&value), &[], &Budget::default()).evaluate(&expr) {
                Ok(SlotContent::Value(next)) => value = next,
                Ok(other) => panic!("{other:?}"),
                Err(error) => return (error, value),
            }
        }
        panic!("{source}: never too long");
    };
    for source in ["concat(args.extra, args.extra)", "args.extra + args.extra", "[args.extra, args.extra]"] {
        let (error, longest) = doubled(source);
        assert_eq!(error, EvalError::Bytes, "{source}");
        assert!(longest.to_text(&clinic.zone).len() as u64 <= DEFAULT_BYTES, "{source}");
    }
    // Bytes that are only read also count.
    let arguments = with(&Value::string(&"a".repeat(1 << 20)));
    let budget = Budget::default();
    let env = clinic.env(&arguments, &[], &budget);
    let expr = compile("contains(string(args.extra), 'b')", &mut clinic.scope()).unwrap();
    let times = (0..).take_while(|_| env.evaluate(&expr).is_ok()).count();
    assert_eq!(times, 7, "twice a MiB each time, and a byte, of {DEFAULT_BYTES}");
}

#[test]
fn many_records_are_tested_without_rebinding() {
    let clinic = Clinic::new();
    let expr = compile("item.doctor_id == args.doctor_id && item.paid > 1", &mut clinic.scope()).unwrap();
    let (arguments, budget) = (clinic.arguments(), Budget::default());
    let env = clinic.env(&arguments, &[], &budget);
    let held: Vec<bool> = clinic.resources[VISIT.index()]
        .records
        .iter()
        .map(|record| env.holds_for(&expr.node, Slot::ITEM, record).unwrap())
        .collect();
    assert_eq!(held, [true, false, false]);
    assert!(!env.holds(&expr.node).unwrap());
    assert!(budget.left() < DEFAULT_BUDGET);
}
