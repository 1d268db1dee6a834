//! Texts that attempts share, read once for all of them: what the user says, and last messages.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use diorama_seeds::value::{Date, Instant};

use super::GradeError;
use super::claims::AskedNumber;
use super::deeds::Deeds;
use super::outcome::{self, Ending};
use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;

/// What was read for attempts at one task.
#[derive(Default)]
pub struct Readings {
    turns: RefCell<Vec<(Date, Rc<[Prose]>)>>,
    said: RefCell<Vec<(Date, Rc<Said>)>>,
    lies: RefCell<Vec<Lies>>,
}

/// All that it depends on which claims of a last message are false, beside the world.
pub(super) struct Basis<'a> {
    pub(super) said: Rc<Said>,
    pub(super) turns: Rc<[Prose]>,
    /// The calls up to the end of the goal, and how many of them are the goal's own.
    pub(super) log: &'a [Arc<LogEntry>],
    pub(super) own: usize,
    pub(super) now: Instant,
    /// Returns true if the goal is to end with the request done.
    pub(super) done: bool,
    /// How many facts are asked for, and the numbers among them.
    pub(super) atoms: usize,
    pub(super) asked: &'a [AskedNumber<'a>],
}

/// What was found false of a last message.
struct Lies {
    said: Rc<Said>,
    turns: Rc<[Prose]>,
    log: Vec<Arc<LogEntry>>,
    own: usize,
    now: Instant,
    done: bool,
    atoms: usize,
    asked: Vec<(String, String, f64)>,
    found: Vec<GradeError>,
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

impl Readings {
    /// What is false of a last message: the attempts at a task say mostly the same after the same calls.
    pub(super) fn lies(&self, basis: &Basis<'_>, find: impl FnOnce() -> Vec<GradeError>) -> Vec<GradeError> {
        if let Some(known) = self.lies.borrow().iter().find(|known| known.rest_on(basis)) {
            return known.found.clone();
        }
        let found = find();
        let Basis { said, turns, log, own, now, done, atoms, asked } = basis;
        let asked = asked.iter().map(|one| (one.about.to_owned(), one.more.clone(), one.value));
        self.lies.borrow_mut().push(Lies {
            said: Rc::clone(said),
            turns: Rc::clone(turns),
            log: log.to_vec(),
            own: *own,
            now: *now,
            done: *done,
            atoms: *atoms,
            asked: asked.collect(),
            found: found.clone(),
        });
        found
    }
}

impl Lies {
    fn rest_on(&self, basis: &Basis<'_>) -> bool {
        let same = |(one, other): (&Arc<LogEntry>, &Arc<LogEntry>)| Arc::ptr_eq(one, other) || one == other;
        let asked = basis.asked.iter().map(|one| (one.about, one.more.as_str(), one.value));
        Rc::ptr_eq(&self.said, &basis.said)
            && Rc::ptr_eq(&self.turns, &basis.turns)
            && (self.own, self.now, self.done, self.atoms) == (basis.own, basis.now, basis.done, basis.atoms)
            && self.log.len() == basis.log.len()
            && self.asked.iter().map(|(about, more, value)| (&**about, &**more, *value)).eq(asked)
            && self.log.iter().zip(basis.log).all(same)
    }
}

impl Said {
    /// Its words for deeds.
    pub(super) fn deeds(&self) -> &Deeds {
        self.deeds.get_or_init(|| Deeds::read(&self.prose))
    }
}
