//! Owns the tests of OpenEnv: sockets and their sessions, error codes, episodes over HTTP.

use serde_json::{Value as Json, json};
use tungstenite::{Message, WebSocket};

use super::{Gym, Tasks, always_failing, tries};

pub(super) type Socket = WebSocket<std::net::TcpStream>;

impl Gym {
    pub(super) fn socket(&self, path: &str) -> Socket {
        let address = self.url.strip_prefix("http://").unwrap();
        let stream = std::net::TcpStream::connect(address).unwrap();
        tungstenite::client(format!("ws://{address}{path}"), stream).unwrap().0
    }
}

fn ask(socket: &mut Socket, message: &Json) -> Json {
    socket.send(Message::text(message.to_string())).unwrap();
    heard(socket)
}

fn heard(socket: &mut Socket) -> Json {
    serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap()
}

fn act(socket: &mut Socket, tool: &str, arguments: &Json) -> Json {
    let action = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
    ask(socket, &json!({"type": "step", "data": action}))["data"].clone()
}

#[test]
fn an_episode_on_a_socket_is_rewarded_at_its_end_and_ends_with_the_socket() {
    let tasks = Tasks::new(12);
    let gym = tasks.serve("openenv", &[]);
    for solution in &tasks.solutions {
        let mut socket = gym.socket("/ws");
        let start =
            json!({"type": "reset", "data": {"id": solution.task, "seed": solution.seed, "episode_id": "e"}});
        let first = ask(&mut socket, &start)["data"].clone();
        assert_eq!((&first["reward"], &first["done"]), (&Json::Null, &json!(false)));
        let (last, before) = solution.calls.split_last().unwrap();
        for (name, arguments) in before {
            let step = act(&mut socket, name, &json!(arguments));
            assert_eq!((&step["reward"], &step["done"]), (&json!(0.0), &json!(false)), "{step}");
        }
        let step = act(&mut socket, &last.0, &json!(last.1));
        assert_eq!((&step["reward"], &step["done"]), (&json!(1.0), &json!(true)), "{step}");
        let state = ask(&mut socket, &json!({"type": "state"}))["data"].clone();
        let expected = json!({"episode_id": "e", "step_count": solution.calls.len(), "task_id": solution.task, "done": true});
        assert_eq!(state, expected);
        // Steps after the end earn no reward.
        let after = act(&mut socket, "finish", &json!({"outcome": "done"}));
        assert_eq!((&after["reward"], &after["done"]), (&json!(0.0), &json!(true)));
        assert_eq!(gym.sessions(), 1);
        drop(socket);
        gym.await_sessions(0);
    }
}

#[test]
fn every_kind_of_error_has_its_code() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("openenv", &["--max-sessions", "2"]);
    let mut socket = gym.socket("/ws");
    let code = |frame: Json| {
        assert_eq!(frame["type"], "error", "{frame}");
        frame["data"]["code"].as_str().unwrap().to_owned()
    };
    for (message, expected) in [
        (json!({"type": "jump"}), "UNKNOWN_TYPE"),
        (json!({}), "UNKNOWN_TYPE"),
        (json!([]), "VALIDATION_ERROR"),
        (json!({"type": "step"}), "VALIDATION_ERROR"),
        (json!({"type": "step", "data": {"tool_name": 7}}), "VALIDATION_ERROR"),
        (json!({"type": "reset", "data": {"split": "nope", "index": 0}}), "VALIDATION_ERROR"),
        (json!({"type": "reset", "data": 7}), "VALIDATION_ERROR"),
        (json!({"type": "state", "more": 1}), "VALIDATION_ERROR"),
        (json!({"type": "step", "data": {"tool_name": "finish", "arguments": {}}}), "EXECUTION_ERROR"),
    ] {
        assert_eq!(code(ask(&mut socket, &message)), expected, "{message}");
    }
    socket.send(Message::text("{\"type\": ")).unwrap();
    assert_eq!(code(heard(&mut socket)), "INVALID_JSON");
    assert_eq!(code(heard(&mut gym.socket("/ws?session_id=nope"))), "SESSION_ERROR");
    // The server admits two sessions. It refuses further sockets, and a socket that leaves frees its session.
    let mut second = gym.socket("/ws");
    for socket in [&mut socket, &mut second] {
        assert_eq!(ask(socket, &json!({"type": "reset", "data": {"seed": 1}}))["type"], "observation");
    }
    let full = heard(&mut gym.socket("/ws"));
    assert_eq!((&full["data"]["active_sessions"], &full["data"]["max_sessions"]), (&json!(2), &json!(2)));
    assert_eq!(code(full), "CAPACITY_REACHED");
    let refused: Json = gym
        .post("/mcp", &[], &json!({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}))
        .json()
        .unwrap();
    assert_eq!(refused["error"]["code"], json!(-32_000));
    second.send(Message::text(json!({"type": "close"}).to_string())).unwrap();
    gym.await_sessions(1);
    assert_eq!(gym.post("/reset", &[], &json!({})).status(), 200);
}

#[test]
fn resets_are_deterministic_fork_and_leave_excluded_episodes_without_reward() {
    let tasks = Tasks::new(12);
    let gym = tasks.serve("openenv", &[]);
    let mut socket = gym.socket("/ws");
    let reset = |socket: &mut Socket, data: Json| {
        ask(socket, &json!({"type": "reset", "data": data}))["data"].clone()
    };
    let by_seed = reset(&mut socket, json!({"seed": 4}));
    assert_eq!(by_seed, reset(&mut socket, json!({"seed": 4})));
    assert_ne!(
        by_seed["observation"]["task_id"],
        reset(&mut socket, json!({"seed": 5}))["observation"]["task_id"]
    );
    assert_eq!(gym.sessions(), 1);
    let solution = &tasks.solutions[0];
    let faulty = json!({"id": solution.task, "seed": solution.seed, "faults": always_failing()});
    reset(&mut socket, faulty);
    let calls = solution.calls.iter();
    let tried = calls.flat_map(|(name, arguments)| std::iter::repeat_n((name, arguments), tries(name)));
    let last = tried.map(|(name, arguments)| act(&mut socket, name, &json!(arguments))).last().unwrap();
    assert_eq!(
        (&last["reward"], &last["done"], &last["metadata"]["grade"]["excluded"]),
        (&Json::Null, &json!(true), &json!(true))
    );
    // A name identifies an episode over HTTP, also as the origin of forks.
    let named = json!({"id": solution.task, "seed": solution.seed, "episode_id": "origin"});
    assert_eq!(gym.post("/reset", &[], &named).status(), 200);
    reset(&mut socket, json!({"fork_of": "origin", "at": 0}));
    for (name, arguments) in &solution.calls {
        let action = json!({"type": "call_tool", "tool_name": name, "arguments": arguments});
        let step: Json =
            gym.post("/step", &[], &json!({"action": action, "episode_id": "origin"})).json().unwrap();
        let forked = act(&mut socket, name, &json!(arguments));
        assert_eq!((&step["reward"], &step["done"]), (&forked["reward"], &forked["done"]), "{step}");
    }
    assert_eq!(gym.get("/state?episode_id=nope", &[]).status(), 404);
    assert_eq!(gym.get("/state", &[]).json::<Json>().unwrap()["step_count"], json!(0));
}

#[test]
fn json_rpc_answers_all_that_comes_with_200() {
    let tasks = Tasks::new(3);
    let gym = tasks.serve("openenv", &[]);
    let rpc = |body: &Json| -> Json {
        let reply = gym.post("/mcp", &[], body);
        assert_eq!(reply.status(), 200);
        reply.json().unwrap()
    };
    let call = |method: &str, params: Json| {
        rpc(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    };
    for (body, code) in [
        (json!({}), -32_600),
        (json!([]), -32_600),
        (json!({"jsonrpc": "1.0", "method": "tools/list"}), -32_600),
        (json!({"jsonrpc": "2.0", "method": "tools/list", "params": []}), -32_600),
        (json!({"jsonrpc": "2.0", "method": "initialize"}), -32_601),
        (json!({"jsonrpc": "2.0", "method": "tools/call", "params": {}}), -32_602),
        (json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "finish"}}), -32_602),
        (
            json!({"jsonrpc": "2.0", "method": "openenv/session/close", "params": {"session_id": "x"}}),
            -32_602,
        ),
    ] {
        assert_eq!(rpc(&body)["error"]["code"], json!(code), "{body}");
    }
    let broken = gym.client.post(format!("{}/mcp", gym.url)).body("{").send().unwrap();
    assert_eq!(broken.json::<Json>().unwrap()["error"]["code"], json!(-32_700));
    // One socket joins a session that this call makes. Closing the session meanwhile ends it together with
    // the socket.
    let made = call("openenv/session/create", json!({}));
    let session = made["result"]["session_id"].as_str().unwrap();
    let mut joined = gym.socket(&format!("/ws?session_id={session}"));
    assert_eq!(
        ask(&mut joined, &json!({"type": "reset", "data": {"split": "train", "index": 1}}))["type"],
        "observation"
    );
    assert_eq!(heard(&mut gym.socket(&format!("/ws?session_id={session}")))["data"]["code"], "SESSION_ERROR");
    let listed = call("tools/list", json!({"session_id": session}));
    let own = ask(&mut joined, &json!({"type": "step", "data": {"type": "list_tools"}}));
    assert_eq!(listed["result"]["tools"], own["data"]["observation"]["tools"]);
    let closing = call("openenv/session/close", json!({"session_id": session}));
    assert_eq!(closing["result"]["closing"], json!(true));
    drop(joined);
    gym.await_sessions(0);
}
