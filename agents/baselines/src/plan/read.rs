//! Reading nested calls: strictly, as labels are written, or out of a model's prose.

use serde_json::{Map, Value as Json};

use super::nested::{Filled, Plan};
use crate::mind::ParseError;

/// Calls and lists inside each other.
const DEPTH: u32 = 24;
/// Characters of a text that are looked at.
const LONGEST: usize = 20_000;

/// An API that may stand in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its name.
    pub api: String,
    /// What it gives: later calls may name it.
    pub gives: Vec<String>,
}

/// Reads a text that is one nested call and nothing else. Quotes inside quotes need no escape where they do not end a value.
///
/// # Errors
/// When it is none.
pub fn parse(text: &str) -> Result<Plan, ParseError> {
    let mut reader = Reader::of(text.trim());
    let plan = reader.name().and_then(|name| reader.call(name, 0));
    match plan {
        Some(plan) if reader.rest().trim_end_matches(['.', ';']).trim().is_empty() => Ok(plan),
        _ => Err(ParseError::expected("one nested call such as Outer(a=Inner(b='x'), n=2)", text)),
    }
}

/// Finds the call that a text comes down to: the last one of a known API that is no part of another. Calls may be written one
/// after the other, with what they give named before (`id = Find(..)`), after (`Find(..) -> id`), or as the API names it.
pub(crate) fn find(text: &str, known: &[Known]) -> Option<Plan> {
    let text: String = text.chars().take(LONGEST).collect();
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
        for gives in &api.gives {
            reader.outputs.push((gives.clone(), plan.clone()));
        }
        let bound = bound_before(text.get(..start).unwrap_or_default()).or_else(|| reader.bound_after());
        reader.bound.extend(bound.map(|name| (name, plan.clone())));
        found.push(plan);
    }
    let whole = |plan: &&Plan| !found.iter().any(|other| other != *plan && plan.is_part_of(other));
    found.iter().rev().find(whole).cloned()
}

/// The name that what follows is given to.
fn bound_before(text: &str) -> Option<String> {
    let left = text.trim_end_matches([' ', '\t', '`', '*']).strip_suffix('=')?.trim_end();
    let name: String = left.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name.chars().rev().collect()).filter(|name: &String| !name.is_empty())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Names that the text gives to calls.
    bound: Vec<(String, Plan)>,
    /// Names that APIs give to what they give.
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
        let is = self.peek() == Some(wanted);
        if is {
            self.skip();
        }
        is
    }

    /// An identifier.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name =
            rest.get(..end).filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))?;
        self.at += end;
        Some(name.to_owned())
    }

    fn call(&mut self, api: String, depth: u32) -> Option<Plan> {
        let mut arguments = Vec::new();
        if depth > DEPTH || !self.eat('(') {
            return None;
        }
        while !self.eat(')') {
            if !arguments.is_empty() && !self.eat(',') {
                return None;
            }
            if self.eat(')') {
                break;
            }
            self.space();
            let name = self.label();
            self.space();
            arguments.push((name, self.filled(depth)?));
        }
        self.members();
        Some(Plan { api, arguments })
    }

    /// The name of an argument, where one stands here: `city=`, `city:`, `"city":`.
    fn label(&mut self) -> Option<String> {
        let before = self.at;
        let quote = self.peek().filter(|c| matches!(c, '"' | '\''));
        if quote.is_some() {
            self.skip();
        }
        let name = self.name();
        let closed = quote.is_none_or(|quote| {
            let is = self.peek() == Some(quote);
            if is {
                self.skip();
            }
            is
        });
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

    fn filled(&mut self, depth: u32) -> Option<Filled> {
        match self.peek()? {
            quote @ ('\'' | '"' | '‘' | '“') => {
                let text = self.quoted(quote)?;
                let named = self.bound.iter().rev().find(|(name, _)| *name == text);
                Some(named.map_or_else(
                    || Filled::Value(Json::from(text.as_str())),
                    |(_, plan)| Filled::Call(plan.clone()),
                ))
            }
            '[' | '{' => self.json(depth).map(Filled::Value),
            _ => {
                let start = self.at;
                if let Some(name) = self.name() {
                    self.space();
                    if self.peek() == Some('(') {
                        return self.call(name, depth + 1).map(Filled::Call);
                    }
                    let names = self.bound.iter().chain(&self.outputs);
                    if let Some((_, plan)) = names.rev().find(|(known, _)| *known == name) {
                        let plan = plan.clone();
                        self.members();
                        return Some(Filled::Call(plan));
                    }
                }
                self.at = start;
                self.bare().map(Filled::Value)
            }
        }
    }

    /// `.member`, `['member']` and `[0]` after a call say which part of what it gives is meant.
    fn members(&mut self) {
        loop {
            let rest = self.rest();
            if let Some(member) = rest.strip_prefix('.').filter(|rest| rest.starts_with(char::is_alphabetic))
            {
                let end = member.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(member.len());
                self.at += 1 + end;
            } else if let Some(end) = rest.strip_prefix('[').and_then(|rest| rest.find(']')) {
                self.at += end + 2;
            } else {
                return;
            }
        }
    }

    /// A text in quotes, which end where a value can end.
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
        if depth > DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            '[' => {
                self.skip();
                let mut items = Vec::new();
                while !self.eat(']') {
                    if !items.is_empty() && !self.eat(',') {
                        return None;
                    }
                    items.push(self.json(depth + 1)?);
                }
                Some(Json::Array(items))
            }
            '{' => {
                self.skip();
                let mut members = Map::new();
                while !self.eat('}') {
                    if !members.is_empty() && !self.eat(',') {
                        return None;
                    }
                    self.space();
                    let name = self.label()?;
                    members.insert(name, self.json(depth + 1)?);
                }
                Some(Json::Object(members))
            }
            quote @ ('\'' | '"' | '‘' | '“') => self.quoted(quote).map(Json::from),
            _ => self.bare(),
        }
    }

    /// A value without quotes: a number, a word of the notation, or words as they stand.
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

    /// The name that stands behind an arrow after a call.
    fn bound_after(&mut self) -> Option<String> {
        let rest = self.rest().trim_start_matches([' ', '`']);
        let rest = ["->", "→", "=>"].iter().find_map(|arrow| rest.strip_prefix(arrow))?.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
    }
}
