//! A conversation as the console shows it: turns of a row or an episode, each argument and stated fact with its source.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::pieces::{cell, json_block, prose, short, status_class, text_block};

/// Characters of a JSON text that is indented for people.
const MAX_INDENTED_CHARS: usize = 200_000;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Words of somebody.
    Message {
        /// The author.
        speaker: Speaker,
        /// The words.
        text: String,
        /// A remark on the message, such as that nothing is learnt from it.
        remark: Option<String>,
    },
    /// A call and its reply.
    Call(CallTurn),
    /// Facts that the assistant states, with their sources.
    Facts(Vec<Argument>),
    /// An event beside the conversation: a prompt, a refused action.
    Note {
        /// A few words.
        title: String,
        /// The whole text.
        text: String,
    },
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The instructions.
    System,
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// A call and its reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTurn {
    /// The API.
    pub api: String,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The status of the reply, where it is known.
    pub status: Option<u16>,
    /// The reply: JSON text, or another text.
    pub reply: String,
    /// A remark on the call, such as that it is an avoidable error.
    pub remark: Option<String>,
}

/// A named value with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// The value; none where it stands for several.
    pub value: Option<Json>,
    /// Where it comes from, where that is known.
    pub source: Option<Source>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A few words: `user, turn 2, verbatim`.
    pub origin: String,
    /// The words or the value that it was taken from, where there are any.
    pub quote: Option<String>,
    /// The position of the turn that shows it.
    pub turn: Option<usize>,
}

impl Speaker {
    const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A conversation as a list. `prefix` tells its anchors from those of another one on the page.
pub(crate) fn conversation(prefix: &str, turns: &[Turn]) -> Markup {
    html! {
        ol.conversation {
            @for (position, turn) in turns.iter().enumerate() {
                li id=(anchor(prefix, position)) { (one_turn(prefix, turn)) }
            }
        }
    }
}

fn anchor(prefix: &str, position: usize) -> String {
    format!("{prefix}-{}", position + 1)
}

fn one_turn(prefix: &str, turn: &Turn) -> Markup {
    match turn {
        Turn::Message { speaker, text, remark } => html! {
            div.said.(speaker.name()) {
                p.speaker { (speaker.name()) @if let Some(remark) = remark { " · " (remark) } }
                @if *speaker == Speaker::System { details { summary { "System message" } (prose(text)) } } @else { (prose(text)) }
            }
        },
        Turn::Call(call) => html! {
            div.called {
                p { span.speaker { "call" } " " strong { (short(&call.api)) } " "
                    @if let Some(status) = call.status { span.badge.(status_class(status)) { (status) } " " }
                    @if let Some(remark) = &call.remark { span.badge.warn { (remark) } } }
                (arguments(prefix, &call.arguments))
                details { summary { "Reply" } (reply(&call.reply)) }
            }
        },
        Turn::Facts(facts) => html! { div.called { p.speaker { "facts" } (arguments(prefix, facts)) } },
        Turn::Note { title, text } => {
            html! { details.note { summary { (short(title)) } (text_block(title, text)) } }
        }
    }
}

fn reply(text: &str) -> Markup {
    let json = (text.len() <= MAX_INDENTED_CHARS).then(|| serde_json::from_str::<Json>(text).ok()).flatten();
    json.map_or_else(|| text_block("Reply", text), |json| json_block("Reply", &json))
}

fn arguments(prefix: &str, arguments: &[Argument]) -> Markup {
    if arguments.is_empty() {
        return html! {};
    }
    html! {
        table.fields {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Value" } th scope="col" { "Source" } } }
            tbody {
                @for argument in arguments {
                    tr {
                        th scope="row" { (short(&argument.name)) }
                        td { @if let Some(value) = &argument.value { (cell(value)) } @else { span.none { "several" } } }
                        td { @if let Some(source) = &argument.source { (source_link(prefix, source)) } @else { span.none { "not told" } } }
                    }
                }
            }
        }
    }
}

fn source_link(prefix: &str, source: &Source) -> Markup {
    html! {
        @match source.turn {
            Some(turn) => a href=(format!("#{}", anchor(prefix, turn))) { (short(&source.origin)) },
            None => (short(&source.origin)),
        }
        @if let Some(quote) = &source.quote { " " q { (short(quote)) } }
    }
}
