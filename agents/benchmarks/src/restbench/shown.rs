//! Records that replies show: where, by the world's description of a reply, and which, in a reply.

use diorama_seeds::doc::{ApiDoc, ReplyFieldDoc, ReplyMemberDoc, WorldDoc};
use diorama_seeds::english::words;
use serde_json::{Map, Value as Json};

/// Replies nested deeper show nothing more.
const MAX_DEPTH: usize = 8;
/// Texts of more words say nothing of what a record is in a reply.
const MAX_WORDS_OF_ROLE: usize = 3;

/// A place in a reply where records stand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// Resources that the records may be of: several where the reply has one of several references.
    pub(super) resources: Vec<String>,
    /// Members from the body to the object; lists on the way count as each of their items.
    path: Vec<String>,
    /// Member with the key; the object itself where it is empty.
    key: String,
    /// Member with the name.
    name: Option<String>,
}

/// A record that a reply shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sighting {
    pub(super) resource: String,
    pub(super) key: Json,
    pub(super) name: Option<String>,
    /// Short texts that stand beside it, as lists of words: a job, a kind.
    pub(super) roles: Vec<Vec<String>>,
    /// True where it is the body itself, and not part of it.
    pub(super) is_body: bool,
}

/// Returns the records of a reply. Where a place may show records of several resources, a value among the arguments names one.
pub(super) fn sightings(all: &[Shown], arguments: &Map<String, Json>, body: &Json) -> Vec<Sighting> {
    let mut found = Vec::new();
    for shown in all {
        let named = |resource: &&String| arguments.values().any(|value| value.as_str() == Some(resource));
        let resources = match shown.resources.iter().find(named) {
            Some(resource) => std::slice::from_ref(resource),
            None => &shown.resources,
        };
        for item in items(body, &shown.path) {
            let key = if shown.key.is_empty() { Some(item) } else { item.get(&shown.key) };
            let keys = key.map_or(&[][..], |key| key.as_array().map_or(std::slice::from_ref(key), |all| all));
            let name = shown.name.as_ref().and_then(|name| item.get(name)?.as_str());
            for key in keys.iter().filter(|key| key.is_string() || key.is_number()) {
                found.extend(resources.iter().map(|resource| Sighting {
                    resource: resource.clone(),
                    key: key.clone(),
                    name: name.map(str::to_owned),
                    roles: roles(item),
                    is_body: shown.path.is_empty() && !body.is_array(),
                }));
            }
        }
    }
    found
}

/// Returns the objects at a path.
fn items<'a>(value: &'a Json, path: &[String]) -> Vec<&'a Json> {
    match (value, path) {
        (Json::Array(all), _) => all.iter().flat_map(|item| items(item, path)).collect(),
        (value, []) => vec![value],
        (value, [member, rest @ ..]) => value.get(member).map_or_else(Vec::new, |inner| items(inner, rest)),
    }
}

fn roles(item: &Json) -> Vec<Vec<String>> {
    let texts = item.as_object().into_iter().flat_map(Map::values).filter_map(Json::as_str);
    let texts = texts.map(|text| words(text).take(MAX_WORDS_OF_ROLE + 1).collect::<Vec<String>>());
    texts.filter(|words| !words.is_empty() && words.len() <= MAX_WORDS_OF_ROLE).collect()
}

/// Returns the places of an API's reply where records stand, in the order in which they are met.
pub(super) fn shown(doc: &WorldDoc, api: &ApiDoc) -> Vec<Shown> {
    let behaviour = &api.behaviour;
    let members = behaviour.members.as_ref().and_then(|path| {
        let (resource, list) = path.split_once('.')?;
        doc.resources.get(resource)?.fields.get(list)?.items.as_ref()?.reference.clone()
    });
    let is_list = behaviour.list.is_some() || members.is_some();
    let Some(resource) = behaviour.resource().cloned().or(members) else { return Vec::new() };
    let mut reader = Reader { doc, found: Vec::new() };
    let mut path: Vec<String> = api.reply.envelope.iter().cloned().collect();
    if is_list {
        let plural = || doc.resources.get(&resource)?.plural.clone();
        path.extend(api.reply.items.clone().or_else(plural).filter(|name| !name.is_empty()));
    }
    reader.object(&resource, api.reply.fields.as_deref(), &path);
    reader.found
}

/// A value that an object shows under a name.
enum Cell<'a> {
    Field(String, &'a str),
    Expression(String, &'a str),
}

type Cells<'a> = Vec<(&'a str, Cell<'a>)>;

struct Reader<'a> {
    doc: &'a WorldDoc,
    found: Vec<Shown>,
}

impl<'a> Reader<'a> {
    /// Reads an object that shows a record: with these members, or with all fields.
    fn object(&mut self, resource: &str, members: Option<&'a [ReplyFieldDoc]>, path: &[String]) {
        if path.len() > MAX_DEPTH {
            return;
        }
        let mut cells: Cells<'a> = Vec::new();
        let inner = self.found.len();
        match members {
            Some(members) => {
                for member in members {
                    match member {
                        ReplyFieldDoc::Field(field) => {
                            cells.push((field, Cell::Field(resource.to_owned(), field)));
                        }
                        ReplyFieldDoc::Member(member) => {
                            self.member(resource, member, &member.name, path, &mut cells);
                        }
                    }
                }
            }
            None => {
                let fields = self.doc.resources.get(resource).into_iter().flat_map(|own| own.fields.keys());
                cells.extend(fields.map(|field| (&**field, Cell::Field(resource.to_owned(), field))));
            }
        }
        let own: Vec<Shown> = cells.iter().filter_map(|cell| self.shown(cell, &cells, path)).collect();
        // Records that an object shows itself stand before those inside of it.
        self.found.splice(inner..inner, own);
    }

    /// Reads a member of an object; `name` is the one under which it stands.
    fn member(
        &mut self,
        resource: &str,
        member: &'a ReplyMemberDoc,
        name: &'a str,
        path: &[String],
        cells: &mut Cells<'a>,
    ) {
        let ReplyMemberDoc { field, follow, many, object, fields, expr, .. } = member;
        let inside = [path, &[name.to_owned()]].concat();
        let followed = follow.as_ref().and_then(|field| self.target(resource, field));
        if let Some(field) = field {
            cells.push((name, Cell::Field(resource.to_owned(), field)));
        } else if let Some(inner) = followed.or_else(|| many.clone()) {
            match fields.as_deref() {
                // The record stands there as one bare value.
                Some([ReplyFieldDoc::Member(only)]) if only.name.is_empty() => {
                    self.member(&inner, only, name, path, cells);
                }
                fields => self.object(&inner, fields, &inside),
            }
        } else if let Some(object) = object {
            self.object(resource, Some(object), &inside);
        } else if let Some(expr) = expr {
            cells.push((name, Cell::Expression(resource.to_owned(), expr)));
        }
    }

    /// Returns the records that a value is the key of, with the name that stands in the same object.
    fn shown(&self, (key, cell): &(&str, Cell<'a>), cells: &Cells<'a>, path: &[String]) -> Option<Shown> {
        let resources = match cell {
            Cell::Field(resource, field) => vec![self.key_of(resource, field)?],
            Cell::Expression(owner, expr) => {
                self.references(owner, expr).into_iter().map(|(_, resource)| resource).collect()
            }
        };
        let display = |resource: &str| self.doc.resources.get(resource)?.display.as_deref();
        let names = |other: &Cell<'a>| match (cell, other) {
            (Cell::Field(..), Cell::Field(owner, field)) => {
                resources.first() == Some(owner) && display(owner) == Some(field)
            }
            (Cell::Expression(owner, key), Cell::Expression(_, expr)) => {
                self.references(owner, key).iter().all(|(field, resource)| {
                    let display = display(resource).unwrap_or_default();
                    expr.contains(&format!("{resource}.get(record.{field}).{display}"))
                })
            }
            _ => false,
        };
        let name = cells.iter().find(|(_, other)| names(other)).map(|(name, _)| (*name).to_owned());
        (!resources.is_empty()).then(|| Shown {
            resources,
            path: path.to_vec(),
            key: (*key).to_owned(),
            name,
        })
    }

    /// Returns the resource whose key a field holds.
    fn key_of(&self, resource: &str, field: &str) -> Option<String> {
        let own = self.doc.resources.get(resource)?;
        if own.key == field { Some(resource.to_owned()) } else { self.target(resource, field) }
    }

    /// Returns the references that an expression has one of: `coalesce(record.a_id, record.b_id)`.
    fn references(&self, owner: &str, expr: &str) -> Vec<(String, String)> {
        let Some(inner) = expr.strip_prefix("coalesce(").and_then(|inner| inner.strip_suffix(')')) else {
            return Vec::new();
        };
        let reference = |part: &str| {
            let field = part.trim().strip_prefix("record.")?;
            Some((field.to_owned(), self.target(owner, field)?))
        };
        inner.split(',').map(reference).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Returns the resource that a reference, or a list of references, leads to.
    fn target(&self, resource: &str, field: &str) -> Option<String> {
        let field = self.doc.resources.get(resource)?.fields.get(field)?;
        let items = field.items.as_ref().and_then(|items| items.reference.clone());
        field.reference.clone().or(items)
    }
}
