//! Metrics: counters of a server, in Prometheus' text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::weight::Scale;
use diorama_engine::fault::Kind;

/// Counters since the start of the server.
#[derive(Debug, Default)]
pub struct Metrics {
    created: AtomicU64,
    expired: AtomicU64,
    graded: AtomicU64,
    solved: AtomicU64,
    /// Calls by the first digit of their reply's status.
    calls: [AtomicU64; 6],
    /// Requests by the first digit of their response's status.
    responses: [AtomicU64; 6],
    /// Injected faults, by kind.
    faults: [AtomicU64; KINDS.len()],
}

/// The kinds of faults, as metrics name them.
const KINDS: [(Kind, &str); 9] = [
    (Kind::Latency, "latency"),
    (Kind::RateLimit, "rate_limit"),
    (Kind::Error, "error"),
    (Kind::Timeout, "timeout"),
    (Kind::Drop, "drop"),
    (Kind::Stale, "stale"),
    (Kind::Partial, "partial"),
    (Kind::ExpiredToken, "expired_token"),
    (Kind::Rename, "rename"),
];

impl Metrics {
    pub(crate) fn created(&self, sessions: usize) {
        self.created.fetch_add(sessions as u64, Relaxed);
    }

    pub(crate) fn expired(&self) {
        self.expired.fetch_add(1, Relaxed);
    }

    pub(crate) fn fired(&self, kind: Kind) {
        for ((known, _), count) in KINDS.iter().zip(&self.faults) {
            if *known == kind {
                count.fetch_add(1, Relaxed);
            }
        }
    }

    pub(crate) fn called(&self, status: u16) {
        self.calls[class(status)].fetch_add(1, Relaxed);
    }

    /// Counts a response with this status.
    pub fn answered(&self, status: u16) {
        self.responses[class(status)].fetch_add(1, Relaxed);
    }

    pub(crate) fn graded(&self, success: bool) {
        self.graded.fetch_add(1, Relaxed);
        self.solved.fetch_add(u64::from(success), Relaxed);
    }

    /// Formats the metrics. `live` is the current number of sessions.
    #[must_use]
    pub fn text(&self, live: usize, scale: &Scale) -> String {
        let mut out = String::new();
        let errors = self.calls.iter().skip(4).map(|count| count.load(Relaxed)).sum();
        let of = |count: &AtomicU64| count.load(Relaxed);
        for (name, kind, help, value) in [
            ("diorama_sessions", "gauge", "Sessions now.", live as u64),
            (
                "diorama_sessions_bytes",
                "gauge",
                "Bytes that sessions hold beside their worlds.",
                scale.held(),
            ),
            ("diorama_unsent_bytes", "gauge", "Bytes of replies that wait to be written.", scale.unsent()),
            ("diorama_sessions_created_total", "counter", "Sessions created.", of(&self.created)),
            ("diorama_sessions_expired_total", "counter", "Sessions whose lease ended.", of(&self.expired)),
            ("diorama_episodes_graded_total", "counter", "Episodes graded.", of(&self.graded)),
            ("diorama_episodes_solved_total", "counter", "Episodes graded as solved.", of(&self.solved)),
            ("diorama_call_errors_total", "counter", "Calls that were refused.", errors),
        ] {
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        }
        let mut classes = |name: &str, help: &str, counts: &[AtomicU64; 6]| {
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} counter\n");
            for (digit, count) in counts.iter().enumerate().skip(1) {
                let _ = writeln!(out, "{name}{{status=\"{digit}xx\"}} {}", count.load(Relaxed));
            }
        };
        classes("diorama_calls_total", "Calls of APIs, by status.", &self.calls);
        classes("diorama_http_responses_total", "HTTP responses, by status.", &self.responses);
        let name = "diorama_faults_total";
        let _ = write!(out, "# HELP {name} Faults that fired, by kind.\n# TYPE {name} counter\n");
        for ((_, kind), count) in KINDS.iter().zip(&self.faults) {
            let _ = writeln!(out, "{name}{{kind=\"{kind}\"}} {}", count.load(Relaxed));
        }
        out
    }
}

fn class(status: u16) -> usize {
    usize::from(status / 100).min(5)
}
