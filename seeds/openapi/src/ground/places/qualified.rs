//! Tells collections of one noun apart, and writes words as the document does.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::{ME, noun};

use super::paths::spelt;
use super::{Collection, Part, Places, form, keys};
use crate::document::Operation;
use crate::phrases::command;
use crate::shape::Shape;
use crate::words::{label, singular, words};

impl Places {
    /// Adds to labels of one noun the path words that name no record: `/orgs/{org}/dependabot/secrets` holds
    /// Dependabot secrets.
    /// A collection without such words takes the name that its operations use: `Get a commit comment`.
    pub(super) fn tell_apart(&mut self, operations: &[Operation]) {
        let names: HashSet<String> = self.all.values().map(|found| last(&found.label)).collect();
        let writing = Writing::of(operations);
        let called = called(operations);
        let all: Vec<QualifiedLabel> = self.all.values().map(|found| self.named(found)).collect();
        let mut labels = Vec::with_capacity(all.len());
        for (path, own) in self.all.keys().zip(&all) {
            // A request for this collection might mean these: same label, and at least the same parents.
            let others: Vec<&QualifiedLabel> =
                all.iter().filter(|other| other.may_be_meant_by(own)).collect();
            let tells = |word: &&String| others.iter().any(|other| !other.qualifiers.contains(*word));
            let words: Vec<&String> = own.qualifiers.iter().filter(tells).collect();
            let told = |from: usize, other: &QualifiedLabel| {
                words.iter().skip(from).any(|word| !other.qualifiers.contains(*word))
            };
            // The fewest words that distinguish it from those.
            let from = (0..words.len()).rev().find(|from| others.iter().all(|other| told(*from, other)));
            let telling = words.iter().skip(from.unwrap_or_default()).map(|word| writing.attributive(word));
            let beside = others.iter().any(|other| other.below == own.below);
            let text = match called.get(path).filter(|_| own.qualifiers.is_empty() && beside) {
                Some(called) if last(called) == last(&own.label) => called.clone(),
                _ => own.label.clone(),
            };
            let text = telling.chain([text]).collect::<Vec<_>>().join(" ");
            labels.push(writing.spell(&text, &names));
        }
        for (found, text) in self.all.values_mut().zip(labels) {
            found.label = text;
        }
    }

    /// Returns the label of a collection, with the words and parents of its path.
    fn named(&self, found: &Collection) -> QualifiedLabel {
        let said: Vec<String> = words(&found.label).iter().map(|word| noun(word)).collect();
        let mut qualifiers = self.qualifiers(&found.parts);
        qualifiers.retain(|word| !said.contains(&noun(word)));
        let below = keys(&found.parts).into_iter().map(noun).collect();
        QualifiedLabel { label: found.label.clone(), qualifiers, below }
    }

    /// Returns the noun of a collection that the name of a schema contains: `user` of `UserResponse`.
    pub(in crate::ground) fn said_by(&self, record: &Shape) -> Option<String> {
        let said = words(record.title.as_deref()?);
        let is_place =
            |word: &String| self.all.values().any(|found| found.noun == *word && found.item.is_some());
        said.iter().map(|word| noun(word)).find(is_place)
    }

    /// Returns the words before the last one of a path that no key follows.
    pub(in crate::ground) fn qualifiers(&self, parts: &[Part]) -> Vec<String> {
        let end = parts.iter().rposition(|part| matches!(part, Part::Text(_))).unwrap_or_default();
        let before = parts.get(..end).unwrap_or_default();
        let followed = |at: usize| match parts.get(at + 1) {
            Some(Part::Text(text)) => ME.contains(&text.as_str()),
            Some(Part::Key(_)) => true,
            None => false,
        };
        let is_me = |at: usize, text: &str| {
            let beside = [parts.get(..at).unwrap_or_default(), &[Part::Text(format!("{text}s"))]].concat();
            ME.contains(&text) || self.all.contains_key(&form(&beside))
        };
        let texts = before.iter().enumerate().filter_map(|(at, part)| match part {
            Part::Text(text) if !followed(at) && !text.starts_with('{') && !is_me(at, text) => {
                Some(text.clone())
            }
            _ => None,
        });
        texts.collect()
    }
}

/// A label before other collections are told apart.
struct QualifiedLabel {
    label: String,
    /// The words of its path that name no record.
    qualifiers: Vec<String>,
    /// The nouns of the keys in its path.
    below: HashSet<String>,
}

impl QualifiedLabel {
    /// Returns true if a request for the other collection may mean this one: its label ends alike, and it has
    /// all of the other's parents.
    fn may_be_meant_by(&self, other: &Self) -> bool {
        let alike = self.label == other.label || self.label.ends_with(&format!(" {}", other.label));
        alike
            && (self.label != other.label || self.qualifiers != other.qualifiers)
            && other.below.is_subset(&self.below)
    }
}

/// Returns the last word of a name, as a noun.
fn last(name: &str) -> String {
    words(name).last().map(|word| noun(word)).unwrap_or_default()
}

/// Returns the names that operations give to the records of a collection, by its path: `commit comment`.
fn called(operations: &[Operation]) -> HashMap<String, String> {
    let mut called = HashMap::new();
    for operation in operations {
        let mut parts = super::parts(operation);
        if let Some(Part::Key(_)) = parts.pop()
            && let Some(command) = command("", &operation.summary)
        {
            called.entry(form(&parts)).or_insert(command.object);
        }
    }
    called
}

/// The spelling of words inside a document's sentences.
struct Writing {
    /// By the word in lower case: how often it stands so, and its other spellings.
    seen: HashMap<String, (u32, HashMap<String, u32>)>,
}

impl Writing {
    fn of(operations: &[Operation]) -> Self {
        let mut seen: HashMap<String, (u32, HashMap<String, u32>)> = HashMap::new();
        let texts = operations.iter().flat_map(|operation| [&operation.summary, &operation.description]);
        for text in texts {
            let mut begins = true;
            for word in text.split_whitespace() {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
                let whole = !bare.is_empty() && bare.chars().all(char::is_alphabetic);
                if whole && !begins {
                    let (plain, other) = seen.entry(bare.to_lowercase()).or_default();
                    match bare.chars().all(char::is_lowercase) {
                        true => *plain += 1,
                        false => *other.entry(bare.to_owned()).or_default() += 1,
                    }
                }
                begins = !word.ends_with(|c: char| c.is_alphanumeric() || c == ',' || c == '\'');
            }
        }
        Self { seen }
    }

    /// Returns a proper noun as the document writes it: capitalised mostly and more than once.
    fn proper(&self, word: &str) -> Option<&str> {
        let (plain, other) = self.seen.get(&word.to_lowercase())?;
        let (written, count) = other.iter().max_by_key(|(written, count)| (**count, *written))?;
        (*count > 1 && *count > plain * 3).then_some(written.as_str())
    }

    /// Returns a word as a modifier of a noun. A proper noun keeps its plural.
    fn attributive(&self, word: &str) -> String {
        match self.proper(word) {
            Some(_) => word.to_lowercase(),
            None => label(&singular(&spelt(word))),
        }
    }

    /// Returns a label with proper nouns as the document writes them; the nouns of records are not proper.
    fn spell(&self, name: &str, names: &HashSet<String>) -> String {
        let mut all: Vec<String> = name.split(' ').map(str::to_owned).collect();
        let before = all.len().saturating_sub(1);
        for word in all.iter_mut().take(before) {
            if let Some(written) = self.proper(word).filter(|_| !names.contains(&noun(word))) {
                *word = written.to_owned();
            }
        }
        all.join(" ")
    }
}
