//! Texts that attempts share, read once for all of them: what the user says, and last messages.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use diorama_seeds::value::Date;

use super::deeds::Deeds;
use super::extract::Clock;
use super::extract::prose::Prose;
use super::outcome::{self, Ending};

/// What was read for attempts at one task.
#[derive(Default)]
pub struct Readings {
    turns: RefCell<Vec<(Date, Rc<[Prose]>)>>,
    said: RefCell<Vec<(Date, Rc<Said>)>>,
}

/// What an answer says, before it is held against facts.
pub(super) struct Said {
    pub(super) prose: Prose,
    pub(super) ending: Ending,
    deeds: OnceCell<Deeds>,
}

impl Readings {
    /// What the user said.
    pub(super) fn turns(&self, turns: &[String], clock: &Clock) -> Rc<[Prose]> {
        let mut known = self.turns.borrow_mut();
        let same = |known: &[Prose]| known.iter().map(Prose::source).eq(turns);
        if let Some((_, read)) = known.iter().find(|(today, known)| *today == clock.today && same(known)) {
            return Rc::clone(read);
        }
        let read: Rc<[Prose]> = turns.iter().map(|turn| Prose::read(turn, clock)).collect();
        known.push((clock.today, Rc::clone(&read)));
        read
    }

    /// What an answer says.
    pub(super) fn said(&self, answer: &str, clock: &Clock) -> Rc<Said> {
        let mut known = self.said.borrow_mut();
        let found = known.iter().find(|(today, said)| *today == clock.today && said.prose.source() == answer);
        if let Some((_, said)) = found {
            return Rc::clone(said);
        }
        let prose = Prose::read(answer, clock);
        let said = Rc::new(Said { ending: outcome::read(prose.text()), prose, deeds: OnceCell::new() });
        known.push((clock.today, Rc::clone(&said)));
        said
    }
}

impl Said {
    /// Its words for deeds.
    pub(super) fn deeds(&self) -> &Deeds {
        self.deeds.get_or_init(|| Deeds::read(&self.prose))
    }
}
