//! Makes the assistant search the articles of a policy for the deciding one before it acts or refuses.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_grade::has_read_all;
use diorama_seeds::doc::ScenarioStepDoc;
use diorama_seeds::english::split_identifier;
use diorama_seeds::model::{ApiId, Articles, World};
use diorama_seeds::task::Call;
use indexmap::IndexMap;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value as Json};

use super::player::{GoalTurns, Player};
use super::unplayed::PlayError;

/// The fewest letters of a search word.
const MIN_QUERY_LETTERS: usize = 4;

impl Player<'_, '_> {
    /// Searches the articles that govern the calls of a step, if the policy stands in articles that were not
    /// read yet.
    ///
    /// # Errors
    /// Returns an error if no word finds them.
    pub(crate) fn read_policy(
        &mut self,
        step: &ScenarioStepDoc,
        told: &mut GoalTurns,
    ) -> Result<(), PlayError> {
        let model = self.world.base.world();
        let domain = self.scenario.domain;
        let Some(search) = model.policy_search(domain).filter(|_| self.scenario.doc.policy) else {
            return Ok(());
        };
        let names = std::iter::once(step).chain(&step.together).filter_map(|call| call.call.as_deref());
        for api in names.filter_map(|name| model.api_named(name)) {
            if has_read_all(&self.world.base, api, &self.calls.made) {
                continue;
            }
            // A session answers no call of a tool that was not found.
            let tool = &model.api(search).name;
            if !self.find(tool, &mut told.turns) {
                return Err(PlayError::NotFound(tool.to_string()));
            }
            let query = self.choose_query(api, search)?;
            let parameter = model.api(search).parameters.first().map(|parameter| parameter.name.to_string());
            let with = parameter.into_iter().map(|name| (name, Json::from(format!("'{query}'"))));
            let step = ScenarioStepDoc {
                call: Some(model.api(search).name.to_string()),
                with: with.collect::<IndexMap<_, _>>(),
                ..ScenarioStepDoc::default()
            };
            self.calls(&step, &mut told.turns)?;
            self.talk.searches_policy = true;
        }
        Ok(())
    }

    /// Chooses a word that finds the articles which govern an API: one of the user's, else one of the API's name.
    fn choose_query(&mut self, api: ApiId, search: ApiId) -> Result<String, PlayError> {
        let model = self.world.base.world();
        let said: BTreeSet<String> = self.talk.said.iter().flat_map(|said| words(said)).collect();
        let parameter = model.api(search).parameters.first();
        let finds = |word: &&String| {
            let arguments: Map<String, Json> =
                parameter.map(|own| (own.name.to_string(), Json::from(word.as_str()))).into_iter().collect();
            let call = Call { api: model.api(search).name.to_string(), arguments };
            let mut log: Vec<Arc<LogEntry>> = self.calls.made.clone();
            log.push(self.session.fork().call(&call));
            has_read_all(&self.world.base, api, &log)
        };
        let topics = topics(model, search);
        let (named, others): (Vec<&String>, Vec<&String>) =
            said.iter().filter(finds).partition(|word| topics.contains(*word));
        let of_tool: BTreeSet<String> =
            split_identifier(&model.api(api).name).iter().flat_map(|word| words(word)).collect();
        let of_tool: Vec<&String> = of_tool.iter().filter(finds).collect();
        let fitting =
            [named, others, of_tool].into_iter().find(|fitting| !fitting.is_empty()).unwrap_or_default();
        let chosen = fitting.choose(self.rng).map(|word| (*word).clone());
        chosen.ok_or_else(|| PlayError::NotFound("the article of the policy".to_owned()))
    }
}

/// Returns the words of a text that can be search words, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    words.filter(|word| word.chars().count() >= MIN_QUERY_LETTERS).map(str::to_lowercase)
}

/// Returns the words of the titles of articles.
fn topics(model: &World, search: ApiId) -> BTreeSet<String> {
    let articles: Option<Articles> = model.domains[model.api(search).domain.index()].articles;
    let titles = articles.into_iter().flat_map(|articles| {
        let described = model.resource(articles.resource);
        let title = described.display;
        described.records.iter().filter_map(move |record| record.get(title?.index())?.as_str())
    });
    titles.flat_map(words).collect()
}
