//! Names items: where a request asks for the values of several items, these strings say which value belongs
//! to which item.

use std::collections::HashMap;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_seeds::english::fold;
use diorama_seeds::model::ResourceId;
use diorama_seeds::schema::Type;
use diorama_seeds::task::AnswerCheck;
use diorama_seeds::value::Value;

use super::FactBuilder;
use crate::answer::RequestedFact;
use crate::measures::leaf_schema;

/// The greatest number of names of one item.
const MAX_NAMES: usize = 12;
/// The greatest number of characters of a name; longer strings are descriptions.
const MAX_NAME_CHARS: usize = 80;

/// A value of a check, in a group of checks about the same thing.
struct ItemValue<'a> {
    check: usize,
    leaf: Option<&'a Body>,
    names: Names,
}

/// The strings that may name an item.
#[derive(Default)]
struct Names {
    /// The name and the id of its own record, folded. They name no other item.
    own: Vec<String>,
    /// True if a value beside the item's value shows its own name or id.
    shows_own: bool,
    all: Vec<String>,
    /// The names that the reply or the call contains, folded. An answer can use no other.
    visible: Vec<String>,
}

impl FactBuilder<'_> {
    /// Adds the names of items to checks that ask for values of several items.
    pub(super) fn name_items(
        &self,
        asked: &[&RequestedFact],
        answer: &mut [AnswerCheck],
        entries: &[Arc<LogEntry>],
    ) {
        let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, check) in answer.iter().enumerate() {
            groups.entry(check.about.clone()).or_default().push(at);
        }
        for group in groups.into_values() {
            let is_several = |at: &usize| {
                matches!(asked[*at], RequestedFact::Leaf { several: true, .. } | RequestedFact::Each { .. })
            };
            if group.len() == 1 && !group.iter().any(is_several) {
                continue;
            }
            let mut values: Vec<ItemValue<'_>> = Vec::new();
            for check in group {
                values.extend(self.values(check, asked[check], entries));
            }
            keep_telling_names(&mut values);
            if self.name_themselves(&values) {
                values.iter_mut().for_each(|value| value.names.all.clear());
            }
            for value in values {
                answer[value.check].items.push(value.names.all);
            }
        }
    }

    fn values<'a>(
        &self,
        check: usize,
        asked: &RequestedFact,
        entries: &'a [Arc<LogEntry>],
    ) -> Vec<ItemValue<'a>> {
        let call = asked.call();
        let Some(entry) = entries.get(call) else { return Vec::new() };
        let body = &entry.reply.body;
        let paths: Vec<String> = match asked {
            RequestedFact::Leaf { path, .. } | RequestedFact::Count { path, .. } => vec![path.clone()],
            RequestedFact::Each { array, member, .. } => {
                let items =
                    crate::binding::collect_member(body, array, member).map_or(0, |items| items.len());
                let dot = if member.is_empty() { "" } else { "." };
                (0..items).map(|at| format!("{array}[{at}]{dot}{member}")).collect()
            }
        };
        let value = |path: String| {
            let leaf = body.at(&path);
            ItemValue { check, leaf, names: self.names(call, entry, &path) }
        };
        paths.into_iter().map(value).collect()
    }

    /// Returns the strings that may name the item of a value: the record's name and key, the values beside
    /// it, and the call's arguments.
    fn names(&self, call: usize, entry: &LogEntry, path: &str) -> Names {
        let mut names = Names::default();
        let body = &entry.reply.body;
        let leaf = body.at(path);
        if let Some(Body::Leaf(_, Origin::Field { resource, key, .. })) = leaf
            && !self.new.contains_key(&(*resource, key.clone()))
        {
            self.add_record(*resource, key, &mut names.all);
            names.own = names.all.iter().map(|name| fold(name)).collect();
        }
        let mut above = path;
        loop {
            above = above.rsplit_once(['.', '[']).map_or("", |(above, _)| above);
            let around = if above.is_empty() { Some(body) } else { body.at(above) };
            if let Some(Body::Object(members)) = around {
                let beside = members.iter().map(|(_, member)| member);
                names.shows_own |= beside.clone().any(|member| {
                    member
                        .value()
                        .is_some_and(|value| names.own.contains(&fold(&value.to_text(&self.world.zone))))
                });
                beside.filter(|member| !leaf.is_some_and(|leaf| std::ptr::eq(leaf, *member))).for_each(
                    |member| {
                        self.add_leaf(member, &mut names);
                    },
                );
            }
            // An item's own values distinguish it, and the values around the list do not.
            if above.is_empty() || above.ends_with(']') {
                break;
            }
        }
        if let Some(api) = entry.api.map(|id| self.world.api(id)) {
            for (name, json) in self.arguments(call, entry) {
                let parameter = api.parameter_named(&name).map(|id| &api.parameters[id.index()]);
                let value = parameter.and_then(|one| one.schema.parse_json(&json, &self.world.zone).ok());
                if let (Some(parameter), Some(value)) = (parameter, value) {
                    self.add_value(&value, &parameter.schema.kind, &mut names);
                }
            }
        }
        names
    }

    /// Adds a leaf that can name something: no amount, no boolean, and no value that each session generates
    /// anew.
    /// Only strings name an item whose own name or id is shown; a day, a time or a number beside its value does
    /// not.
    fn add_leaf(&self, leaf: &Body, names: &mut Names) {
        let Body::Leaf(value, origin) = leaf else { return };
        if self.made(origin).is_some() {
            return;
        }
        let kind = leaf_schema(origin, self.world).kind;
        let is_key = matches!(origin, Origin::Field { resource, field, .. } if self.world.resource(*resource).key == *field);
        let is_reference = matches!(kind, Type::Reference { .. });
        let may_name = is_reference || !names.shows_own || matches!(value, Value::String(_));
        if is_key || (may_name && (is_reference || !matches!(value, Value::Integer(_)))) {
            self.add_value(value, &kind, names);
        }
    }

    fn add_value(&self, value: &Value, kind: &Type, names: &mut Names) {
        let text = value.to_text(&self.world.zone);
        names.visible.push(fold(&text));
        if let Type::Reference { resource, .. } = kind {
            if !self.new.contains_key(&(*resource, value.clone())) {
                self.add_record(*resource, value, &mut names.all);
            }
            return;
        }
        if matches!(
            value,
            Value::String(_) | Value::Integer(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_)
        ) {
            names.all.push(text);
        }
    }

    /// Adds the display name of a record, and its key.
    fn add_record(&self, resource: ResourceId, key: &Value, names: &mut Vec<String>) {
        let declared = self.world.resource(resource);
        let record = declared.records.iter().find(|record| record.get(declared.key.index()) == Some(key));
        let name = declared.display.and_then(|field| record?.get(field.index())?.as_str());
        names.extend(name.map(str::to_owned));
        names.push(key.to_text(&self.world.zone));
    }

    /// Returns true if each value names its item itself: a record's name or key, or a different string for
    /// each item.
    fn name_themselves(&self, values: &[ItemValue<'_>]) -> bool {
        let names_record = |value: &ItemValue<'_>| {
            let Some(Body::Leaf(_, Origin::Field { resource, field, .. })) = value.leaf else { return false };
            let declared = self.world.resource(*resource);
            *field == declared.key || declared.display == Some(*field) || declared.field(*field).unique
        };
        if values.iter().all(names_record) {
            return true;
        }
        let mut texts: Vec<String> = Vec::new();
        for value in values {
            let Some(Body::Leaf(Value::String(text), origin)) = value.leaf else { return false };
            let text = fold(text);
            if matches!(leaf_schema(origin, self.world).kind, Type::Enum(_)) || texts.contains(&text) {
                return false;
            }
            texts.push(text);
        }
        true
    }
}

/// Keeps each item's own names and those that no other item has; none where none is visible.
/// The first name is visible, and unique where possible.
fn keep_telling_names(values: &mut [ItemValue<'_>]) {
    let mut owners: HashMap<String, usize> = HashMap::new();
    for Names { all, .. } in values.iter_mut().map(|value| &mut value.names) {
        let mut known: Vec<String> = Vec::new();
        all.retain(|name| {
            let folded = fold(name);
            let is_new =
                !folded.is_empty() && name.chars().count() <= MAX_NAME_CHARS && !known.contains(&folded);
            if is_new {
                known.push(folded);
            }
            is_new
        });
        known.into_iter().for_each(|name| *owners.entry(name).or_default() += 1);
    }
    let mut own_of: HashMap<String, usize> = HashMap::new();
    for name in values.iter().flat_map(|value| &value.names.own) {
        *own_of.entry(name.clone()).or_default() += 1;
    }
    for Names { own, all, visible, .. } in values.iter_mut().map(|value| &mut value.names) {
        let is_shared = |name: &String| {
            let others = if own.contains(name) { own_of.get(name) } else { owners.get(name) };
            others != Some(&1)
        };
        all.retain(|name| {
            let folded = fold(name);
            own.contains(&folded) || (!is_shared(&folded) && !own_of.contains_key(&folded))
        });
        all.sort_by_key(|name| (!visible.contains(&fold(name)), is_shared(&fold(name))));
        if all.first().is_none_or(|name| !visible.contains(&fold(name))) {
            all.clear();
        }
        all.truncate(MAX_NAMES);
    }
}
