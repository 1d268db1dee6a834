//! What a request's words may stand for: quoted texts, names, days, times, numbers and codes, each as the user wrote it.

use diorama_seeds::value::{Date, Zone};
use diorama_simulator::grade::extract::prose::Prose;
use diorama_simulator::grade::extract::{Clock, What};

/// What a span looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Email,
    Quoted,
    Day,
    Time,
    Code,
    Number,
    /// Capitalised words.
    Name,
    /// A capitalised word that is made from a country's name.
    Nation,
    /// The word before a noun.
    Modifier,
    /// What somebody eats, or does not.
    Diet,
    /// What something is for.
    Purpose,
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) look: Look,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

/// Capitalised words that name nothing where they begin a sentence, or anywhere.
const NO_NAMES: [&str; 34] = [
    "i", "i'm", "i'd", "i've", "i'll", "api", "id", "ip", "isbn", "can", "could", "what", "what's", "hi",
    "hello", "hey", "please", "my", "may", "would", "where", "which", "how", "who", "we", "if", "the", "a",
    "an", "tell", "when", "is", "do", "does",
];
/// Words after a verb that begins a sentence: `Book a`, `Send me`.
const AFTER_VERBS: [&str; 10] = ["me", "the", "a", "an", "my", "us", "for", "to", "some", "it"];
/// Words before a noun that tell nothing of it.
const EMPTY: &str = "a an the my your this that some any his her its their our good best great nice nearby nearest new \
     popular local famous suitable appropriate average total current possible similar same next last top \
     more other another specific and or of in on at for from to with by about i you me is are want need \
     see find buy get which what";
/// What people eat, as they say it.
const DIETS: [&str; 14] = [
    "lactose intolerant",
    "lactose-free",
    "gluten-free",
    "gluten free",
    "dairy-free",
    "vegetarian",
    "vegan",
    "pescatarian",
    "diabetic",
    "halal",
    "kosher",
    "keto",
    "low-carb",
    "raw food",
];
/// Endings of words that are made from countries' names, and some that have no ending of their own.
const NATIONAL: [&str; 6] = ["ese", "ian", "ish", "ican", "ean", "rian"];
const NATIONS: [&str; 6] = ["French", "Thai", "Greek", "German", "Korean", "Turkish"];

/// A request and its spans.
pub(super) struct Request {
    pub(super) text: String,
    pub(super) spans: Vec<Span>,
    /// Words with their places.
    tokens: Vec<(usize, usize)>,
}

impl Request {
    /// Reads a request.
    pub(super) fn read(text: &str) -> Self {
        let mut request = Self { text: text.to_owned(), spans: Vec::new(), tokens: tokens(text) };
        request.emails();
        request.quoted();
        request.mentioned(&[Look::Day, Look::Time]);
        request.codes();
        request.mentioned(&[Look::Number]);
        request.names();
        request
    }

    fn at(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn is_free(&self, start: usize, end: usize) -> bool {
        self.spans.iter().all(|span| end <= span.start || span.end <= start)
    }

    fn add(&mut self, look: Look, start: usize, end: usize, text: String) {
        if !text.is_empty() && self.is_free(start, end) {
            self.spans.push(Span { look, start, end, text });
        }
    }

    fn emails(&mut self) {
        let text = self.text.clone();
        for (start, word) in parted(&text, |c| c.is_whitespace() || "'\"<>(),;?!".contains(c)) {
            let word = word.trim_end_matches('.');
            if word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) {
                self.add(Look::Email, start, start + word.len(), word.to_owned());
            }
        }
    }

    fn quoted(&mut self) {
        for (open, close) in [('"', '"'), ('“', '”'), ('‘', '’'), ('\'', '\'')] {
            let mut from = 0;
            while let Some(start) = self.text.get(from..).and_then(|rest| rest.find(open)).map(|at| at + from)
            {
                let inner = start + open.len_utf8();
                from = inner;
                let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                if letter(self.at(0, start).chars().next_back()) {
                    continue;
                }
                // An apostrophe inside does not close: a letter follows it.
                let ends = self.text.get(inner..).unwrap_or_default().match_indices(close).find(|(at, _)| {
                    !letter(
                        self.text.get(inner + at + close.len_utf8()..).and_then(|rest| rest.chars().next()),
                    )
                });
                if let Some((length, _)) = ends {
                    let end = inner + length;
                    self.add(Look::Quoted, start, end + close.len_utf8(), self.at(inner, end).to_owned());
                    from = end + close.len_utf8();
                }
            }
        }
    }

    /// Days, times and numbers, as the grader's extractor finds them.
    fn mentioned(&mut self, looks: &[Look]) {
        let clock = Clock { today: Date(0), zone: Zone::utc() };
        let prose = Prose::read(&self.text, &clock);
        for mention in prose.mentions() {
            let (start, end) = (mention.start, mention.end);
            let (look, text) = match &mention.what {
                What::Date(_) => (Look::Day, self.day_from(start, end).1.to_owned()),
                What::Time(_) => (Look::Time, self.at(start, end).to_owned()),
                What::Number(number) => (Look::Number, number.value.to_string()),
                What::Money(money) => (Look::Number, money.amount.as_f64().to_string()),
                What::None => continue,
            };
            let start = if look == Look::Day { self.day_from(start, end).0 } else { start };
            if looks.contains(&look) {
                self.add(look, start, end, text);
            }
        }
    }

    /// A day with the word that says which one: `next Friday`, `this weekend`.
    fn day_from(&self, start: usize, end: usize) -> (usize, &str) {
        let before = self.at(0, start).trim_end();
        let word = before.rsplit(' ').next().unwrap_or_default();
        let start = match ["this", "next", "coming", "in"].contains(&word) {
            true => before.len() - word.len(),
            false => before.strip_suffix("the day after").map_or(start, str::len),
        };
        (start, self.at(start, end))
    }

    /// Words with a digit that are more than a number.
    fn codes(&mut self) {
        let text = self.text.clone();
        for (start, word) in parted(&text, |c| c.is_whitespace() || "'\"(),;?!".contains(c)) {
            let word = word.trim_end_matches(['.', ':']);
            let digits = word.chars().filter(char::is_ascii_digit).count();
            // `4-star` and `7pm` measure something; `2nd` counts.
            let measures = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let measures = measures.len() < word.len()
                && measures.trim_start_matches('-').chars().all(char::is_alphabetic);
            let is_code = digits > 0 && (!measures || digits > 4) && !word.contains(['$', '€', '£', '%']);
            let plain = word.parse::<f64>().is_ok() && digits < 5;
            if is_code && !plain {
                self.add(Look::Code, start, start + word.len(), word.to_owned());
            }
        }
    }

    fn names(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let end = self.run(at);
            if let (Some(end), Some(&(start, _))) = (end, self.tokens.get(at)) {
                let stop = self.tokens.get(end).map_or(start, |token| token.1);
                let text = self.at(start, stop).to_owned();
                // A number that belongs to a name is none of its own.
                self.spans
                    .retain(|span| span.look != Look::Number || span.end <= start || stop <= span.start);
                let national = NATIONS.contains(&&*text)
                    || NATIONAL.iter().any(|ending| text.len() > 5 && text.ends_with(ending));
                self.add(if national { Look::Nation } else { Look::Name }, start, stop, text);
                at = end;
            }
            at += 1;
        }
    }

    /// The last token of the run of capitalised words that begins at a token, where one does.
    fn run(&self, at: usize) -> Option<usize> {
        let capital = |(start, end): (usize, usize)| {
            let word = self.at(start, end);
            let upper = word.chars().take(2).any(char::is_uppercase);
            upper && !NO_NAMES.contains(&&*word.to_lowercase()) && self.is_free(start, end)
        };
        let first = *self.tokens.get(at)?;
        let before = self.at(0, first.0).trim_end();
        let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':']);
        let next = self.tokens.get(at + 1).map(|token| self.at(token.0, token.1).to_lowercase());
        if !capital(first) || (begins && next.is_some_and(|next| AFTER_VERBS.contains(&&*next))) {
            return None;
        }
        let mut end = at;
        while let (Some(&last), Some(&next)) = (self.tokens.get(end), self.tokens.get(end + 1)) {
            let gap = self.at(last.1, next.0);
            let initial = gap == ". " && last.1 - last.0 == 1 && end == at;
            let number = self.at(next.0, next.1).chars().all(|c| c.is_ascii_digit());
            if !(gap == " " || gap == "-" || initial) || !(capital(next) || number) {
                break;
            }
            end += 1;
        }
        Some(end)
    }

    /// Words that stand before a noun of these stems, diets, and what something is for.
    pub(super) fn about(&self, nouns: &[u64]) -> Vec<Span> {
        let mut found = Vec::new();
        let lower = self.text.to_ascii_lowercase();
        for diet in DIETS {
            found.extend(lower.match_indices(diet).map(|(at, _)| self.span(Look::Diet, at, at + diet.len())));
        }
        let word =
            |token: Option<&(usize, usize)>| token.map(|token| self.at(token.0, token.1)).unwrap_or_default();
        for (number, &(start, end)) in self.tokens.iter().enumerate() {
            let own = self.at(start, end);
            let next = self.tokens.get(number + 1);
            let before = |back: usize| word(number.checked_sub(back).and_then(|at| self.tokens.get(at)));
            if (before(1), before(2)) == ("to", "allergic") {
                found.push(self.span(Look::Diet, start, end));
            }
            if ["a", "an"].contains(&before(1)) && before(2) == "for" {
                found.push(self.span(Look::Purpose, start, end));
            }
            let joined = next.is_some_and(|next| self.at(end, next.0) == " ");
            let of_noun = Prose::stems_of(word(next)).iter().any(|stem| nouns.contains(stem));
            let tells = own.starts_with(char::is_lowercase) && !EMPTY.split(' ').any(|empty| empty == own);
            let is_noun = Prose::stems_of(own).iter().any(|stem| nouns.contains(stem));
            if joined && of_noun && tells && !is_noun && self.is_free(start, end) {
                found.push(self.span(Look::Modifier, start, end));
            }
        }
        found
    }

    fn span(&self, look: Look, start: usize, end: usize) -> Span {
        Span { look, start, end, text: self.at(start, end).to_owned() }
    }

    /// Up to so many words before a place, the nearest first, in its part of the sentence.
    pub(super) fn before(&self, start: usize, most: usize) -> Vec<String> {
        let text = self.at(0, start);
        let from =
            [". ", "? ", "! ", ", "].iter().filter_map(|stop| text.rfind(stop)).max().map_or(0, |at| at + 2);
        let words = text.get(from..).unwrap_or_default().split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty()).rev().take(most).map(str::to_lowercase).collect()
    }

    /// Up to so many words after a place, in its part of the sentence.
    pub(super) fn after(&self, end: usize, most: usize) -> Vec<String> {
        let text = self.text.get(end..).unwrap_or_default();
        let text = text.strip_prefix("'s").unwrap_or(text);
        let part = text.split(['.', '?', '!', ',']).next().unwrap_or_default();
        let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.take(most).map(str::to_lowercase).collect()
    }
}

/// The parts of a text between separators, with their places.
fn parted(text: &str, between: impl Fn(char) -> bool) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (between(c), start) {
            (true, Some(from)) => {
                found.extend(text.get(from..at).map(|word| (from, word)));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    found
}

/// Words: letters and digits, with `&`, `-`, `.` and apostrophes inside; a genitive is cut off.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let inner = |c: char| c.is_alphanumeric() || "&-_.'’".contains(c);
    let trim = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let word = ["'s", "’s"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
        word.len()
    };
    parted(text, |c| !inner(c))
        .into_iter()
        .map(|(start, word)| {
            let lead = word.len() - word.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
            (start + lead, start + lead + trim(word.get(lead..).unwrap_or_default()))
        })
        .filter(|(start, end)| start < end)
        .collect()
}
