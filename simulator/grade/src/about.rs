//! Owns the subjects of a refusal: the ids, names and values that its `about` may give.

use std::collections::BTreeSet;

use diorama_answers::lexicon::Role;
use diorama_answers::text::{Text, Token};
use diorama_seeds::english::{MONTHS, fold, spaced, stem, weekday};
use diorama_seeds::model::{Api, ParameterId, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Evidence;
use diorama_seeds::value::{Date, Value};

use super::evidence::parse_arguments;
use diorama_engine::Base;

/// An `about` with more characters cannot be an id or a name.
const MAX_ABOUT_CHARS: usize = 120;
/// Bounds the references followed from a record to names of its subject. Example: from a loan to its copy,
/// and to the copy's book.
const MAX_REFERENCES: u8 = 2;

/// The ids, names and values by which an `about` may identify the subject of a refusal.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    /// Values of the refused arguments, names of the records that they are keys of, and names of the arguments.
    texts: BTreeSet<String>,
    /// For each text, the stems that an `about` must contain to name it.
    needed: Vec<BTreeSet<String>>,
    /// The stems of all words of the texts, of the API's name and of the argument descriptions.
    words: BTreeSet<String>,
}

impl Subjects {
    /// Collects the subjects that evidence of a refusal refers to. Evidence that refers to no argument adds
    /// none.
    pub(super) fn collect(evidence: &[Evidence], base: &Base) -> Self {
        let mut subjects = Self::default();
        evidence.iter().for_each(|evidence| subjects.add_evidence(evidence, base));
        for text in &subjects.texts {
            let words = words(text);
            let telling = words.iter().filter(|(_, tells)| *tells);
            let needed: BTreeSet<String> = telling.map(|(word, _)| word.clone()).collect();
            if !needed.is_empty() {
                subjects.needed.push(needed);
            }
            subjects.words.extend(words.into_iter().map(|(word, _)| word));
        }
        subjects
    }

    /// Returns true if the evidence refers to no argument, so that any `about` is accepted.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns true if an `about` names one of the subjects and has no other meaningful word.
    pub(super) fn are_named_in(&self, given: &str) -> bool {
        if given.chars().count() > MAX_ABOUT_CHARS {
            return false;
        }
        let words = words(&fold(given));
        let has = |needed: &String| words.iter().any(|(word, _)| word == needed);
        self.needed.iter().any(|needed| needed.iter().all(has))
            && words.iter().all(|(word, tells)| !tells || self.words.contains(word))
    }

    fn add_evidence(&mut self, evidence: &Evidence, base: &Base) {
        let world = base.world();
        match evidence {
            Evidence::Refused { api, arguments, .. }
            | Evidence::Forbidden { api, arguments, .. }
            | Evidence::Empty { api, arguments } => {
                let Some(declared) = world.api_named(api).map(|id| world.api(id)) else { return };
                let arguments = parse_arguments(api, arguments, world);
                if !arguments.is_empty() {
                    self.add_words(&spaced(&declared.name));
                }
                for (id, value) in arguments {
                    self.add_value(&value, &declared.parameters[id.index()].schema.kind, base);
                    self.add_label(declared, id, base);
                }
            }
            Evidence::Leaf { resource, key, .. } => {
                let Some(resource) = world.resource_named(resource) else { return };
                self.texts.insert(fold(key));
                let declared = world.resource(resource);
                let key = declared.field(declared.key).schema.parse_text(key, &world.zone);
                if let Ok(key) = key {
                    self.add_names(resource, &key, base, MAX_REFERENCES);
                }
            }
            Evidence::All { of } => of.iter().for_each(|part| self.add_evidence(part, base)),
            Evidence::New { .. }
            | Evidence::Computed { .. }
            | Evidence::First { .. }
            | Evidence::Searched { .. } => {}
        }
    }

    /// Adds the labels of an argument: its own name, its description, and the name of its field.
    fn add_label(&mut self, api: &Api, id: ParameterId, base: &Base) {
        let parameter = &api.parameters[id.index()];
        self.add_text(&spaced(&parameter.name));
        self.add_words(&parameter.description);
        if let Some((resource, field)) = parameter.field {
            self.add_text(&base.world().resource(resource).about(field));
        }
    }

    fn add_value(&mut self, value: &Value, kind: &Type, base: &Base) {
        if let (Value::List(items), Type::List(of)) = (value, kind) {
            items.iter().for_each(|item| self.add_value(item, &of.kind, base));
            return;
        }
        self.add_text(&value.to_text(&base.world().zone));
        match value {
            Value::Date(date) => self.texts.extend(spoken(*date)),
            Value::DateTime(instant) => self.texts.extend(spoken(base.world().zone.date_of(*instant))),
            _ => {}
        }
        if let Type::Reference { resource, .. } = kind {
            self.add_names(*resource, value, base, MAX_REFERENCES);
        }
    }

    /// Adds every text field of a record. Follows references to other records, so that the loan of a book can
    /// be named by the book.
    fn add_names(&mut self, resource: ResourceId, key: &Value, base: &Base, references: u8) {
        let declared = base.world().resource(resource);
        let Some(record) = base.find(resource, key) else { return };
        for (field, value) in declared.fields.iter().zip(record.iter()) {
            match &field.schema.kind {
                Type::String => value.as_str().into_iter().for_each(|text| self.add_text(text)),
                Type::Reference { resource, .. } if references > 0 => {
                    self.add_names(*resource, value, base, references - 1);
                }
                _ => {}
            }
        }
    }

    /// Adds words that an `about` may contain beside a subject.
    fn add_words(&mut self, text: &str) {
        self.words.extend(words(text).into_iter().map(|(word, _)| word));
    }

    fn add_text(&mut self, text: &str) {
        let folded = fold(text.trim());
        if !folded.is_empty() {
            self.texts.insert(folded);
        }
    }
}

/// Returns a day in the two forms that people use. Example: `5 march` and `thursday`.
fn spoken(date: Date) -> [String; 2] {
    let civil = date.civil();
    let month = fold(MONTHS[(civil.month() as usize - 1) % 12]);
    [format!("{} {month}", civil.day()), fold(weekday(date))]
}

/// Returns the stem of each word and figure, with true if it carries meaning. Titles and function words carry
/// none; denials do.
fn words(text: &str) -> Vec<(String, bool)> {
    let text = Text::of_value(text);
    let word = |token: &Token| {
        let is_empty = token.is(Role::Function) || token.is(Role::Title);
        (stem(text.word(token)), !is_empty || token.is(Role::Negator))
    };
    text.words_and_figures().map(word).collect()
}
