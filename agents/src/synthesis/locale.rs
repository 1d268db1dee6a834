//! One currency for the domains of a world: amounts, descriptions and words name that of the first domain.
//!
//! Domains of a world share the zone and the clock of the first one too, see [`diorama_seeds::compose`].

use std::collections::BTreeSet;

use diorama_seeds::doc::WorldDoc;
use regex::{Captures, Regex};
use serde_json::Value as Json;

/// A currency.
struct Currency {
    /// ISO 4217.
    code: &'static str,
    /// The sign before an amount in documents of this currency.
    sign: &'static str,
    /// The sign that replaces those of other currencies: it leaves no doubt which dollars are meant.
    clear_sign: &'static str,
    /// Names in the plural and the singular. The first one replaces those of other currencies.
    names: &'static [&'static str],
}

/// Currencies of which one unit buys about the same, so that an amount stays plausible in another one.
const CURRENCIES: [Currency; 6] = [
    Currency { code: "EUR", sign: "€", clear_sign: "€", names: &["euros", "euro"] },
    Currency { code: "GBP", sign: "£", clear_sign: "£", names: &["pounds", "pound", "quid"] },
    Currency { code: "USD", sign: "$", clear_sign: "$", names: &["dollars", "US dollars", "dollar"] },
    Currency {
        code: "AUD",
        sign: "$",
        clear_sign: "AUD ",
        names: &["Australian dollars", "dollars", "dollar"],
    },
    Currency {
        code: "SGD",
        sign: "$",
        clear_sign: "SGD ",
        names: &["Singapore dollars", "S dollars", "dollars", "dollar"],
    },
    Currency { code: "CHF", sign: "CHF", clear_sign: "CHF ", names: &["francs", "Swiss francs", "franc"] },
];

/// The documents with the currency of the first one, where theirs may be replaced by it.
#[must_use]
pub fn localise(docs: &[WorldDoc]) -> Vec<WorldDoc> {
    let target = docs.first().and_then(currency_of);
    let replace = |doc: &WorldDoc| match (currency_of(doc), target) {
        (Some(own), Some(target)) if own.code != target.code => replaced(doc, own, target),
        _ => None,
    };
    docs.iter().map(|doc| replace(doc).unwrap_or_else(|| doc.clone())).collect()
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

/// A document with another currency; none where the result could not be read.
fn replaced(doc: &WorldDoc, own: &Currency, target: &Currency) -> Option<WorldDoc> {
    let mut names: Vec<&str> = own.names.to_vec();
    names.push(own.code);
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    // In one pass, so that what replaces a name is not replaced itself.
    let named = Regex::new(&format!(r"\b(?:{})\b", names.join("|"))).ok()?;
    let text = serde_json::to_string(doc).ok()?;
    let text = named.replace_all(&text, |found: &Captures<'_>| match &found[0] {
        code if code == own.code => target.code,
        _ => target.names[0],
    });
    // A sign stands before an amount or a place for one: elsewhere `$` ends a pattern.
    let sign = Regex::new(&format!(r"{}([0-9{{])", regex::escape(own.sign))).ok()?;
    let by = format!("{}$1", target.clear_sign.replace('$', "$$"));
    let text = sign.replace_all(&text, by.as_str());
    serde_json::from_str(&text).ok()
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
    fn amounts_signs_and_words_name_the_currency_of_the_first_document() {
        let check = |own: &str, words: &str, first: &str, expected: &str| {
            let docs = [doc(first, ""), doc(own, words)];
            let found = localise(&docs).remove(1);
            assert_eq!(
                found.domain.as_ref().unwrap().description.as_deref(),
                Some(expected),
                "{own} {first}"
            );
            let field = &found.resources["sale"].fields["sum"];
            let code = if expected == words { own } else { first };
            assert_eq!(field.currency.as_deref(), Some(code));
        };
        check("EUR", "EUR 5, €{sum} or {sum} euros", "GBP", "GBP 5, £{sum} or {sum} pounds");
        check("AUD", "$5 in Australian dollars, ^a$", "CHF", "CHF 5 in francs, ^a$");
        check(
            "AUD",
            "{sum} dollars, Australian dollars",
            "SGD",
            "{sum} Singapore dollars, Singapore dollars",
        );
        check("GBP", "£{sum}, {sum} quid", "USD", "${sum}, {sum} dollars");
        // A yen buys a hundredth of a euro: such amounts stay as they are.
        check("JPY", "900 yen", "EUR", "900 yen");
    }
}
