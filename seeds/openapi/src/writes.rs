//! Writes: create, replace, change and delete records, and actions on them.

use diorama_seeds::doc::{EffectDoc, FieldDoc};
use indexmap::IndexMap;

use super::Severity;
use super::document::{Operation, Place};
use super::entities::Entity;
use super::fakes;
use super::members;
use super::operations::Maker;
use super::phrases;
use super::replies::quoted;
use super::routes::{self, View};
use super::shape::{Kind, Shape};
use super::words::{identifier, label, sentence, words};

/// Makes the behaviour of a POST, PUT, PATCH or DELETE.
pub(super) fn write(maker: &mut Maker<'_>) {
    let model = maker.model;
    if let Some(membership) = members::of(model, maker.operation) {
        members::write(maker, &membership);
        return;
    }
    let Some(name) = model.written(&maker.route).or_else(|| by_body(maker)) else { return };
    let Some(entity) = model.entity(&name) else { return };
    let subject = maker.route.subject().cloned();
    let about = subject.as_ref().is_some_and(|step| step.entity == name);
    let method = maker.operation.method.clone();
    let verb = maker.route.tail.last().cloned().filter(|last| about && routes::entity_name(last) != name);
    match (method.as_str(), verb) {
        ("POST" | "PUT" | "PATCH" | "DELETE", Some(verb)) => action(maker, entity, &verb),
        ("POST", None) if !about || !maker.route.tail.is_empty() => create(maker, entity),
        ("PUT", None) if about => change(maker, entity, !is_partial(maker.operation)),
        ("PATCH" | "POST", None) if about => change(maker, entity, false),
        ("DELETE", None) if about => {
            let Some(key) = key(maker) else { return };
            maker.api.behaviour.delete = Some(name.clone());
            maker.act_on(entity, key);
            reply(maker, entity);
            maker.api.phrases = phrases::change(
                "delete",
                &label(&name),
                subject.as_ref().map(|step| step.parameter.as_str()).filter(|name| !name.is_empty()),
                &maker.api.parameters,
                (&[], &[]),
            );
        }
        ("PUT" | "PATCH", None) => by_body_key(maker, entity),
        _ => {}
    }
}

/// Whether a body says only what changes: nothing in it is required.
pub(super) fn is_partial(operation: &Operation) -> bool {
    let members = operation.body.as_ref().and_then(|body| body.first_object().members());
    members.is_some_and(|members| !members.values().any(|member| member.required))
}

/// The resource whose record the body looks like, when the path does not say.
fn by_body(maker: &Maker<'_>) -> Option<String> {
    let body = maker.operation.body.as_ref()?.first_object();
    let mut hints = maker.route.hints();
    hints.extend(body.title.as_deref().map(routes::entity_name));
    match maker.model.meaning(body, &hints) {
        super::entities::Meaning::Entity(name) => Some(name),
        _ => None,
    }
}

pub(super) fn key(maker: &mut Maker<'_>) -> Option<String> {
    let depth = maker.route.chain.len().checked_sub(1)?;
    maker.key_expression(depth)
}

/// The body's members as parameters; the names of those that are required, and of the others.
fn body_parameters(maker: &mut Maker<'_>, entity: &Entity, all_optional: bool) -> (Vec<String>, Vec<String>) {
    let operation: &Operation = maker.operation;
    let mut required = Vec::new();
    let mut optional = Vec::new();
    let Some(body) = operation.body.as_ref() else { return (required, optional) };
    let body = body.first_object();
    if body.members().is_none() {
        maker.notes.push(Severity::Less.says("the body is not an object; its content is not taken"));
    }
    for (name, member) in body.members().into_iter().flatten() {
        let is_key = entity.key_member.as_deref() == Some(name) && !entity.singleton;
        if member.shape.read_only || is_key || maker.api.parameters.contains_key(name) {
            continue;
        }
        let mut shape = member.shape.clone();
        let field = identifier(name);
        let mut doc = match entity.references.get(&field) {
            Some(reference) if reference.many => FieldDoc {
                kind: Some("list".to_owned()),
                items: Some(Box::new(FieldDoc {
                    reference: Some(reference.target.clone()),
                    ..FieldDoc::default()
                })),
                ..FieldDoc::default()
            },
            Some(reference) => FieldDoc { reference: Some(reference.target.clone()), ..FieldDoc::default() },
            None => {
                let known = entity.fields.get(name).map(|fact| fact.shape.kind.clone());
                if shape.kind == Kind::String
                    && let Some(Kind::Enum(values)) = known
                {
                    shape.kind = Kind::Enum(values);
                }
                let mut doc = fakes::typed(name, &shape, 0);
                doc.free_text = long(name);
                doc
            }
        };
        doc.nullable = shape.nullable && doc.reference.is_none();
        doc.place = Some("body".to_owned());
        doc.optional = all_optional || !member.required;
        doc.default =
            shape.default.clone().filter(|_| doc.optional && !all_optional && doc.reference.is_none());
        doc.description = shape.description.as_deref().map(sentence).filter(|text| !text.is_empty());
        phrases::name(name, &mut doc);
        if doc.default.is_some() {
            doc.optional = false;
        }
        let given = doc.optional || doc.default.is_some();
        if entity.fields.contains_key(name) || entity.references.contains_key(&field) {
            maker.used.insert(name.clone());
            if field != *name {
                maker.api.behaviour.set.insert(field, format!("args.{name}"));
            }
        }
        if given {
            optional.push(name.clone());
        } else {
            required.push(name.clone());
        }
        maker.api.parameters.insert(name.clone(), doc);
    }
    (required, optional)
}

fn long(name: &str) -> bool {
    words(name).last().is_some_and(|last| {
        ["description", "note", "notes", "comment", "text", "body", "message", "content"]
            .contains(&last.as_str())
    })
}

fn create(maker: &mut Maker<'_>, entity: &Entity) {
    maker.api.behaviour.create = Some(entity.name.clone());
    let (required, optional) = body_parameters(maker, entity, false);
    // A record made below another belongs to it.
    if let Some(owner) = maker.route.subject().cloned()
        && let Some(field) = maker.model.reference_to(&entity.name, &owner.entity)
        && let Some(owner_entity) = maker.model.entity(&owner.entity)
        && let Some(key) = key(maker)
    {
        maker.must_exist(owner_entity, &key);
        maker.api.behaviour.set.insert(field, key);
    }
    for name in &optional {
        let field = identifier(name);
        let Some(reference) = entity.references.get(&field).filter(|known| !known.many && !known.nullable)
        else {
            continue;
        };
        if let Some(target) =
            maker.model.entity(&reference.target).filter(|target| target.name != entity.name)
            && super::words::is_identifier(name)
            && maker.api.parameters.get(name).is_some_and(|doc| doc.default.is_none())
        {
            let first = format!("{}.first(x, true).{}", target.name, target.key);
            maker.api.behaviour.set.insert(field, format!("given(args.{name}) ? args.{name} : {first}"));
        }
    }
    fill(maker, entity);
    refer(maker, entity);
    reply(maker, entity);
    let noun = label(&entity.name);
    let mut required = required;
    required.splice(0..0, maker.route.keys().cloned());
    maker.api.phrases = phrases::change("add", &noun, None, &maker.api.parameters, (&required, &optional));
}

/// Values of a new record that the caller does not give and that no default gives.
fn fill(maker: &mut Maker<'_>, entity: &Entity) {
    for (name, fact) in &entity.fields {
        let field = identifier(name);
        if maker.api.parameters.contains_key(name)
            || maker.api.behaviour.set.contains_key(&field)
            || entity.references.contains_key(&field)
            || !super::build::storable(&fact.shape)
        {
            continue;
        }
        if super::build::computed(maker.model, entity, name, &fact.shape).is_some()
            || fact.nullable()
            || fact.optional()
            || fact.shape.default.is_some()
        {
            continue;
        }
        let value = match (&fact.shape.kind, fakes::moment(name, &fact.shape)) {
            (_, Some("date-time")) => "now".to_owned(),
            (_, Some("date")) => "today".to_owned(),
            (_, Some(_)) => "time(now)".to_owned(),
            (Kind::Boolean, _) => "false".to_owned(),
            (Kind::Integer | Kind::Number, _) => {
                fact.shape.min.as_ref().map_or_else(|| "0".to_owned(), ToString::to_string)
            }
            (Kind::Enum(values), _) => quoted(
                values
                    .iter()
                    .find(|value| {
                        ["new", "open", "pending", "active", "placed", "available", "todo", "draft"]
                            .contains(&value.to_lowercase().as_str())
                    })
                    .or(values.first())
                    .map_or("", String::as_str),
            ),
            (Kind::String, _) => quoted(&super::mend::text(fact.shape.min_length)),
            (Kind::Array(_), _) => "[]".to_owned(),
            _ => continue,
        };
        maker.api.behaviour.set.insert(field, value);
    }
}

/// References of a new record that neither the caller nor the path gives.
fn refer(maker: &mut Maker<'_>, entity: &Entity) {
    for (field, reference) in &entity.references {
        let set = maker.api.behaviour.set.contains_key(field) || maker.api.parameters.contains_key(field);
        if set || reference.nullable || (!reference.many && super::build::may_lack(entity, field, reference))
        {
            continue;
        }
        let Some(target) = maker.model.entity(&reference.target) else { continue };
        let value = if reference.many {
            "[]".to_owned()
        } else {
            format!("{}.first(x, true).{}", target.name, target.key)
        };
        if !reference.many {
            maker.notes.push(Severity::Other.says(format!(
                "nothing says which {} a new {} has; it gets the first",
                label(&target.name),
                label(&entity.name)
            )));
        }
        maker.api.behaviour.set.insert(field.clone(), value);
    }
}

fn change(maker: &mut Maker<'_>, entity: &Entity, whole: bool) {
    let Some(key) = key(maker) else { return };
    let (required, optional) = body_parameters(maker, entity, !whole);
    if whole {
        maker.api.behaviour.replace = Some(entity.name.clone());
        // What the caller does not give stays as it is, apart from what the schema lets them clear.
        let kept: IndexMap<String, String> = entity
            .fields
            .iter()
            .filter(|(name, fact)| {
                !maker.api.parameters.contains_key(*name)
                    && super::build::storable(&fact.shape)
                    && super::build::computed(maker.model, entity, name, &fact.shape).is_none()
            })
            .map(|(name, _)| identifier(name))
            .chain(entity.references.keys().filter(|name| !maker.api.parameters.contains_key(*name)).cloned())
            .map(|field| (field.clone(), format!("record.{field}")))
            .collect();
        maker.api.behaviour.set.extend(kept);
        for name in &optional {
            let field = identifier(name);
            let clearable = entity
                .fields
                .get(name)
                .is_none_or(|fact| fact.nullable() || fact.optional() || fact.shape.default.is_some());
            if !clearable
                && maker.api.parameters.get(name).is_some_and(|doc| doc.default.is_none())
                && super::words::is_identifier(name)
            {
                maker
                    .api
                    .behaviour
                    .set
                    .insert(field.clone(), format!("given(args.{name}) ? args.{name} : record.{field}"));
            }
        }
    } else {
        maker.api.behaviour.patch = Some(entity.name.clone());
    }
    maker.act_on(entity, key);
    reply(maker, entity);
    let parameter = maker.route.subject().map(|step| step.parameter.clone()).filter(|name| !name.is_empty());
    let verb = if whole { "replace" } else { "change" };
    let noun = if maker.route.is_me() {
        "my profile".to_owned()
    } else if maker.route.is_mine() && parameter.is_none() {
        format!("my {}", label(&entity.name))
    } else {
        label(&entity.name)
    };
    maker.api.phrases =
        phrases::change(verb, &noun, parameter.as_deref(), &maker.api.parameters, (&required, &optional));
}

/// `PUT /pet` with the key in the body.
fn by_body_key(maker: &mut Maker<'_>, entity: &Entity) {
    let Some(member) = entity.key_member.clone().filter(|member| {
        maker.operation.body.as_ref().is_some_and(|body| body.first_object().member(member).is_some())
    }) else {
        return;
    };
    maker.api.parameters.insert(
        member.clone(),
        FieldDoc {
            reference: Some(entity.name.clone()),
            place: Some("body".to_owned()),
            label: Some(label(&entity.name)),
            ..FieldDoc::default()
        },
    );
    maker.used.insert(member.clone());
    let (required, optional) = body_parameters(maker, entity, true);
    maker.api.behaviour.patch = Some(entity.name.clone());
    maker.api.behaviour.key = Some(format!("args.{member}"));
    reply(maker, entity);
    maker.api.phrases = phrases::change(
        "change",
        &label(&entity.name),
        Some(&member),
        &maker.api.parameters,
        (&required, &optional),
    );
}

/// `POST /orders/{id}/cancel`: sets the state that the verb names, and what the body says.
fn action(maker: &mut Maker<'_>, entity: &Entity, verb: &str) {
    let Some(key) = key(maker) else { return };
    let (required, optional) = body_parameters(maker, entity, maker.operation.method == "PATCH");
    let mut set: IndexMap<String, String> = IndexMap::new();
    let (required, optional) = with_query(maker, entity, required, optional);
    let taken: Vec<String> = required
        .iter()
        .chain(&optional)
        .filter(|name| entity.fields.contains_key(*name) || entity.references.contains_key(&identifier(name)))
        .cloned()
        .collect();
    for name in taken {
        let field = identifier(&name);
        let value = if optional.contains(&name) {
            format!("given(args.{name}) ? args.{name} : item.{field}")
        } else {
            format!("args.{name}")
        };
        set.insert(field, value);
    }
    maker.api.behaviour.set.clear();
    let stem = |word: &str| word.to_lowercase().chars().take(5).collect::<String>();
    let spoken = words(verb);
    for (name, fact) in &entity.fields {
        match &fact.shape.kind {
            Kind::Enum(values) => {
                if let Some(value) = values.iter().find(|value| {
                    spoken.iter().any(|word| stem(word).chars().take(4).eq(stem(value).chars().take(4)))
                }) {
                    set.insert(identifier(name), quoted(value));
                }
            }
            Kind::Boolean => {
                if let Some(on) = switched(&spoken, name) {
                    set.insert(identifier(name), on.to_string());
                }
            }
            Kind::String
                if matches!(fakes::moment(name, &fact.shape), Some("date-time"))
                    && spoken.iter().any(|word| {
                        stem(name).starts_with(&stem(word).chars().take(4).collect::<String>())
                    }) =>
            {
                set.insert(identifier(name), "now".to_owned());
            }
            _ => {}
        }
    }
    maker.api.behaviour.action = Some(entity.name.clone());
    maker.act_on(entity, key.clone());
    if set.is_empty() {
        maker.notes.push(Severity::Less.says(format!(
            "nothing in the schemas says what `{verb}` changes; it checks that the record exists"
        )));
    } else {
        maker.api.behaviour.also.push(EffectDoc {
            update: Some(entity.name.clone()),
            key: Some(key),
            set,
            ..EffectDoc::default()
        });
    }
    reply(maker, entity);
    let parameter = maker.route.subject().map(|step| step.parameter.clone()).filter(|name| !name.is_empty());
    let summary = maker.operation.summary.clone();
    if maker.route.keys().next().is_none() {
        maker.api.phrases =
            phrases::act(&maker.api.name, &summary, &maker.api.parameters, &required, &optional);
        return;
    }
    maker.api.phrases = phrases::action(
        &words(verb),
        &summary,
        &label(&entity.name),
        parameter.as_deref(),
        &maker.api.parameters,
        (&required, &optional),
    );
}

/// The parameters of an action's query that set fields, with those of its body.
fn with_query(
    maker: &mut Maker<'_>,
    entity: &Entity,
    mut required: Vec<String>,
    mut optional: Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let operation = maker.operation;
    for parameter in operation.parameters.iter().filter(|known| known.place == Place::Query) {
        let name = &parameter.name;
        if !entity.fields.contains_key(name) && !entity.references.contains_key(name) {
            continue;
        }
        if let (Some(reference), Some(doc)) =
            (entity.references.get(name), maker.api.parameters.get_mut(name))
        {
            doc.reference = Some(reference.target.clone());
            (doc.kind, doc.values, doc.pattern) = (None, Vec::new(), None);
        }
        maker.used.insert(name.clone());
        if parameter.required { required.push(name.clone()) } else { optional.push(name.clone()) }
    }
    (required, optional)
}

/// Whether a verb turns a flag on or off: `pause` turns `is_playing` off, `archive` turns `archived` on.
fn switched(verb: &[String], flag: &str) -> Option<bool> {
    const OFF: [(&str, &str); 12] = [
        ("pause", "play"),
        ("stop", "play"),
        ("stop", "run"),
        ("pause", "run"),
        ("disable", "enable"),
        ("deactivate", "active"),
        ("disable", "active"),
        ("close", "open"),
        ("hide", "visible"),
        ("disconnect", "connect"),
        ("reopen", "close"),
        ("restore", "delete"),
    ];
    const ON: [(&str, &str); 4] =
        [("resume", "play"), ("start", "play"), ("start", "run"), ("activate", "active")];
    let parts = words(flag);
    let has = |stem: &str| parts.iter().any(|part| part.starts_with(stem));
    let said = |word: &str| verb.iter().any(|spoken| spoken == word);
    if OFF.iter().any(|(word, state)| said(word) && has(state)) {
        return Some(false);
    }
    if ON.iter().any(|(word, state)| said(word) && has(state)) {
        return Some(true);
    }
    let root = |word: &str| word.chars().take(4).collect::<String>();
    verb.iter().find_map(|word| {
        let undone = word.strip_prefix("un").filter(|rest| rest.len() > 2 && has(&root(rest)));
        match undone {
            Some(_) => Some(false),
            None => (word.len() > 2 && has(&root(word))).then_some(true),
        }
    })
}

/// The reply of a write: the record in the response's shape, or the whole record where there is none.
pub(super) fn reply(maker: &mut Maker<'_>, entity: &Entity) {
    let operation = maker.operation;
    let shape: Option<&Shape> = operation.reply.as_ref();
    match shape.map(|shape| routes::view(shape, true, false)) {
        Some(View::Record { shape, envelope }) => maker.show(entity, shape, envelope),
        _ => {
            if let Some(root) = &entity.root {
                maker.show(entity, root, None);
            }
        }
    }
}
