//! Operations to APIs: which behaviour an operation has, its parameters, its reply.

mod names;

use diorama_seeds::doc::{
    self, ApiDoc, BehaviourDoc, FieldDoc, Method, PageStyle, PagingMember, PhrasesDoc, RefusalDoc, ReplyDoc,
    ReplyFieldDoc, RequireDoc, ResourceDoc, TypeName,
};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use self::names::{description, name};
use super::constants;
use super::constants::quoted;
use super::document::{Operation, Place};
use super::entities::{Entity, Meaning, Model, has_page};
use super::fakes;
use super::phrases;
use super::protocol::fixed;
use super::queries;
use super::replies::Replies;
use super::routes::{self, List, Route, View};
use super::shape::Shape;
use super::words::{identifier, is_identifier, label, sentence, words};
use super::{Note, Remark, Severity};

/// Makes one API.
pub(super) struct Maker<'m> {
    pub(super) model: &'m Model,
    pub(super) operation: &'m Operation,
    pub(super) route: Route,
    pub(super) api: ApiDoc,
    pub(super) notes: Vec<Remark>,
    /// Parameters that the behaviour uses.
    pub(super) used: IndexSet<String>,
    /// Resources that only this API needs.
    pub(super) more: IndexMap<String, ResourceDoc>,
}

/// All APIs, in the document's order. Resources that only an API needs are added to the others.
pub(super) fn apis(
    model: &Model,
    operations: &[Operation],
    resources: &mut IndexMap<String, ResourceDoc>,
    notes: &mut Vec<Note>,
) -> Vec<ApiDoc> {
    let mut taken: IndexSet<String> = IndexSet::new();
    let mut out = Vec::new();
    for operation in operations {
        let route = operation.route.clone();
        let (name, collided) = name(operation, &mut taken);
        let mut maker = Maker {
            model,
            operation,
            route,
            api: ApiDoc::default(),
            notes: Vec::new(),
            used: IndexSet::new(),
            more: IndexMap::new(),
        };
        if collided {
            maker.notes.push(
                Severity::Other
                    .says(format!("its name is taken by another operation; it is called `{name}`")),
            );
        }
        maker.api.name = name;
        maker.make();
        let made = operation.route();
        notes.extend(maker.notes.into_iter().map(|reason| Note::on(&made, reason)));
        for (name, resource) in maker.more {
            resources.entry(name).or_insert(resource);
        }
        out.push(maker.api);
    }
    out
}

/// An operation with its name, route and parameters, which does nothing yet.
pub(super) fn plain(operation: &Operation, taken: &mut IndexSet<String>) -> ApiDoc {
    let model = Model::default();
    let (name, _) = name(operation, taken);
    let mut maker = Maker {
        model: &model,
        operation,
        route: Route::default(),
        api: ApiDoc { name, ..ApiDoc::default() },
        notes: Vec::new(),
        used: IndexSet::new(),
        more: IndexMap::new(),
    };
    maker.begin();
    maker.api
}

/// Whether a behaviour was found for an operation, which is more than constants.
pub(super) fn is_understood(api: &ApiDoc) -> bool {
    api.behaviour.compute.is_empty()
}

impl Maker<'_> {
    pub(super) fn begin(&mut self) {
        self.api.method = Method::parse(&self.operation.method).unwrap_or_default();
        self.api.path.clone_from(&self.operation.path);
        self.api.chosen_by.clone_from(&self.operation.chosen_by);
        self.api.description = description(self.operation);
        self.api.security.clone_from(&self.operation.security);
        self.parameters();
    }

    fn make(&mut self) {
        self.begin();
        self.read();
        if self.api.behaviour == BehaviourDoc::default() {
            self.fallback();
        }
        if ![200, 204, 205].contains(&self.operation.status) {
            self.api.reply.status = Some(self.operation.status);
        }
        self.page_by_offset();
        if self.operation.deprecated {
            self.api.phrases = PhrasesDoc { unasked: true, ..PhrasesDoc::default() };
        }
        phrases::complete(&mut self.api, &|_, _| true, &|_| false);
        let mut unused: Vec<&str> = Vec::new();
        for (name, doc) in &mut self.api.parameters {
            if !self.used.contains(name) {
                doc.ignored = true;
                unused.push(name);
            }
        }
        if !unused.is_empty() {
            let reason = format!("has no effect on the made-up records: {}", unused.join(", "));
            self.notes.push(Severity::Less.says(reason));
        }
    }

    /// The operation's parameters; behaviours refine them.
    fn parameters(&mut self) {
        for parameter in &self.operation.parameters {
            if self.api.parameters.contains_key(&parameter.name) {
                self.notes.push(Severity::Less.says(format!(
                    "the parameter `{}` occurs in two places; the first is kept",
                    parameter.name
                )));
                continue;
            }
            let mut shape = parameter.shape.clone();
            let dropped = matches!(&shape.kind, super::shape::Kind::Enum(values) if values.iter().any(|value| value.trim().is_empty()));
            if dropped {
                self.notes.push(Severity::LeftOut.says(format!(
                    "the empty value of `{}` is left out; leave the parameter out instead",
                    parameter.name
                )));
            }
            shape.nullable = false;
            let mut doc = fakes::typed(&parameter.name, &shape, 0);
            let inferred = !self.model.entities.is_empty();
            if inferred && doc.kind == Some(TypeName::String) && dated_filter(&parameter.name) {
                doc.kind = Some(TypeName::Date);
            }
            doc.place = Some(match parameter.place {
                Place::Path => doc::Place::Path,
                Place::Query => doc::Place::Query,
                Place::Header => doc::Place::Header,
                Place::Cookie => doc::Place::Cookie,
            });
            // Headers are the connection's: they are taken where they are sent, and nobody is asked for one.
            let required = parameter.required && parameter.place != Place::Header;
            let fixed = fixed(parameter);
            let required = required && fixed.is_none();
            doc.default = shape
                .default
                .clone()
                .filter(|default| !required && default.as_str().is_none_or(|text| !text.is_empty()))
                .or(fixed);
            doc.optional = !required && doc.default.is_none();
            doc.description = Some(parameter.description.clone())
                .filter(|text| !text.is_empty())
                .or_else(|| shape.description.as_deref().map(sentence));
            phrases::name(&parameter.name, &mut doc);
            if matches!(routes::paging_role(&parameter.name), Some("page" | "limit"))
                && doc.kind == Some(TypeName::Integer)
                && doc.min.is_none()
            {
                doc.min = Some(json!(queries::first_page(&doc)));
            }
            if let Some(step) = self.route.chain.iter().find(|step| step.parameter == parameter.name)
                && let Some(entity) = self.model.entity(&step.entity)
                && entity.nest.is_none()
            {
                doc = FieldDoc {
                    reference: Some(step.entity.clone()),
                    place: doc.place,
                    description: doc.description,
                    label: Some(label(&step.entity)),
                    ..FieldDoc::default()
                };
            }
            self.api.parameters.insert(parameter.name.clone(), doc);
        }
    }

    /// The expression for the key of the record that the path is about, and the keys used.
    pub(super) fn key_expression(&mut self, depth: usize) -> Option<String> {
        let step = self.route.chain.get(depth)?.clone();
        let entity = self.model.entity(&step.entity)?;
        self.used.insert(step.parameter.clone());
        let argument = argument(&step.parameter);
        let Some(nest) = &entity.nest else { return Some(argument) };
        let number = identifier(&nest.number);
        let within = depth.checked_sub(1).and_then(|above| self.route.chain.get(above))?;
        if within.entity != nest.parent {
            // Below another record than elsewhere (`/users/{id}/projects/{number}` beside `/orgs/...`) the number tells.
            return Some(format!("{0}.first(x, x.{number} == {argument}).{1}", entity.name, entity.key));
        }
        let above = self.key_expression(depth.checked_sub(1)?)?;
        let by = self.model.reference_to(&entity.name, &nest.parent)?;
        Some(format!(
            "{0}.first({1}, {1}.{by} == {above} && {1}.{2} == {argument}).{3}",
            entity.name,
            ["a", "b", "c", "d", "e", "f", "g", "h"].get(depth).unwrap_or(&"z"),
            number,
            entity.key
        ))
    }

    /// A page size alone needs a way to the rest: the world adds the offset that the document lacks.
    fn page_by_offset(&mut self) {
        let Some(page) = &self.api.behaviour.page else { return };
        if page.style != PageStyle::Offset
            || page.parameter.is_some()
            || self.api.parameters.contains_key("offset")
        {
            return;
        }
        let doc = FieldDoc {
            kind: Some(TypeName::Integer),
            min: Some(json!(0)),
            optional: true,
            place: Some(doc::Place::Query),
            description: Some("How many to leave out.".to_owned()),
            ..FieldDoc::default()
        };
        self.api.parameters.insert("offset".to_owned(), doc);
        self.used.insert("offset".to_owned());
        self.notes.push(Severity::Other.says("`offset` is added, as only the size of a page can be chosen"));
    }

    /// The record that a behaviour acts on; the only one of its kind needs no key.
    pub(super) fn act_on(&mut self, entity: &Entity, key: String) {
        self.api.behaviour.key = (!entity.singleton).then_some(key);
    }

    fn read(&mut self) {
        let Some(reply) = &self.operation.reply else { return };
        let subject = self.route.subject().and_then(|step| self.model.entity(&step.entity));
        let view = routes::view(reply, self.route.subject().is_some(), has_page(self.operation));
        match (view, subject) {
            (View::Record { shape, envelope }, Some(entity)) => self.record(entity, shape, envelope),
            (View::Record { shape, envelope }, None) => self.free_record(shape, envelope),
            (View::List(list), subject) => queries::list(self, &list, subject),
            (View::Other, _) => {}
        }
    }

    /// One record by key, or a view of it.
    fn record(&mut self, entity: &Entity, shape: &Shape, envelope: Option<&str>) {
        let depth = self.route.chain.len().saturating_sub(1);
        let Some(key) = self.key_expression(depth) else { return };
        let keys: Vec<String> = self.route.keys().cloned().collect();
        let tail = self.route.hints();
        let what = self.route.tail.last().cloned();
        if let (Some(other), Some(_)) = (self.model.companion(&entity.name, shape, &tail), &what)
            && let Some(field) = self.model.reference_to(&entity.name, &other)
            && let Some(other) = self.model.entity(&other)
        {
            // `/orders/{id}/customer` is the record that the order refers to.
            let expression = format!("{}.get({key}).{field}", entity.name);
            self.show(other, shape, envelope);
            self.api.behaviour.get = Some(other.name.clone());
            self.api.behaviour.key = Some(expression);
        } else {
            self.show(entity, shape, envelope);
            self.api.behaviour.get = Some(entity.name.clone());
            self.act_on(entity, key);
        }
        self.api.phrases = match what {
            Some(what) => phrases::view(entity, &keys, &what),
            None if entity.nest.is_some() => phrases::view(entity, &keys, "details"),
            None => phrases::details(entity, keys.last().map_or("id", String::as_str)),
        };
    }

    /// A record that no key names: the latest film, a singleton.
    fn free_record(&mut self, shape: &Shape, envelope: Option<&str>) {
        let hints = self.route.hints();
        let name = match self.model.meaning(shape, &hints) {
            Meaning::Entity(name) => name,
            _ => match hints.iter().chain(self.route.tail.last()).find_map(|hint| {
                [hint.clone(), format!("{hint}_summary")]
                    .into_iter()
                    .find(|name| self.model.entity(name).is_some_and(|entity| entity.singleton))
            }) {
                Some(name) => name,
                None => return,
            },
        };
        let Some(entity) = self.model.entity(&name) else { return };
        self.show(entity, shape, envelope);
        self.api.behaviour.get = Some(entity.name.clone());
        if entity.singleton {
            self.api.phrases.imperative = vec![format!("show me the {}", label(&entity.name))];
            return;
        }
        let modifiers = self.route.modifiers();
        let (field, past, word) = queries::extreme(self.model, entity, &modifiers);
        self.api.behaviour.key = Some(match field {
            Some(field) if past => format!(
                "{0}.first(a, a.{field} == {0}.max(b, b.{field} <= today, b.{field})).{1}",
                entity.name, entity.key
            ),
            Some(field) => {
                format!("{0}.first(a, a.{field} == {0}.max(b, true, b.{field})).{1}", entity.name, entity.key)
            }
            None => format!("{}.first(a, true).{}", entity.name, entity.key),
        });
        self.api.phrases.imperative = vec![
            format!("show me the {word} {}", label(&entity.name)),
            format!("tell me which {} is the {word}", label(&entity.name)),
        ];
    }

    /// The reply shows a record by this schema.
    pub(super) fn show(&mut self, entity: &Entity, shape: &Shape, envelope: Option<&str>) {
        let fields = self.fields(entity, shape);
        self.api.reply.fields = Some(fields).filter(|fields| !fields.is_empty());
        self.api.reply.envelope = envelope.map(str::to_owned);
    }

    /// The members of a record shown by this schema; what stays constant is noted.
    pub(super) fn fields(&mut self, entity: &Entity, shape: &Shape) -> Vec<ReplyFieldDoc> {
        let mut replies = Replies { model: self.model, constants: Vec::new(), tail: self.route.hints() };
        let fields = replies.object(entity, shape, 0);
        let constants: IndexSet<String> = replies.constants.into_iter().collect();
        if !constants.is_empty() {
            let list: Vec<String> = constants.into_iter().collect();
            self.notes.push(Severity::Less.says(format!("constant in every reply: {}", list.join(", "))));
        }
        fields
    }

    /// A list behaviour around this item.
    pub(super) fn list_reply(&mut self, entity: &Entity, list: &List<'_>) {
        let fields = self.fields(entity, list.item);
        self.list_reply_of(fields, list);
    }

    /// A list behaviour with these members of each item.
    pub(super) fn list_reply_of(&mut self, fields: Vec<ReplyFieldDoc>, list: &List<'_>) {
        let mut reply = ReplyDoc {
            fields: Some(fields),
            items: Some(list.items.to_owned()),
            total: Some(String::new()),
            ..ReplyDoc::default()
        };
        reply.envelope = list.envelope.map(str::to_owned);
        for (name, member) in list.root.and_then(Shape::members).into_iter().flatten() {
            if name == list.items {
                continue;
            }
            let role = routes::paging_role(name);
            let member_of_page =
                role.and_then(PagingMember::parse).filter(|_| self.api.behaviour.page.is_some());
            if let Some(role) = member_of_page.filter(|role| !reply.paging.contains_key(role)) {
                reply.paging.insert(role, name.clone());
                continue;
            }
            match role {
                Some("total") if reply.total.as_deref() == Some("") => reply.total = Some(name.clone()),
                Some("page" | "pages") if self.api.behaviour.page.is_none() && member.shape.is_scalar() => {
                    // Without a parameter for it there is one page, which holds everything.
                    reply.with.insert(name.clone(), "1".to_owned());
                }
                _ => match self.beside(name, &member.shape) {
                    Some(expression) => {
                        reply.with.insert(name.clone(), expression);
                    }
                    None => self.notes.push(
                        Severity::LeftOut
                            .says(format!("the reply leaves out `{name}`, which stands beside the list")),
                    ),
                },
            }
        }
        self.api.reply = reply;
    }

    /// A member beside a list: the key of the record that the path is about, or a constant.
    fn beside(&mut self, name: &str, shape: &Shape) -> Option<String> {
        let depth = self.route.chain.len().checked_sub(1);
        if let Some(depth) = depth
            && shape.is_scalar()
            && (name == "id" || self.route.chain.get(depth).is_some_and(|step| step.parameter == name))
        {
            return self.key_expression(depth);
        }
        match constants::value(shape, 0) {
            Json::String(text) if shape.is_scalar() => Some(quoted(&text)),
            Json::Number(number) => Some(number.to_string()),
            Json::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The 404 of a list below a record that does not exist.
    pub(super) fn must_exist(&mut self, entity: &Entity, key: &str) {
        let that = format!("{}.exists({key})", entity.name);
        self.api.behaviour.require.push(RequireDoc {
            that,
            otherwise: RefusalDoc {
                status: 404,
                message: format!("there is no such {}", label(&entity.name)),
            },
        });
    }
}

/// `args.x`; names that are no identifiers cannot be read, and callers keep them out.
pub(super) fn argument(name: &str) -> String {
    if is_identifier(name) { format!("args.{name}") } else { format!("args.{}", identifier(name)) }
}

/// `release_date.gte`, `from_date`, `due_before`.
fn dated_filter(name: &str) -> bool {
    let parts = words(name);
    parts.iter().any(|part| part == "date")
        && !parts.iter().any(|part| ["year", "null", "include", "type", "dates"].contains(&part.as_str()))
}
