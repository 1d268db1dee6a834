use serde_json::{Value as Json, json};

use super::{Program, evaluate};

fn run(program: &str, input: &Json) -> Vec<Json> {
    evaluate(&Program::read(program).unwrap(), input).unwrap()
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
fn all_of_jq_is_there_but_what_reads_the_machine() {
    let check = |program: &str, expect: Json| {
        let found = run(program, &json!({"a": [3, 1, 2], "s": "Room 12"}));
        assert_eq!(Json::Array(found), expect, "{program}");
    };
    check("def twice: . * 2; .a | map(twice)", json!([[6, 2, 4]]));
    check("reduce .a[] as $n (0; . + $n)", json!([6]));
    check(".a[0] = 9 | .a", json!([[9, 1, 2]]));
    check(".s | test(\"[0-9]+\"), capture(\"(?<n>[0-9]+)\")", json!([true, {"n": "12"}]));
    check("[limit(2; .a[])], (.s | @uri)", json!([[3, 1], "Room%2012"]));
    let check = |program: &str, expect: &str| {
        let found = match Program::read(program) {
            Ok(program) => evaluate(&program, &json!({})).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expect), "{program}: {found}");
    };
    check("env", "`env`");
    check("input", "`input`");
    check("$ENV", "$ENV");
    check("now", "`now`");
    check("halt", "halts");
    check("", "empty");
    check("print(.)", "`print`");
    check("Here is the program: .a", "not valid jq");
    check(&"(".repeat(40), "brackets");
    check(&"-".repeat(500), "signs");
    check(&".a|".repeat(500), "1,000 characters");
    check("import os", "not valid jq");
    check("import \"secrets\" as s; .", "not valid jq");
}

#[test]
fn programs_as_deep_as_they_can_be_leave_the_stack_whole() {
    for (part, times) in
        [(".|", 499), ("try ", 249), ("[.]|", 249), ("1,", 499), ("1+", 499), ("1 as $x|", 120), (".//", 332)]
    {
        let program = format!("{}.", part.repeat(times));
        if let Ok(program) = Program::read(&program) {
            // The program ends, with an error or without.
            let _ = evaluate(&program, &json!(1));
        }
    }
    let inside = format!("{}.{}", "(".repeat(32), ")".repeat(32));
    assert_eq!(run(&inside, &json!(1)), [json!(1)]);
    let choices = format!("{}1{}", "if . then ".repeat(60), " else 2 end".repeat(30));
    let _ = Program::read(&choices).map(|program| evaluate(&program, &json!(1)));
}
