//! Adds look-ups that no scenario states: the assistant finds a record with an unknown key by its name.

use diorama_seeds::doc::ScenarioStepDoc;
use diorama_seeds::english::has_words;
use diorama_seeds::model::{ApiId, ParameterId, ResourceId};
use diorama_seeds::scenario::{BoundValue, Scenario};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::player::{GoalTurns, Player};
use super::unplayed::PlayError;
use crate::worlds::world::BatchWorld;

impl Player<'_, '_> {
    /// Finds the records of a step's calls whose keys neither a reply nor the user gave, if an API finds them
    /// by name.
    pub(crate) fn look_up(&mut self, step: &ScenarioStepDoc, told: &mut GoalTurns) -> Result<(), PlayError> {
        let calls = std::iter::once(step).chain(&step.together);
        let places = calls.flat_map(|call| call.with.values()).filter_map(Json::as_str);
        for place in places {
            let Some(BoundValue::Record(resource, key)) = self.scene.held(place).cloned() else { continue };
            if self.is_shown(&key) {
                continue;
            }
            let Some(look_up) = self.finder(place, resource) else { continue };
            self.sign_in(&look_up, told)?;
            self.calls(&look_up, &mut told.turns)?;
        }
        Ok(())
    }

    /// Returns true if a reply or the user gave a key.
    fn is_shown(&self, key: &Value) -> bool {
        let text = key.to_text(&self.world.base.world().zone);
        let in_reply = |entry: &std::sync::Arc<diorama_engine::session::LogEntry>| {
            entry.reply.body.values().any(|(value, _)| value == key)
        };
        self.calls.made.iter().any(in_reply) || self.talk.said.iter().any(|said| has_words(said, &text))
    }

    /// Returns the call that finds a record's key by its name alone.
    fn finder(&self, place: &str, resource: ResourceId) -> Option<ScenarioStepDoc> {
        let model = self.world.base.world();
        let described = model.resource(resource);
        let display = described.display.filter(|display| *display != described.key)?;
        let (finder, by) = finder(self.world, resource)?;
        let api = model.api(finder);
        let parameter = &api.parameters[by.index()].name;
        let name = Json::from(format!("{place}.{}", described.field(display).name));
        Some(ScenarioStepDoc {
            call: Some(api.name.to_string()),
            with: [(self.scene.casing().read(parameter).into_owned(), name)].into_iter().collect(),
            ..ScenarioStepDoc::default()
        })
    }
}

/// Returns the API that finds a record's key by its name alone, apart from a token, and the parameter for the
/// name.
fn finder(world: &BatchWorld, resource: ResourceId) -> Option<(ApiId, ParameterId)> {
    let finders = &world.world_template.survey.finders[resource.index()];
    finders.iter().find_map(|finder| {
        let needs_more = finder.needs(world.base.world().api(finder.api)).next().is_some();
        finder.by.filter(|_| !needs_more).map(|by| (finder.api, by))
    })
}

/// Returns the APIs that find the records of a scenario's calls.
pub(crate) fn finders(world: &BatchWorld, scenario: &Scenario) -> Vec<ApiId> {
    let taken = scenario.doc.calls().flat_map(|call| call.with.values()).filter_map(Json::as_str);
    let resources = taken.filter_map(|place| scenario.resource_of(place));
    resources.filter_map(|resource| finder(world, resource)).map(|(api, _)| api).collect()
}
