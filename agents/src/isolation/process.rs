//! Owns work in a process of its own. A crash, a hang or memory growth there ends that process only.
//!
//! The process is this program with a hidden command. It reads a request from stdin and writes a reply to
//! stdout. On Linux the kernel bounds its processor time and its memory. Elsewhere only the elapsed time is
//! bounded.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use super::bounds::Bounds;
use super::worker;

/// Name of the hidden command.
pub const COMMAND: &str = "document-worker";

/// Maximum length of a reply, in bytes.
const MAX_REPLY_BYTES: u64 = 4 << 30;
/// Maximum length of the stderr text that is kept, in bytes.
const MAX_STDERR_BYTES: u64 = 1 << 20;
/// Address space that a worker reserves and does not use, in MiB: stacks, and the first area of the
/// allocator.
#[cfg(target_os = "linux")]
const RESERVED_MEBIBYTES: u64 = 1536;
/// Number of the signal that ends a process at the limit of its processor time.
const SIGXCPU: i32 = 24;
/// Maximum elapsed time as a multiple of the processor time, because a machine may be busy.
const CLOCK_FACTOR: u32 = 10;

/// Path of the program that has the hidden command.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program that starts workers. Only the command-line program calls this, once.
pub fn start_workers_by(program: PathBuf) {
    // A second call has no effect.
    let _ = PROGRAM.set(program);
}

/// Place of the work on a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// A process of this program.
    Process(PathBuf),
    /// A thread of this process, which isolates panics only. Programs without the hidden command use it,
    /// such as tests.
    Thread,
}

impl Isolation {
    /// Returns the strongest isolation that this program supports.
    #[must_use]
    pub fn of_this_program() -> Self {
        PROGRAM.get().map_or(Self::Thread, |program| Self::Process(program.clone()))
    }

    /// Sends a request to a worker and returns its reply.
    ///
    /// # Errors
    /// Returns the reason for which there is no reply.
    pub fn ask(&self, request: Vec<u8>, bounds: Bounds) -> Result<Vec<u8>, WorkerEnd> {
        match self {
            Self::Process(program) => ask_process(program, &request, bounds),
            Self::Thread => {
                worker::answer_on_thread(request).map_err(|error| WorkerEnd::of_itself(error.to_string()))
            }
        }
    }
}

/// End of a worker without a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerEnd {
    /// Reason as a sentence. Equal reasons have equal sentences.
    pub reason: String,
    /// True if a signal from outside ended the worker. The document is then not to blame.
    pub is_from_outside: bool,
}

impl WorkerEnd {
    fn of_itself(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_from_outside: false }
    }
}

fn ask_process(program: &Path, request: &[u8], bounds: Bounds) -> Result<Vec<u8>, WorkerEnd> {
    let start = || {
        Command::new(program)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    let mut child =
        start().map_err(|error| WorkerEnd::of_itself(format!("its process cannot be started: {error}")))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(WorkerEnd::of_itself("its process cannot be started: it has no pipes"));
    };
    set_limits(&child, bounds);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A process that has ended reads no more, and the result of the write does not matter.
            let _ = stdin.write_all(request);
        });
        let words = scope.spawn(move || read(stderr, MAX_STDERR_BYTES));
        scope.spawn(move || {
            // The receiver is gone after the timeout.
            let _ = sender.send(read(stdout, MAX_REPLY_BYTES));
        });
        let reply = receiver.recv_timeout(compute_patience(bounds));
        if reply.is_err() {
            let _ = child.kill();
        }
        let ended = child.wait();
        let words = words.join().unwrap_or_default();
        match (reply, ended) {
            (Err(_), _) => Err(WorkerEnd::of_itself(describe_timeout(bounds))),
            (_, Err(error)) => Err(WorkerEnd::of_itself(format!("its process cannot be watched: {error}"))),
            (Ok(reply), Ok(status)) if status.success() => Ok(reply),
            (Ok(_), Ok(status)) => Err(WorkerEnd {
                reason: describe_end(status, &String::from_utf8_lossy(&words), bounds),
                is_from_outside: is_asked_to_end(status),
            }),
        }
    })
}

/// Reads at most `limit` bytes of a pipe and discards the rest, so that the process never waits for a
/// reader.
fn read(pipe: impl Read, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut pipe = pipe.take(limit);
    let _ = pipe.read_to_end(&mut bytes);
    let _ = std::io::copy(pipe.get_mut(), &mut std::io::sink());
    bytes
}

/// Returns the elapsed time after which a process is killed.
fn compute_patience(bounds: Bounds) -> Duration {
    let limit = Duration::from_secs(bounds.document_seconds);
    if cfg!(target_os = "linux") { limit * CLOCK_FACTOR } else { limit }
}

/// Limits the processor time and the memory of a process.
#[cfg(target_os = "linux")]
fn set_limits(child: &Child, bounds: Bounds) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let set = |resource, most: u64, at_last: u64| {
        // A process that has ended needs no limit.
        let _ = prlimit(process, resource, Rlimit { current: Some(most), maximum: Some(at_last) });
    };
    if process.is_some() {
        set(Resource::Cpu, bounds.document_seconds, bounds.document_seconds + 1);
        let memory = (bounds.document_memory + RESERVED_MEBIBYTES) << 20;
        set(Resource::As, memory, memory);
    }
}

#[cfg(not(target_os = "linux"))]
const fn set_limits(_: &Child, _: Bounds) {}

fn describe_timeout(bounds: Bounds) -> String {
    format!("it took more than {} s", bounds.document_seconds)
}

/// Returns true if the signal of a user or a scheduler ended the process: SIGHUP, SIGINT or SIGTERM.
fn is_asked_to_end(status: ExitStatus) -> bool {
    matches!(find_signal(status), Some(1 | 2 | 15))
}

#[cfg(unix)]
fn find_signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
const fn find_signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Describes the end of a process by its status and its stderr, without thread numbers and addresses.
fn describe_end(status: ExitStatus, words: &str, bounds: Bounds) -> String {
    if find_signal(status) == Some(SIGXCPU) {
        return describe_timeout(bounds);
    }
    if words.contains("has overflowed its stack") {
        return "it is nested too deeply: the stack overflowed".to_owned();
    }
    if words.contains("memory allocation of") {
        return format!("it took more than {} MiB of memory", bounds.document_memory);
    }
    if let Some((_, panic)) = words.split_once("panicked at ") {
        let lines: Vec<&str> = panic.lines().take(2).map(str::trim).collect();
        return format!("a fault of this program: {}", lines.join(" "));
    }
    match status.code() {
        Some(code) => format!("its process ended with code {code}"),
        None => format!("its process ended by a signal ({status})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn ask(script: &str, bounds: Bounds) -> Result<Vec<u8>, WorkerEnd> {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Isolation::Process(program).ask(vec![b'x'; 1 << 20], bounds)
    }

    #[cfg(unix)]
    #[test]
    fn whatever_a_process_does_ends_only_itself() {
        let check = |script: &str, expect: Result<&str, &str>| {
            let found = ask(script, Bounds { document_seconds: 1, document_memory: 64 });
            let found = found.map(|reply| String::from_utf8(reply).unwrap());
            let found = found.as_deref().map_err(|ended| (&*ended.reason, ended.is_from_outside));
            assert_eq!(found, expect.map_err(|reason| (reason, script.contains("TERM"))), "{script}");
        };
        check("cat >/dev/null; echo reply", Ok("reply\n"));
        check("exit 7", Err("its process ended with code 7"));
        check("kill -SEGV $$", Err("its process ended by a signal (signal: 11 (SIGSEGV))"));
        check("kill -TERM $$", Err("its process ended by a signal (signal: 15 (SIGTERM))"));
        check(
            "echo \"thread 'main' (17) has overflowed its stack\" >&2; exit 134",
            Err("it is nested too deeply: the stack overflowed"),
        );
        check(
            "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$",
            Err("it took more than 64 MiB of memory"),
        );
        check(
            "printf \"thread 'main' (17) panicked at a.rs:1:2:\\nno such thing\\nnote: x\\n\" >&2; exit 101",
            Err("a fault of this program: a.rs:1:2: no such thing"),
        );
        if cfg!(target_os = "linux") {
            check("while true; do :; done", Err("it took more than 1 s"));
        }
    }
}
