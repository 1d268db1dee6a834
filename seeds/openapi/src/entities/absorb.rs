//! Taking sights of records in: fields, references, and what only links know.

use super::*;

/// Most example lists kept for one list of a link.
const MAX_LISTS: usize = 16;
/// Most whole records kept of one resource.
const MAX_EXAMPLES: usize = 60;

impl Model {
    /// Takes a sight of a record in.
    pub(super) fn absorb(&mut self, name: &str, shape: &Shape, group: Option<&str>) {
        let Some(members) = shape.members() else { return };
        if let Some(entity) = self.entities.get_mut(name) {
            entity.members.extend(members.keys().cloned());
            let room = MAX_EXAMPLES.saturating_sub(entity.examples.len());
            let whole = shape.samples.iter().filter(|sample| sample.is_object());
            entity.examples.extend(whole.take(room).cloned());
        }
        for (member_name, member) in members {
            self.absorb_member(name, shape, member_name, member, group);
        }
    }

    pub(super) fn absorb_member(
        &mut self,
        name: &str,
        owner_shape: &Shape,
        member_name: &str,
        member: &Member,
        group: Option<&str>,
    ) {
        let Some(entity) = self.entities.get_mut(name) else { return };
        let shape = &member.shape;
        if entity.key_member.as_deref() == Some(member_name) || (member_name == "id" && entity.nest.is_some())
        {
            entity.key_member = Some(member_name.to_owned());
            if shape.kind == Kind::Integer && entity.key_shape.kind == Kind::String {
                // The path says text, as it does of everything; the record knows better.
                entity.key_shape.kind = Kind::Integer;
            }
            entity.key_shape.merge(shape.clone());
            return;
        }
        if entity.key == member_name && shape.is_scalar() {
            return;
        }
        let part = member_name.rsplit_once('_').filter(|(noun, part)| {
            matches!(*part, "title" | "name")
                && polymorphic(owner_shape, noun)
                && !self.entities.contains_key(*noun)
        });
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
        if shape.kind == Kind::String
            && shape.pattern.is_some()
            && let Some(target) = self.entity(&routes::entity_name(member_name))
            && target.name != name
            && target.key_shape.pattern == shape.pattern
        {
            // Codes of one form: a scan's `depot` is the code of a depot.
            let target = target.name.clone();
            self.refer(name, member_name, &target, false, shape.nullable);
            return;
        }
        let mut hints = Vec::new();
        push_noun(&mut hints, member_name);
        match &shape.kind {
            Kind::Object(_) | Kind::Cycle(_) | Kind::Union(_)
                if shape.first_object().members().is_some() || matches!(shape.kind, Kind::Cycle(_)) =>
            {
                let object = shape.first_object();
                if polymorphic(owner_shape, member_name) && !self.entities.contains_key(member_name) {
                    // What the record belongs to, seen from it: its members are parts of the link's own facts too.
                    self.absorb_polymorphic(name, object);
                    return;
                }
                // What every record must have inside it is no other record of the same resource: no first one could be made.
                let within = |target: &String| target == name && member.required && !shape.nullable;
                match self.meaning(object, &hints) {
                    Meaning::Entity(target) if !within(&target) || matches!(shape.kind, Kind::Cycle(_)) => {
                        self.absorb(&target, object, None);
                        if !self.contains(name, &target) {
                            self.refer(name, &format!("{member_name}_id"), &target, false, shape.nullable);
                        }
                    }
                    _ => self.note_field(name, member_name, shape, group),
                }
            }
            Kind::Array(item)
                if item.first_object().members().is_some() || matches!(item.kind, Kind::Cycle(_)) =>
            {
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

    pub(super) fn absorb_polymorphic(&mut self, name: &str, object: &Shape) {
        for (member_name, member) in object.members().into_iter().flatten() {
            let known = self.entity(name).is_some_and(|entity| entity.fields.contains_key(member_name));
            if known && member.shape.is_scalar() {
                self.note_field(name, member_name, &member.shape, None);
            }
        }
    }

    pub(super) fn note_field(&mut self, name: &str, member_name: &str, shape: &Shape, group: Option<&str>) {
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

    pub(super) fn absorb_link(&mut self, near: &str, group: &str, link: &str, far: &str, item: &Shape) {
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

    pub(super) fn refer(&mut self, owner: &str, field: &str, target: &str, many: bool, nullable: bool) {
        let field = identifier(field);
        let Some(entity) = self.entities.get_mut(owner) else { return };
        let known = entity.references.entry(field).or_insert_with(|| Reference {
            target: target.to_owned(),
            many,
            nullable,
        });
        known.nullable &= nullable;
    }
}
