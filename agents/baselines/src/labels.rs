//! Labelled lines in the reply of a model: `Action: FindRoom`, and as models write them, `**Action:** FindRoom`.

/// Marks of emphasis and of lists, which models put around labels and names.
const MARKS: [char; 7] = ['*', '#', '`', '>', '"', ' ', '\t'];

/// Marks that stand before and after what they mark. Names may begin and end with `_`, so that is no mark of a name.
const EMPHASIS: [char; 3] = ['*', '_', '`'];

/// Splits a reply at its first line that begins with a label, with or without a number: what stands before and behind it.
pub(crate) fn split_at<'a>(reply: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        if let Some(words) = behind(line, label) {
            let from = reply.get(at + line.len() - words.len()..).unwrap_or_default();
            return Some((reply.get(..at).unwrap_or_default().trim(), from.trim()));
        }
        at += line.len();
    }
    None
}

/// What stands before the first line that begins with a label; all of the reply where there is none.
pub(crate) fn before<'a>(reply: &'a str, label: &str) -> &'a str {
    split_at(reply, label).map_or(reply, |(before, _)| before)
}

/// The final answer, where a reply gives one.
pub(crate) fn final_answer(reply: &str) -> Option<&str> {
    let answer = split_at(reply, "Final Answer").or_else(|| reply.split_once("Final Answer:"));
    answer.map(|(_, answer)| answer.trim())
}

/// A text without the lines that begin with a label.
pub(crate) fn without_lines(text: &str, label: &str) -> String {
    text.lines().filter(|line| behind(line, label).is_none()).collect::<Vec<_>>().join("\n")
}

/// A name or a line without the marks around it.
pub(crate) fn unmarked(text: &str) -> &str {
    text.trim().trim_matches(MARKS)
}

/// What stands behind the label that a line begins with. The marks that close those before the label go with it.
fn behind<'a>(line: &'a str, label: &str) -> Option<&'a str> {
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
        assert_eq!(before("a\nObservation: b", "Observation"), "a");
        assert_eq!(final_answer("Known. Final Answer: 12"), Some("12"));
        assert_eq!(final_answer("**Final Answer:** 12 €"), Some("12 €"));
        assert_eq!(without_lines("Thought: a\n**Thought:** b\nfind it", "Thought"), "find it");
        assert_eq!(unmarked(" **`Find`** "), "Find");
        assert_eq!(unmarked("`_find_`"), "_find_");
    }
}
