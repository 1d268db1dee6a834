//! English words: taking identifiers apart, and the number of nouns. Knows endings, no worlds.

/// Takes an identifier apart: `GET_movie-movie_id`, `petId`, `with_genres` become lower-case words.
#[must_use]
pub fn split_identifier(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut previous_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            if !current.is_empty() {
                out.push(std::mem::take(&mut current));
            }
            previous_lower = false;
            continue;
        }
        if c.is_uppercase() && previous_lower {
            out.push(std::mem::take(&mut current));
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
        current.extend(c.to_lowercase());
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}

/// The singular of an English noun, lower-case.
#[must_use]
pub fn singular(word: &str) -> String {
    const FIXED: [(&str, &str); 22] = [
        ("people", "person"),
        ("children", "child"),
        ("men", "man"),
        ("women", "woman"),
        ("movies", "movie"),
        ("series", "series"),
        ("news", "news"),
        ("status", "status"),
        ("species", "species"),
        ("media", "media"),
        ("data", "data"),
        ("cookies", "cookie"),
        ("calories", "calorie"),
        ("feet", "foot"),
        ("mice", "mouse"),
        ("indices", "index"),
        ("indexes", "index"),
        ("statuses", "status"),
        ("addresses", "address"),
        ("gas", "gas"),
        ("leaves", "leave"),
        ("shelves", "shelf"),
    ];
    if let Some((_, fixed)) = FIXED.iter().find(|(plural, _)| *plural == word) {
        return (*fixed).to_owned();
    }
    for (ending, replacement) in [
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("zzes", "zz"),
        ("oes", "o"),
    ] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) {
            return format!("{stem}{replacement}");
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !["s", "u", "i"].iter().any(|end| stem.ends_with(end)) => {
            stem.to_owned()
        }
        _ => word.to_owned(),
    }
}

/// Whether a word is written as a plural.
#[must_use]
pub fn is_plural(word: &str) -> bool {
    singular(word) != word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_change_number() {
        for (many, one) in [
            ("people", "person"),
            ("movies", "movie"),
            ("companies", "company"),
            ("boxes", "box"),
            ("series", "series"),
            ("genres", "genre"),
            ("addresses", "address"),
            ("pets", "pet"),
            ("statuses", "status"),
            ("buses", "buse"),
        ] {
            assert_eq!(singular(many), one);
        }
        assert_eq!(singular("bus"), "bus");
    }

    #[test]
    fn identifiers_are_taken_apart() {
        assert_eq!(split_identifier("GET_movie-movie_id"), ["get", "movie", "movie", "id"]);
        assert_eq!(split_identifier("petIdV2"), ["pet", "id", "v2"]);
    }
}
