//! Decides if a message states a requested value.

use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, NumberRole, Stance, What};
use diorama_seeds::task::Fact;

use super::value::{Content, Target};
use super::visible::Visible;

/// Returns true if a message states a fact; of a list, each of its items. `about` names the fact.
pub(crate) fn states(message: &Prose, fact: &Fact, about: &str, visible: &Visible<'_>) -> bool {
    if let Fact::List { items } = fact {
        return items.iter().all(|item| states(message, item, about, visible));
    }
    let Some(target) = Target::of_fact(fact, &visible.clock.zone) else { return false };
    let gives = |mention: &Mention, target: &Target<'_>| {
        mention.stance == Stance::Asserted && target.is(&mention.what, visible.clock)
    };
    let mut mentions = message.mentions().iter();
    match (&target.content, fact) {
        (Content::Text(text, aliases), _) => states_text(message, text, aliases, visible),
        (Content::Truth(truth), Fact::Boolean { when_true, when_false, .. }) => {
            let (own, other) = if *truth { (when_true, when_false) } else { (when_false, when_true) };
            if own.is_empty() && other.is_empty() {
                let asked = [about.split(" of ").next().unwrap_or_default().to_owned()];
                let (own, other) = if *truth { (&asked[..], &[][..]) } else { (&[][..], &asked[..]) };
                states_truth(message, own, other, *truth)
            } else {
                states_truth(message, own, other, *truth)
            }
        }
        // The user may have said the day.
        (Content::Instant(date, time), _) => {
            let day = Target { content: Content::Date(*date), ..target.clone() };
            let hour = Target { content: Content::Time(*time), ..target.clone() };
            let mut said = visible.turns.iter().chain([message]).flat_map(Prose::mentions);
            said.any(|mention| day.is(&mention.what, visible.clock))
                && mentions.any(|mention| gives(mention, &hour))
        }
        (Content::Count(_), _) => mentions.any(|mention| {
            let is_limit = matches!(&mention.what, What::Number(number)
                if matches!(number.role, NumberRole::Limit | NumberRole::Subset));
            gives(mention, &target) && !is_limit
        }),
        _ => mentions.any(|mention| gives(mention, &target)),
    }
}

fn states_text(message: &Prose, text: &str, aliases: &[String], visible: &Visible<'_>) -> bool {
    let names = || std::iter::once(text).chain(aliases.iter().map(String::as_str));
    let mut places: Vec<Span> = names().flat_map(|name| places(message, name)).collect();
    if places.is_empty() {
        places.extend(last_name(message, text, visible));
        places.extend(paraphrase(message, text));
    }
    let says_none = |mention: &Mention| mention.what == What::None && mention.stance == Stance::Asserted;
    places.into_iter().any(|span| message.stance(span) == Stance::Asserted)
        || (text == "none" && message.mentions().iter().any(says_none))
}

/// Returns the spans of a string, with `_` read as a blank; of a phone number also by its digits.
fn places(message: &Prose, text: &str) -> Vec<Span> {
    let mut places = message.find(&text.replace('_', " "));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if places.is_empty() && digits.len() > 6 && !text.contains(char::is_alphabetic) {
        places.extend(message.find_digits(&digits));
    }
    places
}

/// Returns the spans of a person's last name, where no other visible string has it.
fn last_name(message: &Prose, text: &str, visible: &Visible<'_>) -> Vec<Span> {
    let words: Vec<&str> = text.split(' ').collect();
    let proper = (2..=3).contains(&words.len())
        && words.iter().all(|word| word.chars().next().is_some_and(char::is_uppercase));
    let Some(last) = words.last().filter(|_| proper) else { return Vec::new() };
    let shared = visible.texts().any(|other| other != text && other.split(' ').any(|word| word == *last));
    if shared { Vec::new() } else { message.find(last) }
}

/// Returns a sentence with all content words of a text in small letters, such as a note.
fn paraphrase(message: &Prose, text: &str) -> Option<Span> {
    let wanted = Prose::stems_of(text);
    let is_note =
        wanted.len() > 1 && text.split(' ').skip(1).all(|word| word.starts_with(char::is_lowercase));
    let has_all = |sentence: &Span| {
        let said = Prose::stems_of(message.words_at(*sentence));
        wanted.iter().all(|stem| said.contains(stem))
    };
    message.sentences().filter(|_| is_note).find(has_all)
}

/// Returns true if a message states a boolean: by the fact's words, by the opposite words negated, or by a
/// bare yes or no.
fn states_truth(message: &Prose, own: &[String], other: &[String], truth: bool) -> bool {
    let said = |words: &[String], asserted: bool| -> Vec<Span> {
        let places = words.iter().flat_map(|words| message.find(words));
        places.filter(|span| (message.stance(*span) == Stance::Asserted) == asserted).collect()
    };
    // `not available` is longer than `available`, and wins.
    let of_other = said(other, true);
    let is_longer = |span: Span| {
        of_other.iter().any(|other| other.overlaps(span) && other.end - other.start > span.end - span.start)
    };
    if said(own, true).into_iter().any(|span| !is_longer(span)) {
        return true;
    }
    let bare = if truth { ["yes", "correct", "indeed"] } else { ["no", "nope", "not"] };
    let first = || message.words().next().is_some_and(|(word, _)| bare.contains(&&*word.to_lowercase()));
    of_other.is_empty() && (!said(other, false).is_empty() || first())
}
