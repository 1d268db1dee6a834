//! Replies: each operation's response schema, member by member, from the inferred resources.

use diorama_seeds::doc::{ReplyFieldDoc, ReplyMemberDoc};
use serde_json::Value as Json;

use super::build::{self, computed};
use super::constants::{self, quoted};
use super::entities::{Entity, Meaning, Model, polymorphic};
use super::routes::{entity_name, is_generic, push_noun};
use super::shape::{Kind, Member, Shape};
use super::words::identifier;

mod fit;
mod lists;

/// Deepest nesting of a reply.
const MAX_DEPTH: u32 = 10;

/// Makes the members of one operation's reply.
pub(super) struct Replies<'m> {
    pub(super) model: &'m Model,
    /// Members that are constants because nothing in the model gives their value.
    pub(super) constants: Vec<String>,
    /// Static path words, for arrays whose names say nothing.
    pub(super) tail: Vec<String>,
}

impl Replies<'_> {
    /// The members of an object that shows a record.
    pub(super) fn object(&mut self, entity: &Entity, shape: &Shape, depth: u32) -> Vec<ReplyFieldDoc> {
        let mut out = Vec::new();
        for (name, member) in shape.members().into_iter().flatten() {
            if member.shape.write_only || name.is_empty() {
                continue;
            }
            let shown = self.member(entity, shape, name, &member.shape, depth);
            out.push(shorten(shown));
        }
        out
    }

    fn constant(&mut self, entity: &Entity, name: &str, shape: &Shape) -> ReplyMemberDoc {
        self.constants.push(format!("{}.{name}", entity.name));
        named(name, |doc| doc.value = Some(constants::value(shape, 0)))
    }

    /// One member of a record.
    fn member(
        &mut self,
        entity: &Entity,
        owner: &Shape,
        name: &str,
        shape: &Shape,
        depth: u32,
    ) -> ReplyMemberDoc {
        if depth > MAX_DEPTH {
            return self.constant(entity, name, shape);
        }
        if entity.key_member.as_deref() == Some(name)
            || entity.key == name
            || (name == "id" && !entity.fields.contains_key("id"))
        {
            return match (&shape.kind, &entity.key_shape.kind) {
                (Kind::String, Kind::Integer | Kind::Any) => {
                    named(name, |doc| doc.expr = Some(format!("string(record.{})", entity.key)))
                }
                (Kind::Integer | Kind::Number, Kind::String) => self.constant(entity, name, shape),
                _ => named(name, |doc| doc.field = Some(entity.key.clone())),
            };
        }
        if let Kind::Enum(values) = &shape.kind
            && let [only] = values.as_slice()
        {
            return named(name, |doc| doc.value = Some(Json::String(only.clone())));
        }
        if shape.is_scalar()
            && let Some(expression) = computed(self.model, entity, name, shape)
        {
            return named(name, |doc| doc.expr = Some(expression));
        }
        if let Some(member) = self.polymorphic(entity, owner, name, shape) {
            return member;
        }
        if let Some(noun) = name.strip_suffix("_id")
            && shape.is_scalar()
            && !entity.references.contains_key(name)
            && let Some(target) = self.model.aliased(&entity.name, noun)
            && let Some(field) = self.model.reference_to(&entity.name, &target)
        {
            return self.reference(entity, name, &field, &target, shape);
        }
        let field = identifier(name);
        if let Some(reference) = entity.references.get(&field) {
            let target = reference.target.clone();
            return self.reference(entity, name, &field, &target, shape);
        }
        match &shape.kind {
            Kind::Object(_) | Kind::Cycle(_) | Kind::Union(_) => self.nested(entity, name, shape, depth),
            Kind::Array(item)
                if item.first_object().members().is_some() || matches!(item.kind, Kind::Cycle(_)) =>
            {
                self.list(entity, name, item.first_object(), shape, depth)
            }
            _ => self.stored(entity, name, shape),
        }
    }

    /// A reference as the schema writes keys. Where records are known by names and the schema has a number, it is the number
    /// of the record behind.
    fn reference(
        &mut self,
        entity: &Entity,
        name: &str,
        field: &str,
        target: &str,
        shape: &Shape,
    ) -> ReplyMemberDoc {
        let Some(other) = self.model.entity(target) else { return self.constant(entity, name, shape) };
        let by_name = other.key_shape.is_text();
        match &shape.kind {
            Kind::String if !by_name => named(name, |doc| doc.expr = Some(format!("string(record.{field})"))),
            Kind::Integer | Kind::Number if by_name => {
                let known = entity.references.get(field);
                let sure =
                    known.is_some_and(|known| !known.many && !known.nullable && known.target != entity.name);
                let number = other.number_behind(&format!("record.{field}"));
                match number.filter(|_| sure || shape.nullable) {
                    Some(number) => named(name, |doc| doc.expr = Some(number)),
                    None => self.constant(entity, name, shape),
                }
            }
            _ => named(name, |doc| doc.field = Some(field.to_owned())),
        }
    }

    /// A field as it is stored, fitted to the type that this schema gives it.
    fn stored(&mut self, entity: &Entity, name: &str, shape: &Shape) -> ReplyMemberDoc {
        let field = identifier(name);
        if entity.nest.as_ref().is_some_and(|nest| nest.number == name) {
            return named(name, |doc| doc.field = Some(field));
        }
        let Some(fact) = entity.fields.get(name).filter(|fact| build::storable(&fact.shape)) else {
            return self.constant(entity, name, shape);
        };
        if fact.shape.kind == Kind::Integer && shape.kind == Kind::String {
            return named(name, |doc| doc.expr = Some(format!("string(record.{field})")));
        }
        if !fit::fits(&fact.shape, shape) {
            return self.constant(entity, name, shape);
        }
        if let Some(expression) = fit::among(&fact.shape, shape, &field) {
            return named(name, |doc| doc.expr = Some(expression));
        }
        let nullable = fact.nullable() || (!fact.everywhere && !fact.groups.is_empty());
        let whole = shape.kind == Kind::Integer && fact.shape.kind == Kind::Number;
        let zero = match shape.kind {
            Kind::Integer | Kind::Number => "0",
            Kind::Boolean => "false",
            _ => "''",
        };
        let moment = super::fakes::moment(name, &fact.shape).is_some();
        match (whole, nullable && !shape.nullable && shape.is_scalar()) {
            (true, true) => {
                named(name, |doc| doc.expr = Some(format!("integer(round(coalesce(record.{field}, 0), 0))")))
            }
            (true, false) => named(name, |doc| doc.expr = Some(format!("integer(round(record.{field}, 0))"))),
            (false, true) if moment => {
                named(name, |doc| doc.expr = Some(format!("coalesce(string(record.{field}), '')")))
            }
            (false, true) => named(name, |doc| doc.expr = Some(format!("coalesce(record.{field}, {zero})"))),
            (false, false) => named(name, |doc| doc.field = Some(field)),
        }
    }

    /// `media_id`, `media_title`, `media: {...}` beside `media_type`: whichever record this one belongs to.
    fn polymorphic(
        &mut self,
        entity: &Entity,
        owner: &Shape,
        name: &str,
        shape: &Shape,
    ) -> Option<ReplyMemberDoc> {
        let noun = match name.rsplit_once('_') {
            Some((noun, "id" | "title" | "name")) if polymorphic(owner, noun) => noun,
            _ if polymorphic(owner, name) && shape.members().is_some() => name,
            _ => return None,
        };
        if self.model.entities.contains_key(noun) {
            return None;
        }
        let ends = self.model.ends(entity);
        let wholes: Vec<&Entity> = ends
            .alternatives
            .keys()
            .filter_map(|owner| self.model.entity(owner))
            .filter(|owner| owner.nest.is_none())
            .collect();
        if wholes.is_empty() {
            return None;
        }
        if name != noun {
            return self
                .of_owner(entity, &wholes, name.rsplit('_').next().unwrap_or("id"), shape)
                .map(|expression| named(name, |doc| doc.expr = Some(expression)));
        }
        let mut members = Vec::new();
        for (inner, member) in shape.members().into_iter().flatten() {
            let expression = member
                .shape
                .is_scalar()
                .then(|| self.of_owner(entity, &wholes, inner, &member.shape))
                .flatten();
            members.push(shorten(match expression {
                Some(expression) => named(inner, |doc| doc.expr = Some(expression)),
                None => self.stored(entity, inner, &member.shape),
            }));
        }
        Some(named(name, |doc| doc.object = Some(members)))
    }

    /// A member of whichever of the owners there is.
    fn of_owner(&self, entity: &Entity, owners: &[&Entity], member: &str, shape: &Shape) -> Option<String> {
        let mut options = Vec::new();
        for owner in owners {
            let reference = self.model.reference_to(&entity.name, &owner.name)?;
            let original = member.strip_prefix("original_");
            let field = if member == "id" {
                let key = format!("record.{reference}");
                let number = owner.key_shape.is_text() && matches!(shape.kind, Kind::Integer | Kind::Number);
                options.push(if number { owner.number_behind(&key)? } else { key });
                continue;
            } else if owner.fields.contains_key(member) && !matches!(member, "name" | "title") {
                identifier(member)
            } else if matches!(member, "name" | "title") {
                identifier(build::display(owner)?)
            } else if matches!(original, Some("name" | "title")) {
                let display = identifier(build::display(owner)?);
                let original = format!("original_{display}");
                if owner.fields.contains_key(&original) { original } else { display }
            } else {
                continue;
            };
            options.push(format!("{}.get(record.{reference}).{field}", owner.name));
        }
        if options.is_empty() {
            return None;
        }
        if let ("id", [only]) = (member, options.as_slice()) {
            // A key has no number to fall back to.
            return Some(only.clone());
        }
        match shape.kind {
            Kind::String => options.push("''".to_owned()),
            Kind::Integer | Kind::Number => options.push("0".to_owned()),
            _ => {}
        }
        Some(format!("coalesce({})", options.join(", ")))
    }

    /// An object inside a record.
    fn nested(&mut self, entity: &Entity, name: &str, shape: &Shape, depth: u32) -> ReplyMemberDoc {
        let object = shape.first_object();
        let mut hints = Vec::new();
        push_noun(&mut hints, name);
        if let Meaning::Entity(target) = self.model.meaning(object, &hints)
            && let Some(other) = self.model.entity(&target)
        {
            let reference = identifier(&format!("{name}_id"));
            let shown = shown(object, other);
            if entity.references.contains_key(&reference) {
                let fields = self.object(other, &shown, depth + 1);
                return named(name, |doc| {
                    doc.follow = Some(reference);
                    doc.fields = Some(fields);
                });
            }
            if self.model.contains(&entity.name, &target)
                && let Some(by) = self.model.reference_to(&target, &entity.name)
            {
                return self.latest_part(entity, name, other, &by, &shown, depth);
            }
        }
        if whole_fits(entity, name, object) {
            return named(name, |doc| doc.field = Some(identifier(name)));
        }
        self.constant(entity, name, shape)
    }

    /// `last_episode_to_air`: the latest part whose date has come.
    fn latest_part(
        &mut self,
        entity: &Entity,
        name: &str,
        part: &Entity,
        by: &str,
        shape: &Shape,
        depth: u32,
    ) -> ReplyMemberDoc {
        let date = part
            .fields
            .iter()
            .find(|(name, fact)| super::fakes::moment(name, &fact.shape) == Some("date"))
            .map(|(name, _)| identifier(name));
        let own = format!("x.{by} == record.{}", entity.key);
        let which = match date {
            Some(date) => format!(
                "coalesce({0}.first(x, {own} && x.{date} == {0}.max(y, y.{by} == record.{1} && y.{date} <= today, y.{date})).{2}, {0}.first(x, {own}).{2})",
                part.name, entity.key, part.key
            ),
            None => format!("{}.first(x, {own}).{}", part.name, part.key),
        };
        let mut members = Vec::new();
        for (inner, member) in shape.members().into_iter().flatten() {
            let source = self.member(part, shape, inner, &member.shape, depth + 1);
            members.push(shorten(match source.field {
                Some(field) if field == part.key => named(inner, |doc| doc.expr = Some(which.clone())),
                Some(field) => {
                    let value = format!("{}.get({which}).{field}", part.name);
                    let missing = part.fields.get(inner).is_some_and(|fact| fact.nullable())
                        && !member.shape.nullable
                        && member.shape.kind == Kind::String;
                    named(inner, |doc| {
                        doc.expr = Some(if missing { format!("coalesce({value}, '')") } else { value })
                    })
                }
                None => match source
                    .expr
                    .as_deref()
                    .and_then(|expression| expression.strip_prefix("coalesce(record."))
                {
                    Some(rest) => named(inner, |doc| {
                        doc.expr = Some(format!("coalesce({}.get({which}).{rest}", part.name))
                    }),
                    None => self.constant(part, inner, &member.shape),
                },
            }));
        }
        named(name, |doc| doc.object = Some(members))
    }
}

/// Whether a record stores a member as a whole, as the schema has it.
fn whole_fits(entity: &Entity, name: &str, shape: &Shape) -> bool {
    let fact = entity.fields.get(name).filter(|fact| build::storable(&fact.shape));
    fact.is_some_and(|fact| fit::fits(&fact.shape, shape))
}

/// The shape of an embedded record; a schema that leaves it open shows what lists show, and whatever whole records
/// promise.
fn shown(object: &Shape, entity: &Entity) -> Shape {
    if object.members().is_some_and(|members| !members.is_empty()) {
        return object.clone();
    }
    let mut summary = entity.summary.clone().or_else(|| entity.root.clone()).unwrap_or_default();
    if let Kind::Object(members) = &mut summary.kind {
        members.retain(|_, member| member.shape.is_scalar());
        for (name, member) in entity.root.iter().filter_map(Shape::members).flatten() {
            if member.required && !members.contains_key(name) {
                members.insert(name.clone(), Member { shape: promised(&member.shape), required: true });
            }
        }
    }
    summary
}

/// The part of a shape that its schemas promise, at any depth.
fn promised(shape: &Shape) -> Shape {
    let kind = match &shape.kind {
        Kind::Object(members) => {
            let kept = members.iter().filter(|(_, member)| member.required || member.shape.is_scalar());
            let kept = kept.map(|(name, member)| {
                (name.clone(), Member { shape: promised(&member.shape), required: member.required })
            });
            Kind::Object(kept.collect())
        }
        Kind::Array(item) => Kind::Array(Box::new(promised(item))),
        other => other.clone(),
    };
    Shape { kind, ..shape.clone() }
}

pub(super) fn named(name: &str, fill: impl FnOnce(&mut ReplyMemberDoc)) -> ReplyMemberDoc {
    let mut doc = ReplyMemberDoc { name: name.to_owned(), ..ReplyMemberDoc::default() };
    fill(&mut doc);
    doc
}

/// A field under its own name is written as its name.
fn shorten(member: ReplyMemberDoc) -> ReplyFieldDoc {
    match &member.field {
        Some(field) if *field == member.name => ReplyFieldDoc::Field(field.clone()),
        _ => ReplyFieldDoc::Member(Box::new(member)),
    }
}
