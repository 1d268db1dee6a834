//! Whether a line that a model wrote is one of the speaker's lines, and says no more than the line that it stands for.
//!
//! The gates prove that what is done follows from what is said; that nothing more is said, or by the wrong person, is looked at
//! here. What is found wrong costs a line, never lets one through.

use std::collections::BTreeSet;

use crate::synthesis::render::{MONTHS, WEEKDAYS};
use diorama_answers::prose::Prose;
use diorama_answers::{Clock, NumberRole, What};
use diorama_seeds::english::words;
use diorama_seeds::value::Date;

use super::intent::{SpeakerClassifier, Subject};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

impl Speaker {
    /// What they are called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There is nothing.
    #[error("the line `{line}` is empty, expected what is said")]
    Empty {
        /// The line.
        line: String,
    },
    /// It is no line of a chat.
    #[error("`{line}` is not a line of a chat: found {what}, expected plain text of one speaker")]
    NoLine {
        /// The line.
        line: String,
        /// What is in it.
        what: &'static str,
    },
    /// It is the line itself.
    #[error("`{line}` is the line as it was, expected other words")]
    Unchanged {
        /// The line.
        line: String,
    },
    /// It is longer than people write.
    #[error("`{line}` is far longer than what is to be said")]
    TooLong {
        /// The line.
        line: String,
    },
    /// It is said by the other one.
    #[error("`{line}` is said by the wrong speaker, expected the words of the {expected}")]
    OtherSpeaker {
        /// The line.
        line: String,
        /// Who should speak.
        expected: &'static str,
    },
    /// It names something that nothing gives.
    #[error("`{line}` says `{words}`, which is not to be said: leave it out")]
    Adds {
        /// The line.
        line: String,
        /// The words.
        words: String,
    },
    /// It leaves out what its line says.
    #[error("`{line}` does not say `{words}`, which is to be said")]
    Omits {
        /// The line.
        line: String,
        /// The words.
        words: String,
    },
    /// It is what the model was told, not what is to be said.
    #[error("`{line}` repeats `{words}` of what you were told, expected what is to be said")]
    Repeats {
        /// The line.
        line: String,
        /// The words.
        words: String,
    },
    /// It means something else.
    #[error("`{line}` does not mean what is to be said: {meaning}")]
    OtherMeaning {
        /// The line.
        line: String,
        /// What is to be said.
        meaning: String,
    },
}

impl Unfit {
    /// Its name in the funnel.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "empty line",
            Self::NoLine { .. } => "not a line of a chat",
            Self::Unchanged { .. } => "the same words",
            Self::TooLong { .. } => "too long",
            Self::OtherSpeaker { .. } => "the wrong speaker",
            Self::Adds { .. } => "says more than is to be said",
            Self::Omits { .. } => "says less than is to be said",
            Self::Repeats { .. } => "repeats the instructions",
            Self::OtherMeaning { .. } => "means something else",
        }
    }
}

/// A line to be looked at.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Who says it.
    pub speaker: Speaker,
    /// The line.
    pub line: &'a str,
    /// The line that it stands for.
    pub reference: &'a str,
    /// Everything that may be named in it.
    pub known: &'a str,
    /// Whether it says all that the reference says.
    pub whole: bool,
    /// What the model was told around the reference.
    pub told: &'a [&'a str],
    /// How near in meaning it has to be, as a cosine.
    pub near: f32,
    /// What it is about.
    pub subject: Subject<'a>,
    /// The clock.
    pub clock: &'a Clock,
}

/// How near the words of the query agent must be to those of the plan, which it has not seen.
pub const NEAR_PLAN: f32 = 0.1;
/// How near a reworded line must be.
pub const NEAR_REWORDED: f32 = 0.15;
/// Words in a row that are no accident.
const RUN: usize = 4;

/// Looks at a line.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(line: Line<'_>) -> Result<(), Unfit> {
    let text = line.line;
    let said = || text.chars().take(200).collect::<String>();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(Unfit::Empty { line: said() });
    }
    if let Some(what) = markup(text, line.reference) {
        return Err(Unfit::NoLine { line: said(), what });
    }
    if words(text).eq(words(line.reference)) {
        return Err(Unfit::Unchanged { line: said() });
    }
    if text.chars().count() > 3 * line.reference.chars().count() + 160 {
        return Err(Unfit::TooLong { line: said() });
    }
    if is_of_other(line.speaker, text, line.reference) {
        return Err(Unfit::OtherSpeaker { line: said(), expected: line.speaker.name() });
    }
    if let Some(words) = repeated(&line) {
        return Err(Unfit::Repeats { line: said(), words });
    }
    if !SpeakerClassifier::trained().keeps(line.speaker, text, line.reference) {
        return Err(Unfit::OtherSpeaker { line: said(), expected: line.speaker.name() });
    }
    if let Some(words) = beyond(text, &[line.reference, line.known], line.clock) {
        return Err(Unfit::Adds { line: said(), words });
    }
    if !line.subject.is_kept(text, line.reference, line.near) {
        return Err(Unfit::OtherMeaning { line: said(), meaning: line.reference.to_owned() });
    }
    if let Some(words) = beyond(line.reference, &[text], line.clock).filter(|_| line.whole) {
        return Err(Unfit::Omits { line: said(), words });
    }
    Ok(())
}

/// Signs that a text is no line of a chat.
fn markup(text: &str, reference: &str) -> Option<&'static str> {
    const SIGNS: [(&str, &str); 8] = [
        ("```", "a code fence"),
        ("{\"", "JSON"),
        ("\": ", "JSON"),
        ("<|", "a control token"),
        ("</", "a tag"),
        ("**", "markup"),
        ("[your", "a gap to be filled in"),
        ("...\"", "an unfinished quotation"),
    ];
    let lower = text.to_lowercase();
    let found =
        SIGNS.iter().find(|(sign, _)| lower.contains(sign) && !reference.to_lowercase().contains(sign));
    if let Some((_, what)) = found {
        return Some(what);
    }
    const LABELS: [&str; 8] =
        ["user:", "assistant:", "opening:", "held:", "later:", "reworded", "in the voice of", "must say"];
    if LABELS.iter().any(|label| lower.contains(label)) {
        return Some("words about the task");
    }
    (text.contains('\n') && !reference.contains('\n')).then_some("several lines")
}

/// Whether it has stock phrases of the other speaker.
fn is_of_other(speaker: Speaker, text: &str, reference: &str) -> bool {
    const ASSISTANTS: [&str; 16] = [
        "how can i help",
        "how may i",
        "happy to help",
        "i can help you",
        "help you with",
        "as an ai",
        "i am an ai",
        "is there anything else",
        "anything else i can",
        "thank you for contacting",
        "let me check",
        "let me help",
        "i'd be happy to",
        "would you like me to",
        "do you have any questions",
        "the user",
    ];
    let (lower, reference_lower) = (text.to_lowercase(), reference.to_lowercase());
    let stock = |phrases: &[&str]| {
        phrases.iter().any(|phrase| lower.contains(phrase) && !reference_lower.contains(phrase))
    };
    match speaker {
        Speaker::User => stock(&ASSISTANTS),
        Speaker::Assistant => stock(&["as an ai", "the user", "the assistant"]),
    }
}

/// Words of what the model was told that it says again, where they are not the line's own.
fn repeated(line: &Line<'_>) -> Option<String> {
    let all = |text: &str| words(text).collect::<Vec<String>>();
    let (said, reference) = (all(line.line), all(line.reference));
    line.told.iter().find_map(|told| {
        let told = all(told);
        let run = RUN.min(told.len());
        let within = |list: &[String], words: &[String]| list.windows(run).any(|run| run == words);
        let mut runs = told.windows(run.max(1));
        runs.find(|words| within(&said, words) && !within(&reference, words)).map(|words| words.join(" "))
    })
}

/// A value or a name of a text that is in none of the others.
pub(super) fn beyond(text: &str, others: &[&str], clock: &Clock) -> Option<String> {
    let prose = Prose::read(text, clock);
    let known: Vec<Prose> = others.iter().map(|other| Prose::read(other, clock)).collect();
    let is_weak = |what: &What| match what {
        What::Number(number) => number.role == NumberRole::Weak,
        What::None => true,
        _ => false,
    };
    let value = prose.mentions().iter().find(|mention| {
        let same = |other: &Prose| {
            let words = prose.words_at(mention.span());
            other.mentions().iter().any(|known| is_same(&known.what, &mention.what, clock))
                || other.source().to_lowercase().contains(&words.to_lowercase())
        };
        let counts = !is_weak(&mention.what) && !prose.words_at(mention.span()).eq_ignore_ascii_case("once");
        counts && !known.iter().any(same)
    });
    if let Some(mention) = value {
        return Some(prose.words_at(mention.span()).to_owned());
    }
    let all: BTreeSet<String> = others.iter().flat_map(|other| words(other)).collect();
    names(text).into_iter().find(|name| words(name).any(|word| !all.contains(&word))).map(str::to_owned)
}

/// Whether two mentions can mean the same value.
fn is_same(one: &What, other: &What, clock: &Clock) -> bool {
    match (one, other) {
        (What::Number(one), What::Number(other)) => one.value == other.value,
        (What::Money(one), What::Money(other)) => one.amount == other.amount,
        (What::Money(money), What::Number(number)) | (What::Number(number), What::Money(money)) => {
            number.value == money.amount.as_f64()
        }
        (What::Time(one), What::Time(other)) => {
            let readings = [Some(other.time), other.other];
            [Some(one.time), one.other].iter().flatten().any(|time| readings.contains(&Some(*time)))
        }
        (What::Date(one), What::Date(other)) => {
            let mut near = (-31..=400).map(|ahead| Date(clock.today.0 + ahead));
            near.any(|date| one.means(date, clock.today) && other.means(date, clock.today))
        }
        _ => false,
    }
}

/// Words in capitals inside a sentence: names, for the most part.
pub(super) fn names(text: &str) -> Vec<&str> {
    const NO_NAMES: [&str; 12] =
        ["I", "I'm", "I'd", "I'll", "I've", "OK", "Ok", "Okay", "Hi", "Hello", "Thanks", "Please"];
    let mut opens = true;
    let mut names = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_capital = bare.chars().next().is_some_and(char::is_uppercase);
        // Days are values, and looked at as such.
        let is_day = WEEKDAYS.contains(&bare) || MONTHS.contains(&bare);
        if is_capital && !opens && !is_day && !NO_NAMES.contains(&bare.replace('’', "'").as_str()) {
            names.push(bare);
        }
        let is_title = ["Dr", "Mr", "Mrs", "Ms", "Prof", "St"].contains(&bare);
        let ends = !is_title && word.ends_with(['.', '!', '?', ':', ';', '"', '—', '–', '-']);
        opens = ends || (opens && bare.is_empty());
    }
    names
}

#[cfg(test)]
mod tests {
    use diorama_seeds::value::Zone;

    use super::*;

    fn check_line(speaker: Speaker, line: &str, reference: &str, expect: Option<&str>) {
        let zone = Zone::utc();
        let clock = Clock::at(zone.parse_instant("2026-03-02T09:00").unwrap(), &zone);
        let known = "You are the assistant of Harbour Dental.";
        let told = ["Say the same thing in other words, and keep every number.", "somebody precise"];
        let (whole, near) = (true, NEAR_REWORDED);
        let subject = Subject::default();
        let found =
            check(Line { speaker, line, reference, known, whole, told: &told, near, subject, clock: &clock });
        assert_eq!(found.err().map(|unfit| unfit.name()), expect, "{line}");
    }

    #[test]
    fn a_line_says_what_it_stands_for_and_no_more() {
        let user = "Can you move my cleaning with Dr. Lane to Friday at 14:30?";
        for (line, expect) in [
            ("Please shift my cleaning with Dr. Lane to Friday, half past two.", None),
            ("Please shift my cleaning with Dr. Lane at Harbour Dental to Friday at 14:30.", None),
            ("Can you move my cleaning with Dr Lane to Friday at 14:30", Some("the same words")),
            (
                "Please shift my cleaning with Dr. Lane and the one with Dr. Moss to Friday at 14:30.",
                Some("says more than is to be said"),
            ),
            (
                "Please shift my cleaning with Dr. Lane to Friday at 16:30.",
                Some("says more than is to be said"),
            ),
            ("Your cleaning with Dr. Lane has been moved to Friday at 14:30.", Some("the wrong speaker")),
            (
                "How can I help you with the cleaning of Dr. Lane on Friday at 14:30?",
                Some("the wrong speaker"),
            ),
            ("Please shift my cleaning with Dr. Lane to Friday.", Some("says less than is to be said")),
            ("Please shift my cleaning to Friday, half past two.", Some("says less than is to be said")),
            (
                "And keep every number: please shift my cleaning with Dr. Lane to Friday at 14:30.",
                Some("repeats the instructions"),
            ),
            (
                "Somebody precise wants the cleaning with Dr. Lane moved to Friday at 14:30.",
                Some("repeats the instructions"),
            ),
            ("{\"line\": \"Move my cleaning\"}", Some("not a line of a chat")),
            ("What is the weather like in the mountains?", Some("means something else")),
            (" ?! ", Some("empty line")),
        ] {
            check_line(Speaker::User, line, user, expect);
        }
        check_line(
            Speaker::Assistant,
            "My booking is done for Friday.",
            "Your booking is made for Friday.",
            Some("the wrong speaker"),
        );
    }
}
