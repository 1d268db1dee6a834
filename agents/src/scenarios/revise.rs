//! Plays requests in which the user changes a value before the call: `for 3 nights. No wait, make it 2
//! nights.`
//!
//! The withdrawn value is the one that the gate `mutation` tries: an agent that uses it fails.

use diorama_seeds::doc::ScenarioGoalDoc;
use diorama_seeds::english::singular;
use diorama_seeds::scenario::BoundValue;
use diorama_seeds::value::{Date, Value};

use super::detour::{Detour, WORDS};
use super::hand::Hand;
use super::player::Player;
use super::speech::fill;
use super::unplayed::PlayError;
use super::words::Scene;
use crate::draws::choose;

/// The greatest number of words of a request that a user repeats whole.
const MAX_REQUEST_WORDS: usize = 24;

/// A binding in a wording, with the words that say it.
struct WordedBinding<'w> {
    /// The name of the binding.
    place: &'w str,
    /// The part of the wording that says it, with the noun that a number counts.
    part: &'w str,
}

impl AsRef<str> for WordedBinding<'_> {
    fn as_ref(&self) -> &str {
        self.part
    }
}

impl Player<'_, '_> {
    /// Says a wording of the request with another value, and takes that back.
    pub(crate) fn revise(&mut self, doc: &ScenarioGoalDoc, wording: &str) -> Result<String, PlayError> {
        let said = choose(self.list_said(doc, wording), self.rng).ok_or(PlayError::NoDetour)?;
        let Some(BoundValue::Value(value, schema)) = self.scene.held(said.place) else {
            return Err(PlayError::NoDetour);
        };
        let other = raise(value).ok_or(PlayError::NoDetour)?;
        let mut scene = self.scene.clone();
        scene.name_item(said.place, scene.shown(&other, (**schema).clone()));
        let say = |scene: &Scene, words: &str| scene.say(words).map_err(|_| PlayError::NoDetour);
        let (wrong, right) = (say(&scene, said.part)?, say(&self.scene, said.part)?);
        let request = say(&scene, wording)?;
        if wrong == right || request.split_whitespace().count() > MAX_REQUEST_WORDS {
            return Err(PlayError::NoDetour);
        }
        let revision = self.manner.hand.choose(&WORDS.revised, self.rng).ok_or(PlayError::NoDetour)?;
        let right = right.strip_prefix("on ").unwrap_or(&right);
        let between = match (request.ends_with(['.', '?', '!']), self.manner.hand) {
            (true, _) => " ",
            (false, Hand::Careful) => ". ",
            (false, Hand::Hasty) => "... ",
        };
        self.detours.push(Detour::Revised);
        Ok(format!("{request}{between}{}", fill(revision, &[("right", right)])))
    }

    /// Lists the values of a wording that a write of the goal takes: days, and numbers of things. The wording
    /// says each once.
    fn list_said<'w>(&self, doc: &'w ScenarioGoalDoc, wording: &'w str) -> Vec<WordedBinding<'w>> {
        let model = self.world.base.world();
        let writes = |name: &String| model.api_named(name).is_some_and(|id| model.api(id).writes());
        let changes = doc.does.iter().filter(|step| step.call.as_ref().is_some_and(writes) && !step.fails);
        let places = changes.flat_map(|step| step.with.values()).filter_map(|given| given.as_str());
        let said = places.filter_map(|place| {
            let BoundValue::Value(value, _) = self.scene.held(place)? else { return None };
            let part = find_part(wording, place)?;
            let part = match value {
                Value::Date(_) => part,
                Value::Integer(2..) => with_noun(wording, part)?,
                _ => return None,
            };
            Some(WordedBinding { place, part })
        });
        said.collect()
    }
}

/// Returns the next value: the one that the gate `mutation` tries in its place.
fn raise(value: &Value) -> Option<Value> {
    match value {
        Value::Date(date) => Some(Value::Date(Date(date.0.checked_add(1)?))),
        Value::Integer(number) => Some(Value::Integer(number.checked_add(1)?)),
        _ => None,
    }
}

/// Returns the part of a wording that says a binding; none if no part or several do.
fn find_part<'w>(wording: &'w str, place: &str) -> Option<&'w str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let names = |part: &&str| part.split(|letter| !is_part(letter)).any(|word| word == place);
    let begins = wording.match_indices('{').map(|(at, _)| at);
    let parts = begins.filter_map(|at| {
        let rest = wording.get(at..)?;
        rest.get(..=rest.find('}')?)
    });
    let mut found = parts.filter(names);
    let part = found.next()?;
    let own = part.trim_start_matches('{').strip_prefix(place)?;
    (found.next().is_none() && own.starts_with(['|', '}'])).then_some(part)
}

/// Returns a number with the plural noun that follows it: `{n} nights`.
fn with_noun<'w>(wording: &'w str, part: &str) -> Option<&'w str> {
    let at = wording.find(part)?;
    let rest = wording.get(at + part.len()..)?.strip_prefix(' ')?;
    let noun = rest.split(|letter: char| !letter.is_alphabetic()).next()?;
    let is_plural = noun.len() > 2 && singular(noun) != noun;
    is_plural.then(|| wording.get(at..at + part.len() + 1 + noun.len()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_only_in_exactly_one_plain_slot() {
        let check = |wording: &str, place: &str| find_part(wording, place).map(str::to_owned);
        assert_eq!(check("from {day|day}, {n} nights", "day").as_deref(), Some("{day|day}"));
        assert_eq!(check("from {day|day}, {n} nights", "n").as_deref(), Some("{n}"));
        assert_eq!(check("{n} or {n}", "n"), None);
        assert_eq!(check("{n} {% if n == 1 %}night{% endif %}", "n"), None);
        assert_eq!(check("{n.name}", "n"), None);
        assert_eq!(check("nothing", "n"), None);
    }

    #[test]
    fn a_correction_repeats_the_number_with_its_noun() {
        assert_eq!(with_noun("for {n} nights, please", "{n}"), Some("{n} nights"));
        assert_eq!(with_noun("for {n} people", "{n}"), Some("{n} people"));
        assert_eq!(with_noun("for {n} on Friday", "{n}"), None);
        assert_eq!(with_noun("we are {n}", "{n}"), None);
    }
}
