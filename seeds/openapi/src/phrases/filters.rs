//! Writes phrases for list filters: `the tasks that are open`, `the shops in Oslo`.

use diorama_seeds::doc::FieldDoc;

use super::meanings::{self, Values};
use super::{is_said, named, values_of};
use crate::nouns;
use crate::words::{is_id, words};

/// Returns the words after the noun for a field's value, with `{}` for the value; empty where users say none.
pub(crate) fn having(name: &str, given: &FieldDoc, known: &FieldDoc) -> String {
    let Some(values) = values_of(known).filter(|_| is_said(name, given) && !is_id(name)) else {
        return String::new();
    };
    let said = words(name);
    let is = |kind: &str| said.last().is_some_and(|last| nouns::is(kind, last));
    match values {
        Values::Word if is("states") => "that are {}".to_owned(),
        Values::Text if is("places") => "in {}".to_owned(),
        Values::Person if is("makers") => "by {}".to_owned(),
        Values::Word | Values::Text | Values::Person if meanings::of(name, values).is_some() => {
            format!("with the {} {{}}", named(name, Some(given)))
        }
        _ => String::new(),
    }
}

/// Returns the words after the noun for a lower or an upper bound; empty where users say none.
pub(crate) fn bounded(field: &str, noun: &str, known: &FieldDoc, is_least: bool) -> String {
    let Some((values, meaning)) =
        values_of(known).and_then(|values| Some((values, meanings::of(field, values)?)))
    else {
        return String::new();
    };
    match (values, meaning.participle, is_least) {
        // A timestamp brings its own preposition: "on 5 March".
        (Values::Moment, Some(done), true) => format!("{done} {{}} or later"),
        (Values::Moment, Some(done), false) => format!("{done} {{}} or earlier"),
        (Values::Number | Values::Measure, _, true) => format!("whose {noun} is at least {{}}"),
        (Values::Number | Values::Measure, _, false) => format!("whose {noun} is at most {{}}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use diorama_seeds::doc::TypeName;
    use serde_json::json;

    use super::*;

    #[test]
    fn list_filters_are_phrased_to_fit_their_fields() {
        let made = |fake| FieldDoc { kind: Some(TypeName::String), fake: Some(fake), ..FieldDoc::default() };
        let open = FieldDoc { values: vec!["open".into(), "paid".into()], ..FieldDoc::default() };
        let check = |name: &str, known: &FieldDoc, expect: &str| {
            assert_eq!(having(name, &FieldDoc::default(), known), expect, "{name}");
        };
        check("status", &open, "that are {}");
        check("country", &made(json!("country")), "in {}");
        check("author", &made(json!("person_name")), "by {}");
        check("category", &made(json!("category")), "with the category {}");
        check("product_id", &made(json!("category")), "");
        check("xy_flag", &made(json!("category")), "");
        let moment = FieldDoc { kind: Some(TypeName::DateTime), ..FieldDoc::default() };
        assert_eq!(bounded("created_at", "created at", &moment, true), "created {} or later");
        assert_eq!(bounded("odd_time", "odd time", &moment, true), "");
    }
}
