//! Lists inside a record: its parts, the records that it refers to, and the links that lead to others.

use super::*;

impl Replies<'_> {
    /// A list of objects inside a record.
    pub(super) fn list(
        &mut self,
        entity: &Entity,
        name: &str,
        item: &Shape,
        shape: &Shape,
        depth: u32,
    ) -> ReplyMemberDoc {
        let mut hints = Vec::new();
        if !is_generic(name) {
            let mut nouns = Vec::new();
            push_noun(&mut nouns, name);
            hints.extend(nouns.into_iter().filter(|noun| self.model.entities.contains_key(noun)));
        }
        hints.extend(self.tail.iter().cloned());
        let group = if is_generic(name) {
            self.tail.first().cloned().unwrap_or_else(|| name.to_owned())
        } else {
            name.to_owned()
        };
        match self.model.meaning(item, &hints) {
            Meaning::Link { link, far } => self
                .links(entity, name, &link, &far, item, depth)
                .unwrap_or_else(|| self.constant(entity, name, shape)),
            Meaning::Entity(target) => match self.related(entity, name, &group, &target, item, depth) {
                Some(member) => member,
                None if whole_fits(entity, name, shape) => {
                    named(name, |doc| doc.field = Some(identifier(name)))
                }
                None => self.constant(entity, name, shape),
            },
            Meaning::Value if whole_fits(entity, name, shape) => {
                named(name, |doc| doc.field = Some(identifier(name)))
            }
            Meaning::Value => self.constant(entity, name, shape),
        }
    }

    /// Records of another resource that a record has.
    fn related(
        &mut self,
        entity: &Entity,
        name: &str,
        group: &str,
        target: &str,
        item: &Shape,
        depth: u32,
    ) -> Option<ReplyMemberDoc> {
        let other = self.model.entity(target)?;
        let item = shown(item, other);
        if let Some(by) = self.model.reference_to(target, &entity.name) {
            let ends = self.model.ends(other);
            let kinds = build::discriminators(self.model, other, &ends);
            let own_group = ends.alternatives.get(&entity.name).is_some_and(|groups| groups.contains(group));
            let condition = kinds.group.as_ref().filter(|_| own_group).map(|(field, _)| {
                format!("item.{} == {}", identifier(field), quoted(&build::group_value(other, &kinds, group)))
            });
            let fields = self.object(other, &item, depth + 1);
            let sort = other.nest.as_ref().map(|nest| identifier(&nest.number));
            let target = target.to_owned();
            return Some(named(name, |doc| {
                doc.many = Some(target);
                doc.by = Some(by);
                doc.condition = condition;
                doc.sort = sort;
                doc.fields = Some(fields);
            }));
        }
        let by_name = identifier(&format!("{}_ids", entity_name(group)));
        let list = entity
            .references
            .get_key_value(&by_name)
            .filter(|(_, reference)| reference.many && reference.target == target)
            .map(|(name, _)| name.clone())
            .or_else(|| self.model.references_to(&entity.name, target));
        let hub_link = self.model.entities.values().find(|link| {
            let ends = self.model.ends(link);
            ends.hub.as_ref() == Some(&entity.name) && ends.alternatives.contains_key(target)
        });
        if let Some(link) = hub_link {
            // A person's well-known films are those of their credits.
            let by = self.model.reference_to(&link.name, &entity.name)?;
            let far = self.model.reference_to(&link.name, target)?;
            let fields = self.object(other, &item, depth + 1);
            let condition = link
                .references
                .get(&far)
                .is_some_and(|reference| reference.nullable)
                .then(|| format!("item.{far} != null"));
            return Some(named(name, |doc| {
                doc.many = Some(link.name.clone());
                doc.by = Some(by);
                doc.condition = condition;
                doc.limit = Some(3);
                doc.fields = Some(vec![ReplyFieldDoc::Member(Box::new(named("", |inner| {
                    inner.follow = Some(far);
                    inner.fields = Some(fields);
                })))]);
            }));
        }
        let list = list?;
        let fields = self.object(other, &item, depth + 1);
        Some(named(name, |doc| {
            doc.follow = Some(list);
            doc.fields = Some(fields);
        }))
    }

    /// Records of a link, each shown as the record it leads to.
    fn links(
        &mut self,
        entity: &Entity,
        name: &str,
        link: &str,
        far: &str,
        item: &Shape,
        depth: u32,
    ) -> Option<ReplyMemberDoc> {
        let other = self.model.entity(link)?;
        let far_entity = self.model.entity(far)?;
        let far_field = self.model.reference_to(link, far)?;
        let ends = self.model.ends(other);
        let kinds = build::discriminators(self.model, other, &ends);
        let mut conditions = Vec::new();
        if let Some((field, _)) = &kinds.group {
            conditions.push(format!(
                "item.{} == {}",
                identifier(field),
                quoted(&build::group_value(other, &kinds, name))
            ));
        }
        if other.references.get(&far_field).is_some_and(|reference| reference.nullable) {
            conditions.push(format!("item.{far_field} != null"));
        }
        let mut fields = Vec::new();
        for (inner, member) in item.members().into_iter().flatten() {
            let own_key = inner.strip_suffix("_id") == Some(link);
            fields.push(shorten(if own_key {
                named(inner, |doc| doc.field = Some(other.key.clone()))
            } else if far_entity.key_member.as_deref() == Some(inner) {
                named(inner, |doc| doc.field = Some(far_field.clone()))
            } else if far_entity.members.contains(inner) {
                let mut source = self.member(far_entity, item, inner, &member.shape, depth + 1);
                if source.value.is_some() {
                    source
                } else {
                    source.name.clear();
                    named(inner, |doc| {
                        doc.follow = Some(far_field.clone());
                        doc.fields = Some(vec![ReplyFieldDoc::Member(Box::new(source))]);
                    })
                }
            } else {
                self.member(other, item, inner, &member.shape, depth + 1)
            }));
        }
        let place = other
            .fields
            .keys()
            .find(|field| ["order", "position", "rank"].contains(&field.as_str()))
            .filter(|field| item.member(field).is_some())
            .map(|field| identifier(field));
        let many = |doc: &mut ReplyMemberDoc, by: String| {
            doc.many = Some(link.to_owned());
            doc.by = Some(by);
            doc.condition = (!conditions.is_empty()).then(|| conditions.join(" && "));
            doc.sort = place.clone();
            doc.fields = Some(fields.clone());
        };
        let own = ends.alternatives.get(&entity.name).is_some_and(|groups| groups.contains(name))
            || ends.hub.as_ref() == Some(&entity.name);
        if own {
            let by = self.model.reference_to(link, &entity.name)?;
            return Some(named(name, |doc| many(doc, by)));
        }
        // What a part does not have itself is that of its whole.
        let whole = self
            .model
            .ancestors(&entity.name)
            .into_iter()
            .find(|whole| ends.alternatives.contains_key(whole))?;
        let up = self.model.reference_to(&entity.name, &whole)?;
        let by = self.model.reference_to(link, &whole)?;
        let inner = named("", |doc| many(doc, by));
        Some(named(name, |doc| {
            doc.follow = Some(up);
            doc.fields = Some(vec![ReplyFieldDoc::Member(Box::new(inner))]);
        }))
    }
}
