//! Calls that a gold path leaves out: from what is known to the id that it asks for next.
//!
//! Reverse Chain completes an argument that nobody gave "from other APIs", and RestBench counts a path as correct when
//! the gold path is a subsequence of the calls made. So a missing id is looked for in other operations of the same
//! world, breadth first, whose own required parameters earlier replies fill, or the names of the query.

use super::named::Named;
use super::template::{Takes, Template, Templates};

/// At most so many calls in a row.
const MOST_CALLS: usize = 2;
/// At most so many rows of calls for one id.
const MOST_PLANS: usize = 8;

/// What is known when an id is missing.
pub(super) struct Known<'a> {
    /// Kinds of which a reply showed a record that would be followed.
    pub(super) seen: Vec<String>,
    /// Names of the query that nothing has searched for.
    pub(super) named: Vec<&'a Named>,
}

/// Rows of calls that may show a record of a kind, the shortest first, then in the document's order.
pub(super) fn plans<'a>(templates: &'a Templates, kind: &str, known: &Known<'_>) -> Vec<Vec<&'a Template>> {
    let Some(resource) = templates.resource(kind) else { return Vec::new() };
    let shows = |template: &Template, resource: &str| template.shows.iter().any(|shown| shown == resource);
    let mut plans = Vec::new();
    let mut rows: Vec<(Vec<&Template>, Vec<String>)> = vec![(Vec::new(), known.seen.clone())];
    for _ in 0..MOST_CALLS {
        let mut longer = Vec::new();
        for (row, seen) in &rows {
            for template in templates.iter().filter(|template| template.method == "GET") {
                // A call that needs nothing of what the one before it found does not follow from it.
                let follows = row.last().is_none_or(|last| needs_one_of(template, last));
                if !follows || !can_be_filled(templates, template, seen, &known.named, kind) {
                    continue;
                }
                let mut row = row.clone();
                row.push(template);
                if shows(template, resource) {
                    plans.push(row);
                } else {
                    let mut seen = seen.clone();
                    seen.extend(templates.kinds().into_iter().filter(|kind| {
                        templates.resource(kind).is_some_and(|resource| shows(template, resource))
                    }));
                    longer.push((row, seen));
                }
            }
        }
        rows = longer;
    }
    plans.truncate(MOST_PLANS);
    plans
}

/// Whether an operation takes the key of something that another one shows.
fn needs_one_of(template: &Template, shown: &Template) -> bool {
    let taken = template.required.iter().filter_map(|(_, takes)| match takes {
        Takes::Key(resource) => Some(resource),
        Takes::Listed | Takes::Other => None,
    });
    taken.into_iter().any(|resource| shown.shows.contains(resource))
}

/// The name that an operation would look up: by its words, or in the whole list of what is wanted.
pub(super) fn looked_up<'n>(
    templates: &Templates,
    template: &Template,
    named: &[&'n Named],
) -> Option<&'n Named> {
    let searched = template.searched();
    named.iter().copied().find(|named| match &searched {
        Some(kind) => *kind == named.kind,
        None => {
            template.required.is_empty()
                && template.lists.is_some()
                && template.lists.as_deref() == templates.resource(&named.kind)
        }
    })
}

/// Whether every required parameter has a source, and one of them is the query or an earlier reply: a list that takes
/// nothing shows records that have nothing to do with the query, unless it is searched for a name.
fn can_be_filled(
    templates: &Templates,
    template: &Template,
    seen: &[String],
    named: &[&Named],
    wanted: &str,
) -> bool {
    let name = looked_up(templates, template, named);
    let mut bound = name.is_some_and(|named| template.searched().is_some() || named.kind == wanted);
    let text = template.text_parameter().filter(|_| name.is_some());
    for (parameter, takes) in &template.required {
        match takes {
            Takes::Key(resource) => {
                let source = seen.iter().any(|kind| templates.resource(kind) == Some(resource));
                if !source {
                    return false;
                }
                bound = true;
            }
            Takes::Listed => {}
            Takes::Other if text == Some(parameter) => {}
            Takes::Other if parameter.ends_with("number") => {}
            Takes::Other => return false,
        }
    }
    bound
}
