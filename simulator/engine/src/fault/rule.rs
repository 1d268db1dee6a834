//! Fault rules: which calls a rule concerns, how often it fires, and its effect.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::model::Api;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FaultKind")]
pub enum Kind {
    /// The reply comes late.
    Latency,
    /// 429 with `Retry-After`.
    RateLimit,
    /// A 5xx in the API's place.
    Error,
    /// No reply for a while, then 504.
    Timeout,
    /// The connection ends without a reply.
    Drop,
    /// A read shows the records as they were before the last change.
    Stale,
    /// A list is cut short, while its count stays.
    Partial,
    /// The token is refused as expired.
    ExpiredToken,
    /// Members of the reply have other names.
    Rename,
}

impl Kind {
    /// Returns true if the fault replaces the API's reply.
    #[must_use]
    pub const fn answers(self) -> bool {
        matches!(self, Self::RateLimit | Self::Error | Self::Timeout | Self::Drop | Self::ExpiredToken)
    }

    /// Returns true if the fault may prevent a solution. A delay cannot.
    #[must_use]
    pub const fn hinders(self) -> bool {
        !matches!(self, Self::Latency)
    }
}

/// A rule of what goes wrong. Whether it fires at a call follows from the session's seed and the number of the call.
/// Members have defaults; a member that the kind does not use is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fault", extend("examples" = [
    {"kind": "error", "status": 503, "probability": 0.1},
    {"kind": "latency", "ms": 20, "max_ms": 200},
]))]
pub struct Rule {
    /// The kind of fault.
    pub kind: Kind,
    /// The APIs it concerns; all when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apis: Option<Vec<String>>,
    /// How often it fires, from 0 to 1; always when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub probability: Option<f64>,
    /// The first call it may fire at; calls are counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The first call it no longer fires at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// `error`: the status; 500 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 500, max = 599))]
    pub status: Option<u16>,
    /// `rate_limit`, `error`: seconds in `Retry-After`; a rate limit says 1 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = u32::MAX))]
    pub retry_after: Option<u32>,
    /// `latency`, `timeout`: milliseconds; the least of them where `max_ms` is given, their mean where `distribution` is
    /// `exponential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_DELAY_MS))]
    pub ms: Option<u64>,
    /// `latency`: the most milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_DELAY_MS))]
    pub max_ms: Option<u64>,
    /// `latency`: how milliseconds are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// `error`, `timeout`, `drop`: whether the call takes place all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<bool>,
    /// `partial`: the share of a list that is kept; half when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub keep: Option<f64>,
    /// `rename`: names of members, and the names they get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
}

/// How milliseconds are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Distribution {
    /// Always `ms`, or evenly from `ms` to `max_ms`.
    Uniform,
    /// Many short, few long, around the mean `ms`, at most `max_ms`.
    Exponential,
}

/// Maximum delay of a reply.
const MAX_DELAY_MS: u64 = 120_000;

/// The reason for which a rule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`faults[{rule}].{member}`: expected {expected}, found {found}")]
pub struct RuleError {
    /// The rule's position.
    pub rule: usize,
    /// The member that is wrong.
    pub member: &'static str,
    /// The expected value.
    pub expected: String,
    /// The found value.
    pub found: String,
}

impl Rule {
    /// Returns true if the rule applies to a call.
    pub(super) fn concerns(&self, number: u64, api: &Api) -> bool {
        let named = self.apis.as_ref().is_none_or(|apis| apis.iter().any(|name| **name == *api.name));
        let fits = self.kind != Kind::ExpiredToken || api.token.is_some();
        named
            && fits
            && self.from.is_none_or(|from| number >= from)
            && self.until.is_none_or(|until| number < until)
    }

    pub(super) fn probability(&self) -> f64 {
        self.probability.unwrap_or(1.0)
    }

    pub(super) fn retry_after(&self) -> Option<u32> {
        if self.kind == Kind::RateLimit { Some(self.retry_after.unwrap_or(1)) } else { self.retry_after }
    }

    /// Returns the status of the reply that replaces the API's.
    pub(super) fn status(&self) -> u16 {
        match self.kind {
            Kind::RateLimit => 429,
            Kind::ExpiredToken => 401,
            Kind::Timeout => 504,
            Kind::Drop => 503,
            _ => self.status.unwrap_or(500),
        }
    }

    /// Returns the delay of the reply. `unit` is a draw from 0 to 1.
    pub(super) fn delay_ms(&self, unit: f64) -> u64 {
        let Some(ms) = self.ms else { return 0 };
        let most = self.max_ms.unwrap_or(MAX_DELAY_MS);
        let drawn = match (self.distribution, self.max_ms) {
            (Some(Distribution::Exponential), _) => -(ms as f64) * (1.0 - unit).ln(),
            (_, Some(max)) => ms as f64 + unit * (max.saturating_sub(ms) as f64 + 1.0),
            (_, None) => ms as f64,
        };
        (drawn as u64).min(most)
    }

    pub(super) fn check(&self, rule: usize) -> Result<(), RuleError> {
        let wrong = |member: &'static str, expected: &str, found: String| {
            Err(RuleError { rule, member, expected: expected.to_owned(), found })
        };
        for (member, given, allowed) in self.members() {
            if given && !allowed {
                return wrong(
                    member,
                    "nothing, as this kind of fault has no use for it",
                    "a value".to_owned(),
                );
            }
        }
        for (member, share) in [("probability", self.probability), ("keep", self.keep)] {
            if let Some(share) = share
                && !(0.0..=1.0).contains(&share)
            {
                return wrong(member, "a number from 0 to 1", share.to_string());
            }
        }
        if let Some(status) = self.status
            && !(500..=599).contains(&status)
        {
            return wrong("status", "a status from 500 to 599", status.to_string());
        }
        for (member, ms) in [("ms", self.ms), ("max_ms", self.max_ms)] {
            if let Some(ms) = ms
                && ms > MAX_DELAY_MS
            {
                return wrong(member, &format!("at most {MAX_DELAY_MS} milliseconds"), ms.to_string());
            }
        }
        if let (Some(ms), Some(max)) = (self.ms, self.max_ms)
            && max < ms
        {
            return wrong("max_ms", &format!("at least `ms`, {ms}"), max.to_string());
        }
        if let (from, Some(until)) = (self.from.unwrap_or(0), self.until)
            && until <= from
        {
            return wrong("until", &format!("more than `from`, {from}"), until.to_string());
        }
        let targets: BTreeSet<&String> = self.rename.values().collect();
        if targets.len() < self.rename.len() {
            let found = self
                .rename
                .values()
                .find(|name| self.rename.values().filter(|other| other == name).count() > 1);
            let found = found.map_or_else(String::new, |name| format!("`{name}` twice"));
            return wrong("rename", "a different name for each member", found);
        }
        match self.kind {
            Kind::Latency | Kind::Timeout if self.ms.is_none() => {
                wrong("ms", "milliseconds", "nothing".to_owned())
            }
            Kind::Rename if self.rename.is_empty() => {
                wrong("rename", "names of members and the names they get", "nothing".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Returns the members that only some kinds use. The flags say if a member is given, and if the kind
    /// allows it.
    fn members(&self) -> [(&'static str, bool, bool); 8] {
        use Kind::{Drop, Error, Latency, Partial, RateLimit, Rename, Timeout};
        let one_of = |kinds: &[Kind]| kinds.contains(&self.kind);
        [
            ("status", self.status.is_some(), one_of(&[Error])),
            ("retry_after", self.retry_after.is_some(), one_of(&[RateLimit, Error])),
            ("ms", self.ms.is_some(), one_of(&[Latency, Timeout])),
            ("max_ms", self.max_ms.is_some(), one_of(&[Latency])),
            ("distribution", self.distribution.is_some(), one_of(&[Latency])),
            ("executed", self.executed.is_some(), one_of(&[Error, Timeout, Drop])),
            ("keep", self.keep.is_some(), one_of(&[Partial])),
            ("rename", !self.rename.is_empty(), one_of(&[Rename])),
        ]
    }
}
