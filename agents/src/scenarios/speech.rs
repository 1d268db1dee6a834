//! Loads the catalog's wordings of operators, assistants and users for all domains.

use std::sync::LazyLock;

use diorama_seeds::world::read_words;
use serde::Deserialize;

/// All wordings. A name in braces stands for a value.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speech {
    /// The operator's sentences for an assistant of any service.
    pub assistants: Vec<String>,
    /// The operator's sentences about finding tools.
    pub tools_are_found: Vec<String>,
    /// The operator's sentences before the rules of a policy.
    pub policy: Vec<String>,
    /// The operator's sentences about a policy in articles. `{tool}` searches them.
    pub policy_articles: Vec<String>,
    /// Beginnings of articles that were replaced on a `{date}` by one with the `{title}`.
    pub replaced_articles: Vec<String>,
    /// Articles without a rule: title and text. `{acts}` are the governed actions.
    pub general_articles: Vec<Vec<String>>,
    /// The operator's sentence for an assistant of all services of a world.
    pub services: String,
    /// The operator's sentences about tools of other services.
    pub other_services: Vec<String>,
    /// The operator's sentences for an assistant of a service with a proper name.
    pub named_service: Vec<String>,
    /// The operator's sentences for an assistant of a kind of service.
    pub service: Vec<String>,
    /// The operator's sentences about the time.
    pub clock: Vec<String>,
    /// The assistant's announcements of a longer job.
    pub announcements: Vec<String>,
    /// The assistant's messages that read back the records that a call ends.
    pub read_backs: Vec<String>,
    /// The assistant's questions whether to do an `{act}` that ends records.
    pub acts: Vec<String>,
    /// The assistant's questions before a final call.
    pub last_chances: Vec<String>,
    /// The assistant's messages with a price before it is charged.
    pub prices: Vec<String>,
    /// The assistant's questions for the consent that a rule of a policy requires.
    pub confirmations: Vec<String>,
    /// The assistant's sentences with the `{limit}` of a rule that forbids a request.
    pub limits: Vec<String>,
    /// The user's answers that give this consent.
    pub consents: Vec<String>,
    /// The wordings for signing in.
    pub sign_in: SignInWords,
    /// The user's greetings before an opening.
    pub greetings: Vec<String>,
    /// Greetings in the morning, in the afternoon and in the evening.
    pub of_day: [String; 3],
    /// Beginnings of openings that greet, in lower case.
    pub greets: Vec<String>,
    /// The user's thanks after an opening: careful ones, hasty ones after a full stop, and hasty ones after
    /// none.
    pub thanks: [Vec<String>; 3],
    /// The voices in which a model rewords lines.
    pub voices: Vec<String>,
}

/// The wordings of signing in.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInWords {
    /// The assistant's questions for credentials.
    pub ask: Vec<String>,
    /// The user's answers with credentials.
    pub tell: Vec<String>,
}

/// The catalog's wordings.
pub static SPEECH: LazyLock<Speech> =
    LazyLock::new(|| read_words(diorama_catalog::SPEECH).unwrap_or_default());

/// Fills values into a wording, by name.
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
    fn each_list_of_general_speech_has_enough_wordings() {
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
