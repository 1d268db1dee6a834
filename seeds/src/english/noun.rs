//! Owns singular, plural and article of nouns.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::table::rows;

/// Nouns with an irregular plural, as singular and plural, which may be equal.
static NOUNS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let nouns = rows(include_str!("../../data/nouns.txt"));
    nouns.map(|noun| noun.split_once(' ').unwrap_or((noun, noun))).collect()
});

/// Further plurals. If two nouns share a plural, the table has the one that collections use: leave, not leaf.
const FURTHER: &[(&str, &str)] = &[("indices", "index"), ("leaves", "leave"), ("bases", "base")];

/// The singulars of irregular nouns, by either form.
static KNOWN: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let (unchanging, others): (Vec<_>, Vec<_>) = NOUNS.iter().copied().partition(|(one, many)| one == many);
    let forms = others.into_iter().flat_map(|(one, many)| [(many, one), (one, one)]);
    let mut known = HashMap::new();
    for (form, one) in unchanging.into_iter().chain(FURTHER.iter().copied()).chain(forms) {
        known.entry(form).or_insert(one);
    }
    known
});

/// Minimum length in bytes of irregular plurals that are also found at the end of words. Shorter ones occur
/// there by chance.
const WITHIN: usize = 6;

/// Returns the singular of a noun in lower case. A singular stays as it is.
///
/// ```
/// use diorama_seeds::english::singular;
///
/// assert_eq!(singular("companies"), "company");
/// assert_eq!(singular("status"), "status");
/// ```
pub fn singular(word: &str) -> String {
    if let Some(one) = KNOWN.get(word) {
        return (*one).to_owned();
    }
    if let Some(stem) = word.strip_suffix("people") {
        return format!("{stem}person");
    }
    // Names may be written as one word: `userstatuses`.
    let last = word.as_bytes().last();
    let ends = |many: &str| many.len() >= WITHIN && many.as_bytes().last() == last;
    let within = NOUNS.iter().filter(|(one, many)| one != many && ends(many));
    if let Some((stem, one)) = within.filter_map(|(one, many)| Some((word.strip_suffix(many)?, one))).next() {
        return format!("{stem}{one}");
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
        // Initialisms end in any letter: APIs, SKUs.
        Some(stem) if stem.len() == 3 && stem.ends_with(['u', 'i']) => stem.to_owned(),
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns true if a noun in lower case is a plural.
pub fn is_plural(word: &str) -> bool {
    singular(word) != word
}

/// Returns the plural of a noun or noun phrase. A plural stays as it is.
///
/// ```
/// use diorama_seeds::english::plural;
///
/// assert_eq!(plural("meeting room"), "meeting rooms");
/// assert_eq!(plural("bill of lading"), "bills of lading");
/// ```
pub fn plural(noun: &str) -> String {
    for link in [" of ", " in ", " for ", " on ", " with ", " to "] {
        if let Some((head, rest)) = noun.split_once(link) {
            return format!("{}{link}{rest}", plural(head));
        }
    }
    match noun.rsplit_once(' ') {
        Some((before, last)) => format!("{before} {}", plural_of_word(last)),
        None => plural_of_word(noun),
    }
}

fn plural_of_word(word: &str) -> String {
    if let Some((_, many)) = NOUNS.iter().find(|(one, _)| *one == word) {
        return (*many).to_owned();
    }
    if is_plural(word) {
        return word.to_owned();
    }
    if let Some(stem) =
        word.strip_suffix("man").filter(|stem| !stem.is_empty() && !matches!(*stem, "hu" | "ger" | "ro"))
    {
        return format!("{stem}men");
    }
    if let Some(stem) = word.strip_suffix("person") {
        return format!("{stem}people");
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// Returns the indefinite article of a noun phrase, by the pronunciation of its first word: an hour, a
/// university, an SMS, an 8.
///
/// ```
/// use diorama_seeds::english::article;
///
/// assert_eq!((article("umbrella"), article("user"), article("MRI scan")), ("an", "a", "an"));
/// ```
pub fn article(phrase: &str) -> &'static str {
    // These vowels sound like "you" or "won". `NOT_YOU` has the exceptions.
    const YOU: [&str; 10] = ["uni", "use", "usu", "util", "ubiq", "ufo", "uran", "eu", "one", "once"];
    const NOT_YOU: [&str; 3] = ["unin", "unim", "unid"];
    const SILENT: [&str; 5] = ["hour", "honest", "honor", "honour", "heir"];
    let first =
        phrase.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let begins = |starts: &[&str], word: &str| starts.iter().any(|start| word.starts_with(start));
    let vowel = if first.starts_with(|c: char| c.is_ascii_digit()) {
        first.starts_with('8') || first == "11" || first == "18"
    } else if first.chars().count() > 1 && first.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    {
        // Initialisms are spoken letter by letter.
        first.starts_with(['A', 'E', 'F', 'H', 'I', 'L', 'M', 'N', 'O', 'R', 'S', 'X'])
    } else {
        let word = first.to_lowercase();
        let you = begins(&YOU, &word) && !begins(&NOT_YOU, &word);
        begins(&SILENT, &word) || (word.starts_with(['a', 'e', 'i', 'o', 'u']) && !you)
    };
    if vowel { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_change_number_both_ways() {
        for (one, many) in [
            ("person", "people"),
            ("movie", "movies"),
            ("company", "companies"),
            ("day", "days"),
            ("box", "boxes"),
            ("branch", "branches"),
            ("class", "classes"),
            ("address", "addresses"),
            ("series", "series"),
            ("genre", "genres"),
            ("pet", "pets"),
            ("photo", "photos"),
            ("status", "statuses"),
            ("bus", "buses"),
            ("course", "courses"),
            ("cache", "caches"),
            ("shoe", "shoes"),
            ("lens", "lenses"),
            ("menu", "menus"),
            ("id", "ids"),
            ("api", "apis"),
            ("sku", "skus"),
            ("user status", "user statuses"),
            ("tie", "ties"),
            ("analysis", "analyses"),
        ] {
            assert_eq!(singular(many), one);
            assert_eq!(singular(one), one);
            assert_eq!(plural(one), many);
            assert_eq!(plural(many), many);
            assert_eq!(is_plural(many), one != many);
        }
        assert_eq!(singular("indices"), "index");
    }

    #[test]
    fn phrases_have_plurals_too() {
        for (input, expect) in [
            ("meeting room", "meeting rooms"),
            ("production company", "production companies"),
            ("TV show", "TV shows"),
            ("tv series", "tv series"),
            ("bill of lading", "bills of lading"),
            ("salesperson", "salespeople"),
            ("craftsman", "craftsmen"),
            ("human", "humans"),
        ] {
            assert_eq!(plural(input), expect);
        }
    }

    #[test]
    fn every_irregular_noun_comes_back_from_its_plural() {
        for (one, many) in NOUNS.iter() {
            let other = FURTHER.iter().any(|(plural, _)| plural == many) || NOUNS.contains(&(*many, *many));
            assert!(other || singular(many) == *one, "{many}");
            assert_eq!(plural(one), *many);
        }
    }

    #[test]
    fn articles_follow_the_sound() {
        for (phrase, expect) in [
            ("dentist", "a"),
            ("appointment", "an"),
            ("hour", "an"),
            ("honest answer", "an"),
            ("house", "a"),
            ("unit", "a"),
            ("uninsured car", "an"),
            ("umbrella", "an"),
            ("user name", "a"),
            ("European city", "a"),
            ("one-way ticket", "a"),
            ("SMS", "an"),
            ("URL", "a"),
            ("ID card", "an"),
            ("TV show", "a"),
            ("8 o'clock slot", "an"),
            ("18-month plan", "an"),
            ("10-day forecast", "a"),
            ("\"old\" offer", "an"),
            ("", "a"),
        ] {
            assert_eq!(article(phrase), expect, "{phrase}");
        }
    }
}
