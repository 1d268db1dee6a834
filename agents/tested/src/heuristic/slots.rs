//! Values that the user's words give, by type.

use diorama_seeds::value::{Date, Zone};
use diorama_simulator::grade::extract::prose::Prose;
use diorama_simulator::grade::extract::{Clock, Day, What};
use serde_json::{Map, Value as Json};

use crate::environment::View;
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
    today: Date,
    used: Vec<(usize, usize)>,
}

impl Words {
    /// Reads what the user said from a turn on, by the day that the system message shows.
    pub(super) fn read(view: &View, first: usize) -> Self {
        let words = view.user_turns().skip(first).collect::<Vec<_>>().join(" ");
        let epoch = Clock { today: Date(0), zone: Zone::utc() };
        let system = Prose::read(&view.system, &epoch);
        let shown = system.mentions().iter().find_map(|mention| match &mention.what {
            What::Date(day) => full(day),
            _ => None,
        });
        let today = shown.unwrap_or(Date(0));
        let prose = Prose::read(&words, &Clock { today, zone: Zone::utc() });
        Self { prose: std::sync::Arc::new(prose), today, used: Vec::new() }
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
            Kind::Text if is_id(name) && must => self.code(),
            Kind::Text if must => self.quoted().or_else(|| self.name()).or_else(|| self.code()),
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

    /// What follows the name of an argument: `my username is koji.abe`.
    fn labelled(&self, name: &str) -> Option<Json> {
        let source = self.prose.source();
        let lower = source.to_ascii_lowercase();
        let name = name.replace('_', " ");
        let at = lower.find(&name)? + name.len();
        let rest = source.get(at..)?;
        let rest = [" is ", ": ", " = "].iter().find_map(|label| rest.strip_prefix(label))?;
        let word = rest.split_whitespace().next()?.trim_end_matches(['.', ',', ';', '!', '?']);
        (!word.is_empty()).then(|| Json::from(word))
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

    /// The longest run of capitalised words that does not only begin a sentence.
    fn name(&mut self) -> Option<Json> {
        let source = self.prose.source().to_owned();
        let words: Vec<(String, usize, usize)> =
            self.prose.words().map(|(word, span)| (word.to_owned(), span.start, span.end)).collect();
        let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase) && word != "I";
        let begins = |start: usize| {
            let before = source.get(..start).unwrap_or_default().trim_end();
            before.is_empty() || before.ends_with(['.', '!', '?', ':'])
        };
        let mut best: Option<(usize, usize, usize)> = None;
        let mut at = 0;
        while at < words.len() {
            let mut end = at;
            while words.get(end).is_some_and(|(word, start, to)| {
                let joined = end == at
                    || words.get(end - 1).is_some_and(|(_, _, last)| {
                        source
                            .get(*last..*start)
                            .is_some_and(|gap| gap.len() <= 2 && !gap.contains(['.', ',']))
                    });
                capital(word) && self.free(*start, *to) && joined
            }) {
                end += 1;
            }
            // The first word of a sentence is capitalised anyway.
            let from = if words.get(at).is_some_and(|(_, start, _)| begins(*start)) && end > at {
                at + 1
            } else {
                at
            };
            if end > from
                && best.is_none_or(|(length, ..)| end - from > length)
                && let (Some((_, start, _)), Some((_, _, to))) = (words.get(from), words.get(end - 1))
            {
                best = Some((end - from, *start, *to));
            }
            at = end.max(at + 1);
        }
        let (_, start, end) = best?;
        self.used.push((start, end));
        source.get(start..end).map(Json::from)
    }

    /// How many leaves of a value the words name.
    pub(super) fn named(&self, value: &Json) -> usize {
        match value {
            Json::String(text) if text.len() > 1 => {
                let as_day = Date::parse(text).is_some_and(|day| self.means(day));
                usize::from(as_day || !self.prose.find(&text.replace('_', " ")).is_empty())
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

    /// The member of a name, of the record that the words name most of.
    pub(super) fn named_in(&self, body: &Json, name: &str) -> Option<Json> {
        let mut best: Option<(usize, Json)> = None;
        self.best_of(
            body,
            &mut |record| {
                let value = record
                    .get(name)
                    .filter(|value| !value.is_null() && !value.is_object() && !value.is_array())?;
                Some((self.named(&Json::Object(record.clone())), value.clone()))
            },
            &mut best,
        );
        best.map(|(_, value)| value)
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

fn is_id(name: &str) -> bool {
    ["_id", "_code", "_number", "_ref", "reference", "token"].iter().any(|end| name.ends_with(end))
        || name == "id"
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
