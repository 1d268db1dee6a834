//! Owns the tests of the Open Reward Standard: sessions by header, replies as events.

use serde_json::{Value as Json, json};

use super::{Gym, Tasks, always_failing, tries};

/// Returns the data of the wanted event in a stream.
fn event(stream: &str, wanted: &str) -> Option<String> {
    let mut found = String::new();
    let mut seen = false;
    for block in stream.split("\n\n") {
        let (event, data) = block.split_once('\n')?;
        let (event, data) = (event.strip_prefix("event: ")?, data.strip_prefix("data: ")?);
        if event == wanted || (wanted == "end" && event == "chunk") {
            assert!(!data.starts_with(char::is_whitespace), "{data}");
            found.push_str(data);
            seen = seen || event == wanted;
        }
        if event == wanted {
            break;
        }
    }
    seen.then_some(found)
}

impl Gym {
    fn begin(&self, body: &Json) -> String {
        let stream = self.post("/create_session", &[], &json!({})).text().unwrap();
        let sid = event(&stream, "task_id").unwrap();
        let made = self.post("/create", &[("x-session-id", &sid)], body);
        assert_eq!(made.status(), 200, "{}", made.text().unwrap());
        sid
    }

    /// Makes a call. Returns its result, and the id under which a client can request it again.
    fn run(&self, sid: &str, name: &str, input: &Json) -> (Json, String) {
        let body = json!({"name": name, "input": input});
        let stream = self.post("/diorama/call", &[("x-session-id", sid)], &body).text().unwrap();
        (serde_json::from_str(&event(&stream, "end").unwrap()).unwrap(), event(&stream, "task_id").unwrap())
    }
}

#[test]
fn the_reward_comes_with_the_call_that_ends_the_episode() {
    let tasks = Tasks::new(12);
    let gym = tasks.serve("ors", &[]);
    for solution in &tasks.solutions {
        let sid = gym.begin(
            &json!({"env_name": "diorama", "task_spec": {"id": solution.task, "seed": solution.seed}}),
        );
        for (number, (name, input)) in solution.calls.iter().enumerate() {
            let (result, _) = gym.run(&sid, name, &json!(input));
            let ends = number + 1 == solution.calls.len();
            let reward = if ends { json!(1.0) } else { Json::Null };
            let output = &result["output"];
            assert_eq!((&output["reward"], &output["finished"]), (&reward, &json!(ends)), "{result}");
        }
        assert_eq!(gym.run(&sid, "finish", &json!({"outcome": "done"})).0["reason"], "episode_finished");
        let session = [("x-session-id", sid.as_str())];
        for _ in 0..2 {
            assert_eq!(
                gym.post("/delete", &session, &json!({})).json::<Json>().unwrap(),
                json!({"sid": sid})
            );
        }
        assert_eq!(gym.post("/ping", &session, &json!({})).status(), 404);
    }
    assert_eq!(gym.sessions(), 0);
}

#[test]
fn a_broken_stream_is_asked_for_again_and_the_call_is_made_once() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("ors", &[]);
    let sid = gym.begin(&json!({"split": "train", "index": 0}));
    let session = [("x-session-id", sid.as_str())];
    let (result, task_id) = gym.run(&sid, "ask_user", &json!({"question": "Hello?"}));
    let again = json!({"name": "ask_user", "input": {"question": "Hello?"}, "task_id": task_id});
    let stream = gym.post("/call", &session, &again).text().unwrap();
    assert_eq!(serde_json::from_str::<Json>(&event(&stream, "end").unwrap()).unwrap(), result);
    let unknown = json!({"name": "ask_user", "input": {}, "task_id": "nope"});
    assert_eq!(
        event(&gym.post("/call", &session, &unknown).text().unwrap(), "error").unwrap(),
        "unknown task_id"
    );
    // Clients that fill in every parameter send null for absent arguments.
    let (ended, _) = gym.run(
        &sid,
        "finish",
        &json!({"outcome": "refused", "reason": "no_tool", "about": null, "facts": null}),
    );
    assert_eq!(ended["output"]["metadata"]["status"], json!(200), "{ended}");
}

#[test]
fn what_is_wrong_is_told() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("ors", &["--max-sessions", "1"]);
    assert_eq!(gym.post("/ping", &[], &json!({})).status(), 400);
    let named = [("x-session-id", "mine")];
    for (body, status) in [
        (json!({}), 422),
        (json!({"split": "train"}), 422),
        (json!({"split": "train", "index": 0, "task_spec": {}}), 422),
        (json!({"split": "nope", "index": 0}), 400),
        (json!({"split": "train", "index": 999}), 400),
        (json!({"split": "train", "index": 0, "env_name": "other"}), 404),
        (json!({"split": "train", "index": 0, "toolset_name": "codex"}), 400),
        (json!({"task_spec": {"id": "nope"}}), 422),
        (json!({"task_spec": {"id": "nope"}, "more": 1}), 422),
    ] {
        assert_eq!(gym.post("/create", &named, &body).status(), status, "{body}");
    }
    let first = json!({"split": "train", "index": 0});
    assert_eq!(gym.post("/create", &named, &first).status(), 200);
    assert_eq!(gym.post("/create", &named, &first).status(), 400);
    let full = gym.post("/create", &[("x-session-id", "other")], &first);
    assert_eq!((full.status().as_u16(), full.headers().contains_key("retry-after")), (503, true));
    assert_eq!(gym.run("mine", "NoSuchTool", &json!({})).0["reason"], "not_found");
    assert_eq!(
        gym.run("mine", "finish", &json!({"outcome": 7})).0["output"]["metadata"]["status"],
        json!(422)
    );
    assert_eq!(gym.post("/call", &named, &json!({"name": "finish"})).status(), 422);
    assert_eq!(gym.get("/other/tools", &[]).status(), 404);
    // The environment may be omitted from the path, as in the standard's client.
    let splits: Json = gym.get("/splits", &[]).json().unwrap();
    assert_eq!(splits, json!([{"name": "train", "type": "train"}]));
    for path in ["/diorama/task_tools", "/task_tools"] {
        let tools: Json = gym.get(path, &named).json().unwrap();
        assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "finish"));
    }
    gym.post("/delete", &named, &json!({}));
    let faulty = json!({"task_spec": {"id": tasks.solutions[0].task, "faults": always_failing()}});
    let sid = gym.begin(&faulty);
    // The user may finish the conversation before all recorded steps are made.
    let calls = tasks.solutions[0].calls.iter();
    let tried = calls.flat_map(|(name, input)| std::iter::repeat_n((name, input), tries(name)));
    let mut results = tried.map(|(name, input)| gym.run(&sid, name, &json!(input)).0);
    let last = results.find(|result| result["output"]["finished"] == true).unwrap();
    let output = &last["output"];
    assert_eq!(
        (&output["reward"], &output["finished"], &output["metadata"]["excluded"]),
        (&Json::Null, &json!(true), &json!(true)),
        "{last}"
    );
}
