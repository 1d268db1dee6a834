//! Sets the locale of a world: one zone and one currency for all of its domains.
//!
//! Domains of the catalog are written for no country. Generated phone numbers, addresses and cities follow
//! from the zone. This module converts amounts, descriptions and phrases to the currency.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::read_words;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value as Json;

/// A zone, and the currency of its country.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locale {
    /// The name of the zone in the IANA time zone database.
    pub zone: String,
    /// The code of the currency (ISO 4217).
    pub currency: String,
}

/// A currency that can replace another.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Currency {
    /// The code (ISO 4217).
    code: String,
    /// The sign before an amount in documents of this currency.
    sign: String,
    /// The sign that replaces those of other currencies: it names the country, as dollars need.
    clear_sign: String,
    /// The name that replaces those of other currencies in descriptions: it names the country, too.
    clear_name: String,
    /// Names in the plural and the singular. The first one replaces those of other currencies in phrases.
    names: Vec<String>,
}

/// The locales of worlds, and the currencies that replace each other.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Locales {
    locales: Vec<Locale>,
    currencies: Vec<Currency>,
}

static LOCALES: LazyLock<Locales> =
    LazyLock::new(|| read_words(include_str!("locales.yaml")).unwrap_or_default());

impl Locale {
    /// Draws a locale for documents: on the continent that one of them is bound to. Returns none where the first
    /// one has a currency that nothing replaces: it would not fit another zone.
    pub fn draw(docs: &[WorldDoc], rng: &mut ChaCha8Rng) -> Option<&'static Self> {
        if docs.first().is_some_and(keeps_currency) {
            return None;
        }
        let continents: Vec<&str> = docs.iter().filter_map(continent).collect();
        let suits = |locale: &&Self| {
            continents.iter().all(|continent| locale.zone.split('/').next() == Some(*continent))
        };
        LOCALES.locales.iter().filter(suits).collect::<Vec<_>>().choose(rng).copied()
    }

    /// Returns the documents in this zone, and with its currency where that can replace theirs.
    pub fn put_on(&self, docs: &[WorldDoc]) -> Vec<WorldDoc> {
        let replace = |doc: &WorldDoc| self.replace_currency(doc).unwrap_or_else(|| doc.clone());
        let mut docs: Vec<WorldDoc> = docs.iter().map(replace).collect();
        docs.iter_mut().for_each(|doc| self.zone.clone_into(&mut doc.zone));
        docs
    }

    /// Returns the document in this currency; none where it has this currency, no single one, or one of other
    /// price levels.
    /// Returns none where the result could not be read, too.
    fn replace_currency(&self, doc: &WorldDoc) -> Option<WorldDoc> {
        let mut json = serde_json::to_value(doc).ok()?;
        let (own, target) = (find_currency(only_currency(&json)?)?, find_currency(&self.currency)?);
        if own.code == target.code {
            return None;
        }
        let mut names: Vec<&str> = own.names.iter().map(String::as_str).chain([&*own.code]).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        // One pass replaces all names, so that no replacement is replaced again.
        let named = Regex::new(&format!(r"\b(?:{})\b", names.join("|"))).ok()?;
        // A sign stands before an amount or its slot; elsewhere `$` ends a pattern.
        let sign = Regex::new(&format!(r"{}([0-9{{])", regex::escape(&own.sign))).ok()?;
        let by = format!("{}$1", target.clear_sign.replace('$', "$$"));
        let spoken = target.names.first()?;
        let replace = |text: &str, is_description: bool| {
            let name = if is_description { &target.clear_name } else { spoken };
            let text = named.replace_all(text, |found: &Captures<'_>| match &found[0] {
                code if *code == own.code => &target.code,
                _ => name,
            });
            sign.replace_all(&text, by.as_str()).into_owned()
        };
        replace_texts(&mut json, false, &replace);
        serde_json::from_value(json).ok()
    }
}

/// Returns true if a document has one currency, which no other replaces.
fn keeps_currency(doc: &WorldDoc) -> bool {
    let json = serde_json::to_value(doc).unwrap_or_default();
    only_currency(&json).is_some_and(|code| find_currency(code).is_none())
}

fn find_currency(code: &str) -> Option<&'static Currency> {
    LOCALES.currencies.iter().find(|currency| currency.code == code)
}

/// Returns the code of a document's currency, if it has one alone.
fn only_currency(json: &Json) -> Option<&str> {
    let mut codes = BTreeSet::new();
    collect(json, &mut codes);
    codes.pop_first().filter(|_| codes.is_empty())
}

/// Returns the continent of a document's records, where they do not follow from the zone.
fn continent(doc: &WorldDoc) -> Option<&str> {
    doc.domain.as_ref().and_then(|domain| domain.continent.as_deref())
}

/// Collects the codes of members named `currency`: plain ones, and string literals of expressions.
fn collect<'j>(json: &'j Json, codes: &mut BTreeSet<&'j str>) {
    match json {
        Json::Object(members) => members.iter().for_each(|(name, member)| match member {
            Json::String(code) if name == "currency" && code.trim_matches('\'').len() == 3 => {
                codes.insert(code.trim_matches('\''));
            }
            member => collect(member, codes),
        }),
        Json::Array(items) => items.iter().for_each(|item| collect(item, codes)),
        _ => {}
    }
}

/// Replaces all strings; the flag is true for those of members named `description`.
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
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_currency_that_nothing_replaces_keeps_its_zone() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(Locale::draw(&[doc("PEN", "a till"), doc("EUR", "a shop")], &mut rng), None);
        assert!(Locale::draw(&[doc("EUR", "a shop"), doc("PEN", "a till")], &mut rng).is_some());
    }

    fn doc(currency: &str, words: &str) -> WorldDoc {
        let text = format!(
            r#"{{"world": 1, "name": "till", "clock": "2026-03-02T09:00", "domain": {{"name": "till", "description": "{words}"}},
                "resources": {{"sale": {{"key": "sale_id", "fields": {{"sum": {{"type": "decimal", "currency": "{currency}"}}}}}}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn amounts_signs_and_words_name_the_currency_of_the_locale() {
        let check = |own: &str, words: &str, currency: &str, expected: &str| {
            let locale = Locale { zone: "Europe/Zurich".to_owned(), currency: currency.to_owned() };
            let found = locale.put_on(&[doc(own, words)]).remove(0);
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
        // A yen is worth a hundredth of a euro, so such amounts stay as they are.
        check("JPY", "900 yen", "EUR", "900 yen");
    }

    #[test]
    fn a_domain_of_a_continent_keeps_its_world_there() {
        use rand::SeedableRng;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut docs = [doc("EUR", ""), doc("GBP", "")];
        let zones = |docs: &[WorldDoc], rng: &mut ChaCha8Rng| -> BTreeSet<&str> {
            (0..200).filter_map(|_| Locale::draw(docs, rng)).map(|locale| &*locale.zone).collect()
        };
        assert_eq!(zones(&docs, &mut rng).len(), 14);
        docs[1].domain.as_mut().unwrap().continent = Some("Europe".to_owned());
        let european = zones(&docs, &mut rng);
        assert!(european.len() >= 5 && european.iter().all(|zone| zone.starts_with("Europe/")));
    }
}
