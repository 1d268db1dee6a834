//! Owns the tests of files beside a world: scenarios and their words.

use super::*;

const SCENARIOS: &str = r#"scenarios:
  - name: look
    who: somebody
    goals:
      - does:
          - {call: FindDentist, as: found, with: {name: "'x'"}}
          - {ask: day}
          - {talk: choice}
          - {call: FindDentist, with: {name: "'y'"}}
      - {}
"#;

const WORDS: &str = r#"words:
  look:
    user: |
      is {found.name} in: today?

      - but "quoted" # no comment
    say found: |
      -
      One moment.
    say day: [Which day?]
    tell day: {DAY}
    say choice: Shall I?
    user choice: |
      yes
    say 1.4: |
      Again.
    end: |
      Fine.
    user 2: |
      bye
    end 2: |
      Bye.
    later: |
      and another thing
sign_in:
  ask: |
    Your number?
    Your PIN?
"#;

fn with_words(words: &str) -> Result<WorldDoc, Report> {
    let mut doc = read("guide.yaml", example().as_bytes()).unwrap();
    add_scenarios(&mut doc, "guide.scenarios.yaml", SCENARIOS.as_bytes()).unwrap();
    add_words(&mut doc, "guide.words.yaml", words.as_bytes())?;
    Ok(doc)
}

#[test]
fn words_belong_to_the_lines_of_a_plot() {
    let doc =
        with_words(&WORDS.replace("{DAY}", "[on Monday]")).map_err(|report| report.to_string()).unwrap();
    let scenario = &doc.scenarios[0];
    let [first, second] = [&scenario.goals[0], &scenario.goals[1]];
    assert_eq!(first.user, ["is {found.name} in: today?", "- but \"quoted\" # no comment"]);
    assert_eq!(first.does[0].say, ["", "One moment."]);
    assert_eq!(
        (&first.does[1].say, &scenario.withheld["day"]),
        (&vec!["Which day?".to_owned()], &vec!["on Monday".to_owned()])
    );
    assert_eq!(
        (first.does[2].say.as_slice(), first.does[2].user.as_slice()),
        (&["Shall I?".to_owned()][..], &["yes".to_owned()][..])
    );
    assert_eq!(first.does[3].say, ["Again."]);
    assert_eq!(
        (&second.user[0], &second.end[0], &scenario.later[0]),
        (&"bye".to_owned(), &"Bye.".to_owned(), &"and another thing".to_owned())
    );
    assert_eq!(doc.sign_in.ask, ["Your number?", "Your PIN?"]);
}

#[test]
fn words_of_no_line_are_found_with_file_and_line() {
    let check = |old: &str, new: &str, expect: &str| {
        let text = WORDS.replace("{DAY}", "[on Monday]").replace(old, new);
        let found = with_words(&text).map(|_| String::new()).unwrap_err().to_string();
        assert!(found.starts_with(expect), "{found}");
    };
    check(
        "    user 2:",
        "    user 3:",
        "guide.words.yaml:19:5: words.look[\"user 3\"]: found a place that the world does not have, expected one of: later, tell day, user, end, declined, say found, say day, say choice, user choice, say 1.4, user 2, end 2, declined 2",
    );
    check(
        "  look:",
        "  see:",
        "guide.words.yaml:2:3: words.see: found a place that the world does not have, expected one of: look",
    );
    check("sign_in:", "sign_on:", "guide.words.yaml:25:1: ");
}

#[test]
fn a_finding_about_words_names_the_file_and_the_line_of_the_wording() {
    let words = WORDS.replace("{DAY}", "[on Monday]");
    let files = Files {
        world: ("guide.yaml".to_owned(), example().as_bytes().to_vec()),
        scenarios: Some(("guide.scenarios.yaml".to_owned(), SCENARIOS.as_bytes().to_vec())),
        words: Some(("guide.words.yaml".to_owned(), words.as_bytes().to_vec())),
    };
    let check = |path: &str, expect: &str| {
        let report = files.locate(Report::one("guide", Finding::error(path, "wrong", "")));
        assert_eq!(report.to_string(), format!("{expect}: {path}: wrong"));
    };
    check("scenarios[0].goals[0].user[1]", "guide.words.yaml:6:7");
    check("scenarios[0].goals[0].does[0].say[1]", "guide.words.yaml:9:7");
    check("scenarios[0].withheld.day[0]", "guide.words.yaml:11:16");
    check("scenarios[0].goals[0].does[3]", "guide.scenarios.yaml:9:13");
    check("apis[0].method", "guide.yaml:46:13");
    // Several findings are sorted by file and line.
    let paths = ["apis[0].method", "scenarios[0].goals[0].user[1]", "scenarios[0].goals[0].does[3]", "name"];
    let findings = paths.map(|path| Finding::error(path, "wrong", "")).to_vec();
    let report = files.locate(Report { name: "guide".to_owned(), findings });
    let places: Vec<_> = report.findings.iter().map(|found| (&*found.path, found.line)).collect();
    assert_eq!(
        places,
        [
            ("name", Some(2)),
            ("apis[0].method", Some(46)),
            ("scenarios[0].goals[0].does[3]", Some(9)),
            ("scenarios[0].goals[0].user[1]", Some(6)),
        ]
    );
}
