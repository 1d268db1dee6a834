//! Owns the laws over many expressions and values.

use proptest::prelude::*;

use super::*;
use crate::expr::ExprType;
use crate::value::Decimal;

fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-1_000_000_i64..1_000_000).prop_map(Value::Integer),
        (-1_000_000_i64..1_000_000, 0_u8..5)
            .prop_map(|(minor, scale)| Value::Decimal(Decimal { minor, scale })),
        (-1e6_f64..1e6).prop_map(|value| Value::number(value).unwrap()),
    ]
}

/// Makes conditions over visits `v`, whose conjuncts may or may not suit an index.
fn conditions() -> impl Strategy<Value = String> {
    let terms = proptest::sample::select(vec![
        "v.doctor_id == args.doctor_id",
        "item.doctor_id == v.doctor_id",
        "v.doctor_id == 12",
        "v.status == 'booked'",
        "v.status != 'booked'",
        "v.minutes == 30",
        "v.minutes == 45.0",
        "v.minutes == null",
        "v.visit_id == args.absent",
        "v.visit_id == doctor.get(99).name",
        "v.paid > 5",
        "v.starts_at == args.starts_at",
        "v.paid == 20.50",
        "v.paid == record.fee - 60",
        "doctor.get(v.doctor_id).rating > 4",
    ]);
    (proptest::collection::vec((terms, any::<bool>()), 1..5)).prop_map(|terms| {
        let mut text = String::new();
        for (term, and) in terms {
            if !text.is_empty() {
                text.push_str(if and { " && " } else { " || " });
            }
            text.push_str(term);
        }
        text
    })
}

/// Returns true if a value has the type that the checker determined.
fn keeps_promise(kind: &ExprType, value: &Value) -> bool {
    match (kind, value) {
        (ExprType::Any, _) | (_, Value::Null | Value::Absent) => true,
        (ExprType::Boolean, Value::Bool(_))
        | (ExprType::Integer | ExprType::Duration, Value::Integer(_))
        | (ExprType::Number, Value::Number(_))
        | (ExprType::Date, Value::Date(_))
        | (ExprType::Time, Value::Time(_))
        | (ExprType::DateTime, Value::DateTime(_))
        | (ExprType::String, Value::String(_))
        | (ExprType::Key(_), Value::Integer(_) | Value::String(_))
        | (ExprType::Object, Value::Object(_)) => true,
        (ExprType::Decimal(scale), Value::Decimal(decimal)) => decimal.scale == *scale,
        (ExprType::List(item), Value::List(items)) => items.iter().all(|value| keeps_promise(item, value)),
        _ => false,
    }
}

const OPERANDS: &[&str] = &[
    "1",
    "2.5",
    "record.fee",
    "args.amount",
    "args.share",
    "args.n",
    "item.minutes",
    "visit.get('V-3').minutes",
    "now",
    "item.starts_at",
    "today",
    "record.since",
    "time(now)",
    "days(1)",
    "minutes(args.n)",
    "'a'",
    "record.name",
    "item.status",
    "record.doctor_id",
    "item.visit_id",
    "record.active",
    "args.absent",
    "null",
    "record.tags",
    "[1, 2.5, record.fee]",
    "record.address",
    "record.address.floor",
];

const SHAPES: &[&str] = &[
    "A + B",
    "A - B",
    "A * B",
    "A / B",
    "A % B",
    "A == B",
    "A < B",
    "A in B",
    "A && B",
    "A || !B",
    "-A",
    "true ? A : B",
    "[A, B]",
    "[A, B][1]",
    "A[0]",
    "coalesce(A, B)",
    "min(A, B)",
    "max(A, B)",
    "round(A)",
    "round(A, 1)",
    "floor(A)",
    "ceil(A)",
    "abs(A)",
    "sqrt(A)",
    "integer(A)",
    "number(A)",
    "string(A)",
    "concat(A, B)",
    "size(A)",
    "upper(A)",
    "date(A)",
    "time(A)",
    "datetime(A, B)",
    "days(A)",
    "days_between(A, B)",
    "minutes_between(A, B)",
    "weekday(A)",
    "convert(A, 'km', 'mi')",
    "distance_km(A, A, B, B)",
    "visit.sum(v, A == B, A)",
    "visit.avg(v, true, A)",
    "visit.min(v, true, A)",
    "visit.max(v, v.paid > 1, A)",
    "visit.count(v, v.doctor_id == A)",
];

/// Tests each form with every pair of operands. An accepted expression must evaluate to the determined type,
/// or fail only because of its numbers.
#[test]
fn results_are_of_the_type_that_was_checked() {
    let clinic = Clinic::new();
    let (arguments, bound) = (clinic.arguments(), clinic.bound());
    let mut passed = 0;
    for shape in SHAPES {
        let before = passed;
        for left in OPERANDS {
            for right in OPERANDS {
                let source = shape.replace('A', &format!("({left})")).replace('B', &format!("({right})"));
                let Ok(expr) = compile(&source, &mut clinic.scope()) else { continue };
                let budget = Budget::default();
                match clinic.env(&arguments, &bound, &budget).evaluate(&expr) {
                    Ok(SlotContent::Value(value)) => {
                        assert!(keeps_promise(&expr.kind, &value), "{source}: {:?} {value:?}", expr.kind);
                    }
                    Ok(other) => panic!("{source}: {other:?}"),
                    Err(EvalError::Overflow(_) | EvalError::NotFinite(_) | EvalError::DivisionByZero) => {}
                    Err(error) => panic!("{source}: {error}"),
                }
                passed += 1;
            }
        }
        assert!(passed > before, "no operands fit {shape}");
    }
}

proptest! {
    #[test]
    fn sums_and_products_do_not_depend_on_the_order_of_operands(a in numbers(), b in numbers()) {
        for operator in [Operator::Add, Operator::Multiply] {
            let one = arithmetic::apply(operator, &a, &b).unwrap();
            prop_assert_eq!(&one, &arithmetic::apply(operator, &b, &a).unwrap());
            let exact = match operator {
                Operator::Add => a.as_f64().unwrap() + b.as_f64().unwrap(),
                _ => a.as_f64().unwrap() * b.as_f64().unwrap(),
            };
            // A product of decimals is rounded to the greater scale, which has at most four places here.
            let slack = exact.abs() * 1e-9 + if operator == Operator::Add { 1e-6 } else { 0.500_001 };
            prop_assert!((one.as_f64().unwrap() - exact).abs() <= slack, "{:?} {:?} {:?} {}", a, b, one, exact);
        }
    }

    #[test]
    fn order_and_equality_agree_however_numbers_are_written(a in numbers(), b in numbers()) {
        let holds = |operator| compare::holds(operator, Some(&a), Some(&b));
        let less = holds(Operator::Less);
        let equal = holds(Operator::Equal);
        let greater = holds(Operator::Greater);
        prop_assert_eq!(u8::from(less) + u8::from(equal) + u8::from(greater), 1);
        prop_assert_eq!(holds(Operator::LessOrEqual), less || equal);
        prop_assert_eq!(holds(Operator::NotEqual), !equal);
        prop_assert_eq!(compare::holds(Operator::Greater, Some(&b), Some(&a)), less);
    }

    #[test]
    fn subtraction_undoes_addition_of_exact_numbers(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000, scale in 0_u8..5) {
        let (a, b) = (Value::Decimal(Decimal { minor: a, scale }), Value::Decimal(Decimal { minor: b, scale: 2 }));
        let sum = arithmetic::add(&a, &b, "+").unwrap();
        prop_assert_eq!(arithmetic::subtract(&sum, &b, "-").unwrap(), a);
    }

    #[test]
    fn an_index_never_changes_a_fold(condition in conditions(), fold in proptest::sample::select(vec![
        "visit.any(v, {})", "visit.all(v, {})", "visit.count(v, {})", "visit.sum(v, {}, v.paid)",
        "visit.avg(v, {}, v.minutes)", "visit.min(v, {}, v.starts_at)", "visit.first(v, {})",
    ])) {
        let source = fold.replace("{}", &condition);
        let with = run(&Clinic::new(), &source, DEFAULT_BUDGET);
        let without = run(&Clinic { indexed: false, ..Clinic::new() }, &source, DEFAULT_BUDGET);
        prop_assert_eq!(with, without, "{}", source);
    }
}
