//! Names that a mistyped one may have meant.

/// `did you mean a, b?`, or all names when none is near and they are few.
pub(super) fn suggest(wrong: &str, mut known: Vec<&str>) -> String {
    known.sort_unstable();
    known.dedup();
    let wrong = wrong.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .map(|name| (distance(&wrong, &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= 1 + name.chars().count().min(wrong.chars().count()) / 4)
        .collect();
    near.sort_unstable();
    if !near.is_empty() {
        let names: Vec<&str> = near.iter().take(3).map(|(_, name)| *name).collect();
        return format!("did you mean {}?", names.join(", "));
    }
    match known.len() {
        0 => "there are none here".to_owned(),
        1..=12 => format!("expected one of {}", known.join(", ")),
        more => format!("expected one of {}, and {} more", known[..12].join(", "), more - 12),
    }
}

/// Edits (insert, delete, replace) between two short texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
