//! Owns the sentences of prose fields: notes, descriptions, and reviews that agree with their ratings.

use super::super::maker::{Maker, Place};
use super::super::provider::Provider;
use super::names::ends;
use super::rows::{Row, rows, value};
use crate::english::split_identifier;
use crate::schema::Type;
use crate::value::Value;

/// Returns a maker of one or several sentences about the topic of the field and the resource.
pub(in super::super) fn sentence(place: &Place<'_>, long: bool) -> Maker {
    let (field, resource) =
        (split_identifier(place.name), split_identifier(&place.world.resource(place.resource).name));
    let descriptive =
        ends(&field, &["description", "summary", "about", "overview", "synopsis", "plot", "introduction"]);
    let by_field = value("sentences of fields", &field);
    let by_resource = || {
        rows("sentences of resources").iter().find_map(|row| {
            let (rule, with) = row.value.split_once(' ').unwrap_or((row.value, ""));
            let fits = ends(&resource, &row.names) && !(descriptive && rule.starts_with("note"));
            (fits && (with.is_empty() || refers_to(place, with))).then_some(rule)
        })
    };
    let fallback = match (descriptive, long) {
        (true, _) => "about_work",
        (_, true) => "paragraph",
        _ if ends(&field, &["note", "notes"]) => "note_general",
        _ => "sentence",
    };
    let film = descriptive.then(|| by_resource().filter(|rule| rule.starts_with("about"))).flatten();
    let rule = film.or(by_field).or_else(by_resource).unwrap_or(fallback);
    review(place, rule).or_else(|| Maker::rule(rule)).unwrap_or(Maker::Constant(Value::Null))
}

/// Returns the sentences that describe a resource with this name, whatever it refers to.
pub(in super::super) fn sentences_of(resource: &str) -> Option<&'static str> {
    let resource = split_identifier(resource);
    let fits = |row: &&Row| !row.value.contains(' ') && ends(&resource, &row.names);
    rows("sentences of resources").iter().find(fits).map(|row| row.value)
}

/// Returns the maker of a review that agrees with the rating beside it: low, middle or high.
fn review(place: &Place<'_>, rule: &str) -> Option<Maker> {
    let rules = match rule {
        "review_film" => ["film_bad", "film_mixed", "film_praise"],
        "review_book" => ["book_bad", "book_mixed", "book_good"],
        "review" => ["review_low", "review_mixed", "review_high"],
        _ => return None,
    };
    let rated = |field: &crate::model::Field| {
        let numeric = matches!(field.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
        numeric && ends(&split_identifier(&field.name), &["rating", "stars", "score", "grade"])
    };
    let rating = place.world.resource(place.resource).fields.iter().position(rated)?;
    let [low, middle, high] = rules.map(Provider::named);
    Some(Maker::Review { rating, rules: [low?, middle?, high?] })
}

/// Returns true if the name of the resource or one of its references has one of these words.
fn refers_to(place: &Place<'_>, names: &str) -> bool {
    let resource = place.world.resource(place.resource);
    let inside =
        |name: &str| split_identifier(name).iter().any(|word| names.split(' ').any(|name| name == word));
    inside(&resource.name)
        || resource.fields.iter().any(|field| match &field.schema.kind {
            Type::Reference { resource, .. } => inside(&place.world.resource(*resource).name),
            _ => false,
        })
}

/// Returns the rules that do not exist, for the tests.
#[cfg(test)]
pub(super) fn unknown_rules() -> Vec<&'static str> {
    let rows = rows("sentences of fields").iter().chain(rows("sentences of resources"));
    let rules = rows.map(|row| row.value.split(' ').next().unwrap_or_default());
    rules.filter(|rule| Provider::named(rule).is_none()).collect()
}
