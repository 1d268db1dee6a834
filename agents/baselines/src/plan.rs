//! Plans as nested calls, in Reverse Chain's notation: `BookRoom(person_ID=PersonName2ID(person_name='Jack'), start='9am')`.
//!
//! Owns parsing plans (labels and model output), writing them, and executing them in an environment.

mod carry_out;
pub(crate) mod nested;
mod read;

pub use self::carry_out::Execution;
pub(crate) use self::carry_out::conclude;
pub use self::nested::{Plan, PlanArgument};
pub use self::read::parse;
pub(crate) use self::read::{ApiSignature, find};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(parse(text).map(|plan| plan.to_string()).unwrap(), expect, "{text}");
    }

    #[test]
    fn labels_are_read_as_they_are_written_by_people() {
        check("Ring(at='7pm')", "Ring(at='7pm')");
        check("Ring( at = \"7pm\" , times=3)", "Ring(at='7pm', times=3)");
        check(
            "Buy(shop='Mo's Bikes', id=ShopName2ID('Mo's Bikes'))",
            "Buy(shop='Mo's Bikes', id=ShopName2ID('Mo's Bikes'))",
        );
        check("Add(tags=['a', 'b'], n=-1.5, on=True)", "Add(tags=[\"a\",\"b\"], n=-1.5, on=true)");
        check("Add(tags=['a', {'b': 1,},], n=2,)", "Add(tags=[\"a\",{\"b\":1}], n=2)");
        check("Go(at=Flight(no='7').departure)", "Go(at=Flight(no='7'))");
        check("Price(of=Orders(user=Id(name='J'))['The Kite'])", "Price(of=Orders(user=Id(name='J')))");
        assert!(parse("Ride(to='x') if (Find(a='y'))").is_err());
        assert!(parse("Ride(to='x'").is_err());
        let hyphens = parse("get-departure(departure_no=find-tour(day='2026-03-02', n=-2))").unwrap();
        let called: Vec<String> = hyphens.calls().into_iter().map(|call| call.api.clone()).collect();
        assert_eq!(called.len(), 2, "{called:?}");
        assert!(called.contains(&"get-departure".to_owned()) && called.contains(&"find-tour".to_owned()));
        assert!(parse("Ride(to='x', by=Bus(no=1), to='y')").is_err());
    }

    #[test]
    fn calls_are_found_in_what_a_model_writes() {
        let known = [
            ApiSignature { api: "Id".to_owned(), outputs: vec!["user_ID".to_owned()] },
            ApiSignature { api: "Add".to_owned(), outputs: Vec::new() },
        ];
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(find(text, &known).map(|plan| plan.to_string()).as_deref(), expect, "{text}");
        };
        let nested = Some("Add(user=Id(name='Ada'), n=2)");
        check("Sure! Here it is (nested):\n```\nAdd(user=Id(name='Ada'), n=2)\n```", nested);
        check("1. Id(name='Ada') -> uid\n2. Add(user=uid, n=2) -> done", nested);
        check("uid = Id(name='Ada')\nAdd(user=uid, n=2)", nested);
        check("Id(name='Ada')\nAdd(user=user_ID, n=2)", nested);
        check("Add(user=Id(name='Ada'), n=2), where Id(name='Ada') gives the id.", nested);
        check("Nothing (to do) here.", None);
        check("Add(user=Id(name='Ada'", None);
    }

    #[test]
    fn places_stand_for_the_parameters_that_are_not_named() {
        let plan = parse("Book('Rome', nights=2, 'Ada')").unwrap();
        let named = |parameters: &[&'static str]| -> Vec<String> {
            plan.named(parameters).into_iter().map(|(name, _)| name.into_owned()).collect()
        };
        assert_eq!(named(&["city", "nights", "guest"]), ["city", "nights", "guest"]);
        // An argument beyond the parameters is kept.
        assert_eq!(named(&["city", "nights"]), ["city", "nights", "#3"]);
        assert_eq!(plan.depth(), 1);
    }
}
