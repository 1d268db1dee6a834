//! Writes scenarios by rule, for APIs without authored ones.
//!
//! An API's parameters and phrases give the records and values of a request, the calls that find their keys,
//! and the wordings. Each scenario is tried in a world before it is kept, and passes the gates as any other.

mod author;
mod changes;
mod echoes;
mod finding;
mod follow;
mod latest;
mod lists;
mod objects;
mod pick;
mod questions;
mod shape;
mod sketch;
mod spoken;
mod values;
mod wording;
mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Ability;
use diorama_seeds::world::{Finding, Report};
use rayon::prelude::*;

pub(crate) use self::author::SAYS_CODE;
pub(crate) use self::echoes::echoes_other_value;
use self::shape::Shape;
pub use self::writer::RuleScenario;
use self::writer::Writer;
use super::Shares;
use crate::worlds::error::PipelineError;
use crate::worlds::make::make_world;
use crate::worlds::world::WorldTemplate;

/// Adds scenarios to the template for the abilities that its own ones do not exercise.
///
/// # Errors
/// Returns an error if the world for trying scenarios cannot be made.
pub fn complete(
    mut template: Arc<WorldTemplate>,
    shares: &Shares,
    abilities: &[Ability],
) -> Result<Arc<WorldTemplate>, Report> {
    if abilities.iter().all(|ability| template.scenario_set.has_any(*ability)) {
        return Ok(template);
    }
    let (written, unwritten) = scenarios(&template)?;
    if let Some(template) = Arc::get_mut(&mut template) {
        let written = written.into_iter().map(|one| (one.doc, one.domain, one.weight, one.api));
        template.scenario_set.add_written(written, unwritten, template.source.world());
        template.scenario_set.weigh(shares, abilities);
    }
    Ok(template)
}

/// Returns scenarios for the APIs of a world, and the reason for each API without any.
///
/// # Errors
/// Returns an error if the world for trying them cannot be made.
pub fn scenarios(
    template: &Arc<WorldTemplate>,
) -> Result<(Vec<RuleScenario>, BTreeMap<ApiId, String>), Report> {
    let trial = make_world(template, 0).map_err(|error| match error {
        PipelineError::World(report) => report,
        other => Report::one(&template.name, Finding::error("", other.to_string(), "mend the world")),
    })?;
    let writer = Writer { trial: &trial };
    let apis: Vec<ApiId> = writer.world().api_ids().collect();
    let of_apis: Vec<Result<Vec<RuleScenario>, String>> =
        apis.par_iter().map(|api| author::write(&writer, *api)).collect();
    let (mut written, mut unwritten) = (Vec::new(), BTreeMap::new());
    for (api, of_api) in apis.into_iter().zip(of_apis) {
        match of_api {
            Ok(of_api) => written.extend(of_api),
            Err(reason) => _ = unwritten.insert(api, reason),
        }
    }
    weigh(&mut written);
    Ok((written, unwritten))
}

/// Gives each shape its share; APIs share that evenly, and scenarios of an API, too.
fn weigh(written: &mut [RuleScenario]) {
    let mut counts: BTreeMap<(Shape, ApiId), f64> = BTreeMap::new();
    for one in written.iter() {
        *counts.entry((one.shape, one.api)).or_default() += 1.0;
    }
    let apis_of = |shape: Shape| counts.keys().filter(|(of, _)| *of == shape).count() as f64;
    let apis: BTreeMap<Shape, f64> = Shape::ALL.iter().map(|shape| (*shape, apis_of(*shape))).collect();
    for one in written {
        one.weight = one.shape.share() / apis[&one.shape] / counts[&(one.shape, one.api)];
    }
}

#[cfg(test)]
mod tests;
