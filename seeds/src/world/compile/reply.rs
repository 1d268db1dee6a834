//! Owns the compilation of replies: the members of each record, and the members around the records.

use super::api::Builder;
use super::behaviour::ReplyRecords;
use super::listed;
use crate::doc::{ReplyFieldDoc, ReplyMemberDoc};
use crate::english::enumerate;
use crate::model::{
    Behaviour, BehaviourKind, FieldId, Many, Member, PageStyle, PagingMember, Reply, ResourceId, Shape,
    Source,
};
use crate::naming;
use crate::schema::{Schema, Type};
use crate::value::{Str, nfc};
use diorama_format::path::Path;

/// Maximum nesting of embedded records.
const MAX_DEPTH: u32 = 8;

impl Builder<'_> {
    /// Returns the reply of a behaviour.
    pub(super) fn reply(&mut self, behaviour: &Behaviour, shown: &ReplyRecords) -> Reply {
        if *shown == ReplyRecords::Unknown {
            return unknown();
        }
        let api_path = self.path;
        let path = api_path.name("reply");
        let doc = &self.doc.reply;
        let record = match shown {
            ReplyRecords::One(resource) | ReplyRecords::Many(resource, _) => Some(*resource),
            ReplyRecords::Groups | ReplyRecords::Nothing | ReplyRecords::Unknown => None,
        };
        let is_list = matches!(shown, ReplyRecords::Many(..));
        self.scope.set_item(None);
        self.scope.set_record(record);
        let members = match (record, &doc.fields) {
            // With a contract, a reply always includes the record's own fields.
            (Some(resource), Some(fields)) if self.doc.contract.is_some() => {
                let mut members = self.every_field(resource);
                members.extend(self.members(resource, fields, &path.name("fields"), 0));
                members
            }
            (Some(resource), Some(fields)) => self.members(resource, fields, &path.name("fields"), 0),
            (Some(resource), None) => self.every_field(resource),
            (None, Some(_)) => {
                error!(self.findings, path.name("fields") => "found fields for a reply without records";
                    "use `with`");
                Vec::new()
            }
            (None, None) => Vec::new(),
        };
        self.scope.set_record(match shown {
            ReplyRecords::One(resource) => Some(*resource),
            ReplyRecords::Many(_, holder) => *holder,
            ReplyRecords::Groups | ReplyRecords::Nothing | ReplyRecords::Unknown => None,
        });
        let with_path = path.name("with");
        let mut with = Vec::with_capacity(doc.with.len());
        for (name, source) in &doc.with {
            let here = with_path.name(name);
            let expr = self.expression(source, &here);
            self.check_output(&expr, &here);
            with.push((nfc(name), expr));
        }
        let grouped = matches!(&behaviour.kind, BehaviourKind::Aggregate { group_by: Some(_), .. });
        let only_lists = [
            ("items", doc.items.is_some()),
            ("total", doc.total.is_some()),
            ("paging", !doc.paging.is_empty()),
        ];
        for (key, _) in
            only_lists.into_iter().filter(|(key, given)| *given && !is_list && !(grouped && *key == "items"))
        {
            error!(self.findings, path.name(key) => "found `{key}` for a reply that is no list"; "remove it");
        }
        let items = match (&doc.items, record) {
            (Some(items), _) => nfc(items),
            (None, Some(resource)) if is_list => nfc(&naming::member(&self.resource(resource).plural)),
            _ if grouped => Str::from("groups"),
            _ => Str::from(""),
        };
        let bare = is_list && items.is_empty();
        let total = match &doc.total {
            Some(total) => nfc(total),
            None if is_list && !bare => Str::from("total"),
            None => Str::from(""),
        };
        let paging = self.paging(behaviour, bare, &path);
        if bare && (!total.is_empty() || !doc.paging.is_empty() || !with.is_empty()) {
            error!(self.findings, path.name("items") => "found a bare list together with members beside it";
                "name the list, or remove `total`, `paging` and `with`");
        }
        let created = matches!(behaviour.kind, BehaviourKind::Create { .. });
        let status = doc.status.unwrap_or(if created { 201 } else { 200 });
        if !(200..=299).contains(&status) || (self.doc.contract.is_none() && matches!(status, 204 | 205)) {
            error!(self.findings, path.name("status") =>
                "found {status}, expected a status from 200 to 299 that has a body";
                "use 200, or 201 for a new record");
        }
        let around = [&items, &total].into_iter().filter(|name| !name.is_empty()).cloned();
        let own: Vec<Str> = match &behaviour.kind {
            BehaviourKind::Compute(computed) => computed.iter().map(|(name, _)| name.clone()).collect(),
            BehaviourKind::Aggregate { group_by: None, measures, .. } => {
                measures.iter().map(|(name, _)| name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let outer = around
            .chain(own)
            .chain(paging.iter().map(|(_, name)| name.clone()))
            .chain(with.iter().map(|(name, _)| name.clone()))
            .chain(members.iter().filter(|_| !is_list).map(|member| member.name.clone()));
        self.check_distinct(outer, &path);
        Reply {
            status,
            made: doc.made,
            members,
            items,
            total,
            paging,
            envelope: doc.envelope.as_deref().map(nfc),
            with,
        }
    }

    /// Returns true if the call changes a record. Its reply may then be empty.
    fn writes(&self) -> bool {
        let doc = &self.doc.behaviour;
        let kinds = [
            &doc.create,
            &doc.replace,
            &doc.patch,
            &doc.delete,
            &doc.action,
            &doc.add_members,
            &doc.remove_members,
        ];
        kinds.into_iter().any(Option::is_some)
    }

    /// Returns the paging members: those of the style, or those that the document names.
    fn paging(&mut self, behaviour: &Behaviour, bare: bool, path: &Path<'_>) -> Vec<(PagingMember, Str)> {
        let query = match &behaviour.kind {
            BehaviourKind::List(query) | BehaviourKind::Members { query, .. } => query,
            _ => return Vec::new(),
        };
        let here = path.name("paging");
        let doc = &self.doc.reply.paging;
        let Some(page) = &query.page else {
            if !doc.is_empty() {
                error!(self.findings, here => "found `paging` for a list without pages";
                    "add `page` to the behaviour");
            }
            return Vec::new();
        };
        if bare {
            return Vec::new();
        }
        if doc.is_empty() {
            let members: &[PagingMember] = match page.style {
                PageStyle::Page => &[PagingMember::Page, PagingMember::Pages],
                PageStyle::Offset => &[PagingMember::Offset, PagingMember::Limit],
                PageStyle::Cursor => &[PagingMember::Next],
            };
            return members.iter().map(|member| (*member, Str::from(member.as_str()))).collect();
        }
        doc.iter().map(|(member, shown)| (*member, nfc(shown))).collect()
    }

    /// Returns all fields except secrets.
    fn every_field(&self, resource: ResourceId) -> Vec<Member> {
        let fields = (0..self.resource(resource).fields.len()).map(|index| FieldId(index as u16));
        fields
            .filter(|field| !self.shared.secrets.contains(&(resource, *field)))
            .map(|field| Member {
                name: self.resource(resource).field(field).name.clone(),
                source: Source::Field(field),
            })
            .collect()
    }

    fn members(
        &mut self,
        resource: ResourceId,
        fields: &[ReplyFieldDoc],
        path: &Path<'_>,
        depth: u32,
    ) -> Vec<Member> {
        if depth > MAX_DEPTH {
            self.findings.error(path, format!("found embeddings deeper than {MAX_DEPTH}"), "embed less");
            return Vec::new();
        }
        let mut members = Vec::with_capacity(fields.len());
        for (i, field) in fields.iter().enumerate() {
            let here = path.index(i);
            match field {
                ReplyFieldDoc::Field(name) => {
                    members.extend(self.find_field(resource, name, &here).map(|field| Member {
                        name: self.resource(resource).field(field).name.clone(),
                        source: Source::Field(field),
                    }));
                }
                ReplyFieldDoc::Member(member) => {
                    if let Some(source) = self.source(resource, member, &here, depth) {
                        members.push(Member { name: nfc(&member.name), source });
                    }
                }
            }
        }
        if fields.is_empty() && !(depth == 0 && self.writes()) {
            self.findings.error(path, "found a reply that shows nothing", "list at least one field");
        }
        let bare = members.len() == 1 && members[0].name.is_empty();
        if !bare {
            self.check_distinct(members.iter().map(|member| member.name.clone()), path);
        }
        if depth == 0 && bare {
            self.findings.error(path, "found a reply member without a name", "give it one with `as`");
        }
        members
    }

    fn check_distinct(&mut self, names: impl Iterator<Item = Str>, path: &Path<'_>) {
        let mut seen: Vec<Str> = Vec::new();
        for name in names {
            if name.is_empty() {
                self.findings.error(path, "found a member without a name", "give it one with `as`");
            } else if seen.contains(&name) {
                let found = format!("found the member `{name}` twice, expected different names");
                self.findings.error(path, found, "rename one with `as`");
            }
            seen.push(name);
        }
    }

    fn source(
        &mut self,
        of: ResourceId,
        doc: &ReplyMemberDoc,
        path: &Path<'_>,
        depth: u32,
    ) -> Option<Source> {
        let sources = [
            ("field", doc.field.is_some()),
            ("follow", doc.follow.is_some()),
            ("many", doc.many.is_some()),
            ("expr", doc.expr.is_some()),
            ("object", doc.object.is_some()),
            ("value", doc.value.is_some()),
        ];
        let given: Vec<&str> =
            sources.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
        let [kind] = given.as_slice() else {
            error!(self.findings, path =>
                "found the sources {} of a reply member, expected one", listed(given.into_iter());
                "write exactly one of field, follow, many, expr, object, value");
            return None;
        };
        let options: [(&str, bool, &[&str]); 5] = [
            ("by", doc.by.is_some(), &["many"]),
            ("where", doc.condition.is_some(), &["many"]),
            ("sort", doc.sort.is_some(), &["many"]),
            ("limit", doc.limit.is_some(), &["many"]),
            ("fields", doc.fields.is_some(), &["many", "follow"]),
        ];
        for (option, _, kinds) in
            options.into_iter().filter(|(_, given, kinds)| *given && !kinds.contains(kind))
        {
            error!(self.findings, path.name(option) => "found `{option}`, which does nothing for `{kind}`";
                "remove it; it goes with {}", enumerate(kinds));
        }
        match *kind {
            "field" => self.find_field(of, doc.field.as_deref()?, &path.name("field")).map(Source::Field),
            "follow" => {
                let here = path.name("follow");
                let field = self.find_field(of, doc.follow.as_deref()?, &here)?;
                let schema = &self.resource(of).field(field).schema;
                let Some(target) = target_of(schema) else {
                    // The field has already reported its invalid type.
                    if matches!(schema.kind, Type::Any) && self.findings.has_errors() {
                        return None;
                    }
                    error!(self.findings, here =>
                        "found `{}`, which is no reference", doc.follow.as_deref().unwrap_or("");
                        "follow a field with `ref`, or a list of references");
                    return None;
                };
                Some(Source::Follow(field, target, self.shape(of, target, doc, path, depth)))
            }
            "many" => self.many(of, doc, path, depth),
            "expr" => {
                let here = path.name("expr");
                let expr = self.expression(doc.expr.as_deref()?, &here);
                self.check_output(&expr, &here);
                Some(Source::Expr(expr))
            }
            "object" => {
                Some(Source::Object(self.members(of, doc.object.as_ref()?, &path.name("object"), depth + 1)))
            }
            _ => {
                let here = path.name("value");
                match Schema::of(Type::Any).parse_json(doc.value.as_ref()?, self.shared.zone) {
                    Ok(value) => Some(Source::Value(value)),
                    Err(error) => {
                        self.findings.error(here, error.to_string(), "write a plain JSON value");
                        None
                    }
                }
            }
        }
    }

    fn many(&mut self, of: ResourceId, doc: &ReplyMemberDoc, path: &Path<'_>, depth: u32) -> Option<Source> {
        let many_path = path.name("many");
        let other = self.find_resource(doc.many.as_deref()?, &many_path)?;
        let refers = |schema: &Schema| target_of(schema) == Some(of);
        let by = if let Some(name) = &doc.by {
            let here = path.name("by");
            let by = self.find_field(other, name, &here)?;
            if !refers(&self.resource(other).field(by).schema) {
                let (other, of) = (&self.resource(other).name, &self.resource(of).name);
                error!(self.findings, here => "found `{other}.{name}`, which does not refer to `{of}`";
                    "name a field with `ref: {of}`");
            }
            by
        } else {
            let fields = &self.resource(other).fields;
            let mut found = (0..fields.len()).filter(|index| refers(&fields[*index].schema));
            let (Some(only), None) = (found.next(), found.next()) else {
                let (other, of) = (&self.resource(other).name, &self.resource(of).name);
                error!(self.findings, many_path =>
                    "found no or several fields of `{other}` that refer to `{of}`";
                    "name the reference field with `by`");
                return None;
            };
            FieldId(only as u16)
        };
        let condition = doc.condition.as_ref().map(|source| {
            self.scope.set_record(Some(of));
            self.scope.set_item(Some(other));
            let condition = self.condition(source, &path.name("where"));
            self.scope.set_item(None);
            condition
        });
        let sort = doc.sort.as_ref().and_then(|by| self.sort(other, by, &path.name("sort")));
        let shape = self.shape(of, other, doc, path, depth);
        Some(Source::Many(Box::new(Many { resource: other, by, condition, sort, limit: doc.limit, shape })))
    }

    /// Returns the members of an embedded record. Expressions inside see it as `record`.
    fn shape(
        &mut self,
        of: ResourceId,
        target: ResourceId,
        doc: &ReplyMemberDoc,
        path: &Path<'_>,
        depth: u32,
    ) -> Shape {
        let Some(fields) = &doc.fields else { return Shape::Object(self.every_field(target)) };
        self.scope.set_record(Some(target));
        let mut members = self.members(target, fields, &path.name("fields"), depth + 1);
        self.scope.set_record(Some(of));
        if members.len() == 1 && members[0].name.is_empty() {
            Shape::Bare(Box::new(members.remove(0).source))
        } else {
            Shape::Object(members)
        }
    }
}

/// Returns a placeholder for the reply of a behaviour with errors. It is never returned to callers.
fn unknown() -> Reply {
    let empty = || Str::from("");
    Reply {
        status: 200,
        made: None,
        members: Vec::new(),
        items: empty(),
        total: empty(),
        paging: Vec::new(),
        envelope: None,
        with: Vec::new(),
    }
}

/// Returns the resource to which a reference or a list of references points.
fn target_of(schema: &Schema) -> Option<ResourceId> {
    match &schema.kind {
        Type::Reference { resource, .. } => Some(*resource),
        Type::List(items) => match items.kind {
            Type::Reference { resource, .. } => Some(resource),
            _ => None,
        },
        _ => None,
    }
}
