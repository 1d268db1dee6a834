//! What an answer says beside the facts asked for: what contradicts them, and what is merely unasked.

use super::{AnswerReading, Reader, Source, may_be_meant};
use crate::answer::goal::Goal;
use crate::answer::hits::{self, Hit};
use crate::answer::rivals::{Echo, comparable, is_listed, is_picked, label};
use crate::stated::FEW;
use diorama_answers::prose::Span;
use diorama_answers::tokens::{Text, Token};
use diorama_answers::words;
use diorama_answers::{Mention, NumberRole, Stance, What};

impl Reader<'_> {
    /// Judges what serves no atom: contradictions go into the reading; gives the counts of unasked and of context
    /// values.
    pub(super) fn rest(
        &self,
        served: &mut [Option<Source>],
        stated: &[bool],
        echo: &mut Echo<'_>,
        reading: &mut AnswerReading,
    ) -> (usize, usize) {
        let key = self.key;
        let mut unasked = 0;
        let mut context = vec![false; key.context.len()];
        for (position, mention) in self.mentions.iter().enumerate() {
            if served.contains(&Some(Source::Mention(position))) || mention.stance != Stance::Asserted {
                continue;
            }
            if key.atoms.iter().any(|atom| atom.goal.covers(mention, self.clock)) {
                continue;
            }
            if let Some(top) = self.takes_back(mention, served) {
                reading.contradictions.push((top, self.words(mention.start, mention.end)));
                continue;
            }
            if let Some(around) = key.context.iter().position(|goal| goal.covers(mention, self.clock)) {
                context[around] = true;
                continue;
            }
            if matches!(mention.what, What::None) || is_chatter(mention) {
                continue;
            }
            // `ten on each of two pages, and two more`: a few in words point at things once the number is told.
            if points(self.answer, mention) && stated.iter().all(|stated| *stated) {
                continue;
            }
            let rival = self.rival(served, stated, mention);
            if echo.has(mention) {
                continue;
            }
            let told =
                |top: usize| key.tops.get(top).is_some_and(|top| top.atoms.clone().all(|at| stated[at]));
            match rival.filter(|top| !told(*top) || !(self.explained.value)(mention)) {
                Some(top) => reading.contradictions.push((top, self.words(mention.start, mention.end))),
                None => unasked += 1,
            }
        }
        for (position, hit) in self.hits.iter().enumerate() {
            let expected = key
                .atoms
                .iter()
                .any(|atom| matches!(&atom.goal, Goal::Entity(entity) if entity.is(hit.identity)));
            if expected || hit.stance != Stance::Asserted {
                continue;
            }
            let around = key
                .context
                .iter()
                .position(|goal| matches!(goal, Goal::Entity(entity) if entity.is(hit.identity)));
            if let Some(around) = around {
                context[around] = true;
                continue;
            }
            if hit.aside || hits::is_deed(self.text, hit) {
                continue;
            }
            let Some(top) = self
                .rival_name(stated, hit)
                .or_else(|| self.other_subject(hit).filter(|_| self.is_beside_fact(hit, served)))
            else {
                continue;
            };
            let list = key.tops.get(top).is_some_and(|top| top.list);
            let excused = if list {
                !is_listed(self.text, &self.hits, position)
            } else {
                !is_picked(self.text, &self.hits, position)
            };
            let sentence = self.text.get(hit.start).map_or(0, |token| token.sentence);
            if excused && !is_retraction(self.text, sentence) && echo.names(hit.identity) {
                continue;
            }
            let bytes = |at: usize| {
                self.text.get(at).map_or((0, 0), |token| (token.start as usize, token.end as usize))
            };
            let span = Span { start: bytes(hit.start).0, end: bytes(hit.end.saturating_sub(1)).1 };
            let told = key.tops.get(top).is_some_and(|top| top.atoms.clone().all(|at| stated[at]));
            let apart = !list || !is_listed(self.text, &self.hits, position);
            if told && apart && !is_retraction(self.text, sentence) && (self.explained.name)(span) {
                continue;
            }
            reading.contradictions.push((top, self.words(span.start, span.end)));
        }
        (unasked, context.iter().filter(|used| **used).count())
    }

    /// The fact that a later sentence takes back: it has another value of the kind, and no words that say of what.
    fn takes_back(&self, mention: &Mention, served: &[Option<Source>]) -> Option<usize> {
        let sentence = self.text.get(mention.tokens.0)?.sentence;
        let own = |at: usize| mention.tokens.0 <= at && at < mention.tokens.1;
        let words: Vec<u64> = self
            .text
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, token)| token.sentence == sentence && !own(*at) && token.has_content())
            .map(|(_, token)| token.stem)
            .collect();
        self.key.atoms.iter().enumerate().find_map(|(position, atom)| {
            let serving = served.get(position).copied().flatten()?;
            let at = self.token_of(serving);
            let before = self.text.get(at)?;
            let like = may_be_meant(&atom.goal, mention);
            let list = self.key.tops.get(atom.top).is_some_and(|top| top.list);
            if !like || list || at >= mention.tokens.0 {
                return None;
            }
            if self.text.tokens[at..mention.tokens.0].iter().any(corrects) {
                return Some(atom.top);
            }
            // What the sentence says beside the value, the sentence before has said of its own.
            let said = |stem: &u64| {
                self.text.tokens.iter().any(|token| token.sentence == before.sentence && token.stem == *stem)
            };
            let strange = words.iter().filter(|stem| !said(stem)).count();
            (before.sentence < sentence
                && strange <= 1
                && words.len() <= 3
                && is_retraction(self.text, sentence))
            .then_some(atom.top)
        })
    }

    /// The fact that a mention contradicts; one that is not stated before one that is.
    fn rival(&self, served: &[Option<Source>], stated: &[bool], mention: &Mention) -> Option<usize> {
        let key = self.key;
        let against = |position: usize| {
            let atom = key.atoms.get(position)?;
            let top = key.tops.get(atom.top)?;
            let serving = match served.get(position).copied().flatten() {
                Some(Source::Mention(at)) => self.mentions.get(at),
                _ => None,
            };
            let bare = atom.goal.takes_bare_numbers() && {
                let labelled = !matches!(atom.goal, Goal::Money { .. } | Goal::Number { unit: Some(_), .. })
                    || (no_noun(mention) && !label(self.text, mention.tokens.0).is_empty());
                labelled && comparable(self.text, top, mention, serving, stated[position])
            };
            (atom.goal.rivals(mention) || bare).then_some(atom.top)
        };
        let order = |wanted: bool| (0..key.atoms.len()).filter(move |at| stated[*at] == wanted);
        // Of stated facts, the one whose value stands nearest before.
        let distance = |position: &usize| {
            let at = served.get(*position).copied().flatten().map_or(0, |source| self.token_of(source));
            let here = mention.tokens.0;
            if at <= here { here - at } else { 1_000_000 + at - here }
        };
        order(false).find_map(against).or_else(|| {
            let mut stated: Vec<usize> = order(true).collect();
            stated.sort_by_key(distance);
            stated.into_iter().find_map(against)
        })
    }

    fn rival_name(&self, stated: &[bool], hit: &Hit) -> Option<usize> {
        let field = hit.field?;
        let of_field = |wanted: bool| {
            self.key.atoms.iter().enumerate().find(|(position, atom)| {
                stated[*position] == wanted
                    && matches!(&atom.goal, Goal::Entity(entity) if entity.field == Some(field))
            })
        };
        of_field(false).or_else(|| of_field(true)).map(|(_, atom)| atom.top)
    }

    /// The first fact, when a name rivals one that is allowed, which is not there: the answer speaks of another record.
    /// A state such as `cancelled` names none.
    fn other_subject(&self, hit: &Hit) -> Option<usize> {
        let field = hit.field?;
        let mut allowed = self.key.context.iter().filter_map(|goal| match goal {
            Goal::Entity(entity) if entity.field == Some(field) && entity.common.is_none() => Some(entity),
            _ => None,
        });
        let first = allowed.next()?;
        let named = std::iter::once(first)
            .chain(allowed)
            .any(|entity| self.hits.iter().any(|hit| entity.is(hit.identity)));
        (!named).then_some(0)
    }

    /// Whether the sentence of a name states a fact, or none does.
    fn is_beside_fact(&self, hit: &Hit, served: &[Option<Source>]) -> bool {
        let sentence = |at: usize| self.text.get(at).map(|token| token.sentence);
        let mut facts = served.iter().flatten().peekable();
        facts.peek().is_none() || facts.any(|source| sentence(self.token_of(*source)) == sentence(hit.start))
    }

    fn words(&self, start: usize, end: usize) -> String {
        self.answer.get(start..end).unwrap_or("").chars().take(60).collect()
    }
}

/// Whether a number is one of the few that words point with.
fn points(answer: &str, mention: &Mention) -> bool {
    let spelt = answer.get(mention.start..mention.end).unwrap_or_default();
    let in_words = !spelt.contains(|c: char| c.is_ascii_digit());
    matches!(&mention.what, What::Number(number) if number.unit.is_none() && number.value <= FEW) && in_words
}

fn no_noun(mention: &Mention) -> bool {
    matches!(&mention.what, What::Number(number) if number.noun[0] == 0)
}

/// Whether a sentence takes back what was said before it.
fn is_retraction(text: &Text, sentence: u32) -> bool {
    const TAKING_BACK: [u64; 16] = words!(
        "correction wrong actually sorry mistake mistaken rather meant mean oops scratch \
         wait incorrect misread apologies no"
    );
    let near = |token: &Token| token.sentence == sentence || token.sentence + 1 == sentence;
    text.tokens.iter().any(|token| near(token) && TAKING_BACK.contains(&token.hash))
}

/// Words that put another value in the place of the one before.
fn corrects(token: &Token) -> bool {
    words!("correction correct wrong mistake mistaken oops scratch wait misread thought thoughts meant")
        .contains(&token.hash)
}

/// Numbers that are not meant to tell anything: `one of them`, `option 2`, `the 3rd`.
fn is_chatter(mention: &Mention) -> bool {
    match &mention.what {
        What::Number(number) => number.role != NumberRole::Plain,
        What::Date(day) => day.derived,
        What::Time(time) => time.end,
        _ => false,
    }
}
