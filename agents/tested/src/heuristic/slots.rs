//! Values that the user's words give, by type.

use diorama_seeds::english::split_identifier;
use diorama_seeds::value::{Date, Zone};
use diorama_simulator::grade::extract::prose::Prose;
use diorama_simulator::grade::extract::{Clock, Day, What};
use serde_json::{Map, Value as Json};

use crate::environment::{Said, View};
use crate::types::{Kind, kind};

/// Days that a day without a year is looked for in, ahead of today and before it.
const AHEAD: i32 = 370;
const BACK: i32 = 60;

/// A value, and how much speaks for it.
type Scored = Option<(usize, Json)>;

/// The user's words of a stage, and which of them were used.
#[derive(Clone)]
pub(super) struct Words {
    prose: std::sync::Arc<Prose>,
    /// All that the user has said, where that is more: what they speak of carries over.
    before: Option<std::sync::Arc<Prose>>,
    today: Date,
    used: Vec<(usize, usize)>,
    /// What somebody has signed in with, which stands for nothing else.
    secrets: std::sync::Arc<Vec<String>>,
}

impl Words {
    /// Reads what the user said from a turn on, by the day that the system message shows.
    pub(super) fn read(view: &View, first: usize) -> Self {
        let said = |from: usize| view.user_turns().skip(from).collect::<Vec<_>>().join(" ");
        let epoch = Clock { today: Date(0), zone: Zone::utc() };
        let system = Prose::read(&view.system, &epoch);
        let shown = system.mentions().iter().find_map(|mention| match &mention.what {
            What::Date(day) => full(day),
            _ => None,
        });
        let today = shown.unwrap_or(Date(0));
        let read =
            |from: usize| std::sync::Arc::new(Prose::read(&said(from), &Clock { today, zone: Zone::utc() }));
        Self {
            prose: read(first),
            before: (first > 0).then(|| read(0)),
            today,
            used: Vec::new(),
            secrets: secrets(view).into(),
        }
    }

    /// The same words with all that was said before them.
    pub(super) fn whole(&self) -> Self {
        let prose = self.before.clone().unwrap_or_else(|| self.prose.clone());
        Self { prose, before: None, used: Vec::new(), ..self.clone() }
    }

    /// A value for an argument; what need not be given is only taken where the words are sure.
    pub(super) fn value(&mut self, name: &str, schema: &Json, must: bool) -> Option<Json> {
        match kind(schema) {
            Kind::Choice => self.choice(schema),
            Kind::Date => self.day().map(|day| Json::from(day.to_string())),
            Kind::Time => self.time().map(Json::from),
            Kind::Moment => {
                let mut trial = self.clone();
                let (day, time) = (trial.day()?, trial.time()?);
                *self = trial;
                Some(Json::from(format!("{day}T{time}")))
            }
            Kind::Whole | Kind::Number if must || self.speaks_of(name) => self.number(name, schema),
            // A token is never said.
            Kind::Text if name.contains("token") => None,
            Kind::Text if must && self.labelled(name).is_some() => self.labelled(name),
            Kind::Text if is_login(name) && must => self.login(),
            Kind::Text if is_secret(name) && must => self.code(),
            Kind::Text if is_id(name) && must => self.known_code(),
            Kind::Text if must => self.quoted().or_else(|| self.name()).or_else(|| self.known_code()),
            Kind::Text if is_query(name) => self.quoted().or_else(|| self.name()),
            _ => None,
        }
    }

    /// Whether the words hold a word of a name.
    fn speaks_of(&self, name: &str) -> bool {
        Prose::stems_of(name).iter().any(|stem| self.prose.find_stem(*stem).is_some())
    }

    fn choice(&self, schema: &Json) -> Option<Json> {
        let values = schema.get("enum")?.as_array()?;
        let said = |value: &&Json| {
            value.as_str().is_some_and(|word| !self.prose.find(&word.replace('_', " ")).is_empty())
        };
        values.iter().find(said).cloned()
    }

    fn free(&self, start: usize, end: usize) -> bool {
        self.used.iter().all(|(from, to)| end <= *from || *to <= start)
    }

    fn day(&mut self) -> Option<Date> {
        let found = self.prose.mentions().iter().find_map(|mention| match &mention.what {
            What::Date(day) if self.free(mention.start, mention.end) => {
                Some((resolved(day, self.today)?, (mention.start, mention.end)))
            }
            _ => None,
        });
        let (day, span) = found?;
        self.used.push(span);
        Some(day)
    }

    fn time(&mut self) -> Option<String> {
        let found = self.prose.mentions().iter().find_map(|mention| match &mention.what {
            What::Time(time) if self.free(mention.start, mention.end) => {
                let text = time.time.to_string();
                Some((text.get(..5).unwrap_or(&text).to_owned(), (mention.start, mention.end)))
            }
            _ => None,
        });
        let (time, span) = found?;
        self.used.push(span);
        Some(time)
    }

    /// The number that stands nearest to a word of the name, else the first.
    fn number(&mut self, name: &str, schema: &Json) -> Option<Json> {
        let words = Prose::stems_of(name);
        let near = words.iter().find_map(|stem| self.prose.find_stem(*stem)).map(|span| span.start);
        let free = self.prose.numbers().filter(|(_, span)| self.free(span.start, span.end));
        let numbers: Vec<(f64, usize, usize)> =
            free.map(|(value, span)| (value, span.start, span.end)).collect();
        let distance = |start: usize| near.map_or(start, |near| near.abs_diff(start));
        let (value, start, end) = *numbers.iter().min_by_key(|(_, start, _)| distance(*start))?;
        self.used.push((start, end));
        if kind(schema) == Kind::Whole {
            return (value.fract() == 0.0).then(|| Json::from(value as i64));
        }
        serde_json::Number::from_f64(value).map(Json::Number)
    }

    /// A word with a digit that is no plain number: `APT-0744`, `B12`.
    fn code(&mut self) -> Option<Json> {
        let source = self.prose.source().to_owned();
        let mut at = 0;
        for word in
            source.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '?' | '!'))
        {
            let start = at;
            at += word.len() + 1;
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let has = |test: fn(char) -> bool| word.chars().any(test);
            let is_code =
                has(|c| c.is_ascii_digit()) && has(|c| c.is_ascii_uppercase() || c == '-' || c == '_');
            if is_code && !word.contains(':') && self.free(start, at) {
                self.used.push((start, at));
                return Some(Json::from(word));
            }
        }
        None
    }

    /// A code that is no secret.
    fn known_code(&mut self) -> Option<Json> {
        loop {
            let code = self.code()?;
            if !self.secrets.iter().any(|secret| code == **secret) {
                return Some(code);
            }
        }
    }

    /// What follows the name of an argument: `my username is koji.abe`.
    fn labelled(&self, name: &str) -> Option<Json> {
        let source = self.prose.source();
        let lower = source.to_ascii_lowercase();
        let name = name.replace('_', " ");
        let at = lower.find(&name)? + name.len();
        let rest = source.get(at..)?;
        let rest = [" is ", ": ", " = ", " would be "].iter().find_map(|label| rest.strip_prefix(label))?;
        let part = rest.split(['.', ',', ';', '!', '?']).next().filter(|part| part.len() > 1).unwrap_or(rest);
        let capital = |word: &&str| word.starts_with(char::is_uppercase);
        let named: Vec<&str> = part.split_whitespace().take_while(capital).collect();
        let word = rest.split_whitespace().next()?.trim_end_matches(['.', ',', ';', '!', '?']);
        let text = if named.len() > 1 { named.join(" ") } else { word.to_owned() };
        (!text.is_empty()).then(|| Json::from(text))
    }

    /// What stands in quotes.
    fn quoted(&mut self) -> Option<Json> {
        let source = self.prose.source().to_owned();
        for (open, close) in [('"', '"'), ('“', '”'), ('‘', '’')] {
            let start = source.find(open)? + open.len_utf8();
            let Some(length) = source.get(start..)?.find(close) else { continue };
            if length > 0 && self.free(start, start + length) {
                self.used.push((start, start + length));
                return source.get(start..start + length).map(Json::from);
            }
        }
        None
    }

    /// What somebody signs in as: the word that comes before their secret, small words apart: `tsaito with a4e8-b725`.
    fn login(&mut self) -> Option<Json> {
        let source = self.prose.source().to_owned();
        let secret = self.clone().code()?;
        let before = source.get(..source.find(secret.as_str()?)?)?;
        let trimmed = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let mut words = before.split_whitespace().rev().take(8).map(trimmed);
        let login = words.find(|word| {
            let lower = word.to_lowercase();
            word.len() > 1 && !BESIDE_SECRETS.contains(&&*lower) && !SMALL.contains(&&*lower)
        });
        login.map(Json::from)
    }

    /// The longest run of capitalised words, with the small words inside it: `Song for Ana`, `Horses and Threads`.
    fn name(&mut self) -> Option<Json> {
        let source = self.prose.source().to_owned();
        let words: Vec<(String, usize, usize)> =
            self.prose.words().map(|(word, span)| (word.to_owned(), span.start, span.end)).collect();
        let begins = |start: usize| {
            let before = source.get(..start).unwrap_or_default().trim_end();
            before.is_empty() || before.ends_with(['.', '!', '?', ':'])
        };
        let names = |(word, start, end): &(String, usize, usize)| {
            let capital = word.starts_with(char::is_uppercase) && word != "I" && !word.starts_with("I'");
            // The first word of a sentence is capitalised anyway.
            let opens = begins(*start) && OPENING.contains(&&*word.to_lowercase());
            capital && !opens && self.free(*start, *end)
        };
        let joined = |at: usize| match (words.get(at), words.get(at + 1)) {
            (Some((_, _, end)), Some((_, start, _))) => source
                .get(*end..*start)
                .is_some_and(|gap| gap.len() <= 2 && !gap.contains(['.', ',', '?', '!'])),
            _ => false,
        };
        let small = |word: &str| SMALL.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit());
        let mut best: Option<(usize, usize, usize)> = None;
        let mut at = 0;
        while let Some((_, start, _)) = words.get(at) {
            if !words.get(at).is_some_and(names) {
                at += 1;
                continue;
            }
            let (mut next, mut last) = (at, at);
            while joined(next) && words.get(next + 1).is_some_and(|word| names(word) || small(&word.0)) {
                next += 1;
                let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
                if words.get(next).is_some_and(|word| names(word) || number(&word.0)) {
                    last = next;
                }
            }
            let length = last + 1 - at;
            if best.is_none_or(|(known, ..)| length > known) {
                best = words.get(last).map(|(_, _, end)| (length, *start, *end));
            }
            at = next + 1;
        }
        let (_, start, end) = best?;
        self.used.push((start, end));
        let text = source.get(start..end)?;
        Some(Json::from(text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text)))
    }

    /// How many leaves of a value the words name.
    pub(super) fn named(&self, value: &Json) -> usize {
        match value {
            Json::String(text) if text.len() > 1 => {
                let as_day = Date::parse(text).is_some_and(|day| self.means(day));
                let said = |prose: &Prose| !prose.find(&text.replace('_', " ")).is_empty();
                // What was said of this request weighs more than what was said before.
                4 * usize::from(as_day || said(&self.prose))
                    + usize::from(self.before.as_deref().is_some_and(said))
            }
            Json::Array(items) => items.iter().map(|item| self.named(item)).sum(),
            Json::Object(members) => members.values().map(|member| self.named(member)).sum(),
            _ => 0,
        }
    }

    fn means(&self, date: Date) -> bool {
        let mut days = self.prose.mentions().iter().filter_map(|mention| match &mention.what {
            What::Date(day) => Some(day),
            _ => None,
        });
        days.any(|day| day.means(date, self.today))
    }

    /// The member of a name in what replies have shown, newest first.
    pub(super) fn remembered(&self, view: &View, name: &str) -> Option<Json> {
        let replies = view.conversation.iter().rev().filter_map(|said| match said {
            Said::Call(_, reply) => Some(&reply.body),
            _ => None,
        });
        self.named_in(replies, name)
    }

    /// The member of a name in some values: of the record that the words name most of, else the only one that there is. Of
    /// several that the words do not name, none is meant.
    pub(super) fn named_in<'a>(
        &self,
        bodies: impl IntoIterator<Item = &'a Json>,
        name: &str,
    ) -> Option<Json> {
        let mut best: Scored = None;
        let mut seen: Vec<Json> = Vec::new();
        let mut read = |record: &Map<String, Json>| {
            let value = record.get(name).filter(|value| value.is_string() || value.is_number())?;
            if !seen.contains(value) {
                seen.push(value.clone());
            }
            Some((self.named(&Json::Object(record.clone())), value.clone()))
        };
        bodies.into_iter().for_each(|body| self.best_of(body, &mut read, &mut best));
        let (score, value) = best?;
        (score > 0 || seen.len() == 1 || name.contains("token")).then_some(value)
    }

    /// The best that any record of a value gives; the first of those that are equally good.
    pub(super) fn best_of(
        &self,
        value: &Json,
        read: &mut dyn FnMut(&Map<String, Json>) -> Scored,
        best: &mut Scored,
    ) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| self.best_of(item, read, best)),
            Json::Object(members) => {
                if let Some((score, value)) = read(members)
                    && best.as_ref().is_none_or(|(known, _)| score > *known)
                {
                    *best = Some((score, value));
                }
                members.values().for_each(|member| self.best_of(member, read, best));
            }
            _ => {}
        }
    }
}

/// Small words inside names.
const SMALL: [&str; 16] =
    ["of", "the", "for", "in", "and", "to", "a", "an", "on", "at", "with", "de", "la", "le", "von", "&"];
/// Words between what somebody signs in as and their secret.
const BESIDE_SECRETS: [&str; 14] = [
    "as", "code", "is", "it's", "login", "my", "pass", "passcode", "password", "secret", "sign", "user",
    "username", "using",
];
/// Words that open sentences and are no names.
const OPENING: [&str; 60] = [
    "a", "add", "all", "also", "an", "and", "any", "are", "at", "book", "but", "can", "cancel", "change",
    "could", "did", "do", "does", "find", "for", "get", "give", "has", "have", "hello", "hey", "hi", "how",
    "if", "in", "is", "it", "its", "just", "let", "look", "make", "my", "no", "now", "of", "on", "our",
    "please", "put", "set", "show", "so", "thanks", "that", "the", "then", "there", "this", "what", "when",
    "where", "which", "who", "would",
];

/// The secrets among the arguments of the calls so far.
fn secrets(view: &View) -> Vec<String> {
    let calls = view.conversation.iter().filter_map(|said| match said {
        Said::Call(call, _) => Some(&call.arguments),
        _ => None,
    });
    let secret = calls.flatten().filter(|(name, _)| is_secret(name));
    secret.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect()
}

fn is_login(name: &str) -> bool {
    ["username", "login", "user_name", "account_name"].contains(&name)
}

fn is_secret(name: &str) -> bool {
    ["password", "passcode", "secret"].iter().any(|word| name.contains(word))
}

/// Whether an argument is what a list is searched for by.
fn is_query(name: &str) -> bool {
    ["name", "title", "query", "q", "search", "text"].contains(&name) || name.ends_with("_name")
}

fn is_id(name: &str) -> bool {
    let last = split_identifier(name).last().map(|word| word.to_lowercase());
    last.is_some_and(|last| ["id", "code", "number", "ref", "reference", "token", "sku"].contains(&&*last))
}

fn full(day: &Day) -> Option<Date> {
    day.readings.iter().flatten().find_map(|reading| match reading {
        diorama_simulator::grade::extract::DayReading::Full(date) => Some(*date),
        _ => None,
    })
}

/// The nearest day that a mention can mean, from today on, else before.
fn resolved(day: &Day, today: Date) -> Option<Date> {
    full(day).or_else(|| {
        let ahead = (0..=AHEAD).map(|days| Date(today.0 + days));
        let back = (1..=BACK).map(|days| Date(today.0 - days));
        ahead.chain(back).find(|date| day.means(*date, today))
    })
}
