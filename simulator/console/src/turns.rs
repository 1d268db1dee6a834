//! Owns the conversation in the form that the console shows: turns of a row or an episode, with the sources
//! of arguments and facts.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::pieces::{cell, json_block, prose, short, status_class, text_block};

/// Maximum length of a JSON text that is indented, in characters.
const MAX_INDENTED_CHARS: usize = 200_000;

/// Turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// A message.
    Message {
        /// Author of the message.
        speaker: Speaker,
        /// Words of the message.
        text: String,
        /// Remark on the message, such as that it is no training target.
        remark: Option<String>,
    },
    /// A call and its reply.
    Call(CallTurn),
    /// Facts that the assistant states, with their sources.
    Facts(Vec<Argument>),
    /// An event beside the conversation: a prompt, a refused action.
    Note {
        /// Title of a few words.
        title: String,
        /// The whole text.
        text: String,
    },
}

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The author of the system message.
    System,
    /// The user.
    User,
    /// The agent under test.
    Assistant,
}

/// Call with its reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTurn {
    /// Name of the API.
    pub api: String,
    /// Arguments with their sources.
    pub arguments: Vec<Argument>,
    /// Status of the reply, if it is known.
    pub status: Option<u16>,
    /// Reply as JSON text, or as another text.
    pub reply: String,
    /// Remark on the call, such as that it is an avoidable error.
    pub remark: Option<String>,
}

/// Named value with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Name of the value.
    pub name: String,
    /// The value, or none if several values have this source.
    pub value: Option<Json>,
    /// Source of the value, if it is known.
    pub source: Option<Source>,
}

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Description of a few words: `user, turn 2, verbatim`.
    pub origin: String,
    /// Words or value from which it was taken, if there are any.
    pub quote: Option<String>,
    /// Position of the turn that shows it.
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

/// Renders a conversation as a list. `prefix` distinguishes its anchors from those of another conversation on
/// the page.
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
    // The sources of what an agent sent are unknown.
    let has_sources = arguments.iter().any(|argument| argument.source.is_some());
    html! {
        table.fields {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Value" } @if has_sources { th scope="col" { "Source" } } } }
            tbody {
                @for argument in arguments {
                    tr {
                        th scope="row" { (short(&argument.name)) }
                        td { @if let Some(value) = &argument.value { (cell(value)) } @else { span.none { "several" } } }
                        @if has_sources {
                            td { @if let Some(source) = &argument.source { (source_link(prefix, source)) } @else { span.none { "unknown" } } }
                        }
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
