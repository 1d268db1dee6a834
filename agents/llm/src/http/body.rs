//! The body of a request, in OpenAI's spelling.

use serde_json::{Value as Json, json};

use super::LengthField;
use crate::chat::{ChatRequest, Format, Identity, Message, OutputSchema, ToolCall, ToolChoice};

/// Writes a request down. `format` says how JSON is asked for, where the request has a schema.
pub(super) fn of(
    identity: &Identity,
    request: &ChatRequest,
    format: Option<Format>,
    length: LengthField,
) -> Json {
    let mut messages: Vec<Json> = request.messages.iter().map(message).collect();
    let mut body = json!({ "model": identity.model, "messages": [], "stream": false });
    if let (Some(schema), Some(format)) = (&request.schema, format) {
        match format {
            Format::JsonSchema => body["response_format"] = json_schema(schema),
            Format::JsonObject => body["response_format"] = json!({ "type": "json_object" }),
            Format::Prompt => {}
        }
        if format != Format::JsonSchema {
            instruct(&mut messages, &schema.schema);
        }
    }
    body["messages"] = messages.into();
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| json!({ "type": "function", "function": tool }));
        body["tools"] = tools.collect();
        body["tool_choice"] = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
        }
        .into();
    }
    let sampling = &request.sampling;
    let field = match length {
        LengthField::MaxTokens => "max_tokens",
        LengthField::MaxCompletionTokens => "max_completion_tokens",
    };
    body[field] = sampling.max_tokens.into();
    let optional = [
        ("temperature", sampling.temperature.map(Json::from)),
        ("top_p", sampling.top_p.map(Json::from)),
        ("seed", sampling.seed.map(Json::from)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            body[name] = value;
        }
    }
    for (name, value) in &identity.extra {
        body[name] = value.clone();
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
            // Beside calls an absent text is null: several servers refuse an empty one.
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

fn json_schema(schema: &OutputSchema) -> Json {
    let named = json!({ "name": schema.name, "schema": schema.schema, "strict": schema.strict });
    json!({ "type": "json_schema", "json_schema": named })
}

/// Puts the schema into the first system message: servers that cache the start of prompts then keep it.
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
    use serde_json::Map;

    use super::*;
    use crate::chat::{Place, Sampling, Tool};

    fn identity() -> Identity {
        Identity { model: "m".to_owned(), format: Format::JsonSchema, extra: Map::new() }
    }

    fn asking(messages: Vec<Message>) -> ChatRequest {
        let schema =
            OutputSchema { name: "domain".to_owned(), schema: json!({ "type": "object" }), strict: true };
        let request = ChatRequest::new(Place::default(), messages, Sampling::up_to(5));
        ChatRequest { schema: Some(schema), ..request }
    }

    #[test]
    fn json_is_asked_for_in_three_ways() {
        let request = asking(vec![Message::system("Be brief."), Message::user("Go.")]);
        let check = |format, expect: Json| {
            let body = of(&identity(), &request, Some(format), LengthField::MaxTokens);
            assert_eq!(json!([body["response_format"], body["messages"][0]["content"]]), expect);
        };
        let words = "Be brief.\n\nAnswer with one JSON object and nothing else: no explanation, no code fence. \
                     It must satisfy this JSON Schema:\n{\"type\":\"object\"}";
        let named = json!({ "name": "domain", "schema": { "type": "object" }, "strict": true });
        check(Format::JsonSchema, json!([{ "type": "json_schema", "json_schema": named }, "Be brief."]));
        check(Format::JsonObject, json!([{ "type": "json_object" }, words]));
        check(Format::Prompt, json!([null, words]));
        let request = asking(vec![Message::user("Go.")]);
        let body = of(&identity(), &request, Some(Format::Prompt), LengthField::MaxTokens);
        assert_eq!(body["messages"][0]["role"], "system");
        assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Go." }));
    }

    #[test]
    fn a_conversation_with_tools_is_spelled_as_the_protocol_wants() {
        let call = ToolCall { id: "c1".to_owned(), name: "GetTime".to_owned(), arguments: "{}".to_owned() };
        let calling = Message::Assistant { content: String::new(), tool_calls: vec![call] };
        let messages =
            vec![Message::user("When?"), calling, Message::tool("c1", "09:00"), Message::assistant("Nine.")];
        let sampling = Sampling { temperature: Some(0.5), top_p: Some(0.9), seed: Some(7), max_tokens: 20 };
        let parameters = json!({ "type": "object", "properties": {} });
        let request = ChatRequest {
            tools: vec![Tool {
                name: "GetTime".to_owned(),
                description: "Tells the time.".to_owned(),
                parameters: parameters.clone(),
            }],
            tool_choice: ToolChoice::Required,
            ..ChatRequest::new(Place::default(), messages, sampling)
        };
        let mut identity = identity();
        identity.extra.insert("reasoning_effort".to_owned(), "low".into());
        assert_eq!(
            of(&identity, &request, None, LengthField::MaxCompletionTokens),
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
                "tool_choice": "required",
                "max_completion_tokens": 20,
                "temperature": 0.5,
                "top_p": 0.9,
                "seed": 7,
                "reasoning_effort": "low",
            })
        );
    }
}
