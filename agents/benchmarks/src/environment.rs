//! Owns the environment of an agent on a benchmark, without a judge.

use diorama_baselines::environment::{
    Answer, Budget, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};
use diorama_baselines::meter::Meter;
use diorama_baselines::operation::Operation;
use diorama_baselines::plan::Plan;
use diorama_baselines::question::is_question;
use diorama_baselines::trace::Note;
use diorama_seeds::task::Call;
use serde_json::Value as Json;

/// Answers an agent's calls and messages.
pub trait Counterpart: Send {
    /// Answers a call.
    ///
    /// # Errors
    /// Returns an error if the episode ends here.
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError>;

    /// Answers a message of the agent.
    fn say(&mut self, words: &str) -> Answer;

    /// Returns the JSON Schema of an API's reply.
    fn reply_schema(&self, api: &str) -> Option<Json>;

    /// Returns an API's operation in its service's OpenAPI document, if there is one.
    fn operation(&self, _api: &str) -> Option<Operation> {
        None
    }
}

/// Returns the answer of a user who has said everything. It says so after a question. Any other message ends
/// the task, even one with a closing offer.
#[must_use]
pub fn told_all(words: &str) -> Answer {
    let asks = is_question(words);
    let words = asks.then(|| "I have told you all I know.".to_owned());
    Answer { words, over: !asks, ..Answer::default() }
}

/// An environment around a counterpart.
pub struct BenchmarkEnvironment<C> {
    /// The agent's view.
    pub view: View,
    /// The counterpart.
    pub counterpart: C,
    /// Number of malformed replies of the model.
    pub malformed: u32,
    /// Reason of the agent for giving up.
    pub gave_up: Option<String>,
    /// The plans of nested calls that the agent recorded, in order.
    pub planned: Vec<Plan>,
    /// Tokens of the model.
    pub tokens: u64,
    meter: Meter,
}

impl<C: Counterpart> BenchmarkEnvironment<C> {
    /// Makes an environment with a view and a budget.
    pub fn new(view: View, counterpart: C, budget: Budget) -> Self {
        Self {
            view,
            counterpart,
            malformed: 0,
            gave_up: None,
            planned: Vec::new(),
            tokens: 0,
            meter: Meter::new(budget),
        }
    }

    fn make(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.meter.take(&self.view, true)?;
        let reply = self.counterpart.call(call)?;
        self.view.add_call(call, &reply);
        Ok(reply)
    }

    fn hear(&mut self, words: &str) -> Result<Answer, EnvironmentError> {
        self.meter.take(&self.view, false)?;
        let answer = self.counterpart.say(words);
        self.view.add_message(words, &answer);
        Ok(answer)
    }
}

impl<C: Counterpart> Environment for BenchmarkEnvironment<C> {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.meter.left()
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        Box::pin(std::future::ready(self.make(call)))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        Box::pin(std::future::ready(self.hear(words)))
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        Box::pin(std::future::ready(self.hear(&end.message)))
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        self.counterpart.reply_schema(api)
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        self.counterpart.operation(api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        match &note {
            Note::Asked(asked) => self.tokens += asked.tokens(),
            Note::Malformed { .. } => self.malformed += 1,
            Note::GaveUp { because } => self.gave_up = Some(because.clone()),
            Note::Planned { plan } => self.planned.push(plan.clone()),
            Note::FellBack { .. } => {}
        }
        self.meter.note(&note)
    }
}

#[cfg(test)]
mod tests {
    use super::told_all;

    #[test]
    fn a_closing_offer_ends_a_task_and_a_question_does_not() {
        let check = |words: &str, over: bool| {
            let answer = told_all(words);
            assert_eq!((answer.over, answer.words.is_none()), (over, over), "{words}");
        };
        check("It is Heat. Is there anything else I can help you with?", true);
        check("It is Heat.", true);
        check("Which year do you mean?", false);
    }
}
