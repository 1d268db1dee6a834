//! Phrases what a call does, for the assistant's questions before it: from the text of the tool, and from the
//! act and the values of a policy rule.

use diorama_seeds::english;

/// The greatest number of words between an article and the noun that it belongs to.
const MAX_ADJECTIVES: usize = 3;
/// The greatest number of words of a unit: `cubic metres`.
const MAX_UNIT_WORDS: usize = 2;
/// The greatest number of words after the record.
const MAX_WORDS_AFTER: usize = 5;
/// Words that begin a clause about the noun, or name its owner. A question leaves them out.
const DESCRIBES: [&str; 7] = ["that", "which", "who", "whose", "where", "when", "of"];

/// Returns the act that a tool's text describes, on a record: `Pays an open fine from the card on file.` with
/// the label `fine` gives `pay the fine PF-1 from the card on file`. Returns none if the first clause does not
/// name the record by its label.
pub(crate) fn act_on(description: &str, label: &str, record: &str) -> Option<String> {
    let clause = first_clause(description);
    let words: Vec<&str> = clause.split_whitespace().collect();
    let (verb, rest) = words.split_first()?;
    let verb = infinitive(&verb.to_lowercase())?;
    // A label may end with a preposition: `daily mean of`.
    let noun = label.split(" of").next()?.rsplit(' ').next()?;
    let article = rest.iter().position(|word| *word == "the" || is_indefinite(word))?;
    let named = rest[article + 1..].iter().take(MAX_ADJECTIVES + 1).position(|word| *word == noun)?;
    let mut after = &rest[article + 1 + named + 1..];
    if after.first().is_some_and(|word| DESCRIBES.contains(word)) {
        // The complement of the verb stays: `mark the mean as valid`.
        after = &after[after.iter().position(|word| *word == "as").unwrap_or(after.len())..];
    }
    // A noun with an indefinite article stands for an argument: `with a reason`.
    if let Some(argument) = after.iter().position(|word| is_indefinite(word)) {
        after = &after[..argument.saturating_sub(1)];
    }
    if after.len() > MAX_WORDS_AFTER {
        after = &[];
    }
    let mut act = vec![verb.as_str()];
    act.extend(&rest[..article]);
    act.push(record);
    act.extend(after);
    Some(act.join(" "))
}

fn is_indefinite(word: &str) -> bool {
    matches!(word, "a" | "an" | "another" | "somebody")
}

/// Returns the words before the first mark, and before a second verb.
fn first_clause(text: &str) -> &str {
    let marks = text.find([',', '.', ';', ':', '(']);
    let second = text.find(" and ");
    let end = [marks, second].into_iter().flatten().min().unwrap_or(text.len());
    text[..end].trim()
}

/// Returns the infinitive of a verb in the third person: `cancels` gives `cancel`.
fn infinitive(verb: &str) -> Option<String> {
    // A verb and a noun have the same ending.
    let stem = verb.strip_suffix('s')?;
    let changes = ["sses", "shes", "ches", "xes", "ies"].iter().any(|ending| verb.ends_with(ending));
    Some(if changes { english::singular(verb) } else { stem.to_owned() })
}

/// Gives an act the definite article: `cancel the appointment` for `cancel an appointment`.
pub(crate) fn definite(act: &str) -> String {
    let article = [" an ", " a "].into_iter().filter_map(|article| Some((act.find(article)?, article))).min();
    match article {
        Some((at, article)) => format!("{} the {}", &act[..at], &act[at + article.len()..]),
        None => act.to_owned(),
    }
}

/// Returns a value with its noun, as people read it back: `pay day 4 June`, `3 lanes`, `length 150 minutes`.
pub(crate) fn value_phrase(noun: &str, value: &str) -> String {
    let article = ["the ", "its ", "their "].iter().find_map(|article| noun.strip_prefix(article));
    let noun = article.unwrap_or(noun);
    if let Some(things) = noun.strip_prefix("number of ") {
        let things = if value == "1" { english::singular(things) } else { things.to_owned() };
        return format!("{value} {things}");
    }
    let is_unit = |unit: &str| !unit.starts_with("the ") && unit.split(' ').count() <= MAX_UNIT_WORDS;
    if let Some((noun, unit)) = noun.rsplit_once(" in ").filter(|(_, unit)| is_unit(unit)) {
        return match value.parse::<f64>() {
            Ok(1.0) => format!("{noun} {value} {}", english::singular(unit)),
            Ok(_) => format!("{noun} {value} {unit}"),
            // The value has its currency.
            Err(_) => format!("{noun} {value}"),
        };
    }
    // The name may have the noun: `Teaching Basin`.
    let last = noun.rsplit(' ').next().unwrap_or(noun);
    if english::has_words(&value.to_lowercase(), last) {
        return value.to_owned();
    }
    format!("{noun} {value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_tool_gives_the_act_on_a_record() {
        let act = |text, label, record| act_on(text, label, record);
        assert_eq!(
            act("Pays an open fine from the card on file and tells what was paid.", "fine", "the fine PF-1"),
            Some("pay the fine PF-1 from the card on file".to_owned())
        );
        assert_eq!(
            act("Cancels an export job that is queued.", "export job", "the export job E-1"),
            Some("cancel the export job E-1".to_owned())
        );
        assert_eq!(
            act("Takes a lift out of service.", "lift", "the lift Quay 19"),
            Some("take the lift Quay 19 out of service".to_owned())
        );
        assert_eq!(
            act("Withdraws an application of the signed-in client.", "application", "it"),
            Some("withdraw it".to_owned())
        );
        assert_eq!(
            act("Marks the provisional mean of a day as valid.", "daily mean of", "the mean at Ring Road"),
            Some("mark the mean at Ring Road as valid".to_owned())
        );
        assert_eq!(
            act("Records that an adverse event is over since a day.", "adverse event", "the event AE-1"),
            Some("record that the event AE-1 is over".to_owned())
        );
        assert_eq!(
            act("Rejects a submitted report with a reason.", "report", "the report Quality circle"),
            Some("reject the report Quality circle".to_owned())
        );
    }

    #[test]
    fn a_text_that_does_not_name_the_record_gives_no_act() {
        assert_eq!(act_on("Throws a draft away with its lines.", "invoice", "the invoice I-1"), None);
        assert_eq!(act_on("For officers.", "fine", "the fine PF-1"), None);
    }

    #[test]
    fn verbs_of_the_third_person_have_an_infinitive() {
        let forms = [("cancels", "cancel"), ("applies", "apply"), ("closes", "close"), ("freezes", "freeze")];
        for (form, verb) in forms.into_iter().chain([("dismisses", "dismiss"), ("switches", "switch")]) {
            assert_eq!(infinitive(form).as_deref(), Some(verb));
        }
    }

    #[test]
    fn an_act_on_a_known_record_has_the_definite_article() {
        assert_eq!(definite("cancel an appointment"), "cancel the appointment");
        assert_eq!(definite("move a booking to another pitch"), "move the booking to another pitch");
        assert_eq!(definite("pay somebody"), "pay somebody");
    }

    #[test]
    fn values_are_read_back_with_as_few_words_as_they_need() {
        assert_eq!(value_phrase("the pay day", "4 June"), "pay day 4 June");
        assert_eq!(value_phrase("the number of lanes", "3"), "3 lanes");
        assert_eq!(value_phrase("the number of seats", "1"), "1 seat");
        assert_eq!(value_phrase("the present length in minutes", "150"), "present length 150 minutes");
        assert_eq!(value_phrase("the basin", "Teaching Basin"), "Teaching Basin");
        assert_eq!(value_phrase("the price in dollars", "$42"), "price $42");
    }
}
