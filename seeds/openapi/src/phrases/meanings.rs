//! Reads the table of questions and statements about members, by name and kind of value.

use std::sync::LazyLock;

use diorama_seeds::table::rows;

use crate::words::words;

/// The meanings, one a line.
const MEANINGS: &str = include_str!("../data/meanings.txt");

/// The kind of a member's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// One of a few words.
    Word,
    /// A string with a provider of its own: a city, an email address.
    Text,
    /// The name of a person.
    Person,
    /// A number without a unit.
    Number,
    /// A number with a unit.
    Measure,
    /// An amount of money.
    Money,
    /// A day, a time, or both.
    Moment,
    /// A boolean.
    Flag,
}

/// A line of the table.
#[derive(Debug)]
struct Line {
    values: Values,
    names: Vec<Name>,
    whole: Meaning,
    /// The meaning for members with more words before the name: its phrases contain the noun.
    part: Option<Meaning>,
}

/// Questions and statements for members of some names.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    /// Questions: `{it}` is the record, `{noun}` the member in words.
    pub(super) asks: Vec<&'static str>,
    /// Statements with `{value}`. A flag has one for each value.
    pub(super) says: Vec<&'static str>,
    /// The participle for lists before a date: `created` on 5 March.
    pub(super) participle: Option<&'static str>,
}

/// The last words of a name, or all of them.
#[derive(Debug)]
struct Name {
    words: Vec<&'static str>,
    is_whole: bool,
}

static TABLE: LazyLock<Vec<Line>> = LazyLock::new(|| rows(MEANINGS).filter_map(read).collect());

/// Reads a line; none unless it has four parts and a known kind.
fn read(line: &'static str) -> Option<Line> {
    let mut parts = line.split('|').map(str::trim);
    let values = match parts.next()? {
        "word" => Values::Word,
        "text" => Values::Text,
        "person" => Values::Person,
        "number" => Values::Number,
        "measure" => Values::Measure,
        "money" => Values::Money,
        "moment" => Values::Moment,
        "flag" => Values::Flag,
        _ => return None,
    };
    let names = parts.next()?.split(',').map(str::trim).map(|name| {
        let bare = name.strip_prefix('=');
        Name { words: bare.unwrap_or(name).split('_').collect(), is_whole: bare.is_some() }
    });
    let names = names.collect();
    let mut sentences = || parts.next().map(|part| part.split(';').map(str::trim).collect::<Vec<_>>());
    let (asks, says) = (sentences()?, sentences()?);
    let whole = Meaning { asks, says, participle: parts.next() };
    let naming = |all: &[&'static str]| -> Vec<&'static str> {
        all.iter().copied().filter(|words| words.contains("{noun}")).collect()
    };
    let part = Meaning { asks: naming(&whole.asks), says: naming(&whole.says), participle: None };
    let part = Some(part).filter(|part| !part.asks.is_empty() && !part.says.is_empty());
    Some(Line { values, names, whole, part })
}

impl Name {
    /// Returns the number of words before these in a name that ends with them.
    fn words_before(&self, said: &[String]) -> Option<usize> {
        let first = said.len().checked_sub(self.words.len())?;
        let ends = said.iter().skip(first).zip(&self.words).all(|(word, own)| word == own);
        (ends && (first == 0 || !self.is_whole)).then_some(first)
    }
}

/// Returns the meaning of a member; none where users have no question for it.
pub(super) fn of(name: &str, values: Values) -> Option<&'static Meaning> {
    let said = words(name);
    let said = match values {
        Values::Flag => without_is(&said),
        _ => &said,
    };
    // A number without a unit may have the meaning of one with a unit, and either may be an amount.
    let of_kind = |values: Values| {
        TABLE.iter().filter(|line| line.values == values).find_map(|line| {
            let before = line.names.iter().filter_map(|name| name.words_before(said)).min()?;
            if before == 0 { Some(&line.whole) } else { line.part.as_ref() }
        })
    };
    let others: &[Values] = match values {
        Values::Measure => &[Values::Number, Values::Money],
        Values::Number => &[Values::Money],
        _ => &[],
    };
    of_kind(values).or_else(|| others.iter().find_map(|other| of_kind(*other)))
}

/// Returns true if a number of this name is an amount of money.
pub(super) fn is_money(name: &str) -> bool {
    of(name, Values::Money).is_some()
}

/// Returns the words of a boolean's name without "is": `active` of `is_active`.
pub(super) fn without_is(said: &[String]) -> &[String] {
    match said {
        [first, rest @ ..] if !rest.is_empty() && first == "is" => rest,
        all => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        assert_eq!(TABLE.len(), rows(MEANINGS).count());
        for Line { values, whole, .. } in TABLE.iter() {
            assert!(whole.asks.iter().all(|ask| ask.ends_with('?') && ask.contains("{it}")), "{whole:?}");
            assert!(whole.says.iter().all(|say| say.ends_with('.')), "{whole:?}");
            assert_eq!(*values == Values::Flag, whole.says.len() == 2, "{whole:?}");
        }
    }

    #[test]
    fn a_name_has_one_meaning_for_each_kind_of_values() {
        let mut seen = Vec::new();
        for Line { values, names, .. } in TABLE.iter() {
            for name in names {
                let own = (values, &name.words, name.is_whole);
                assert!(!seen.contains(&own), "{own:?}");
                seen.push(own);
            }
        }
        // The type belongs to the payment itself.
        let asks = of("payment_type", Values::Word).map(|found| found.asks.as_slice());
        assert_eq!(asks, Some(&["What's the {noun} of {it}?"][..]));
    }

    #[test]
    fn a_member_is_asked_for_by_its_last_words() {
        let check = |name: &str, values: Values, expect: Option<&str>| {
            assert_eq!(of(name, values).map(|found| found.asks[0]), expect, "{name}");
        };
        check("orderStatus", Values::Word, Some("What's the {noun} of {it}?"));
        check("createTime", Values::Moment, Some("When was {it} created?"));
        // The timestamp may belong to another creation.
        check("revisionCreateTime", Values::Moment, None);
        check("isActive", Values::Flag, Some("Is {it} {noun}?"));
        check("weight", Values::Measure, Some("How much does {it} weigh?"));
        check("price", Values::Number, Some("How much does {it} cost?"));
        check("shipping_cost", Values::Number, Some("What's the {noun} of {it}?"));
        check("downloadLimitResetUtcDate", Values::Moment, None);
        check("value_type", Values::Text, None);
        // A capacity need not count people.
        check("capacity", Values::Number, None);
        assert!(is_money("order_total") && !is_money("seats"));
    }
}
