//! Owns the parsing of a reply's body. It accepts the differences between servers, and refuses bodies that
//! hold no usable reply.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::chat::{ChatReply, FinishReason, ToolCall, Usage};
use crate::error::ChatError;

/// Maximum number of characters of a server's message that an error repeats.
const MAX_SHOWN_CHARS: usize = 300;

#[derive(Deserialize)]
struct Completion {
    choices: Option<Vec<Choice>>,
    usage: Option<ReplyUsage>,
    model: Option<String>,
    error: Option<Json>,
}

#[derive(Deserialize)]
struct Choice {
    message: ReplyMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<String>,
    reasoning_content: Option<String>,
    /// Name of `reasoning_content` in newer servers.
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<ReplyToolCall>>,
}

#[derive(Deserialize)]
struct ReplyToolCall {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: Option<Json>,
}

#[derive(Deserialize)]
struct ReplyUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// Parses the body of a reply with a success status.
pub(super) fn parse(text: &str) -> Result<ChatReply, ChatError> {
    let completion: Completion = serde_json::from_str(text).map_err(|error| {
        let what = if error.is_eof() { "cut short" } else { "something else" };
        ChatError::unreadable(format_args!("{what} ({error}): {}", short(text)))
    })?;
    if let Some(error) = completion.error.filter(|error| !error.is_null()) {
        return Err(ChatError::unreadable(format_args!("an error ({})", short(&words(&error)))));
    }
    let usage = completion.usage.and_then(|counted| {
        Some(Usage { input_tokens: counted.prompt_tokens?, output_tokens: counted.completion_tokens? })
    });
    let Some(choice) = completion.choices.unwrap_or_default().into_iter().next() else {
        return Err(ChatError::LostReply {
            found: "the reply has no choices, expected one".to_owned(),
            usage,
        });
    };
    let said = choice.message;
    Ok(ChatReply {
        content: said.content.unwrap_or_default(),
        reasoning_content: said.reasoning_content.or(said.reasoning).filter(|text| !text.is_empty()),
        refusal: said.refusal.filter(|text| !text.is_empty()),
        tool_calls: said.tool_calls.unwrap_or_default().into_iter().enumerate().map(call).collect(),
        finish_reason: finish_reason(choice.finish_reason),
        usage,
        model: completion.model.unwrap_or_default(),
    })
}

fn call((at, called): (usize, ReplyToolCall)) -> ToolCall {
    let arguments = match called.function.arguments {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text,
        // Some servers send an object instead of a string that holds JSON.
        Some(other) => other.to_string(),
    };
    let id = called.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{at}"));
    ToolCall { id, name: called.function.name, arguments }
}

fn finish_reason(reason: Option<String>) -> FinishReason {
    match reason.as_deref() {
        Some("stop") => FinishReason::Stop,
        Some("length") => FinishReason::Length,
        Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
        Some("content_filter") => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason.unwrap_or_default()),
    }
}

/// Refusal of a server.
pub(super) struct Refusal {
    pub(super) said: String,
    /// True if the account has no credit left, so that waiting does not help.
    pub(super) out_of_credit: bool,
}

/// Parses the body of a refusal, of any shape.
pub(super) fn refusal(text: &str) -> Refusal {
    let body = serde_json::from_str::<Json>(text).unwrap_or_default();
    let code = &body["error"]["code"];
    let said = match &body {
        Json::Null => text.to_owned(),
        body => words(body.get("error").unwrap_or(body)),
    };
    let said = if said.trim().is_empty() { "no reason given".to_owned() } else { short(&said) };
    Refusal { said, out_of_credit: code == "insufficient_quota" || code == "billing_hard_limit_reached" }
}

/// Returns the message of an error, which servers put into different members.
fn words(error: &Json) -> String {
    let of = |name: &str| error.get(name).and_then(Json::as_str);
    let found = error.as_str().or_else(|| of("message")).or_else(|| of("detail"));
    found.map_or_else(|| error.to_string(), str::to_owned)
}

/// Returns the start of a text, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start: String = line.chars().take(MAX_SHOWN_CHARS).collect();
    if start.len() < line.len() { format!("{start} ...") } else { start }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_one(message: Json) -> ChatReply {
        let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
        let body = json!({ "id": "x", "model": "m-1", "choices": [choice], "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 } });
        parse(&body.to_string()).unwrap()
    }

    #[test]
    fn a_reply_is_read_whole() {
        let function = json!({ "name": "GetTime", "arguments": "{\"zone\":1}" });
        let message = json!({
            "role": "assistant", "content": null, "reasoning": "hm", "refusal": null,
            "tool_calls": [{ "id": "c9", "type": "function", "function": function }],
        });
        let call = ToolCall {
            id: "c9".to_owned(),
            name: "GetTime".to_owned(),
            arguments: "{\"zone\":1}".to_owned(),
        };
        let expect = ChatReply {
            content: String::new(),
            reasoning_content: Some("hm".to_owned()),
            refusal: None,
            tool_calls: vec![call],
            finish_reason: FinishReason::ToolCalls,
            usage: Some(Usage { input_tokens: 9, output_tokens: 4 }),
            model: "m-1".to_owned(),
        };
        assert_eq!(read_one(message), expect);
    }

    #[test]
    fn what_servers_spell_differently_is_read_alike() {
        let calls = json!([{ "function": { "name": "A", "arguments": { "n": 1 } } }, { "id": "", "function": { "name": "B" } }]);
        let reply = read_one(
            json!({ "content": "", "reasoning_content": "first", "reasoning": "second", "tool_calls": calls }),
        );
        assert_eq!(reply.reasoning_content.as_deref(), Some("first"));
        let calls: Vec<_> =
            reply.tool_calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("call_0", "A", "{\"n\":1}"), ("call_1", "B", "")]);
        let bare = parse(r#"{"choices":[{"message":{"content":"hi"}}]}"#).unwrap();
        assert_eq!((bare.usage, bare.finish_reason), (None, FinishReason::Other(String::new())));
    }

    #[test]
    fn what_is_no_reply_is_said() {
        let found = |text: &str| parse(text).unwrap_err().to_string();
        assert!(
            found("{\"choices\": [{").starts_with("the reply is cut short (EOF"),
            "{}",
            found("{\"choices\": [{")
        );
        assert!(found("<html>hello").starts_with("the reply is something else (expected value"));
        assert!(
            found(r#"{"error": {"message": "overloaded"}}"#)
                .starts_with("the reply is an error (overloaded)")
        );
        assert_eq!(found(r#"{"choices": []}"#), "the reply has no choices, expected one");
    }

    #[test]
    fn the_words_of_a_refusal_are_found_in_any_shape() {
        let check = |text: &str, expect: &str| assert_eq!(refusal(text).said, expect);
        check(r#"{"error": {"message": "no such model", "code": 404}}"#, "no such model");
        check(r#"{"error": "no such\n model"}"#, "no such model");
        check(r#"{"object": "error", "message": "too long"}"#, "too long");
        check(r#"{"detail": "Not Found"}"#, "Not Found");
        check("Bad Gateway", "Bad Gateway");
        check("", "no reason given");
        assert!(refusal(r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#).out_of_credit);
    }
}
