//! Words: taking identifiers apart, number of nouns, names for people. Knows English endings, no documents.

/// Takes an identifier apart: `GET_movie-movie_id`, `petId`, `with_genres` become lower-case words.
pub(super) fn words(text: &str) -> Vec<String> {
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

/// The words as one CamelCase name of ASCII letters and digits.
pub(super) fn camel<S: AsRef<str>>(words: &[S]) -> String {
    let mut out = String::new();
    for word in words {
        let mut characters = word.as_ref().chars().filter(char::is_ascii_alphanumeric);
        if let Some(first) = characters.next() {
            out.push(first.to_ascii_uppercase());
            out.extend(characters);
        }
    }
    out
}

/// The identifier of a resource or field: lower-case ASCII words joined by `_`, never a reserved word.
pub(super) fn snake(text: &str) -> String {
    let joined = words(text)
        .iter()
        .map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    guard(if joined.is_empty() { "value".to_owned() } else { joined })
}

/// The name under which a member of a schema stands in the world: itself where that is an identifier.
pub(super) fn identifier(name: &str) -> String {
    if is_identifier(name) { guard(name.to_owned()) } else { snake(name) }
}

/// Whether the expression language can read it after a dot.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Words that the expression language reads as something else.
const RESERVED: [&str; 27] = [
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
    "true",
    "false",
    "null",
    "args",
    "record",
    "item",
    "me",
    "now",
    "today",
];

fn guard(name: String) -> String {
    if RESERVED.contains(&name.as_str()) {
        format!("{name}_value")
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("n{name}")
    } else {
        name
    }
}

/// The singular of an English noun, lower-case.
pub(super) fn singular(word: &str) -> String {
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

/// The plural of an English noun or noun phrase, lower-case.
pub(super) fn plural(phrase: &str) -> String {
    let (head, last) = match phrase.rsplit_once(' ') {
        Some((head, last)) => (format!("{head} "), last),
        None => (String::new(), phrase),
    };
    let many = match last {
        "person" => "people".to_owned(),
        "child" => "children".to_owned(),
        "series" | "news" | "species" | "media" | "data" => last.to_owned(),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| last.ends_with(end)) => format!("{last}es"),
        _ => match last.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
            _ => format!("{last}s"),
        },
    };
    format!("{head}{many}")
}

/// Whether a name says that it holds a key without a meaning of its own: `id`, `user_id`, `uuid`.
pub(super) fn is_id(name: &str) -> bool {
    words(name).last().is_some_and(|last| ["id", "uuid", "guid"].contains(&last.as_str()))
}

/// Whether a word is written as a plural.
pub(super) fn is_plural(word: &str) -> bool {
    singular(word) != word
}

/// A name as people read it: words with spaces, some abbreviations spelt out.
pub(super) fn label(name: &str) -> String {
    match name {
        "iso_639_1" => return "language code".to_owned(),
        "iso_3166_1" => return "country code".to_owned(),
        "tv" => return "TV show".to_owned(),
        _ => {}
    }
    // A reserved word stands with a suffix in the world, and by itself in what people say.
    if let Some(word) = name.strip_suffix("_value").filter(|word| RESERVED.contains(word)) {
        return word.to_owned();
    }
    let spelt: Vec<String> = words(name)
        .into_iter()
        .map(|word| match word.as_str() {
            "id" => "ID".to_owned(),
            "url" | "uri" => "web address".to_owned(),
            "tv" => "TV".to_owned(),
            "imdb" => "IMDb".to_owned(),
            "qty" => "quantity".to_owned(),
            _ => word,
        })
        .collect();
    if spelt.is_empty() { "value".to_owned() } else { spelt.join(" ") }
}

/// What a number's name measures, and in what: `weight_kg` is a weight in kg.
pub(super) fn measured(name: &str) -> Option<(String, &'static str)> {
    const UNITS: [(&str, &str); 38] = [
        ("kg", "kg"),
        ("kilograms", "kg"),
        ("grams", "g"),
        ("lb", "lb"),
        ("lbs", "lb"),
        ("pounds", "lb"),
        ("km", "km"),
        ("kilometers", "km"),
        ("kilometres", "km"),
        ("miles", "miles"),
        ("meters", "m"),
        ("metres", "m"),
        ("cm", "cm"),
        ("mm", "mm"),
        ("ms", "ms"),
        ("millis", "ms"),
        ("milliseconds", "ms"),
        ("seconds", "seconds"),
        ("secs", "seconds"),
        ("minutes", "minutes"),
        ("mins", "minutes"),
        ("hours", "hours"),
        ("days", "days"),
        ("weeks", "weeks"),
        ("months", "months"),
        ("percent", "%"),
        ("pct", "%"),
        ("ml", "ml"),
        ("liters", "l"),
        ("litres", "l"),
        ("eur", "EUR"),
        ("usd", "USD"),
        ("gbp", "GBP"),
        ("celsius", "°C"),
        ("kb", "KB"),
        ("mb", "MB"),
        ("gb", "GB"),
        ("bytes", "bytes"),
    ];
    let parts = words(name);
    let (last, stem) = parts.split_last()?;
    let (_, unit) = UNITS.iter().find(|(word, _)| word == last)?;
    let stem = stem.strip_suffix(&["in".to_owned()]).unwrap_or(stem);
    let counts = |word: &String| {
        ["of", "num", "number", "count", "per", "max", "min", "total"].contains(&word.as_str())
    };
    let what = stem.last().filter(|word| !counts(word)).map(|_| label(&stem.join("_")));
    what.map(|what| (what, *unit))
}

/// The first sentence of a description, without Markdown, on one line and bounded.
pub(super) fn sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let flat = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = strip_links(&flat).replace(['`', '*', '#'], "");
    let end = flat
        .match_indices(". ")
        .map(|(at, _)| at + 1)
        .find(|end| flat.get(..*end).is_some_and(|head| !head.ends_with("e.g.") && !head.ends_with("i.e.")))
        .unwrap_or(flat.len());
    let first = flat.get(..end).unwrap_or(&flat).trim();
    let bounded: String = first.chars().take(300).collect();
    bounded
}

/// Replaces `[text](target)` by `text`.
fn strip_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some(middle) = rest.get(open..).and_then(|tail| tail.find("](")).map(|at| open + at) else {
            break;
        };
        let Some(close) = rest.get(middle..).and_then(|tail| tail.find(')')).map(|at| middle + at) else {
            break;
        };
        out.push_str(rest.get(..open).unwrap_or_default());
        out.push_str(rest.get(open + 1..middle).unwrap_or_default());
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_change_number_both_ways() {
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
        assert_eq!(plural("production company"), "production companies");
        assert_eq!(plural("TV show"), "TV shows");
    }

    #[test]
    fn identifiers_are_taken_apart_and_put_together() {
        assert_eq!(words("GET_movie-movie_id"), ["get", "movie", "movie", "id"]);
        assert_eq!(words("petIdV2"), ["pet", "id", "v2"]);
        assert_eq!(camel(&words("get movie details")), "GetMovieDetails");
        assert_eq!(snake("X-Rate Limit"), "x_rate_limit");
        assert_eq!(identifier("24h"), "n24h");
        assert_eq!(identifier("in"), "in_value");
        assert_eq!(sentence("Get [this](#a) now. And `more`.\n\nRest"), "Get this now.");
    }
}
