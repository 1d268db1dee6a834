//! Finds rules of refusals in the texts of tools: a caller who can read them tries nothing that they rule
//! out.

use diorama_answers::prose::Prose;

/// The share of a rule's stems that a sentence needs to state it, and their least number.
const RULE_SHARE: f64 = 0.6;
const MIN_RULE_STEMS: usize = 2;

/// Returns true if a sentence of a tool's text states the rule of a refusal.
pub(crate) fn tells_rule(text: &str, rule: &str) -> bool {
    let stems = Prose::stems_of(rule);
    text.split([';', '.']).any(|sentence| {
        let told = Prose::stems_of(sentence);
        let shared = stems.iter().filter(|stem| told.contains(stem)).count();
        shared >= MIN_RULE_STEMS && shared as f64 >= RULE_SHARE * stems.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::tells_rule;

    #[test]
    fn a_text_tells_a_rule_if_it_has_the_words_of_the_rule() {
        let text = "Cancels a confirmed reservation. It is too late to cancel on the day of arrival.";
        let check = |rule: &str, expect: bool| assert_eq!(tells_rule(text, rule), expect, "{rule}");
        check("only a confirmed reservation can be cancelled", true);
        check("the stay is over", false);
        check("the room is taken on one of these nights", false);
    }
}
