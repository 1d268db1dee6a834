//! Sentences for fields that hold prose: notes, descriptions, reviews that agree with their ratings.

use super::super::maker::{Maker, Place};
use super::super::text::Provider;
use super::names::ends;
use crate::english::split_identifier;
use crate::schema::Type;
use crate::value::Value;

/// Sentences by the last words of the field's or the resource's name. Rows with a resource come first.
const SENTENCES: &[(&[&str], &[&str], &str)] = &[
    (&["review", "rating", "testimonial"], &["film", "movie", "series", "show"], "review_film"),
    (&["review", "rating"], &["book", "novel"], "review_book"),
    (&["playlist", "mix", "album"], &[], "about_playlist"),
    (&["review", "rating", "testimonial"], &[], "review"),
    (&["appointment", "visit", "patient", "treatment", "consultation", "session"], &[], "note_appointment"),
    (&["order", "dish", "meal", "basket"], &[], "note_order"),
    (&["delivery", "shipment", "parcel", "package", "courier"], &[], "note_delivery"),
    (&["reservation", "booking", "stay", "room"], &[], "note_reservation"),
    (&["ticket", "incident", "issue", "complaint", "bug", "case", "report"], &[], "problem"),
    (&["message", "email", "mail", "chat", "thread", "reminder"], &[], "message"),
    (&["post", "tweet", "update"], &[], "post"),
    (&["news", "article", "story"], &[], "news_summary"),
    (&["question"], &[], "question"),
    (&["answer"], &[], "answer"),
    (&["product", "item", "listing", "equipment", "article"], &[], "about_product"),
    (
        &["restaurant", "hotel", "cafe", "venue", "museum", "shop", "store", "gym", "place", "branch"],
        &[],
        "about_place",
    ),
    (&["event", "concert", "workshop", "exhibition", "activity", "festival"], &[], "about_event"),
    (&["recipe"], &[], "about_recipe"),
    (&["course", "class", "lesson", "module"], &[], "about_course"),
    (&["job", "vacancy", "position"], &[], "about_job"),
    (&["property", "apartment", "house", "flat", "rental"], &[], "about_property"),
    (&["movie", "film", "series", "show", "episode", "book"], &[], "about_film"),
    (&["prescription", "medication", "step"], &[], "instruction"),
    (&["feedback", "survey"], &[], "feedback"),
];

/// What a field name says about its text, whatever the resource.
const BY_FIELD: &[(&[&str], &str)] = &[
    (&["review"], "review"),
    (&["delivery"], "note_delivery"),
    (&["message"], "message"),
    (&["comment"], "remark"),
    (&["feedback"], "feedback"),
];

/// Names of fields that hold sentences.
pub(super) const PROSE: [&str; 26] = [
    "note",
    "notes",
    "comment",
    "comments",
    "message",
    "body",
    "text",
    "content",
    "description",
    "summary",
    "about",
    "overview",
    "details",
    "detail",
    "remark",
    "remarks",
    "review",
    "special_requests",
    "request",
    "synopsis",
    "abstract",
    "caption",
    "plot",
    "memo",
    "observation",
    "introduction",
];

/// A sentence, or a few, about what the field and the resource are about.
pub(in super::super) fn sentence(place: &Place<'_>, long: bool) -> Maker {
    let (field, resource) =
        (split_identifier(place.name), split_identifier(&place.world.resource(place.resource).name));
    let descriptive =
        ends(&field, &["description", "summary", "about", "overview", "synopsis", "plot", "introduction"]);
    let by_field = BY_FIELD.iter().find(|(names, _)| ends(&field, names)).map(|(_, rule)| *rule);
    let by_resource = || {
        let fits = |(names, with, _): &&(&[&str], &[&str], &str)| {
            let refers = with.is_empty() || refers_to(place, with);
            refers && ends(&resource, names)
        };
        SENTENCES
            .iter()
            .filter(|(.., rule)| !descriptive || !rule.starts_with("note"))
            .find(fits)
            .map(|(.., rule)| *rule)
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

/// The rating beside a review, and what reviews with low, middle and high ratings say.
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

/// Whether the resource's name or its references name one of these.
fn refers_to(place: &Place<'_>, names: &[&str]) -> bool {
    let resource = place.world.resource(place.resource);
    let inside = |name: &str| split_identifier(name).iter().any(|word| names.contains(&word.as_str()));
    inside(&resource.name)
        || resource.fields.iter().any(|field| match &field.schema.kind {
            Type::Reference { resource, .. } => inside(&place.world.resource(*resource).name),
            _ => false,
        })
}

/// Rules that do not exist, for the tests.
#[cfg(test)]
pub(super) fn unknown_rules() -> Vec<&'static str> {
    let rules = SENTENCES.iter().map(|(.., rule)| *rule).chain(BY_FIELD.iter().map(|(_, rule)| *rule));
    rules.filter(|rule| Provider::named(rule).is_none()).collect()
}
