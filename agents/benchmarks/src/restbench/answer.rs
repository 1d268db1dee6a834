//! Answer facts: typed values from the replies of the executed gold path, which an answer must state.
//!
//! In the paper, people judge success (section 4.3). A file of queries may instead select the facts in the
//! gold path's replies. Without that, or if the path fails, success is not evaluated.

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Stance, What};
use diorama_baselines::jq::{JqRunner, Program};
use serde::Deserialize;
use serde_json::Value as Json;

/// Selects facts in a reply of the gold path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFact {
    /// Number of the call in the gold path, from 1.
    pub step: usize,
    /// A jq program that is run on its reply. Each output is a fact: a number or a string.
    pub jq: String,
}

/// A fact.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TypedFact {
    /// A number, such as a count, a duration in minutes or a rating.
    Number(f64),
    /// A name, a date or another string.
    Text(String),
}

impl AnswerFact {
    /// Checks it against the length of its gold path.
    ///
    /// # Errors
    /// Returns an error if the path has no such call, or if the program is invalid.
    pub(super) fn check(&self, length: usize) -> Result<(), String> {
        if !(1..=length).contains(&self.step) {
            return Err(format!("found the step {}, expected one of 1 to {length}", self.step));
        }
        Program::read(&self.jq).map(|_| ()).map_err(|error| format!("found the jq `{}`: {error}", self.jq))
    }

    /// Returns the facts in the replies of the gold path, or none if a reply lacks them.
    pub(super) fn read(&self, replies: &[&Json], jq: &dyn JqRunner) -> Option<Vec<TypedFact>> {
        let reply = replies.get(self.step.checked_sub(1)?)?;
        let outputs = jq.run(&Program::read(&self.jq).ok()?, reply).ok()?;
        let fact = |output: Json| match output {
            Json::Number(number) => number.as_f64().map(TypedFact::Number),
            Json::String(text) if !text.trim().is_empty() => Some(TypedFact::Text(text)),
            _ => None,
        };
        let facts: Option<Vec<TypedFact>> = outputs.into_iter().map(fact).collect();
        facts.filter(|facts| !facts.is_empty())
    }
}

/// Returns true if an answer states every fact. Facts are compared with its numbers, dates and names. A part
/// of one does not count: `2012` does not state `12`.
pub(super) fn states(answer: &str, facts: &[TypedFact], clock: &Clock) -> bool {
    let prose = Prose::read(answer, clock);
    let says = |stance: Stance| stance == Stance::Asserted;
    let states_date = |text: &str| {
        let dates = Prose::read(text, clock);
        let [wanted] = dates.mentions() else { return false };
        let What::Date(day) = &wanted.what else { return false };
        wanted.start == 0
            && wanted.end == text.len()
            && prose.mentions().iter().any(|mention| {
                matches!(&mention.what, What::Date(other) if day.meets(other, clock.today))
                    && says(mention.stance)
            })
    };
    facts.iter().all(|fact| match fact {
        TypedFact::Number(number) => {
            prose.numbers().any(|(other, span)| other == *number && says(prose.stance(span)))
        }
        TypedFact::Text(text) => {
            prose.find(text).into_iter().any(|span| says(prose.stance(span))) || states_date(text.trim())
        }
    })
}

#[cfg(test)]
mod tests {
    use diorama_baselines::jq::{JqError, evaluate};
    use diorama_seeds::value::{Date, Zone};
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_held_against_whole_mentions() {
        let clock = Clock { today: Date(20_000), zone: Zone::utc() };
        let check = |answer: &str, facts: &[TypedFact], expect: bool| {
            assert_eq!(states(answer, facts, &clock), expect, "{answer}: {facts:?}");
        };
        let number = |number| [TypedFact::Number(number)];
        let text = |text: &str| [TypedFact::Text(text.to_owned())];
        check("She directed 12 films.", &number(12.0), true);
        check("She directed twelve films.", &number(12.0), true);
        check("It came out in 2012.", &number(12.0), false);
        check("She directed 120 films, not 12.", &number(12.0), false);
        check("It was directed by Ada Byrne.", &text("Ada Byrne"), true);
        check("It was directed by Adaline Byrnes.", &text("Ada Byrne"), false);
        check("It came out on 5 May 2012.", &text("2012-05-05"), true);
        check("It came out on 5 June 2012.", &text("2012-05-05"), false);
        check("Heat and Kite", &[TypedFact::Text("Kite".into()), TypedFact::Text("Heat".into())], true);
        check("Heat", &[TypedFact::Text("Kite".into()), TypedFact::Text("Heat".into())], false);
    }

    /// Runs jq in the test itself.
    struct InProcessJq;

    impl JqRunner for InProcessJq {
        fn run(&self, program: &Program, input: &Json) -> Result<Vec<Json>, JqError> {
            evaluate(program, input)
        }
    }

    #[test]
    fn facts_are_read_from_the_replies_of_the_gold_path() {
        let credits =
            json!({"crew": [{"name": "Bo Quinn", "job": "Director"}, {"name": "Cy", "job": "Editor"}]});
        let read = |jq: &str, step: usize| {
            AnswerFact { step, jq: jq.to_owned() }.read(&[&json!({}), &credits], &InProcessJq)
        };
        let director = ".crew[] | select(.job == \"Director\") | .name";
        assert_eq!(read(director, 2), Some(vec![TypedFact::Text("Bo Quinn".to_owned())]));
        assert_eq!(read(".crew | length", 2), Some(vec![TypedFact::Number(2.0)]));
        for (jq, step) in [(".cast[0].name", 2), (director, 1), (director, 3), (".crew", 2)] {
            assert_eq!(read(jq, step), None, "{jq} of {step}");
        }
        let check = |jq: &str, step: usize| AnswerFact { step, jq: jq.to_owned() }.check(2).is_ok();
        assert!(check(director, 2) && !check(director, 0) && !check(director, 3) && !check(".crew[", 1));
    }
}
