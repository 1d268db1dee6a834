//! Reads the last offer of a message, with the sentences before it that say what it is about.

use diorama_seeds::english::fold;

use super::calls::has_name;
use super::mentions::Reading;
use super::turn::{Act, Kind, Turn, leaves_alone};
use super::verbs::verb;
use super::vocabulary::{Action, DETERMINERS, LOOKS, PARTICLES, action, is_one_of};

/// The last offer of a message, with the sentences before it that say what it is about.
pub(super) struct Lead<'a> {
    pub(super) acts: Vec<&'a Act>,
    pub(super) folded: String,
}

impl<'a> Lead<'a> {
    /// Returns the last offer with its sentences; none where a message proposes no change of a record.
    pub(super) fn find(turn: &'a Turn) -> Option<Self> {
        let proposes = |act: &Act| match act.kind {
            Kind::Offers | Kind::Confirms => true,
            // `Let me look at Friday` proposes no call that changes a record.
            Kind::Announces => match verb(act) {
                Some(verb) => action(&verb.stem) != Some(Action::Read) && !is_one_of(&verb.stem, &LOOKS),
                // `Say yes and I'll do it.`
                None => act.reading.tokens.iter().any(|token| token.text == "do"),
            },
            _ => false,
        };
        let last = turn.acts.iter().rposition(proposes)?;
        let counts = |act: &&Act| {
            !matches!(act.kind, Kind::Asks | Kind::Declines | Kind::Closes) && !leaves_alone(&act.reading)
        };
        let acts: Vec<&Act> = turn.acts[..=last].iter().filter(counts).collect();
        let texts: Vec<&str> = acts.iter().map(|act| &*act.reading.source).collect();
        Some(Self { folded: fold(&texts.join("\n")), acts })
    }

    /// Returns the acts that propose something.
    pub(super) fn plans(&self) -> impl Iterator<Item = &&'a Act> {
        let proposes = |kind| matches!(kind, Kind::Offers | Kind::Confirms | Kind::Announces);
        self.acts.iter().filter(move |act| proposes(act.kind))
    }

    /// Returns true if a text names a value. A particle counts only as part of a verb: `switch it off`, and not
    /// `on Monday`.
    pub(super) fn names(&self, name: &str) -> bool {
        let Some(particle) = particle(name) else { return has_name(&self.folded, name) };
        self.acts.iter().any(|act| has_particle(&act.reading, particle))
    }
}

/// Returns the particle that ends the name of a choice: `turn [off]`.
fn particle(name: &str) -> Option<&str> {
    name.rsplit(' ').next().filter(|word| PARTICLES.contains(word))
}

/// Returns true if a particle belongs to a verb, and no noun follows it.
fn has_particle(reading: &Reading, particle: &str) -> bool {
    let tokens = &reading.tokens;
    (0..tokens.len()).filter(|at| tokens[*at].text == particle).any(|at| {
        let follows_verb = at.checked_sub(1).is_some_and(|before| {
            tokens[before].has_content()
                && !reading.mentions.iter().any(|own| own.span.overlaps(tokens[before].span))
        });
        tokens.get(at + 1).is_none_or(|next| {
            let is_noun = DETERMINERS.contains(&&*next.text)
                || reading.mentions.iter().any(|own| own.span.overlaps(next.span));
            next.after_mark
                || next.opens
                || !(is_noun || next.has_content())
                || (follows_verb && DETERMINERS.contains(&&*next.text))
        })
    })
}
