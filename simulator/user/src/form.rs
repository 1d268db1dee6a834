//! Decides the form in which a sentence asks: by its words, and by the mark that ends it.
//!
//! This module owns the grammar of questions, requests and offers. It must not know the withheld details.

use diorama_seeds::english::stem;

use super::parts::Part;
use super::phrases::{
    AUXILIARIES, CONFIRMING, CONJUNCTIONS, EXTRAS, FILLERS, FINISHED, IMPERATIVES, LACKS, LEAVE, NEEDS,
    OPENERS, POLITE, PREPOSITIONS, PRONOUNS, QUESTION_WORDS, TAGS, TAKING,
};
use super::vocabulary::{Action, action, is_common};
use super::words::Word;

/// The greatest number of words of a sentence without a verb that may ask by itself.
const MAX_FRAGMENT_WORDS: usize = 8;

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

impl Form {
    /// Returns true if a withheld detail may answer the sentence. Yes-or-no questions get none.
    pub(super) const fn may_ask(self) -> bool {
        matches!(self, Self::Polite | Self::Question | Self::Request | Self::Fragment | Self::Hint)
    }
}

/// Returns the form in which the words of a part of a message ask.
pub(super) fn form(words: &[Word], part: &Part<'_>, is_short: bool) -> Form {
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
    // The assistant offers something: `Would you like a brochure?`
    if is_marked && !asks_word && !has_choice && asks_wish(lead) {
        return Form::Extra;
    }
    if is_marked {
        // The assistant breaks off: `And the grade is...?`
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

/// Returns true if a sentence only asks for permission: `Is that right?`
pub(super) fn asks_leave(words: &[Word]) -> bool {
    words.iter().all(|word| word.is_one_of(&LEAVE) || word.is_one_of(&FILLERS))
        && words.iter().any(|word| word.is_one_of(&LEAVE))
        && !words.first().is_some_and(|word| word.is_one_of(&QUESTION_WORDS))
}
