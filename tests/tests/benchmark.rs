//! Owns the tests of external benchmarks: small copies of their formats, and the original files if they are
//! present.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use diorama_model_server::{Answer, ModelServer, Script};
use diorama_tests::{diorama, shared_data};
use serde_json::{Value as Json, json};

fn report(line: &[&str]) -> Json {
    let ran = diorama(["--json"].iter().chain(line));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// Returns a measure of a summary over all cases.
fn all<'a>(summary: &'a Json, measure: &str) -> &'a Json {
    &summary["measures"][measure]["all"]
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Starts a server that sends its replies in order. Returns it with its runtime.
fn scripted(replies: &'static [&'static str]) -> (tokio::runtime::Runtime, ModelServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let next = AtomicUsize::new(0);
    let script = Script::new(move |_| {
        Answer::text(replies[next.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1)])
    });
    let server = runtime.block_on(ModelServer::start(script)).unwrap();
    (runtime, server)
}

fn instances(folder: &Path) -> PathBuf {
    let api = |name: &str, inputs: Json, outputs: Json| json!({"name": name, "Description": format!("Does {name}."), "input_params": inputs, "output_params": outputs});
    let text = |about: &str| json!({"description": about, "type": "String"});
    let id = |about: &str| json!({"description": about, "type": "Integer"});
    let apis = json!([
        api(
            "BoatName2ID",
            json!({"boat_name": text("the name of the boat")}),
            json!({"boat_id": id("the id of the boat")})
        ),
        api(
            "RentBoat",
            json!({"boat_id": id("the id of the boat"), "day": text("the day")}),
            json!({"status": text("the status")})
        ),
        api("SellBoat", json!({"boat_id": id("the id of the boat")}), json!({"price": text("the price")})),
    ]);
    let file = folder.join("boats.json");
    let instances = json!([{"APIs": apis, "Query": "I want the boat 'Sea Otter' on Saturday.",
        "Label": "RentBoat(boat_id=BoatName2ID(boat_name='Sea Otter'), day='Saturday')", "Index": 7}]);
    std::fs::write(&file, instances.to_string()).unwrap();
    file
}

#[test]
fn plans_of_the_baselines_are_read_carried_out_and_held_against_labels() {
    let folder = tempfile::tempdir().unwrap();
    let data = instances(folder.path());
    let check = |agent: &str, replies: &'static [&'static str], expect: (&str, f64, u64)| {
        let (_runtime, server) = scripted(replies);
        let url = server.url();
        let line =
            ["bench", "reverse-chain", path(&data), "--agent", agent, "--base-url", &url, "--model", "m"];
        let found = report(&line);
        let outcome = &found[0]["outcomes"][0];
        let measured =
            (outcome["verdict"].as_str().unwrap(), all(&found[0], "label_match")["share"].as_f64().unwrap());
        assert_eq!((measured.0, measured.1, server.counts().calls), expect, "{agent}: {outcome:#}");
        server.received()
    };
    let plan: &[&str] = &["RentBoat(boat_id=BoatName2ID(boat_name='sea otter'), day='Saturday')"];
    let sent = check("zero-shot", plan, ("right", 1.0, 1));
    let text = sent[0].body["messages"].to_string();
    // The prompt shows only the APIs of the label, each with its outputs.
    assert!(text.contains("RentBoat(boat_id, day) -> status") && !text.contains("SellBoat"), "{text}");
    let sent = check(
        "few-shot-cot",
        &[
            "1. The boat's id.\nBoatName2ID(boat_name='Sea Otter') -> boat_id\n2. RentBoat(boat_id, 'Saturday')",
        ],
        ("right", 1.0, 1),
    );
    assert!(sent[0].body["messages"].to_string().contains("FindBoat gives its id"));
    check("zero-shot", &["RentBoat(boat_id='Sea Otter', day='Saturday')"], ("wrong_argument_api", 0.0, 1));
    check(
        "zero-shot",
        &["RentBoat(boat_id=BoatName2ID(boat_name='Sea Otter'), day='Sunday')"],
        ("wrong_argument_value", 0.0, 1),
    );
    // The agent asks once more after a reply without a plan, and then stops.
    check("few-shot", &["I would rent it."], ("wrong_final_tool", 0.0, 2));
    let chain: &[&str] = &[
        r#"{"api": "RentBoat"}"#,
        r#"{"boat_id": {"api": "BoatName2ID"}, "day": {"value": "Saturday"}}"#,
        r#"{"boat_name": {"value": "Sea Otter"}}"#,
    ];
    check("reverse-chain", chain, ("right", 1.0, 3));
    // The agent chose the final API and gave up inside the chain. The final API counts as missing, as for any
    // agent that never calls it.
    let stopped: &[&str] = &[r#"{"api": "RentBoat"}"#, "I cannot tell."];
    check("reverse-chain", stopped, ("wrong_final_tool", 0.0, 3));
    // The agent uses the paper's temperature if no flag sets one.
    let (_runtime, server) = scripted(chain);
    let url = server.url();
    let line = [
        "bench",
        "reverse-chain",
        path(&data),
        "--agent",
        "reverse-chain",
        "--base-url",
        &url,
        "--model",
        "m",
    ];
    for (more, temperature, verdict) in [
        (&[][..], 0.1, "right"),
        (&["--temperature", "0.5", "--execution", "picks"][..], 0.5, "wrong_final_tool"),
    ] {
        let found = report(&[&line[..], more].concat());
        assert_eq!(found[0]["outcomes"][0]["verdict"], verdict, "{found:#}");
        assert_eq!(server.received().last().unwrap().body["temperature"], temperature);
    }
}

#[test]
fn labels_given_verbatim_are_right() {
    let Some(data) = shared_data("reverse-chain/sample_155.json") else { return };
    let instances: Vec<Json> = serde_json::from_slice(&std::fs::read(&data).unwrap()).unwrap();
    let script = Script::new(move |body: &Json| {
        let asked = body["messages"].to_string();
        let label = instances.iter().find_map(|instance| {
            let query = instance["Query"].to_string();
            asked.contains(query.trim_matches('"').trim()).then(|| instance["Label"].as_str().unwrap())
        });
        Answer::text(label.unwrap_or_default())
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(script)).unwrap();
    let url = server.url();
    let line =
        ["bench", "reverse-chain", path(&data), "--agent", "zero-shot", "--base-url", &url, "--model", "m"];
    let found = report(&line);
    // Cases without a verdict have a label that is no nested call.
    for outcome in found[0]["outcomes"].as_array().unwrap().iter().filter(|one| !one["verdict"].is_null()) {
        assert_eq!(outcome["verdict"], "right", "{outcome:#}");
    }
    assert!(all(&found[0], "label_match")["solved"].as_u64() >= Some(154), "{:#}", found[0]["errors"]);
}

#[test]
fn the_candidates_of_an_instance_follow_from_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let data = instances(folder.path());
    let shown = |candidates: &str| {
        let (_runtime, server) =
            scripted(&["RentBoat(boat_id=BoatName2ID(boat_name='Sea Otter'), day='Saturday')"]);
        let (url, material) = (server.url(), path(&data).to_owned());
        let common = ["bench", "reverse-chain", &material, "--agent", "zero-shot", "--model", "m"];
        let found = report(&[&common[..], &["--base-url", &url, "--candidates", candidates]].concat());
        assert_eq!(found[0]["outcomes"][0]["verdict"], "right");
        server.received()[0].body["messages"].clone()
    };
    assert_ne!(shown("gold"), shown("all"));
    assert_eq!(shown("all"), shown("3"));
    let ran = diorama(["bench", "reverse-chain", path(&data), "--agent", "oracle"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn the_matcher_agrees_with_pairs_judged_by_hand() {
    let pairs = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/reverse-chain/pairs.jsonl");
    let found = report(&["bench", "reverse-chain", "--pairs", path(&pairs)]);
    let agreement = &found["agreement"];
    assert!(agreement["of"].as_u64().unwrap() >= 100);
    assert!(agreement["share"].as_f64().unwrap() >= 0.95, "{:#}", found["disagreements"]);
}

/// Writes a folder in API-Bank's format: two accounts, a dialogue each of levels 1 and 2, and a scenario of
/// level 3.
fn bank(folder: &Path) {
    let write = |file: &str, text: String| {
        let file = folder.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let accounts = json!({"ada": {"password": "pw1", "token": "t-ada", "email": "ada@example.org"},
        "ben": {"password": "pw2", "token": "t-ben", "email": "ben@example.org"}});
    write("databases/Account.json", accounts.to_string());
    write(
        "databases/Alarm.json",
        json!({"1": {"time": "2023-03-16 07:00:00", "username": "ada"}}).to_string(),
    );
    let user = |text: &str| json!({"role": "User", "text": text}).to_string();
    let ai = |text: &str| json!({"role": "AI", "text": text}).to_string();
    let api = |name: &str, input: Json, output: Json| {
        json!({"role": "API", "api_name": name, "param_dict": input.clone(),
            "result": {"api_name": name, "input": input, "output": output, "exception": null}})
        .to_string()
    };
    let one = [
        user("Set an alarm for 8 in the morning of 17 March 2023. I am ada, and my password is pw1."),
        api("GetUserToken", json!({"username": "ada", "password": "pw1"}), json!({"token": "t-ada"})),
        api("AddAlarm", json!({"token": "t-ada", "time": "2023-03-17 08:00:00"}), json!("success")),
        ai("The alarm is set."),
    ];
    write("dialogues/level-1/alarm.jsonl", one.join("\n"));
    let two = [
        user("Register John with Dr. Lee on 5 April 2023, and take it back at once."),
        api(
            "ToolSearcher",
            json!({"keywords": "register an appointment"}),
            json!({"name": "AppointmentRegistration"}),
        ),
        api(
            "AppointmentRegistration",
            json!({"patient_name": "John", "date": "2023-04-05", "doctor_name": "Dr. Lee"}),
            json!("11112222"),
        ),
        api("CancelRegistration", json!({"appointment_id": "11112222"}), json!("success")),
        api("TimedSwitch", json!({"gadget": "lamp"}), json!("success")),
        ai("That is done."),
    ];
    write("dialogues/level-2/visit.jsonl", two.join("\n"));
    let three = [
        "First Utterance: Wake me up.",
        "Key Info:",
        "- ada, pw1, 17 March 2023 at 8",
        "- GT API Call:",
        "GetUserToken(username=\"ada\", password=\"pw1\")",
        "AddAlarm(token=t-ada, time=\"2023-03-17 08:00:00\")",
        "QueryAlarm(token=\"t-ada\", time=\"2023-03-17 08:00:00\")",
        "Calculator(formula=\"5000+3000-2000\")",
        "QueryBalance(token=\"nobody's\")",
    ];
    write("level-3/waking.txt", three.join("\n"));
}

#[test]
fn gold_calls_are_replayed_and_what_a_system_makes_up_is_renamed() {
    let folder = tempfile::tempdir().unwrap();
    bank(folder.path());
    let found = report(&["bench", "api-bank", path(folder.path())]);
    let gold = &found["gold"];
    let failed = |measure: &str| -> Vec<&str> {
        let outcomes = gold["outcomes"].as_array().unwrap().iter();
        let failed = outcomes.filter(|outcome| outcome["shares"][measure]["of"] == 0);
        failed.map(|outcome| outcome["groups"]["api"].as_str().unwrap()).collect()
    };
    // A new world has no appointment to cancel. The ordered replay has one, under another number. No device
    // is called gadget.
    assert_eq!(failed("anew"), ["CancelRegistration", "TimedSwitch"]);
    assert_eq!(failed("in_order"), ["TimedSwitch"]);
    assert_eq!((&all(gold, "anew")["solved"], &all(gold, "in_order")["solved"]), (&json!(4), &json!(5)));
    // The released evaluator counts calls that the world refuses. Our measures exclude them and count them
    // separately. The ceiling solves the other four: the alarm exists after it is set, and the formula is
    // calculated.
    let ceiling = |measure: &str| {
        let all = all(&found["ceiling"], measure);
        (all["solved"].as_u64().unwrap(), all["of"].as_u64().unwrap())
    };
    assert_eq!(["call", "call_any_hit", "call_released"].map(ceiling), [(4, 4), (4, 4), (4, 6)]);
    assert_eq!(["call_total", "refused"].map(ceiling), [(4, 6), (2, 6)]);
    assert_eq!(["scenario_call", "scenario_call_total"].map(ceiling), [(4, 4), (4, 5)]);
    let left_out = found["ceiling"]["outcomes"].as_array().unwrap().iter();
    let left_out: Vec<&str> =
        left_out.filter_map(|outcome| outcome["left_out"][0].as_str()?.split(':').next()).collect();
    assert_eq!(left_out, ["CancelRegistration", "TimedSwitch", "QueryBalance"]);
}

#[test]
fn calls_are_measured_by_their_effect_and_errors_by_the_papers_names() {
    let folder = tempfile::tempdir().unwrap();
    bank(folder.path());
    let call = |name: &str, arguments: Json| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        Answer::Message(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": "a", "type": "function", "function": function}]}))
    };
    // The model signs in as another user, sets the alarm with a second call, and gives the recorded answers.
    let script = Script::new(move |body: &Json| {
        let messages = body["messages"].as_array().unwrap();
        assert!(messages[0]["content"].as_str().unwrap().contains("2023-03-31"));
        let tools = body["tools"].to_string();
        if !tools.contains("AddAlarm") {
            return Answer::text("I would rather not.");
        }
        match messages.len() {
            2 => call("GetUserToken", json!({"username": "ben", "password": "pw2"})),
            _ => call("AddAlarm", json!({"time": "2023-03-17 08:00:00"})),
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(script)).unwrap();
    let url = server.url();
    let line = [
        "bench",
        "api-bank",
        path(folder.path()),
        "--agent",
        "function-calling",
        "--base-url",
        &url,
        "--model",
        "m",
    ];
    let found = report(&line);
    let agent = &found["agents"][0];
    assert_eq!((&all(agent, "call")["of"], &all(agent, "call_released")["of"]), (&json!(4), &json!(6)));
    assert_eq!(all(agent, "scenario_call")["of"], 4);
    let errors = &agent["errors"]["error"];
    // Signing in as another user succeeds with another effect. The scenario's first call uses an API that no
    // search has shown.
    let expected = json!({"Different Effect": 1, "Failed API Retrieval": 1, "Miss Input Parameters": 1, "No API Call": 2});
    assert_eq!(errors, &expected);
    assert_eq!(
        agent["errors"]["error_ours"],
        json!({"different_effect": 1, "missing_argument": 1, "no_call": 2, "not_retrieved": 1})
    );
    assert_eq!(agent["unfinished"], 0);
}

#[test]
fn a_search_counts_by_its_nearest_api_and_recorded_calls_are_shown_as_calls() {
    let folder = tempfile::tempdir().unwrap();
    bank(folder.path());
    // The model searches for another API than the recorded one, but the search also finds the recorded one.
    let script = Script::new(move |body: &Json| match body["tools"].as_array().map(Vec::as_slice) {
        Some([search]) if search["function"]["name"] == "ToolSearcher" => {
            let arguments = json!({"keywords": "cancel the registration of an appointment"}).to_string();
            let function = json!({"name": "ToolSearcher", "arguments": arguments});
            Answer::Message(json!({"role": "assistant", "content": null,
                "tool_calls": [{"id": "a", "type": "function", "function": function}]}))
        }
        _ => Answer::text("The alarm is set."),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(script)).unwrap();
    let url = server.url();
    let agent = |name: &str| {
        let common = ["bench", "api-bank", path(folder.path()), "--base-url", &url, "--model", "m"];
        report(&[&common[..], &["--agent", name]].concat())["agents"][0].clone()
    };
    let found = agent("function-calling");
    let level = |measure: &str| found["measures"][measure]["level 2"]["solved"].clone();
    assert_eq!((level("call"), level("call_any_hit")), (json!(0), json!(1)), "{:#}", found["errors"]);
    // One failure is the search, the other the scenario.
    assert_eq!(found["errors"]["error"]["Failed API Retrieval"], 2);
    let sent: Vec<Json> = server.received().into_iter().map(|request| request.body).collect();
    let recorded = |body: &&Json| body["messages"][2]["tool_calls"][0]["function"]["name"] == "GetUserToken";
    let called = sent.iter().find(recorded).unwrap();
    let [call, reply] = [&called["messages"][2], &called["messages"][3]];
    assert_eq!(call["tool_calls"][0]["id"], reply["tool_call_id"]);
    assert_eq!((&reply["role"], &reply["content"]), (&json!("tool"), &json!(r#"{"token":"t-ada"}"#)));
    // Requests for responses carry no tools, because the instructions describe them.
    let system = |body: &Json| body["messages"][0]["content"].as_str().unwrap().to_owned();
    let asked: Vec<&Json> = sent.iter().filter(|body| body["tools"].is_null()).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|body| system(body).contains("API descriptions:")));
    assert!(asked.iter().any(|body| system(body).contains("\"AddAlarm\"")));
    // A live search shows one API. If that API needs a token, the API that issues tokens stands before it.
    let shown = |body: &Json| body["tools"].as_array().map(|tools| tools.len()).unwrap_or_default();
    let found: Vec<usize> = sent.iter().filter(|body| system(body).starts_with("It is")).map(shown).collect();
    assert!(found.contains(&2), "{found:?}");

    agent("react");
    let request =
        "API-Request: [GetUserToken(username='ada', password='pw1')]\nObservation: {\"token\":\"t-ada\"}";
    let received = server.received();
    let shows =
        |body: &Json| body["messages"][1]["content"].as_str().is_some_and(|text| text.contains(request));
    assert!(received.iter().any(|sent| shows(&sent.body)));
}

#[test]
fn api_banks_recorded_dialogues_replay() {
    let Some(data) = shared_data("api-bank") else { return };
    let found = report(&["bench", "api-bank", path(&data), "--min-share", "0.9"]);
    assert!(all(&found["gold"], "anew")["of"].as_u64().unwrap() > 200, "{:#}", found["gold"]);
    let ceiling = |measure: &str| all(&found["ceiling"], measure);
    assert_eq!(ceiling("call")["share"], 1.0, "{}", found["ceiling"]["measures"]);
    assert!(
        ceiling("call")["of"].as_u64() >= Some(232) && ceiling("scenario_call")["of"].as_u64() >= Some(12)
    );
    // The world belongs to a benchmark, so `generate` refuses to make training rows in it.
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world.json");
    assert_eq!(diorama(["bench", "api-bank", path(&data), "--write-world", path(&world)]).code, 0);
    let out = folder.path().join("rows");
    let ran = diorama(["generate", "--world", path(&world), "--out", path(&out), "--dialogues", "1"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--allow-benchmark"), "{}", ran.err);
}

#[test]
fn agents_work_on_any_document_and_queries_in_restbenchs_form() {
    let folder = tempfile::tempdir().unwrap();
    let queries = folder.path().join("queries.json");
    let text = json!([
        {"query": "Which albums has the artist Ana Reis?", "solution": ["GET /search/artists", "GET /artists/{artist_id}/albums"],
            "answer": [{"step": 2, "jq": ".items[0] | \"albums\""}]},
        {"query": "Find the artist Ana Reis", "solution": ["GET /search/artists"]},
    ]);
    std::fs::write(&queries, text.to_string()).unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/openapi");
    let (document, noise) = (data.join("tunehall.yaml"), data.join("vet_clinic.yaml"));
    let (_runtime, server) = scripted(&["There is nothing to say."]);
    let url = server.url();
    let asked = ["--agent", "function-calling", "--base-url", &url, "--model", "m"];
    let line = [&["bench", "restbench", path(&document), path(&queries)], &asked[..]].concat();
    let found = report(&line);
    assert_eq!(found[0]["cases"], 2);
    assert_eq!((&all(&found[0], "correct_path")["solved"], &found[0]["unfinished"]), (&json!(0), &json!(0)));
    // The success measure covers only the query that has an answer.
    assert_eq!(all(&found[0], "success")["of"], 1);
    let more = ["--noise", path(&noise), "--pool", "3,12,200"];
    let grown = report(&[&line[..], &more].concat());
    let pools: Vec<f64> =
        grown.as_array().unwrap().iter().map(|run| all(run, "pool")["mean"].as_f64().unwrap()).collect();
    assert_eq!(&pools[..2], [3.0, 12.0]);
    assert!(
        pools[2] > all(&found[0], "pool")["mean"].as_f64().unwrap(),
        "noise stands beside the document's own APIs"
    );
    assert_eq!(report(&[&line[..], &more].concat()), grown, "the same seed gives the same pools");
    // A reply with a closing offer counts as the last message, like one without.
    let (_runtime, server) = scripted(&["Here are the albums. Is there anything else I can help you with?"]);
    let url = server.url();
    let mut offering = line.clone();
    offering[7] = &url;
    let found = report(&offering);
    assert_eq!((&all(&found[0], "delta_length")["mean"], server.counts().calls), (&json!(-2.0), 2));
}
