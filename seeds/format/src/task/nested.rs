//! Nested calls: writes reference calls as Reverse Chain's nested labels. Example:
//! `BookRoom(guest_id=FindGuest(name='Ana'), nights=2)`.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value as Json;

use super::calls::{ArgumentSource, GoldCall};

/// Maximum bytes of a label inside of another label. Without a bound, replies that are used several times
/// would double a label with each call.
const MAX_LABEL_BYTES: usize = 1 << 14;

/// Returns the reply values that a source refers to, as call and path.
pub fn places(source: &ArgumentSource) -> Vec<(u32, &str)> {
    match source {
        ArgumentSource::Reply { call, path } => vec![(*call, path)],
        ArgumentSource::Replies { places } => places.iter().map(|(call, path)| (*call, &**path)).collect(),
        ArgumentSource::Arithmetic { of, .. } => of.iter().flat_map(places).collect(),
        _ => Vec::new(),
    }
}

/// A reference call whose reply no other call of the range uses, with the calls whose replies it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedCall {
    /// The call with its arguments. An argument from a reply is the label of the call that gave it.
    pub label: String,
    /// False if the label, or that of a call inside of it, exceeds `MAX_LABEL_BYTES` and is abbreviated.
    pub is_whole: bool,
    /// Positions of this call and of the calls inside of it, among all reference calls.
    pub calls: BTreeSet<usize>,
}

/// Nests the calls of a range that belong to the solution. They may use replies of calls before the range.
pub fn nested_calls(
    gold: &[GoldCall],
    range: Range<usize>,
    is_of_solution: impl Fn(&GoldCall) -> bool,
) -> Vec<NestedCall> {
    let range = range.start..range.end.min(gold.len());
    let own = gold.get(range.clone()).unwrap_or_default();
    let taken: BTreeSet<u32> =
        own.iter().flat_map(|call| call.sources.values()).flat_map(places).map(|(call, _)| call).collect();
    // Only later calls use a reply, so earlier labels are complete.
    let mut labels: Vec<Label> = Vec::with_capacity(range.end);
    for call in gold.iter().take(range.end) {
        labels.push(label(call, gold, &labels));
    }
    let is_root =
        |index: &usize| gold.get(*index).is_some_and(&is_of_solution) && !taken.contains(&(*index as u32));
    let roots = range.filter(is_root);
    let nested = |index: usize| {
        let Label { text, is_whole } = labels.get(index)?.clone();
        Some(NestedCall { label: text, is_whole, calls: needed(gold, index) })
    };
    roots.filter_map(nested).collect()
}

/// Returns a call and all calls that its arguments depend on.
fn needed(gold: &[GoldCall], root: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![root]);
    while let Some(index) = open.pop() {
        if found.insert(index) {
            let sources = gold.get(index).into_iter().flat_map(|call| call.sources.values());
            open.extend(sources.flat_map(places).map(|(call, _)| call as usize));
        }
    }
    found
}

/// The label of a call.
#[derive(Clone)]
struct Label {
    text: String,
    is_whole: bool,
}

/// Makes the label of a call from the labels of earlier ones. Labels that are too long are replaced by the
/// name of their API.
fn label(call: &GoldCall, gold: &[GoldCall], earlier: &[Label]) -> Label {
    let mut is_whole = true;
    let mut inner = |index: u32| match (earlier.get(index as usize), gold.get(index as usize)) {
        (Some(label), _) if label.text.len() <= MAX_LABEL_BYTES => {
            is_whole &= label.is_whole;
            label.text.clone()
        }
        (_, called) => {
            is_whole = false;
            called.map_or_else(|| "?".to_owned(), |called| format!("{}(...)", called.api))
        }
    };
    let mut arguments: Vec<String> = Vec::with_capacity(call.arguments.len());
    for (name, value) in &call.arguments {
        let shown = match call.sources.get(name) {
            Some(ArgumentSource::Reply { call, .. }) => inner(*call),
            Some(ArgumentSource::Replies { places }) => {
                let labels: Vec<String> = places.iter().map(|(call, _)| inner(*call)).collect();
                format!("[{}]", labels.join(", "))
            }
            _ => match value {
                Json::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
                other => other.to_string(),
            },
        };
        arguments.push(format!("{name}={shown}"));
    }
    let text = format!("{}({})", call.api, arguments.join(", "));
    Label { is_whole: is_whole && text.len() <= MAX_LABEL_BYTES, text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(gold: &[GoldCall], range: Range<usize>) -> Vec<String> {
        nested_calls(gold, range, |_| true).into_iter().map(|call| call.label).collect()
    }

    #[test]
    fn a_reply_that_is_taken_again_and_again_makes_no_endless_label() {
        let call = |number: u32| -> GoldCall {
            let source = |number: u32| json!({"from": "reply", "call": number, "path": "id"});
            let (arguments, sources) = match number.checked_sub(1) {
                Some(before) => {
                    (json!({"a": "x", "b": "x"}), json!({"a": source(before), "b": source(before)}))
                }
                None => (json!({"q": "it's"}), json!({})),
            };
            let call = json!({"api": "Step", "arguments": arguments, "sources": sources});
            serde_json::from_value(call).unwrap()
        };
        let gold: Vec<GoldCall> = (0..30).map(call).collect();
        let first = r"Step(q='it\'s')";
        assert_eq!(nested(&gold[..2], 0..2), [format!("Step(a={first}, b={first})")]);
        assert!(nested(&gold, 0..30)[0].len() < 1 << 17);
        // A range nests the earlier calls that it depends on.
        assert_eq!(nested(&gold, 1..2), [format!("Step(a={first}, b={first})")]);
        assert_eq!(nested(&gold, 0..1), [first]);
        let calls: Vec<usize> = nested_calls(&gold, 2..3, |_| true)[0].calls.iter().copied().collect();
        assert_eq!(calls, [0, 1, 2]);
        // A short label that contains an abbreviated one is not whole.
        let mut short_ones_with_a_cut = 0;
        for end in 1..=gold.len() {
            let NestedCall { label, is_whole, .. } = nested_calls(&gold, 0..end, |_| true).remove(0);
            let (is_cut, is_short) = (label.contains("(...)"), label.len() <= MAX_LABEL_BYTES);
            assert_eq!(is_whole, is_short && !is_cut, "{end}: {} bytes", label.len());
            short_ones_with_a_cut += usize::from(is_short && is_cut);
        }
        assert!(short_ones_with_a_cut > 0);
    }
}
