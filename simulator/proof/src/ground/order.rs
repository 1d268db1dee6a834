//! Matches superlatives such as `the cheapest` or `the two latest` with sort parameters.

use diorama_answers::prose::{Prose, Span};
use diorama_engine::{Body, Origin};
use diorama_seeds::model::{Api, FieldId, Parameter, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::GoldCall;
use diorama_seeds::value::Value;

use super::text::folded;

/// The order that a sort parameter requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortOrder {
    /// The field that it sorts by.
    pub(crate) field: FieldId,
    /// True if the greatest comes first.
    pub(crate) descending: bool,
    /// True if the field is a day, a time or a timestamp.
    of_time: bool,
}

/// The end of an order that a word asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Low,
    High,
    Either,
}

impl SortOrder {
    /// Returns the order that a call's sort parameter requests; none where it sorts nothing.
    pub(crate) fn from_call(gold: &GoldCall, world: &World) -> Option<Self> {
        let api = world.api(world.api_named(&gold.api)?);
        let (parameter, _) = api.query()?.sort_parameter.as_ref()?;
        let parameter = &api.parameters[parameter.index()];
        let value = parameter.schema.parse_json(gold.arguments.get(&*parameter.name)?, &world.zone).ok()?;
        Self::from_parameter(api, parameter, &value, world)
    }

    /// Returns the order of a sort parameter's value; none where the parameter sorts nothing.
    pub(crate) fn from_parameter(
        api: &Api,
        parameter: &Parameter,
        value: &Value,
        world: &World,
    ) -> Option<Self> {
        let query = api.query()?;
        let (sorts, fields) = query.sort_parameter.as_ref()?;
        if api.parameters[sorts.index()].name != parameter.name {
            return None;
        }
        let text = value.as_str()?.to_lowercase();
        let descending = text.starts_with('-') || text.ends_with("desc") || text.ends_with("descending");
        let resource = world.resource(query.resource);
        let named = |field: &&FieldId| {
            let name = folded(&resource.field(**field).name);
            let bare = folded(text.trim_end_matches("descending").trim_end_matches("ascending"));
            bare.trim_end_matches("desc").trim_end_matches("asc") == name || bare == name
        };
        let field = *fields.iter().find(named)?;
        let of_time = matches!(resource.field(field).schema.kind, Type::Date | Type::Time | Type::DateTime);
        Some(Self { field, descending, of_time })
    }

    /// Returns the word of a text that asks for this order.
    pub(crate) fn find_request(self, prose: &Prose) -> Option<Span> {
        prose.words().find_map(|(word, span)| {
            let end = end_of(&word.to_lowercase(), self.of_time)?;
            let fits = match end {
                End::Either => true,
                End::High => self.descending,
                End::Low => !self.descending,
            };
            fits.then_some(span)
        })
    }

    /// Returns true if a text asks for the other end of an order, and not for this one.
    pub(crate) fn is_other_in(self, prose: &Prose) -> bool {
        self.find_request(prose).is_none()
            && Self { descending: !self.descending, ..self }.find_request(prose).is_some()
    }
}

/// Returns the members in which an item is the only least or greatest one of its list, where the user asked
/// for that.
/// The flag is true for the greatest.
pub(crate) fn extremes<'a>(
    items: &'a [Body],
    index: usize,
    said: &'a [Prose],
) -> impl Iterator<Item = (String, &'a Origin, bool)> {
    let leaves = items.get(index).into_iter().flat_map(Body::leaves);
    leaves.filter_map(move |(path, value, origin)| {
        let of_time = matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_));
        let own = value.ordinal()?;
        let others = items.iter().enumerate().filter(|(other, _)| *other != index);
        let others: Vec<f64> =
            others.map(|(_, other)| other.at(&path)?.value()?.ordinal()).collect::<Option<_>>()?;
        let asks = |greatest| said.iter().any(|prose| asks_for_extreme(prose, greatest, of_time));
        if others.iter().all(|other| *other > own) && asks(false) {
            return Some((path, origin, false));
        }
        (others.iter().all(|other| *other < own) && asks(true)).then_some((path, origin, true))
    })
}

/// Returns true if a text asks for the least or the greatest, of a time or of another value.
fn asks_for_extreme(prose: &Prose, greatest: bool, of_time: bool) -> bool {
    let wanted = if greatest { End::High } else { End::Low };
    prose
        .words()
        .filter_map(|(word, _)| end_of(&word.to_lowercase(), of_time))
        .any(|end| end == wanted || end == End::Either)
}

/// Returns the end that a superlative or an ordering word asks for.
/// `latest` is the greatest time and `oldest` the least; other values go by size.
fn end_of(word: &str, of_time: bool) -> Option<End> {
    const LOW: [&str; 12] = [
        "low", "cheap", "short", "small", "few", "light", "near", "close", "least", "bottom", "fewer",
        "quick",
    ];
    const HIGH: [&str; 12] =
        ["high", "dear", "long", "large", "big", "great", "heavy", "far", "farth", "furth", "top", "best"];
    const EARLY: [&str; 5] = ["early", "old", "soon", "first", "next"];
    const LATE: [&str; 5] = ["late", "new", "recent", "last", "fresh"];
    if matches!(word, "most" | "ordered" | "sorted" | "ranked") {
        return Some(End::Either);
    }
    let stem = word.strip_suffix("est").unwrap_or(word);
    // The base may gain a letter: `earliest`, `biggest`, `latest`, `largest`.
    let is = |base: &&str| {
        let doubled = stem.len() == base.len() + 1
            && stem.starts_with(*base)
            && stem.as_bytes().last() == base.as_bytes().last();
        word == *base
            || stem == *base
            || doubled
            || stem.strip_suffix('i').is_some_and(|start| base.strip_suffix('y') == Some(start))
            || base.strip_suffix('e') == Some(stem)
    };
    let superlative = word.ends_with("est")
        || matches!(
            word,
            "first" | "last" | "next" | "least" | "top" | "best" | "bottom" | "lowest" | "highest"
        );
    if !superlative {
        return None;
    }
    let (early, late) = (EARLY.iter().any(&is), LATE.iter().any(&is));
    match (of_time, early, late) {
        (true, true, _) => Some(End::Low),
        (true, _, true) => Some(End::High),
        (false, true, _) | (false, _, true) => Some(End::Either),
        _ if LOW.iter().any(&is) => Some(End::Low),
        _ if HIGH.iter().any(is) => Some(End::High),
        _ => word.ends_with("est").then_some(End::Either),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superlatives_ask_for_an_end() {
        for (word, of_time, expect) in [
            ("cheapest", false, Some(End::Low)),
            ("lowest", false, Some(End::Low)),
            ("biggest", false, Some(End::High)),
            ("largest", false, Some(End::High)),
            ("latest", true, Some(End::High)),
            ("earliest", true, Some(End::Low)),
            ("newest", true, Some(End::High)),
            ("nicest", false, Some(End::Either)),
            ("cheap", false, None),
            ("table", false, None),
        ] {
            assert_eq!(end_of(word, of_time), expect, "{word}");
        }
    }
}
