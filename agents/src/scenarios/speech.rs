//! What operators, assistants and users say whatever the domain: the catalog's words, read once.

use std::sync::LazyLock;

use diorama_seeds::world::read_words;
use serde::Deserialize;

/// The words. A name in braces stands for a value.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speech {
    /// Operators, of an assistant for any service.
    pub assistants: Vec<String>,
    /// Operators, of how tools are found.
    pub tools_are_found: Vec<String>,
    /// Operators, before the rules of a policy.
    pub policy: Vec<String>,
    /// Operators, of a policy that stands in articles. `{tool}` searches them.
    pub policy_articles: Vec<String>,
    /// Beginnings of articles that were replaced on a `{date}` by one with the `{title}`.
    pub replaced_articles: Vec<String>,
    /// Articles that tell no rule: title and text. `{acts}` are what rules govern.
    pub general_articles: Vec<Vec<String>>,
    /// Operators, of an assistant for all services of a world.
    pub services: String,
    /// Operators, of other services whose tools the assistant of one service has.
    pub other_services: Vec<String>,
    /// Operators, of an assistant for a service with a name of its own.
    pub named_service: Vec<String>,
    /// Operators, of an assistant for a kind of service.
    pub service: Vec<String>,
    /// Operators, of the time.
    pub clock: Vec<String>,
    /// Assistants, before a longer job.
    pub announcements: Vec<String>,
    /// Assistants, who read back what a call takes away.
    pub read_backs: Vec<String>,
    /// Assistants, who have a call confirmed that is not taken back.
    pub last_chances: Vec<String>,
    /// Assistants, who tell a price before it is charged.
    pub prices: Vec<String>,
    /// Assistants, who ask for the yes that a rule of a policy asks for.
    pub confirmations: Vec<String>,
    /// Users, who say yes to that.
    pub consents: Vec<String>,
    /// Signing in.
    pub sign_in: SignInWords,
    /// Users, before an opening.
    pub greetings: Vec<String>,
    /// Greetings in the morning, in the afternoon and in the evening.
    pub of_day: [String; 3],
    /// Beginnings of openings that greet, in lower case.
    pub greets: Vec<String>,
    /// Users, after an opening: careful ones, hasty ones after a full stop, and hasty ones after none.
    pub thanks: [Vec<String>; 3],
    /// The voices that a model rewords lines in.
    pub voices: Vec<String>,
}

/// The words of signing in.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInWords {
    /// Assistants, who need what signs a user in.
    pub ask: Vec<String>,
    /// Users, who tell it.
    pub tell: Vec<String>,
}

/// The catalog's words.
pub static SPEECH: LazyLock<Speech> =
    LazyLock::new(|| read_words(diorama_catalog::SPEECH).unwrap_or_default());

/// Fills values into words, by name.
#[must_use]
pub fn fill(words: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        filled.push_str(before);
        match values.iter().find(|(own, _)| *own == name) {
            Some((_, value)) => filled.push_str(value),
            None => filled.extend(["{", name, "}"]),
        }
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_has_words_for_everything_that_is_said_anywhere() {
        let speech = read_words::<Speech>(diorama_catalog::SPEECH).unwrap();
        let lists = [
            &speech.assistants,
            &speech.tools_are_found,
            &speech.policy,
            &speech.policy_articles,
            &speech.replaced_articles,
            &speech.confirmations,
            &speech.clock,
            &speech.greetings,
            &speech.voices,
        ];
        assert!(lists.iter().all(|list| list.len() >= 4) && speech.thanks.iter().all(|list| list.len() >= 2));
        assert_eq!(fill("at {time}, {not} {time}{", &[("time", "{9:00}")]), "at {9:00}, {not} {9:00}{");
    }
}
