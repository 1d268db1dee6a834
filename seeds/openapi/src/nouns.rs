//! Decides if people have a noun for an operation's subject: the document's prose uses it as a word.
//!
//! Names of operations, versions and schemas are no nouns.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use diorama_seeds::contract::noun;
use diorama_seeds::english::{split_identifier as words, stem};
use diorama_seeds::table::group_words;
use serde_json::Value as Json;

/// Word lists, one kind a line.
const WORDS: &str = include_str!("data/nouns.txt");
/// Levels of a document that are searched for prose.
const MAX_DEPTH: u32 = 64;
/// The fewest words of prose that make a document a source of words.
const MIN_WORDS: usize = 20;
/// The greatest number of words that are collected.
const MAX_WORDS: usize = 50_000;

static KINDS: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| group_words(WORDS));

/// Returns true if a word is one of a kind of `data/nouns.txt`.
pub(super) fn is(kind: &str, word: &str) -> bool {
    KINDS.get(kind).is_some_and(|words| words.contains(word))
}

/// Drops container words at the end of a name: `template list` becomes `template`.
pub(super) fn contained(label: &str) -> &str {
    let mut rest = label;
    while let Some((before, last)) = rest.rsplit_once(' ') {
        if !is("containers", &last.to_lowercase()) {
            break;
        }
        rest = before;
    }
    rest
}

/// Drops leading sentences that only state constraints: `Required. The name.` becomes `The name.`
pub(super) fn without_constraints(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let (first, after) = match rest.strip_prefix(['[', '(']) {
            Some(inner) => inner.split_once([']', ')']).unwrap_or((rest, "")),
            None => rest.split_once(['.', ':', '\n']).unwrap_or((rest, "")),
        };
        let name = words(first).join("_");
        if after.trim().is_empty() || !is("constraints", &name) {
            return rest;
        }
        rest = after.trim_start_matches(['.', ':', ']', ')']).trim_start();
    }
}

/// The words of a document's prose.
pub(super) struct Prose(HashSet<String>);

impl Prose {
    /// Reads the summaries and descriptions of a document.
    pub(super) fn of(root: &Json) -> Self {
        let mut prose = Self(HashSet::new());
        prose.add(root.pointer("/info/title").and_then(Json::as_str).unwrap_or_default());
        let mut open = vec![(root, 0)];
        while let Some((node, depth)) = open.pop() {
            match node {
                Json::Object(members) if depth < MAX_DEPTH => {
                    for (name, inner) in members {
                        match inner {
                            Json::String(text) if name == "description" || name == "summary" => {
                                prose.add(text)
                            }
                            _ => open.push((inner, depth + 1)),
                        }
                    }
                }
                Json::Array(items) if depth < MAX_DEPTH => {
                    open.extend(items.iter().map(|inner| (inner, depth + 1)));
                }
                _ => {}
            }
        }
        prose
    }

    /// Adds the words of a text that has several; a single word may be a name.
    fn add(&mut self, text: &str) {
        if text.split_whitespace().nth(1).is_none() {
            return;
        }
        for token in text.split(|c: char| c.is_whitespace() || matches!(c, '/' | '-' | '–' | '—')) {
            let word = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let rest = word.get(1..).unwrap_or_default();
            let is_word = word.chars().all(char::is_alphabetic)
                && (rest.chars().all(char::is_lowercase) || word.chars().all(char::is_uppercase));
            if is_word && self.0.len() < MAX_WORDS {
                self.0.insert(noun(word));
            }
        }
    }

    /// Returns the reason why people use no such noun; none where they do.
    pub(super) fn fault(&self, label: &str) -> Option<String> {
        let said: Vec<String> = label.split(' ').map(str::to_lowercase).collect();
        let (first, last) = (said.first()?, said.last()?);
        let is_participle = |word: &str| word.ends_with("ed") && stem(word) != word;
        let has_prose = self.0.len() >= MIN_WORDS;
        let unknown = said.iter().find(|word| has_prose && !self.0.contains(&noun(word)));
        let why = if let Some(word) = said.iter().find(|word| word.contains(|c: char| c.is_ascii_digit())) {
            format!("a version or a number: `{word}`")
        } else if is("containers", last) {
            format!("the name of a schema: `{label}`")
        } else if let Some(word) = said.windows(2).find(|pair| pair.first() == pair.last()) {
            format!("a word said twice: `{}`", word.concat())
        } else if let Some(joint) = said.iter().find(|word| is("joints", word)) {
            format!("a clause with `{joint}`: `{label}`")
        } else if let Some(word) = said.iter().find(|word| is("sendings", word)) {
            format!("a way of sending: `{word}`")
        } else if said.len() > 1 && is("operations", first) {
            format!("the name of an operation: `{label}`")
        } else if is("deeds", last) || said.len() == 1 && is("reads", last) {
            format!("what is done: `{label}`")
        } else if is_participle(last) || last.strip_suffix('s').is_some_and(is_participle) {
            format!("a participle: `{label}`")
        } else {
            format!("no word of the document's texts: `{}`", unknown?)
        };
        Some(why)
    }
}

/// Returns true if a text says that its operation ends something: `Revokes the token`, `this invalidates all
/// links`.
pub(super) fn says_end(text: &str) -> bool {
    let is_end = |word: &str| {
        let mut ends = KINDS.get("ends").into_iter().flatten();
        ends.any(|verb| word == *verb || stem(word) == stem(verb) && word.ends_with('s'))
    };
    text.split(['.', '\n', ';']).any(|sentence| {
        let said: Vec<String> = sentence
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        let opens = said.first().is_some_and(|first| is_end(first));
        opens
            || said
                .windows(2)
                .any(|pair| matches!(pair, [before, verb] if is("subjects", before) && is_end(verb)))
    })
}

/// Returns true if a boolean names a permission: `can_edit`.
pub(super) fn is_permission(member: &str) -> bool {
    words(member).first().is_some_and(|first| is("allows", first))
}

/// Returns true if a boolean permits an action on a record: `canDelete`, `deletable`, `isEditable`.
pub(super) fn permits(member: &str, verb: &str, of: &str) -> bool {
    let said = words(member);
    let is_change = is("edits", verb);
    let same = |word: &str| {
        let done = word.strip_suffix("able").or_else(|| word.strip_suffix("ible")).unwrap_or(word);
        let alike = |one: &str, other: &str| stem(one) == stem(other) || format!("{one}e") == other;
        alike(done, verb)
            || is_change && KINDS.get("edits").into_iter().flatten().any(|edit| alike(done, edit))
    };
    let allows = said.iter().any(|word| is("allows", word));
    let denies = said.iter().any(|word| word.starts_with("not") || word.starts_with("un") || word == "non");
    !denies
        && match said.as_slice() {
            [] => false,
            [rest @ .., last] if last.ends_with("able") || last.ends_with("ible") => {
                same(last) && rest.iter().all(|word| word == "is")
            }
            // The permission must concern the record itself: `allow_update_branch` of a repository does not.
            all => {
                let own = |word: &str| {
                    word == "be" || word == "is" || of.split(' ').any(|own| noun(own) == noun(word))
                };
                let mut rest = all.iter().filter(|word| !is("allows", word));
                allows
                    && all.iter().any(|word| !is("allows", word) && same(word))
                    && rest.all(|word| same(word) || own(word))
            }
        }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nouns_are_words_of_the_documents_prose() {
        let summary = "Lists the homes, their rooms and injured players of v1beta1.";
        let letters: Vec<char> = ('a'..='z').collect();
        let more: Vec<String> =
            letters.iter().flat_map(|a| letters.iter().map(move |b| format!("{a}{b}q"))).collect();
        let root = |more: &str| {
            json!({"info": {"title": "Homes"}, "paths": {"/x": {"get": {
                "summary": "Gethomedata", "description": format!("{summary} {more}")}}}})
        };
        assert_eq!(Prose::of(&root("")).fault("gethomedata"), None, "too little prose to judge");
        let prose = Prose::of(&root(&more.join(" ")));
        let check = |label: &str, expect: &str| {
            let fault = prose.fault(label).unwrap_or_default();
            assert!(fault.starts_with(expect) && fault.is_empty() == expect.is_empty(), "{label}: {fault}");
        };
        check("room", "");
        check("injured player", "");
        check("gethomedata", "no word");
        check("v1beta1", "a version");
        check("paged room", "a way of sending");
        check("room list", "the name of a schema");
        check("get room", "the name of an operation");
        check("associateds", "a participle");
        check("room room", "a word said twice");
        assert_eq!((contained("room list"), contained("list")), ("room", "list"));
    }

    #[test]
    fn leading_constraints_are_dropped_from_descriptions() {
        let check = |text: &str, expect: &str| assert_eq!(without_constraints(text), expect);
        check("Required. The name of the room.", "The name of the room.");
        check("[Output only] When it was made.", "When it was made.");
        check("Output only. Required. The rent.", "The rent.");
        check("Required.", "Required.");
        check("Required by law. Yes.", "Required by law. Yes.");
    }

    #[test]
    fn operations_that_end_something_are_recognized_by_their_text() {
        assert!(says_end("Revokes the token."));
        assert!(says_end("Returns a new key. This invalidates the old one."));
        assert!(!says_end("Lists the deleted rooms. The link expires in an hour."));
    }

    #[test]
    fn permission_members_are_recognized_by_their_verb() {
        let check = |member: &str, verb: &str, expect: bool| {
            assert_eq!(permits(member, verb, "user group"), expect, "{member}")
        };
        check("canDelete", "delete", true);
        check("is_deletable", "delete", true);
        check("allowEdit", "update", true);
        check("can_edit_group", "update", true);
        check("canBeDeleted", "delete", true);
        check("allow_update_branch", "update", false);
        check("canDelete", "archive", false);
        check("deleted", "delete", false);
        check("not_deletable", "delete", false);
    }
}
