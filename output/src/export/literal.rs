//! Calls as text: `Name(a='x', b=[1, True])`, with values as Python writes them.

use serde_json::Value as Json;

use super::conversation::Call;

/// Words that cannot be names of arguments.
const RESERVED: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// A call. An argument whose name is no name in Python is handed over in a mapping: `Find(**{'from': 'x'})`.
pub(super) fn call(call: &Call) -> String {
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|(name, value)| {
            let value = value_of(value);
            if is_name(name) { format!("{name}={value}") } else { format!("**{{{}: {value}}}", quoted(name)) }
        })
        .collect();
    format!("{}({})", call.name, arguments.join(", "))
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !RESERVED.contains(&name)
}

fn value_of(json: &Json) -> String {
    match json {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(value_of).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", quoted(name), value_of(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        match letter {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}
