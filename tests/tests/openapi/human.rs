//! Owns the scenarios of a person who uses the API of a document. They were written from its documentation
//! before the first run. They sign in, make, find, change, attach, list, page, refuse and delete.
//!
//! A file `tests/data/openapi/scenarios/*.json` has `document` (in this project) or `shared` (beside it),
//! `headers` of all requests, and `steps`.
//!
//! A step has `name`, `request` (a method and a path or URL), `query`, and `headers` (`null` omits one). Its
//! body is one of `json`, `form` and `multipart`. `status` lists the expected statuses. `expect` holds
//! assertions. `keep` names values that JSON pointers find in the reply. `{name}` stands for a kept value,
//! and keeps its type if it is the whole string. `{token_url}` is predefined.
//!
//! An assertion reads the value `at` a pointer, which must exist. The value `equals` another, or it is a
//! list. A list may have `at_least` or `at_most` a number of items. `has`, `lacks` and `every` test its items
//! for values at pointers of their own. A step with `falls_short` must fail, and its text gives the reason.

use diorama_tests::requests::serve;
use diorama_tests::server::Server;
use diorama_tests::shared_data;
use reqwest::Method;
use reqwest::blocking::Client;
use serde_json::{Map, Value as Json};

use super::imports::fixture;

const BOUNDARY: &str = "end-of-part";

/// A client of a served document, with the values it has kept so far.
struct Person {
    base: String,
    headers: Map<String, Json>,
    known: Map<String, Json>,
    client: Client,
    /// The server. Dropping it stops the server.
    _server: Server,
}

impl Person {
    /// Starts a scenario if its document is present.
    fn begin(scenario: &Json) -> Option<Self> {
        let document = match scenario["shared"].as_str() {
            Some(file) => shared_data(file)?,
            None => fixture(text(&scenario["document"])),
        };
        let server = serve(&["--openapi", document.to_str().unwrap()]);
        let session = server.session().unwrap();
        let schemes = session["credentials"].as_object().unwrap();
        let token_url = schemes.values().find_map(|scheme| scheme.get("token_url"));
        let known = token_url.map(|url| ("token_url".to_owned(), url.clone()));
        Some(Self {
            base: text(&session["base_url"]).to_owned(),
            headers: scenario["headers"].as_object().unwrap().clone(),
            known: known.into_iter().collect(),
            client: Client::builder().no_proxy().build().unwrap(),
            _server: server,
        })
    }

    /// Makes a step. Returns the reason for its failure, if any.
    fn take(&mut self, step: &Json) -> Option<String> {
        let (status, body) = match self.send(step) {
            Ok(reply) => reply,
            Err(why) => return Some(why),
        };
        let mut lost = None;
        for (name, at) in step["keep"].as_object().into_iter().flatten() {
            match body.pointer(text(at)) {
                Some(value) => {
                    self.known.insert(name.clone(), value.clone());
                }
                None => lost = Some(format!("there is no {at} to keep: {body}")),
            }
        }
        let expected = &step["status"];
        let expected = expected.as_array().map_or_else(|| std::slice::from_ref(expected), Vec::as_slice);
        if !expected.contains(&Json::from(status)) {
            return Some(format!("{status}: {body}"));
        }
        let wrong = |check: &Json| self.filled(check).map_or_else(Some, |check| wrong(&check, &body));
        step["expect"].as_array().into_iter().flatten().find_map(wrong).or(lost)
    }

    fn send(&self, step: &Json) -> Result<(u16, Json), String> {
        let (method, path) = text(&step["request"]).split_once(' ').unwrap();
        let mut url = match placeholder(path) {
            Some(name) => spelt(self.told(name)?),
            None => format!("{}{}", self.base, self.filled_text(path, percent)?),
        };
        let query = pairs(&self.filled(&step["query"])?);
        if !query.is_empty() {
            url = format!("{url}?{query}");
        }
        if !url.starts_with(&self.base) {
            return Err(format!("{url} leads away from {}", self.base));
        }
        let mut request = self.client.request(method.parse::<Method>().unwrap(), url);
        let mut headers = self.headers.clone();
        headers.extend(step["headers"].as_object().cloned().unwrap_or_default());
        for (name, value) in &headers {
            if let Some(value) = value.as_str() {
                request = request.header(name.as_str(), self.filled_text(value, str::to_owned)?);
            }
        }
        if let Some((kind, body)) = self.body(step)? {
            request = request.header("content-type", kind).body(body);
        }
        let response = request.send().map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let text = response.text().map_err(|error| error.to_string())?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Json::String(text))))
    }

    /// Returns the content type and the text of the request body.
    fn body(&self, step: &Json) -> Result<Option<(String, String)>, String> {
        if let Some(json) = step.get("json") {
            return Ok(Some(("application/json".to_owned(), self.filled(json)?.to_string())));
        }
        if let Some(form) = step.get("form") {
            return Ok(Some(("application/x-www-form-urlencoded".to_owned(), pairs(&self.filled(form)?))));
        }
        let Some(given) = step.get("multipart") else { return Ok(None) };
        Ok(Some((format!("multipart/form-data; boundary={BOUNDARY}"), parts(&self.filled(given)?))))
    }

    /// Returns a value that an earlier step kept.
    fn told(&self, name: &str) -> Result<&Json, String> {
        self.known.get(name).ok_or_else(|| format!("no step before told {name}"))
    }

    fn filled(&self, value: &Json) -> Result<Json, String> {
        Ok(match value {
            Json::Object(members) => {
                let member = |(name, inner): (&String, &Json)| -> Result<(String, Json), String> {
                    Ok((name.clone(), self.filled(inner)?))
                };
                Json::Object(members.iter().map(member).collect::<Result<_, _>>()?)
            }
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.filled(item)).collect::<Result<_, _>>()?)
            }
            Json::String(whole) => match placeholder(whole) {
                Some(name) => self.told(name)?.clone(),
                None => Json::String(self.filled_text(whole, str::to_owned)?),
            },
            other => other.clone(),
        })
    }

    fn filled_text(&self, whole: &str, spell: fn(&str) -> String) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = whole;
        while let Some((before, inner)) = rest.split_once('{') {
            filled.push_str(before);
            rest = match inner.split_once('}') {
                Some((name, after)) if is_name(name) => {
                    filled.push_str(&spell(&spelt(self.told(name)?)));
                    after
                }
                _ => {
                    filled.push('{');
                    inner
                }
            };
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// Returns the reason for which a reply violates an assertion, if any.
fn wrong(check: &Json, body: &Json) -> Option<String> {
    let at = text(&check["at"]);
    let Some(found) = body.pointer(at) else { return Some(format!("there is no {at}: {body}")) };
    check.as_object().unwrap().iter().find_map(|(kind, wanted)| {
        let holds = match kind.as_str() {
            "at" => true,
            "equals" => same(found, wanted),
            _ => found.as_array().is_some_and(|items| of_list(kind, items, wanted)),
        };
        (!holds).then(|| format!("{at} is not as {kind} {wanted} says: {found}"))
    })
}

/// Returns true if an assertion holds for a list.
fn of_list(kind: &str, items: &[Json], wanted: &Json) -> bool {
    let number = || usize::try_from(wanted.as_u64().unwrap()).unwrap();
    let fits = |item: &Json| {
        let shows = |(at, value): (&String, &Json)| item.pointer(at).is_some_and(|found| same(found, value));
        wanted.as_object().unwrap().iter().all(shows)
    };
    match kind {
        "at_least" => items.len() >= number(),
        "at_most" => items.len() <= number(),
        "has" => items.iter().any(fits),
        "lacks" => !items.iter().any(fits),
        "every" => items.iter().all(fits),
        other => panic!("there is no assertion {other:?}"),
    }
}

/// Returns true if two values are equal. Numbers compare by value.
fn same(one: &Json, other: &Json) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// Returns the name if the whole text is one placeholder.
fn placeholder(whole: &str) -> Option<&str> {
    whole.strip_prefix('{')?.strip_suffix('}').filter(|name| is_name(name))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected a text, found {value}"))
}

/// Returns a value as it is written in a path or a form.
fn spelt(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn percent(whole: &str) -> String {
    let spell = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    whole.bytes().map(spell).collect()
}

/// Returns an object as pairs of a query string or form.
fn pairs(members: &Json) -> String {
    let members = members.as_object().into_iter().flatten();
    let pairs: Vec<String> =
        members.map(|(name, value)| format!("{}={}", percent(name), percent(&spelt(value)))).collect();
    pairs.join("&")
}

/// Returns an object as the parts of a form. An object `{filename, content}` becomes a file.
fn parts(members: &Json) -> String {
    let part = |(name, value): (&String, &Json)| {
        let file = value["filename"].as_str();
        let more = file.map(|file| format!("; filename=\"{file}\"\r\nContent-Type: text/plain"));
        let head = format!("Content-Disposition: form-data; name=\"{name}\"{}", more.unwrap_or_default());
        let content = spelt(if file.is_some() { &value["content"] } else { value });
        format!("--{BOUNDARY}\r\n{head}\r\n\r\n{content}\r\n")
    };
    let parts: String = members.as_object().unwrap().iter().map(part).collect();
    format!("{parts}--{BOUNDARY}--\r\n")
}

/// Checks that the steps with `falls_short` fail and all others succeed.
fn check(scenario: &str) {
    let file = fixture(&format!("data/openapi/scenarios/{scenario}.json"));
    let written: Json = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let Some(mut person) = Person::begin(&written) else { return };
    let steps = written["steps"].as_array().unwrap();
    let mut surprises = Vec::new();
    let mut held = 0;
    for step in steps {
        let name = &step["name"];
        match (person.take(step), step["falls_short"].as_str()) {
            (None, None) => held += 1,
            (None, Some(reason)) => {
                surprises.push(format!("{name} holds now; take out that it falls short: {reason}"));
            }
            (Some(why), None) => surprises.push(format!("{name} does not hold: {why}")),
            (Some(_), Some(_)) => {}
        }
    }
    println!("{scenario}: {held} of {} steps hold", steps.len());
    assert!(surprises.is_empty(), "{scenario}:\n{}", surprises.join("\n"));
}

#[test]
fn a_listener_keeps_playlists() {
    check("tunehall");
}

#[test]
fn a_customer_sends_parcels() {
    check("parcel_post");
}

#[test]
fn a_landlord_talks_to_tenants() {
    check("twilio_conversations");
}

#[test]
fn a_bot_keeps_a_channel() {
    check("discord");
}

#[test]
fn a_family_keeps_folders() {
    check("box");
}

#[test]
fn a_teacher_keeps_an_assistant() {
    check("openai");
}
