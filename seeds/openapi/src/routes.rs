//! Routes and replies, read for their nouns: which record a path is about, and whether a reply is one record,
//! a list, or a view of several lists beside a record.

use std::collections::{HashMap, HashSet};

pub(super) use diorama_seeds::naming::resource_name as entity_name;
use diorama_seeds::world::api_path::{Piece, pieces};

use super::document::Operation;
use super::shape::{Kind, Shape};
use super::words::{self, words};

/// What a path says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Route {
    /// Records named by keys, outermost first: `/tv/{tv_id}/season/{season_number}`.
    pub(super) chain: Vec<Step>,
    /// Static segments after the last key, or all of them.
    pub(super) tail: Vec<String>,
    /// Path parameters that choose among a few values instead of naming a record.
    pub(super) selectors: Vec<String>,
}

/// A key in a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Name of the resource.
    pub(super) entity: String,
    /// Name of the parameter.
    pub(super) parameter: String,
    /// The static segments before it.
    pub(super) path: Vec<String>,
}

/// Static segments of a document's paths that stand for a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Paths that end with a key and show the record behind it.
    shown: HashSet<String>,
    /// Paths that end with one parameter and go on with another.
    pairs: HashSet<String>,
    /// The resource that a parameter is the key of, where one path alone shows a record by it.
    keys: HashMap<String, Option<String>>,
}

impl Places {
    /// Finds them in all operations.
    pub(super) fn of(operations: &[Operation]) -> Self {
        let mut places = Self::default();
        places.find_keys(operations);
        places
    }

    /// Finds the paths that show a record by a key, and what their parameters are keys of.
    fn find_keys(&mut self, operations: &[Operation]) {
        let mut top = HashSet::new();
        for operation in operations {
            let (mut so_far, mut open) = (String::new(), false);
            for segment in operation.path.split('/').skip(1) {
                if open && !named(segment).0.is_empty() {
                    self.pairs.insert(so_far.clone());
                }
                so_far.push('/');
                so_far.push_str(segment);
                open = segment.ends_with('}');
            }
        }
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let record = |reply| matches!(view(reply, true, false), View::Record { .. });
            let segments: Vec<&str> =
                operation.path.split('/').filter(|part| !part.is_empty() && !is_version(part)).collect();
            let Some((last, before)) = segments.split_last() else { continue };
            let (parameters, verb) = named(last);
            // Before the key there may be parameters that belong to it: `/repos/{owner}/{repo}`.
            let place = before.iter().rposition(|segment| named(segment).0.is_empty());
            let (Some(place), [parameter], None) = (place, parameters.as_slice(), verb) else { continue };
            let (Some(noun), above) = (before.get(place), before.get(..place).unwrap_or_default()) else {
                continue;
            };
            if !operation.reply.as_ref().is_some_and(record) {
                continue;
            }
            self.shown.insert(operation.path.clone());
            let entity = entity_name(noun);
            // `/users/{username}` says more than `/orgs/{org}/memberships/{username}`.
            if above.is_empty() {
                self.keys.insert((*parameter).to_owned(), Some(entity));
                top.insert((*parameter).to_owned());
            } else if !top.contains(*parameter) {
                let known = self.keys.entry((*parameter).to_owned()).or_insert_with(|| Some(entity.clone()));
                if known.as_ref() != Some(&entity) {
                    *known = None;
                }
            }
        }
    }

    /// The resource behind a key at a path. Where nothing shows a record there, the noun may be a role of records that
    /// the same parameter names elsewhere: `/user/following/{username}` beside `/users/{username}`.
    fn behind(&self, noun: &str, parameter: &str, path: &str) -> String {
        const PLAIN: [&str; 8] = ["id", "_id", "name", "key", "code", "slug", "uuid", "number"];
        let elsewhere = self.keys.get(parameter).and_then(Option::as_ref);
        let plain = PLAIN.contains(&parameter.to_lowercase().as_str());
        let known = plain || self.shown.contains(path);
        let role = elsewhere.filter(|_| !known);
        role.cloned().unwrap_or_else(|| entity_name(noun))
    }
}

/// What a reply is.
pub(super) enum View<'a> {
    /// Objects in a list.
    List(List<'a>),
    /// One object, under these names.
    Record { shape: &'a Shape, envelope: Option<&'a str> },
    /// No JSON body, or one that is neither object nor list of objects.
    Other,
}

/// A list reply.
pub(super) struct List<'a> {
    pub(super) item: &'a Shape,
    /// Name of the array; empty when it is the whole body.
    pub(super) items: &'a str,
    /// The object around the array.
    pub(super) root: Option<&'a Shape>,
    pub(super) envelope: Option<&'a str>,
}

/// Names of arrays that say nothing about what is in them.
const GENERIC: [&str; 14] = [
    "results", "items", "data", "list", "entries", "records", "values", "content", "hits", "rows", "result",
    "elements", "objects", "value",
];

/// Path words that choose or order records instead of naming them.
const MODIFIERS: [&str; 40] = [
    "popular",
    "top",
    "rated",
    "upcoming",
    "latest",
    "now",
    "playing",
    "trending",
    "similar",
    "recommendations",
    "related",
    "recent",
    "search",
    "discover",
    "list",
    "all",
    "find",
    "featured",
    "random",
    "new",
    "newest",
    "best",
    "current",
    "active",
    "on",
    "the",
    "air",
    "airing",
    "today",
    "browse",
    "query",
    "lookup",
    "api",
    "by",
    "recommended",
    "me",
    "feed",
    "suggested",
    "lists",
    "nearby",
];

impl Route {
    pub(super) fn of(operation: &Operation, places: &Places) -> Self {
        let mut route = Self::default();
        let segments: Vec<&str> = operation.path.split('/').filter(|segment| !segment.is_empty()).collect();
        let mut noun: Option<&str> = None;
        let mut so_far = String::new();
        for segment in segments {
            so_far.push('/');
            so_far.push_str(segment);
            let (parameters, verb) = named(segment);
            let Some((parameter, others)) = parameters.split_first() else {
                let segment = without_ending(segment);
                if !is_version(segment) {
                    route.tail.push(segment.to_owned());
                    noun = Some(segment);
                }
                continue;
            };
            let parameter = *parameter;
            if !others.is_empty() {
                // Two values in one segment are no key.
                route.selectors.extend(parameters.iter().map(|name| (*name).to_owned()));
                route.tail.extend(verb.map(str::to_owned));
                noun = None;
                continue;
            }
            if noun.is_some() && places.pairs.contains(&so_far) && !places.shown.contains(&so_far) {
                // The last of several parameters is the key.
                route.selectors.push(parameter.to_owned());
                continue;
            }
            let shape = operation.path_parameter(parameter);
            let chooses = shape.is_some_and(|known| matches!(known.shape.kind, Kind::Enum(_)));
            let names_record = noun.filter(|noun| {
                !chooses && !words(noun).iter().all(|word| MODIFIERS.contains(&word.as_str()))
            });
            match names_record {
                Some(noun) if !starts_with_verb(noun) => {
                    route.chain.push(Step {
                        entity: places.behind(noun, parameter, &so_far),
                        parameter: parameter.to_owned(),
                        path: std::mem::take(&mut route.tail),
                    });
                }
                _ => route.selectors.push(parameter.to_owned()),
            }
            route.tail.extend(verb.map(str::to_owned));
            noun = None;
        }
        route
    }

    /// The record that the path is about.
    pub(super) fn subject(&self) -> Option<&Step> {
        self.chain.last()
    }

    /// Nouns that may name what the reply shows, the likeliest first.
    pub(super) fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        for segment in self.tail.iter().rev() {
            let parts = words(segment);
            if !parts.iter().all(|word| MODIFIERS.contains(&word.as_str())) {
                push_noun(&mut hints, segment);
            }
        }
        hints
    }

    /// The parameters that name records, outermost first.
    pub(super) fn keys(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.chain.iter().map(|step| &step.parameter)
    }

    /// The words of the tail that choose or order: `top_rated`, `similar`.
    pub(super) fn modifiers(&self) -> Vec<String> {
        self.tail
            .iter()
            .flat_map(|segment| words(segment))
            .filter(|word| MODIFIERS.contains(&word.as_str()))
            .collect()
    }
}

/// Adds the noun and, for compounds, its last words: `production_companies` gives `production_company`, `company`.
pub(super) fn push_noun(hints: &mut Vec<String>, name: &str) {
    let parts = words(name);
    for start in 0..parts.len() {
        let noun = entity_name(&parts.get(start..).unwrap_or_default().join("_"));
        if !hints.contains(&noun) {
            hints.push(noun);
        }
    }
}

/// Whether an array's name says nothing about its items.
pub(super) fn is_generic(name: &str) -> bool {
    name.is_empty() || GENERIC.contains(&name.to_lowercase().as_str())
}

/// Whether a member is about the page, not about a record.
pub(super) fn is_paging(name: &str) -> bool {
    paging_role(name).is_some()
}

/// What a paging member shows: `page`, `pages`, `total`, `limit`, `offset`, `next`; `other` for the rest.
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

/// Reads a reply. `about_record` says that the path ends with a record's key, so that an object with one list is
/// still that record.
pub(super) fn view<'a>(shape: &'a Shape, about_record: bool, has_page_parameter: bool) -> View<'a> {
    view_in(shape, None, about_record, has_page_parameter)
}

fn view_in<'a>(shape: &'a Shape, envelope: Option<&'a str>, about_record: bool, pages: bool) -> View<'a> {
    match &shape.kind {
        Kind::Array(item) if item.first_object().members().is_some() => {
            View::List(List { item: item.first_object(), items: "", root: None, envelope })
        }
        Kind::Union(_) => match shape.first_object() {
            object if object.members().is_some() => view_in(object, envelope, about_record, pages),
            _ => View::Other,
        },
        Kind::Object(members) => {
            let arrays: Vec<_> = members
                .iter()
                // What comes with a record of JSON:API is not listed.
                .filter(|(name, member)| {
                    let item = member.shape.items().filter(|_| *name != "included");
                    item.is_some_and(|item| item.first_object().members().is_some())
                })
                .collect();
            let others = members.iter().filter(|(_, member)| member.shape.items().is_none());
            // A `size` beside a name and a colour is no page size: paging is most of what stands beside a list.
            let paging = others.clone().filter(|(name, _)| is_paging(name)).count();
            let generic = matches!(arrays.as_slice(), [(name, _)] if is_generic(name));
            let paged = pages || (paging > 0 && (generic || paging * 2 >= others.clone().count()));
            let only_scalars =
                others.clone().all(|(name, member)| member.shape.is_scalar() || is_paging(name));
            let shows_record = about_record && !paged;
            match arrays.as_slice() {
                [(name, member)]
                    if (!shows_record || members.len() == 1)
                        && (paged || (only_scalars && (members.len() == 1 || is_generic(name)))) =>
                {
                    match member.shape.items() {
                        Some(item) => View::List(List {
                            item: item.first_object(),
                            items: name,
                            root: Some(shape),
                            envelope,
                        }),
                        None => View::Other,
                    }
                }
                _ => {
                    let inner: Vec<_> =
                        others.filter(|(_, member)| member.shape.members().is_some()).collect();
                    // What has no key of its own, around what has one, is no record.
                    let keyed = |inner: &Shape| inner.members().is_some_and(|inner| inner.contains_key("id"));
                    let wrapper = envelope.is_none()
                        && arrays.is_empty()
                        && !members.contains_key("id")
                        && (members.len() <= 4 || inner.iter().all(|(_, member)| keyed(&member.shape)));
                    match inner.as_slice() {
                        [(name, member)] if wrapper && (is_generic(name) || members.len() == 1) => {
                            view_in(&member.shape, Some(name), about_record, pages)
                        }
                        _ => View::Record { shape, envelope },
                    }
                }
            }
        }
        _ => View::Other,
    }
}

/// The parameters of a segment, and the verb after the last one: `{id}.json` has none, `{id}:activate` has one.
fn named(segment: &str) -> (Vec<&str>, Option<&str>) {
    let pieces = pieces(segment).unwrap_or_default();
    let name = |piece: &Piece<'_>| matches!(piece, Piece::Parameter(_));
    let verb = match pieces.as_slice() {
        [before @ .., Piece::Literal(last)] if before.iter().any(name) => last.strip_prefix(':'),
        _ => None,
    };
    let names = pieces.iter().filter_map(|piece| match piece {
        Piece::Parameter(name) => Some(*name),
        Piece::Literal(_) => None,
    });
    (names.collect(), verb.filter(|verb| !verb.is_empty()))
}

/// A noun without the ending of a file: `reports.json`.
fn without_ending(segment: &str) -> &str {
    [".json", ".xml", ".php"].iter().find_map(|ending| segment.strip_suffix(ending)).unwrap_or(segment)
}

fn is_version(segment: &str) -> bool {
    let lower = segment.to_lowercase();
    lower == "api"
        || lower.strip_prefix('v').is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
}

fn starts_with_verb(noun: &str) -> bool {
    words(noun)
        .first()
        .is_some_and(|first| ["find", "get", "search", "by", "lookup", "query"].contains(&first.as_str()))
}

/// A segment that is an action on a record: `/orders/{id}/cancel`.
pub(super) fn is_verb(segment: &str) -> bool {
    !words::words(segment).last().is_some_and(|last| words::is_plural(last))
}
