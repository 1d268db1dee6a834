//! Parses an assistant's message into sentences and clauses, with the form in which each asks.
//!
//! Owns the grammar of questions, requests and offers. It must not know the user's withheld details.

use std::ops::Range;

use super::phrases::{
    AUXILIARIES, CONFIRMING, CONJUNCTIONS, EXTRAS, FILLERS, FINISHED, IMPERATIVES, LACKS, LEAVE, NEEDS,
    OPENERS, POLITE, PREPOSITIONS, PRONOUNS, QUESTION_WORDS, TAGS, TAKING,
};
use super::vocabulary::{Action, action, is_common, is_one_of};
use diorama_engine::search::words::split;
use diorama_seeds::english::stem;

/// The greatest number of words of a sentence without a verb that may ask by itself.
const MAX_FRAGMENT_WORDS: usize = 8;
/// The greatest number of words of a question without a verb that asks for permission: `Alright with you?`
const MAX_LEAVE_WORDS: usize = 6;
/// The greatest number of bytes of a message that are read.
const MAX_BYTES: usize = 20_000;

/// The fewest words of a question that stands before another in its sentence.
const MIN_QUESTION_WORDS: usize = 3;
/// The joint between two questions of a sentence.
const JOINT: &str = " and ";

/// The form in which a sentence asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It asks nothing.
    Statement,
    /// It may imply that a value is missing: `The ticket needs a name.`
    Hint,
    /// It reports a finished action.
    Report,
    /// It is polite, and asks only if it names something: `card number, please`.
    Polite,
    /// It asks for something: `Which day?`, `Is it plumbing or carpentry?`
    Question,
    /// It asks for something by a verb: `Please tell me your name.`
    Request,
    /// It names the thing that it asks for, without a verb: `Your PIN?`
    Fragment,
    /// A yes or no answers it, and it is about no action of the assistant: `You mean Tuesday?`
    Check,
    /// It asks for permission to do what the user wants: `Shall I book it?`
    Offer,
    /// It offers more than the user wants: `Shall I also book a table?`
    Extra,
    /// It asks if there is anything else.
    Closing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// True if its first letter is a capital.
    pub(super) capital: bool,
    /// True if a comma, a plus sign, an ampersand, a slash or a bracket stands before it.
    after_comma: bool,
}

/// A sentence of a message.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) form: Form,
    /// The sentence as it is written.
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// Its clauses as ranges of words; more than one ends with the whole sentence.
    pub(super) clauses: Vec<Range<usize>>,
    /// True if it ends with a question mark.
    pub(super) is_marked: bool,
}

impl Form {
    /// Returns true if a withheld detail may answer the sentence. Yes-or-no questions get none.
    pub(super) const fn may_ask(self) -> bool {
        matches!(self, Self::Polite | Self::Question | Self::Request | Self::Fragment | Self::Hint)
    }
}

/// Parses a message.
pub(super) fn read(message: &str) -> Vec<Sentence> {
    let end = message.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_BYTES).last().unwrap_or(0);
    let message = if message.len() > MAX_BYTES { message.get(..end).unwrap_or_default() } else { message };
    let parts = sentences(message);
    let is_short = parts.len() <= 2;
    let mut found: Vec<Sentence> = Vec::new();
    // The items of a list ask if the line before it does.
    let mut list_asks = false;
    for part in parts {
        let part = Part { text: if part.is_item { unmarked(part.text) } else { part.text }, ..part };
        let words = words(part.text);
        if words.is_empty() {
            continue;
        }
        let form = if list_asks && !part.is_marked { Form::Request } else { form(&words, &part, is_short) };
        if !part.is_item {
            list_asks = part.opens_list && matches!(form, Form::Question | Form::Request | Form::Polite);
        }
        let clauses = if form.may_ask() { clauses(&words) } else { Vec::new() };
        let text = part.text.trim().to_owned();
        found.push(Sentence { form, text, clauses, is_marked: part.is_marked, words });
    }
    found
}

/// A sentence as it is written.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: &'a str,
    is_marked: bool,
    opens_list: bool,
    is_item: bool,
}

/// Splits a message at full stops, question and exclamation marks, semicolons, colons and line ends.
fn sentences(message: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    for line in message.lines() {
        let is_item = is_item(line);
        let mut start = 0;
        let mut characters = line.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let end = at + character.len_utf8();
            let follows = characters.peek().map(|(_, next)| *next);
            let ends = match character {
                '?' | '!' | ';' => true,
                '.' | ':' => {
                    follows.is_none_or(|next| !next.is_alphanumeric())
                        && !is_abbreviation(line.get(start..at).unwrap_or_default())
                }
                _ => false,
            };
            let repeats = follows.is_some_and(|next| matches!(next, '?' | '!' | '.'));
            if (ends && !repeats) || follows.is_none() {
                let text = line.get(start..end).unwrap_or_default();
                let last = text.trim_end();
                found.push(Part {
                    text,
                    is_marked: text.contains('?'),
                    opens_list: last.ends_with(':'),
                    is_item,
                });
                start = end;
            }
        }
    }
    found.retain(|part| part.text.chars().any(char::is_alphanumeric));
    found.into_iter().flat_map(questions).collect()
}

/// Splits a sentence into its questions: `Which day is it, and what is the address?`
fn questions(part: Part<'_>) -> Vec<Part<'_>> {
    let begins = |at: &usize| {
        let rest = words(part.text.get(at + JOINT.len()..).unwrap_or_default());
        let asks = |at: usize| rest.get(at).is_some_and(|word| word.is_one_of(&QUESTION_WORDS));
        let before = words(part.text.get(..*at).unwrap_or_default());
        let asks_before = before.iter().position(|word| word.is_one_of(&QUESTION_WORDS));
        (asks(0) || (asks(1) && rest[0].is_one_of(&PREPOSITIONS)))
            && asks_before.is_some_and(|at| before.len() - at >= MIN_QUESTION_WORDS)
    };
    let found = part.text.match_indices(JOINT).map(|(at, _)| at).find(begins).filter(|_| part.is_marked);
    let Some(at) = found else { return vec![part] };
    let of = |text| Part { text, ..part };
    vec![of(&part.text[..at]), of(&part.text[at + JOINT.len()..])]
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
    line.starts_with(['-', '*', '•']) || (numbered.len() < line.len() && numbered.starts_with([')', '.']))
}

/// Returns an item of a list without its mark or number, which counts nothing.
fn unmarked(item: &str) -> &str {
    let text = item.trim_start();
    let behind = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_mark = match behind.len() < text.len() {
        true => behind.starts_with(") ") || behind.starts_with(". "),
        false => behind.starts_with("- ") || behind.starts_with("* ") || behind.starts_with("• "),
    };
    if is_mark { behind.trim_start_matches([')', '.', '-', '*', '•']).trim_start() } else { item }
}

/// Returns true if a full stop does not end the sentence: `Dr.`, `e.g.`, `J.`, and the number of an item. It
/// ends it after `20.5` and `180 g`.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '.', '(']).next().unwrap_or_default();
    let follows_stop = before.strip_suffix(word).is_some_and(|head| head.ends_with('.'));
    let is_letter = |letter: char| letter.is_uppercase() || (letter.is_alphabetic() && follows_stop);
    let is_short = word.chars().count() == 1;
    (is_short && (before.trim() == word || word.chars().all(is_letter)))
        || ["Dr", "Mr", "Mrs", "Ms", "Prof", "St"].contains(&word)
}

/// Returns the words of a sentence.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut end = 0;
    split(text)
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            let between = text.get(end..start).unwrap_or_default();
            end = start + word.len();
            Word {
                text: word.to_lowercase(),
                capital: word.chars().next().is_some_and(char::is_uppercase),
                after_comma: between.contains([',', '+', '&', '/', '(']),
            }
        })
        .collect()
}

fn form(words: &[Word], part: &Part<'_>, is_short: bool) -> Form {
    if is_closing(words) {
        return Form::Closing;
    }
    let begins = words
        .iter()
        .position(|word| !word.is_one_of(&OPENERS) && !word.is_one_of(&PREPOSITIONS))
        .unwrap_or(words.len() - 1);
    let lead = &words[begins..];
    let asks_word = words.iter().any(|word| word.is_one_of(&QUESTION_WORDS));
    let has_auxiliary = words.iter().any(|word| word.is_one_of(&AUXILIARIES));
    // `do you have the code` is a question without its mark.
    let inverts =
        lead[0].is_one_of(&AUXILIARIES) && lead.get(1).is_some_and(|next| next.is_one_of(&PRONOUNS));
    let is_marked = part.is_marked || inverts;
    if is_marked && has_tag(words) {
        return if plans(lead) { Form::Offer } else { Form::Check };
    }
    if lead[0].is_one_of(&QUESTION_WORDS) && (is_marked || asks_unmarked(lead)) {
        return if asks_for(words) { Form::Request } else { Form::Question };
    }
    let has_choice = words.iter().any(|word| word.text == "or");
    // `Xuan Ly, who is the cheapest` asks nothing, and `shall I check when it opens` only asks for
    // permission.
    let asks = |at: usize| {
        let begins = at > 0 && matches!(&*words[at - 1].text, "and" | "or" | "but");
        words[at].is_one_of(&QUESTION_WORDS) && !words[at].after_comma && (begins || !asks_leave_to(lead))
    };
    if is_offer(lead) && !(0..words.len()).any(asks) {
        // `Nikos instead of David` is one thing and no extra.
        let replaces = |pair: &[Word]| pair[0].text == "instead" && pair[1].text == "of";
        let is_extra = words.iter().any(|word| word.is_one_of(&EXTRAS)) && !words.windows(2).any(replaces);
        return match (has_choice, is_extra) {
            (true, _) => Form::Question,
            (false, true) => Form::Extra,
            (false, false) => Form::Offer,
        };
    }
    if !asks_word && invites(words) {
        return Form::Offer;
    }
    if asks_for(words) {
        let confirms = words.iter().any(|word| word.is_one_of(&CONFIRMING));
        return if confirms && !asks_word && !names_thing(words) { Form::Check } else { Form::Request };
    }
    // The question offers something: `Would you like a brochure?`
    if is_marked && !asks_word && !has_choice && asks_wish(lead) {
        return Form::Extra;
    }
    if is_marked {
        // The question breaks off: `And the grade is...?`
        let breaks_off = words.last().is_some_and(|word| word.is_one_of(&["is", "are", "be"]));
        if breaks_off && words.len() > 1 {
            return Form::Question;
        }
        if lead[0].is_one_of(&AUXILIARIES) {
            // `Is that what you want?`
            if asks_leave(words) {
                return Form::Check;
            }
            let possesses = lead[0].text.starts_with("do") && lead.iter().any(|word| word.text == "have");
            return match asks_word || has_choice || possesses {
                true => Form::Question,
                false => Form::Check,
            };
        }
        // `Cancel it?`, `Go ahead?`
        let object = lead.get(1).map_or("", |word| &*word.text);
        let orders = action(&stem(&lead[0].text)).is_some_and(|effect| effect != Action::Read)
            && matches!(object, "the" | "this" | "these" | "your");
        let is_leave = orders || matches!(object, "it" | "them" | "ahead" | "all" | "both" | "that");
        return match (asks_word, has_auxiliary, lead[0].is_one_of(&PRONOUNS)) {
            (true, ..) => Form::Question,
            (_, false, false) if is_leave => Form::Offer,
            (_, false, false) if has_choice => Form::Question,
            (_, false, false) => Form::Fragment,
            (_, _, false) if has_choice => Form::Question,
            _ => Form::Check,
        };
    }
    if words.iter().any(|word| word.is_one_of(&POLITE)) {
        return Form::Polite;
    }
    // `Your reservation code, or else your name.`
    if lead[0].text == "your" && !has_auxiliary {
        return Form::Request;
    }
    if reports(words) {
        return Form::Report;
    }
    let has_subject = words.iter().any(|word| word.is_one_of(&PRONOUNS));
    if is_short && words.len() <= MAX_FRAGMENT_WORDS && !has_auxiliary && !has_subject {
        return Form::Polite;
    }
    if words.iter().any(|word| word.is_one_of(&LACKS)) { Form::Hint } else { Form::Statement }
}

/// Returns true if a clause asks without a question mark: `which room is it`, and not `when you arrive` or
/// `what a surprise`.
fn asks_unmarked(lead: &[Word]) -> bool {
    let Some(next) = lead.get(1) else { return true };
    if lead[0].is_one_of(&CONJUNCTIONS) {
        // `how high do you`, `how many guests`.
        let measures = lead[0].text == "how" && !next.is_one_of(&PRONOUNS);
        return measures || next.is_one_of(&AUXILIARIES) || next.text == "s";
    }
    !matches!(&*next.text, "a" | "an")
}

/// Returns true if a sentence asks for further wishes: `Is there anything else I can do for you?`
fn is_closing(words: &[Word]) -> bool {
    let any = ["anything", "something", "what", "else"];
    let more = ["else", "more", "further"];
    let has_any = words.iter().position(|word| word.is_one_of(&any));
    let closes = |at: usize| {
        let rest = &words[at..];
        let asks_more = words[at].text != "else" && rest.iter().any(|word| word.is_one_of(&more));
        let helps = rest
            .windows(2)
            .any(|pair| pair[0].is_one_of(&["can", "could", "may"]) && pair[1].is_one_of(&["i", "we"]));
        let before = at.checked_sub(1).map_or("", |before| &*words[before].text);
        // `Will anybody else be there?`, `Shall I cancel something else?`
        let is_subject = words[at].text == "else"
            && matches!(before, "anyone" | "anybody" | "someone" | "somebody" | "who");
        let is_object = words[at].text == "something" && is_offer(words) && !helps;
        let is_choice = before == "or" || is_subject || is_object;
        let names = matches!(&*words[at].text, "what") && !helps;
        !is_choice && !names && (asks_more || helps)
    };
    let greets = words.windows(3).any(|three| {
        three[0].is_one_of(&["can", "may", "could"])
            && three[1].is_one_of(&["i", "we"])
            && three[2].is_one_of(&["help", "assist"])
    });
    greets || has_any.is_some_and(closes)
}

/// Returns true if a statement ends with a tag question: `On Monday, correct?`
fn has_tag(words: &[Word]) -> bool {
    let Some(start) = words.iter().rposition(|word| word.after_comma) else { return false };
    start > 0 && words[start..].iter().all(|word| word.is_one_of(&TAGS) || is_leave_verb(word))
}

/// Returns true for the verb of `shall I?`
fn is_leave_verb(word: &Word) -> bool {
    word.is_one_of(&["shall", "should", "may"])
}

/// Returns true if a sentence states an action of the assistant: `I'd book it`, `we cancel it`.
pub(super) fn plans(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| &*word.text);
    (0..words.len()).any(|at| {
        matches!(text(at), "i" | "we")
            && match text(at + 1) {
                "ll" | "will" | "d" | "would" | "shall" => true,
                "m" | "am" | "re" | "are" => text(at + 2).ends_with("ing"),
                // `I understand you mean Friday` and `I see two visits` plan nothing.
                verb => {
                    let object = text(at + 2);
                    let is_past = verb.ends_with("ed") || action(&stem(verb)) == Some(Action::Read);
                    !(is_common(verb) || is_past || object.is_empty() || matches!(object, "you" | "that"))
                }
            }
    })
}

/// Returns true if a question can only be about an action of the assistant: `shall I`, `do you want me to`.
fn asks_leave_to(lead: &[Word]) -> bool {
    let text = |at: usize| lead.get(at).map_or("", |word| &*word.text);
    match text(0) {
        "shall" | "should" => matches!(text(1), "i" | "we"),
        "do" | "would" | "want" => {
            lead.windows(2).any(|pair| pair[0].is_one_of(&["me", "us"]) && pair[1].text == "to")
        }
        _ => false,
    }
}

/// Returns true if a question proposes an action of the assistant, which the user can agree to.
fn is_offer(lead: &[Word]) -> bool {
    let text = |at: usize| lead.get(at).map_or("", |word| &*word.text);
    let is_assistant = |at: usize| matches!(text(at), "i" | "we");
    match text(0) {
        "shall" | "should" => is_assistant(1),
        "can" | "could" | "may" | "might" => {
            let verb = lead.get(2..4).unwrap_or_default();
            is_assistant(1) && !verb.iter().any(|word| word.is_one_of(&TAKING))
        }
        "do" | "would" if text(1) == "you" => {
            let at = if text(2) == "really" { 3 } else { 2 };
            matches!(text(at), "want" | "like")
                && matches!(text(at + 1), "me" | "us" | "to" | "it" | "that" | "this" | "them" | "these")
                && !lead.iter().any(|word| word.is_one_of(&["tell", "give", "share"]))
        }
        "want" => text(1) == "me",
        // `Ready to start?`
        "ready" => matches!(text(1), "" | "to"),
        _ => false,
    }
}

/// Returns true if a question proposes something to the user: `would you like`.
fn asks_wish(lead: &[Word]) -> bool {
    let text = |at: usize| lead.get(at).map_or("", |word| &*word.text);
    matches!(text(0), "do" | "would") && text(1) == "you" && matches!(text(2), "want" | "like" | "care")
}

/// Returns true if a verb asks for something.
fn asks_for(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| &*word.text);
    (0..words.len()).any(|at| {
        let before = at.checked_sub(1).map_or("", text);
        if words[at].is_one_of(&NEEDS) {
            return true;
        }
        if words[at].is_one_of(&IMPERATIVES) {
            let leads = words[..at].iter().all(|word| word.is_one_of(&OPENERS)) || words[at].after_comma;
            let invited =
                matches!(before, "you" | "please" | "pls" | "plz" | "kindly" | "to" | "just" | "and");
            return leads || invited || matches!(text(at + 1), "me" | "us");
        }
        match text(at) {
            "know" => {
                let denied = ["to", "t", "not", "if", "once"].contains(&before);
                denied || (before == "you" && at >= 2 && text(at - 2) == "do")
            }
            // `May I have`, `could I ask`.
            "can" | "could" | "may" | "might" => {
                let verbs = words.get(at + 2..(at + 4).min(words.len())).unwrap_or_default();
                matches!(text(at + 1), "i" | "we") && verbs.iter().any(|word| word.is_one_of(&TAKING))
            }
            "once" => text(at + 1) == "i" && matches!(text(at + 2), "have" | "know" | "get"),
            // `Two details are still open.`
            "open" => before == "still",
            _ => false,
        }
    })
}

/// Returns true if a sentence asks for a yes before an action: `Please confirm and I'll book it`.
/// So does `Let me know if you'd like me to go on`.
fn invites(words: &[Word]) -> bool {
    let proposes = words.windows(3).any(|three| {
        three[0].is_one_of(&["like", "want"]) && three[1].is_one_of(&["me", "us"]) && three[2].text == "to"
    });
    let confirms = words.iter().any(|word| word.is_one_of(&CONFIRMING)) && asks_for(words);
    let acts = words.iter().any(|word| word.is_one_of(&["i", "we", "proceed", "ahead", "permission"]));
    proposes || (confirms && (asks_leave(words) || (acts && !names_thing(words))))
}

/// Returns true if a request to confirm names a value to tell: `confirm your customer number`.
fn names_thing(words: &[Word]) -> bool {
    words.windows(2).any(|pair| {
        pair[0].text.starts_with("confirm") && pair[1].is_one_of(&["your", "the", "his", "her", "their"])
    })
}

/// Returns true if a statement reports a finished action: `The timer is set.`
fn reports(words: &[Word]) -> bool {
    let is_finished =
        |word: &Word| word.is_one_of(&FINISHED) || (word.text.len() > 4 && word.text.ends_with("ed"));
    words.first().is_some_and(is_finished)
        || words.iter().enumerate().any(|(at, word)| {
            let near = words.get(at + 1..(at + 4).min(words.len())).unwrap_or_default();
            word.is_one_of(&["is", "are", "been", "was", "were", "ve", "have", "s", "re"])
                && near.iter().any(is_finished)
        })
}

/// Splits at commas and conjunctions. Clauses without a content word are dropped.
fn clauses(words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        let joins = matches!(&*word.text, "and" | "plus" | "n") && at > 0;
        if word.after_comma || joins {
            found.push(start..at);
            start = if joins { at + 1 } else { at };
        }
    }
    found.push(start..words.len());
    let tells = |range: &Range<usize>| {
        words[range.clone()]
            .iter()
            .any(|word| !word.is_one_of(&FILLERS) || word.is_one_of(&["what", "which", "whats", "wich"]))
    };
    if found.len() > 1 {
        found.retain(tells);
        found.push(0..words.len());
    }
    found
}

/// Returns true if a word carries no content of its own, or means leave: `agreed`, `confirm`.
fn means_leave(word: &Word) -> bool {
    is_common(&word.text) || is_one_of(&stem(&word.text), &LEAVE) || is_one_of(&stem(&word.text), &CONFIRMING)
}

/// Returns true if a sentence only asks for permission: `Is that right?`
fn asks_leave(words: &[Word]) -> bool {
    words.iter().all(|word| word.is_one_of(&LEAVE) || word.is_one_of(&FILLERS))
        && words.iter().any(|word| word.is_one_of(&LEAVE))
        && !words.first().is_some_and(|word| word.is_one_of(&QUESTION_WORDS))
}

impl Word {
    /// Returns true if it is one of these words.
    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&&*self.text)
    }
}

impl Sentence {
    /// Returns true if it is a yes-or-no question about a thing by its name: `Does Ana eat fish?`
    pub(super) fn asks_fact(&self) -> bool {
        let mut lead = self.words.iter().skip_while(|word| word.is_one_of(&OPENERS));
        lead.next().is_some_and(|word| word.is_one_of(&AUXILIARIES))
            && lead.next().is_some_and(|word| !is_common(&word.text))
    }

    /// Returns true if it may ask for permission to do what the statement before it plans: it says nothing of
    /// its own. `Would that suit you?`, `Really off?` A word for the effect, by its stem, may stand in it.
    pub(super) fn may_ask_leave(&self, is_effect: impl Fn(&str) -> bool) -> bool {
        let words = &self.words;
        let begins = words.iter().position(|word| !word.is_one_of(&OPENERS)).unwrap_or(words.len());
        let lead = &words[begins..];
        let has = |wanted: &[&str]| words.iter().any(|word| word.is_one_of(wanted));
        let content: Vec<&Word> = lead.iter().filter(|word| !means_leave(word)).collect();
        if !self.is_marked {
            // `Please confirm.`, `Tell me if I may.`
            return content.is_empty() && has(&["if", "whether", "confirm"]);
        }
        if has(&["or", "any"]) || words[0].text == "your" {
            return false;
        }
        // `Is that what you'd like?`
        let asks_else = has(&QUESTION_WORDS)
            && !(content.is_empty() && has(&["what", "how"]) && words[0].is_one_of(&AUXILIARIES));
        let refers = has(&["this", "that", "it", "everything", "all", "your"]);
        let inverts = lead.first().is_some_and(|first| first.is_one_of(&AUXILIARIES));
        let is_pronoun = lead.get(1).is_some_and(|next| next.is_one_of(&PRONOUNS));
        !asks_else
            && match content.len() {
                0 => true,
                1 if inverts => is_pronoun && refers,
                _ => {
                    !inverts
                        && lead.len() <= MAX_LEAVE_WORDS
                        && content.iter().all(|word| is_effect(&word.text))
                }
            }
    }

    /// Returns true if it only asks for permission, by a question: `Is that right?`
    pub(super) fn asks_leave(&self) -> bool {
        self.is_marked && asks_leave(&self.words)
    }
}
