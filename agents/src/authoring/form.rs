//! Owns the texts of a model's form: words and names are cleaned and bounded, and an empty result gives a
//! complaint.

use diorama_seeds::naming;
use serde_json::Value as Json;

use super::asking::Complaints;

/// Returns the text of a member on one line, of at most `longest` characters. None adds a complaint.
pub(crate) fn text(form: &Json, member: &str, longest: usize, wrong: &mut Complaints) -> Option<String> {
    let found = form.get(member).and_then(Json::as_str).and_then(|text| clean(text, longest));
    if found.is_none() {
        wrong.add(format!("`{member}`: found {}, expected a short text", shown(form.get(member))));
    }
    found
}

/// Cleans a text: one line, no marks of templates or code. Returns none if it has no letter or digit, is
/// longer than `longest` characters, or repeats its words.
pub(crate) fn clean(text: &str, longest: usize) -> Option<String> {
    let kept = |character: char| if character.is_control() { ' ' } else { character };
    let text: String = text.chars().take(4 * longest).map(kept).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = !text.contains(['{', '}', '[', ']', '<', '>', '`', '\\']);
    let sound = plain && text.chars().count() <= longest && text.chars().any(char::is_alphanumeric);
    (sound && !repeats(&text)).then_some(text)
}

/// Returns true if one to three words occur three times in a row, as in the output of weak models.
fn repeats(text: &str) -> bool {
    let words: Vec<String> = diorama_seeds::english::words(text).collect();
    (1..=3).any(|length| {
        words.windows(3 * length).any(|run| {
            run[..length] == run[length..2 * length] && run[length..2 * length] == run[2 * length..]
        })
    })
}

/// Returns an identifier of a few words: `Berth booking` gives `berth_booking`. None adds a complaint.
pub(crate) fn name(form: &Json, member: &str, wrong: &mut Complaints) -> Option<String> {
    let text = text(form, member, 40, wrong)?;
    let named = match text.split_once(' ') {
        Some((article, rest))
            if ["the", "a", "an"].iter().any(|known| article.eq_ignore_ascii_case(known)) =>
        {
            rest
        }
        _ => text.as_str(),
    };
    let name = naming::snake(named);
    let words = name.split('_').count();
    if words > 4 || !name.starts_with(|first: char| first.is_ascii_lowercase()) || name == "value" {
        wrong.add(format!("`{member}`: found `{text}`, expected a name of one to four words"));
        return None;
    }
    Some(name)
}

/// Formats a found value for a complaint, shortened to 80 characters.
pub(crate) fn shown(value: Option<&Json>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    let start: String = text.chars().take(80).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_or_refused() {
        let check =
            |text: &str, expect: Option<&str>| assert_eq!(clean(text, 40).as_deref(), expect, "{text}");
        check("  Harbour\npilots ", Some("Harbour pilots"));
        check("transport of goods fines fines fines", None);
        check("api key id api key id api key id", None);
        check("{{ 7 * 7 }}", None);
        check("...", None);
        check(&"long ".repeat(20), None);
    }
}
