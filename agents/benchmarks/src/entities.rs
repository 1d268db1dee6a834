//! Required names: puts names into a world's records before they are generated, so that searches find them.
//!
//! Each name is typed by a resource (`movie`), an API (`SearchMovie`) or a lookup path (`GET /search/movie`).
//! Names become `examples` of a source world, with records that lead to them. A named person is in a cast, a
//! named company made a film, and a film has the requested director. The world then counts as a benchmark
//! world.
//!
//! ```
//! use diorama_benchmarks::entities::{Entities, Entity};
//! use diorama_seeds::world;
//!
//! let source = "{world: 1, name: shop, clock: 2026-03-02T09:00, resources: {book: {key: book_id, display: title,
//!   fields: {title: {type: string, unique: true}}, records: 3}}, apis: []}";
//! let mut doc = world::read("shop", source.as_bytes())?;
//! let names = Entities::new([Entity { of: "book".into(), name: "Emma".into() }]);
//! assert!(names.put_into(&mut doc).is_empty());
//! assert!(doc.benchmark);
//! # Ok::<(), diorama_seeds::world::Report>(())
//! ```

use diorama_seeds::doc::{ApiDoc, FilterDoc, RecordsDoc, ResourceDoc, TypeName, WorldDoc};
use diorama_seeds::naming::resource_name;
use diorama_seeds::value::nfc;
use diorama_seeds::world::{Finding, Report};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

mod kin;
mod parts;
pub(crate) mod roles;

/// Maximum number of names in a file.
const MOST_NAMES: usize = 10_000;

/// A name with its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// A resource, an API, or a method and a path (or only a path) of an API that returns the resource. For a
    /// role, a resource and a member of the link records between it and others, such as `movie.job`.
    pub of: String,
    /// The name, as searches will use it.
    pub name: String,
}

/// Names to put into worlds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities {
    all: IndexSet<Entity>,
}

/// A name that the world cannot contain, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEntity {
    /// The name.
    pub entity: Entity,
    /// The reason.
    pub reason: String,
}

impl Entities {
    /// Collects names. Duplicates count once.
    pub fn new(names: impl IntoIterator<Item = Entity>) -> Self {
        let clean = |entity: Entity| Entity {
            of: entity.of.trim().to_owned(),
            name: nfc(entity.name.trim()).to_string(),
        };
        Self { all: names.into_iter().map(clean).filter(|entity| !entity.name.is_empty()).collect() }
    }

    /// Parses a file: a mapping from types to names, in YAML or JSON.
    ///
    /// ```yaml
    /// GET /search/movie: [The Dark Knight]
    /// person: [Sofia Coppola]
    /// season: ["3"]
    /// movie.job: [Director]
    /// ```
    ///
    /// A number for a resource of numbered parts is the minimum number of parts per record. A role is a
    /// member value that one link of each record has. Example: each film has one director.
    ///
    /// # Errors
    /// Returns a report if the text is not such a mapping.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, Report> {
        let fix = "write names by what they name: `person: [Sofia Coppola]`";
        let refuse = |message: String| Report::one(name, Finding::error("", message, fix));
        let text = std::str::from_utf8(text).map_err(|error| refuse(format!("not UTF-8: {error}")))?;
        let lists: IndexMap<String, Vec<String>> =
            serde_saphyr::from_str(text).map_err(|error| refuse(format!("not a list of names: {error}")))?;
        let names = lists
            .into_iter()
            .flat_map(|(of, names)| names.into_iter().map(move |name| Entity { of: of.clone(), name }));
        let read = Self::new(names);
        match read.all.len() {
            0 => Err(refuse("found no names".to_owned())),
            found if found > MOST_NAMES => {
                Err(refuse(format!("found {found} names, expected at most {MOST_NAMES}")))
            }
            _ => Ok(read),
        }
    }

    /// Returns the names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.all.iter()
    }

    /// Returns the names as a file for [`Entities::read`].
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut lists: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for entity in &self.all {
            lists.entry(&entity.of).or_default().push(&entity.name);
        }
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let line = |of: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            format!("{}: [{}]\n", quoted(of), names.join(", "))
        };
        lists.iter().map(|(of, names)| line(of, names)).collect()
    }

    /// Puts the names into the records of a source world of one domain, and marks it as a benchmark.
    ///
    /// A named record exists in the materialised world for any seed. A text search for the whole name finds
    /// it, and each kind of referring record has at least one that refers to it. Returns the names that the
    /// world cannot contain.
    pub fn put_into(&self, doc: &mut WorldDoc) -> Vec<MissingEntity> {
        doc.benchmark = true;
        let mut unplaced = Vec::new();
        let mut placed: IndexMap<String, IndexSet<String>> = IndexMap::new();
        let mut roles = Vec::new();
        for entity in &self.all {
            if parts::make_room(doc, &entity.of, &entity.name) {
                continue;
            }
            match place(doc, entity) {
                Ok((resource, field)) => {
                    let names = placed.entry(resource.clone()).or_default();
                    let new = names.insert(entity.name.clone());
                    let hidden = hiding(&doc.apis, &resource);
                    if let Some(resource) = doc.resources.get_mut(&resource)
                        && new
                    {
                        add(resource, &field, &entity.name, &hidden);
                    }
                }
                Err(_) if roles::is_role(doc, &entity.of, &entity.name) => roles.push(entity),
                Err(reason) => unplaced.push(MissingEntity { entity: entity.clone(), reason }),
            }
        }
        kin::lead_to(doc, &placed);
        // Roles come last, because named records lead to others through the same lists. Otherwise a role
        // would occur twice.
        for role in roles {
            roles::give(doc, &role.of, &role.name);
        }
        for resource in doc.resources.values_mut() {
            make_place(resource);
        }
        unplaced
    }
}

/// Returns the resource and the field for a name.
fn place(doc: &WorldDoc, entity: &Entity) -> Result<(String, String), String> {
    let api = api(doc, &entity.of);
    let resource = match api {
        Some(api) => {
            api.behaviour.resource().cloned().ok_or_else(|| format!("{} shows no records", api.name))?
        }
        None => {
            let known = [entity.of.clone(), resource_name(&entity.of)];
            known.into_iter().find(|name| doc.resources.contains_key(name)).ok_or_else(|| {
                format!(
                    "`{}` is neither a resource, nor an API, nor the path of one, nor a role (RESOURCE.MEMBER)",
                    entity.of
                )
            })?
        }
    };
    let described = doc.resources.get(&resource).ok_or_else(|| format!("there is no resource {resource}"))?;
    let searched =
        api.into_iter().flat_map(|api| api.behaviour.filters.values()).find_map(|filter| match filter {
            FilterDoc::Text(text) => text.text.first().cloned(),
            _ => None,
        });
    let field = searched
        .or_else(|| described.display.clone())
        .ok_or_else(|| format!("records of {resource} have no names"))?;
    match described.fields.get(&field) {
        Some(found) if found.values.is_empty() && found.kind == Some(TypeName::String) => {
            Ok((resource, field))
        }
        Some(found) if found.values.contains(&entity.name) => Ok((resource, field)),
        _ => Err(format!("{resource}.{field} takes no free names")),
    }
}

/// Returns an API by its name, by method and path, or by its path.
fn api<'a>(doc: &'a WorldDoc, of: &str) -> Option<&'a ApiDoc> {
    let path = of.split_once(' ').map_or(of, |(_, path)| path.trim());
    let method = of.split_once(' ').map_or("GET", |(method, _)| method);
    doc.apis.iter().find(|api| api.name == of).or_else(|| {
        doc.apis.iter().find(|api| api.method.as_str() == method && api.path == path && path.starts_with('/'))
    })
}

/// Returns the flags that hide a record from lists unless the caller asks for them (`!item.adult`).
fn hiding(apis: &[ApiDoc], resource: &str) -> Vec<String> {
    let lists = apis.iter().filter(|api| api.behaviour.list.as_deref() == Some(resource));
    let conditions: Vec<&str> = lists.filter_map(|api| api.behaviour.condition.as_deref()).collect();
    let flags = conditions
        .iter()
        .flat_map(|text| text.split("!item.").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
    flags.collect::<IndexSet<_>>().into_iter().collect()
}

/// Adds a record with this name before the other given ones.
fn add(resource: &mut ResourceDoc, field: &str, name: &str, hidden: &[String]) {
    if examples(resource).iter().any(|row| row.get(field).and_then(Json::as_str) == Some(name)) {
        return;
    }
    let mut row: IndexMap<String, Json> = IndexMap::from([(field.to_owned(), json!(name))]);
    for flag in hidden {
        if resource.fields.get(flag).is_some_and(|field| field.kind == Some(TypeName::Boolean)) {
            row.insert(flag.clone(), json!(false));
        }
    }
    examples(resource).push(row);
}

/// Increases a record count to at least twice the number of given records.
fn make_place(resource: &mut ResourceDoc) {
    let given = u32::try_from(resource.examples.len()).unwrap_or(u32::MAX);
    if let RecordsDoc::Count(count) = &mut resource.records
        && *count < given
    {
        *count = given.saturating_mul(2);
    }
}

/// Returns the list of a resource's given records, in whichever section it is.
fn examples(resource: &mut ResourceDoc) -> &mut Vec<IndexMap<String, Json>> {
    match &mut resource.records {
        RecordsDoc::Given(rows) if !rows.is_empty() => rows,
        _ => &mut resource.examples,
    }
}
