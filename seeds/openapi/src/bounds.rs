//! Reads the names of list parameters: bounds on a field, and orders.

use diorama_seeds::doc::Comparison;

use super::words::words;

/// Returns true if callers choose an order by a parameter of this name.
pub(super) fn is_order(name: &str) -> bool {
    ["sort", "sort_by", "order_by", "sortby", "orderby", "ordering"].contains(&words(name).join("_").as_str())
}

/// Returns the field that an order value names: `-price` and `price.desc` order by `price`.
pub(super) fn ordered_by(value: &str) -> &str {
    let value = value.strip_prefix('-').unwrap_or(value);
    value.strip_suffix(".desc").or_else(|| value.strip_suffix(".asc")).unwrap_or(value)
}

/// Endings of bounds on the field before them.
const SUFFIXES: [(&str, Comparison); 16] = [
    ("_gte", Comparison::GreaterOrEqual),
    ("_lte", Comparison::LessOrEqual),
    ("_gt", Comparison::Greater),
    ("_lt", Comparison::Less),
    ("_ge", Comparison::GreaterOrEqual),
    ("_le", Comparison::LessOrEqual),
    ("_min", Comparison::GreaterOrEqual),
    ("_max", Comparison::LessOrEqual),
    ("_from", Comparison::GreaterOrEqual),
    ("_to", Comparison::LessOrEqual),
    ("_after", Comparison::GreaterOrEqual),
    ("_before", Comparison::LessOrEqual),
    ("_since", Comparison::GreaterOrEqual),
    ("_until", Comparison::LessOrEqual),
    ("_start", Comparison::GreaterOrEqual),
    ("_end", Comparison::LessOrEqual),
];

/// Returns the other names of a bound: `price_ge`, `price_min` of `price_gte`.
pub(super) fn synonyms(name: &str) -> Vec<String> {
    let known = SUFFIXES.iter().find_map(|(ending, op)| Some((name.strip_suffix(ending)?, *op)));
    let Some((stem, op)) = known else { return Vec::new() };
    let same = SUFFIXES.iter().filter(|(_, other)| *other == op);
    same.map(|(ending, _)| format!("{stem}{ending}")).filter(|other| other != name).collect()
}

/// Splits the name of a bound into field and comparison: `vote_average_gte` bounds `vote_average` from below.
pub(super) fn bound(joined: &str) -> Option<(String, Comparison)> {
    const PREFIXES: [(&str, Comparison); 8] = [
        ("min_", Comparison::GreaterOrEqual),
        ("max_", Comparison::LessOrEqual),
        ("from_", Comparison::GreaterOrEqual),
        ("to_", Comparison::LessOrEqual),
        ("minimum_", Comparison::GreaterOrEqual),
        ("maximum_", Comparison::LessOrEqual),
        ("after_", Comparison::GreaterOrEqual),
        ("before_", Comparison::LessOrEqual),
    ];
    let suffix =
        SUFFIXES.iter().find_map(|(ending, op)| Some((joined.strip_suffix(ending)?.to_owned(), *op)));
    suffix.or_else(|| {
        PREFIXES.iter().find_map(|(beginning, op)| Some((joined.strip_prefix(beginning)?.to_owned(), *op)))
    })
}

/// Returns the field names that a filter's stem may stand for.
pub(super) fn stems(stem: &str) -> Vec<String> {
    let mut out = vec![stem.to_owned()];
    for prefix in ["with_", "primary_", "original_"] {
        if let Some(rest) = stem.strip_prefix(prefix) {
            out.push(rest.to_owned());
        }
    }
    for ending in ["_date", "_at", "d_at", "ed_at"] {
        out.push(format!("{stem}{ending}"));
    }
    out
}
