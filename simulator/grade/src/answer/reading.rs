//! Reading one answer against its key.

mod against;

use std::collections::{HashMap, HashSet};

use super::anchors::{self, Anchors};
use super::goal::Goal;
use super::hits::{self, Hit};
use super::rivals::{Echo, speaks_for_all};
use super::{AnswerKey, MAX_CONTEXT, MAX_UNASKED, MAX_WORDS, MAX_WORDS_PER_FACT, is_inflected, yes_no};
use diorama_answers::lexicon::Roles;
use diorama_answers::names::Names;
use diorama_answers::prose::Span;
use diorama_answers::tokens::{Kind, LineKind, Text, Token};
use diorama_answers::{self, Clock, Mention, NumberRole, Stance, What};
use diorama_answers::{word, words};

/// What an answer does with one expected fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactState {
    /// It states it.
    Stated,
    /// It does not.
    NotStated,
    /// It states something that cannot be true beside it.
    Contradicted,
}

/// An answer, read.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerReading {
    /// One for each answer check, in order.
    pub facts: Vec<FactState>,
    /// Contradictions: the fact's position, and the words that contradict it.
    pub contradictions: Vec<(usize, String)>,
    /// Why the answer is a dump, if it is.
    pub dump: Option<String>,
    /// Lists whose items do not come in their order.
    pub out_of_order: Vec<usize>,
}

impl AnswerReading {
    /// Whether every fact is stated and nothing speaks against it.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.facts.iter().all(|state| *state == FactState::Stated)
            && self.contradictions.is_empty()
            && self.dump.is_none()
            && self.out_of_order.is_empty()
    }
}

impl AnswerKey {
    /// Reads an answer.
    #[must_use]
    pub fn read(&self, answer: &str, user_turns: &[String], clock: &Clock) -> AnswerReading {
        self.read_text(
            &Text::read(answer),
            answer,
            user_turns,
            clock,
            &[],
            &Explained { value: &|_| false, name: &|_| false },
        )
    }

    /// Reads an answer whose tokens are there already; `extra` are rivals made in the episode, and `explained` says what
    /// is known of something else.
    pub(crate) fn read_text(
        &self,
        text: &Text,
        answer: &str,
        user_turns: &[String],
        clock: &Clock,
        extra: &[(usize, Names)],
        explained: &Explained<'_>,
    ) -> AnswerReading {
        let (text, hits) = hits::find(self, text, answer, extra);
        let text = &*text;
        let mentions = diorama_answers::read(text, clock, &hits::taken(text, &hits));
        let reader = Reader { key: self, text, answer, clock, hits, mentions, explained };
        reader.run(&mut Echo::new(user_turns, clock, self))
    }
}

struct Reader<'a> {
    key: &'a AnswerKey,
    text: &'a Text,
    answer: &'a str,
    clock: &'a Clock,
    hits: Vec<Hit>,
    mentions: Vec<Mention>,
    explained: &'a Explained<'a>,
}

/// What is known of something else than what is asked.
pub(crate) struct Explained<'a> {
    /// Whether replies give a value.
    pub(crate) value: &'a dyn Fn(&Mention) -> bool,
    /// Whether replies give a name to a record that its sentence names.
    pub(crate) name: &'a dyn Fn(Span) -> bool,
}

/// What states an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Mention(usize),
    Hit(usize),
}

impl Reader<'_> {
    fn run(&self, echo: &mut Echo<'_>) -> AnswerReading {
        let key = self.key;
        let mut served = self.serve(echo);
        let booleans = key.atoms.iter().filter(|atom| matches!(atom.goal, Goal::Boolean(_))).count();
        let mut stated: Vec<bool> = served.iter().map(Option::is_some).collect();
        let mut denied = vec![false; key.atoms.len()];
        for (position, atom) in key.atoms.iter().enumerate() {
            let Goal::Boolean(question) = &atom.goal else { continue };
            let about = key.tops.get(atom.top).map_or(&[][..], |top| &top.words);
            let said = yes_no::read(self.text, question, about, booleans == 1);
            stated[position] = said.says(question.value);
            denied[position] = said.says(!question.value);
        }
        for (position, atom) in key.atoms.iter().enumerate() {
            if let (Goal::Count(count), None) = (&atom.goal, served[position]) {
                stated[position] = self.lists(*count);
            }
        }
        let mut reading = AnswerReading {
            facts: Vec::with_capacity(key.tops.len()),
            contradictions: Vec::new(),
            dump: None,
            out_of_order: Vec::new(),
        };
        for (position, atom) in key.atoms.iter().enumerate() {
            if denied[position] {
                reading.contradictions.push((atom.top, "the answer says the opposite".to_owned()));
            }
        }
        let unasked = self.rest(&mut served, &stated, echo, &mut reading);
        for (position, top) in key.tops.iter().enumerate() {
            let contradicted = reading.contradictions.iter().any(|(fact, _)| *fact == position);
            let all = top.atoms.clone().all(|atom| stated[atom]);
            reading.facts.push(match (contradicted, all) {
                (true, _) => FactState::Contradicted,
                (false, true) => FactState::Stated,
                (false, false) => FactState::NotStated,
            });
            if top.ordered && all && !self.in_order(top.atoms.clone()) {
                reading.out_of_order.push(position);
            }
        }
        if self.leaves_open() {
            reading.dump = Some("a list of which it chooses none".to_owned());
        }
        let bound = MAX_UNASKED.max(2 * key.atoms.len());
        if unasked.0 > bound {
            reading.dump =
                Some(format!("{} values that were not asked for, at most {bound} may be", unasked.0));
        }
        let words = self.text.tokens.len();
        let bound = MAX_WORDS + MAX_WORDS_PER_FACT * key.atoms.len();
        if words > bound {
            reading.dump = Some(format!("an answer of {words} words and marks, at most {bound} may be used"));
        }
        let bound = MAX_CONTEXT.max(3 * key.atoms.len());
        if unasked.0 + unasked.1 > bound {
            let beside = unasked.0 + unasked.1;
            reading.dump = Some(format!("{beside} facts beside what was asked, at most {bound} may be"));
        }
        reading
    }

    /// Whether the one name asked for is given among others of its kind, an item for each, and nothing says which it is.
    fn leaves_open(&self) -> bool {
        let [atom] = &*self.key.atoms else { return false };
        let Goal::Entity(entity) = &atom.goal else { return false };
        let list = self.key.tops.first().is_some_and(|top| top.list);
        let own = |hit: &&Hit| hit.field.is_some() && hit.field == entity.field;
        let line = |hit: &Hit| {
            let line = self.text.get(hit.start).map_or(0, |token| token.line as usize);
            self.text.lines.get(line).copied().unwrap_or(LineKind::Plain)
        };
        let mut named: Vec<u64> = self.hits.iter().filter(own).map(|hit| hit.identity).collect();
        named.sort_unstable();
        named.dedup();
        let chooses = self.text.tokens.iter().any(|token| token.is(Roles::COMPARATIVE));
        !list
            && !chooses
            && named.len() > 1
            && self.hits.iter().filter(own).all(|hit| matches!(line(hit), LineKind::Item | LineKind::Row))
    }

    /// Gives each atom a mention or name of its own, as many as can have one.
    fn serve(&self, echo: &mut Echo<'_>) -> Vec<Option<Source>> {
        let key = self.key;
        let anchors = Anchors::all(key, self.text);
        let mut candidates: Vec<Vec<Source>> = Vec::with_capacity(key.atoms.len());
        for (position, atom) in key.atoms.iter().enumerate() {
            let group = anchors.iter().find(|(group, _)| group.contains(&position));
            let mut own: Vec<Source> = Vec::new();
            // Where several like values are asked for, one may be told by comparing it with another.
            let several = self.several(position);
            match &atom.goal {
                Goal::Boolean(_) => {}
                Goal::Entity(entity) => {
                    own.extend(
                        self.hits
                            .iter()
                            .enumerate()
                            .filter(|(_, hit)| {
                                entity.is(hit.identity)
                                    && (states_name(hit.stance)
                                        || (several && hit.stance == Stance::Compared))
                            })
                            .map(|(at, _)| Source::Hit(at)),
                    );
                    if entity.none {
                        let about = key.tops.get(atom.top).map_or("", |top| &top.about);
                        let says = |(at, mention): (usize, &Mention)| {
                            self.says_none(mention, about).then_some(Source::Mention(at))
                        };
                        own.extend(self.mentions.iter().enumerate().filter_map(says));
                    }
                }
                goal => {
                    let states = |mention: &Mention| {
                        (goal.accepts(mention.stance) || (several && mention.stance == Stance::Compared))
                            && (goal.is_stated_by(mention, self.clock) || self.is_spent(goal, mention))
                    };
                    let mut found: Vec<usize> = Vec::new();
                    for (at, mention) in self.mentions.iter().enumerate() {
                        if states(mention) && self.belongs(goal, mention, echo) {
                            found.push(at);
                        }
                    }
                    // What measures or counts goes before what names something.
                    found.sort_by_key(|at| self.mentions.get(*at).map_or(0, weakness));
                    own.extend(found.into_iter().map(Source::Mention));
                }
            }
            if let Some((members, anchors)) = group {
                let places = self.places_of(members);
                own.retain(|source| {
                    let at = self.token_of(*source);
                    anchors.owner(self.text, at, &places).is_none_or(|owner| owner == position)
                });
            }
            own.retain(|source| !self.is_alternative(*source));
            candidates.push(own);
        }
        assign(&candidates, |source| speaks_for_all(self.text, self.token_of(source)))
    }

    /// Whether there is none of what is asked: `no allergen`, `nothing allergenic`.
    fn says_none(&self, mention: &Mention, about: &str) -> bool {
        let behind = self.text.tokens.get(mention.tokens.0..).unwrap_or_default().iter().take(3);
        let spelt = behind.filter(|token| token.is_word()).filter_map(|token| {
            self.answer.get(token.start as usize..token.end as usize).map(str::to_lowercase)
        });
        let mut stems = spelt.map(|word| diorama_seeds::english::stem(&word));
        let asked: Vec<String> =
            diorama_seeds::english::words(about).map(|word| diorama_seeds::english::stem(&word)).collect();
        mention.what == What::None
            && mention.stance == Stance::Asserted
            && stems.any(|stem| asked.iter().any(|asked| is_inflected(&stem, asked)))
    }

    /// Whether other atoms could take this one's values.
    fn several(&self, position: usize) -> bool {
        let Some(own) = self.key.atoms.get(position) else { return false };
        self.key
            .atoms
            .iter()
            .enumerate()
            .any(|(other, atom)| other != position && anchors::alike(&own.goal, &atom.goal))
    }

    /// Whether an amount is told as spent or paid, where bookings show it below zero.
    fn is_spent(&self, goal: &Goal, mention: &Mention) -> bool {
        let Some(token) = self.text.get(mention.tokens.0) else { return false };
        let spends = |other: &Token| {
            words!("spent spend spending paid pay cost costs").contains(&other.hash)
                && other.sentence == token.sentence
        };
        goal.negated().is_some_and(|goal| goal.is_stated_by(mention, self.clock))
            && self.text.tokens.iter().any(spends)
    }

    /// Whether a value is one of several that the answer leaves open: `60 or 116`, `either Ana or Rui`.
    fn is_alternative(&self, source: Source) -> bool {
        let range = |source: Source| match source {
            Source::Mention(at) => self.mentions.get(at).map(|mention| mention.tokens),
            Source::Hit(at) => self.hits.get(at).map(|hit| (hit.start, hit.end)),
        };
        let like: Vec<Source> = match source {
            Source::Mention(at) => {
                let Some(own) = self.mentions.get(at) else { return false };
                let like = |other: &Mention| {
                    std::mem::discriminant(&other.what) == std::mem::discriminant(&own.what)
                        || other.what.is_amount() && own.what.is_amount()
                };
                let all = self.mentions.iter().enumerate();
                all.filter(|(_, other)| like(other)).map(|(at, _)| Source::Mention(at)).collect()
            }
            Source::Hit(_) => (0..self.hits.len()).map(Source::Hit).collect(),
        };
        // Runs of values with nothing but commas and small words between them.
        let position = like.iter().position(|other| *other == source);
        let Some(position) = position else { return false };
        let joint = |left: Source, right: Source| {
            let ((_, end), (start, _)) = (range(left)?, range(right)?);
            // `The Whale's Ghost (1962) or ...`
            let mut depth = 0;
            let mut between: Vec<&Token> = Vec::new();
            for token in self.text.tokens.get(end..start)? {
                depth += i32::from(token.is_symbol('('));
                if depth == 0 {
                    between.push(token);
                }
                depth -= i32::from(token.is_symbol(')'));
            }
            let plain = |token: &&Token| {
                matches!(token.kind, Kind::Symbol(_)) || !token.has_content() || token.hash == word!("dr")
            };
            let apart = |token: &&Token| matches!(token.kind, Kind::Symbol('.' | ';'));
            let fits = between.len() <= 5 && between.iter().all(plain) && !between.iter().any(apart);
            fits.then(|| between.iter().any(|token| token.hash == word!("or")))
        };
        let mut open = false;
        let mut members = vec![source];
        for pair in like[position..].windows(2) {
            let Some(or) = joint(pair[0], pair[1]) else { break };
            open |= or;
            members.push(pair[1]);
        }
        for pair in like[..=position].windows(2).rev() {
            let Some(or) = joint(pair[0], pair[1]) else { break };
            open |= or;
            members.push(pair[0]);
        }
        open && members.iter().any(|other| self.differs(source, *other))
    }

    /// Whether two values of one kind are not the same, in another unit or form.
    fn differs(&self, one: Source, other: Source) -> bool {
        match (one, other) {
            (Source::Hit(a), Source::Hit(b)) => {
                let identity = |at: usize| self.hits.get(at).map(|hit| hit.identity);
                identity(a) != identity(b)
            }
            (Source::Mention(a), Source::Mention(b)) => {
                let what = |at: usize| self.mentions.get(at).map(|mention| &mention.what);
                match (what(a), what(b)) {
                    (Some(a), Some(b)) => {
                        !super::rivals::same(a, b, self.clock.today) && !are_measured_apart(a, b)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn token_of(&self, source: Source) -> usize {
        match source {
            Source::Mention(at) => self.mentions.get(at).map_or(0, |mention| mention.tokens.0),
            Source::Hit(at) => self.hits.get(at).map_or(0, |hit| hit.start),
        }
    }

    /// Tokens of all asserted values that could state one of these atoms or rival it.
    fn places_of(&self, atoms: &[usize]) -> Vec<usize> {
        let Some(goal) = atoms.first().and_then(|atom| self.key.atoms.get(*atom)).map(|atom| &atom.goal)
        else {
            return Vec::new();
        };
        if let Goal::Entity(entity) = goal {
            return self.hits.iter().filter(|hit| hit.field == entity.field).map(|hit| hit.start).collect();
        }
        let like = self.mentions.iter().filter(|mention| may_be_meant(goal, mention));
        like.map(|mention| mention.tokens.0).collect()
    }

    /// A time states a date-time only with its day: said beside it, above it, or by the user.
    fn belongs(&self, goal: &Goal, mention: &Mention, echo: &mut Echo<'_>) -> bool {
        let (Goal::DateTime(date, _), What::Time(_)) = (goal, &mention.what) else { return true };
        match self.day_of(mention) {
            Some(day) => matches!(&day.what, What::Date(said) if said.means(*date, self.clock.today)),
            None => echo.states(&Goal::Date(*date)),
        }
    }

    /// The day a time is on: in its sentence or row (the nearest, those before first), else the last one before,
    /// else the first in the answer.
    fn day_of(&self, mention: &Mention) -> Option<&Mention> {
        let (start, end) = mention.tokens;
        let token = self.text.get(start)?;
        let row = self.text.lines.get(token.line as usize).is_some_and(|line| *line != LineKind::Plain);
        let days = || {
            self.mentions.iter().filter(|other| {
                matches!(other.what, What::Date(_))
                    && matches!(other.stance, Stance::Asserted | Stance::Limit | Stance::Echoed)
            })
        };
        let near = |other: &&Mention| {
            self.text
                .get(other.tokens.0)
                .is_some_and(|t| if row { t.line == token.line } else { t.sentence == token.sentence })
        };
        let before = days().filter(near).rfind(|day| day.tokens.1 <= start);
        let after = days().filter(near).find(|day| day.tokens.0 >= end);
        match (before, after) {
            (Some(before), Some(after)) => {
                // `14:30 on Thursday` against `On Tuesday, the 14:30`: what is nearer, without another time between.
                let gap_before = start - before.tokens.1;
                let gap_after = after.tokens.0 - end;
                let between = self.mentions.iter().any(|other| {
                    matches!(other.what, What::Time(_))
                        && other.tokens.0 >= before.tokens.1
                        && other.tokens.1 <= start
                });
                Some(if gap_after < gap_before && (between || gap_after <= 2) { after } else { before })
            }
            (Some(day), None) | (None, Some(day)) => Some(day),
            (None, None) => days().rfind(|day| day.tokens.1 <= start).or_else(|| days().next()),
        }
    }

    /// Whether a list in the answer has so many items.
    fn lists(&self, count: u64) -> bool {
        let Ok(count) = usize::try_from(count) else { return false };
        // One name or one line is no list.
        if count < 2 {
            return false;
        }
        let lines = |kind| self.text.lines.iter().filter(|line| **line == kind).count();
        let rows = lines(LineKind::Row);
        if lines(LineKind::Item) == count || (rows > 1 && rows - 1 == count) {
            return true;
        }
        let mut names: Vec<u64> = self
            .hits
            .iter()
            .filter(|hit| states_name(hit.stance) && !hit.aside)
            .map(|hit| hit.identity)
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len() == count || enumerated(self.text) == Some(count)
    }

    /// Whether the atoms of an ordered list can be found one after another.
    fn in_order(&self, atoms: std::ops::Range<usize>) -> bool {
        let mut from = 0;
        for position in atoms {
            let Some(atom) = self.key.atoms.get(position) else { return false };
            let next = match &atom.goal {
                Goal::Entity(entity) => self
                    .hits
                    .iter()
                    .filter(|hit| hit.start >= from && entity.is(hit.identity) && states_name(hit.stance))
                    .map(|hit| hit.end)
                    .next(),
                goal => self
                    .mentions
                    .iter()
                    .filter(|mention| {
                        mention.tokens.0 >= from
                            && goal.accepts(mention.stance)
                            && goal.is_stated_by(mention, self.clock)
                    })
                    .map(|mention| mention.tokens.1)
                    .next(),
            };
            match next {
                Some(end) => from = end,
                None => return false,
            }
        }
        true
    }
}

/// Whether two numbers are measured in different units, so that both can be so.
fn are_measured_apart(a: &What, b: &What) -> bool {
    match (a, b) {
        (What::Number(a), What::Number(b)) => a.unit.is_some() && b.unit.is_some() && a.unit != b.unit,
        _ => false,
    }
}

/// Whether a value is of the kind of a goal's, or a number that could be.
fn may_be_meant(goal: &Goal, mention: &Mention) -> bool {
    let bare = |what: &What| matches!(what, What::Number(number) if number.unit.is_none() && number.role == NumberRole::Plain);
    goal.rivals(mention) || (goal.takes_bare_numbers() && bare(&mention.what))
}

const fn states_name(stance: Stance) -> bool {
    matches!(stance, Stance::Asserted | Stance::Limit)
}

fn weakness(mention: &Mention) -> u8 {
    match &mention.what {
        What::Number(number) => match number.role {
            NumberRole::Plain => 0,
            NumberRole::Subset => 1,
            NumberRole::Weak => 2,
            NumberRole::Identifier => 3,
        },
        _ => 0,
    }
}

/// The number of items of the longest enumeration `X, Y and Z` of capitalised items in a sentence.
fn enumerated(text: &Text) -> Option<usize> {
    let mut best = None;
    let mut items = 0;
    let mut open = false;
    let mut sentence = u32::MAX;
    let mut length = 0;
    for token in &text.tokens {
        if token.sentence != sentence {
            sentence = token.sentence;
            items = 0;
            open = false;
            length = 0;
        }
        let capital = token.has(diorama_answers::tokens::Marks::CAPITAL);
        if token.is_word() && capital && !open {
            open = true;
            items += 1;
            length = 0;
        } else if token.is_symbol(',') || token.hash == word!("and") {
            open = false;
        } else if open && !capital && token.is_word() {
            length += 1;
            if length > 3 {
                items = 0;
                open = false;
            }
        } else if !open && token.is_word() && items > 0 {
            items = 0;
        }
        if items > 1 && matches!(token.kind, Kind::Word) {
            best = best.max(Some(items));
        }
    }
    best
}

/// Assigns sources to atoms so that as many as possible have one: augmenting paths, atoms in order. Sources that
/// speak for all may serve any number.
fn assign(candidates: &[Vec<Source>], shared: impl Fn(Source) -> bool) -> Vec<Option<Source>> {
    let mut served = Served { sources: vec![None; candidates.len()], holders: HashMap::new() };
    // Sources that could not serve an atom serve no other one either, until something is assigned.
    let mut exhausted: HashSet<&[Source]> = HashSet::new();
    for (atom, own) in candidates.iter().enumerate() {
        if exhausted.contains(&**own) {
            continue;
        }
        if augment(atom, candidates, &mut served, &mut HashSet::new(), &shared, 0) {
            exhausted.clear();
        } else {
            exhausted.insert(own);
        }
    }
    served.sources
}

/// Which mention states which part of the expected facts.
struct Served {
    sources: Vec<Option<Source>>,
    /// The atom that each source serves; one of them, where it speaks for all.
    holders: HashMap<Source, usize>,
}

/// Paths longer than this are not followed: an answer with so many equal values is judged by the rest.
const MAX_PATH: usize = 64;

fn augment(
    atom: usize,
    candidates: &[Vec<Source>],
    served: &mut Served,
    seen: &mut HashSet<Source>,
    shared: &impl Fn(Source) -> bool,
    depth: usize,
) -> bool {
    if depth > MAX_PATH {
        return false;
    }
    let Some(own) = candidates.get(atom) else { return false };
    for source in own {
        if !seen.insert(*source) {
            continue;
        }
        let holder = served.holders.get(source).copied();
        let free = match holder {
            None => true,
            Some(holder) => shared(*source) || augment(holder, candidates, served, seen, shared, depth + 1),
        };
        if free {
            served.sources[atom] = Some(*source);
            served.holders.insert(*source, atom);
            return true;
        }
    }
    false
}
