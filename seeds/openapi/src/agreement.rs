//! Owns how the fields of one record are made to agree, by the relations of their names
//! (`diorama_seeds::agreement`).
//!
//! Relations become providers: expressions that the world file shows, and ranges that do not overlap. Replies
//! make objects inside records agree.

mod amounts;
mod makers;
mod moments;
mod states;

use std::collections::HashSet;

use diorama_seeds::agreement::{
    Moment, Page, bonds, counted, holds_state, is_of_money, page_member, reached,
};
use diorama_seeds::contract::noun;
use diorama_seeds::doc::{FieldDoc, ResourceDoc};
use indexmap::IndexMap;

use self::makers::{drawn_moment, is_drawn_number};
use super::shape::Shape;

/// Makes the fields of a resource's records agree.
pub(super) fn agree(resource: &mut ResourceDoc) {
    states::come_about(&mut resource.fields);
    moments::follow(&mut resource.fields);
    amounts::add_up(&mut resource.fields);
}

/// Returns true if the values of some of these fields must agree with each other.
pub(super) fn is_bound(fields: &IndexMap<String, FieldDoc>) -> bool {
    let moments: Vec<Moment> = fields
        .iter()
        .filter(|(_, field)| drawn_moment(field).is_some())
        .map(|(name, _)| Moment::named(name))
        .collect();
    let follows = moments.iter().any(|first| moments.iter().any(|second| first.precedes(second)));
    let numbers: Vec<&str> =
        fields.iter().filter(|(_, field)| is_drawn_number(field)).map(|(name, _)| name.as_str()).collect();
    let told = fields.iter().any(|(state, field)| {
        let values: Vec<&str> = field.values.iter().map(String::as_str).collect();
        holds_state(state) && fields.keys().any(|name| name != state && reached(name, &values).is_some())
    });
    follows || told || !bonds(&numbers).is_empty()
}

/// Returns the members of a record that count one of its lists or that say which page of it is shown.
pub(super) fn told_of_lists(record: &Shape) -> HashSet<&str> {
    let members = || record.members().into_iter().flatten();
    let lists: Vec<String> =
        members().filter(|(_, member)| member.shape.items().is_some()).map(|(name, _)| noun(name)).collect();
    if lists.is_empty() {
        return HashSet::new();
    }
    let names = || members().map(|(name, _)| name.as_str());
    let pages: Vec<(&str, Page)> = names().filter_map(|name| Some((name, page_member(name)?))).collect();
    // One such word may mean anything, and the total of an order does not count its lines.
    let is_priced = names().any(is_of_money);
    let is_paged = pages.len() > 1 || !is_priced && pages.iter().any(|(_, role)| *role == Page::Total);
    let pages = pages.into_iter().filter(|_| is_paged && lists.len() == 1).map(|(name, _)| name);
    pages.chain(names().filter(|name| counted(name).is_some_and(|of| lists.contains(&of)))).collect()
}

#[cfg(test)]
mod tests;
