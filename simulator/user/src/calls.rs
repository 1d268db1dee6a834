//! Reads the calls that the user wants: the words for their effects, their values, and the names of their
//! records.
//!
//! This module looks up the records that wanted calls name, and of other records only their names.

use diorama_answers::Clock;
use diorama_engine::Base;
use diorama_grade::arguments;
use diorama_seeds::english::{fold, has_words, split_identifier, stem};
use diorama_seeds::model::{Api, BehaviourKind, Parameter, Record, Resource, ResourceId, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::script::{Goal, WantedCall};
use diorama_seeds::task::Call;
use diorama_seeds::value::{Date, Value as Stored};

use super::mentions::{Mention, Reading};
use super::ties::is_equal;
use super::tokens::{folded_words, is_code, tokens};
use super::vocabulary::{Action, action, is_common};

/// The greatest number of records of a resource whose names are compared.
const MAX_RECORDS: usize = 5_000;

/// The greatest number of references from a wanted record to one whose name the user may say.
const MAX_REFERENCES: usize = 2;

/// The calls that the user wants in a goal.
#[derive(Debug, Default)]
pub(super) struct WantedCalls {
    /// The names of their APIs.
    pub(super) apis: Vec<String>,
    pub(super) values: Vec<WantedValue>,
    /// Stems of the verbs of their APIs.
    verbs: Vec<String>,
    /// Stems of all words of their APIs, parameters and records.
    words: Vec<String>,
    /// The values of the records that they name, without those that the calls change.
    known: Vec<Reading>,
    /// Stems of the words for their effects: of names, and of the first sentences of descriptions.
    effects: Vec<String>,
    /// Other APIs of their domains that change records: the stems of their verbs and of the words for their
    /// effects.
    others: Vec<(Vec<String>, Vec<String>)>,
    /// The effects of their APIs on records.
    actions: Vec<Action>,
    /// The names of the records of each list: of the values of one parameter.
    pub(super) lists: Vec<RecordList>,
    /// Stems of the names of optional parameters that the calls leave out.
    pub(super) left_out: Vec<String>,
}

/// The records that the values of a parameter name, over all wanted calls of its API.
#[derive(Debug)]
pub(super) struct RecordList {
    key: (String, String),
    /// The records, each with the folded texts that name it.
    pub(super) records: Vec<(Stored, Vec<String>)>,
}

#[derive(Debug)]
pub(super) struct WantedValue {
    /// Stems of the parameter's names.
    pub(super) nouns: Vec<String>,
    /// The value as people write it.
    pub(super) reading: Reading,
    /// The user's own words for it.
    pub(super) said: Option<String>,
    /// The record's display name, or the string itself, folded.
    pub(super) name: Option<String>,
    /// Names that could stand in its place, of records or of choices; folded.
    pub(super) other_names: Vec<String>,
    /// True if it is prose.
    pub(super) is_prose: bool,
    /// True if it names a record.
    pub(super) is_record: bool,
    /// True if it is one of a few: its name counts only where the user says it.
    pub(super) is_choice: bool,
}

impl WantedCalls {
    /// Reads the calls that a goal wants.
    ///
    /// `said` are the user's messages so far.
    pub(super) fn new(goal: &Goal, said: &[&str], base: &Base, clock: &Clock) -> Self {
        let world = base.world();
        let mut found = Self::default();
        let said = fold(&[&*goal_messages(goal), &said.join("\n")].join("\n"));
        let apis = goal.wants.iter().filter_map(|want| Some((want, world.api(world.api_named(&want.api)?))));
        for (want, api) in apis {
            found.add_api(api);
            let call = Call { api: want.api.clone(), arguments: want.arguments.clone() };
            let given = arguments(&call, api, world).unwrap_or_default();
            for (id, value) in &given {
                let parameter = &api.parameters[id.index()];
                // The user never mentions a default.
                if want.arguments.contains_key(&*parameter.name) {
                    found.add_value(want, (parameter, value), base, (clock, &said));
                }
            }
            let is_left_out = |parameter: &&Parameter| {
                let name = &*parameter.name;
                !parameter.required
                    && !want.arguments.contains_key(name)
                    && !want.unknown.iter().any(|one| one == name)
            };
            let left_out = api.parameters.iter().filter(is_left_out);
            found.left_out.extend(left_out.flat_map(|parameter| stems(&parameter.label)));
        }
        found.add_other_verbs(goal, world);
        found
    }

    /// Returns true if the user wants no call that changes records.
    pub(super) const fn is_empty(&self) -> bool {
        self.verbs.is_empty()
    }

    /// Returns true if a stem is a word of a wanted API, its parameters or its records.
    pub(super) fn knows(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word == stem)
    }

    /// Returns true if a stem is a verb of a wanted API.
    pub(super) fn is_verb(&self, stem: &str) -> bool {
        self.verbs.iter().any(|verb| verb == stem)
    }

    /// Returns true if a verb belongs to another API that changes records: `order the transfer`.
    /// A verb with an object that only the wanted API has is not another's.
    pub(super) fn is_other(&self, verb: &str, objects: &[&str]) -> bool {
        let is_in = |words: &[String], stem: &str| words.iter().any(|word| word == stem);
        if self.is_verb(verb) || is_in(&self.effects, verb) {
            return false;
        }
        let mut others = self.others.iter().filter(|(verbs, _)| is_in(verbs, verb)).peekable();
        let is_wanted = |stem: &&str, others: &[&(Vec<String>, Vec<String>)]| {
            is_in(&self.effects, stem) && !others.iter().any(|(_, effects)| is_in(effects, stem))
        };
        others.peek().is_some() && {
            let others: Vec<_> = others.collect();
            !objects.iter().any(|stem| is_wanted(stem, &others))
        }
    }

    /// Returns true if a stem is a word for an effect of the wanted APIs, as `off` is.
    pub(super) fn is_effect(&self, stem: &str) -> bool {
        self.effects.iter().any(|effect| effect == stem)
    }

    /// Returns true if a wanted API has an effect on records: by its behaviour, or by one of its verbs.
    pub(super) fn has_effect(&self, effect: Action) -> bool {
        self.actions.contains(&effect) || self.verbs().any(|verb| action(verb) == Some(effect))
    }

    /// Returns true if a wanted call has a text, or one of its records, if they count.
    pub(super) fn has_text(&self, text: &str, records_count: bool) -> bool {
        let records = self.lists.iter().flat_map(|list| &list.records);
        self.values.iter().any(|value| value.name.as_deref() == Some(text))
            || (records_count
                && (records.flat_map(|(_, texts)| texts).any(|own| own == text)
                    || self.known.iter().any(|own| own.source == text)))
    }

    /// Returns the verbs of the wanted APIs, as stems.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.verbs.iter().map(|verb| &**verb)
    }

    fn add_api(&mut self, api: &Api) {
        self.apis.push(api.name.to_string());
        self.actions.extend(match api.behaviour.kind {
            BehaviourKind::Create { .. } | BehaviourKind::AddMembers { .. } => Some(Action::Add),
            BehaviourKind::Delete { .. } | BehaviourKind::RemoveMembers { .. } => Some(Action::Remove),
            BehaviourKind::Replace { .. } | BehaviourKind::Patch { .. } => Some(Action::Change),
            _ => None,
        });
        self.verbs.extend(verbs(api));
        let effects = effects(api);
        self.words.extend(effects.iter().cloned().chain(stems(&api.description)));
        self.effects.extend(effects);
        for parameter in &api.parameters {
            self.words.extend(stems(&parameter.label));
        }
    }

    fn add_value(
        &mut self,
        want: &WantedCall,
        (parameter, value): (&Parameter, &Stored),
        base: &Base,
        (clock, said): (&Clock, &str),
    ) {
        let items = match value {
            Stored::List(items) => items.to_vec(),
            value => vec![value.clone()],
        };
        let schema = match &parameter.schema.kind {
            Type::List(items) => items,
            _ => &parameter.schema,
        };
        let mut nouns: Vec<String> = stems(&parameter.label).chain(stems(&parameter.description)).collect();
        nouns.extend(split_identifier(&parameter.name).iter().map(|word| stem(&fold(word))));
        for item in items {
            let (mut name, mut other_names) = (None, Vec::new());
            if let Type::Reference { resource, .. } = &schema.kind {
                self.words.extend(stems(&base.world().resource(*resource).label));
                (name, other_names) = record_names(*resource, &item, base);
                self.add_texts(*resource, &item, base, (clock, said), MAX_REFERENCES);
                self.add_to_list((&want.api, &parameter.name), *resource, &item, base);
                self.add_known(want, (*resource, &item), base, clock);
            } else if let Type::Enum(choices) = &schema.kind {
                name = item.as_str().map(fold_identifier);
                other_names = choices.iter().map(|choice| fold_identifier(choice)).collect();
            } else if let Type::String = schema.kind {
                name = item.as_str().map(fold);
            }
            // The user never says a numeric key as a quantity.
            let is_key = matches!(schema.kind, Type::Reference { .. }) && item.as_str().is_none();
            let spoken = if is_key { String::new() } else { format_value(&item, schema, base.world()) };
            other_names.retain(|other| Some(other) != name.as_ref());
            self.values.push(WantedValue {
                nouns: nouns.clone(),
                reading: Reading::read(&spoken, clock),
                said: want.words.get(&*parameter.name).cloned(),
                name,
                other_names,
                is_prose: parameter.free_text,
                is_record: matches!(schema.kind, Type::Reference { .. }),
                is_choice: matches!(schema.kind, Type::Enum(_)),
            });
        }
    }

    /// Adds what replies tell of a wanted record: an offer may repeat it.
    fn add_known(
        &mut self,
        want: &WantedCall,
        (resource, key): (ResourceId, &Stored),
        base: &Base,
        clock: &Clock,
    ) {
        let Some(record) = base.find(resource, key) else { return };
        let fields = base.world().resource(resource).fields.iter().zip(record.iter());
        for (field, value) in fields.filter(|(field, _)| !want.arguments.contains_key(&*field.name)) {
            let text = match &field.schema.kind {
                Type::Reference { resource, .. } => {
                    record_names(*resource, value, base).0.unwrap_or_default()
                }
                _ => format_value(value, &field.schema, base.world()),
            };
            self.words.extend(stems(&text));
            self.known.push(Reading::read(&text, clock));
        }
    }

    /// Returns true if a mention is a value of a record that a wanted call names.
    pub(super) fn tells(&self, mention: &Mention, today: Date) -> bool {
        let known = self.known.iter().flat_map(|reading| &reading.mentions);
        known.into_iter().any(|own| own.value.is_alike(&mention.value) && is_equal(mention, own, today))
    }

    /// Adds the strings of a wanted record by which the user may refer to it: the taxi, and not the dinner.
    /// Adds the names of the records that it belongs to, too: the room of a lamp.
    fn add_texts(
        &mut self,
        resource: ResourceId,
        key: &Stored,
        base: &Base,
        (clock, said): (&Clock, &str),
        references: usize,
    ) {
        let Some(record) = base.find(resource, key) else { return };
        let described = base.world().resource(resource);
        for (at, (field, value)) in described.fields.iter().zip(record.iter()).enumerate() {
            if let Type::Reference { resource, .. } = &field.schema.kind {
                if references > 0 {
                    self.add_texts(*resource, value, base, (clock, said), references - 1);
                }
                continue;
            }
            let Some(name) = value.as_str().map(fold_identifier).filter(|name| has_name(said, name)) else {
                continue;
            };
            let mut other_names: Vec<String> = match &field.schema.kind {
                Type::Enum(choices) => choices.iter().map(|choice| fold_identifier(choice)).collect(),
                Type::String => {
                    let others = described
                        .records
                        .iter()
                        .take(MAX_RECORDS)
                        .filter(|other| is_beside(described, record, other));
                    others.filter_map(|other| other.get(at)?.as_str()).map(fold_identifier).collect()
                }
                _ => continue,
            };
            other_names.retain(|other| *other != name && !other.is_empty());
            self.values.push(WantedValue {
                nouns: Vec::new(),
                reading: Reading::read(
                    value.as_str().filter(|text| is_code(text)).unwrap_or_default(),
                    clock,
                ),
                said: None,
                other_names,
                name: Some(name),
                is_prose: false,
                is_record: true,
                is_choice: true,
            });
        }
    }

    /// Adds a record to the list of its parameter, with the texts that name it.
    fn add_to_list(&mut self, key: (&str, &str), resource: ResourceId, item: &Stored, base: &Base) {
        let key = (key.0.to_owned(), key.1.to_owned());
        let described = base.world().resource(resource);
        let record = base.find(resource, item);
        let fields = record.into_iter().flat_map(|record| described.fields.iter().zip(record.iter()));
        let texts = fields.filter(|(field, _)| matches!(field.schema.kind, Type::String | Type::Enum(_)));
        let texts = texts.filter_map(|(_, value)| value.as_str()).map(fold_identifier);
        let record = (item.clone(), texts.filter(|text| !text.is_empty()).collect());
        match self.lists.iter_mut().find(|list| list.key == key) {
            Some(list) if list.records.iter().any(|(known, _)| known == item) => {}
            Some(list) => list.records.push(record),
            None => self.lists.push(RecordList { key, records: vec![record] }),
        }
    }

    fn add_other_verbs(&mut self, goal: &Goal, world: &World) {
        let wanted = |api: &Api| goal.wants.iter().any(|want| *want.api == *api.name);
        let domains: Vec<_> = world.apis.iter().filter(|api| wanted(api)).map(|api| api.domain).collect();
        let others =
            world.apis.iter().filter(|api| domains.contains(&api.domain) && api.writes() && !wanted(api));
        self.others = others.map(|api| (verbs(api), effects(api))).collect();
    }
}

impl RecordList {
    /// Returns the number of its records that a text names, by texts that name no other of them.
    pub(super) fn count_named(&self, folded: &str) -> usize {
        let is_own = |at: usize, text: &String| {
            let mut others = self.records.iter().enumerate().filter(|(other, _)| *other != at);
            !others.any(|(_, (_, texts))| texts.contains(text))
        };
        let is_named = |(at, (_, texts)): &(usize, &(Stored, Vec<String>))| {
            texts.iter().any(|text| is_own(*at, text) && has_name(folded, text))
        };
        self.records.iter().enumerate().filter(is_named).count()
    }
}

impl WantedValue {
    /// Returns its typed mentions.
    pub(super) fn mentions(&self) -> impl Iterator<Item = &Mention> {
        self.reading.mentions.iter()
    }
}

/// Returns the stems of an API's verbs: the first word of its description, and the words of its name.
fn verbs(api: &Api) -> Vec<String> {
    let described = folded_words(&api.description).next();
    let mut named = split_identifier(&api.name);
    // `post_me_bills` begins with the method.
    named.retain(|word| !matches!(&**word, "get" | "post" | "put" | "patch" | "delete"));
    described.into_iter().chain(named).map(|word| stem(&fold(&word))).collect()
}

/// Returns the stems of the words of an API's name, and of the first sentence of its description.
fn effects(api: &Api) -> Vec<String> {
    let name = split_identifier(&api.name);
    let described = api.description.split(". ").next().unwrap_or_default();
    name.iter().map(|word| stem(&fold(word))).chain(stems(described)).collect()
}

fn stems(text: &str) -> impl Iterator<Item = String> + use<> {
    let words: Vec<String> =
        folded_words(text).filter(|word| !is_common(word)).map(|word| stem(&word)).collect();
    words.into_iter()
}

/// Returns the name of a record, and the names of records beside it: of the same owner, if its resource has
/// owners.
fn record_names(resource: ResourceId, key: &Stored, base: &Base) -> (Option<String>, Vec<String>) {
    let described = base.world().resource(resource);
    let Some(record) = base.find(resource, key) else { return (None, Vec::new()) };
    let Some(display) = described.display else { return (None, Vec::new()) };
    let name_of = |record: &Record| {
        record.get(display.index()).and_then(Stored::as_str).map(fold).filter(|name| !name.is_empty())
    };
    let others =
        described.records.iter().take(MAX_RECORDS).filter(|other| is_beside(described, record, other));
    (name_of(record), others.filter_map(name_of).collect())
}

/// Returns true if two records have the same owner, or their resource has no owners.
fn is_beside(described: &Resource, record: &Record, other: &Record) -> bool {
    let owner = |record: &Record| described.owner.and_then(|owner| record.get(owner.index()).cloned());
    owner(record) == owner(other)
}

/// Returns the user's messages in a goal.
fn goal_messages(goal: &Goal) -> String {
    let details = goal.withheld.iter().map(|detail| &*detail.say);
    let texts: Vec<&str> =
        std::iter::once(&*goal.user).chain(details).chain(goal.lines.iter().map(|line| &**line)).collect();
    texts.join("\n")
}

fn fold_identifier(text: &str) -> String {
    fold(&text.replace('_', " "))
}

/// Returns a value as people write it: with its unit or currency.
fn format_value(value: &Stored, schema: &Schema, world: &World) -> String {
    let text = value.to_text(&world.zone);
    let unit = match &schema.kind {
        Type::Decimal { currency: Some(currency), .. } => Some(currency),
        _ => schema.unit.as_ref(),
    };
    unit.map_or_else(|| text.clone(), |unit| format!("{text} {unit}"))
}

/// Returns true if a text has the words of a name, in any of their forms.
pub(super) fn has_name(folded: &str, name: &str) -> bool {
    has_words(folded, name) || {
        let wanted: Vec<String> = tokens(name).into_iter().map(|token| token.stem).collect();
        let own = tokens(folded);
        wanted.len() > 1
            && own.windows(wanted.len()).any(|run| run.iter().zip(&wanted).all(|(one, two)| one.stem == *two))
    }
}
