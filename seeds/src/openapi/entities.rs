//! Resources: which schemas of a document are the same thing seen from different operations.
//!
//! A path's nouns name resources (`/movie/{movie_id}`); other objects are matched to them by the names around
//! them (`production_companies`, `/search/movie`) and by the members they share. What has an id and matches
//! nothing is a resource of its own; what has none stays a value inside its record.

use indexmap::{IndexMap, IndexSet};

use super::document::Operation;
use super::routes::{self, List, Route, View, is_generic, is_paging, push_noun};
use super::shape::{Kind, Member, Shape};
use super::words::{identifier, snake, words};

/// Most example lists kept for one list of a link.
const MAX_LISTS: usize = 16;

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
    /// Name of the parameter and the member.
    pub(super) number: String,
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
}

impl Model {
    /// Finds the resources.
    pub(super) fn infer(operations: &[Operation]) -> Self {
        let mut model = Self::default();
        model.name_entities(operations);
        // Resources found on the way (genres) give meaning to members read before them (genre_ids), and kinship
        // needs whole records; so the document is read until nothing new appears.
        for _ in 0..4 {
            let before = (model.entities.len(), model.owner_count());
            for entity in model.entities.values_mut() {
                entity.fields.clear();
                entity.references.clear();
                entity.rows.clear();
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
        self.entities.values().map(|entity| entity.owners.values().map(IndexSet::len).sum::<usize>() + entity.pairs.len()).sum()
    }

    pub(super) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.get(name)
    }

    /// Pass one: nouns of paths, and the whole records behind them.
    fn name_entities(&mut self, operations: &[Operation]) {
        for operation in operations {
            let route = Route::of(operation);
            for (depth, step) in route.chain.iter().enumerate() {
                let parent = depth.checked_sub(1).and_then(|above| route.chain.get(above)).map(|step| step.entity.clone());
                let shape = operation.parameters.iter().find(|known| known.name == step.parameter).map(|known| known.shape.clone());
                self.declare(step, parent, shape.unwrap_or_default());
            }
            if let (Some(step), true, Some(reply)) = (route.subject(), route.tail.is_empty(), &operation.reply)
                && operation.method == "GET"
                && let View::Record { shape, .. } = routes::view(reply, true, false)
                && let Some(entity) = self.entities.get_mut(&step.entity)
            {
                entity.addressed = true;
                entity.key_member = key_member(shape, &step.entity, Some(&step.parameter));
                entity.root = Some(shape.clone());
            }
        }
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let route = Route::of(operation);
            let Some(reply) = operation.reply.as_ref().filter(|_| route.chain.is_empty()) else { continue };
            if let View::List(list) = routes::view(reply, false, has_page(operation)) {
                let hints = list_hints(&list, &route);
                let known = hints.into_iter().find(|hint| self.entities.contains_key(hint));
                if let Some(entity) = known.and_then(|known| self.entities.get_mut(&known)) {
                    entity.listed = true;
                    if entity.key_member.is_none() {
                        entity.key_member = key_member(list.item, &entity.name, None);
                    }
                    if entity.root.is_none() {
                        entity.root = Some(list.item.clone());
                    }
                }
            }
        }
    }

    fn declare(&mut self, step: &routes::Step, parent: Option<String>, shape: Shape) {
        let number = parent.filter(|_| {
            words(&step.parameter).last().is_some_and(|last| ["number", "no", "index", "position", "num"].contains(&last.as_str()))
        });
        let entity = self.entities.entry(step.entity.clone()).or_insert_with(|| Entity {
            name: step.entity.clone(),
            ..Entity::default()
        });
        if entity.key.is_empty() {
            let parameter = snake(&step.parameter);
            entity.key = match &number {
                None if parameter.contains('_') && !is_generic(&parameter) => parameter,
                _ => format!("{}_id", step.entity),
            };
            if number.is_none() {
                entity.key_shape = shape;
            }
        }
        if let (Some(parent), None) = (number, &entity.nest) {
            entity.nest = Some(Nest { parent, number: step.parameter.clone() });
        }
    }

    /// Pass two, for one operation.
    fn read(&mut self, operation: &Operation) {
        let route = Route::of(operation);
        if let (Some(reply), "GET") = (&operation.reply, operation.method.as_str()) {
            self.read_reply(operation, &route, reply);
        } else if let Some(reply) = &operation.reply
            && let View::Record { shape, .. } = routes::view(reply, true, false)
        {
            // What a write answers with is a sight of its record when it looks like one.
            if let Some(name) = self.written(&route) {
                let fits = self.entity(&name).and_then(|entity| entity.root.as_ref()).is_none_or(|root| overlap(shape, root) * 2 >= shape.members().map_or(0, IndexMap::len));
                if fits {
                    self.absorb(&name, shape, None);
                }
            }
        }
        if let Some(body) = &operation.body
            && let Some(name) = self.written(&route)
            && (matches!(operation.method.as_str(), "PUT" | "PATCH") || route.tail.len() <= 1)
        {
            let is_action = operation.method == "POST" && route.subject().is_some() && route.tail.last().is_some_and(|last| routes::is_verb(last));
            if !is_action {
                self.absorb(&name, body.first_object(), None);
            }
        }
    }

    /// The resource whose record a write makes or changes.
    pub(super) fn written(&self, route: &Route) -> Option<String> {
        if let Some(last) = route.tail.last() {
            let mut hints = Vec::new();
            push_noun(&mut hints, last);
            if let Some(name) = hints.into_iter().find(|hint| self.entities.contains_key(hint)) {
                return Some(name);
            }
        }
        route.subject().map(|step| step.entity.clone())
    }

    fn read_reply(&mut self, operation: &Operation, route: &Route, reply: &Shape) {
        let about_record = route.subject().is_some();
        match (routes::view(reply, about_record, has_page(operation)), route.subject()) {
            (View::Record { shape, .. }, Some(step)) if route.tail.is_empty() => {
                self.absorb(&step.entity.clone(), shape, None);
            }
            (View::Record { shape, .. }, Some(step)) => self.read_view(&step.entity.clone(), route, shape),
            (View::List(list), Some(step)) => {
                let owner = step.entity.clone();
                let group = if is_generic(list.items) { route.tail.last().map_or("items", String::as_str) } else { list.items };
                let hints = list_hints(&list, route);
                self.relate(&owner, group, &hints, list.item, true);
            }
            (View::List(list), None) => {
                let hints = list_hints(&list, route);
                if let Some(name) = self.meaning_or_new(list.item, &hints, true) {
                    self.absorb(&name, list.item, None);
                    self.summarise(&name, list.item);
                    if let Some(entity) = self.entities.get_mut(&name) {
                        entity.listed = true;
                    }
                }
            }
            (View::Record { shape, .. }, None) => {
                let name = match self.meaning(shape, &route.hints()) {
                    Meaning::Entity(name) => name,
                    _ => self.singleton(route, shape),
                };
                self.absorb(&name, shape, None);
            }
            (View::Other, _) => {}
        }
    }

    fn singleton(&mut self, route: &Route, _shape: &Shape) -> String {
        let name = route.hints().into_iter().next().or_else(|| route.tail.last().map(|last| snake(last))).unwrap_or_else(|| "service".to_owned());
        let name = match self.entity(&name) {
            Some(entity) if !entity.singleton => format!("{name}_summary"),
            _ => name,
        };
        self.entities.entry(name.clone()).or_insert_with(|| Entity {
            key: format!("{name}_id"),
            name: name.clone(),
            singleton: true,
            ..Entity::default()
        });
        name
    }

    /// `/movie/{id}/credits`: lists beside the record's id.
    fn read_view(&mut self, owner: &str, route: &Route, shape: &Shape) {
        let tail = route.hints();
        if let Some(other) = self.companion(owner, shape, &tail) {
            self.refer(owner, &format!("{other}_id"), &other, false, false);
            self.absorb(&other, shape, None);
            return;
        }
        for (name, member) in shape.members().into_iter().flatten() {
            match member.shape.items() {
                Some(item) if item.first_object().members().is_some() => {
                    let mut hints = Vec::new();
                    if !is_generic(name) {
                        let mut nouns = Vec::new();
                        push_noun(&mut nouns, name);
                        hints.extend(nouns.into_iter().filter(|noun| self.entities.contains_key(noun)));
                    }
                    hints.extend(tail.iter().cloned());
                    let group = if is_generic(name) { route.tail.last().map_or(name.as_str(), String::as_str) } else { name.as_str() };
                    self.relate(owner, group, &hints, item.first_object(), true);
                }
                _ if is_paging(name) => {}
                _ => self.absorb_member(owner, shape, name, member, None),
            }
        }
    }

    /// `/orders/{id}/customer`: another record, to which the path's record leads.
    pub(super) fn companion(&self, owner: &str, shape: &Shape, tail: &[String]) -> Option<String> {
        let Meaning::Entity(other) = self.meaning(shape, tail) else { return None };
        let root = self.entity(&other)?.root.as_ref()?;
        let alike = overlap(shape, root) >= 2 && overlap(shape, root) * 5 >= shape.members()?.len() * 3;
        (other != owner && tail.contains(&other) && alike).then_some(other)
    }

    /// Items of a list that belongs to a record.
    fn relate(&mut self, owner: &str, group: &str, hints: &[String], item: &Shape, may_own: bool) {
        match self.meaning(item, hints) {
            Meaning::Link { link, far } => self.absorb_link(owner, group, &link, &far, item),
            Meaning::Entity(name) => {
                self.absorb(&name, item, None);
                self.summarise(&name, item);
                if name == owner || self.contains(owner, &name) || self.refers(&name, owner) {
                    return;
                }
                let owned = may_own && !self.is_independent(&name);
                if owned {
                    self.own(owner, group, &name);
                } else {
                    self.refer(owner, &format!("{}_ids", routes::entity_name(group_noun(group, &name))), &name, true, false);
                }
            }
            Meaning::Value => {
                let Some(name) = self.meaning_or_new(item, hints, may_own) else { return };
                let taxonomy = is_taxonomy(item);
                self.absorb(&name, item, None);
                if taxonomy {
                    self.refer(owner, &format!("{}_ids", routes::entity_name(group_noun(group, &name))), &name, true, false);
                } else {
                    self.own(owner, group, &name);
                }
            }
        }
    }

    fn own(&mut self, owner: &str, group: &str, name: &str) {
        if let Some(entity) = self.entities.get_mut(name) {
            entity.owners.entry(owner.to_owned()).or_default().insert(group.to_owned());
        }
    }

    /// Whether records of it stand on their own: listed or small words that many records share.
    fn is_independent(&self, name: &str) -> bool {
        self.entity(name).is_some_and(|entity| {
            let small = entity.summary.as_ref().is_some_and(is_taxonomy) && !entity.addressed;
            entity.owners.is_empty() && (entity.listed || small)
                || (entity.addressed && entity.owners.is_empty() && entity.root.as_ref().is_some_and(|root| root.member("name").is_some()))
        })
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
        self.entity(from)?.references.iter().find(|(_, reference)| reference.target == to && !reference.many).map(|(name, _)| name.clone())
    }

    /// The list of references of a resource to another.
    pub(super) fn references_to(&self, from: &str, to: &str) -> Option<String> {
        self.entity(from)?.references.iter().find(|(_, reference)| reference.target == to && reference.many).map(|(name, _)| name.clone())
    }

    fn refer(&mut self, owner: &str, field: &str, target: &str, many: bool, nullable: bool) {
        let field = identifier(field);
        let Some(entity) = self.entities.get_mut(owner) else { return };
        let known = entity.references.entry(field).or_insert_with(|| Reference { target: target.to_owned(), many, nullable });
        known.nullable &= nullable;
    }

    fn summarise(&mut self, name: &str, item: &Shape) {
        let Some(entity) = self.entities.get_mut(name) else { return };
        let size = |shape: &Shape| shape.members().map_or(0, IndexMap::len);
        if size(item) >= 2 && entity.summary.as_ref().is_none_or(|known| size(item) < size(known)) {
            entity.summary = Some(item.clone());
        }
    }

    /// What an object stands for, by the resources known so far.
    pub(super) fn meaning(&self, shape: &Shape, hints: &[String]) -> Meaning {
        let Some(members) = shape.members() else {
            if let Kind::Cycle(name) = &shape.kind
                && self.entities.contains_key(&snake(name))
            {
                return Meaning::Entity(snake(name));
            }
            return Meaning::Value;
        };
        if members.is_empty() {
            return hints.iter().find(|hint| self.entities.contains_key(*hint)).map_or(Meaning::Value, |hint| Meaning::Entity(hint.clone()));
        }
        if let Some(link) = self.link_of(shape, members) {
            return link;
        }
        for hint in hints {
            let Some(entity) = self.entity(hint) else { continue };
            let fits = match entity.root.as_ref().filter(|root| root.members().is_some_and(|members| !members.is_empty())) {
                Some(root) => overlap(shape, root) * 5 >= members.len() * 2,
                None => key_member(shape, hint, None).is_some(),
            };
            if fits {
                return Meaning::Entity(hint.clone());
            }
        }
        // A component's name is as good as a noun of the path.
        if let Some(title) = &shape.title
            && let Some(entity) = self.entity(&routes::entity_name(title))
        {
            return Meaning::Entity(entity.name.clone());
        }
        let best = self
            .entities
            .values()
            .filter_map(|entity| {
                let shared = overlap(shape, entity.root.as_ref()?);
                let has_key = entity.key_member.as_ref().is_some_and(|key| members.contains_key(key));
                (has_key && shared >= 4 && shared * 4 >= members.len() * 3).then_some((shared, entity))
            })
            .fold(None, |best: Option<(usize, &Entity)>, next| match best {
                Some(known) if known.0 >= next.0 => Some(known),
                _ => Some(next),
            });
        best.map_or(Meaning::Value, |(_, entity)| Meaning::Entity(entity.name.clone()))
    }

    /// A record with the key of another beside its own: `credit_id` beside the person's `id`.
    fn link_of(&self, shape: &Shape, members: &IndexMap<String, Member>) -> Option<Meaning> {
        for (name, member) in members {
            let Some(link) = name.strip_suffix("_id").and_then(|noun| self.entity(noun)) else { continue };
            if !member.shape.is_scalar() || link.key_member.is_none() {
                continue;
            }
            let far = self
                .entities
                .values()
                .filter(|entity| entity.name != link.name && entity.nest.is_none())
                .filter_map(|entity| {
                    let root = entity.root.as_ref()?;
                    let key = entity.key_member.as_ref()?;
                    let named = display_member(root).is_some_and(|display| members.contains_key(display));
                    (members.contains_key(key) && root.member(name).is_none() && named).then(|| (overlap(shape, root), entity))
                })
                .fold(None, |best: Option<(usize, &Entity)>, next| match best {
                    Some(known) if known.0 >= next.0 => Some(known),
                    _ => Some(next),
                });
            if let Some((shared, far)) = far
                && shared >= 2
            {
                return Some(Meaning::Link { link: link.name.clone(), far: far.name.clone() });
            }
        }
        None
    }

    /// The resource an object is a record of; a new one where none is known and the object has an identity, or
    /// `force` says that its records need one.
    fn meaning_or_new(&mut self, shape: &Shape, hints: &[String], force: bool) -> Option<String> {
        match self.meaning(shape, hints) {
            Meaning::Entity(name) => return Some(name),
            Meaning::Link { far, .. } => return Some(far),
            Meaning::Value => {}
        }
        let titled = shape.title.as_ref().map(|title| routes::entity_name(title)).filter(|_| hints.is_empty());
        let mut name = hints.first().cloned().or(titled).unwrap_or_else(|| "item".to_owned());
        let key = key_member(shape, &name, None);
        if key.is_none() && !force {
            return None;
        }
        if self.entity(&name).is_some_and(|entity| entity.root.is_some()) {
            // The name is taken by something that looks different.
            name = format!("{name}_entry");
        }
        let key_shape = key.as_ref().and_then(|key| shape.member(key)).cloned().unwrap_or_else(|| Shape::of(Kind::Integer));
        let key_field = match &key {
            Some(key) if key != "id" && key != "_id" => identifier(key),
            _ => format!("{name}_id"),
        };
        self.entities.entry(name.clone()).or_insert_with(|| Entity {
            name: name.clone(),
            key: key_field,
            key_member: key,
            key_shape,
            root: Some(shape.clone()),
            summary: Some(shape.clone()),
            ..Entity::default()
        });
        Some(name)
    }

    /// Takes a sight of a record in.
    fn absorb(&mut self, name: &str, shape: &Shape, group: Option<&str>) {
        let Some(members) = shape.members() else { return };
        if let Some(entity) = self.entities.get_mut(name) {
            entity.members.extend(members.keys().cloned());
        }
        for (member_name, member) in members {
            self.absorb_member(name, shape, member_name, member, group);
        }
    }

    fn absorb_member(&mut self, name: &str, owner_shape: &Shape, member_name: &str, member: &Member, group: Option<&str>) {
        let Some(entity) = self.entities.get_mut(name) else { return };
        let shape = &member.shape;
        if entity.key_member.as_deref() == Some(member_name) || (member_name == "id" && entity.nest.is_some()) {
            entity.key_member = Some(member_name.to_owned());
            entity.key_shape.merge(shape.clone());
            return;
        }
        if entity.key == member_name && shape.is_scalar() {
            return;
        }
        let part = member_name.rsplit_once('_').filter(|(noun, part)| matches!(*part, "title" | "name") && polymorphic(owner_shape, noun) && !self.entities.contains_key(*noun));
        if part.is_some() && shape.is_scalar() {
            return;
        }
        if let Some(noun) = member_name.strip_suffix("_id")
            && shape.is_scalar()
        {
            if polymorphic(owner_shape, noun) && !self.entities.contains_key(noun) {
                return;
            }
            if let Some(target) = self.aliased(name, noun) {
                if self.ancestors(name).contains(&target) {
                    return;
                }
                self.refer(name, member_name, &target, false, shape.nullable);
                return;
            }
        }
        if let Some(noun) = member_name.strip_suffix("_ids")
            && shape.items().is_some_and(Shape::is_scalar)
            && let Some(target) = self.entity(&routes::entity_name(noun)).map(|entity| entity.name.clone())
        {
            self.refer(name, member_name, &target, true, false);
            return;
        }
        let mut hints = Vec::new();
        push_noun(&mut hints, member_name);
        match &shape.kind {
            Kind::Object(_) | Kind::Cycle(_) | Kind::Union(_) if shape.first_object().members().is_some() || matches!(shape.kind, Kind::Cycle(_)) => {
                let object = shape.first_object();
                if polymorphic(owner_shape, member_name) && !self.entities.contains_key(member_name) {
                    // What the record belongs to, seen from it: its members are parts of the link's own facts too.
                    self.absorb_polymorphic(name, object);
                    return;
                }
                match self.meaning(object, &hints) {
                    Meaning::Entity(target) => {
                        self.absorb(&target, object, None);
                        if !self.contains(name, &target) {
                            self.refer(name, &format!("{member_name}_id"), &target, false, shape.nullable);
                        }
                    }
                    _ => self.note_field(name, member_name, shape, group),
                }
            }
            Kind::Array(item) if item.first_object().members().is_some() || matches!(item.kind, Kind::Cycle(_)) => {
                let object = item.first_object();
                let has_id = object.member("id").is_some();
                match self.meaning(object, &hints) {
                    Meaning::Value if !has_id => self.note_field(name, member_name, shape, group),
                    _ => self.relate(name, member_name, &hints, object, false),
                }
            }
            _ => self.note_field(name, member_name, shape, group),
        }
    }

    /// The resource that `show_id` means: the noun itself, or the noun's other name among the record's own kin.
    pub(super) fn aliased(&self, from: &str, noun: &str) -> Option<String> {
        let noun = routes::entity_name(noun);
        if self.entities.contains_key(&noun) {
            return Some(noun);
        }
        const SAME: [&[&str]; 5] =
            [&["tv", "show", "series", "tv_show", "tv_series"], &["movie", "film"], &["person", "people", "actor"], &["user", "author", "member", "account"], &["customer", "client"]];
        let kin = SAME.iter().find(|group| group.contains(&noun.as_str()))?;
        let mut candidates = self.ancestors(from);
        candidates.extend(self.entities.keys().cloned());
        candidates.into_iter().find(|name| kin.contains(&name.as_str()))
    }

    fn absorb_polymorphic(&mut self, name: &str, object: &Shape) {
        for (member_name, member) in object.members().into_iter().flatten() {
            let known = self.entity(name).is_some_and(|entity| entity.fields.contains_key(member_name));
            if known && member.shape.is_scalar() {
                self.note_field(name, member_name, &member.shape, None);
            }
        }
    }

    fn note_field(&mut self, name: &str, member_name: &str, shape: &Shape, group: Option<&str>) {
        let Some(entity) = self.entities.get_mut(name) else { return };
        let fact = entity.fields.entry(member_name.to_owned()).or_default();
        let mut shape = shape.clone();
        fact.sights += 1;
        fact.nullable_sights += u32::from(shape.nullable);
        shape.nullable = false;
        fact.shape.merge(shape);
        match group {
            Some(group) => {
                fact.groups.insert(group.to_owned());
            }
            None => fact.everywhere = true,
        }
    }

    fn absorb_link(&mut self, near: &str, group: &str, link: &str, far: &str, item: &Shape) {
        let Some(far_members) = self.entity(far).map(|entity| entity.members.clone()) else { return };
        if let Some(entity) = self.entities.get_mut(link) {
            entity.owners.entry(near.to_owned()).or_default().insert(group.to_owned());
            entity.pairs.insert((near.to_owned(), far.to_owned()));
            let lists = entity.rows.entry(group.to_owned()).or_default();
            if lists.len() < MAX_LISTS && !item.samples.is_empty() {
                lists.push(item.samples.clone());
            }
        }
        for (name, member) in item.members().into_iter().flatten() {
            let own_key = name.strip_suffix("_id") == Some(link);
            if own_key {
                continue;
            }
            if far_members.contains(name) {
                self.absorb_member(far, item, name, member, None);
            } else {
                self.absorb_member(link, item, name, member, Some(group));
            }
        }
    }

    /// After all sights: what links and parts refer to.
    fn settle(&mut self) {
        let names: Vec<String> = self.entities.keys().cloned().collect();
        for name in &names {
            let Some(entity) = self.entities.get(name).cloned() else { continue };
            if let Some(nest) = &entity.nest {
                let parent_key = self.entity(&nest.parent).map(|parent| parent.key.clone()).unwrap_or_default();
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
                if let Some(reference) = self.entities.get_mut(name).and_then(|entity| entity.references.get_mut(&key)) {
                    reference.nullable = nullable;
                }
            }
        }
    }

    /// What a link says is not said again by a list of references.
    fn drop_known_by_links(&mut self) {
        let links: Vec<Ends> = self.entities.values().map(|link| self.ends(link)).filter(|ends| ends.hub.is_some()).collect();
        for ends in links {
            let Some(hub) = ends.hub.as_ref().and_then(|hub| self.entities.get_mut(hub)) else { continue };
            hub.references.retain(|_, reference| !(reference.many && ends.alternatives.contains_key(&reference.target)));
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
    operation.parameters.iter().any(|parameter| matches!(routes::paging_role(&parameter.name), Some("page" | "offset" | "next")))
}

fn group_noun<'a>(group: &'a str, name: &'a str) -> &'a str {
    if is_generic(group) { name } else { group }
}

/// `media` with `media_type` beside it: one of several resources.
pub(super) fn polymorphic(shape: &Shape, noun: &str) -> bool {
    shape.member(&format!("{noun}_type")).is_some_and(Shape::is_scalar)
}

/// How many members two objects have in common.
fn overlap(shape: &Shape, root: &Shape) -> usize {
    shape.members().map_or(0, |members| members.keys().filter(|name| root.member(name).is_some()).count())
}

/// The member that identifies a record.
pub(super) fn key_member(shape: &Shape, noun: &str, parameter: Option<&str>) -> Option<String> {
    let members = shape.members()?;
    let scalar = |name: &str| members.get(name).is_some_and(|member| member.shape.is_scalar());
    let camel = {
        let parts = words(noun);
        let mut name = parts.first().cloned().unwrap_or_default();
        name.push_str(&super::words::camel(parts.get(1..).unwrap_or_default()));
        format!("{name}Id")
    };
    let candidates = ["id".to_owned(), format!("{noun}_id"), camel, parameter.unwrap_or_default().to_owned(), "_id".to_owned(), "uuid".to_owned()];
    candidates.into_iter().find(|name| scalar(name))
}

/// A name shared by many records: a genre, a keyword, a tag.
pub(super) fn is_taxonomy(shape: &Shape) -> bool {
    shape.members().is_some_and(|members| {
        members.len() <= 3 && members.contains_key("id") && members.keys().any(|name| ["name", "title", "label"].contains(&name.as_str()))
            && members.values().all(|member| member.shape.is_scalar())
    })
}

/// The member that people call a record by.
pub(super) fn display_member(shape: &Shape) -> Option<&'static str> {
    ["name", "title", "full_name", "fullName", "display_name", "displayName", "username", "label", "subject", "headline"]
        .into_iter()
        .find(|name| shape.member(name).is_some_and(|member| matches!(member.kind, Kind::String)))
}

pub(super) fn looks_like_person(shape: &Shape) -> bool {
    ["gender", "birthday", "birth_date", "date_of_birth", "first_name", "firstName", "known_for", "biography"].iter().any(|name| shape.member(name).is_some())
}
