//! JSON Patch (RFC 6902): applies the operations of a body to a record, seen as its fields and sent members.

use diorama_seeds::contract::plain;
use diorama_seeds::model::{Api, Method, ResourceId};
use diorama_seeds::pointer::{escape, unescape};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use super::MAX_PATCH_DEPTH;
use crate::refusal::{Outcome, Refusal};
use crate::run::Run;

/// Maximum number of operations in a patch.
const MAX_STEPS: usize = 1_000;
/// Maximum number of values that one patch adds, copies or moves. Without it, copies of copies would double a
/// record with each operation.
const MAX_PATCHED_VALUES: usize = 100_000;

/// Returns the operations of a call's body, or none if the body is no JSON Patch.
pub(in crate::contract) fn of_body<'b>(api: &Api, body: &'b Json) -> &'b [Json] {
    let is_step = |step: &Json| step["op"].is_string() && step["path"].is_string();
    let steps = body.as_array().filter(|_| matches!(api.method, Method::Patch));
    steps.filter(|steps| steps.iter().all(is_step)).map(Vec::as_slice).unwrap_or_default()
}

impl Run<'_> {
    /// Applies the body's operations to a record, and treats the changed members as sent. Removed members
    /// count as sent null.
    ///
    /// # Errors
    /// 409 if a test operation fails. Otherwise the status of an invalid body.
    pub(in crate::contract) fn follow_steps(&mut self, id: ResourceId, record: &[Value]) -> Outcome<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let status = self.api.contract.as_ref().map_or(400, |contract| contract.refusal);
        let found = self.steps.len();
        if found > MAX_STEPS {
            let detail = format!("the patch: expected at most {MAX_STEPS} steps, found {found}");
            return Err(Refusal::new(status, detail));
        }
        let before = self.as_object(id, record);
        let names: Vec<&String> = before.keys().collect();
        let steps: Vec<Json> = self.steps.iter().map(|step| named_as(step, &names)).collect();
        let mut whole = Json::Object(before.clone());
        let mut budget = Budget(MAX_PATCHED_VALUES);
        for (at, step) in steps.iter().enumerate() {
            apply(&mut whole, step, &mut budget).map_err(|wrong| {
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
        for (name, value) in &sent {
            self.check_patched(id, name, value)
                .map_err(|why| Refusal::new(status, format!("`{name}`: {why}")))?;
        }
        self.sent = sent;
        Ok(())
    }

    /// Checks the patched value of a member against its field.
    fn check_patched(&self, id: ResourceId, name: &str, value: &Json) -> Result<(), &'static str> {
        let Some((field, declared)) = self.field_of(id, name) else { return Ok(()) };
        let resource = self.resource(id);
        if field == resource.key {
            return Err("a key cannot be changed");
        }
        if value.is_null() {
            let may_lack = declared.nullable || resource.field(field).optional;
            return if may_lack { Ok(()) } else { Err("the member is required") };
        }
        let parsed = declared.parse_json(value, self.zone()).ok();
        let fits = parsed.is_some_and(|value| declared.allows(&value));
        if fits { Ok(()) } else { Err("the value does not fit the member's schema") }
    }

    /// Returns a record as an object: its fields by name, and its sent members.
    fn as_object(&self, id: ResourceId, record: &[Value]) -> Map<String, Json> {
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

/// Rewrites the first segment of an operation's paths to the record's spelling of that member.
fn named_as(step: &Json, names: &[&String]) -> Json {
    let mut step = step.clone();
    for pointer in ["path", "from"] {
        let Some(path) = step[pointer].as_str() else { continue };
        let mut parts = path.splitn(3, '/');
        let (Some(""), Some(first)) = (parts.next(), parts.next()) else { continue };
        let told = unescape(first);
        let known = names.iter().find(|name| **name == &told);
        let Some(known) = known.or_else(|| names.iter().find(|name| plain(name) == plain(&told))) else {
            continue;
        };
        let rest = parts.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        step[pointer] = Json::from(format!("/{}{rest}", escape(known)));
    }
    step
}

/// The reason for which an operation cannot be applied.
#[derive(Debug, PartialEq)]
enum Wrong {
    /// A test operation failed.
    Test,
    Step(String),
}

/// Number of values that the rest of a patch may add.
struct Budget(usize);

impl Budget {
    /// Subtracts the values that an operation adds at a path.
    fn spend(&mut self, path: &str, value: &Json) -> Result<(), Wrong> {
        let mut open = vec![(value, path.matches('/').count())];
        while let Some((value, depth)) = open.pop() {
            let left = self.0.checked_sub(1).filter(|_| depth <= MAX_PATCH_DEPTH as usize);
            self.0 =
                left.ok_or_else(|| Wrong::Step("what the patch adds is too large or too deep".to_owned()))?;
            match value {
                Json::Object(members) => open.extend(members.values().map(|inner| (inner, depth + 1))),
                Json::Array(items) => open.extend(items.iter().map(|inner| (inner, depth + 1))),
                _ => {}
            }
        }
        Ok(())
    }
}

fn apply(whole: &mut Json, step: &Json, budget: &mut Budget) -> Result<(), Wrong> {
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
        "add" => {
            let added = value()?;
            budget.spend(path, &added)?;
            add(whole, path, added)
        }
        "remove" => remove(whole, path).map(|_| ()),
        "replace" => {
            let put = value()?;
            budget.spend(path, &put)?;
            *found(whole, path)? = put;
            Ok(())
        }
        "move" => {
            let from = pointer("from")?;
            if path.strip_prefix(from).is_some_and(|below| below.starts_with('/')) {
                return Err(Wrong::Step("nothing can be moved into itself".to_owned()));
            }
            let moved = remove(whole, from)?;
            budget.spend(path, &moved)?;
            add(whole, path, moved)
        }
        "copy" => {
            let copied = found(whole, pointer("from")?)?;
            budget.spend(path, copied)?;
            let copied = copied.clone();
            add(whole, path, copied)
        }
        "test" => {
            let expected = value()?;
            if is_same(found(whole, path)?, &expected) { Ok(()) } else { Err(Wrong::Test) }
        }
        _ => Err(Wrong::Step("expected add, remove, replace, move, copy or test".to_owned())),
    }
}

fn found<'w>(whole: &'w mut Json, path: &str) -> Result<&'w mut Json, Wrong> {
    whole.pointer_mut(path).ok_or_else(nothing)
}

/// Compares two values as RFC 6902 does (section 4.6): 1 equals 1.0.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(a), Json::Number(b)) => {
            a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64())
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        _ => one == other,
    }
}

fn nothing() -> Wrong {
    Wrong::Step("there is nothing".to_owned())
}

fn split(path: &str) -> Result<(&str, String), Wrong> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| Wrong::Step("the whole cannot go".to_owned()))?;
    Ok((above, unescape(last)))
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

/// Parses an array index (RFC 6901), which has no leading zeros.
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
            let mut budget = Budget(MAX_PATCHED_VALUES);
            assert_eq!(apply(&mut whole, &step, &mut budget).map(|()| whole), expect, "{step}");
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
        check(json!({"op": "test", "path": "/size/width", "value": 2.0}), Ok(base.clone()));
        check(json!({"op": "replace", "path": "/colour", "value": 1}), Err(nothing()));
        check(json!({"op": "remove", "path": "/tags/2"}), Err(nothing()));
        check(json!({"op": "remove", "path": "/tags/01"}), Err(nothing()));
        let into = Wrong::Step("nothing can be moved into itself".to_owned());
        check(json!({"op": "move", "from": "/size", "path": "/size/width"}), Err(into));
        let unknown = Wrong::Step("expected add, remove, replace, move, copy or test".to_owned());
        check(json!({"op": "swap", "path": "/name"}), Err(unknown));
    }

    #[test]
    fn copies_of_copies_end_a_patch_before_they_fill_the_memory() {
        let doubled = |path: String| json!({"op": "copy", "from": "", "path": path});
        let apply_all = |steps: Vec<Json>| {
            let (mut whole, mut budget) = (json!({"name": "Blue"}), Budget(MAX_PATCHED_VALUES));
            steps.iter().try_for_each(|step| apply(&mut whole, step, &mut budget))
        };
        let too_large = Err(Wrong::Step("what the patch adds is too large or too deep".to_owned()));
        assert_eq!(apply_all((0..40).map(|at| doubled(format!("/a{at}"))).collect()), too_large);
        assert_eq!(apply_all((0..MAX_STEPS).map(|_| doubled("/a".to_owned())).collect()), too_large);
        assert_eq!(apply_all((0..8).map(|at| doubled(format!("/a{at}"))).collect()), Ok(()));
    }
}
