//! Labelled lines in a model's reply. Examples: `Action: FindRoom`, and with emphasis, `**Action:**
//! FindRoom`.

/// Marks of emphasis and lists, which models put around labels and names.
const MARKS: [char; 7] = ['*', '#', '`', '>', '"', ' ', '\t'];

/// Marks of emphasis around words. Names may begin and end with `_`, so it is not a mark of a name.
const EMPHASIS: [char; 3] = ['*', '_', '`'];

/// Splits a reply at the first line that begins with a label, with or without a number. Returns the text
/// before and after the label.
pub(crate) fn split_at<'a>(reply: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        if let Some(words) = strip_label(line, label) {
            let from = reply.get(at + line.len() - words.len()..).unwrap_or_default();
            return Some((reply.get(..at).unwrap_or_default().trim(), from.trim()));
        }
        at += line.len();
    }
    None
}

/// Splits a reply as [`split_at`] does. If no line begins with the label, splits at the label and a colon
/// inside of a line.
pub(crate) fn split_anywhere<'a>(reply: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    split_at(reply, label).or_else(|| reply.split_once(&format!("{label}:")))
}

/// Returns a reply up to the first line that begins with a label, because the model invents the rest. Returns
/// the whole reply if there is no such line. Lines with the label at the start of the reply are dropped.
pub(crate) fn cut_before<'a>(reply: &'a str, label: &str) -> &'a str {
    let mut rest = reply;
    loop {
        match split_at(rest, label) {
            Some(("", _)) => rest = rest.trim_start().split_once('\n').map_or("", |(_, after)| after),
            Some((before, _)) => return before,
            None => return rest,
        }
    }
}

/// Returns the final answer in a reply, if there is one.
pub(crate) fn find_final_answer(reply: &str) -> Option<&str> {
    split_anywhere(reply, "Final Answer").map(|(_, answer)| answer.trim())
}

/// Drops the lines of a text that begin with a label.
pub(crate) fn drop_lines(text: &str, label: &str) -> String {
    text.lines().filter(|line| strip_label(line, label).is_none()).collect::<Vec<_>>().join("\n")
}

/// Strips a name or a line of the marks around it.
pub(crate) fn strip_marks(text: &str) -> &str {
    text.trim().trim_matches(MARKS)
}

/// Strips a line of the label that it begins with. The marks that close those before the label go with it.
fn strip_label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let is_mark = |c: char| c == '_' || MARKS.contains(&c);
    let words = line.trim_start_matches(is_mark).trim_start_matches("- ").trim_start_matches(is_mark);
    let is_marked = line.get(..line.len() - words.len())?.contains(EMPHASIS);
    let start = words.get(..label.len())?;
    let rest = words.get(label.len()..).filter(|_| start.eq_ignore_ascii_case(label))?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').trim_start_matches(EMPHASIS);
    let rest = rest.strip_prefix(':')?;
    Some(if is_marked { rest.trim_start_matches(EMPHASIS) } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_at_the_start_of_a_line_with_or_without_marks() {
        let check = |reply: &str, expect: Option<(&str, &str)>| {
            assert_eq!(split_at(reply, "Action"), expect, "{reply}");
        };
        check("Action: Find", Some(("", "Find")));
        check("Thought: a\nAction 2: Find\nAction Input: {}", Some(("Thought: a", "Find\nAction Input: {}")));
        check("**Action:** Find", Some(("", "Find")));
        check("**Action**: Find", Some(("", "Find")));
        check("_Action:_ _find", Some(("", "_find")));
        check("- **Action:** Find", Some(("", "Find")));
        check("- action: **Find**", Some(("", "**Find**")));
        check("The Action: I need is a search.", None);
        check("Action Input: {}", None);
        check("", None);
        assert_eq!(find_final_answer("Known. Final Answer: 12"), Some("12"));
        assert_eq!(find_final_answer("**Final Answer:** 12 €"), Some("12 €"));
        assert_eq!(drop_lines("Thought: a\n**Thought:** b\nfind it", "Thought"), "find it");
        assert_eq!(strip_marks(" **`Find`** "), "Find");
        assert_eq!(strip_marks("`_find_`"), "_find_");
    }

    #[test]
    fn what_a_model_makes_up_is_cut_and_its_own_words_are_kept() {
        let check =
            |reply: &str, expect: &str| assert_eq!(cut_before(reply, "Observation"), expect, "{reply}");
        check("a\nObservation: b", "a");
        check("a", "a");
        // A reply may begin with invented lines and continue with its own text.
        check("Observation: 2 rooms\nThought: a\nAction: Find", "Thought: a\nAction: Find");
        check("\nObservation: b\n**Observation:** c\nThought: a\nObservation: d", "Thought: a");
        check("Observation: b", "");
    }
}
