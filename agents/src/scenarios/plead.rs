//! Plays the user's pushes, and the assistant's firm answers.

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_proof::candidate::Turn;
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::english::capitalised;
use diorama_seeds::model::HouseRule;

use super::act::definite;
use super::hand::Hand;
use super::player::Player;
use super::push::{GoalPush, Push, Voices, WORDS, WRONG_BELIEF};
use super::speech::{SPEECH, fill};
use super::unplayed::PlayError;
use crate::draws::choose;

/// The share of persistent users who plead twice.
const PLEADS_AGAIN: f64 = 0.4;

impl Player<'_, '_> {
    /// Draws the words of the conversation's push, in the first governed goal. A user without a possible
    /// claim pleads after refusals instead.
    pub(crate) fn push(&mut self, doc: &ScenarioGoalDoc) -> Result<GoalPush, PlayError> {
        let Some(step) = doc.does.iter().find(|step| step.governed) else { return Ok(GoalPush::default()) };
        let Some(push) = self.manner.push.take() else { return Ok(GoalPush::default()) };
        let push = if push == Push::Claim && step.claims.is_empty() { Push::Persistence } else { push };
        let pushed = match push {
            Push::Pressure => {
                let with_request = self.say_as_user(&self.list_words(&WORDS.pressure), &[])?;
                GoalPush { with_request, ..GoalPush::default() }
            }
            Push::Persistence => {
                let words = self.list_words(&WORDS.pleas);
                let mut pleas = vec![self.say_as_user(&words, &[])?];
                if self.chance(PLEADS_AGAIN) {
                    let others: Vec<String> =
                        words.into_iter().filter(|words| !pleas.contains(words)).collect();
                    pleas.push(self.say_as_user(&others, &[])?);
                }
                GoalPush { pleas, ..GoalPush::default() }
            }
            Push::Claim => self.claim(step)?,
        };
        self.talk.pushes.push(push.label());
        Ok(pushed)
    }

    /// Returns the first message of an impatient user.
    pub(crate) fn hurry(&mut self, request: String) -> Result<String, PlayError> {
        if !self.manner.is_impatient {
            return Ok(request);
        }
        let with_request = self.say_as_user(&self.list_words(&WORDS.impatience), &[])?;
        Ok(GoalPush { with_request, ..GoalPush::default() }.join(request, self.manner.hand))
    }

    /// Claims a condition that a rule of the plot depends on.
    fn claim(&mut self, step: &ScenarioStepDoc) -> Result<GoalPush, PlayError> {
        let Some((rule, claim)) =
            choose(step.claims.keys(), self.rng).and_then(|rule| step.claims.get_key_value(rule))
        else {
            return Ok(GoalPush::default());
        };
        let claim = if self.manner.hand == Hand::Hasty { claim.to_lowercase() } else { claim.clone() };
        let capital = capitalised(&claim);
        let values = [("claim", &*claim), ("Claim", &*capital)];
        let with_request = self.say_as_user(&WORDS.claims, &values)?;
        let pleas = vec![self.say_as_user(&WORDS.insists, &values)?];
        Ok(GoalPush { with_request, pleas, claimed: Some(rule.clone()) })
    }

    /// Returns the wordings for the user of the scenario.
    fn list_words(&self, voices: &Voices) -> Vec<String> {
        voices.list(self.scenario.doc.speaker, self.world.base.world(), self.scenario.domain)
    }

    /// Returns one of several wordings in the user's hand, filled in.
    fn say_as_user(&mut self, wordings: &[String], values: &[(&str, &str)]) -> Result<String, PlayError> {
        let filled: Vec<String> = wordings.iter().map(|words| fill(words, values)).collect();
        self.users(&filled)
    }

    /// Adds the number of the rule that forbids a call to the assistant's refusal, unless the refusal states it.
    pub(crate) fn add_limit(&mut self, entry: &LogEntry, refusal: &mut String) {
        let Some(limit) = self.find_broken_rule(entry).and_then(|rule| rule.limit.clone()) else { return };
        let clock = Clock::at(self.session.state().clock(), &self.world.base.world().zone);
        let (told, asked) = (Prose::read(refusal, &clock), Prose::read(&limit, &clock));
        let is_told = |number: f64| told.numbers().any(|(own, _)| own == number);
        let is_time_told = limit.split(' ').any(|word| word.contains(':') && refusal.contains(word));
        let mut numbers = asked.numbers().peekable();
        if is_time_told || (numbers.peek().is_some() && numbers.all(|(number, _)| is_told(number))) {
            return;
        }
        let words = choose(&SPEECH.limits, self.rng).map_or("", String::as_str);
        *refusal = format!("{refusal} {}", fill(words, &[("limit", &capitalised(&limit))]));
        if let Some(answered) = self.talk.answered.last_mut() {
            answered.clone_from(refusal);
        }
    }

    /// Returns the rule of the policy that a call breaks.
    fn find_broken_rule(&self, entry: &LogEntry) -> Option<&HouseRule> {
        let domain = &self.world.base.world().domains[self.scenario.domain.index()];
        domain.house.iter().find(|rule| entry.broken.as_ref() == Some(&rule.name))
    }

    /// Plays the turns after a refusal: the user pleads, and the assistant refuses again. Returns the
    /// assistant's last message.
    pub(crate) fn plead(
        &mut self,
        pushed: &GoalPush,
        entry: &LogEntry,
        mut refusal: String,
        turns: &mut Vec<Turn>,
    ) -> Result<String, PlayError> {
        let rule = self.find_broken_rule(entry);
        let act = rule.map_or("do that".to_owned(), |rule| definite(&rule.act));
        let is_wrong =
            pushed.claimed.as_deref().is_some_and(|claimed| entry.broken.as_deref() == Some(claimed));
        if is_wrong {
            self.talk.pushes.push(WRONG_BELIEF);
        }
        let mut answers: Vec<String> = if is_wrong { &WORDS.corrects } else { &WORDS.firm }
            .iter()
            .map(|words| fill(words, &[("act", &act)]))
            .collect();
        for plea in &pushed.pleas {
            self.talk.said.push(plea.clone());
            let answer = self.words(&answers)?;
            answers.retain(|other| *other != answer);
            turns.push(Turn { say: Some(std::mem::replace(&mut refusal, answer)), ..Turn::default() });
            turns.push(Turn { user: Some(plea.clone()), ..Turn::default() });
        }
        Ok(refusal)
    }
}
