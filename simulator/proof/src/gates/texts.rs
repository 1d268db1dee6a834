//! Paraphrases and contradicts free texts.

use diorama_answers::TextContent;
use diorama_answers::lexicon::Role;
use diorama_answers::text::{Text, Token};

/// Returns a paraphrase: the content words alone, the second half first; none where that is the same text.
pub(super) fn paraphrase(text: &str) -> Option<String> {
    let parsed = Text::of_value(text);
    let told: Vec<&str> = parsed
        .words_and_figures()
        .filter(|token| !token.is(Role::Function) || token.is(Role::Negator))
        .filter_map(|token| slice(text, token))
        .collect();
    let (first, second) = told.split_at(told.len() / 2);
    let other = [second, first].concat().join(" ");
    (told.len() > 1 && other != text).then_some(other)
}

/// Returns contradictions: a negation added or removed, another number or word, or all of the user's messages
/// pasted.
pub(super) fn contradictions(text: &str, said: &[String]) -> Vec<String> {
    let parsed = Text::of_value(text);
    let replaced = |token: &Token, by: &str| {
        let (start, end) = (token.start as usize, token.end as usize);
        Some(format!("{}{by}{}", text.get(..start)?, text.get(end..)?))
    };
    let denial = parsed.words_and_figures().find(|token| token.is(Role::Negator));
    let flipped = denial.map_or_else(|| Some(format!("not {text}")), |token| replaced(token, ""));
    let number = parsed
        .words_and_figures()
        .filter_map(|token| Some((token, slice(text, token)?.parse::<u32>().ok()?)))
        .find_map(|(token, number)| replaced(token, &number.saturating_add(1).to_string()));
    let content = parsed.words_and_figures().find(|token| token.has_content());
    let word = content.and_then(|token| replaced(token, "something"));
    let pasted = Some(said.join(" "));
    let meant = TextContent::read(text);
    let others = [flipped, number, word, pasted].into_iter().flatten();
    others.filter(|other| !meant.is_said_by(&TextContent::read(other))).collect()
}

fn slice<'a>(text: &'a str, token: &Token) -> Option<&'a str> {
    text.get(token.start as usize..token.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paraphrase_keeps_the_content_and_a_contradiction_does_not() {
        let said =
            ["Please write that I will not come before 10, and that the dog is in the garden all day long."
                .to_owned()];
        for text in ["not before 10", "leave it with the neighbour", "ring twice, the bell is quiet"] {
            let meant = TextContent::read(text);
            let other = paraphrase(text).unwrap();
            assert!(meant.is_said_by(&TextContent::read(&other)), "{text} / {other}");
            let wrong = contradictions(text, &said);
            assert!(wrong.len() >= 2, "{text}: {wrong:?}");
        }
        assert_eq!(paraphrase("vegan"), None);
        let wrong = contradictions("not before 10", &said);
        assert!(
            wrong.contains(&" before 10".to_owned()) && wrong.contains(&"not before 11".to_owned()),
            "{wrong:?}"
        );
    }
}
