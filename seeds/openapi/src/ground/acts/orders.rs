//! Orders lists by the words of a path: `/movies/popular`, `/news/latest`.

use diorama_seeds::doc::{RecordsDoc, ResourceDoc, SortDoc, TypeName};

use super::Act;
use super::filters::date_of;
use crate::ground::places::{Collection, Part};
use crate::shape::Shape;
use crate::words::words;

/// Words that ask for popular records, then the fields that measure popularity.
const POPULAR: [&str; 4] = ["popular", "trending", "featured", "hot"];
const POPULARITY: [&str; 8] =
    ["popularity", "views", "plays", "downloads", "followers", "vote_count", "likes", "score"];
/// Words that ask for the best records, then the fields that rate them.
const BEST: [&str; 3] = ["top", "rated", "best"];
const RATING: [&str; 6] = ["vote_average", "rating", "score", "stars", "average_rating", "points"];
/// Words that ask for new records, then words that ask for future ones.
const NEW: [&str; 5] = ["latest", "recent", "new", "newest", "last"];
const COMING: [&str; 2] = ["upcoming", "coming"];

/// The fewest records of a resource that is listed by time.
const RECORDS: u32 = 40;

/// An order, and a condition for the records in it.
struct Order {
    by: String,
    condition: Option<String>,
}

impl Act<'_> {
    /// Returns the order that the last word of the path asks for.
    fn order_said(&self, found: &Collection) -> Option<Order> {
        let Some(Part::Text(last)) = self.parts.last() else { return None };
        let said = words(last);
        let says = |wanted: &[&str]| said.iter().any(|word| wanted.contains(&word.as_str()));
        let resource = self.resources.get(&found.name)?;
        let down = |field: String| Order { by: format!("-{field}"), condition: None };
        if says(&POPULAR) {
            return number(resource, &POPULARITY).map(down);
        }
        if says(&BEST) {
            return number(resource, &RATING).map(down);
        }
        let date = date_of(resource).filter(|_| says(&NEW) || says(&COMING))?;
        Some(match says(&NEW) {
            true => Order { condition: Some(format!("item.{date} <= today")), ..down(date) },
            false => Order { condition: Some(format!("item.{date} > today")), by: date },
        })
    }

    /// Shows one record that no key names, such as the latest film. Returns true if the path asks for one.
    pub(super) fn one_of_many(&mut self) -> bool {
        let record = self.operation.reply.as_ref().map(Shape::fullest_object);
        let of = record.and_then(|record| self.places.one_shown(&self.parts, record));
        let Some(of) = of.filter(|of| self.is_stored(*of)) else { return false };
        let found = self.collection(of);
        let extreme = self.order_said(found).and_then(|order| {
            let field = order.by.strip_prefix('-')?.to_owned();
            let condition = order.condition?.replace("item.", "b.");
            Some(format!("a.{field} == {}.max(b, {condition}, b.{field})", found.name))
        });
        let key = found.first("a", extreme.as_deref().unwrap_or("true"));
        (self.api.behaviour.get, self.api.behaviour.key) = (Some(found.name.clone()), Some(key));
        true
    }

    /// Sorts a list as its path asks. Returns true if it asks for an order.
    pub(super) fn ordered_as_said(&mut self, found: &Collection) -> bool {
        let Some(Order { by, condition }) = self.order_said(found) else { return false };
        if let Some(condition) = condition {
            let known = self.api.behaviour.condition.take();
            let both = known.map_or_else(|| condition.clone(), |known| format!("{known} && {condition}"));
            self.api.behaviour.condition = Some(both);
        }
        // Lists by time need enough records for each time.
        if let Some(RecordsDoc::Count(count)) =
            self.resources.get_mut(&found.name).map(|doc| &mut doc.records)
        {
            *count = (*count).max(RECORDS);
        }
        self.api.behaviour.sort = Some(SortDoc { by: Some(by), ..SortDoc::default() });
        true
    }
}

/// Returns the first of some fields that is a number.
fn number(resource: &ResourceDoc, names: &[&str]) -> Option<String> {
    let is_number = |name: &&&str| {
        let kind = resource.fields.get(**name).and_then(|field| field.kind);
        matches!(kind, Some(TypeName::Integer | TypeName::Number))
    };
    names.iter().find(is_number).map(|name| (*name).to_owned())
}
