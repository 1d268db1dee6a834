//! English for people: nouns from identifiers, and plurals.

/// Irregular and unchanging nouns that worlds are likely to have.
const IRREGULAR: &[(&str, &str)] = &[
    ("person", "people"),
    ("man", "men"),
    ("woman", "women"),
    ("child", "children"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("goose", "geese"),
    ("mouse", "mice"),
    ("ox", "oxen"),
    ("leaf", "leaves"),
    ("shelf", "shelves"),
    ("half", "halves"),
    ("calf", "calves"),
    ("wolf", "wolves"),
    ("loaf", "loaves"),
    ("thief", "thieves"),
    ("knife", "knives"),
    ("life", "lives"),
    ("wife", "wives"),
    ("hero", "heroes"),
    ("potato", "potatoes"),
    ("tomato", "tomatoes"),
    ("quiz", "quizzes"),
    ("criterion", "criteria"),
    ("phenomenon", "phenomena"),
    ("medium", "media"),
    ("datum", "data"),
    ("analysis", "analyses"),
    ("diagnosis", "diagnoses"),
    ("crisis", "crises"),
    ("basis", "bases"),
    ("thesis", "theses"),
    ("series", "series"),
    ("species", "species"),
    ("sheep", "sheep"),
    ("fish", "fish"),
    ("deer", "deer"),
    ("aircraft", "aircraft"),
    ("news", "news"),
    ("staff", "staff"),
    ("equipment", "equipment"),
    ("furniture", "furniture"),
    ("luggage", "luggage"),
    ("software", "software"),
    ("information", "information"),
    ("feedback", "feedback"),
    ("personnel", "personnel"),
];

/// The words of an identifier: `starts_at`, `startsAt` and `starts-at` become `starts at`.
pub(super) fn label(identifier: &str) -> String {
    let mut words = String::with_capacity(identifier.len() + 4);
    let mut previous = ' ';
    for character in identifier.chars() {
        let separator = matches!(character, '_' | '-' | '.' | ' ');
        let hump = character.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit());
        if (separator || hump) && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if !separator {
            words.extend(character.to_lowercase());
        }
        previous = character;
    }
    words.truncate(words.trim_end().len());
    words
}

/// The plural of a noun or a noun phrase: `meeting room` becomes `meeting rooms`, `bill of lading` `bills of lading`.
pub(super) fn plural(noun: &str) -> String {
    for link in [" of ", " in ", " for ", " on ", " with ", " to "] {
        if let Some((head, rest)) = noun.split_once(link) {
            return format!("{}{link}{rest}", plural(head));
        }
    }
    let (before, last) = noun.rsplit_once(' ').map_or(("", noun), |(before, last)| (before, last));
    let space = if before.is_empty() { "" } else { " " };
    format!("{before}{space}{}", plural_of_word(last))
}

fn plural_of_word(word: &str) -> String {
    if let Some((_, plural)) =
        IRREGULAR.iter().find(|(singular, plural)| *singular == word || *plural == word)
    {
        return (*plural).to_owned();
    }
    if let Some(stem) =
        word.strip_suffix("man").filter(|stem| !stem.is_empty() && !matches!(*stem, "hu" | "ger" | "ro"))
    {
        return format!("{stem}men");
    }
    if let Some(stem) = word.strip_suffix("person") {
        return format!("{stem}people");
    }
    let vowel_before = |suffix: &str| {
        word.strip_suffix(suffix).is_some_and(|stem| stem.ends_with(['a', 'e', 'i', 'o', 'u']))
    };
    if word.ends_with('y') && !vowel_before("y") {
        return format!("{}ies", &word[..word.len() - 1]);
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        return format!("{word}es");
    }
    format!("{word}s")
}

/// A noun as a name in JSON: `meeting rooms` becomes `meeting_rooms`.
pub(super) fn identifier(noun: &str) -> String {
    let mut name = String::with_capacity(noun.len());
    for character in noun.chars() {
        if character.is_alphanumeric() {
            name.extend(character.to_lowercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_words() {
        for (input, expect) in [
            ("starts_at", "starts at"),
            ("startsAt", "starts at"),
            ("IMDbId", "imdb id"),
            ("vote_average.gte", "vote average gte"),
            ("_x-", "x"),
            ("", ""),
        ] {
            assert_eq!(label(input), expect);
        }
    }

    #[test]
    fn plurals_are_english() {
        for (input, expect) in [
            ("dentist", "dentists"),
            ("meeting room", "meeting rooms"),
            ("category", "categories"),
            ("day", "days"),
            ("class", "classes"),
            ("box", "boxes"),
            ("branch", "branches"),
            ("salesperson", "salespeople"),
            ("craftsman", "craftsmen"),
            ("human", "humans"),
            ("person", "people"),
            ("tv series", "tv series"),
            ("bill of lading", "bills of lading"),
            ("photo", "photos"),
            ("bus", "buses"),
            ("people", "people"),
        ] {
            assert_eq!(plural(input), expect);
        }
        assert_eq!(identifier("Meeting rooms!"), "meeting_rooms");
    }
}
