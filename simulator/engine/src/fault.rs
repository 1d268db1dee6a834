//! Injected faults: errors, delays and distortions of calls.
//!
//! Owns the rules that an admin writes, the decision which of them fire, and the replies of faults. The
//! decision is a function of the session's seed, the rule's position and the call's number, so replays get
//! the same faults. The server implements delays and dropped connections; this module only requests them.

mod effect;
mod rule;

use diorama_seeds::model::{Api, BehaviourKind};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::effect::{instead, refusal, renamed, shortened};
pub use self::rule::{Kind, Rule, RuleError};

/// The faults of a session: rules in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    rules: Vec<Rule>,
}

/// A fault that fired at a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FiredFault {
    /// The kind of fault.
    pub kind: Kind,
    /// The position of its rule.
    pub rule: usize,
    /// How long the reply was held back.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// `Retry-After`, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// True if the call took place although its reply does not say so.
    #[serde(skip_serializing_if = "is_false")]
    pub executed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Faults {
    /// Makes faults from rules.
    ///
    /// # Errors
    /// The error of the first invalid rule.
    pub fn new(rules: Vec<Rule>) -> Result<Self, RuleError> {
        for (position, rule) in rules.iter().enumerate() {
            rule.check(position)?;
        }
        Ok(Self { rules })
    }

    /// Returns the rules in their original form.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the faults that fire at a call, in the order of their rules. At most one of them replaces the
    /// API's reply. Delays and distortions may be added.
    #[must_use]
    pub fn at(&self, seed: u64, number: u64, api: &Api) -> Vec<FiredFault> {
        let mut fired: Vec<FiredFault> = Vec::new();
        for (position, rule) in self.rules.iter().enumerate() {
            let chance = Chance { seed, number, position: position as u64 };
            let taken = rule.kind.answers() && fired.iter().any(|fault| fault.kind.answers());
            if taken || !rule.concerns(number, api) || chance.unit(0) >= rule.probability() {
                continue;
            }
            fired.push(FiredFault {
                kind: rule.kind,
                rule: position,
                delay_ms: rule.delay_ms(chance.unit(1)),
                retry_after: rule.retry_after(),
                executed: rule.executed.unwrap_or(false),
            });
        }
        fired
    }

    /// Returns the rule of a fault that fired.
    pub fn rule(&self, fired: &FiredFault) -> Option<&Rule> {
        self.rules.get(fired.rule)
    }
}

/// The source of a random draw.
#[derive(Clone, Copy)]
struct Chance {
    seed: u64,
    number: u64,
    position: u64,
}

impl Chance {
    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    fn unit(self, draw: u8) -> f64 {
        let mut hasher = blake3::Hasher::new_derive_key("diorama faults 1");
        for part in [self.seed, self.number, self.position] {
            hasher.update(&part.to_le_bytes());
        }
        hasher.update(&[draw]);
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        // A 64-bit float between 0 and 1 has 53 significant bits.
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns true if an API only reads records.
pub fn reads(api: &Api) -> bool {
    let computes = matches!(
        api.behaviour.kind,
        BehaviourKind::Compute(_) | BehaviourKind::SignIn { .. } | BehaviourKind::SignOut
    );
    !api.writes() && !computes
}

#[cfg(test)]
mod tests;
