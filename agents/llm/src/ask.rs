//! Owns the request for a reply of a given form: it asks, parses, and asks once more with the error.

use crate::chat::{ChatReply, ChatRequest, Message};
use crate::error::ChatError;
use crate::model::{BoxFuture, ChatModel};

/// Sends a conversation to a model, and writes the prompt for a repair.
pub trait ReplySource: Send {
    /// Error if there is no reply at all.
    type Error: Send;

    /// Sends the messages and waits for the reply.
    fn send<'a>(&'a mut self, messages: &'a [Message]) -> BoxFuture<'a, Result<ChatReply, Self::Error>>;

    /// Reports that a reply cannot be used. The default does nothing.
    ///
    /// # Errors
    /// Returns an error if the conversation has to end here.
    fn note_malformed(&mut self, _problem: &str) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Returns the messages that send a reply back to the model.
    ///
    /// # Errors
    /// Returns an error if the prompt cannot be made.
    fn repair(&self, problem: &str) -> Result<Vec<Message>, Self::Error>;
}

/// A model that is asked one question.
pub struct ModelSource<'a, R> {
    /// The model.
    pub model: &'a dyn ChatModel,
    /// The request. Each attempt replaces its messages by those of the conversation.
    pub request: ChatRequest,
    /// Returns the messages that send a reply back to the model, with the given problem.
    pub repair: R,
    /// Number of replies so far.
    pub replies: u32,
}

impl<E, R> ReplySource for ModelSource<'_, R>
where
    E: From<ChatError> + Send,
    R: Fn(&str) -> Result<Vec<Message>, E> + Send,
{
    type Error = E;

    fn send<'a>(&'a mut self, messages: &'a [Message]) -> BoxFuture<'a, Result<ChatReply, E>> {
        self.request.messages = messages.to_vec();
        Box::pin(async {
            let reply = self.model.chat(&self.request).await?;
            self.replies += 1;
            Ok(reply)
        })
    }

    fn repair(&self, problem: &str) -> Result<Vec<Message>, E> {
        (self.repair)(problem)
    }
}

/// Asks a model, and parses its reply. If parsing fails, it sends the reply back once with the error. It
/// appends each message to `messages`.
///
/// The inner error describes the second reply: it was cut short or withheld, or the parser refused it.
///
/// # Errors
/// Returns an error if the model gives no reply.
pub async fn ask_and_repair<S: ReplySource, T>(
    source: &mut S,
    messages: &mut Vec<Message>,
    mut parse: impl FnMut(&ChatReply) -> Result<T, String> + Send,
) -> Result<Result<T, String>, S::Error> {
    let mut may_repair = true;
    loop {
        let reply = source.send(messages).await?;
        messages.push(Message::assistant(reply.spoken()));
        let problem = match parse(&reply) {
            Ok(value) => return Ok(Ok(value)),
            Err(problem) => reply.check_complete().err().map_or(problem, |cut| format!("{cut}; write less")),
        };
        source.note_malformed(&problem)?;
        if !may_repair {
            return Ok(Err(problem));
        }
        may_repair = false;
        messages.extend(source.repair(&problem)?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::FinishReason;

    /// Gives replies in turn, and keeps the reported problems.
    struct Script {
        replies: Vec<ChatReply>,
        noted: Vec<String>,
    }

    impl ReplySource for Script {
        type Error = String;

        fn send<'a>(&'a mut self, _: &'a [Message]) -> BoxFuture<'a, Result<ChatReply, String>> {
            let reply =
                if self.replies.is_empty() { Err("no reply".to_owned()) } else { Ok(self.replies.remove(0)) };
            Box::pin(std::future::ready(reply))
        }

        fn note_malformed(&mut self, problem: &str) -> Result<(), String> {
            self.noted.push(problem.to_owned());
            Ok(())
        }

        fn repair(&self, problem: &str) -> Result<Vec<Message>, String> {
            Ok(vec![Message::user(format!("Not so: {problem}."))])
        }
    }

    /// Asks for a number. Returns the outcome, the reported problems, and the length of the conversation.
    async fn ask(replies: Vec<ChatReply>) -> (Result<Result<u64, String>, String>, Vec<String>, usize) {
        let mut source = Script { replies, noted: Vec::new() };
        let mut messages = vec![Message::user("A number?")];
        let parse = |reply: &ChatReply| reply.spoken().parse().map_err(|_| "found no number".to_owned());
        let asked = ask_and_repair(&mut source, &mut messages, parse).await;
        (asked, source.noted, messages.len())
    }

    #[tokio::test]
    async fn a_reply_that_does_not_parse_is_sent_back_once() {
        let text = ChatReply::text;
        let no = || "found no number".to_owned();
        assert_eq!(ask(vec![text("<think>hm</think> 7")]).await, (Ok(Ok(7)), vec![], 2));
        assert_eq!(ask(vec![text("seven"), text("7")]).await, (Ok(Ok(7)), vec![no()], 4));
        let twice = ask(vec![text("seven"), text("VII"), text("7")]).await;
        assert_eq!(twice, (Ok(Err(no())), vec![no(), no()], 4));
        assert_eq!(ask(vec![text("seven")]).await, (Err("no reply".to_owned()), vec![no()], 3));
        let cut = ChatReply { finish_reason: FinishReason::Length, ..text("sev") };
        let expect = "the reply was cut short at its longest length; write less".to_owned();
        assert_eq!(ask(vec![cut, text("7")]).await, (Ok(Ok(7)), vec![expect], 4));
    }
}
