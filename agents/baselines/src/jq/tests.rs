use serde_json::{Value as Json, json};

use super::{JqError, Program};

fn run(program: &str, input: &Json) -> Vec<Json> {
    Program::read(program).unwrap().run(input).unwrap()
}

#[test]
fn programs_as_models_write_them_run() {
    let rooms = json!({"rooms": [
        {"number": 12, "price": 84, "kind": "double", "name": "Elm"},
        {"number": 3, "price": 60, "kind": "single", "name": "Ash"},
        {"number": 7, "price": 79, "kind": "double", "name": null}]});
    let check =
        |program: &str, expect: Json| assert_eq!(Json::Array(run(program, &rooms)), expect, "{program}");
    check(".rooms | length", json!([3]));
    check(".rooms[0].number, .rooms[-1].number", json!([12, 7]));
    check(
        "[.rooms[] | select(.kind == \"double\")] | sort_by(.price) | first | \"room \\(.number)\"",
        json!(["room 7"]),
    );
    check(".rooms | map(.price) | add / length | floor", json!([74]));
    check(
        ".rooms | group_by(.kind) | map({kind: .[0].kind, n: length})",
        json!([[{"kind": "double", "n": 2}, {"kind": "single", "n": 1}]]),
    );
    check(".rooms[] | {number, name} | select(.name != null) | .name // \"none\"", json!(["Elm", "Ash"]));
    check(".rooms | min_by(.price).name, (max_by(.price) | .name)", json!(["Ash", "Elm"]));
    check("[.rooms[].name | select(. != null) | ascii_downcase] | join(\", \")", json!(["elm, ash"]));
    check(".rooms as $all | $all | length", json!([3]));
    check("if (.rooms | length) > 2 then \"many\" else \"few\" end", json!(["many"]));
    check(".nothing[]? , (.rooms[0].kind | contains(\"doub\"))", json!([true]));
    check(".rooms[1:] | map(.number)", json!([[3, 7]]));
    check("[.. | numbers] | max", json!([84]));
    check(
        "[.rooms[0][] | strings, numbers], [.rooms[2][] | values | arrays]",
        json!([[12, 84, "double", "Elm"], []]),
    );
    check(
        "[.rooms[].name | nulls], (.rooms | any(.price > 80), all(.price > 80))",
        json!([[null], true, false]),
    );
    check("any(.rooms[]; .price > 90), all(.rooms[]; .price > 50)", json!([false, true]));
    check("{\"a\": 1} + {b: 2} | to_entries | map(.key)", json!([["a", "b"]]));
    check("try error(\"x\") catch .", json!(["x"]));
}

#[test]
fn what_does_not_end_or_grows_without_bound_is_stopped() {
    let check = |program: &str| {
        let found = Program::read(program).unwrap().run(&json!({"a": [1, 2, 3], "s": "x"}));
        assert_eq!(found, Err(JqError::Bound), "{program}");
    };
    check("[range(1000000000)]");
    check("range(1e300)");
    check(&format!("last({})", vec!["(1,1)"; 60].join("|")));
    check(&format!(
        "[{}] | length",
        vec!["(.a[], .a[])"; 30].join(" | $__loc | ").replace(" | $__loc | ", " as $x | ")
    ));
    check(&format!("\"xxxxxxxx\" {}", "| . + .".repeat(100)));
    check(&format!("[.a] {}", "| . + .".repeat(100)));
    check(&format!("({} | select(false))", vec!["(1,1)"; 60].join("|")));
}

#[test]
fn what_is_left_out_is_refused_by_name() {
    let check = |program: &str, expect: &str| {
        let found = match Program::read(program) {
            Ok(program) => program.run(&json!({})).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expect), "{program}: {found}");
    };
    check("def f: f; f", "def");
    check("env", "`env`");
    check("input", "`input`");
    check("$ENV", "$ENV");
    check("now", "`now`");
    check(".a = 1", "assignment");
    check("reduce .[] as $x (0; . + $x)", "reduce");
    check("", "empty");
    check("print(.)", "`print`");
    check("Here is the program: .a", "not valid jq");
    check(&"(".repeat(40), "brackets");
    check(&"-".repeat(500), "signs");
    check(&".a|".repeat(500), "1,000 characters");
    // Words that jq has no meaning for are refused as they run.
    check("import os", "not valid jq");
}

#[test]
fn programs_as_deep_as_they_can_be_leave_the_stack_whole() {
    for (part, times) in
        [(".|", 499), ("try ", 249), ("[.]|", 249), ("1,", 499), ("1+", 499), ("1 as $x|", 120), (".//", 332)]
    {
        let program = format!("{}.", part.repeat(times));
        if let Ok(program) = Program::read(&program) {
            // The program ends, with an error or without.
            let _ = program.run(&json!(1));
        }
    }
    let inside = format!("{}.{}", "(".repeat(32), ")".repeat(32));
    assert_eq!(run(&inside, &json!(1)), [json!(1)]);
    let choices = format!("{}1{}", "if . then ".repeat(60), " else 2 end".repeat(30));
    let _ = Program::read(&choices).map(|program| program.run(&json!(1)));
}
