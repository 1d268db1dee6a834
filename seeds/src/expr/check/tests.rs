use proptest::prelude::*;

use crate::expr::fixture::Clinic;
use crate::expr::functions;
use crate::expr::lexer::{MAX_BYTES, MAX_NESTING};
use crate::expr::{ExprError, Slot, compile, compile_condition, compile_value};
use crate::schema::{Schema, Type};

/// Checks the type of an expression, or the offset and message of its error.
fn check(source: &str, expect: &str) {
    let clinic = Clinic::new();
    let found = match compile(source, &mut clinic.scope()) {
        Ok(expr) => format!("{:?}", expr.kind),
        Err(ExprError { offset, message }) => format!("{offset}: {message}"),
    };
    assert_eq!(found, expect, "{source}");
}

fn check_value(source: &str, kind: Type, expect: &str) {
    let clinic = Clinic::new();
    let found = match compile_value(source, &mut clinic.scope(), &Schema::of(kind)) {
        Ok(expr) => format!("{:?}", expr.node),
        Err(ExprError { offset, message }) => format!("{offset}: {message}"),
    };
    assert_eq!(found, expect, "{source}");
}

#[test]
fn types_follow_from_operands() {
    check("1 + 2", "Integer");
    check("1 + 2.5", "Number");
    check("record.fee * 2", "Decimal(2)");
    check("record.fee * args.share", "Number");
    check("record.fee / 3", "Decimal(2)");
    check("7 / 2", "Number");
    check("7 % 2", "Integer");
    check("-record.fee", "Decimal(2)");
    check("args.starts_at - now", "Duration");
    check("args.starts_at + hours(2) - duration('1h30m')", "DateTime");
    check("days(3) + today", "Date");
    check("time('09:00') + minutes(5)", "Time");
    check("hours(1) / minutes(1)", "Number");
    check("args.n > 3 ? 1 : 2.5", "Number");
    check("args.n > 3 ? record : null", "Record(ResourceId(0))");
    check("record.doctor_id", "Key(ResourceId(0))");
    check("doctor.get(item.doctor_id).address.floor", "Integer");
    check("item.doctor_id.address.floor", "Integer");
    check("record.tags[0]", "String");
    check("record.extra.a[0]", "Any");
    check("[1, 2.5]", "List(Number)");
    check("[]", "List(Any)");
    check("coalesce(args.amount, 0)", "Decimal(2)");
    check("min(1, args.amount, 2)", "Decimal(2)");
    check("round(record.fee)", "Integer");
    check("round(record.fee, 1)", "Decimal(2)");
    check("'a' + args.text", "String");
    check("args.text.size() + size(record.tags)", "Integer");
    check("given(args.absent) && args.text.matches('[A-Z].*')", "Boolean");
}

#[test]
fn the_format_lists_every_function() {
    let text = include_str!("../../../../docs/world-format.md");
    let (_, section) = text.split_once("## Expressions").unwrap();
    let (section, _) = section.split_once("## Made-up values").unwrap();
    // In `name(a, b)` and `s.name(a)`, the target before the name counts as an argument.
    let listed: Vec<(String, usize)> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| {
            let (name, rest) = code.split_once('(')?;
            let arguments = rest.split(',').count();
            let own = name.rsplit('.').next()?.to_owned();
            Some((own, arguments + usize::from(name.contains('.'))))
        })
        .collect();
    let has = |name: &str, (least, greatest): (usize, usize)| {
        listed.iter().any(|(listed, count)| listed == name && (least..=greatest).contains(count))
    };
    let missing: Vec<&str> = functions::names()
        .filter(|name| !functions::named(name).all(|function| has(name, function.counts())))
        .collect();
    // These are second spellings, for authors who prefer one style throughout.
    assert_eq!(missing, ["starts_with", "ends_with"]);
}

#[test]
fn folds_have_the_type_of_what_they_gather() {
    check("visit.any(v, v.status == 'booked')", "Boolean");
    check("visit.count(v, true)", "Integer");
    check("visit.sum(v, v.status == 'booked', v.paid)", "Decimal(2)");
    check("visit.sum(v, true, v.minutes)", "Integer");
    check("visit.avg(v, true, v.minutes)", "Number");
    check("visit.max(v, true, v.starts_at)", "DateTime");
    check("visit.min(v, true, v.status)", "String");
    check("visit.first(v, v.doctor_id == args.doctor_id).starts_at", "DateTime");
    check("visit.sum(v, true, doctor.count(d, d.doctor_id == v.doctor_id))", "Integer");
}

#[test]
fn slots_are_never_shared() {
    let clinic = Clinic::new();
    let mut scope = clinic.scope();
    let first = compile("doctor.any(d, visit.any(v, v.doctor_id == d.doctor_id))", &mut scope).unwrap();
    assert_eq!(first.slots, Slot::FIRST_FREE + 2);
    assert_eq!(scope.bind("n", first.kind).unwrap(), Slot(Slot::FIRST_FREE + 2));
    let second = compile("n && doctor.any(d, d.rating > 4)", &mut scope).unwrap();
    assert_eq!(second.slots, Slot::FIRST_FREE + 4);
    // The variable of a failed fold is neither visible nor reserved.
    assert!(compile("doctor.any(x, x.nothing == 1)", &mut scope).is_err());
    assert_eq!(compile("x", &mut scope).unwrap_err().message, "unknown name `x`; did you mean n?");
    assert!(compile("doctor.any(x, true)", &mut scope).is_ok());
}

#[test]
fn names_are_resolved_or_neighbours_named() {
    check("recrd.fee", "0: unknown name `recrd`; did you mean record?");
    check("record.fees", "6: `doctor` has no field `fees`; did you mean fee?");
    check("1 + args.dy", "4: the API has no parameter `dy`; did you mean day?");
    check("docter.get(1)", "0: unknown name `docter`; did you mean doctor?");
    check("doctor.fee", "0: `doctor` is a resource, not a record; expected `doctor.get(key).fee`");
    check(
        "doctor",
        "0: `doctor` is a resource; expected `doctor.get(key)`, `doctor.exists(key)` or a fold such as `doctor.any(x, condition)`",
    );
    check("doctor.anny(d, true)", "0: resources have no `anny`; did you mean any?");
    check("n + 1", "0: `n` is a parameter; write `args.n`");
    check("args", "0: found `args` alone; expected `args.` and a parameter's name");
    check("me.x", "0: `me` has no meaning here; known here: doctor, visit, now, today, record, item, args");
    check("record.address.cty", "14: the object has no member `cty`; did you mean city?");
    check("item.doctor_id.nam", "14: `doctor` has no field `nam`; did you mean name?");
    check(
        "lenght('a')",
        "0: unknown function `lenght`; expected one of abs, ceil, coalesce, concat, contains, convert, date, datetime, day, days, days_between, distance_km, and 25 more",
    );
    check("has(args.n)", "0: found `has`; write `given(args.x)`, or compare with null");
    check("doctor.any(item, true)", "11: the name `item` has a fixed meaning; choose another");
    check("doctor.any(visit, true)", "11: `visit` is a resource; choose another name");
    check("doctor.any(d, visit.any(d, true))", "24: the name `d` is taken; choose another");
}

#[test]
fn enum_literals_must_be_values_of_the_enum() {
    check("item.status == 'booked'", "Boolean");
    check(
        "item.status == 'bookd'",
        "15: 'bookd' is not a value of the enum; expected one of booked, cancelled",
    );
    check("'x' != item.status", "0: 'x' is not a value of the enum; expected one of booked, cancelled");
    check(
        "item.status in ['booked', 'done']",
        "15: 'done' is not a value of the enum; expected one of booked, cancelled",
    );
    check("args.status == item.status", "Boolean");
    check_value(
        "'booked'",
        Type::Enum(["a".into()].into()),
        "0: 'booked' is not a value of the enum; expected one of a",
    );
    check_value(
        "args.n > 1 ? 'a' : 'b'",
        Type::Enum(["a".into()].into()),
        "0: 'b' is not a value of the enum; expected one of a",
    );
    check_value(
        "item.status",
        Type::Enum(["booked".into()].into()),
        "0: the value can be 'cancelled'; expected one of booked",
    );
}

#[test]
fn types_that_do_not_go_together_are_refused() {
    check(
        "record.name == 1",
        "15: `==` compares a string with an integer; leave the quotes out, or convert with string(x) or number(x)",
    );
    check(
        "args.starts_at == args.day",
        "18: `==` compares a date-time with a date; take the day of the instant with date(x)",
    );
    check("item.visit_id == item.doctor_id", "17: `==` compares the key of `visit` with the key of `doctor`");
    check(
        "now - args.starts_at > 60",
        "23: `>` compares a duration with an integer; make a duration with minutes(n), hours(n) or duration('90m'), or count with minutes_between(a, b)",
    );
    check(
        "record == item",
        "10: `==` compares a record of `doctor` with a record of `visit`; compare the record's key or another field",
    );
    check("record.active < true", "0: `<` orders numbers, texts and times, found a boolean");
    check("'a' + 1", "4: `+` does not take a string and an integer; join texts with concat(a, b)");
    check(
        "now + 3",
        "4: `+` does not take a date-time and an integer; say of what: days(n), hours(n) or minutes(n)",
    );
    check("1.5 % 2", "4: `%` does not take a number and an integer; it takes integers");
    check(
        "record.name && true",
        "0: the left side of `&&` must be a boolean, found a string; compare it with something",
    );
    check("!args.n", "1: the operand of `!` must be a boolean, found an integer; compare it with something");
    check(
        "args.n ? 1 : 2",
        "0: what stands before `?` must be a boolean, found an integer; compare it with something",
    );
    check(
        "true ? 1 : 'a'",
        "11: `? :` needs values of one type, found an integer and a string; convert one, for example with string()",
    );
    check(
        "[1, 'a']",
        "4: a list needs values of one type, found an integer and a string; convert one, for example with string()",
    );
    check("'a' in args.text", "7: the right side of `in` must be a list; write s.contains(part)");
    check("1 in ['a']", "0: `in` looks for an integer in a list of which each item is a string");
    check("doctor.get('x')", "11: `doctor.get` takes the key of `doctor` (an integer), found a string");
    check(
        "doctor.get(item.visit_id)",
        "11: `doctor.get` takes the key of `doctor` (an integer), found the key of `visit`",
    );
    check(
        "doctor.exists(d, true)",
        "0: `doctor.exists` takes one key, found 2 arguments; for a condition write any(x, condition)",
    );
    check(
        "visit.sum(v, true)",
        "0: expected `visit.sum(x, condition, value)`, found 2 arguments; `true` is a condition that always holds",
    );
    check("visit.sum(v, true, v.status)", "19: `sum` takes numbers or durations, found a string");
    check(
        "visit.any(v, v.minutes)",
        "13: a fold's condition must be a boolean, found an integer; compare it with something",
    );
    check("given(args.n + 1)", "0: expected `given(args.x)`: it tells whether the caller gave an argument");
    check("round(1.5, 12)", "11: found 12 places; expected 0 to 9");
    check("size(1)", "5: `size` takes a string or a list, found an integer");
    check(
        "min('a', 1)",
        "9: `min` needs values of one type, found a string and an integer; convert one, for example with string()",
    );
}

#[test]
fn literals_of_dates_units_and_patterns_are_read_at_once() {
    check("args.day == '2026-03-02'", "Boolean");
    check("args.day > '2.3.2026'", "11: found '2.3.2026'; expected a date as '2026-03-02'");
    check("item.starts_at < '2026-03-02T09:00'", "Boolean");
    check("date('2026-02-30')", "0: found '2026-02-30'; expected a literal as in date('2026-03-02')");
    check("args.day in ['2026-03-02', 'x']", "12: found 'x'; expected a date as '2026-03-02'");
    check(
        "duration('1x')",
        "0: expected a literal such as duration('1h30m') or duration('2d'); for a number of units write minutes(n), hours(n) or days(n)",
    );
    check(
        "duration('9223372036854775807d')",
        "0: expected a literal such as duration('1h30m') or duration('2d'); for a number of units write minutes(n), hours(n) or days(n)",
    );
    check("convert(args.n, 'km', args.unit)", "Number");
    check("convert(args.n, 'kilometre', 'miles')", "Number");
    check(
        "convert(args.n, 'km', 'kg')",
        "22: `kg` measures something else; expected one of m, km, cm, mm, mi, yd, ft, in, nmi",
    );
    check(
        "convert(args.n, 'km', args.status)",
        "22: unknown unit `booked`; expected one of cm, ft, in, km, m, mi, mm, nmi, yd",
    );
    check("args.text.matches('(')", "18: the pattern does not compile: error: unclosed group");
    check(
        "args.text.matches(record.name)",
        "18: the pattern must be a literal, so that it is checked with the world",
    );
    check(r"args.text.matches(r'\d+')", "Boolean");
}

#[test]
fn values_fit_their_field_or_say_why_not() {
    let money = || Type::Decimal { scale: 2, currency: None };
    check_value("2", money(), "Cast(Literal(Integer(2)), Decimal(2))");
    check_value("2", Type::Number, "Literal(Number(2.0))");
    check_value("args.n", Type::Number, "Cast(Argument(ParameterId(3)), Number)");
    check_value("'2026-03-02'", Type::Date, "Literal(Date(Date(20514)))");
    check_value(
        "args.share",
        Type::Integer,
        "0: found a number; expected an integer; make it whole with round(x) or floor(x)",
    );
    check_value(
        "record",
        Type::Integer,
        "0: found a record of `doctor`; expected an integer; name a field of the record, such as `.doctor_id`",
    );
    check_value(
        "args.n",
        Type::String,
        "0: found an integer; expected a string; make it text with string(x)",
    );
    check_value("null", Type::String, "0: found null; expected a string");
    check_value(
        "record.extra",
        Type::String,
        "0: found a value of unknown type; expected a string; make it text with string(x)",
    );
    check_value("record.extra", Type::Any, "Field(Variable(Slot(0)), FieldId(9))");
    let mut small = Schema::of(Type::Integer);
    small.limits.max = Some(crate::value::Value::Integer(5));
    let error = compile_value("7", &mut Clinic::new().scope(), &small).unwrap_err();
    assert_eq!(error.message, "found 7; expected an integer of at most 5");
    let error = compile_condition("args.n", &mut Clinic::new().scope()).unwrap_err();
    assert_eq!(error.message, "a condition must be a boolean, found an integer; compare it with something");
}

#[test]
fn text_that_is_no_expression_says_where() {
    check("", "0: found nothing; expected an expression");
    check("1 +", "3: the expression ends too early; expected an operand");
    check("1 2", "2: found `2` where an operator or the end was expected, or an operand is missing");
    check("args.n = 1", "7: found `=`; write `==` to compare");
    check("true and false", "5: found `and`; write `&&`");
    check("not true", "0: found `not`; write `!`");
    check("true & false", "5: found `&`; write `&&`");
    check("'é' + 'abc", "7: found a string that does not end on its line; close its quote");
    check("'é' + x", "7: unknown name `x`; expected one of args, doctor, item, now, record, today, visit");
    check("'é' 1", "5: found `1` where an operator or the end was expected, or an operand is missing");
    check("size ('é', 1)", "0: `size` takes one argument, found 2");
    check("(1", "0: found `(` that is never closed");
    check("1)", "1: found `)` that closes nothing");
    check("{'a': 1}", "0: found '{' outside a string; the language does not have it");
    check("é", "0: found 'é' outside a string; the language does not have it");
    check("1u", "0: found an unsigned literal; leave the `u` out");
    check("b'x'", "0: found `b` before a string; expected an operator between");
    check("1 // one", "2: found a comment; an expression has none");
    check("1e999", "0: the number is too large");
    check("99999999999999999999", "0: the integer does not fit into 64 bits");
    check("--1 == 1", "Boolean");
}

#[test]
fn hostile_text_is_refused_before_the_parser_sees_it() {
    let message = |source: &str| compile(source, &mut Clinic::new().scope()).unwrap_err().message;
    assert!(message(&"a".repeat(MAX_BYTES + 1)).starts_with("the expression has 2001 bytes"));
    for bracket in ["(", "[", "f(", "a[", "f(a[", "-(", "[f("] {
        assert!(message(&bracket.repeat(MAX_NESTING + 1)).contains("nested deeper"), "{bracket}");
    }
    assert!(message(&("!".repeat(1000) + "true")).contains("in a row"));
    assert!(message(&("- ".repeat(900) + "1")).contains("in a row"));
    assert!(message(&("1+".repeat(900) + "1")).contains("tokens"));
    assert!(message(&("1+".repeat(200) + "1")).contains("deep"));
    assert!(message(&("true?1:".repeat(100) + "1")).contains("deep"));
    assert!(message(&("now".to_owned() + &".x".repeat(200))).contains("deep"));
    // The parser balances a long conjunction, so it is allowed.
    assert!(compile(&("true && ".repeat(200) + "true"), &mut Clinic::new().scope()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let clinic = Clinic::new();
        if let Err(error) = compile(&text, &mut clinic.scope()) {
            prop_assert!(text.is_char_boundary(error.offset), "{error:?}");
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn no_sequence_of_tokens_makes_it_panic(tokens in proptest::collection::vec(proptest::sample::select(TOKENS), 0..30)) {
        let text = tokens.concat();
        let clinic = Clinic::new();
        if let Err(error) = compile(&text, &mut clinic.scope()) {
            prop_assert!(text.is_char_boundary(error.offset), "{error:?}");
        }
    }
}

const TOKENS: &[&str] = &[
    "1",
    "2.5",
    ".5",
    "'a'",
    "'é'",
    "\"b\"",
    "r'\\d'",
    "'\\u00e9'",
    "'\\x'",
    "true",
    "null",
    "now",
    "today",
    "args",
    ".",
    ".n",
    "record",
    ".fee",
    "item",
    "doctor",
    ".get(",
    ".any(d, ",
    ".sum(d, ",
    "visit",
    ".first(",
    "(",
    ")",
    "[",
    "]",
    ",",
    " + ",
    "-",
    "*",
    "/",
    "%",
    " == ",
    " != ",
    " < ",
    " >= ",
    " in ",
    " && ",
    " || ",
    "!",
    " ? ",
    " : ",
    "min(",
    "convert(",
    "date(",
    "d",
    "d.rating",
    "\n",
    "\t",
    " ",
    "0x1F",
    "1e5",
    "as",
    "package",
    "in",
    "{",
    "}",
    "`",
    "\\",
    "'",
    "?",
];
