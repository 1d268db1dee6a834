//! Which of several like facts a value belongs to: `Ana charges 80, Rui 95` must not pass with the two swapped.
//!
//! Facts of one kind are told apart by the words that only their own `about` has. Where the answer uses such words
//! for each of them, a value belongs to the nearest: the one before it, or, where values come first, the one
//! after. Where it does not, nothing is concluded.

use super::goal::Goal;
use super::{AnswerKey, Top};
use diorama_answers::lexicon::Roles;
use diorama_answers::tokens::{LineKind, Marks, Text, Token};
use diorama_answers::word;

/// Places of words that tell facts apart.
pub(crate) struct Anchors {
    /// Token and atom, by token.
    places: Vec<(usize, usize)>,
}

impl Anchors {
    /// Finds the words of a group of like atoms; `None` unless the answer has some for each.
    fn of_group(key: &AnswerKey, text: &Text, group: &[usize]) -> Option<Self> {
        let top = |atom: usize| key.atoms.get(atom).and_then(|atom| key.tops.get(atom.top));
        let mut places = Vec::new();
        for &atom in group {
            let own = top(atom)?;
            let others: Vec<&Top> =
                group.iter().filter(|other| **other != atom).filter_map(|other| top(*other)).collect();
            let mut found = false;
            for (at, token) in text.tokens.iter().enumerate().filter(|(_, token)| says_something(token)) {
                let word = own.words.contains(&token.stem)
                    && others.iter().all(|other| !other.words.contains(&token.stem));
                let behind = text.get(at + 1).filter(|next| next.hash != 0).or_else(|| text.get(at + 2));
                let pair = behind.map_or((0, 0), |behind| (token.stem, behind.hash));
                let paired =
                    own.pairs.contains(&pair) && others.iter().all(|other| !other.pairs.contains(&pair));
                if word || paired {
                    places.push((at, atom));
                    found = true;
                }
            }
            if !found {
                return None;
            }
        }
        places.sort_unstable();
        Some(Self { places })
    }

    /// The anchors of each group of like atoms.
    pub(crate) fn all(key: &AnswerKey, text: &Text) -> Vec<(Vec<usize>, Self)> {
        if key.tops.len() < 2 || text.tokens.iter().any(|token| token.hash == word!("respectively")) {
            return Vec::new();
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (position, atom) in key.atoms.iter().enumerate() {
            // Items of a list are told apart by nothing.
            if key.tops.get(atom.top).is_none_or(|top| top.list) {
                continue;
            }
            let like = groups.iter_mut().find(|group| {
                group
                    .first()
                    .and_then(|first| key.atoms.get(*first))
                    .is_some_and(|first| alike(&first.goal, &atom.goal))
            });
            match like {
                Some(group) => group.push(position),
                None => groups.push(vec![position]),
            }
        }
        groups
            .into_iter()
            .filter(|group| group.len() > 1)
            .filter_map(|group| Self::of_group(key, text, &group).map(|anchors| (group, anchors)))
            .collect()
    }

    /// The atom that a mention at a token belongs to; `first` is the first mention of the kind in its scope.
    pub(crate) fn owner(&self, text: &Text, at: usize, mentions: &[usize]) -> Option<usize> {
        let token = text.get(at)?;
        let line = text.lines.get(token.line as usize).copied().unwrap_or(LineKind::Plain);
        let in_scope = |other: &Token| match line {
            LineKind::Plain => other.sentence == token.sentence,
            _ => other.line == token.line,
        };
        let scoped: Vec<(usize, usize)> =
            self.places.iter().copied().filter(|(place, _)| text.get(*place).is_some_and(in_scope)).collect();
        let Some((first_anchor, only)) = scoped.first().copied() else {
            return self.column(text, token, line).or_else(|| {
                // A heading, or the sentence before.
                self.places.iter().rev().find(|(place, _)| *place < at).map(|(_, atom)| *atom)
            });
        };
        if scoped.iter().all(|(_, atom)| *atom == only) {
            return Some(only);
        }
        let first_mention =
            mentions.iter().copied().find(|mention| text.get(*mention).is_some_and(in_scope))?;
        let before = scoped.iter().rev().find(|(place, _)| *place < at).copied();
        let after = scoped.iter().find(|(place, _)| *place > at).copied();
        let own = |anchor: Option<(usize, usize)>| anchor.map(|(_, atom)| atom);
        // `In May it was 287, compared with 312 in April`: the first has its value already.
        let between = |from: usize, to: usize| mentions.iter().any(|other| from < *other && *other < to);
        let spent = before.is_some_and(|(place, _)| between(place, at));
        let open = after.is_some_and(|(place, _)| !between(at, place));
        if first_mention < first_anchor || (spent && open) {
            own(after).or(own(before))
        } else {
            own(before).or(own(after))
        }
    }

    /// In a table whose head names the facts, the head of the cell's column.
    fn column(&self, text: &Text, token: &Token, line: LineKind) -> Option<usize> {
        if line != LineKind::Row {
            return None;
        }
        let head = |place: usize| {
            text.get(place).filter(|head| {
                head.line < token.line
                    && text.lines.get(head.line as usize) == Some(&LineKind::Row)
                    && head.cell == token.cell
            })
        };
        self.places.iter().rev().find(|(place, _)| head(*place).is_some()).map(|(_, atom)| *atom)
    }
}

/// Words with content, and `May`.
pub(crate) fn says_something(token: &Token) -> bool {
    token.hash != 0 && (!token.is(Roles::FUNCTION) || (token.lex().month > 0 && token.has(Marks::CAPITAL)))
}

/// Whether two goals could take each other's values.
pub(crate) fn alike(a: &Goal, b: &Goal) -> bool {
    match (a, b) {
        (Goal::Entity(a), Goal::Entity(b)) => a.field.is_some() && a.field == b.field,
        (Goal::Number { unit: a, .. }, Goal::Number { unit: b, .. }) => {
            a.map(|unit| unit.dimension) == b.map(|unit| unit.dimension)
        }
        (Goal::Money { .. }, Goal::Money { .. })
        | (Goal::Count(_), Goal::Count(_))
        | (Goal::Date(_), Goal::Date(_))
        | (Goal::Time(_), Goal::Time(_))
        | (Goal::DateTime(..), Goal::DateTime(..)) => true,
        _ => false,
    }
}
