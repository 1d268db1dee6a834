//! Attribution: whose value it is that a message states. A value belongs to the record or item that its sentence names.

use std::cell::{OnceCell, RefCell};
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;

use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, NumberRole, Stance, What};
use diorama_seeds::english;
use diorama_seeds::model::ResourceId;

use super::cues::{CORRECTION, pattern};
use super::value::{Atom, Content, Target};
use super::visible::{Leaf, Visible};

/// `or` behind a value, perhaps with a unit between.
static OR_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[^\w\s.;:!?]*(?: \w{1,9}\b)??[^\w\s.;:!?]*,? or (?:(?:maybe|perhaps|possibly|rather|even|the|on|at|in|from|to) )*[*"“_]*"#,
    )
});
/// `or` before a value.
static OR_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\w[^\w\s.;:!?]*,? or (?:(?:maybe|perhaps|possibly|rather|even|the|on|at|in|from|to) )*[^\w\s]*$"#,
    )
});

/// Items of a list are no further apart.
const MAX_BYTES_BETWEEN_ITEMS: usize = 12;

/// A message beside what was visible when it was written.
pub(super) struct Speech<'a> {
    pub(super) message: &'a Prose,
    pub(super) visible: &'a Visible<'a>,
    /// Where texts stand in the message.
    places: RefCell<FxHashMap<String, Vec<Span>>>,
    claims: OnceCell<Vec<Claim<'a>>>,
}

/// A value that the message asserts.
struct Claim<'a> {
    span: Span,
    sentence: Span,
    said: Said<'a>,
    /// Positions in [`Visible::leaves`] of the values that it is.
    leaves: Vec<usize>,
}

/// A value as the message gives it.
#[derive(Clone, Copy)]
enum Said<'a> {
    Value(&'a Mention),
    Text(&'a str),
}

/// Where records are named: the place, and the position in [`Visible::subjects`].
pub(super) type Named = (Span, usize);

impl<'a> Speech<'a> {
    pub(super) fn new(message: &'a Prose, visible: &'a Visible<'a>) -> Self {
        Self { message, visible, places: RefCell::default(), claims: OnceCell::new() }
    }

    /// Where a text stands, with `_` read as a blank.
    pub(super) fn places(&self, text: &str) -> Vec<Span> {
        if let Some(known) = self.places.borrow().get(text) {
            return known.clone();
        }
        let spaced = text.replace('_', " ");
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let mut places = self.message.find(&spaced);
        if places.is_empty() && digits.len() > 6 && !text.contains(char::is_alphabetic) {
            places.extend(self.message.find_digits(&digits));
        }
        self.places.borrow_mut().insert(text.to_owned(), places.clone());
        places
    }

    pub(super) fn is_asserted(&self, span: Span) -> bool {
        self.message.stance(span) == Stance::Asserted
    }

    /// The place where another value starts that is offered in place of this: `60 or 116`, `either Ana or Rui`.
    pub(super) fn alternative_after(&self, span: Span) -> Option<usize> {
        let joint = OR_AFTER.find(self.message.source().get(span.end..)?)?;
        Some(span.end + joint.end()).filter(|at| self.has_value_at(*at))
    }

    /// Returns true if a value stands behind `or`.
    pub(super) fn is_alternative(&self, span: Span) -> bool {
        OR_BEFORE.is_match(self.message.source().get(..span.start).unwrap_or_default())
    }

    /// The last value of the same field or kind before a value, in its sentence.
    pub(super) fn alike_before(&self, span: Span) -> Option<Span> {
        let own = self.claims().iter().find(|claim| claim.span == span)?;
        let alike = |other: &&Claim<'_>| {
            let kinds = match (own.said, other.said) {
                (Said::Value(one), Said::Value(other)) => {
                    (one.what.is_amount() && other.what.is_amount())
                        || std::mem::discriminant(&one.what) == std::mem::discriminant(&other.what)
                }
                _ => self.is_alike(own, other),
            };
            other.span.end <= span.start && other.sentence == own.sentence && kinds
        };
        self.claims().iter().rev().find(alike).map(|claim| claim.span)
    }

    /// Returns true if a typed value or a visible text starts here.
    fn has_value_at(&self, at: usize) -> bool {
        let rest = self.message.source().get(at..).unwrap_or_default();
        let starts = |text: &str| {
            let spaced = text.replace('_', " ");
            text.len() > 2
                && rest.get(..spaced.len()).is_some_and(|start| start.eq_ignore_ascii_case(&spaced))
        };
        self.message.mentions().iter().any(|mention| mention.start.abs_diff(at) <= 1)
            || self.visible.texts().any(starts)
    }

    /// Values in the message that another record has and the one that its sentence names has not.
    pub(super) fn misattributed(&self) -> Vec<String> {
        let mut found = Vec::new();
        let names = self.names();
        for claim in self.claims() {
            let named: Vec<Named> =
                names.iter().filter(|(span, _)| claim.sentence.overlaps(*span)).copied().collect();
            let leaves = || claim.leaves.iter().map(|at| &self.visible.leaves[*at]);
            let about_others =
                english::words(self.message.words_at(claim.sentence)).any(|word| word.starts_with("other"));
            if named.is_empty() || about_others || self.is_known_otherwise(claim) {
                continue;
            }
            let is_of_another = |owners: &Vec<usize>| {
                let has_another = |owner: &usize| {
                    let record = self.visible.subjects[*owner].record;
                    let is_own = |own: &&Leaf<'_>| match claim.said {
                        // A text may be the name of one of many that belong to the record.
                        Said::Text(_) => own.main == Some(record),
                        Said::Value(_) => own.subjects.contains(owner),
                    };
                    let own = self.visible.leaves.iter().filter(is_own);
                    let kind = record.0;
                    own.into_iter().any(|own| leaves().any(|leaf| is_same_field(own, leaf)))
                        || leaves().all(|leaf| leaf.field.is_some_and(|((resource, _), _)| resource == kind))
                };
                !owners.iter().any(|owner| leaves().any(|leaf| self.is_linked(*owner, leaf)))
                    && owners.iter().any(has_another)
            };
            if let Some(owner) = self
                .owners(&named, claim)
                .iter()
                .find(|owners| is_of_another(owners))
                .and_then(|owners| owners.first())
            {
                let name = self.visible.subjects[*owner].names.first().map_or("", |name| name);
                found.push(format!("{}: {name} has another", self.message.words_at(claim.span)));
            }
        }
        found
    }

    /// Values that the message asserts first and denies in a later sentence that corrects.
    pub(super) fn taken_back(&self) -> Vec<String> {
        let message = self.message;
        let denied = self.claims().iter().filter_map(|claim| {
            let later = |span: Span| {
                let sentence = message.words_at(message.sentence_at(span)).to_lowercase();
                span.start > claim.sentence.end
                    && message.stance(span) == Stance::Denied
                    && CORRECTION.is_match(&sentence)
            };
            let place = match claim.said {
                Said::Text(text) => self.places(text).into_iter().find(|span| later(*span)),
                Said::Value(mention) => {
                    let mut same = message
                        .mentions()
                        .iter()
                        .filter(|other| other.what == mention.what)
                        .map(Mention::span);
                    same.find(|span| later(*span))
                }
            };
            place.map(|span| format!("{}: said, and taken back", message.words_at(span)))
        });
        denied.collect()
    }

    /// Returns true if replies show a value of a record, or of one that they show together with it.
    fn is_linked(&self, owner: usize, leaf: &Leaf<'_>) -> bool {
        let record = leaf.field.map(|(record, _)| record);
        let together = |other: &Leaf<'_>| {
            other.field.map(|(record, _)| record) == record && other.subjects.contains(&owner)
        };
        let (_, key) = self.visible.subjects[owner].record;
        let changes = || self.visible.entries.iter().flat_map(|entry| &entry.changes);
        let refers = || {
            changes().any(|change| {
                record == Some((change.resource, &change.key))
                    && change.after.iter().flat_map(|after| after.iter()).any(|value| value == key)
            })
        };
        leaf.subjects.contains(&owner) || self.visible.leaves.iter().any(together) || refers()
    }

    /// Where records are named, in order.
    pub(super) fn names(&self) -> Vec<Named> {
        let subjects = &self.visible.subjects;
        let mut found: Vec<Named> = Vec::new();
        for (at, subject) in subjects.iter().enumerate() {
            for name in &subject.names {
                let shared = subjects
                    .iter()
                    .enumerate()
                    .any(|(other, subject)| other != at && subject.names.contains(name));
                if !shared {
                    found.extend(self.places(name).into_iter().map(|span| (span, at)));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The visible values that the message asserts, in order.
    fn claims(&self) -> &[Claim<'a>] {
        self.claims.get_or_init(|| {
            let plain = |mention: &&Mention| {
                mention.stance == Stance::Asserted
                    && match &mention.what {
                        What::Number(number) => {
                            matches!(number.role, NumberRole::Plain | NumberRole::Identifier)
                                && self
                                    .message
                                    .words_at(mention.span())
                                    .contains(|c: char| c.is_ascii_digit())
                        }
                        What::None => false,
                        _ => true,
                    }
            };
            let mentions = self.message.mentions().iter().filter(plain);
            let mut said: Vec<(Span, Said<'a>)> =
                mentions.map(|mention| (mention.span(), Said::Value(mention))).collect();
            let mut texts: Vec<&'a str> = self.visible.texts().filter(|text| text.len() > 2).collect();
            texts.sort_unstable();
            texts.dedup();
            for text in texts {
                let places = self.places(text).into_iter().filter(|span| self.is_asserted(*span));
                said.extend(places.map(|span| (span, Said::Text(text))));
            }
            // The longest text at a place is meant.
            let spans: Vec<Span> = said.iter().map(|(span, _)| *span).collect();
            let is_part = |span: Span| {
                spans
                    .iter()
                    .any(|other| other.overlaps(span) && other.end - other.start > span.end - span.start)
            };
            said.retain(|(span, _)| !is_part(*span));
            said.sort_by_key(|(span, _)| *span);
            let claim = |(span, said): (Span, Said<'a>)| {
                let gives = |at: &usize| self.is_target(said, &self.visible.leaves[*at].target);
                let leaves: Vec<usize> = (0..self.visible.leaves.len()).filter(gives).collect();
                (!leaves.is_empty()).then(|| Claim {
                    span,
                    sentence: self.message.sentence_at(span),
                    said,
                    leaves,
                })
            };
            said.into_iter().filter_map(claim).collect()
        })
    }

    /// Returns true if the user said it, or it is no field's value.
    fn is_known_otherwise(&self, claim: &Claim<'_>) -> bool {
        claim.leaves.iter().any(|at| self.visible.leaves[*at].is_free)
            || match claim.said {
                Said::Value(mention) => self.visible.is_said(mention),
                Said::Text(text) => self.visible.is_text_said(text),
            }
    }

    /// Returns true if two claims are of one field.
    fn is_alike(&self, one: &Claim<'_>, other: &Claim<'_>) -> bool {
        let leaves = |claim: &Claim<'_>| claim.leaves.clone().into_iter().map(|at| &self.visible.leaves[at]);
        leaves(one).any(|leaf| leaves(other).any(|other| is_same_field(leaf, other)))
    }

    /// The records that a value is said of: for each kind that its sentence names, all that it names; where it gives as many
    /// values of the field as it names records of the kind, the one of the same rank.
    fn owners(&self, named: &[Named], claim: &Claim<'_>) -> Vec<Vec<usize>> {
        let subjects = &self.visible.subjects;
        let kind_of = |subject: usize| subjects[subject].record.0;
        let own_kinds: Vec<ResourceId> = match claim.said {
            Said::Text(text) => {
                let of_text = |subject: &usize| subjects[*subject].names.iter().any(|name| name == text);
                (0..subjects.len()).filter(of_text).map(kind_of).collect()
            }
            Said::Value(_) => Vec::new(),
        };
        let mut kinds: Vec<ResourceId> = named.iter().map(|(_, subject)| kind_of(*subject)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.retain(|kind| !own_kinds.contains(kind));
        let alike: Vec<Span> = self
            .claims()
            .iter()
            .filter(|other| other.sentence == claim.sentence && self.is_alike(claim, other))
            .map(|other| other.span)
            .collect();
        let rank = alike.iter().position(|span| *span == claim.span).unwrap_or(0);
        let of_kind = |kind: ResourceId| {
            let mut own: Vec<usize> = named
                .iter()
                .map(|(_, subject)| *subject)
                .filter(|subject| kind_of(*subject) == kind)
                .collect();
            own.dedup();
            match own.get(rank) {
                Some(owner) if own.len() == alike.len() => vec![*owner],
                // More values than records: some belong to what is not named.
                _ if own.len() < alike.len() => Vec::new(),
                _ => own,
            }
        };
        kinds.into_iter().map(of_kind).collect()
    }

    /// Names that stand in a list beside those asked for and are not asked for: the fact's position, and the words.
    pub(super) fn extra_names(&self, atoms: &[Atom<'_>]) -> Vec<(usize, String)> {
        let names = || self.claims().iter().filter(|claim| matches!(claim.said, Said::Text(_)));
        let asked = |claim: &Claim<'_>| atoms.iter().find(|atom| self.is_target(claim.said, &atom.target));
        let joined = |one: Span, other: Span| {
            let between = self
                .message
                .words_at(Span { start: one.end.min(other.end), end: one.start.max(other.start) });
            let mut words = between.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            between.len() < MAX_BYTES_BETWEEN_ITEMS && words.all(|word| word == "and")
        };
        let mut found = Vec::new();
        for claim in names().filter(|claim| asked(claim).is_none() && !self.is_known_otherwise(claim)) {
            let beside = names().find_map(|other| {
                let atom = asked(other)?;
                (self.is_alike(claim, other) && joined(claim.span, other.span)).then_some(atom.check)
            });
            found.extend(beside.map(|check| (check, self.message.words_at(claim.span).to_owned())));
        }
        found
    }

    /// Facts whose value a later sentence takes back: it denies it, or gives another of its kind with a word that corrects.
    pub(super) fn corrected(&self, atoms: &[Atom<'_>]) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for atom in atoms {
            let stated = self.stating(atom);
            let Some(first) = stated.first() else { continue };
            let after =
                |span: Span| span.start > first.start && !self.message.sentence_at(*first).overlaps(span);
            let mentions = self.message.mentions().iter().filter(|mention| after(mention.span()));
            for mention in mentions {
                let sentence = self.message.words_at(self.message.sentence_at(mention.span())).to_lowercase();
                let own = atom.target.is(&mention.what, self.visible.clock);
                let denied = own && mention.stance == Stance::Denied;
                let others = || atoms.iter().any(|other| other.target.is(&mention.what, self.visible.clock));
                let replaced = atom.target.is_like(&mention.what)
                    && self.states(mention)
                    && !others()
                    && CORRECTION.is_match(&sentence);
                if denied || replaced {
                    found.push((atom.check, self.message.words_at(mention.span()).to_owned()));
                }
            }
            if let Content::Text(text, _) = atom.target.content {
                let denied = |span: &Span| after(*span) && self.message.stance(*span) == Stance::Denied;
                let place = self.places(text).into_iter().find(denied);
                found.extend(place.map(|span| (atom.check, self.message.words_at(span).to_owned())));
                let own = self.claims().iter().find(|claim| claim.span == *first);
                let other = self.claims().iter().find(|claim| {
                    let sentence = self.message.words_at(claim.sentence).to_lowercase();
                    let another = !atoms.iter().any(|atom| self.is_target(claim.said, &atom.target));
                    let alike = own.is_some_and(|own| self.is_alike(own, claim));
                    after(claim.span) && another && alike && CORRECTION.is_match(&sentence)
                });
                found.extend(other.map(|claim| (atom.check, self.message.words_at(claim.span).to_owned())));
            }
        }
        found
    }

    fn is_target(&self, said: Said<'_>, target: &Target<'_>) -> bool {
        match (said, &target.content) {
            (Said::Value(mention), _) => target.is(&mention.what, self.visible.clock),
            (Said::Text(text), Content::Text(own, aliases)) => {
                *own == text || aliases.iter().any(|alias| alias == text)
            }
            (Said::Text(_), _) => false,
        }
    }
}

/// Values of one kind that stand in another order than the words for them in their sentence: the names of their items, or
/// the words that only one fact is about.
pub(super) fn swapped(atoms: &[Atom<'_>], served: &[Option<Span>], message: &Prose) -> Vec<(usize, String)> {
    let alike = |one: &Atom<'_>, other: &Atom<'_>| {
        std::mem::discriminant(&one.target.content) == std::mem::discriminant(&other.target.content)
            && (one.target.unit, one.target.currency) == (other.target.unit, other.target.currency)
    };
    // Where two facts are about the same, their items tell them apart, else the words that one of them alone has.
    let named = |atom: &Atom<'_>, other: &Atom<'_>| -> Vec<Span> {
        if atom.about == other.about {
            return atom.items.iter().flat_map(|name| message.find(name)).collect();
        }
        let own = |word: &String| word.len() > 2 && !english::words(other.about).any(|one| one == *word);
        english::words(atom.about).filter(own).flat_map(|word| message.find(&word)).collect()
    };
    let mut found = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        for (later, other) in atoms.iter().enumerate().skip(at + 1) {
            let (Some(value), Some(of_other)) = (served[at], served[later]) else { continue };
            let sentence = message.sentence_at(value);
            let is_name = matches!(atom.target.content, Content::Text(..));
            if is_name || !alike(atom, other) || atom.target == other.target || !sentence.overlaps(of_other) {
                continue;
            }
            let near = |names: Vec<Span>, value: Span| {
                let inside =
                    names.into_iter().filter(|name| sentence.overlaps(*name) && !name.overlaps(value));
                inside.min_by_key(|name| name.start.abs_diff(value.start))
            };
            let (Some(name), Some(name_of_other)) =
                (near(named(atom, other), value), near(named(other, atom), of_other))
            else {
                continue;
            };
            if (name < name_of_other) != (value < of_other) {
                found.push((atom.check, message.words_at(value).to_owned()));
            }
        }
    }
    found
}

fn is_same_field(one: &Leaf<'_>, other: &Leaf<'_>) -> bool {
    match (one.field, other.field) {
        (Some(((resource, _), field)), Some(((of, _), other))) => (resource, field) == (of, other),
        _ => false,
    }
}
