//! Owns the search for the names that a mistyped one may have meant.

/// Maximum number of compared characters. Longer names are compared by their beginnings.
const COMPARED: usize = 64;

/// Returns the Levenshtein distance of two texts, whatever their case. It takes time proportional to the
/// product of both lengths.
pub fn distance(one: &str, other: &str) -> usize {
    strsim::levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// Returns the names that a wrong one may have meant: at most three, the nearest first, then in alphabetical
/// order. A name is near if one edit leads to it, plus one for each four letters of the shorter name.
///
/// ```
/// use diorama_seeds::english::near;
///
/// assert_eq!(near("docter", ["doctor", "dentist", "date"]), ["doctor"]);
/// ```
pub fn near<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let beginning = |text: &str| text.chars().take(COMPARED).collect::<String>();
    let begun = beginning(wrong);
    let allowed = |name: &str| 1 + name.chars().count().min(wrong.chars().count()) / 4;
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (distance(&begun, &beginning(name)), name))
        .filter(|(edits, name)| *edits <= allowed(name))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_whatever_the_case() {
        for (one, other, expect) in [
            ("", "", 0),
            ("fee", "fees", 1),
            ("Docter", "doctor", 1),
            ("kitten", "sitting", 3),
            ("ä", "a", 1),
        ] {
            assert_eq!(distance(one, other), expect, "{one} {other}");
            assert_eq!(distance(other, one), expect, "{other} {one}");
        }
    }

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["starts_at", "start", "ends_at", "state", "starts", "stars"];
        let check = |wrong: &str, expect: &[&str]| assert_eq!(near(wrong, known), expect, "{wrong}");
        check("strts", &["starts", "stars", "start"]);
        check("ends_on", &["ends_at"]);
        check("weather", &[]);
        check(&"x".repeat(100_000), &[]);
    }
}
