//! Which APIs a run's dialogues call, and why some are called in none.
//!
//! Static: what can be said of a world before a row is made. It explains a table that `generate` prints; it decides
//! nothing.

use std::collections::BTreeMap;

use diorama_proof::survey::reads;
use diorama_seeds::model::{Api, ApiId, BehaviourKind};
use serde::Serialize;

use super::world::WorldTemplate;

/// An API and the dialogues that call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Use {
    /// The domain.
    pub domain: String,
    /// The API.
    pub api: String,
    /// Dialogues.
    pub dialogues: u64,
    /// For an API that none calls: why, and what to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The APIs of the world templates, with the dialogues that call each; those that occur in several world templates are one.
#[must_use]
pub fn uses<'a>(
    world_templates: impl Iterator<Item = &'a WorldTemplate>,
    calls: &BTreeMap<String, u64>,
) -> Vec<Use> {
    let mut found: BTreeMap<(String, String), Use> = BTreeMap::new();
    for world_template in world_templates {
        let world = world_template.world();
        for (index, api) in world.apis.iter().enumerate() {
            let domain = world.domains[api.domain.index()].name.to_string();
            let dialogues = calls.get(&*api.name).copied().unwrap_or_default();
            let why = (dialogues == 0).then(|| why(world_template, ApiId(index as u16), api));
            found.entry((domain.clone(), api.name.to_string())).or_insert_with(|| Use {
                domain,
                api: api.name.to_string(),
                dialogues,
                why,
            });
        }
    }
    found.into_values().collect()
}

fn why(world_template: &WorldTemplate, id: ApiId, api: &Api) -> String {
    if world_template.scenario_set.scenarios().iter().any(|scenario| scenario.domain == api.domain) {
        let called = world_template
            .scenario_set
            .scenarios()
            .iter()
            .any(|scenario| scenario.doc.calls().any(|call| call.call.as_deref() == Some(&*api.name)));
        return match called {
            true => "its scenarios lost every try: see `diorama world test`".to_owned(),
            false => "no scenario calls it: write one".to_owned(),
        };
    }
    if matches!(api.behaviour.kind, BehaviourKind::SignOut) {
        return "the offline authors never sign anybody out: write a scenario".to_owned();
    }
    let words = world_template.guide.api(id);
    if words.unasked {
        return "it is not asked for: its `phrases` say so".to_owned();
    }
    let lists = matches!(
        api.behaviour.kind,
        BehaviourKind::List(_) | BehaviourKind::Members { .. } | BehaviourKind::Aggregate { .. }
    );
    if lists && words.noun.is_empty() && words.request.is_empty() {
        return "it has no words: give it `phrases.noun`".to_owned();
    }
    if !reads(api) && words.imperative.is_empty() && words.request.is_empty() {
        return "it has no words: give it `phrases.do` or `phrases.request`".to_owned();
    }
    "no request for it passed the gates: write a scenario, which says how it is used".to_owned()
}
