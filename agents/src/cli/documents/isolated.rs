//! Work in a process of its own: what crashes, hangs or grows in there ends only itself.
//!
//! The process is this program with a hidden command. It gets a request on stdin and answers on stdout. On Linux the
//! processor time and the memory that it uses are bounded, elsewhere only the time on the clock.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use super::bounds::Bounds;
use super::worker;

/// The hidden command.
pub const COMMAND: &str = "document-worker";

/// Bytes of a reply, at most.
const MAX_REPLY_BYTES: u64 = 4 << 30;
/// Bytes that are kept of what a process writes to stderr.
const MAX_STDERR_BYTES: u64 = 1 << 20;
/// Between two looks at a process.
const PAUSE: Duration = Duration::from_millis(20);
/// The time on the clock, as a multiple of the processor time: a machine may be busy.
const CLOCK_FACTOR: u32 = 10;

/// The program that has the hidden command.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that workers are started by: called once by the command, and by no other program.
pub fn start_workers_by(program: PathBuf) {
    // A second call changes nothing.
    let _ = PROGRAM.set(program);
}

/// Where the work of a document is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In a process of this program.
    Process(PathBuf),
    /// On a thread of this process, which only outlives panics: in programs that are not the command, such as tests.
    Thread,
}

impl Isolation {
    /// The isolation that this program can give.
    #[must_use]
    pub fn of_this_program() -> Self {
        PROGRAM.get().map_or(Self::Thread, |program| Self::Process(program.clone()))
    }

    /// Sends a request to a worker and returns its reply.
    ///
    /// # Errors
    /// Why there is no reply.
    pub fn ask(&self, request: Vec<u8>, bounds: Bounds) -> Result<Vec<u8>, Ended> {
        match self {
            Self::Process(program) => ask_process(program, &request, bounds),
            Self::Thread => worker::on_thread(request).map_err(|error| Ended::of_itself(error.to_string())),
        }
    }
}

/// Why a worker ended without a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// A sentence that is the same whenever a worker ends for the same reason.
    pub reason: String,
    /// True if somebody ended it: nothing follows from that for the document.
    pub is_from_outside: bool,
}

impl Ended {
    fn of_itself(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_from_outside: false }
    }
}

fn ask_process(program: &Path, request: &[u8], bounds: Bounds) -> Result<Vec<u8>, Ended> {
    let start = || {
        Command::new(program)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    let mut child =
        start().map_err(|error| Ended::of_itself(format!("its process cannot be started: {error}")))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(Ended::of_itself("its process cannot be started: it has no pipes"));
    };
    thread::scope(|scope| {
        scope.spawn(move || {
            // A process that has ended reads no more.
            let _ = stdin.write_all(request);
        });
        let read = |pipe: Box<dyn Read + Send>, limit: u64| {
            scope.spawn(move || {
                let mut bytes = Vec::new();
                let mut pipe = pipe.take(limit);
                let _ = pipe.read_to_end(&mut bytes);
                // What is too much is read and dropped, so that the process does not wait for a reader.
                let _ = std::io::copy(pipe.get_mut(), &mut std::io::sink());
                bytes
            })
        };
        let reply = read(Box::new(stdout), MAX_REPLY_BYTES);
        let words = read(Box::new(stderr), MAX_STDERR_BYTES);
        let ended = wait(&mut child, bounds);
        let reply = reply.join().unwrap_or_default();
        let words = words.join().unwrap_or_default();
        match ended {
            Ok(status) if status.success() => Ok(reply),
            Ok(status) => Err(Ended {
                reason: reason(status, &String::from_utf8_lossy(&words)),
                is_from_outside: is_asked_to_end(status),
            }),
            Err(reason) => Err(Ended::of_itself(reason)),
        }
    })
}

/// Waits for a process, and ends it when it uses more than it may.
fn wait(child: &mut Child, bounds: Bounds) -> Result<ExitStatus, String> {
    let started = Instant::now();
    let limit = Duration::from_secs(bounds.document_seconds);
    let clock = if cfg!(target_os = "linux") { limit * CLOCK_FACTOR } else { limit };
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(error) => return Err(format!("its process cannot be watched: {error}")),
        }
        let used = usage(child.id());
        let over = if used.is_some_and(|used| used.processor > limit) || started.elapsed() > clock {
            Some(format!("it took more than {} s", bounds.document_seconds))
        } else if used.is_some_and(|used| used.mebibytes > bounds.document_memory) {
            Some(format!("it took more than {} MiB of memory", bounds.document_memory))
        } else {
            None
        };
        if let Some(over) = over {
            let _ = child.kill();
            let _ = child.wait();
            return Err(over);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

/// What a process uses.
#[derive(Clone, Copy)]
struct Usage {
    processor: Duration,
    mebibytes: u64,
}

/// Reads what a process uses; nothing on systems other than Linux.
fn usage(id: u32) -> Option<Usage> {
    const TICKS_PER_SECOND: u64 = 100;
    const BYTES_PER_PAGE: u64 = 4096;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program stands in brackets, and may hold spaces: the state comes after it, and is field 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(14)? + field(15)?;
    Some(Usage {
        processor: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
        mebibytes: field(24)? * BYTES_PER_PAGE / (1 << 20),
    })
}

/// Returns true if a process ended by a signal that people and schedulers send: SIGHUP, SIGINT or SIGTERM.
#[cfg(unix)]
fn is_asked_to_end(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    matches!(status.signal(), Some(1 | 2 | 15))
}

#[cfg(not(unix))]
const fn is_asked_to_end(_: ExitStatus) -> bool {
    false
}

/// Why a process ended, from its status and its words; without numbers of threads and addresses.
fn reason(status: ExitStatus, words: &str) -> String {
    if words.contains("has overflowed its stack") {
        return "it is nested too deeply: the stack overflowed".to_owned();
    }
    if words.contains("memory allocation of") {
        return "it needs more memory than there is".to_owned();
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
    fn ask(script: &str, bounds: Bounds) -> Result<Vec<u8>, Ended> {
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
            "printf \"thread 'main' (17) panicked at a.rs:1:2:\\nno such thing\\nnote: x\\n\" >&2; exit 101",
            Err("a fault of this program: a.rs:1:2: no such thing"),
        );
        if cfg!(target_os = "linux") {
            check("while true; do :; done", Err("it took more than 1 s"));
        }
    }
}
