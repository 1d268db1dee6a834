//! Resources: which schemas of a document are the same thing seen from different operations.
//!
//! A path's nouns name resources (`/movie/{movie_id}`); other objects are matched to them by the names around
//! them (`production_companies`, `/search/movie`) and by the members they share. What has an id and matches
//! nothing is a resource of its own; what has none stays a value inside its record.

use indexmap::{IndexMap, IndexSet};

use super::document::{Operation, Parameter};
use super::routes::{self, List, Route, View, is_generic, is_paging, push_noun};
use super::shape::{Kind, Member, Shape};
use super::words::{identifier, is_id, snake, words};

mod absorb;
mod discover;
mod meaning;

pub(super) use meaning::{display_member, is_taxonomy, key_member, looks_like_person, polymorphic};

/// What an object of a document stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A record of this resource.
    Entity(String),
    /// A record of a link, shown together with the record it leads to: a cast member is a credit and a person.
    Link { link: String, far: String },
    /// Part of its owner's record.
    Value,
}

/// A resource being inferred.
#[derive(Clone, Debug, Default)]
pub(super) struct Entity {
    pub(super) name: String,
    /// The key field of the world's resource.
    pub(super) key: String,
    /// The key's name in schemas.
    pub(super) key_member: Option<String>,
    pub(super) key_shape: Shape,
    /// A path leads to one record.
    pub(super) addressed: bool,
    /// Its own list exists, independent of any other record.
    pub(super) listed: bool,
    /// Members by their name in schemas.
    pub(super) fields: IndexMap<String, Fact>,
    /// References by field name.
    pub(super) references: IndexMap<String, Reference>,
    /// For parts of a whole that are numbered: a season of a show.
    pub(super) nest: Option<Nest>,
    /// The records it belongs to, with the names of the lists it stands in there.
    pub(super) owners: IndexMap<String, IndexSet<String>>,
    /// For links: the record in whose list it was seen, and the one it is shown as.
    pub(super) pairs: IndexSet<(String, String)>,
    /// For links: examples of its items, by list.
    pub(super) rows: IndexMap<String, Vec<Vec<serde_json::Value>>>,
    /// Whole records that the document shows.
    pub(super) examples: Vec<serde_json::Value>,
    /// The shortest list item seen.
    pub(super) summary: Option<Shape>,
    /// Exactly one record.
    pub(super) singleton: bool,
    /// Shape seen as a whole record.
    pub(super) root: Option<Shape>,
    /// Names of all members seen on its own records.
    pub(super) members: IndexSet<String>,
}

/// A member, as seen in all places.
#[derive(Clone, Debug, Default)]
pub(super) struct Fact {
    pub(super) shape: Shape,
    sights: u32,
    nullable_sights: u32,
    /// For links: the lists in which the member stands; empty when it stands in the record itself.
    pub(super) groups: IndexSet<String>,
    pub(super) everywhere: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    pub(super) target: String,
    pub(super) many: bool,
    pub(super) nullable: bool,
}

/// A place inside a parent, by number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nest {
    pub(super) parent: String,
    /// Name of the member; that of the parameter where no member shows it.
    pub(super) number: String,
}

impl Entity {
    /// The number of the record behind a key, for records that are known by names and have one, too.
    pub(super) fn number_behind(&self, key: &str) -> Option<String> {
        let numbered = self.fields.get("id").is_some_and(|id| id.shape.kind == Kind::Integer);
        numbered.then(|| format!("{}.get({key}).id", self.name))
    }
}

impl Fact {
    /// Null only where every place allows it.
    pub(super) fn nullable(&self) -> bool {
        self.sights > 0 && self.sights == self.nullable_sights
    }
}

/// All resources of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) entities: IndexMap<String, Entity>,
    /// Paths that list something.
    pub(super) listed_paths: IndexSet<String>,
}

impl Model {
    /// Finds the resources.
    pub(super) fn infer(operations: &[Operation]) -> Self {
        let mut model = Self::default();
        model.name_entities(operations);
        let lists = operations.iter().filter(|operation| operation.method == "GET").filter(|operation| {
            let view = |reply| routes::view(reply, operation.route.subject().is_some(), has_page(operation));
            operation.reply.as_ref().is_some_and(|reply| matches!(view(reply), View::List(_)))
        });
        model.listed_paths = lists.map(|operation| operation.path.clone()).collect();
        // Resources found on the way (genres) give meaning to members read before them (genre_ids), and kinship
        // needs whole records; so the document is read until nothing new appears.
        for _ in 0..4 {
            let before = (model.entities.len(), model.owner_count());
            for entity in model.entities.values_mut() {
                entity.fields.clear();
                entity.references.clear();
                entity.rows.clear();
                entity.examples.clear();
            }
            for operation in operations {
                model.read(operation);
            }
            if (model.entities.len(), model.owner_count()) == before {
                break;
            }
        }
        model.settle();
        model.drop_known_by_links();
        model
    }

    fn owner_count(&self) -> usize {
        self.entities
            .values()
            .map(|entity| entity.owners.values().map(IndexSet::len).sum::<usize>() + entity.pairs.len())
            .sum()
    }

    pub(super) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.get(name)
    }

    /// Whether `inner` is a numbered part of `outer`, at any depth.
    pub(super) fn contains(&self, outer: &str, inner: &str) -> bool {
        let mut at = inner;
        for _ in 0..8 {
            let Some(nest) = self.entity(at).and_then(|entity| entity.nest.as_ref()) else { return false };
            if nest.parent == outer {
                return true;
            }
            at = &nest.parent;
        }
        false
    }

    /// The resources that a numbered part lies in, innermost first.
    pub(super) fn ancestors(&self, name: &str) -> Vec<String> {
        let mut out = Vec::new();
        let mut at = name.to_owned();
        while let Some(nest) = self.entity(&at).and_then(|entity| entity.nest.as_ref()) {
            if out.contains(&nest.parent) || out.len() >= 8 {
                break;
            }
            out.push(nest.parent.clone());
            at.clone_from(&nest.parent);
        }
        out
    }

    fn refers(&self, from: &str, to: &str) -> bool {
        self.reference_to(from, to).is_some()
    }

    /// The single reference of a resource to another.
    pub(super) fn reference_to(&self, from: &str, to: &str) -> Option<String> {
        self.entity(from)?
            .references
            .iter()
            .find(|(_, reference)| reference.target == to && !reference.many)
            .map(|(name, _)| name.clone())
    }

    /// The list of references of a resource to another.
    pub(super) fn references_to(&self, from: &str, to: &str) -> Option<String> {
        self.entity(from)?
            .references
            .iter()
            .find(|(_, reference)| reference.target == to && reference.many)
            .map(|(name, _)| name.clone())
    }

    /// The resource that `show_id` means: the noun itself, or the noun's other name among the record's own kin.
    pub(super) fn aliased(&self, from: &str, noun: &str) -> Option<String> {
        let noun = routes::entity_name(noun);
        if self.entities.contains_key(&noun) {
            return Some(noun);
        }
        const SAME: [&[&str]; 5] = [
            &["tv", "show", "series", "tv_show", "tv_series"],
            &["movie", "film"],
            &["person", "people", "actor"],
            &["user", "author", "member", "account"],
            &["customer", "client"],
        ];
        let kin = SAME.iter().find(|group| group.contains(&noun.as_str()))?;
        let mut candidates = self.ancestors(from);
        candidates.extend(self.entities.keys().cloned());
        candidates.into_iter().find(|name| kin.contains(&name.as_str()))
    }

    /// After all sights: what links and parts refer to.
    fn settle(&mut self) {
        let names: Vec<String> = self.entities.keys().cloned().collect();
        for name in &names {
            let Some(entity) = self.entities.get(name).cloned() else { continue };
            if let Some(nest) = &entity.nest {
                let parent_key =
                    self.entity(&nest.parent).map(|parent| parent.key.clone()).unwrap_or_default();
                self.refer(name, &parent_key, &nest.parent, false, false);
                for ancestor in self.ancestors(name).into_iter().skip(1) {
                    let key = self.entity(&ancestor).map(|ancestor| ancestor.key.clone()).unwrap_or_default();
                    self.refer(name, &key, &ancestor, false, false);
                }
            }
            let ends = self.ends(&entity);
            let alternatives: Vec<String> = ends.alternatives.keys().cloned().collect();
            for owner in alternatives.iter().chain(&ends.hub) {
                let Some(key) = self.entity(owner).map(|owner| owner.key.clone()) else { continue };
                let nullable = alternatives.len() > 1 && Some(owner) != ends.hub.as_ref();
                self.refer(name, &key, owner, false, nullable);
                if let Some(reference) =
                    self.entities.get_mut(name).and_then(|entity| entity.references.get_mut(&key))
                {
                    reference.nullable = nullable;
                }
            }
        }
    }

    /// What a link says is not said again by a list of references.
    fn drop_known_by_links(&mut self) {
        let links: Vec<Ends> =
            self.entities.values().map(|link| self.ends(link)).filter(|ends| ends.hub.is_some()).collect();
        for ends in links {
            let Some(hub) = ends.hub.as_ref().and_then(|hub| self.entities.get_mut(hub)) else { continue };
            hub.references.retain(|_, reference| {
                !(reference.many && ends.alternatives.contains_key(&reference.target))
            });
        }
    }

    /// What a link or a part belongs to.
    pub(super) fn ends(&self, link: &Entity) -> Ends {
        let partners = |end: &String| {
            let mut others: IndexSet<&String> = IndexSet::new();
            for (near, far) in &link.pairs {
                if near == end {
                    others.insert(far);
                }
                if far == end {
                    others.insert(near);
                }
            }
            others.len()
        };
        let all: IndexSet<&String> = link.pairs.iter().flat_map(|(near, far)| [near, far]).collect();
        let mut hub: Option<&String> = None;
        for end in all {
            if hub.is_none_or(|known| partners(end) > partners(known)) {
                hub = Some(end);
            }
        }
        let mut alternatives = IndexMap::new();
        for (owner, groups) in &link.owners {
            if Some(owner) == hub {
                continue;
            }
            let mut groups = groups.clone();
            if hub.is_some() {
                // The cast of a season is that of its show; only what the show does not have is the season's own.
                for ancestor in self.ancestors(owner) {
                    if let Some(shared) = link.owners.get(&ancestor) {
                        groups.retain(|group| !shared.contains(group));
                    }
                }
            }
            if !groups.is_empty() {
                alternatives.insert(owner.clone(), groups);
            }
        }
        Ends { hub: hub.cloned(), alternatives }
    }
}

/// What a link or a part belongs to: always the hub (the person of a credit), and one of the alternatives, each
/// with the lists in which it stands there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ends {
    pub(super) hub: Option<String>,
    pub(super) alternatives: IndexMap<String, IndexSet<String>>,
}

/// Words by which a list is searched for a resource.
pub(super) fn list_hints(list: &List<'_>, route: &Route) -> Vec<String> {
    let mut hints = Vec::new();
    if !is_generic(list.items) {
        push_noun(&mut hints, list.items);
    }
    for hint in route.hints() {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    if hints.is_empty()
        && let Some(title) = &list.item.title
    {
        push_noun(&mut hints, title);
    }
    hints
}

pub(super) fn has_page(operation: &Operation) -> bool {
    operation
        .parameters
        .iter()
        .any(|parameter| matches!(routes::paging_role(&parameter.name), Some("page" | "offset" | "next")))
}

fn group_noun<'a>(group: &'a str, name: &'a str) -> &'a str {
    if is_generic(group) { name } else { group }
}
