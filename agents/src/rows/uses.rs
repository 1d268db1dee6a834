//! Counts the APIs that a run's dialogues call, and explains missing ones.
//!
//! The explanation is static: it uses the world before a row is made. It serves a table that `generate`
//! prints, and decides nothing.

use std::collections::BTreeMap;

use diorama_seeds::model::{Api, ApiId};
use serde::Serialize;

use crate::worlds::world::WorldTemplate;

/// An API and the dialogues that call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Use {
    /// The name of the domain.
    pub domain: String,
    /// The name of the API.
    pub api: String,
    /// The number of dialogues that call it.
    pub dialogues: u64,
    /// For an API that no dialogue calls: the reason, and the addition that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Returns the APIs of the world templates, with the dialogues that call each, by source (`domain.Api`).
/// An API that occurs in several world templates counts once.
#[must_use]
pub fn uses<'a>(
    world_templates: impl Iterator<Item = &'a WorldTemplate>,
    sources_called: &BTreeMap<String, u64>,
) -> Vec<Use> {
    let mut found: BTreeMap<(String, String), Use> = BTreeMap::new();
    for world_template in world_templates {
        let world = world_template.world();
        for (index, api) in world.apis.iter().enumerate() {
            let domain = world.domains[api.domain.index()].name.to_string();
            let source = match &api.source_api {
                Some(source) if source.contains('.') => source.to_string(),
                _ => format!("{domain}.{}", api.name),
            };
            let dialogues = sources_called.get(&source).copied().unwrap_or_default();
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
    let scenario_set = &world_template.scenario_set;
    let is_called = scenario_set
        .scenarios()
        .iter()
        .any(|scenario| scenario.doc.calls().any(|call| call.call.as_deref() == Some(&*api.name)));
    match scenario_set.unwritten(id) {
        _ if is_called => "its scenarios had no turn, or lost every try: see `diorama world test`".to_owned(),
        Some(reason) => format!("{reason}; or write a scenario (docs/scenarios.md)"),
        None => "no scenario calls it: write one".to_owned(),
    }
}
