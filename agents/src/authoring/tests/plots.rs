//! Owns the tests of plots and words that a scripted model writes.

use super::*;
use crate::authoring::guide::GUIDE;
use crate::authoring::plain::add_plain_words;
use crate::authoring::scenarios::{MendScenarios, WriteScenarios};
use crate::scenarios::rehearse::{rehearsal, rehearsal_of_words};

/// Returns the plots of a model's reply: a good one, one that binds nothing at first, and one that never
/// becomes a row.
fn plots() -> [Json; 3] {
    let cancel = json!({
        "name": "cancel", "who": "an agent at the quay", "bind": { "wanted": { "a": "transit", "where": "item.status == 'planned'" } },
        "goals": [{ "user": ["Cancel it."], "does": [{ "call": "CancelTransit", "with": { "transit_id": "wanted" } }] }],
    });
    let never = json!({
        "name": "never", "who": "an agent at the quay", "bind": { "who": { "a": "pilot" } },
        "goals": [{ "does": [{ "call": "FindPilot", "as": "found", "with": { "name": "who.name" }, "fails": true }], "refused": "not_found" }],
    });
    [cancel, plan("whom"), never]
}

fn plan(place: &str) -> Json {
    json!({
        "name": "plan", "who": "an agent at the quay", "bind": { "who": { "a": "pilot" } },
        "goals": [{ "does": [
            { "call": "FindPilot", "as": "found", "with": { "name": format!("{place}.name") } },
            { "talk": "consent" },
            { "call": "PlanTransit", "as": "made", "with": { "pilot_id": "who" } },
        ] }],
    })
}

/// Returns the words of the plot `plan`. The first reply names no pilot, and one wording of the second
/// never passes.
fn words_of_plan(again: bool) -> Json {
    let user = if again { "Please plan a transit with {who.name}." } else { "Please plan a transit." };
    json!({
        "later": ["And plan a transit with {who.name}."],
        "user": [user, "get {who.name} for a transit, put it in the plan", "Plan it with {whom.name}."],
        "say consent": ["Shall I plan it?"],
        "user consent": ["Yes.", "go on"],
        "end": ["It's planned; the number is {made.transit_id}."],
    })
}

#[tokio::test]
async fn plots_come_in_batches_and_their_words_with_rows_in_sight() {
    let [cancel, plan_badly, never] = plots();
    let mut other = cancel.clone();
    other["name"] = json!("cancel_another");
    let first = json!({ "scenarios": [cancel, plan_badly, never.clone()] });
    let second = json!({ "scenarios": [plan("who"), never] });
    let third = json!({ "scenarios": [other] });
    let words_of_cancel = json!({
        "user": ["Please cancel transit {wanted.transit_id}.", "cancel {wanted.transit_id} pls"],
        "end": ["Transit {wanted.transit_id} is cancelled.", "It has cost {wanted.price}."],
    });
    let model = Arc::new(ScriptedModel::new(move |request, _| {
        Ok(match request.origin.step.as_str() {
            "api" => ChatReply::text(format!("```yaml\n{}```", mended())),
            "query" => {
                let defs = &request.schema.as_ref().unwrap().schema["$defs"];
                let (step, goal) =
                    (&defs["ScenarioStepDoc"]["properties"], &defs["ScenarioGoalDoc"]["properties"]);
                assert!(
                    step["call"].is_object() && step["say"].is_null() && goal["user"].is_null(),
                    "{defs}"
                );
                assert_eq!(defs["ScenarioGoalDoc"]["required"], json!([]));
                said(if request.origin.attempt == 0 { &first } else { &third })
            }
            "query_mend" => said(&second),
            // Each of the plots `cancel`, `plan` and `cancel_another` gets three requests.
            "query_words" if request.origin.attempt == 3 => said(&words_of_plan(false)),
            "query_words" if request.origin.attempt == 4 => said(&words_of_plan(true)),
            "query_words" if request.origin.attempt < 3 => said(&words_of_cancel),
            "query_words" => said(&json!({ "user": ["Cancel it."], "end": ["Cancelled."] })),
            step => panic!("nothing is said to {step}"),
        })
    }));
    let authored = author(model.clone(), Settings { scenarios: 3, ..settings(1) }).await;
    let prompt = heard(&model, "query_mend").remove(0);
    assert!(prompt.contains("whom") && prompt.contains("FindPilot worked"), "{prompt}");
    assert!(!prompt.contains("\"cancel\""), "what is sound does not go back: {prompt}");
    let prompt = heard(&model, "query").remove(1);
    assert!(prompt.contains("- cancel: an agent at the quay"), "{prompt}");
    assert!(prompt.contains("no plot calls yet") && !prompt.contains("yet: CancelTransit"), "{prompt}");

    // The request for a plot's words shows rows of it in plain words.
    let asked = heard(&model, "query_words");
    assert_eq!(asked.len(), 6);
    assert_eq!(asked[0].matches("A row of it:").count(), 2, "{}", asked[0]);
    assert!(
        asked[0].contains("USER: ") && asked[0].contains("- CancelTransit{") && asked[0].contains("-> 200"),
        "{}",
        asked[0]
    );
    assert!(!asked[0].contains("Cancel it."), "a plot has no words: {}", asked[0]);
    assert!(asked[1].contains("each of these lines: user, end, say consent, user consent."), "{}", asked[1]);
    assert!(asked[2].contains("Please plan a transit.") && asked[2].contains("of 5 tries"), "{}", asked[2]);
    let funnel = &authored.funnel;
    assert_eq!((funnel.scenarios_written, funnel.scenarios_mended), (4, 1));
    let dropped = [("cannot be played".to_owned(), 1), ("no words".to_owned(), 1)];
    assert_eq!(funnel.scenarios_dropped, BTreeMap::from(dropped));

    // Plots and words are in files of their own beside the world.
    let world = &authored.worlds[0];
    let (plots, words) = world.beside.as_ref().unwrap();
    assert!(!plots.contains("user:") && !world.text.contains("scenarios"), "{plots}");
    let mut doc = diorama_seeds::world::read("w", world.text.as_bytes()).unwrap();
    diorama_seeds::world::add_scenarios(&mut doc, "w.scenarios.yaml", plots.as_bytes()).unwrap();
    diorama_seeds::world::add_words(&mut doc, "w.words.yaml", words.as_bytes()).unwrap();
    let names: Vec<&str> = doc.scenarios.iter().map(|scenario| &*scenario.name).collect();
    assert_eq!((names, world.scenarios), (vec!["cancel", "plan"], 2));
    let [cancel, plan] = [0, 1].map(|at| &doc.scenarios[at]);
    assert_eq!((cancel.goals[0].user.len(), cancel.goals[0].end.len()), (2, 1));
    assert_eq!((plan.goals[0].user.len(), plan.later.len(), plan.goals[0].does[1].user.len()), (2, 1, 2));
}

#[test]
fn the_example_of_the_guide_has_no_findings_and_becomes_rows() {
    let mut examples = GUIDE.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let [world, plots, words] = [(); 3].map(|()| examples.next().unwrap());
    let mut doc = diorama_seeds::world::read("w", world.as_bytes()).unwrap();
    diorama_seeds::world::add_scenarios(&mut doc, "w.scenarios.yaml", plots.as_bytes()).unwrap();
    diorama_seeds::world::add_words(&mut doc, "w.words.yaml", words.as_bytes()).unwrap();
    let report = crate::worlds::inspect::inspect("w", world.as_bytes(), &doc).unwrap();
    assert!(report.findings.is_empty(), "{report}");
    for scenario in doc.scenarios.clone() {
        let tried = rehearsal(&WorldDoc { scenarios: vec![scenario], ..doc.clone() }, 5).unwrap();
        assert_eq!(tried.list_reasons(5), Vec::<String>::new());
    }
}

#[test]
fn prompts_show_the_sections_of_the_guide_that_their_step_needs() {
    let domain = domain("kite_school", "Lessons in flying kites.");
    let prompts = [
        WriteWorld { domain: &domain, examples: &[], part: Part::Whole }.prompt(),
        WriteScenarios { document: "", count: 1, earlier: &[], uncalled: &[] }.prompt(),
        MendScenarios { document: "", faulty: &[] }.prompt(),
    ];
    let headings = ["## The world", "## The plots", "## The words", "## Made-up values", "## Trying it"];
    let found = prompts.map(|prompt| {
        let prompt = prompt.unwrap();
        headings.into_iter().filter(|heading| text(&prompt[0]).contains(heading)).collect::<Vec<_>>()
    });
    assert_eq!(found[0], ["## The world", "## Made-up values"]);
    assert_eq!(found[1], ["## The plots"]);
    assert_eq!(found[2], ["## The plots", "## Trying it"]);
}

#[test]
fn words_are_tried_in_worlds_that_have_records_for_their_plot() {
    let doc = diorama_seeds::world::read("w", mended().as_bytes()).unwrap();
    let plot = json!({
        "name": "cancel", "who": "an agent at the quay", "bind": { "wanted": { "a": "transit", "where": "item.status == 'planned'" } },
        // The condition holds in about half of all worlds.
        "given": ["size(pilot.first(p, true).name) % 2 == 0"],
        "goals": [{ "does": [{ "call": "CancelTransit", "with": { "transit_id": "wanted" } }] }],
    });
    let plot = add_plain_words(&doc, &serde_json::from_value(plot).unwrap());
    let doc = WorldDoc { scenarios: vec![plot], ..doc };
    let [every, fitting] = [rehearsal, rehearsal_of_words].map(|tried| tried(&doc, 5).unwrap());
    assert!(every.passed < 5, "{:?}", every.list_reasons(5));
    assert_eq!(fitting.list_reasons(5), Vec::<String>::new());
}

#[test]
fn a_look_up_of_a_record_that_follows_from_others_is_among_the_tools() {
    let doc = diorama_seeds::world::read("w", mended().as_bytes()).unwrap();
    let plot = json!({
        "name": "plan", "who": "an agent at the quay",
        "bind": { "last": { "a": "transit" }, "who": { "value": "pilot.get(last.pilot_id)" } },
        "goals": [{ "does": [{ "call": "PlanTransit", "as": "made", "with": { "pilot_id": "who" } }] }],
    });
    let plot = add_plain_words(&doc, &serde_json::from_value(plot).unwrap());
    let tried = rehearsal(&WorldDoc { scenarios: vec![plot], ..doc }, 12).unwrap();
    assert_eq!(tried.list_reasons(12), Vec::<String>::new());
}

#[test]
fn plain_words_say_what_calls_need_and_replies_show() {
    let doc = diorama_seeds::world::read("w", mended().as_bytes()).unwrap();
    let plot = json!({
        "name": "look", "who": "an agent", "bind": { "who": { "a": "pilot" }, "all": { "some": "transit" } },
        "goals": [
            { "does": [
                { "ask": "who" },
                { "call": "FindPilot", "as": "found", "with": { "name": "who.name" } },
                { "call": "ListTransits", "as": "list", "with": { "pilot_id": "found.pilot_id" } },
            ], "facts": ["count(list.transits)", "list.transits[*].transit_id", "all.status"] },
            { "refused": "no_tool" },
        ],
    });
    let plain = add_plain_words(&doc, &serde_json::from_value(plot).unwrap());
    let [first, second] = [0, 1].map(|at| &plain.goals[at]);
    assert_eq!(
        first.user,
        [
            "I need what this does: finds a pilot by name. I need what this does: lists transits, by pilot if wanted. \
          Tell me the transits. Tell me the transit id. Tell me the status."
        ]
    );
    assert_eq!(
        first.end,
        [
            "Transits: {list.transits|length}. Transit id: {list.transits|list('{transit_id}')}. Status: {all|list('{status}')}."
        ]
    );
    assert_eq!((&*first.does[0].say[0], &*plain.withheld["who"][0]), ("What is the who?", "{who}"));
    assert_eq!((&*second.user[0], &*second.end[0]), ("Please look.", "That is not possible."));
}
