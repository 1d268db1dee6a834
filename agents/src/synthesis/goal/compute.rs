//! Questions for figures that the world computes.

use crate::synthesis::draft::AnswerPart;
use diorama_engine::Origin;
use diorama_proof::answer::Asked;
use diorama_seeds::model::ApiId;
use diorama_seeds::value::Value;
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::values::arguments;
use super::words::template;
use super::{Goal, Mood, NoGoal, Result};
use crate::synthesis::plan::{Filled, Planner};
use crate::synthesis::text::{Segment, literal};

/// A computed or aggregated figure.
///
/// # Errors
/// [`NoGoal`] when the drawn values give no figure.
pub fn compute(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let (mood, template) = template(planner, id).ok_or(NoGoal)?;
    let Filled { segments: mut words, arguments, details } =
        planner.fill(id, &template, &values, 0.6, 0).ok_or(NoGoal)?;
    let entry = planner.call(id, arguments);
    let step = planner.steps.len() - 1;
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let figures: Vec<(String, Value)> = entry
        .reply
        .body
        .leaves()
        .filter(|(path, value, origin)| {
            matches!(origin, Origin::Computed)
                // One and two are guessed.
                && value.as_f64().is_some_and(|number| number.abs() > 2.0 || number.fract() != 0.0)
                && !path.ends_with("_id")
                && !path.contains('[')
        })
        .map(|(path, value, _)| (path, value.clone()))
        .collect();
    let (path, _) = match figures.as_slice() {
        [] => return Err(NoGoal),
        [one] => one.clone(),
        several => several.choose(planner.rng).cloned().ok_or(NoGoal)?,
    };
    let name = path.rsplit('.').next().unwrap_or(&path).replace('_', " ");
    if figures.len() > 1 || mood != Mood::Imperative || planner.rng.random_bool(0.3) {
        let ends =
            matches!(words.last(), Some(Segment::Text(text)) if text.trim_end().ends_with(['.', '?', '!']));
        let lead = ["I need the ", "Tell me the ", "What I want to know is the ", "Just give me the "];
        let lead = *lead.choose(planner.rng).unwrap_or(&"I need the ");
        words.push(literal(format!("{}{lead}{name}.", if ends { " " } else { ". " })));
    }
    let style = planner.style();
    let answer = vec![
        AnswerPart::Text(if name.ends_with('s') || name.contains("s ") {
            format!("{}: ", crate::synthesis::text::capitalised(&name))
        } else {
            format!("The {name} is ")
        }),
        AnswerPart::Leaf { call: step, path: path.clone(), style, bare: false },
        AnswerPart::Text(".".into()),
    ];
    let asked = vec![Asked::Leaf { call: step, path, about: name, several: false }];
    Ok(Goal { mood, details, ..Goal::question(id, words, asked, answer) })
}
