//! Classifies a reply: one record, a list of records, or neither.

use super::document::Operation;
use super::nouns;
use super::shape::{Kind, Member, Shape};
use super::words::{self, words};

/// The kind of a reply.
pub(super) enum View<'a> {
    /// Objects in a list.
    List(List<'a>),
    /// One object.
    Record(&'a Shape),
    /// No JSON body, or one that is neither object nor list of objects.
    Other,
}

/// A list reply.
pub(super) struct List<'a> {
    pub(super) item: &'a Shape,
    /// The name of the array; empty when it is the whole body.
    pub(super) items: &'a str,
}

/// Names of arrays that say nothing about their items.
const GENERIC: [&str; 14] = [
    "results", "items", "data", "list", "entries", "records", "values", "content", "hits", "rows", "result",
    "elements", "objects", "value",
];

/// Returns true if an array's name says nothing about its items.
pub(super) fn is_generic(name: &str) -> bool {
    name.is_empty() || GENERIC.contains(&name.to_lowercase().as_str())
}

/// Returns true if a member is about the page and not about a record.
pub(super) fn is_paging(name: &str) -> bool {
    paging_role(name).is_some()
}

/// Returns the role of a paging member: `page`, `pages`, `total`, `limit`, `offset`, `next`; `other` for the
/// rest.
pub(super) fn paging_role(name: &str) -> Option<&'static str> {
    let words = words(name);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    Some(match words.join("_").as_str() {
        "page" | "current_page" | "page_number" | "page_index" => "page",
        "total_pages" | "pages" | "page_count" | "num_pages" | "last_page" => "pages",
        "total" | "total_results" | "count" | "total_count" | "total_items" | "total_elements"
        | "total_records" | "num_results" | "result_count" => "total",
        "limit" | "per_page" | "page_size" | "size" => "limit",
        "offset" | "skip" | "start" => "offset",
        "first" | "last" | "links" | "meta" | "has_next" => "other",
        _ if has(&["next", "cursor", "marker", "continuation"]) => "next",
        _ if has(&["previous", "prev", "more", "truncated", "pagination", "paging"]) => "other",
        _ => return None,
    })
}

/// Returns true if a member only says that an operation succeeded.
pub(super) fn is_outcome(name: &str) -> bool {
    nouns::is("outcomes", &words(name).join("_"))
}

/// Classifies a reply. `about_record` is true if the path ends with a record's key: an object with one list
/// is then that record.
pub(super) fn view(shape: &Shape, about_record: bool, has_page_parameter: bool) -> View<'_> {
    view_in(shape, false, about_record, has_page_parameter)
}

fn view_in(shape: &Shape, is_inside: bool, about_record: bool, pages: bool) -> View<'_> {
    match &shape.kind {
        Kind::Array(item) if item.first_object().members().is_some() => {
            View::List(List { item: item.first_object(), items: "" })
        }
        Kind::Union(_) => match shape.first_object() {
            object if object.members().is_some() => view_in(object, is_inside, about_record, pages),
            _ => View::Other,
        },
        Kind::Object(members) => {
            let arrays: Vec<_> = members
                .iter()
                // Related records of JSON:API (`included`) are not listed.
                .filter(|(name, member)| {
                    let item = member.shape.items().filter(|_| *name != "included");
                    item.is_some_and(|item| item.first_object().members().is_some())
                })
                .collect();
            let others = members.iter().filter(|(_, member)| member.shape.items().is_none());
            // A `size` beside a name and a colour is no page size: paging members must be half of those
            // beside a list.
            let paging = others.clone().filter(|(name, _)| is_paging(name)).count();
            let generic = matches!(arrays.as_slice(), [(name, _)] if is_generic(name));
            let paged = pages || (paging > 0 && (generic || paging * 2 >= others.clone().count()));
            let only_scalars =
                others.clone().all(|(name, member)| member.shape.is_scalar() || is_paging(name));
            let shows_record = about_record && !paged;
            // A success flag beside a list carries no information: `{"ok": true, "messages": [..]}`.
            let worked = others.clone().count() > 0 && others.clone().all(|(name, _)| is_outcome(name));
            match arrays.as_slice() {
                [(name, member)]
                    if (!shows_record || members.len() == 1)
                        && (paged
                            || worked
                            || (only_scalars && (members.len() == 1 || is_generic(name)))) =>
                {
                    match member.shape.items() {
                        Some(item) => View::List(List { item: item.first_object(), items: name }),
                        None => View::Other,
                    }
                }
                _ => {
                    // Paging members stand beside a record of JSON:API, too.
                    let inner: Vec<_> = others
                        .filter(|(name, member)| {
                            !is_paging(name) && member.shape.first_object().members().is_some()
                        })
                        .collect();
                    // A success flag beside a record carries no information: `{"ok": true, "channel": {..}}`.
                    let beside = members.iter().filter(|(name, _)| !inner.iter().any(|(own, _)| own == name));
                    let worked =
                        beside.clone().count() > 0 && beside.clone().all(|(name, _)| is_outcome(name));
                    // An object without a key around one with a key is no record.
                    let keyed = |inner: &Shape| inner.members().is_some_and(|inner| inner.contains_key("id"));
                    let wrapper = !is_inside
                        && arrays.is_empty()
                        && !members.contains_key("id")
                        && (members.len() <= 4 || inner.iter().all(|(_, member)| keyed(&member.shape)));
                    // A reply with a page parameter shows its only list, whatever stands around it.
                    let holds_list = |(_, member): &&(&String, &Member)| {
                        matches!(view_in(&member.shape, true, about_record, pages), View::List(_))
                    };
                    let may_hold = pages && !is_inside && arrays.is_empty() && !members.contains_key("id");
                    let mut lists = inner.iter().filter(|_| may_hold).filter(holds_list);
                    if let (Some((_, member)), None) = (lists.next(), lists.next()) {
                        return view_in(&member.shape, true, about_record, pages);
                    }
                    match inner.as_slice() {
                        [(name, member)] if wrapper && (is_generic(name) || members.len() == 1 || worked) => {
                            view_in(&member.shape, true, about_record, pages)
                        }
                        _ => View::Record(shape),
                    }
                }
            }
        }
        _ => View::Other,
    }
}

/// Returns true for a segment that is an action on a record: `/orders/{id}/cancel`.
pub(super) fn is_verb(segment: &str) -> bool {
    !words::words(segment).last().is_some_and(|last| words::is_plural(last))
}

/// Returns true if callers can ask for another page.
pub(super) fn has_page(operation: &Operation) -> bool {
    let asks = |name: &str| matches!(paging_role(name), Some("page" | "offset" | "next"));
    operation.parameters.iter().any(|parameter| asks(&parameter.name))
}
