//! The locale of a world: one zone and one currency for all of its domains.
//!
//! Domains of the catalog are written for no country. Phone numbers, addresses and cities follow from the zone when records are
//! made; amounts, descriptions and words are put into the currency here.

use std::collections::BTreeSet;

use diorama_seeds::doc::WorldDoc;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use regex::{Captures, Regex};
use serde_json::Value as Json;

/// A zone, and the currency of its country.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locale {
    /// The name of the zone in the IANA time zone database.
    pub zone: &'static str,
    /// ISO 4217.
    pub currency: &'static str,
}

const fn locale(zone: &'static str, currency: &'static str) -> Locale {
    Locale { zone, currency }
}

/// The locales of worlds: countries of which at least a dozen cities are known, and in which English words and the prices of the
/// catalog are plausible.
const LOCALES: [Locale; 14] = [
    locale("Europe/Dublin", "EUR"),
    locale("Europe/London", "GBP"),
    locale("Europe/Amsterdam", "EUR"),
    locale("Europe/Berlin", "EUR"),
    locale("Europe/Lisbon", "EUR"),
    locale("America/New_York", "USD"),
    locale("America/Chicago", "USD"),
    locale("America/Denver", "USD"),
    locale("America/Los_Angeles", "USD"),
    locale("America/Toronto", "CAD"),
    locale("America/Vancouver", "CAD"),
    locale("Australia/Sydney", "AUD"),
    locale("Australia/Melbourne", "AUD"),
    locale("Pacific/Auckland", "NZD"),
];

/// A currency.
struct Currency {
    /// ISO 4217.
    code: &'static str,
    /// The sign before an amount in documents of this currency.
    sign: &'static str,
    /// The sign that replaces those of other currencies: it leaves no doubt which dollars are meant.
    clear_sign: &'static str,
    /// The name that replaces those of other currencies in descriptions: it leaves no doubt either.
    clear_name: &'static str,
    /// Names in the plural and the singular. The first one replaces those of other currencies in what people say.
    names: &'static [&'static str],
}

/// Currencies of which one unit buys about the same, so that an amount stays plausible in another one.
const CURRENCIES: [Currency; 8] = [
    currency("EUR", "€", "€", "euros", &["euros", "euro"]),
    currency("GBP", "£", "£", "pounds", &["pounds", "pound", "quid"]),
    currency("USD", "$", "$", "US dollars", &["dollars", "US dollars", "dollar"]),
    currency("CAD", "$", "CAD ", "Canadian dollars", &["dollars", "Canadian dollars", "dollar"]),
    currency("AUD", "$", "AUD ", "Australian dollars", &["dollars", "Australian dollars", "dollar"]),
    currency("NZD", "$", "NZD ", "New Zealand dollars", &["dollars", "New Zealand dollars", "dollar"]),
    currency(
        "SGD",
        "$",
        "SGD ",
        "Singapore dollars",
        &["dollars", "Singapore dollars", "S dollars", "dollar"],
    ),
    currency("CHF", "CHF", "CHF ", "Swiss francs", &["francs", "Swiss francs", "franc"]),
];

const fn currency(
    code: &'static str,
    sign: &'static str,
    clear_sign: &'static str,
    clear_name: &'static str,
    names: &'static [&'static str],
) -> Currency {
    Currency { code, sign, clear_sign, clear_name, names }
}

impl Locale {
    /// Draws one that suits documents: of the continent that one of them is bound to.
    pub fn draw(docs: &[WorldDoc], rng: &mut ChaCha8Rng) -> Option<Self> {
        let continents: Vec<&str> = docs.iter().filter_map(continent).collect();
        let suits = |locale: &Self| {
            continents.iter().all(|continent| locale.zone.split('/').next() == Some(*continent))
        };
        LOCALES.iter().copied().filter(suits).collect::<Vec<_>>().choose(rng).copied()
    }

    /// The documents in this zone, and with its currency where theirs may be replaced by it.
    #[must_use]
    pub fn put_on(self, docs: &[WorldDoc]) -> Vec<WorldDoc> {
        let target = CURRENCIES.iter().find(|currency| currency.code == self.currency);
        let replace = |doc: &WorldDoc| match (currency_of(doc), target) {
            (Some(own), Some(target)) if own.code != target.code => replace_currency(doc, own, target),
            _ => None,
        };
        let mut docs: Vec<WorldDoc> =
            docs.iter().map(|doc| replace(doc).unwrap_or_else(|| doc.clone())).collect();
        docs.iter_mut().for_each(|doc| self.zone.clone_into(&mut doc.zone));
        docs
    }
}

/// The continent that a document's records lie on, where they do not follow from the zone.
fn continent(doc: &WorldDoc) -> Option<&str> {
    doc.domain.as_ref().and_then(|domain| domain.continent.as_deref())
}

/// The one currency of a document, where it is of [`CURRENCIES`].
fn currency_of(doc: &WorldDoc) -> Option<&'static Currency> {
    let mut codes = BTreeSet::new();
    collect(&serde_json::to_value(doc).ok()?, &mut codes);
    let [code] = <[String; 1]>::try_from(codes.into_iter().collect::<Vec<_>>()).ok()?;
    CURRENCIES.iter().find(|currency| currency.code == code)
}

/// Collects the codes of members called `currency`: plain ones, and string literals of expressions.
fn collect(json: &Json, codes: &mut BTreeSet<String>) {
    match json {
        Json::Object(members) => members.iter().for_each(|(name, member)| match member {
            Json::String(code) if name == "currency" && code.trim_matches('\'').len() == 3 => {
                codes.insert(code.trim_matches('\'').to_owned());
            }
            member => collect(member, codes),
        }),
        Json::Array(items) => items.iter().for_each(|item| collect(item, codes)),
        _ => {}
    }
}

/// Gives a document another currency; none where the result could not be read.
fn replace_currency(doc: &WorldDoc, own: &Currency, target: &Currency) -> Option<WorldDoc> {
    let mut names: Vec<&str> = own.names.to_vec();
    names.push(own.code);
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    // In one pass, so that what replaces a name is not replaced itself.
    let named = Regex::new(&format!(r"\b(?:{})\b", names.join("|"))).ok()?;
    // A sign stands before an amount or a place for one: elsewhere `$` ends a pattern.
    let sign = Regex::new(&format!(r"{}([0-9{{])", regex::escape(own.sign))).ok()?;
    let by = format!("{}$1", target.clear_sign.replace('$', "$$"));
    let replace = |text: &str, is_description: bool| {
        let name = if is_description { target.clear_name } else { target.names[0] };
        let text = named.replace_all(text, |found: &Captures<'_>| match &found[0] {
            code if code == own.code => target.code,
            _ => name,
        });
        sign.replace_all(&text, by.as_str()).into_owned()
    };
    let mut json = serde_json::to_value(doc).ok()?;
    replace_texts(&mut json, false, &replace);
    serde_json::from_value(json).ok()
}

/// Replaces all texts; those of members called `description` are told to be descriptions.
fn replace_texts(json: &mut Json, is_description: bool, replace: &impl Fn(&str, bool) -> String) {
    match json {
        Json::String(text) => *text = replace(text, is_description),
        Json::Array(items) => items.iter_mut().for_each(|item| replace_texts(item, is_description, replace)),
        Json::Object(members) => {
            for (name, member) in members.iter_mut() {
                replace_texts(member, name == "description", replace);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(currency: &str, words: &str) -> WorldDoc {
        let text = format!(
            r#"{{"world": 1, "name": "till", "clock": "2026-03-02T09:00", "domain": {{"name": "till", "description": "{words}"}},
                "resources": {{"sale": {{"key": "sale_id", "fields": {{"sum": {{"type": "decimal", "currency": "{currency}"}}}}}}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn amounts_signs_and_words_name_the_currency_of_the_locale() {
        let check = |own: &str, words: &str, currency: &'static str, expected: &str| {
            let found = locale("Europe/Zurich", currency).put_on(&[doc(own, words)]).remove(0);
            assert_eq!(found.zone, "Europe/Zurich");
            assert_eq!(
                found.domain.as_ref().unwrap().description.as_deref(),
                Some(expected),
                "{own} {currency}"
            );
            let field = &found.resources["sale"].fields["sum"];
            let code = if expected == words { own } else { currency };
            assert_eq!(field.currency.as_deref(), Some(code));
        };
        check("EUR", "EUR 5, €{sum} or {sum} euros", "GBP", "GBP 5, £{sum} or {sum} pounds");
        check("AUD", "$5 in Australian dollars, ^a$", "CHF", "CHF 5 in Swiss francs, ^a$");
        check(
            "SGD",
            "{sum} dollars, Singapore dollars",
            "AUD",
            "{sum} Australian dollars, Australian dollars",
        );
        check("GBP", "£{sum}, {sum} quid", "USD", "${sum}, {sum} US dollars");
        // A yen buys a hundredth of a euro: such amounts stay as they are.
        check("JPY", "900 yen", "EUR", "900 yen");
    }

    #[test]
    fn a_domain_of_a_continent_keeps_its_world_there() {
        use rand::SeedableRng;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut docs = [doc("EUR", ""), doc("GBP", "")];
        let zones = |docs: &[WorldDoc], rng: &mut ChaCha8Rng| -> BTreeSet<&str> {
            (0..200).filter_map(|_| Locale::draw(docs, rng)).map(|locale| locale.zone).collect()
        };
        assert_eq!(zones(&docs, &mut rng).len(), LOCALES.len());
        docs[1].domain.as_mut().unwrap().continent = Some("Europe".to_owned());
        let european = zones(&docs, &mut rng);
        assert!(european.len() >= 5 && european.iter().all(|zone| zone.starts_with("Europe/")));
    }
}
