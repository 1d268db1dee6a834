//! JSON Patch (RFC 6902): the steps of a body, applied to a record as its fields and the sent members show it.

use diorama_seeds::contract::plain;
use diorama_seeds::model::{Api, Method, Record, ResourceId};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::refusal::{Outcome, Refusal};
use crate::run::Run;

/// The steps of a call's body; none where it is no JSON Patch.
pub(in crate::contract) fn of_body(api: &Api, body: &Json) -> Vec<Json> {
    let is_step = |step: &Json| step["op"].is_string() && step["path"].is_string();
    let steps = body.as_array().filter(|_| matches!(api.method, Method::Patch));
    steps.filter(|steps| steps.iter().all(is_step)).cloned().unwrap_or_default()
}

impl Run<'_> {
    /// Applies the body's steps to a record, and takes what they change for what was sent. What they take away is sent as null.
    ///
    /// # Errors
    /// A step that cannot be applied: 409 where a test fails, else the status of a body that is not valid.
    pub(in crate::contract) fn follow_steps(&mut self, id: ResourceId, record: &Record) -> Outcome<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let before = self.as_object(id, record);
        let names: Vec<&String> = before.keys().collect();
        let steps: Vec<Json> = self.steps.iter().map(|step| named_as(step, &names)).collect();
        let status = self.api.contract.as_ref().map_or(400, |contract| contract.refusal);
        let mut whole = Json::Object(before.clone());
        for (at, step) in steps.iter().enumerate() {
            apply(&mut whole, step).map_err(|wrong| {
                let (status, why) = match wrong {
                    Wrong::Test => (409, "the value is another".to_owned()),
                    Wrong::Step(why) => (status, why),
                };
                let shown: String = step["path"].as_str().unwrap_or_default().chars().take(60).collect();
                Refusal::new(status, format!("step {at} of the patch at `{shown}`: {why}"))
            })?;
        }
        let Json::Object(after) = whole else {
            return Err(Refusal::new(status, "the patch: expected an object after it, found another value"));
        };
        let removed = before.keys().filter(|name| !after.contains_key(*name));
        let mut sent: Map<String, Json> = removed.map(|name| (name.clone(), Json::Null)).collect();
        sent.extend(after.into_iter().filter(|(name, value)| before.get(name) != Some(value)));
        self.sent = sent;
        Ok(())
    }

    /// A record as an object: its fields by their names, and what was sent of it.
    fn as_object(&self, id: ResourceId, record: &Record) -> Map<String, Json> {
        let resource = self.resource(id);
        let keep = self.behaviour().keep;
        let mut all = Map::new();
        let mut kept = Map::new();
        for (at, (field, value)) in resource.fields.iter().zip(record.iter()).enumerate() {
            match value.to_json(self.zone()) {
                Json::Object(sent) if keep.is_some_and(|keep| keep.index() == at) => kept = sent,
                json if !matches!(value, Value::Absent) => {
                    all.insert(field.name.to_string(), json);
                }
                _ => {}
            }
        }
        kept.retain(|name, sent| self.is_so_still(id, record, name, sent));
        for (name, sent) in kept {
            all.retain(|known, _| plain(known) != plain(&name));
            all.insert(name, sent);
        }
        all
    }
}

/// A step whose paths begin with the members' own spelling: fields may be spelt otherwise than callers do.
fn named_as(step: &Json, names: &[&String]) -> Json {
    let mut step = step.clone();
    for pointer in ["path", "from"] {
        let Some(path) = step[pointer].as_str() else { continue };
        let mut parts = path.splitn(3, '/');
        let (Some(""), Some(first)) = (parts.next(), parts.next()) else { continue };
        let told = unescaped(first);
        let known = names.iter().find(|name| **name == &told);
        let Some(known) = known.or_else(|| names.iter().find(|name| plain(name) == plain(&told))) else {
            continue;
        };
        let rest = parts.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        step[pointer] = Json::from(format!("/{}{rest}", known.replace('~', "~0").replace('/', "~1")));
    }
    step
}

/// Why a step cannot be applied.
#[derive(Debug, PartialEq)]
enum Wrong {
    /// Its test fails.
    Test,
    Step(String),
}

fn apply(whole: &mut Json, step: &Json) -> Result<(), Wrong> {
    let pointer = |name: &str| {
        let text = step[name].as_str().ok_or_else(|| Wrong::Step(format!("`{name}` is missing")))?;
        match text.is_empty() || text.starts_with('/') {
            true => Ok(text),
            false => Err(Wrong::Step(format!("`{name}` does not begin with a slash"))),
        }
    };
    let value = || step.get("value").cloned().ok_or_else(|| Wrong::Step("`value` is missing".to_owned()));
    let path = pointer("path")?;
    match step["op"].as_str().unwrap_or_default() {
        "add" => add(whole, path, value()?),
        "remove" => remove(whole, path).map(|_| ()),
        "replace" => {
            *found(whole, path)? = value()?;
            Ok(())
        }
        "move" => {
            let from = pointer("from")?;
            if path.strip_prefix(from).is_some_and(|below| below.starts_with('/')) {
                return Err(Wrong::Step("nothing can be moved into itself".to_owned()));
            }
            let moved = remove(whole, from)?;
            add(whole, path, moved)
        }
        "copy" => {
            let copied = found(whole, pointer("from")?)?.clone();
            add(whole, path, copied)
        }
        "test" => {
            let expected = value()?;
            if *found(whole, path)? == expected { Ok(()) } else { Err(Wrong::Test) }
        }
        _ => Err(Wrong::Step("expected add, remove, replace, move, copy or test".to_owned())),
    }
}

fn found<'w>(whole: &'w mut Json, path: &str) -> Result<&'w mut Json, Wrong> {
    whole.pointer_mut(path).ok_or_else(nothing)
}

fn nothing() -> Wrong {
    Wrong::Step("there is nothing".to_owned())
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

fn split(path: &str) -> Result<(&str, String), Wrong> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| Wrong::Step("the whole cannot go".to_owned()))?;
    Ok((above, unescaped(last)))
}

fn add(whole: &mut Json, path: &str, value: Json) -> Result<(), Wrong> {
    if path.is_empty() {
        *whole = value;
        return Ok(());
    }
    let (above, last) = split(path)?;
    match found(whole, above)? {
        Json::Object(members) => {
            members.insert(last, value);
            Ok(())
        }
        Json::Array(items) if last == "-" => {
            items.push(value);
            Ok(())
        }
        Json::Array(items) => {
            let at = index(&last).filter(|at| *at <= items.len()).ok_or_else(nothing)?;
            items.insert(at, value);
            Ok(())
        }
        _ => Err(nothing()),
    }
}

fn remove(whole: &mut Json, path: &str) -> Result<Json, Wrong> {
    let (above, last) = split(path)?;
    match found(whole, above)? {
        Json::Object(members) => members.shift_remove(&last).ok_or_else(nothing),
        Json::Array(items) => {
            let at = index(&last).filter(|at| *at < items.len()).ok_or_else(nothing)?;
            Ok(items.remove(at))
        }
        _ => Err(nothing()),
    }
}

/// A position as RFC 6901 writes it: without leading zeros.
fn index(token: &str) -> Option<usize> {
    let is_plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_do_what_rfc_6902_says() {
        let check = |step: Json, expect: Result<Json, Wrong>| {
            let mut whole = json!({"name": "Blue", "tags": ["a", "b"], "size": {"width": 2}, "a/b": 1});
            assert_eq!(apply(&mut whole, &step).map(|()| whole), expect, "{step}");
        };
        let base = json!({"name": "Blue", "tags": ["a", "b"], "size": {"width": 2}, "a/b": 1});
        let with = |name: &str, value: Json| {
            let mut whole = base.clone();
            whole[name] = value;
            Ok(whole)
        };
        check(json!({"op": "add", "path": "/tags/-", "value": "c"}), with("tags", json!(["a", "b", "c"])));
        check(json!({"op": "add", "path": "/tags/1", "value": "c"}), with("tags", json!(["a", "c", "b"])));
        check(json!({"op": "remove", "path": "/tags/0"}), with("tags", json!(["b"])));
        check(json!({"op": "replace", "path": "/size/width", "value": 3}), with("size", json!({"width": 3})));
        check(
            json!({"op": "copy", "from": "/size/width", "path": "/tags/0"}),
            with("tags", json!([2, "a", "b"])),
        );
        check(json!({"op": "replace", "path": "/a~1b", "value": 2}), with("a/b", json!(2)));
        check(json!({"op": "test", "path": "/name", "value": "Blue"}), Ok(base.clone()));
        check(json!({"op": "test", "path": "/name", "value": "Red"}), Err(Wrong::Test));
        check(json!({"op": "replace", "path": "/colour", "value": 1}), Err(nothing()));
        check(json!({"op": "remove", "path": "/tags/2"}), Err(nothing()));
        check(json!({"op": "remove", "path": "/tags/01"}), Err(nothing()));
        let into = Wrong::Step("nothing can be moved into itself".to_owned());
        check(json!({"op": "move", "from": "/size", "path": "/size/width"}), Err(into));
        let unknown = Wrong::Step("expected add, remove, replace, move, copy or test".to_owned());
        check(json!({"op": "swap", "path": "/name"}), Err(unknown));
    }
}
