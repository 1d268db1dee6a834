//! Reads lists page by page, until they show the wanted records.

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_proof::candidate::Turn;
use diorama_seeds::doc::{PageStyle, PagingMember, ScenarioStepDoc};
use diorama_seeds::model::{Api, Page, ResourceId};
use diorama_seeds::scenario::BoundValue;
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::player::Player;
use super::unplayed::PlayError;

/// The greatest number of pages that are read of one list.
const MAX_PAGES: usize = 12;

impl Player<'_, '_> {
    /// Reads a list page by page, until replies have shown the bound records that the step names.
    /// A page without any of them is marked as care, if the next page has a number.
    ///
    /// # Errors
    /// Returns an error if a call cannot be made, or the list does not show all records, or its first page shows
    /// them and a later one must.
    pub(crate) fn read_pages(
        &mut self,
        step: &ScenarioStepDoc,
        turns: &mut Vec<Turn>,
    ) -> Result<(), PlayError> {
        let world = self.world.base.world();
        let name = step.call.as_deref().unwrap_or_default();
        let api = world.api_named(name).map(|id| world.api(id));
        let Some((api, page)) = api.and_then(|api| Some((api, api.query()?.page.as_ref()?))) else {
            return Err(PlayError::Unknown(name.to_owned()));
        };
        let mut missing: Vec<(ResourceId, Value)> =
            step.until.iter().flat_map(|place| self.records(place)).collect();
        let mut next = ScenarioStepDoc { until: Vec::new(), ..step.clone() };
        for read in 1..=MAX_PAGES {
            self.calls(&next, turns)?;
            let Some(entry) = self.calls.made.last() else { break };
            let before = missing.len();
            missing.retain(|record| !shows(entry, record));
            if missing.len() == before && page.style != PageStyle::Cursor {
                let calls = turns.last_mut().into_iter().flat_map(|turn| &mut turn.calls);
                calls.for_each(|call| call.care = true);
            }
            if missing.is_empty() {
                let is_first = read == 1 && !step.care && self.manner.wish.reads_on;
                return if is_first { Err(PlayError::FirstPage) } else { Ok(()) };
            }
            let Some(value) = next_page(api, page, entry, read) else { break };
            next.say.clear();
            next.with.insert(api.parameters[page.parameter.index()].name.to_string(), value);
        }
        Err(PlayError::Unfit(format!("the list shows {}", step.until.join(", "))))
    }

    /// Returns the records of a binding.
    fn records(&self, place: &str) -> Vec<(ResourceId, Value)> {
        match self.scene.held(place) {
            Some(BoundValue::Record(resource, key)) => vec![(*resource, key.clone())],
            Some(BoundValue::Records(resource, keys)) => {
                keys.iter().map(|key| (*resource, key.clone())).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn shows(entry: &LogEntry, (of, record): &(ResourceId, Value)) -> bool {
    entry.reply.body.values().any(|(_, origin)| {
        matches!(origin, Origin::Field { resource, key, .. } if resource == of && key == record)
    })
}

/// Returns the argument for the page after `read` pages; none without another page.
fn next_page(api: &Api, page: &Page, entry: &LogEntry, read: usize) -> Option<Json> {
    let size = page.size as usize;
    if entry.reply.total? <= read * size {
        return None;
    }
    let number = match page.style {
        PageStyle::Page => read + usize::from(page.first),
        PageStyle::Offset => read * size + usize::from(page.first),
        PageStyle::Cursor => {
            let (_, name) = api.reply.paging.iter().find(|(member, _)| *member == PagingMember::Next)?;
            let body = api
                .reply
                .envelope
                .as_ref()
                .map_or(Some(&entry.reply.body), |envelope| entry.reply.body.member(envelope));
            let cursor = body?.member(name).and_then(Body::value)?.as_str()?.to_owned();
            return Some(Json::from(format!("'{cursor}'")));
        }
    };
    Some(Json::from(number))
}
