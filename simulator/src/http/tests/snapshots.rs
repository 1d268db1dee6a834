//! Owns the tests of snapshots: a session restarted from a snapshot must equal one that never ended.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use proptest::prelude::*;

use super::*;
use crate::shared::{DrawnCall, any_call, made};

#[derive(Clone, Debug)]
enum Step {
    Call(DrawnCall),
    /// Adds a product with a new key, and a token.
    Make(u32),
    Search,
    Clock(u32),
    Say,
    /// Forks at a share of the calls. The test continues with the fork.
    Fork(usize),
    Reset,
    /// Takes snapshots if the flag is true, ends the server, damages the snapshots, and restarts it.
    Restart(bool, Damage),
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    Gone,
    Changed,
}

fn step() -> impl Strategy<Value = Step> {
    let damage = prop::sample::select(vec![Damage::None, Damage::None, Damage::Gone, Damage::Changed]);
    prop_oneof![
        40 => any_call().prop_map(Step::Call),
        8 => (0_u32..1_000).prop_map(Step::Make),
        3 => Just(Step::Search),
        3 => (0_u32..5_000).prop_map(Step::Clock),
        1 => Just(Step::Say),
        2 => (0_usize..=100).prop_map(Step::Fork),
        1 => Just(Step::Reset),
        3 => (any::<bool>(), damage).prop_map(|(orderly, damage)| Step::Restart(orderly, damage)),
    ]
}

/// A session of a server.
struct Side {
    app: Arc<App>,
    id: String,
}

impl Side {
    /// Sends a request, and returns the reply without the id of the session.
    fn ask(&self, method: &str, what: &str, body: Json) -> (u16, Json) {
        let line = format!("{method} /v1/sessions/{}{what}", self.id);
        let (status, _, reply) = run(send(&self.app, "", &line, body));
        let plain = reply.to_string().replace(&self.id, "ID");
        (status, serde_json::from_str(&plain).unwrap())
    }
}

fn both(sides: &[Side; 2], method: &str, what: &str, body: &Json) -> Json {
    let [first, second] = [0, 1].map(|side| sides[side].ask(method, what, body.clone()));
    assert_eq!(first, second, "{method} {what} {body}");
    first.1
}

fn make(sides: &[Side; 2], number: u32) {
    let product = json!({"name": format!("Lamp {number}"), "price": 2.5, "stock": 1, "kind": "tool"});
    both(sides, "POST", "/call", &json!({"api": "AddProduct", "arguments": product}));
    let user = json!({"email": "rui@example.org", "pin": "2222"});
    both(sides, "POST", "/call", &json!({"api": "SignIn", "arguments": user}));
}

fn forked(sides: &mut [Side; 2], at: usize) {
    for side in sides {
        let line = format!("POST /v1/sessions/{}/fork", side.id);
        let (status, forks) = ask(&side.app, &line, json!({"n": 2, "at": at}));
        assert_eq!(status, 201, "{forks}");
        side.id = forks["sessions"][1]["id"].as_str().unwrap().to_owned();
    }
}

fn stored(folder: &std::path::Path) -> Arc<App> {
    let mut settings = Settings::new("http://test");
    settings.sessions.state = Some(StateFolder { snapshot_events: 5, ..StateFolder::new(folder.to_owned()) });
    App::new(vec![catalog_world("shop")], Some(Box::new(OneTask)), settings).unwrap()
}

fn damage(folder: &std::path::Path, damage: Damage) {
    let database = fjall::Database::builder(folder).open().unwrap();
    let snapshots = database.keyspace("snapshots", fjall::KeyspaceCreateOptions::default).unwrap();
    for entry in snapshots.iter() {
        let (name, text) = entry.into_inner().unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        match damage {
            Damage::None => {}
            Damage::Gone => snapshots.remove(name).unwrap(),
            Damage::Changed => snapshots.insert(name, text.replace("\"calls\":", "\"calls\":1")).unwrap(),
        }
    }
}

fn check(seed: u64, faults: &Json, task: bool, steps: &[Step], resumed: &AtomicUsize) {
    let folder = tempfile::tempdir().unwrap();
    let base = shop();
    let mut asked = json!({"seed": seed, "faults": faults});
    if task {
        asked["task"] = json!("t1");
    }
    let mut sides =
        [app(&["shop"], |settings| settings.public_url = "http://test".into()), stored(folder.path())]
            .map(|app| Side { id: session(&app, asked.clone()), app });
    let signed = json!({"api": "SignIn", "arguments": {"email": "ana@example.org", "pin": "1111"}});
    let mut token = both(&sides, "POST", "/call", &signed)["body"]["token"].as_str().unwrap_or("").to_owned();
    for step in steps {
        match step {
            Step::Call(drawn) => {
                let call = made(&base, drawn, &token);
                let body = json!({"api": call.api, "arguments": call.arguments});
                let reply = both(&sides, "POST", "/call", &body);
                if let Some(issued) = reply["body"]["token"].as_str() {
                    token = issued.to_owned();
                }
            }
            Step::Make(number) => make(&sides, *number),
            Step::Search => {
                let body = json!({"api": "ToolSearcher", "arguments": {"keywords": "price of a product"}});
                both(&sides, "POST", "/call", &body);
            }
            Step::Clock(minutes) => {
                let moment =
                    format!("2026-03-{:02}T{:02}:{:02}", 2 + minutes / 1440, minutes / 60 % 24, minutes % 60);
                both(&sides, "POST", "/clock", &json!({"clock": moment}));
            }
            Step::Say => {
                both(&sides, "POST", "/messages", &json!({"content": "?"}));
            }
            Step::Fork(share) => {
                let calls = both(&sides, "GET", "", &Json::Null)["calls"].as_u64().unwrap() as usize;
                forked(&mut sides, calls * share / 100);
            }
            Step::Reset => {
                both(&sides, "POST", "/reset", &Json::Null);
            }
            Step::Restart(orderly, how) => {
                if *orderly {
                    sides[1].app.sessions().take_snapshots();
                }
                let [plain, Side { app, id }] = sides;
                drop(app);
                damage(folder.path(), *how);
                sides = [plain, Side { app: stored(folder.path()), id }];
                // Stale reads show the old state at once.
                for _ in 0..3 {
                    both(&sides, "POST", "/call", &json!({"api": "AllNames"}));
                }
                let slot = sides[1].app.sessions().peek(&sides[1].id).unwrap();
                resumed.fetch_add(usize::from(!slot.lock().session.knows_its_calls()), SeqCst);
            }
        }
    }
    let shown = [
        "",
        "/log?limit=1000",
        "/diff",
        "/state",
        "/export",
        "/export?format=har",
        "/export?format=curl",
        "/task",
    ];
    for what in shown {
        both(&sides, "GET", what, &Json::Null);
    }
    make(&sides, 1_000);
    let calls = both(&sides, "GET", "", &Json::Null)["calls"].as_u64().unwrap() as usize;
    forked(&mut sides, calls / 2);
    make(&sides, 1_000);
    for what in ["", "/log?limit=1000", "/state"] {
        both(&sides, "GET", what, &Json::Null);
    }
}

#[test]
fn snapshots_and_the_events_after_them_give_the_session_that_never_ended() {
    let resumed = AtomicUsize::new(0);
    let faults = prop::sample::select(vec![
        json!([]),
        json!([{"kind": "stale", "probability": 0.5}, {"kind": "error", "probability": 0.1, "executed": true}]),
    ]);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(
        seed in 0_u64..3,
        faults in faults,
        task in prop::bool::weighted(0.3),
        steps in prop::collection::vec(step(), 1..70),
    )| {
        check(seed, &faults, task, &steps, &resumed);
    });
    assert!(resumed.load(SeqCst) > 0, "no session went on from a snapshot");
}
