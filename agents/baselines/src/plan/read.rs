//! Owns the parser of nested calls: strict for labels, lenient for a model's prose.

use serde_json::{Map, Value as Json};

use super::nested::{Plan, PlanArgument};
use crate::role_model::ParseError;

/// Maximum nesting of calls and lists.
const MAX_DEPTH: u32 = 24;
/// Maximum number of characters of a text that are parsed.
const MAX_TEXT_CHARS: usize = 20_000;

/// An API that may occur in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiSignature {
    /// Its name.
    pub api: String,
    /// Properties of its reply, to which later calls may refer.
    pub outputs: Vec<String>,
}

/// Parses a text of exactly one nested call. A quote inside a quoted value needs no escape unless it could
/// end the value.
///
/// # Errors
/// Returns an error if the text has another form or repeats an argument.
pub fn parse(text: &str) -> Result<Plan, ParseError> {
    let mut reader = Reader::of(text.trim());
    let plan = reader.name().and_then(|name| reader.call(name, 0));
    match plan {
        Some(plan) if reader.rest().trim_end_matches(['.', ';']).trim().is_empty() => {
            match plan.repeated_argument() {
                Some(name) => Err(ParseError::expected("each argument once", &format!("{name} given twice"))),
                None => Ok(plan),
            }
        }
        _ => Err(ParseError::expected("one nested call such as Outer(a=Inner(b='x'), n=2)", text)),
    }
}

/// Finds the final call of a text: the last one of a known API that is no part of another. Calls may be
/// written in sequence. Their results are then named before (`id = Find(..)`), after (`Find(..) -> id`), or
/// by the API's reply property.
pub(crate) fn find(text: &str, known: &[ApiSignature]) -> Option<Plan> {
    let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
    let mut reader = Reader::of(&text);
    let mut found: Vec<Plan> = Vec::new();
    while !reader.rest().is_empty() {
        let start = reader.at;
        let Some(name) = reader.name() else {
            reader.skip();
            continue;
        };
        let Some(api) = known.iter().find(|known| known.api == name) else { continue };
        let after = reader.at;
        let Some(plan) = reader.call(name, 0) else {
            reader.at = after;
            continue;
        };
        for output in &api.outputs {
            reader.outputs.push((output.clone(), plan.clone()));
        }
        let bound = bound_before(text.get(..start).unwrap_or_default()).or_else(|| reader.bound_after());
        reader.bound.extend(bound.map(|name| (name, plan.clone())));
        found.push(plan);
    }
    let whole = |plan: &&Plan| !found.iter().any(|other| other != *plan && plan.is_part_of(other));
    found.iter().rev().find(whole).cloned()
}

/// Returns the name before an equals sign at the end of a text.
fn bound_before(text: &str) -> Option<String> {
    let left = text.trim_end_matches([' ', '\t', '`', '*']).strip_suffix('=')?.trim_end();
    let name: String = left.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name.chars().rev().collect()).filter(|name: &String| !name.is_empty())
}

/// Returns the number of bytes of the name at the start of a text: letters, digits, underscores, and hyphens between letters.
fn name_length(text: &str) -> usize {
    let is_letter = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let ends = |(at, c): &(usize, char)| {
        !(c.is_alphanumeric() || *c == '_' || (*c == '-' && *at > 0 && is_letter(at + 1)))
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Calls by the names that the text binds to them.
    bound: Vec<(String, Plan)>,
    /// Calls by the properties of their replies.
    outputs: Vec<(String, Plan)>,
}

impl<'a> Reader<'a> {
    const fn of(text: &'a str) -> Self {
        Self { text, at: 0, bound: Vec::new(), outputs: Vec::new() }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(1, char::len_utf8);
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.space();
        self.skip_if(wanted)
    }

    /// Skips a sign at the present position, and returns true if it was there.
    fn skip_if(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.skip();
        }
        is
    }

    /// Reads an identifier.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let name = rest.get(..name_length(rest))?;
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        self.at += name.len();
        Some(name.to_owned())
    }

    fn call(&mut self, api: String, depth: u32) -> Option<Plan> {
        let mut arguments = Vec::new();
        if depth > MAX_DEPTH || !self.eat('(') {
            return None;
        }
        self.items(')', |reader| {
            let name = reader.label();
            reader.space();
            arguments.push((name, reader.filled(depth)?));
            Some(())
        })?;
        self.members();
        Some(Plan { api, arguments })
    }

    /// Reads comma-separated items up to a closing sign. A trailing comma is allowed.
    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        while !self.eat(close) {
            self.space();
            item(self)?;
            if !self.eat(',') {
                return self.eat(close).then_some(());
            }
        }
        Some(())
    }

    /// Reads the name of an argument, if there is one: `city=`, `city:`, `"city":`.
    fn label(&mut self) -> Option<String> {
        let before = self.at;
        let quote = ['"', '\''].into_iter().find(|quote| self.skip_if(*quote));
        let name = self.name();
        let closed = quote.is_none_or(|quote| self.skip_if(quote));
        self.space();
        let sign = self.rest();
        let given =
            sign.starts_with(':') || (sign.starts_with('=') && !sign.starts_with("==") && quote.is_none());
        if closed && given && name.is_some() {
            self.skip();
            return name;
        }
        self.at = before;
        None
    }

    fn filled(&mut self, depth: u32) -> Option<PlanArgument> {
        match self.peek()? {
            quote @ ('\'' | '"' | '‘' | '“') => {
                let text = self.quoted(quote)?;
                let named = self.bound.iter().rev().find(|(name, _)| *name == text);
                Some(named.map_or_else(
                    || PlanArgument::Value(Json::from(text.as_str())),
                    |(_, plan)| PlanArgument::Call(plan.clone()),
                ))
            }
            '[' | '{' => self.json(depth).map(PlanArgument::Value),
            _ => {
                let start = self.at;
                if let Some(name) = self.name() {
                    self.space();
                    if self.peek() == Some('(') {
                        return self.call(name, depth + 1).map(PlanArgument::Call);
                    }
                    let names = self.bound.iter().chain(&self.outputs);
                    if let Some((_, plan)) = names.rev().find(|(known, _)| *known == name) {
                        let plan = plan.clone();
                        self.members();
                        return Some(PlanArgument::Call(plan));
                    }
                }
                self.at = start;
                self.bare().map(PlanArgument::Value)
            }
        }
    }

    /// Skips `.member`, `['member']` and `[0]` after a call, which select a part of its reply.
    fn members(&mut self) {
        loop {
            let rest = self.rest();
            if let Some(member) = rest.strip_prefix('.').filter(|rest| rest.starts_with(char::is_alphabetic))
            {
                self.at += 1 + name_length(member);
            } else if let Some(end) = rest.strip_prefix('[').and_then(|rest| rest.find(']')) {
                self.at += end + 2;
            } else {
                return;
            }
        }
    }

    /// Reads a quoted text. Only a quote at a possible end of a value closes it.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let close = match quote {
            '‘' => '’',
            '“' => '”',
            quote => quote,
        };
        self.skip();
        let mut text = String::new();
        loop {
            let next = self.peek()?;
            self.skip();
            if next == '\\' {
                let escaped = self.peek()?;
                self.skip();
                text.push(escaped);
                continue;
            }
            let ends = next == close && {
                let rest = self.rest().trim_start();
                rest.is_empty() || rest.starts_with([',', ')', ']', '}', ':'])
            };
            if ends {
                return Some(text);
            }
            text.push(next);
        }
    }

    fn json(&mut self, depth: u32) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            '[' => {
                self.skip();
                let mut items = Vec::new();
                self.items(']', |reader| {
                    items.push(reader.json(depth + 1)?);
                    Some(())
                })?;
                Some(Json::Array(items))
            }
            '{' => {
                self.skip();
                let mut properties = Map::new();
                self.items('}', |reader| {
                    let name = reader.label()?;
                    properties.insert(name, reader.json(depth + 1)?);
                    Some(())
                })?;
                Some(Json::Object(properties))
            }
            quote @ ('\'' | '"' | '‘' | '“') => self.quoted(quote).map(Json::from),
            _ => self.bare(),
        }
    }

    /// Reads an unquoted value: a number, a literal of the notation, or plain words.
    fn bare(&mut self) -> Option<Json> {
        let rest = self.rest();
        let end = rest.find([',', ')', ']', '}', '(', '\n'])?;
        let text = rest.get(..end)?.trim();
        self.at += end;
        if text.is_empty() || self.peek() == Some('(') {
            return None;
        }
        Some(match text {
            "True" | "true" => Json::Bool(true),
            "False" | "false" => Json::Bool(false),
            "None" | "null" => Json::Null,
            text => match serde_json::from_str::<serde_json::Number>(text) {
                Ok(number) => Json::Number(number),
                Err(_) => Json::from(text),
            },
        })
    }

    /// Returns the name after an arrow that follows a call.
    fn bound_after(&mut self) -> Option<String> {
        let rest = self.rest().trim_start_matches([' ', '`']);
        let rest = ["->", "→", "=>"].iter().find_map(|arrow| rest.strip_prefix(arrow))?.trim_start();
        rest.get(..name_length(rest)).filter(|name| !name.is_empty()).map(str::to_owned)
    }
}
