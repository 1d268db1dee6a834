//! Plays the calls and questions that sign the user of a scenario in.

use diorama_proof::candidate::{CandidateCall, Turn};
use diorama_seeds::doc::ScenarioStepDoc;
use diorama_seeds::model::BehaviourKind;
use diorama_seeds::scenario::BoundValue;

use super::player::{GoalTurns, Player};
use super::unplayed::PlayError;

impl Player<'_, '_> {
    /// Signs the user in, if a step's calls need it: the assistant finds the domain's sign-in,
    /// asks for the credentials, and calls it.
    pub(crate) fn sign_in(&mut self, step: &ScenarioStepDoc, told: &mut GoalTurns) -> Result<(), PlayError> {
        let model = self.world.base.world();
        let calls = std::iter::once(step).chain(&step.together);
        let mut apis = calls.filter_map(|call| model.api_named(call.call.as_deref()?));
        let Some(needing) = apis.find(|api| model.api(*api).token.is_some()) else { return Ok(()) };
        let domain = model.api(needing).domain;
        if self.token(domain).is_some() {
            return Ok(());
        }
        let nobody = || PlayError::NotSignedIn(model.api(needing).name.to_string());
        let auth = model.domains[domain.index()].auth.as_ref().ok_or_else(nobody)?;
        let Some(BoundValue::Record(of, key)) = self.scene.held("me").cloned() else { return Err(nobody()) };
        let record = self.session.state().get(&self.world.base, of, &key).filter(|_| of == auth.user);
        let record = record.cloned().ok_or_else(nobody)?;
        let sign_in = self.world.world_template.survey.sign_in(domain).ok_or_else(nobody)?;
        let BehaviourKind::SignIn { login, secret } = model.api(sign_in).behaviour.kind else {
            return Err(nobody());
        };
        let words = self.world.world_template.scenario_set.sign_in(domain).clone();
        // Only a found tool says which credentials to ask for.
        let api = model.api(sign_in);
        if !self.find(&api.name, &mut told.turns) {
            return Err(PlayError::NotFound(api.name.to_string()));
        }
        self.ask_for("sign in", &words.ask, &words.tell, told)?;
        let arguments =
            [(login, auth.login), (secret, auth.secret)].into_iter().filter_map(|(parameter, field)| {
                let value = record.get(field.index())?.to_json(&model.zone);
                Some((api.parameters[parameter.index()].name.to_string(), value))
            });
        let call = CandidateCall {
            api: api.name.to_string(),
            arguments: arguments.collect(),
            ..CandidateCall::default()
        };
        let entry = self.session.call(&(&call).into());
        if !entry.reply.is_success() {
            return Err(PlayError::Refused { api: call.api, reply: entry.reply.to_json(&model.zone) });
        }
        self.calls.made.push(entry);
        told.turns.push(Turn { calls: vec![call], ..Turn::default() });
        self.scene.set_state(self.session.state().clone());
        Ok(())
    }
}
