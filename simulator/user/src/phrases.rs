//! Owns the word lists by which the user simulator parses a message. Words are in lower case, without
//! apostrophes: `what's` is `what`, `s`.

pub(super) const QUESTION_WORDS: [&str; 13] = [
    "what",
    "whats",
    "which",
    "wich",
    "who",
    "whos",
    "whom",
    "whose",
    "when",
    "where",
    "whereabouts",
    "how",
    "why",
];

/// Question words that also begin subordinate clauses: without a question mark they ask only before an auxiliary.
pub(super) const CONJUNCTIONS: [&str; 5] = ["when", "where", "how", "who", "why"];

/// Auxiliary verbs, which begin yes-or-no questions.
pub(super) const AUXILIARIES: [&str; 33] = [
    "is", "are", "was", "were", "am", "be", "been", "do", "does", "did", "have", "has", "had", "can",
    "could", "would", "should", "shall", "will", "may", "might", "must", "isn", "aren", "wasn", "don",
    "doesn", "didn", "won", "wouldn", "couldn", "shouldn", "want",
];

/// Subjects and objects without a content of their own.
pub(super) const PRONOUNS: [&str; 17] = [
    "i", "you", "we", "it", "this", "that", "these", "those", "there", "they", "he", "she", "them", "all",
    "me", "us", "him",
];

/// Words that may stand before the first word of a sentence.
pub(super) const OPENERS: [&str; 37] = [
    "and",
    "so",
    "ok",
    "okay",
    "sure",
    "great",
    "good",
    "well",
    "then",
    "quickly",
    "also",
    "oh",
    "gladly",
    "thanks",
    "but",
    "or",
    "hi",
    "hello",
    "plus",
    "right",
    "alright",
    "of",
    "course",
    "wonderful",
    "certainly",
    "now",
    "just",
    "please",
    "pls",
    "plz",
    "kindly",
    "else",
    "first",
    "sorry",
    "really",
    "happy",
    "exactly",
];

/// Prepositions that may stand before a question word: `under which name`.
pub(super) const PREPOSITIONS: [&str; 19] = [
    "in", "to", "under", "on", "at", "for", "by", "from", "with", "below", "above", "up", "until", "till",
    "since", "of", "about", "into", "as",
];

/// Words that ask for something in any position.
pub(super) const NEEDS: [&str; 11] = [
    "need", "needed", "require", "requires", "required", "missing", "lack", "specify", "provide", "trouble",
    "knew",
];

/// Words that ask for something at the beginning of a clause, after `please`, or before `me`.
pub(super) const IMPERATIVES: [&str; 12] =
    ["tell", "give", "send", "share", "enter", "type", "state", "name", "confirm", "let", "describe", "ask"];

/// Words of politeness, which ask for something together with a noun.
pub(super) const POLITE: [&str; 4] = ["please", "pls", "plz", "kindly"];

/// Words of statements that imply a missing value.
pub(super) const LACKS: [&str; 15] = [
    "needs", "wants", "depends", "left", "without", "once", "soon", "yet", "help", "helps", "first", "if",
    "have", "still", "would",
];

/// Verbs after `may I`, `can we`.
pub(super) const TAKING: [&str; 7] = ["have", "get", "ask", "know", "see", "take", "trouble"];

/// Words of tag questions: `right?`, `is that correct?`
pub(super) const TAGS: [&str; 34] = [
    "right", "correct", "yes", "ok", "okay", "no", "is", "isn", "was", "wasn", "did", "didn", "don", "do",
    "does", "doesn", "are", "aren", "am", "huh", "that", "t", "it", "i", "you", "not", "got", "get", "know",
    "true", "mean", "say", "said", "fine",
];

/// Words of an offer of more than the user wants.
pub(super) const EXTRAS: [&str; 7] = ["also", "rather", "instead", "well", "too", "another", "additionally"];

/// Words that ask for permission, and for nothing else.
pub(super) const LEAVE: [&str; 30] = [
    "right",
    "correct",
    "okay",
    "ok",
    "fine",
    "ahead",
    "proceed",
    "sure",
    "confirm",
    "good",
    "alright",
    "continue",
    "want",
    "go",
    "agree",
    "so",
    "everything",
    "details",
    "above",
    "information",
    "look",
    "looks",
    "sound",
    "sounds",
    "work",
    "works",
    "reply",
    "proceeding",
    "confirmation",
    "still",
];

/// Words by which an assistant asks for a yes.
pub(super) const CONFIRMING: [&str; 6] =
    ["confirm", "confirmation", "approval", "approve", "permission", "consent"];

/// Words with which a user agrees.
pub(super) const CONSENTS: [&str; 13] = [
    "yes",
    "yep",
    "yeah",
    "ok",
    "okay",
    "sure",
    "go",
    "please",
    "correct",
    "right",
    "absolutely",
    "fine",
    "all",
];

/// Participles of a finished action that do not end in `ed`.
pub(super) const FINISHED: [&str; 9] = ["done", "set", "gone", "made", "sent", "paid", "off", "put", "taken"];

/// Words that say nothing about the target of a question.
pub(super) const FILLERS: [&str; 129] = [
    "a",
    "an",
    "the",
    "of",
    "to",
    "for",
    "in",
    "on",
    "at",
    "by",
    "with",
    "from",
    "as",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "i",
    "me",
    "my",
    "you",
    "your",
    "yours",
    "we",
    "our",
    "us",
    "they",
    "them",
    "their",
    "he",
    "she",
    "his",
    "her",
    "and",
    "or",
    "but",
    "if",
    "so",
    "then",
    "than",
    "not",
    "no",
    "do",
    "does",
    "did",
    "have",
    "has",
    "had",
    "can",
    "could",
    "would",
    "should",
    "shall",
    "will",
    "may",
    "might",
    "must",
    "here",
    "there",
    "s",
    "t",
    "ll",
    "d",
    "re",
    "ve",
    "m",
    "what",
    "whats",
    "which",
    "wich",
    "how",
    "please",
    "pls",
    "plz",
    "kindly",
    "just",
    "also",
    "like",
    "tell",
    "give",
    "let",
    "know",
    "need",
    "want",
    "provide",
    "send",
    "share",
    "say",
    "state",
    "put",
    "go",
    "get",
    "make",
    "sure",
    "thanks",
    "thank",
    "yes",
    "hi",
    "hello",
    "okay",
    "ok",
    "great",
    "good",
    "happy",
    "gladly",
    "certainly",
    "exactly",
    "best",
    "suit",
    "suits",
    "choose",
    "prefer",
    "mean",
    "all",
    "any",
    "n",
    "e",
    "g",
    "one",
    "ones",
];

/// Words between a question word and its noun: `which kind of`.
pub(super) const KINDS_OF: [&str; 7] = ["kind", "sort", "type", "one", "exact", "exactly", "new"];

/// Question words with the nouns that they stand for.
pub(super) const ASKED_BY: [(&[&str], &[&str]); 20] = [
    (&["how", "many"], &["number"]),
    (&["how", "much"], &["amount"]),
    (&["how", "long"], &["length", "duration", "hours"]),
    (&["how", "far"], &["distance"]),
    (&["how", "heavy"], &["weight", "heavy"]),
    (&["how", "often"], &["frequency"]),
    (&["how", "loud"], &["volume", "level"]),
    (&["how", "urgent"], &["urgent", "priority"]),
    (&["how", "hard"], &["hard", "effort"]),
    (&["how", "old"], &["age"]),
    (&["per", "cent"], &["percent"]),
    (&["percentage"], &["percent"]),
    (&["when"], &["day", "time"]),
    (&["who"], &["person"]),
    (&["whos"], &["person"]),
    (&["whom"], &["person"]),
    (&["whose"], &["person"]),
    (&["where"], &["place", "location"]),
    (&["whereabouts"], &["place", "location"]),
    (&["why"], &["reason"]),
];

/// Questions that no task needs an answer to.
pub(super) const SMALL_TALK: [&str; 16] = [
    "How are you today?",
    "How is it going?",
    "What is the weather like there?",
    "Is it sunny or raining?",
    "Do you have plans for tonight?",
    "What are you doing this weekend?",
    "Did you have a nice time?",
    "Did you enjoy it?",
    "Did you have a good trip?",
    "What is your favourite colour?",
    "How did you hear about us?",
    "What do you think of our service?",
    "Have you had your coffee yet?",
    "Could you give me more details?",
    "Tell me more.",
    "Tell me everything.",
];
