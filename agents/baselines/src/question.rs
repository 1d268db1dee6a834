//! Detects questions to the user in an agent's message. A closing offer such as "Is there anything else I can
//! help you with?" does not count.
//!
//! Benchmarks have no user. They answer a question, and treat any other message as the last one.

/// Phrases about something beyond the request.
const BEYOND: [&str; 36] = [
    "additional details",
    "additional help",
    "additional information",
    "anything else",
    "anything further",
    "anything more",
    "assist you further",
    "else can i",
    "else do you need",
    "further assistance",
    "further details",
    "further help",
    "further information",
    "hear about",
    "hear more",
    "help you further",
    "how else",
    "know more",
    "learn more",
    "more about",
    "more details",
    "more examples",
    "more help",
    "more information",
    "more options",
    "more recommendations",
    "more suggestions",
    "other information",
    "other way",
    "other ways",
    "see more",
    "something else",
    "something more",
    "tell you more",
    "what else",
    "would you like more",
];
/// Phrases with which the assistant offers help.
const OFFERING: [&str; 19] = [
    "can i",
    "could i",
    "feel free",
    "glad to",
    "happy to",
    "i can",
    "i could",
    "let me know if",
    "may i",
    "shall i",
    "should i",
    "want me to",
    "want to",
    "would you be interested in",
    "would you like",
    "you need",
    "you want",
    "you would like",
    "you'd like",
];
/// Phrases that close a conversation on their own.
const CLOSING: [&str; 19] = [
    "answer your question",
    "answers your question",
    "any questions",
    "did that help",
    "did this help",
    "does that help",
    "does this help",
    "further questions",
    "is that all",
    "is that helpful",
    "is this helpful",
    "more questions",
    "other questions",
    "was that helpful",
    "was this helpful",
    "what you are looking for",
    "what you were looking for",
    "will that be all",
    "would that be all",
];
/// Phrases that ask the user for something, even in a sentence with an offer.
const ASKING: [&str; 13] = [
    "can you",
    "clarify",
    "could you",
    "give me",
    "i need",
    "i should know",
    "or shall i",
    "or should i",
    "provide",
    "send me",
    "share",
    "specify",
    "tell me",
];
/// Maximum number of words in a sentence that only asks for further wishes.
const MAX_BARE_OFFER_WORDS: usize = 5;

/// Returns true if a message ends with a question to the user. Closing offers are ignored.
///
/// ```
/// use diorama_baselines::question::is_question;
///
/// assert!(is_question("There are two. Which one do you mean?"));
/// assert!(!is_question("It costs 12 euros. Is there anything else I can help you with?"));
/// ```
#[must_use]
pub fn is_question(message: &str) -> bool {
    let mut rest = message;
    loop {
        // Marks and quotes after the last sentence are ignored.
        rest = rest.trim_end_matches(|c: char| !c.is_alphanumeric() && !ends_sentence(c));
        let (before, sentence) = rest.split_at(last_sentence(rest));
        if sentence.is_empty() {
            return false;
        }
        if !is_closing_offer(sentence) {
            return sentence.ends_with('?');
        }
        rest = before;
    }
}

const fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?')
}

/// Returns the position of the last sentence's first byte.
fn last_sentence(text: &str) -> usize {
    let body = text.trim_end_matches(ends_sentence);
    let ends_here = |at: usize, c: char| {
        let next = body.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        c == '\n' || (ends_sentence(c) && next.is_some_and(char::is_whitespace))
    };
    let end = body.char_indices().rev().find(|(at, c)| ends_here(*at, *c));
    end.map_or(0, |(at, c)| at + c.len_utf8())
}

/// Returns true if a sentence offers more help, or asks if the answer was enough.
fn is_closing_offer(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let spaced = format!(" {} ", words.join(" "));
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")));
    let is_bare = words.len() <= MAX_BARE_OFFER_WORDS && has(&["anything else", "something else"]);
    !has(&ASKING) && (has(&CLOSING) || is_bare || (has(&BEYOND) && has(&OFFERING)))
}

#[cfg(test)]
mod tests {
    use super::is_question;

    #[test]
    fn a_closing_offer_is_no_question() {
        for words in [
            "It is done.",
            "",
            "Is there anything else I can help you with?",
            "The movie is Heat. Is there anything else I can help you with?",
            "Booked for 9.30! Anything else?",
            "Booked. **Is there anything else I can do for you?** 😊",
            "Booked. Would you like to know more about the hotel?",
            "Booked. Do you need any further assistance today?",
            "Booked. Can I help you with anything else?\n",
            "Booked. Does that help? Let me know if you need anything else!",
            "Booked. Do you have any other questions?",
            "Booked. What else can I do for you?",
            "Booked. Shall I look up anything else?",
            "Booked. Is there any other way I can help?",
            "Booked. Would you like more recommendations?",
            "Booked. Was that helpful?",
            "He was born in 1954. If you’d like more details, I can look them up.",
        ] {
            assert!(!is_question(words), "{words}");
        }
    }

    #[test]
    fn a_question_for_something_stays_one() {
        for words in [
            "Which city do you mean?",
            "There are two. Which one would you like?",
            "Which city do you mean? Let me know if you need anything else.",
            "Would you like me to book it?",
            "Is there anything else I should know before I book it?",
            "Could you give me more information about the flight?",
            "Would you like more details, or shall I book it?",
            "\"Do you have another address?\"",
            "Is that correct?",
            "How can I help you?",
            "Do you want the 9.30?",
        ] {
            assert!(is_question(words), "{words}");
        }
    }
}
