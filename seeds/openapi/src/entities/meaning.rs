//! What an object stands for: a record of a known resource, a link with the record it leads to, or a value.

use super::*;

impl Model {
    /// `/orders/{id}/customer`: another record, to which the path's record leads.
    pub(crate) fn companion(&self, owner: &str, shape: &Shape, tail: &[String]) -> Option<String> {
        let Meaning::Entity(other) = self.meaning(shape, tail) else { return None };
        let root = self.entity(&other)?.root.as_ref()?;
        let alike = overlap(shape, root) >= 2 && overlap(shape, root) * 5 >= shape.members()?.len() * 3;
        (other != owner && tail.contains(&other) && alike).then_some(other)
    }

    /// What an object stands for, by the resources known so far.
    pub(crate) fn meaning(&self, shape: &Shape, hints: &[String]) -> Meaning {
        let Some(members) = shape.members() else {
            if let Kind::Cycle(name) = &shape.kind
                && self.entities.contains_key(&snake(name))
            {
                return Meaning::Entity(snake(name));
            }
            return Meaning::Value;
        };
        if shape.map {
            return Meaning::Value;
        }
        if members.is_empty() {
            return hints
                .iter()
                .find(|hint| self.entities.contains_key(*hint))
                .map_or(Meaning::Value, |hint| Meaning::Entity(hint.clone()));
        }
        if let Some(link) = self.link_of(shape, members) {
            return link;
        }
        // A component's name is a better name than a noun of the path, where the shapes agree.
        let titled = shape.title.as_deref().and_then(|title| self.titled(title));
        if let Some(entity) = titled
            && entity.root.as_ref().is_some_and(|root| overlap(shape, root) * 5 >= members.len() * 2)
        {
            return Meaning::Entity(entity.name.clone());
        }
        for hint in hints {
            let Some(entity) = self.entity(hint) else { continue };
            // A record of which there is one is no item of a list, and looks like itself.
            if entity.singleton && entity.root.is_none() {
                continue;
            }
            let fits = match entity
                .root
                .as_ref()
                .filter(|root| root.members().is_some_and(|members| !members.is_empty()))
            {
                Some(root) => overlap(shape, root) * 5 >= members.len() * 2,
                None => key_member(shape, hint, None).is_some(),
            };
            if fits {
                return Meaning::Entity(hint.clone());
            }
        }
        if let Some(entity) = titled {
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

    /// The resource that a component's name means: itself, or what is left without the words for a partial view.
    fn titled(&self, title: &str) -> Option<&Entity> {
        const VIEWS: [&str; 30] = [
            "ref",
            "reference",
            "summary",
            "simple",
            "simplified",
            "short",
            "mini",
            "brief",
            "object",
            "dto",
            "model",
            "schema",
            "response",
            "info",
            "details",
            "detail",
            "full",
            "item",
            "public",
            "private",
            "base",
            "new",
            "partial",
            "output",
            "read",
            "out",
            "view",
            "entity",
            "resource",
            "link",
        ];
        let whole = routes::entity_name(title);
        let kept: Vec<String> =
            words(title).into_iter().filter(|word| !VIEWS.contains(&word.as_str())).collect();
        let bare = routes::entity_name(&kept.join("_"));
        self.entity(&whole).or_else(|| self.entity(&bare)).filter(|entity| !entity.name.is_empty())
    }

    /// A record with the key of another beside its own: `credit_id` beside the person's `id`.
    pub(super) fn link_of(&self, shape: &Shape, members: &IndexMap<String, Member>) -> Option<Meaning> {
        for (name, member) in members {
            let Some(link) = name.strip_suffix("_id").and_then(|noun| self.entity(noun)) else { continue };
            if !member.shape.is_scalar() || link.key_member.is_none() {
                continue;
            }
            // A pet with its owner's key is a pet; only a key that no record of its own has makes a link.
            let own = self.entities.values().filter_map(|entity| entity.root.as_ref());
            if own
                .into_iter()
                .any(|root| root.member(name).is_some() && overlap(shape, root) * 5 >= members.len() * 3)
            {
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
                    (members.contains_key(key) && root.member(name).is_none() && named)
                        .then(|| (overlap(shape, root), entity))
                })
                .fold(None, |best: Option<(usize, &Entity)>, next| match best {
                    Some(known) if known.0 >= next.0 => Some(known),
                    _ => Some(next),
                });
            if let Some((shared, far)) = far
                && shared >= 2
                && shared * 3 >= members.len()
            {
                return Some(Meaning::Link { link: link.name.clone(), far: far.name.clone() });
            }
        }
        None
    }

    /// The resource an object is a record of; a new one where none is known and the object has an identity, or
    /// `force` says that its records need one.
    pub(super) fn meaning_or_new(&mut self, shape: &Shape, hints: &[String], force: bool) -> Option<String> {
        match self.meaning(shape, hints) {
            Meaning::Entity(name) => return Some(name),
            Meaning::Link { far, .. } => return Some(far),
            Meaning::Value => {}
        }
        let titled =
            shape.title.as_ref().map(|title| routes::entity_name(title)).filter(|_| hints.is_empty());
        let name = hints.first().cloned().or(titled).unwrap_or_else(|| "entry".to_owned());
        let mut name = snake(&name);
        let key = key_member(shape, &name, None);
        if key.is_none() && !force {
            return None;
        }
        if self.entity(&name).is_some_and(|entity| entity.root.is_some()) {
            // The name is taken by something that looks different.
            name = format!("{name}_entry");
        }
        let key_shape = key
            .as_ref()
            .and_then(|key| shape.member(key))
            .cloned()
            .unwrap_or_else(|| Shape::of(Kind::Integer));
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
}

/// `media` with `media_type` beside it: one of several resources.
pub(crate) fn polymorphic(shape: &Shape, noun: &str) -> bool {
    shape.member(&format!("{noun}_type")).is_some_and(Shape::is_scalar)
}

/// How many members two objects have in common.
pub(super) fn overlap(shape: &Shape, root: &Shape) -> usize {
    shape.members().map_or(0, |members| members.keys().filter(|name| root.member(name).is_some()).count())
}

/// The member that identifies a record, where `parameter` is what a path names it by.
pub(crate) fn key_member(shape: &Shape, noun: &str, parameter: Option<&Parameter>) -> Option<String> {
    let members = shape.members()?;
    let scalar = |name: &str| members.get(name).is_some_and(|member| member.shape.is_scalar());
    let camel = {
        let parts = words(noun);
        let mut name = parts.first().cloned().unwrap_or_default();
        name.push_str(&crate::words::camel(parts.get(1..).unwrap_or_default()));
        format!("{name}Id")
    };
    let given = parameter.map(|parameter| parameter.name.as_str()).unwrap_or_default();
    let ids =
        ["id".to_owned(), format!("{noun}_id"), camel, given.to_owned(), "_id".to_owned(), "uuid".to_owned()];
    let id = ids.into_iter().find(|name| scalar(name));
    let Some(parameter) = parameter else { return id };
    if is_id(given) {
        return id;
    }
    let parts = words(given);
    // What a path calls `username` or `team_slug` is no number that the record has, too.
    let told =
        parts.strip_prefix(words(noun).as_slice()).filter(|rest| !rest.is_empty()).map(|rest| rest.join("_"));
    let same = |name: &&String| words(name) == parts || told.as_ref() == Some(&words(name).join("_"));
    if let Some(same) = members.keys().filter(|name| scalar(name)).find(same) {
        return Some(same.clone());
    }
    let number = id.as_ref().and_then(|id| members.get(id)).is_none_or(|id| !id.shape.is_text());
    if !(number && parameter.shape.is_text()) {
        return id;
    }
    const HANDLES: [&str; 9] =
        ["login", "username", "user_name", "handle", "slug", "code", "sku", "key", "name"];
    let handle =
        HANDLES.into_iter().find(|name| members.get(*name).is_some_and(|member| member.shape.is_text()));
    handle.map(str::to_owned).or(id)
}

/// A name shared by many records: a genre, a keyword, a tag.
pub(crate) fn is_taxonomy(shape: &Shape) -> bool {
    shape.members().is_some_and(|members| {
        members.len() <= 3
            && members.contains_key("id")
            && members.keys().any(|name| ["name", "title", "label"].contains(&name.as_str()))
            && members.values().all(|member| member.shape.is_scalar())
    })
}

/// The member that people call a record by.
pub(crate) fn display_member(shape: &Shape) -> Option<&'static str> {
    [
        "name",
        "title",
        "full_name",
        "fullName",
        "display_name",
        "displayName",
        "username",
        "label",
        "subject",
        "headline",
    ]
    .into_iter()
    .find(|name| shape.member(name).is_some_and(|member| matches!(member.kind, Kind::String)))
}

pub(crate) fn looks_like_person(shape: &Shape) -> bool {
    ["gender", "birthday", "birth_date", "date_of_birth", "first_name", "firstName", "known_for", "biography"]
        .iter()
        .any(|name| shape.member(name).is_some())
}
