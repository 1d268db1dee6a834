//! Collects the visible part of a conversation: the user's turns and the replies so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_seeds::task::{ArgumentSource, GoldCall};
use diorama_seeds::value::Instant;

use crate::context::WorldContext;
use crate::measures::Measures;
use crate::reason::{Code, Reason};
use crate::statements::{Kind, UnsupportedStatement, Visible, find_unsupported};

/// The visible part of a conversation at one point.
pub(crate) struct VisiblePart<'a> {
    pub(crate) context: WorldContext<'a>,
    pub(crate) clock: Clock,
    pub(crate) now: Instant,
    pub(crate) system: Prose,
    /// The user's turns so far.
    pub(crate) turns: Vec<Prose>,
    /// For each turn, the number of calls that had been answered before it.
    pub(crate) calls_before: Vec<usize>,
    /// The calls so far.
    pub(crate) entries: Vec<Arc<LogEntry>>,
    pub(crate) measures: Measures,
}

impl VisiblePart<'_> {
    /// Reports statements of an assistant that no visible message or reply supports.
    pub(super) fn check_stated(&self, goal: usize, prose: &Prose, faults: &mut Vec<Reason>) {
        let world = (&**self.context.base, self.context.vocabulary);
        let mut visible = Visible::new(&self.clock, self.now, &self.turns, &self.entries, world);
        (visible.system, visible.measures) = (Some(&self.system), Some(&self.measures));
        faults.extend(find_unsupported(prose, &visible).into_iter().map(
            |UnsupportedStatement { kind, span }| {
                let words = prose.words_at(span).to_owned();
                let code = match kind {
                    Kind::Currency => Code::CurrencyUnsupported,
                    Kind::Unit => Code::UnitUnsupported,
                    Kind::Value => Code::StatementUnsupported,
                    Kind::Name => Code::NameUnsupported,
                };
                Reason::of_goal(code, goal).with("words", words)
            },
        ));
    }

    /// Adds a turn of the user.
    pub(super) fn hear(&mut self, text: &str) {
        let prose = Prose::read(text, &self.clock);
        self.measures.add_prose(&prose);
        self.turns.push(prose);
        self.calls_before.push(self.entries.len());
    }

    /// Adds an answered call.
    pub(super) fn add(&mut self, entry: Arc<LogEntry>) {
        self.measures.add_reply(self.context.base, self.context.vocabulary, &entry);
        self.entries.push(entry);
    }
}

/// Returns the user's turns up to a call.
pub(crate) fn turns_before<'a>(turns: &'a [Prose], gold: &GoldCall) -> &'a [Prose] {
    turns.get(..=gold.turn as usize).unwrap_or(turns)
}

/// Sources by argument.
pub(crate) type Sources = BTreeMap<String, ArgumentSource>;
