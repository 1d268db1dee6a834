//! Owns the tests of NeMo Gym: cookies, bare replies, verdicts with and without a session.

use reqwest::blocking::Response;
use serde_json::{Value as Json, json};

use super::{Gym, Solution, Tasks, always_failing, tries};

/// A rollout in progress, whose client keeps only the cookie of the last reply, as NeMo Gym's does.
struct Rollout<'a> {
    gym: &'a Gym,
    row: Json,
    cookie: String,
    output: Vec<Json>,
}

impl<'a> Rollout<'a> {
    fn seed(gym: &'a Gym, row: Json) -> Self {
        let reply = gym.post("/seed_session", &[], &row);
        assert_eq!(reply.status(), 200);
        Self { gym, row, cookie: cookie(&reply), output: Vec::new() }
    }

    fn send(&mut self, path: &str, body: &Json) -> (u16, Json) {
        let reply = self.gym.post(path, &[("cookie", &self.cookie)], body);
        self.cookie = cookie(&reply);
        (reply.status().as_u16(), reply.json().unwrap())
    }

    fn call(&mut self, name: &str, arguments: &Json) -> (u16, Json) {
        self.output.push(json!({"type": "function_call", "call_id": "c", "name": name, "arguments": arguments.to_string()}));
        let (status, reply) = self.send(&format!("/{name}"), arguments);
        self.output
            .push(json!({"type": "function_call_output", "call_id": "c", "output": reply.to_string()}));
        (status, reply)
    }

    fn verify_body(&self) -> Json {
        let mut body = self.row.clone();
        body["responses_create_params"] = json!({"input": []});
        body["response"] = json!({"id": "r", "output": self.output});
        body
    }

    fn verify(&mut self) -> Json {
        let body = self.verify_body();
        let (status, verdict) = self.send("/verify", &body);
        assert_eq!(status, 200, "{verdict}");
        verdict
    }
}

/// Returns the cookie that a reply sets. A client without a cookie has lost its session.
fn cookie(reply: &Response) -> String {
    let set = reply.headers().get("set-cookie").map(|set| set.to_str().unwrap().to_owned());
    set.unwrap().split(';').next().unwrap().to_owned()
}

fn row(solution: &Solution) -> Json {
    json!({"id": solution.task, "seed": solution.seed, "agent_ref": {"name": "a"}})
}

#[test]
fn solved_rollouts_get_1_and_idle_ones_0_with_a_session_and_without() {
    let tasks = Tasks::new(12);
    let gym = tasks.serve("nemo-gym", &[]);
    for solution in &tasks.solutions {
        let mut idle = Rollout::seed(&gym, row(solution));
        assert_eq!(idle.verify()["reward"], json!(0.0));
        let mut solved = Rollout::seed(&gym, row(solution));
        for (name, arguments) in &solution.calls {
            solved.call(name, &json!(arguments));
        }
        let verdict = solved.verify();
        let ones = json!({"change": 1.0, "damage": 1.0, "outcome": 1.0, "answer": 1.0, "evidence": 1.0, "policy": 1.0});
        assert_eq!((&verdict["reward"], &verdict["reward_components"]), (&json!(1.0), &ones), "{verdict}");
        assert!(verdict["goal_rewards"].as_array().unwrap().iter().all(|reward| *reward == 1.0));
        let sent = solved.verify_body();
        assert_eq!((&verdict["response"], &verdict["agent_ref"]), (&sent["response"], &sent["agent_ref"]));
        // The session has ended. The server grades a stored rollout by replaying its calls, which gives the
        // same verdict.
        assert_eq!(solved.verify(), verdict);
        let stored: Json = gym.post("/verify", &[], &sent).json().unwrap();
        assert_eq!(stored, verdict);
    }
    assert_eq!(gym.sessions(), 0);
    assert_eq!(gym.get("/reverify_mode", &[]).json::<Json>().unwrap(), json!("stateless"));
}

#[test]
fn refusals_are_outputs_and_keep_the_cookie() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("nemo-gym", &[]);
    let mut rollout = Rollout::seed(&gym, row(&tasks.solutions[0]));
    let cookie = rollout.cookie.clone();
    for (name, body, status) in [
        ("NoSuchTool", json!({}), 404),
        ("finish", json!({"outcome": "maybe"}), 422),
        ("ask_user", json!({}), 422),
        ("call_api", json!({"name": 7}), 422),
        ("finish", json!([1]), 422),
        ("a/b", json!({}), 404),
    ] {
        // An unknown path belongs to no session and keeps none alive.
        if name.contains('/') {
            assert_eq!(gym.post(&format!("/{name}"), &[], &body).status(), status);
            continue;
        }
        assert_eq!(rollout.call(name, &body).0, status, "{name} {body}");
        assert_eq!(rollout.cookie, cookie, "{name} {body}");
    }
    assert_eq!(gym.post("/finish", &[], &json!({})).status(), 400);
    let broken =
        gym.client.post(format!("{}/finish", gym.url)).header("cookie", &cookie).body("{").send().unwrap();
    assert_eq!((broken.status().as_u16(), super::nemo_gym::cookie(&broken)), (400, cookie));
    // NeMo Gym puts the id of a rollout before any path.
    let (status, verdict) = rollout.send("/ng-rollout/0-1-a2/verify", &rollout.verify_body());
    assert_eq!((status, &verdict["reward"]), (200, &json!(0.0)));
    for (body, status) in [(json!({}), 422), (json!({"id": "nope"}), 422), (json!({"id": 7}), 422)] {
        assert_eq!(gym.post("/seed_session", &[], &body).status(), status, "{body}");
    }
    assert_eq!(gym.post("/verify", &[], &json!({"id": tasks.solutions[0].task})).status(), 422);
    assert_eq!(
        (gym.get("/", &[]).status(), gym.get("/verify", &[]).status()),
        (200.try_into().unwrap(), 405.try_into().unwrap())
    );
}

#[test]
fn a_callers_id_names_one_session_and_closing_is_idempotent() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("nemo-gym", &["--gym-lease", "77"]);
    let mut named = row(&tasks.solutions[0]);
    named["_ng_session_id"] = json!("rollout-7");
    let first = Rollout::seed(&gym, named.clone());
    let again = Rollout::seed(&gym, named.clone());
    assert_eq!((first.cookie.clone(), gym.sessions()), (again.cookie, 1));
    let session = gym.server.get(&format!("/v1/sessions/{}", first.cookie.split_once('=').unwrap().1));
    assert_eq!(session["lease_seconds"], 77);
    named["id"] = json!(tasks.solutions[1].task);
    let conflict = gym.post("/seed_session", &[], &named);
    assert_eq!(conflict.status(), 409);
    for outcome in ["closed", "already_closed"] {
        let closed: Json =
            gym.post("/close_session", &[], &json!({"_ng_session_id": "rollout-7"})).json().unwrap();
        assert_eq!(closed, json!({"outcome": outcome}));
    }
    assert_eq!(gym.sessions(), 0);
    // Seeding with the cookie of a rollout ends the session of that rollout.
    let mut rollout = Rollout::seed(&gym, row(&tasks.solutions[0]));
    let before = rollout.cookie.clone();
    let seeded = rollout.row.clone();
    assert_eq!(rollout.send("/seed_session", &seeded).0, 200);
    assert_ne!((gym.sessions(), rollout.cookie), (1, before));
}

#[test]
fn a_group_forks_from_any_call_and_each_is_graded_alone() {
    let tasks = Tasks::new(12);
    let gym = tasks.serve("nemo-gym", &[]);
    let solution = tasks.solutions.iter().find(|solution| solution.calls.len() > 3).unwrap();
    let mut origin = Rollout::seed(&gym, row(solution));
    let at = solution.calls.iter().take_while(|(name, _)| name != "finish" && name != "ask_user").count();
    for (name, arguments) in &solution.calls[..at] {
        origin.call(name, &json!(arguments));
    }
    let id = origin.cookie.split_once('=').unwrap().1;
    let fork = |at: Option<usize>| Rollout::seed(&gym, json!({"fork_of": id, "at": at}));
    let (mut idle, mut solved, mut anew) = (fork(None), fork(Some(at)), fork(Some(0)));
    assert_eq!(gym.sessions(), 4);
    for (name, arguments) in &solution.calls[at..] {
        solved.call(name, &json!(arguments));
    }
    for (name, arguments) in &solution.calls {
        anew.call(name, &json!(arguments));
    }
    let rewards = [&mut idle, &mut solved, &mut anew].map(|rollout| rollout.verify()["reward"].clone());
    assert_eq!(rewards, [json!(0.0), json!(1.0), json!(1.0)]);
    assert_eq!(gym.sessions(), 1);
    assert_eq!(gym.post("/seed_session", &[], &json!({"fork_of": "nope"})).status(), 404);
    assert_eq!(gym.post("/seed_session", &[], &json!({"fork_of": id, "at": 99})).status(), 422);
}

#[test]
fn an_excluded_episode_has_no_reward_and_is_in_no_figure() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("nemo-gym", &[]);
    let solution = &tasks.solutions[0];
    let mut faulty = row(solution);
    faulty["faults"] = always_failing();
    let mut rollout = Rollout::seed(&gym, faulty);
    for (name, arguments) in &solution.calls {
        for _ in 0..tries(name) {
            rollout.call(name, &json!(arguments));
        }
    }
    let verdict = rollout.verify();
    assert_eq!(
        (&verdict["excluded"], verdict.get("reward"), &verdict["_ng_failure_class"]),
        (&json!(true), None, &json!("excluded"))
    );
    let counted = json!({"_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 1.0});
    let figures: Json =
        gym.post("/aggregate_metrics", &[], &json!({"verify_responses": [verdict, counted]})).json().unwrap();
    assert_eq!(figures["agent_metrics"]["mean/reward"], json!(1.0));
    assert_eq!(figures["agent_metrics"]["excluded_rollouts"], json!(1));
}

#[test]
fn a_full_server_says_so_grades_and_takes_more_once_there_is_room() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("nemo-gym", &["--max-sessions", "1"]);
    let mut rollout = Rollout::seed(&gym, row(&tasks.solutions[0]));
    let full = gym.post("/seed_session", &[], &row(&tasks.solutions[1]));
    assert_eq!((full.status().as_u16(), full.headers()["retry-after"].to_str().unwrap()), (503, "2"));
    assert_eq!(rollout.verify()["reward"], json!(0.0));
    Rollout::seed(&gym, row(&tasks.solutions[1]));
}

#[test]
fn the_model_context_protocol_reaches_the_same_session() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("nemo-gym", &[]);
    let seeded: Json = gym.post("/seed_session", &[], &row(&tasks.solutions[0])).json().unwrap();
    let mcp = &seeded["mcp"];
    assert_eq!((&mcp["url_path"], &mcp["transport"]), (&json!("/mcp"), &json!("http")));
    let token = mcp["headers"]["X-NeMo-Gym-Session-Token"].as_str().unwrap();
    let headers = [
        ("x-nemo-gym-session-token", token),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let listed: Json = gym
        .post("/mcp", &headers, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}))
        .json()
        .unwrap();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"finish") && names.contains(&"ask_user"), "{names:?}");
    assert_eq!(gym.post("/mcp", &headers[1..], &json!({})).status(), 401);
}
