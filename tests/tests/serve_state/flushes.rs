//! Owns the tests of failing disk flushes: the server acknowledges nothing after one, and loses no earlier
//! acknowledged write.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use diorama_tests::requests::NOTES;
use serde_json::{Value as Json, json};

use super::{CLIENTS, Client, TestServer, start, start_with};

/// A library that is loaded before others. Flushes fail while the file that `DIORAMA_TEST_FAILS` names
/// exists. With `DIORAMA_TEST_FAILS_ONCE`, one flush fails and removes the file, as a kernel reports an error
/// once.
const SHIM: &str = r#"
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int fails(void) {
    const char *file = getenv("DIORAMA_TEST_FAILS");
    if (file == NULL) return 0;
    if ((getenv("DIORAMA_TEST_FAILS_ONCE") ? unlink(file) : access(file, F_OK)) != 0) return 0;
    errno = EIO;
    return 1;
}
int fsync(int fd) { return fails() ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails() ? -1 : (int)syscall(SYS_fdatasync, fd); }
"#;

/// Compiles the library into a folder.
fn make_shim(folder: &Path) {
    std::fs::write(folder.join("shim.c"), SHIM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.join("shim.so")).arg(folder.join("shim.c"));
    assert!(compiler.status().unwrap().success(), "a C compiler builds the workspace, too");
}

/// Makes a server load the library of a folder. Its flushes fail if the folder has the file `fails`.
fn preload(command: &mut Command, folder: &Path) {
    command
        .env("LD_PRELOAD", folder.join("shim.so"))
        .env("DIORAMA_TEST_FAILS", folder.join("fails"))
        .stderr(Stdio::piped());
}

/// Checks that the server acknowledges nothing after a failed flush, ends, and reports the reason.
#[test]
fn a_flush_that_fails_ends_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("notes.yaml"), NOTES).unwrap();
    make_shim(folder.path());
    let mut served = start_with(folder.path(), true, |command| preload(command, folder.path()));
    let mut client = Client { id: served.create(), notes: Vec::new(), or: None, made: 0 };
    let add = |served: &TestServer, client: &Client, title: &str| {
        let call = json!({"api": "AddNote", "arguments": {"title": title}});
        served.http.post(format!("{}/v1/sessions/{}/call", served.url, client.id)).json(&call).send()
    };
    for number in 0..20 {
        let title = format!("note {number}");
        assert_eq!(add(&served, &client, &title).unwrap().status(), 200);
        client.notes.push(title);
    }
    std::fs::write(at("fails"), "").unwrap();
    client.or = Some([&*client.notes, &["note 20".to_owned()]].concat());
    for title in ["note 20", "note 21", "note 22"] {
        // The first request is executed but not confirmed. The others are not executed, or get no answer.
        let Ok(reply) = add(&served, &client, title) else { continue };
        let (status, problem) = (reply.status().as_u16(), reply.json::<Json>().unwrap());
        assert!(status == 503 || (status == 500 && problem["done"] == true), "{status} {problem}");
    }
    let said: Vec<String> = served.lines.by_ref().map_while(Result::ok).collect();
    served.child.wait().unwrap();
    let mut why = String::new();
    std::io::Read::read_to_string(&mut served.child.stderr.take().unwrap(), &mut why).unwrap();
    assert!(said.iter().any(|line| line.contains("ended with ExitCode(unix_exit_status(1))")), "{said:?}");
    assert!(why.contains("the disk did not confirm what was written") && why.contains("os error 5"), "{why}");
    std::fs::remove_file(at("fails")).unwrap();
    let mut served = start(folder.path(), true);
    client.check(&served, 0);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

/// Fails one of many flushes, another one in each round. The process must end and keep all acknowledged
/// writes.
fn fail_again_and_again(rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.yaml"), NOTES).unwrap();
    make_shim(folder.path());
    let failing = |command: &mut Command| {
        preload(command, folder.path());
        command.env("DIORAMA_TEST_FAILS_ONCE", "1");
    };
    let mut served = start_with(folder.path(), true, failing);
    let client = |served: &TestServer| Client { id: served.create(), notes: Vec::new(), or: None, made: 0 };
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| client(&served)).collect();
    let mut total = 0;
    for round in 0..rounds {
        let answered = AtomicUsize::new(0);
        let wanted = 3 + (round * 37) % 50;
        std::thread::scope(|scope| {
            let (served, answered) = (&served, &answered);
            clients.iter_mut().for_each(|client| drop(scope.spawn(move || client.work(served, answered))));
            while answered.load(SeqCst) < wanted {
                std::thread::yield_now();
            }
            std::fs::write(folder.path().join("fails"), "").unwrap();
        });
        let said: Vec<String> = served.lines.by_ref().map_while(Result::ok).collect();
        served.child.wait().unwrap();
        let ended = |line: &String| line.contains("ended with ExitCode(unix_exit_status(1))");
        assert!(said.iter().any(ended), "round {round}: {said:?}");
        total += answered.load(SeqCst);
        served = start_with(folder.path(), true, failing);
        clients.iter_mut().for_each(|client| client.check(&served, round));
    }
    println!("{rounds} failed flushes, {total} answered writes, none lost");
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

#[test]
fn one_flush_that_fails_ends_the_server_whichever_it_is() {
    fail_again_and_again(3);
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn a_hundred_flushes_that_fail_lose_nothing() {
    fail_again_and_again(100);
}
