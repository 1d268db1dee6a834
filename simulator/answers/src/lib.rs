//! The answer extractor, `extract/3`: finds typed mentions and their positions in a text.
//!
//! It finds numbers, money, dates and times without knowing the question. It finds names when a caller looks
//! for them. This crate must not know the expected answer, and it accepts any text.

mod content;
mod dates;
mod figures;
pub mod lexicon;
mod markdown;
mod mention;
pub mod names;
mod numbers;
pub mod prose;
mod span;
mod spelt;
mod stance;
pub mod text;
mod times;
pub mod units;

pub use self::content::TextContent;
pub use self::mention::{Clock, Clocktime, Day, DayForm, Mention, Money, Number, NumberRole, What};
pub use self::span::Span;
pub use self::stance::Stance;
use self::text::Text;

/// Version of the extractor. A change that alters any mention needs a new version.
pub const EXTRACTOR_VERSION: &str = "extract/3";

/// Finds all mentions of numbers, money, dates and times.
#[must_use]
pub fn extract(text: &str, clock: &Clock) -> Vec<Mention> {
    mentions(&Text::read(text), clock)
}

/// Finds the mentions in parsed text.
pub(crate) fn mentions(text: &Text, clock: &Clock) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::with_capacity(16);
    let mut at = 0;
    while at < text.tokens.len() {
        let read = dates::recognise(text, at, clock)
            .or_else(|| times::recognise(text, at))
            .or_else(|| numbers::recognise(text, at));
        let Some(FoundValue { start, end, what, also }) = read else {
            at += 1;
            continue;
        };
        let mut push = |what: What| {
            let stance = stance::stance(text, start, end);
            if let (Some(first), Some(last)) =
                (text.tokens.get(start), text.tokens.get(end.saturating_sub(1)))
            {
                found.push(Mention { start: first.start as usize, end: last.end as usize, what, stance });
            }
        };
        if let What::Number(number) = &what {
            dates::derived(text, start, end, number, clock).into_iter().for_each(|day| push(What::Date(day)));
        }
        std::iter::once(what).chain(also).for_each(push);
        at = end.max(at + 1);
    }
    found
}

/// A value that a recogniser found in the tokens `start..end`.
pub(crate) struct FoundValue {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: What,
    /// The time of a timestamp, whose day is in `what`.
    pub(crate) also: Option<What>,
}

impl FoundValue {
    pub(crate) const fn new(start: usize, end: usize, what: What) -> Self {
        Self { start, end, what, also: None }
    }
}
