//! Reading operations for resources: what their paths name, what their replies and bodies show of them.

use super::*;

impl Model {
    /// Pass one: nouns of paths, and the whole records behind them.
    pub(super) fn name_entities(&mut self, operations: &[Operation]) {
        for operation in operations {
            let route = operation.route.clone();
            for (depth, step) in route.chain.iter().enumerate() {
                let parent = depth
                    .checked_sub(1)
                    .and_then(|above| route.chain.get(above))
                    .map(|step| step.entity.clone());
                let shape = operation
                    .parameters
                    .iter()
                    .find(|known| known.name == step.parameter)
                    .map(|known| known.shape.clone());
                self.declare(step, parent, shape.unwrap_or_default());
            }
            if let (Some(step), true, Some(reply)) =
                (route.subject(), route.tail.is_empty(), &operation.reply)
                && operation.method == "GET"
                && let View::Record { shape, .. } = routes::view(reply, true, false)
                && let Some(entity) = self.entities.get_mut(&step.entity)
            {
                entity.addressed = true;
                let key = operation.path_parameter(&step.parameter);
                // `/me` shows a user, too, but says nothing about keys.
                if key.is_some() || entity.key_member.is_none() {
                    entity.key_member = key_member(shape, &step.entity, key);
                }
                entity.root = Some(shape.clone());
            }
        }
        for entity in self.entities.values_mut() {
            // `/issues/{issue_number}` names an issue by the `number` that it shows.
            if let (Some(nest), Some(root)) = (&mut entity.nest, &entity.root)
                && root.member(&nest.number).is_none()
                && let Some(last) = words(&nest.number).last()
                && root.member(last).is_some_and(|member| member.kind == Kind::Integer)
            {
                nest.number.clone_from(last);
            }
        }
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let route = operation.route.clone();
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

    pub(super) fn declare(&mut self, step: &routes::Step, parent: Option<String>, shape: Shape) {
        let number = parent.filter(|_| {
            words(&step.parameter)
                .last()
                .is_some_and(|last| ["number", "no", "index", "position", "num"].contains(&last.as_str()))
        });
        let entity = self
            .entities
            .entry(step.entity.clone())
            .or_insert_with(|| Entity { name: step.entity.clone(), ..Entity::default() });
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
    pub(super) fn read(&mut self, operation: &Operation) {
        let route = operation.route.clone();
        if let Some(reply) = &operation.reply {
            self.read_reply(operation, &route, reply);
        }
    }

    pub(super) fn read_reply(&mut self, operation: &Operation, route: &Route, reply: &Shape) {
        let about_record = route.subject().is_some();
        match (routes::view(reply, about_record, has_page(operation)), route.subject()) {
            (View::Record { shape, .. }, Some(step)) if route.tail.is_empty() => {
                self.absorb(&step.entity.clone(), shape, None);
            }
            (View::Record { shape, .. }, Some(step)) => self.read_view(&step.entity.clone(), route, shape),
            (View::List(list), Some(step)) => {
                let owner = step.entity.clone();
                let group = if is_generic(list.items) {
                    route.tail.last().map_or("items", String::as_str)
                } else {
                    list.items
                };
                let hints = list_hints(&list, route);
                let collection = if is_generic(list.items) { route.tail.join("_") } else { group.to_owned() };
                self.relate_as(&owner, (group, &collection), &hints, list.item, true);
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

    pub(super) fn singleton(&mut self, route: &Route, _shape: &Shape) -> String {
        let name = route
            .hints()
            .into_iter()
            .next()
            .or_else(|| route.tail.last().map(|last| snake(last)))
            .unwrap_or_else(|| "service".to_owned());
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
    pub(super) fn read_view(&mut self, owner: &str, route: &Route, shape: &Shape) {
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
                    let group = if is_generic(name) {
                        route.tail.last().map_or(name.as_str(), String::as_str)
                    } else {
                        name.as_str()
                    };
                    self.relate(owner, group, &hints, item.first_object(), true);
                }
                _ if is_paging(name) => {}
                _ => self.absorb_member(owner, shape, name, member, None),
            }
        }
    }

    /// Items of a list that belongs to a record.
    pub(super) fn relate(&mut self, owner: &str, group: &str, hints: &[String], item: &Shape, may_own: bool) {
        self.relate_as(owner, (group, group), hints, item, may_own);
    }

    fn relate_as(
        &mut self,
        owner: &str,
        (group, collection): (&str, &str),
        hints: &[String],
        item: &Shape,
        may_own: bool,
    ) {
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
                } else if let Some(member) = self.role_of(owner, &name, item).filter(|_| may_own) {
                    self.refer(&name, &member, owner, false, false);
                } else {
                    self.refer(
                        owner,
                        &format!("{}_ids", routes::entity_name(group_noun(collection, &name))),
                        &name,
                        true,
                        false,
                    );
                }
            }
            Meaning::Value => {
                let Some(name) = self.meaning_or_new(item, hints, may_own) else { return };
                let taxonomy = is_taxonomy(item);
                self.absorb(&name, item, None);
                if taxonomy {
                    self.refer(
                        owner,
                        &format!("{}_ids", routes::entity_name(group_noun(group, &name))),
                        &name,
                        true,
                        false,
                    );
                } else {
                    self.own(owner, group, &name);
                }
            }
        }
    }

    /// The member by which a record says which owner it belongs to when it calls the owner by a role: a parcel's
    /// `sender_id` in the list of a customer's parcels.
    fn role_of(&self, owner: &str, name: &str, item: &Shape) -> Option<String> {
        let owning = self.entity(owner)?;
        let key = &owning.key_shape;
        let mut roles = item.members()?.iter().filter_map(|(member, known)| {
            let noun = member.strip_suffix("_id").or_else(|| member.strip_suffix("Id"))?;
            let alike = std::mem::discriminant(&known.shape.kind) == std::mem::discriminant(&key.kind);
            let own = self.entity(name)?.key_member.as_deref() == Some(member);
            let free = !own && self.aliased(name, noun).is_none();
            // What the owner has, too, is no role that it plays: every record of GitHub has a `node_id`.
            let shared = owning.members.contains(member)
                || owning.root.as_ref().is_some_and(|root| root.member(member).is_some());
            (alike && free && !shared && known.shape.is_scalar()).then(|| member.clone())
        });
        roles.next().filter(|_| roles.next().is_none())
    }

    pub(super) fn own(&mut self, owner: &str, group: &str, name: &str) {
        if owner == name {
            return;
        }
        if let Some(entity) = self.entities.get_mut(name) {
            entity.owners.entry(owner.to_owned()).or_default().insert(group.to_owned());
        }
    }

    /// Whether records of it stand on their own: listed or small words that many records share.
    pub(super) fn is_independent(&self, name: &str) -> bool {
        self.entity(name).is_some_and(|entity| {
            let small = entity.summary.as_ref().is_some_and(is_taxonomy) && !entity.addressed;
            entity.owners.is_empty() && (entity.listed || small)
                || (entity.addressed
                    && entity.owners.is_empty()
                    && entity.root.as_ref().is_some_and(|root| root.member("name").is_some()))
        })
    }

    pub(super) fn summarise(&mut self, name: &str, item: &Shape) {
        let Some(entity) = self.entities.get_mut(name) else { return };
        let size = |shape: &Shape| shape.members().map_or(0, IndexMap::len);
        if size(item) >= 2 && entity.summary.as_ref().is_none_or(|known| size(item) < size(known)) {
            entity.summary = Some(item.clone());
        }
    }
}
