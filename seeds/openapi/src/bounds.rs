//! What the names of list parameters say of fields: bounds, and orders.

use super::words::words;

/// Whether a parameter is called as one by which callers choose an order.
pub(super) fn is_order(name: &str) -> bool {
    ["sort", "sort_by", "order_by", "sortby", "orderby", "ordering"].contains(&words(name).join("_").as_str())
}

/// The field by which a value orders: `-price` and `price.desc` order by `price`.
pub(super) fn ordered_by(value: &str) -> &str {
    let value = value.strip_prefix('-').unwrap_or(value);
    value.strip_suffix(".desc").or_else(|| value.strip_suffix(".asc")).unwrap_or(value)
}

/// `vote_average_gte` is `vote_average` from below.
pub(super) fn bound(joined: &str) -> Option<(String, &'static str)> {
    const SUFFIXES: [(&str, &str); 16] = [
        ("_gte", "ge"),
        ("_lte", "le"),
        ("_gt", "gt"),
        ("_lt", "lt"),
        ("_min", "ge"),
        ("_max", "le"),
        ("_from", "ge"),
        ("_to", "le"),
        ("_after", "ge"),
        ("_before", "le"),
        ("_since", "ge"),
        ("_until", "le"),
        ("_start", "ge"),
        ("_end", "le"),
        ("_ge", "ge"),
        ("_le", "le"),
    ];
    const PREFIXES: [(&str, &str); 8] = [
        ("min_", "ge"),
        ("max_", "le"),
        ("from_", "ge"),
        ("to_", "le"),
        ("minimum_", "ge"),
        ("maximum_", "le"),
        ("after_", "ge"),
        ("before_", "le"),
    ];
    let suffix =
        SUFFIXES.iter().find_map(|(ending, op)| Some((joined.strip_suffix(ending)?.to_owned(), *op)));
    suffix.or_else(|| {
        PREFIXES.iter().find_map(|(beginning, op)| Some((joined.strip_prefix(beginning)?.to_owned(), *op)))
    })
}

/// Field names that a filter's stem may mean.
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
