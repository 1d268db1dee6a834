//! Owns the body of a request, in OpenAI's spelling.

use serde_json::{Value as Json, json};

use crate::chat::{ChatRequest, Identity, JsonMode, MaxTokensField, Message, OutputSchema, ToolCall};

/// Makes the body of a request. `field` holds the maximum length of the reply.
pub(super) fn make(identity: &Identity, field: MaxTokensField, request: &ChatRequest) -> Json {
    let mut messages: Vec<Json> = request.messages.iter().map(message).collect();
    let mut body = json!({ "model": identity.model, "messages": [], "stream": false });
    if let Some(schema) = &request.schema {
        match identity.json_mode {
            JsonMode::JsonSchema => body["response_format"] = json_schema(schema),
            JsonMode::JsonObject => body["response_format"] = json!({ "type": "json_object" }),
            JsonMode::None => {}
        }
        if identity.json_mode != JsonMode::JsonSchema {
            instruct(&mut messages, &schema.schema);
        }
    }
    body["messages"] = messages.into();
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| json!({ "type": "function", "function": tool }));
        body["tools"] = tools.collect();
        body["tool_choice"] = "auto".into();
    }
    let length = request.sampling.max_reply_tokens;
    match field {
        MaxTokensField::MaxCompletionTokens => body["max_completion_tokens"] = length.into(),
        MaxTokensField::MaxTokens => body["max_tokens"] = length.into(),
        MaxTokensField::None => {}
    }
    if let Some(temperature) = request.sampling.temperature {
        body["temperature"] = temperature.into();
    }
    body
}

fn message(message: &Message) -> Json {
    match message {
        Message::System { content } => json!({ "role": "system", "content": content }),
        Message::User { content } => json!({ "role": "user", "content": content }),
        Message::Assistant { content, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": content })
        }
        Message::Assistant { content, tool_calls } => {
            // An absent text beside calls is null, because several servers refuse an empty one.
            let content = if content.is_empty() { Json::Null } else { content.as_str().into() };
            let calls: Vec<Json> = tool_calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Message::Tool { tool_call_id, content } => {
            json!({ "role": "tool", "tool_call_id": tool_call_id, "content": content })
        }
    }
}

fn call(call: &ToolCall) -> Json {
    let function = json!({ "name": call.name, "arguments": call.arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// Makes the response format of a schema. Strict servers refuse bounds on lengths, which stop weak models
/// from running on. The format is therefore not strict.
fn json_schema(schema: &OutputSchema) -> Json {
    let named = json!({ "name": schema.name, "schema": schema.schema, "strict": false });
    json!({ "type": "json_schema", "json_schema": named })
}

/// Puts the schema into the first system message. Servers that cache the start of prompts can then reuse it.
fn instruct(messages: &mut Vec<Json>, schema: &Json) {
    let words = format!(
        "Answer with one JSON object and nothing else: no explanation, no code fence. It must satisfy this JSON Schema:\n{schema}"
    );
    match messages.first_mut().filter(|first| first["role"] == "system") {
        Some(first) => {
            let before = first["content"].as_str().unwrap_or_default();
            first["content"] = format!("{before}\n\n{words}").into();
        }
        None => messages.insert(0, json!({ "role": "system", "content": words })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{RequestOrigin, Sampling, Tool};

    fn identity(json_mode: JsonMode) -> Identity {
        Identity { model: "m".to_owned(), json_mode }
    }

    fn request_with_schema(messages: Vec<Message>) -> ChatRequest {
        let schema = OutputSchema { name: "domain".to_owned(), schema: json!({ "type": "object" }) };
        let request = ChatRequest::new(RequestOrigin::default(), messages, Sampling::up_to(5));
        ChatRequest { schema: Some(schema), ..request }
    }

    #[test]
    fn json_is_asked_for_in_three_ways() {
        let request = request_with_schema(vec![Message::system("Be brief."), Message::user("Go.")]);
        let check = |mode, expect: Json| {
            let body = make(&identity(mode), MaxTokensField::MaxTokens, &request);
            assert_eq!(json!([body["response_format"], body["messages"][0]["content"]]), expect);
        };
        let words = "Be brief.\n\nAnswer with one JSON object and nothing else: no explanation, no code fence. \
                     It must satisfy this JSON Schema:\n{\"type\":\"object\"}";
        let named = json!({ "name": "domain", "schema": { "type": "object" }, "strict": false });
        check(JsonMode::JsonSchema, json!([{ "type": "json_schema", "json_schema": named }, "Be brief."]));
        check(JsonMode::JsonObject, json!([{ "type": "json_object" }, words]));
        check(JsonMode::None, json!([null, words]));
        let body = make(
            &identity(JsonMode::None),
            MaxTokensField::None,
            &request_with_schema(vec![Message::user("Go.")]),
        );
        assert_eq!(body["messages"][0]["role"], "system");
        assert_eq!((&body["max_tokens"], &body["temperature"]), (&Json::Null, &Json::Null));
        assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Go." }));
    }

    #[test]
    fn a_conversation_with_tools_is_spelled_as_the_protocol_wants() {
        let call = ToolCall { id: "c1".to_owned(), name: "GetTime".to_owned(), arguments: "{}".to_owned() };
        let calling = Message::Assistant { content: String::new(), tool_calls: vec![call] };
        let messages =
            vec![Message::user("When?"), calling, Message::tool("c1", "09:00"), Message::assistant("Nine.")];
        let sampling = Sampling { temperature: Some(0.5), max_reply_tokens: 20 };
        let parameters = json!({ "type": "object", "properties": {} });
        let request = ChatRequest {
            tools: vec![Tool {
                name: "GetTime".to_owned(),
                description: "Tells the time.".to_owned(),
                parameters: parameters.clone(),
            }],
            ..ChatRequest::new(RequestOrigin::default(), messages, sampling)
        };
        assert_eq!(
            make(&identity(JsonMode::JsonSchema), MaxTokensField::MaxTokens, &request),
            json!({
                "model": "m",
                "messages": [
                    { "role": "user", "content": "When?" },
                    { "role": "assistant", "content": null, "tool_calls": [
                        { "id": "c1", "type": "function", "function": { "name": "GetTime", "arguments": "{}" } }
                    ] },
                    { "role": "tool", "tool_call_id": "c1", "content": "09:00" },
                    { "role": "assistant", "content": "Nine." },
                ],
                "stream": false,
                "tools": [{ "type": "function", "function": {
                    "name": "GetTime", "description": "Tells the time.", "parameters": parameters
                } }],
                "tool_choice": "auto",
                "max_tokens": 20,
                "temperature": 0.5,
            })
        );
    }
}
