//! What marks a line: rules, bullets, numbers of lists.

/// A line of dashes, or the line under a table's head.
pub(crate) fn is_rule(body: &str) -> bool {
    let body = body.trim();
    body.len() >= 3
        && body.bytes().all(|byte| matches!(byte, b'-' | b'|' | b':' | b' ' | b'=' | b'*' | b'_' | b'+'))
        && body.bytes().filter(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_')).count() >= 3
}

pub(crate) fn bullet(body: &str) -> Option<&str> {
    let rest =
        body.strip_prefix(['-', '*', '+', '•', '–', '—', '·', '▪', '◦', '●', '→', '➤', '✅', '✓', '✔'])?;
    let rest = rest.strip_prefix('\u{fe0f}').unwrap_or(rest);
    rest.starts_with([' ', '\t']).then(|| rest.trim_start()).filter(|rest| !rest.is_empty())
}

/// `1. `, `2) `, `(3) `: only where something follows on the line.
pub(crate) fn numbered(body: &str) -> Option<&str> {
    let open = body.strip_prefix('(').unwrap_or(body);
    let bold = open.strip_prefix("**").unwrap_or(open);
    let digits = bold.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let rest = bold[digits..].strip_prefix(['.', ')'])?;
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    (rest.starts_with([' ', '\t'])).then(|| rest.trim_start()).filter(|rest| !rest.is_empty())
}
