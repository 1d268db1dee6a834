//! Asks for the consent that a rule of the policy requires: the question states the values that the rule
//! lists.

use diorama_engine::{Holder, NeededConsent, StatedValue};
use diorama_proof::candidate::Turn;
use diorama_seeds::model::ApiId;
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;

use super::act::{definite, value_phrase};
use super::player::Player;
use super::speech::{SPEECH, fill};
use super::steps::StepCall;
use super::unplayed::PlayError;
use super::words::only_currency;
use crate::draws::choose;

impl Player<'_, '_> {
    /// Asks the user for consent to the calls of a step, if a rule of the told policy requires that. Returns
    /// true if it does.
    pub(crate) fn confirm(
        &mut self,
        calls: &[StepCall<'_>],
        turns: &mut Vec<Turn>,
    ) -> Result<bool, PlayError> {
        if !self.scenario.doc.policy {
            return Ok(false);
        }
        let mut session = self.session.fork();
        let mut needed: Vec<(ApiId, NeededConsent)> = Vec::new();
        for (step, item) in calls {
            if let Some((name, item)) = item {
                self.scene.name_item(name, item.clone());
            }
            let call = self.make_call(step)?;
            let entry = session.call(&(&call).into());
            needed.extend(entry.api.zip(entry.needs.clone()));
        }
        let Some((_, first)) = needed.first() else { return Ok(false) };
        let domain = &self.world.base.world().domains[self.scenario.domain.index()];
        let rule = domain.house.iter().find(|rule| rule.name == first.rule);
        let act = rule.map_or("do that".to_owned(), |rule| definite(&rule.act));
        let values: Vec<String> = needed.iter().map(|(api, needed)| self.state(*api, needed)).collect();
        let words = choose(&SPEECH.confirmations, self.rng).map_or("", String::as_str);
        let question = fill(words, &[("act", &act), ("values", &values.join("; "))]);
        let answer = self.users(&SPEECH.consents)?;
        self.talk.answered.push(question.clone());
        self.talk.said.push(answer.clone());
        self.talk.assurance.has_consent = true;
        self.talk.has_asked = true;
        turns.push(Turn { say: Some(question), confirms: calls.len(), ..Turn::default() });
        turns.push(Turn { user: Some(answer), ..Turn::default() });
        Ok(true)
    }

    /// States the values that a rule lists: `start 25 September at 14:30, treatment filling`.
    fn state(&self, api: ApiId, needed: &NeededConsent) -> String {
        let model = self.world.base.world();
        let schema = |stated: &StatedValue| match (stated.holder, &stated.value) {
            (Holder::Field(resource, field), _) => model.resource(resource).field(field).schema.clone(),
            (Holder::Parameter(parameter), _) => model.api(api).parameters[parameter.index()].schema.clone(),
            // A calculated amount has the currency of the domain.
            (Holder::Nothing, Value::Decimal(decimal)) => {
                let domain = model.api(api).domain;
                let currency = only_currency(model.resources.iter().filter(|of| of.domain == domain));
                Schema::of(Type::Decimal { scale: decimal.scale, currency: currency.map(Into::into) })
            }
            (Holder::Nothing, _) => Schema::of(Type::Any),
        };
        let known = needed.state.iter().filter(|stated| !stated.value.is_missing());
        let stated =
            known.map(|stated| value_phrase(&stated.noun, &self.scene.spell(&stated.value, schema(stated))));
        stated.collect::<Vec<_>>().join(", ")
    }
}
