//! Which records the reply of an operation shows, by the world's own description of it.

use diorama_seeds::doc::{ApiDoc, ReplyFieldDoc, ReplyMemberDoc, WorldDoc};

/// Replies nested deeper show nothing more.
const MAX_DEPTH: u32 = 8;

/// The resources whose keys stand in a reply, in the order in which they are met.
pub(super) fn resources(doc: &WorldDoc, api: &ApiDoc) -> Vec<String> {
    let behaviour = &api.behaviour;
    let members = behaviour.members.as_ref().and_then(|path| {
        let (resource, list) = path.split_once('.')?;
        doc.resources.get(resource)?.fields.get(list)?.items.as_ref()?.reference.clone()
    });
    let subject = [&behaviour.get, &behaviour.lookup, &behaviour.list].into_iter().flatten().next().cloned();
    let Some(subject) = subject.or(members) else { return Vec::new() };
    let mut reader = Reader { doc, found: Vec::new() };
    reader.record(&subject, api.reply.fields.as_deref(), 0);
    reader.found
}

struct Reader<'a> {
    doc: &'a WorldDoc,
    found: Vec<String>,
}

impl Reader<'_> {
    /// A record of a resource that shows these members, or all of its fields.
    fn record(&mut self, resource: &str, members: Option<&[ReplyFieldDoc]>, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match members {
            Some(members) => members.iter().for_each(|member| self.member(resource, member, depth)),
            None => {
                self.field(resource, self.doc.resources.get(resource).map_or("", |own| &own.key));
                let fields = self.doc.resources.get(resource).into_iter().flat_map(|own| own.fields.keys());
                fields.for_each(|field| self.field(resource, field));
            }
        }
    }

    fn member(&mut self, resource: &str, member: &ReplyFieldDoc, depth: u32) {
        let member = match member {
            ReplyFieldDoc::Field(field) => return self.field(resource, field),
            ReplyFieldDoc::Member(member) => member,
        };
        let ReplyMemberDoc { field, follow, many, object, fields, .. } = member.as_ref();
        if let Some(field) = field {
            self.field(resource, field);
        } else if let Some(target) = follow.as_ref().and_then(|field| self.target(resource, field)) {
            self.record(&target, fields.as_deref(), depth + 1);
        } else if let Some(many) = many {
            self.record(many, fields.as_deref(), depth + 1);
        } else if let Some(object) = object {
            self.record(resource, Some(object), depth + 1);
        }
    }

    fn field(&mut self, resource: &str, field: &str) {
        let key = self.doc.resources.get(resource).is_some_and(|own| own.key == field);
        let shown = if key { Some(resource.to_owned()) } else { self.target(resource, field) };
        if let Some(shown) = shown.filter(|shown| !self.found.contains(shown)) {
            self.found.push(shown);
        }
    }

    /// The resource that a reference, or a list of references, leads to.
    fn target(&self, resource: &str, field: &str) -> Option<String> {
        let field = self.doc.resources.get(resource)?.fields.get(field)?;
        let items = field.items.as_ref().and_then(|items| items.reference.clone());
        field.reference.clone().or(items)
    }
}
