//! Owns the tests of a state folder: losses, shared parts, a full disk.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use diorama_sessions::ForkRequest;

use super::*;

fn stored(folder: &Path, fsync: bool) -> Result<Arc<App>, StartError> {
    let mut settings = Settings::new("http://test");
    settings.sessions.state = Some(StateFolder { fsync, ..StateFolder::new(folder.to_owned()) });
    App::new(vec![catalog_world("shop")], Some(Box::new(OneTask)), settings)
}

fn make(app: &Arc<App>, id: &str, name: &str) -> (u16, Json) {
    let product = json!({"name": name, "price": 2.5, "stock": 1, "kind": "tool"});
    ask(app, &format!("POST /v1/sessions/{id}/call"), json!({"api": "AddProduct", "arguments": product}))
}

/// Adds a product and expects success.
fn made(app: &Arc<App>, id: &str, name: &str) {
    let (_, reply) = make(app, id, name);
    assert_eq!(reply["status"], 201, "{reply}");
}

fn fork(app: &Arc<App>, id: &str, asked: Json) -> Vec<String> {
    let (status, forks) = ask(app, &format!("POST /v1/sessions/{id}/fork"), asked);
    assert_eq!(status, 201, "{forks}");
    let forks = forks["sessions"].as_array().unwrap();
    forks.iter().map(|fork| fork["id"].as_str().unwrap().to_owned()).collect()
}

fn calls(app: &Arc<App>, id: &str) -> u64 {
    ask(app, &format!("GET /v1/sessions/{id}"), Json::Null).1["calls"].as_u64().unwrap()
}

#[cfg(unix)]
#[test]
fn the_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    fn modes(path: &Path, found: &mut Vec<(bool, u32)>) {
        // The database removes files concurrently.
        let Ok(metadata) = std::fs::metadata(path) else { return };
        found.push((metadata.is_dir(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            std::fs::read_dir(path).unwrap().for_each(|entry| modes(&entry.unwrap().path(), found));
        }
    }

    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("made/here");
    for _ in 0..2 {
        let app = stored(&folder, false).unwrap();
        let id = session(&app, json!({}));
        make(&app, &id, "Lamp");
        let found = || {
            let mut found = Vec::new();
            modes(&folder, &mut found);
            found
        };
        let is_closed = |(is_folder, mode): &(bool, u32)| *mode == if *is_folder { 0o700 } else { 0o600 };
        // The database makes, merges and removes files concurrently. The sweep restricts their permissions.
        let wait_for_closed = |least: usize| {
            let began = Instant::now();
            loop {
                app.sessions().sweep();
                let found = found();
                if found.len() > least && found.iter().all(is_closed) {
                    return found.len();
                }
                assert!(began.elapsed().as_secs() < 60, "{found:?}");
            }
        };
        let first = wait_for_closed(5);
        // The records exceed the memory buffers of the database.
        (0..24).for_each(|_| drop(make(&app, &id, &"x".repeat(900_000))));
        app.sessions().take_snapshots();
        wait_for_closed(first);
        drop(app);
        // An earlier version, or a copy, may have left these permissions.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(folder.join("events.count"), std::fs::Permissions::from_mode(0o644))
            .unwrap();
    }
}

#[test]
fn what_forks_share_is_shared_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false).unwrap();
    let first = session(&app, json!({}));
    (0..60).for_each(|n| made(&app, &first, &format!("Lamp {n}")));
    let forks = fork(&app, &first, json!({"n": 50}));
    made(&app, &forks[0], "Kettle");
    let nested = fork(&app, &forks[0], json!({"n": 50}));
    made(&app, &nested[0], "Pan");
    let earlier = fork(&app, &nested[0], json!({"n": 2, "at": 60}));
    let held = app.sessions().scale().held();
    assert!(held < 3 * app.sessions().peek(&first).unwrap().lock().session.bytes(), "{held}");
    let ids: Vec<&String> = [&first].into_iter().chain(&forks).chain(&nested).chain(&earlier).collect();
    let states: Vec<Json> =
        ids.iter().map(|id| ask(&app, &format!("GET /v1/sessions/{id}/diff"), Json::Null).1).collect();
    drop(app);
    let app = stored(folder.path(), false).unwrap();
    assert!(app.sessions().scale().held() <= held, "{} after {held}", app.sessions().scale().held());
    for (id, state) in ids.iter().zip(&states) {
        assert_eq!(ask(&app, &format!("GET /v1/sessions/{id}/diff"), Json::Null).1, *state);
    }
    let same = |a: &str, b: &str| {
        let slots = [a, b].map(|id| app.sessions().peek(id).unwrap());
        slots[0].lock().session.state().is(slots[1].lock().session.state())
    };
    assert!(same(&first, &forks[7]) && same(&forks[0], &nested[7]) && same(&earlier[0], &earlier[1]));
    assert!(!same(&first, &nested[7]));
    // The log is complete after the restart.
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{}/log", nested[0]), Json::Null).1["total"], 62);
    for id in ids {
        assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
    }
    assert_eq!(app.sessions().scale().held(), 0);
}

#[test]
fn what_is_written_down_can_be_read_however_deep_it_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false).unwrap();
    let id = session(&app, json!({}));
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    for levels in [1, 64, 65, 120] {
        let call = json!({"api": "GetProduct", "arguments": {"product_id": deep(levels)}});
        let (status, reply) = ask(&app, &format!("POST /v1/sessions/{id}/call"), call);
        assert_eq!((status, levels > 64), if levels > 64 { (422, true) } else { (200, false) }, "{reply}");
    }
    assert_eq!(fork(&app, &id, json!({"n": 2})).len(), 2);
    drop(app);
    let app = stored(folder.path(), false).unwrap();
    let (_, log) = ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null);
    assert_eq!(log["calls"][1]["arguments"]["product_id"], deep(64));
    assert_eq!(log["total"], 2);
}

#[test]
fn a_deleted_session_stays_deleted_whoever_waited_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false).unwrap();
    let id = session(&app, json!({"task": "t1"}));
    make(&app, &id, "Lamp");
    // This request found the session, and gets its lock only after the deletion.
    let slot = app.sessions().peek(&id).unwrap();
    assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
    let sessions = app.sessions();
    assert!(sessions.reset(slot.lock()).is_err() && sessions.renew(&slot, Some(7)).is_err());
    assert!(sessions.fork(slot.lock(), &ForkRequest::default(), None).is_err() && slot.enter().is_err());
    assert!(sessions.close(&slot).is_err());
    drop((slot, app));
    assert_eq!(stored(folder.path(), false).unwrap().sessions().count(), 0);
}

/// Returns the journals of a folder.
fn journals(folder: &Path) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = all.filter(|path| path.extension().is_some_and(|end| end == "jnl")).collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn what_a_folder_has_lost_is_said() {
    let check = |damage: &dyn Fn(&Path), expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        let app = stored(folder.path(), false).unwrap();
        let ids = [session(&app, json!({})), session(&app, json!({}))];
        for number in 0..4 {
            ids.iter().for_each(|id| assert!(make(&app, id, &format!("Lamp {number}")).0 < 300));
        }
        let gone = session(&app, json!({}));
        make(&app, &gone, "Pan");
        ask(&app, &format!("DELETE /v1/sessions/{gone}"), Json::Null);
        drop(app);
        damage(folder.path());
        let error = match stored(folder.path(), false) {
            Ok(app) => panic!("{expected}: it starts, with {} sessions", app.sessions().count()),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(expected) && !error.contains("Fjall"), "{error}");
        assert!(error.contains(&*folder.path().to_string_lossy()), "where: {error}");
        error
    };
    let cut = |folder: &Path| {
        for journal in journals(folder) {
            // Journals are preallocated beyond their contents.
            let bytes = std::fs::read(&journal).unwrap();
            let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) as u64;
            std::fs::OpenOptions::new().write(true).open(journal).unwrap().set_len(used / 2).unwrap();
        }
    };
    let error = check(&cut, "of 8 events");
    assert!(error.contains("--accept-loss") && error.contains("of 2 sessions"), "{error}");
    let removed =
        |folder: &Path| journals(folder).iter().for_each(|journal| std::fs::remove_file(journal).unwrap());
    check(&removed, "8 of 8 events, of 2 of 2 sessions");
    let zeroed = |folder: &Path| {
        for journal in journals(folder) {
            let mut bytes = std::fs::read(&journal).unwrap();
            bytes.iter_mut().skip(200).take(400).for_each(|byte| *byte = 0);
            std::fs::write(journal, bytes).unwrap();
        }
    };
    check(&zeroed, "state folder");

    let uncounted = "the counts of its 2 sessions' events";
    let emptied = |folder: &Path| drop(std::fs::File::create(folder.join("events.count")).unwrap());
    check(&emptied, uncounted);
    check(&|folder| std::fs::remove_file(folder.join("events.count")).unwrap(), uncounted);
    let halved = |folder: &Path| {
        let counts = std::fs::OpenOptions::new().write(true).open(folder.join("events.count")).unwrap();
        counts.set_len(counts.metadata().unwrap().len() / 2).unwrap();
    };
    check(&halved, uncounted);
    let all = |folder: &Path| {
        removed(folder);
        emptied(folder);
    };
    check(&all, "the counts of its 0 sessions' events");

    // If the user accepts the loss, the server continues with the rest, and detects the next loss.
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false).unwrap();
    let id = session(&app, json!({}));
    make(&app, &id, "Lamp");
    drop(app);
    removed(folder.path());
    assert!(stored(folder.path(), false).is_err());
    let accepting = super::app(&["shop"], |settings| {
        settings.sessions.state =
            Some(StateFolder { accept_loss: true, ..StateFolder::new(folder.path().to_owned()) });
    });
    assert_eq!(accepting.sessions().count(), 0);
    session(&accepting, json!({}));
    drop(accepting);
    emptied(folder.path());
    assert!(stored(folder.path(), false).is_err());
}

#[test]
fn a_folder_without_sessions_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    for fsync in [false, true] {
        assert_eq!(stored(folder.path(), fsync).unwrap().sessions().count(), 0);
        let app = stored(folder.path(), fsync).unwrap();
        let id = session(&app, json!({}));
        assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
        (0..3).for_each(|_| drop(session(&app, json!({"n": 5}))));
        drop(app);
        let app = stored(folder.path(), fsync).unwrap();
        assert_eq!(app.sessions().count(), 15);
        for slot in app.sessions().all() {
            assert!(app.sessions().close(&slot).is_ok());
        }
    }
}

/// A small file system of its own, if this process may mount one.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=120m", "tmpfs"]).arg(folder.path()).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        mounted.then(|| Self(folder))
    }

    /// Fills the file system except for `free` bytes.
    fn fill(&self, free: usize) {
        let path = self.0.path().join("filler");
        let mut written = 0;
        let mut file = std::fs::File::create(&path).unwrap();
        while std::io::Write::write_all(&mut file, &[1; 65536]).is_ok() {
            written += 65536;
        }
        file.set_len(u64::try_from(written - free).unwrap()).unwrap();
    }

    fn clear(&self) {
        std::fs::remove_file(self.0.path().join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_said_and_got_over() {
    for fsync in [false, true] {
        let Some(small) = Small::new() else {
            println!("skipped: no file system may be mounted here");
            return;
        };
        let folder = small.0.path().join("state");
        let app = stored(&folder, fsync).unwrap();
        let ids = [session(&app, json!({})), session(&app, json!({}))];
        make(&app, &ids[0], "Pan");
        for round in 0..3 {
            let before = calls(&app, &ids[1]);
            small.fill(200_000);
            let long = "x".repeat(100);
            let mut accepted = 0;
            let refused = (0..10_000).find_map(|n| {
                let (status, reply) = make(&app, &ids[1], &format!("Lamp {round} {n} {long}"));
                accepted += u64::from(status < 300);
                (status >= 300).then_some((status, reply))
            });
            let (status, problem) = refused.expect("the disk is never full");
            assert_eq!(status, 503, "{problem}");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains("nothing is done") && detail.contains("No space left"), "{detail}");
            assert_eq!(ask(&app, "GET /readyz", Json::Null).0, 503);
            let refuse = |line: String, body: Json| {
                let (status, problem) = ask(&app, &line, body);
                assert_eq!(status, 503, "{line}: {problem}");
            };
            refuse(format!("DELETE /v1/sessions/{}", ids[0]), Json::Null);
            refuse(format!("POST /v1/sessions/{}/heartbeat", ids[0]), json!({"lease_seconds": 99}));
            refuse(format!("POST /v1/sessions/{}/reset", ids[1]), Json::Null);
            refuse(format!("POST /v1/sessions/{}/fork", ids[1]), Json::Null);
            refuse("POST /v1/sessions".to_owned(), json!({}));
            app.sessions().sweep();
            assert_eq!(ask(&app, "GET /readyz", Json::Null).0, 503, "it is still full");
            let (_, shown) = ask(&app, &format!("GET /v1/sessions/{}", ids[0]), Json::Null);
            assert_eq!(
                (&shown["lease_seconds"], &shown["calls"]),
                (&json!(0), &json!(1)),
                "nothing was done"
            );
            assert_eq!(calls(&app, &ids[1]), before + accepted);
            small.clear();
            app.sessions().sweep();
            assert_eq!(ask(&app, "GET /readyz", Json::Null).0, 200);
            assert!(make(&app, &ids[1], &format!("Kettle {round}")).0 < 300);
        }
        let seen = ids.each_ref().map(|id| ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null));
        drop(app);
        let app = stored(&folder, fsync).unwrap();
        assert_eq!(app.sessions().count(), 2);
        let again = ids.each_ref().map(|id| ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null));
        assert_eq!(again, seen);
    }
}
