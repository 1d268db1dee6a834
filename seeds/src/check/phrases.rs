//! Owns the check of phrase templates: each placeholder must exist, and no required parameter may be missing.

use crate::doc::{FieldDoc, PhrasesDoc, ResourceDoc, TypeName};
use crate::model::{Api, BehaviourKind, PagingMember};
use crate::world::findings::Findings;
use diorama_format::path::Path;

/// A placeholder of a template.
#[derive(Debug, PartialEq, Eq)]
struct Placeholder<'t> {
    name: &'t str,
    /// Byte offset of its brace, for the column of the finding.
    at: usize,
    /// True if it stands between `[` and `]`.
    optional: bool,
}

/// Returns the placeholders of a template, or the problem with its brackets and its offset.
fn placeholders(template: &str) -> Result<Vec<Placeholder<'_>>, (usize, &'static str)> {
    let mut found = Vec::new();
    let mut bracket = None;
    let mut rest = 0;
    while let Some(next) = template[rest..].find(['{', '}', '[', ']']) {
        let at = rest + next;
        rest = at + 1;
        match (template.as_bytes()[at], bracket) {
            (b'[', None) => bracket = Some(at),
            (b'[', Some(_)) => return Err((at, "found `[` inside `[`; optional parts do not nest")),
            (b']', Some(_)) => bracket = None,
            (b']', None) => return Err((at, "found `]` without `[`")),
            (b'{', _) => {
                // The path of a reply may contain brackets: `{reply:items[0].name}`.
                let Some(length) = template[rest..]
                    .find(['{', '}'])
                    .filter(|length| template.as_bytes()[rest + length] == b'}')
                else {
                    return Err((at, "found `{` without `}`"));
                };
                found.push(Placeholder {
                    name: &template[rest..rest + length],
                    at,
                    optional: bracket.is_some(),
                });
                rest += length + 1;
            }
            _ => return Err((at, "found `}` without `{`")),
        }
    }
    match bracket {
        Some(at) => Err((at, "found `[` without `]`")),
        None => Ok(found),
    }
}

/// Checks the phrases of an API.
pub(super) fn check_api(doc: &PhrasesDoc, api: &Api, path: &Path<'_>, findings: &mut Findings) {
    let path = path.name("phrases");
    let sections = [
        ("do", &doc.imperative, true),
        ("request", &doc.request, true),
        ("noun", &doc.noun, true),
        ("done", &doc.done, false),
    ];
    for (name, templates, asks) in sections {
        let section = path.name(name);
        for (i, template) in templates.iter().enumerate() {
            let here = section.index(i);
            let Some(found) = parsed(template, &here, findings) else { continue };
            for placeholder in &found {
                check_placeholder(placeholder, api, !asks, &here, findings);
            }
            if asks {
                check_complete(&found, api, &here, findings);
            }
        }
    }
    let list = matches!(
        api.behaviour.kind,
        BehaviourKind::List(_) | BehaviourKind::Members { .. } | BehaviourKind::Aggregate { .. }
    );
    if !doc.noun.is_empty() && !list {
        findings.warning(
            path.name("noun"),
            "found noun phrases of an API that is no list",
            "use `do` or `request`",
        );
    }
}

/// Checks the questions and statements about a resource's fields.
pub(super) fn check_fields(doc: &ResourceDoc, path: &Path<'_>, findings: &mut Findings) {
    let section = path.name("fields");
    for (name, field) in &doc.fields {
        check_field(field, doc, &section.name(name), findings);
    }
}

fn check_field(field: &FieldDoc, of: &ResourceDoc, path: &Path<'_>, findings: &mut Findings) {
    for (key, templates, known) in
        [("ask", &field.ask, &["it"][..]), ("say", &field.say, &["it", "value"][..])]
    {
        // A statement may tell another field of the record: the currency of an amount.
        let is_known = |name: &str| known.contains(&name) || key == "say" && of.fields.contains_key(name);
        let section = path.name(key);
        for (i, template) in templates.iter().enumerate() {
            let here = section.index(i);
            let Some(found) = parsed(template, &here, findings) else { continue };
            for placeholder in found.iter().filter(|placeholder| !is_known(placeholder.name)) {
                findings.error_at(
                    here,
                    placeholder.at,
                    format!("found `{{{}}}`, expected {}", placeholder.name, braced(known)),
                    "name the record with `{it}`",
                );
            }
            // A boolean has a statement of its own for each value.
            if key == "say"
                && field.kind != Some(TypeName::Boolean)
                && !found.iter().any(|placeholder| placeholder.name == "value" && !placeholder.optional)
            {
                findings.error(here, "found a statement without `{value}`", "say where the value stands");
            }
        }
    }
}

fn parsed<'t>(template: &'t str, path: &Path<'_>, findings: &mut Findings) -> Option<Vec<Placeholder<'t>>> {
    if template.trim().is_empty() {
        findings.error(path, "found an empty phrase", "remove it");
        return None;
    }
    match placeholders(template) {
        Ok(found) => Some(found),
        Err((at, message)) => {
            findings.error_at(path, at, message.to_owned(), "mend the brackets");
            None
        }
    }
}

fn check_placeholder(
    placeholder: &Placeholder<'_>,
    api: &Api,
    may_reply: bool,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let name = placeholder.name;
    if let Some(reply) = name.strip_prefix("reply:") {
        if !may_reply {
            findings.error_at(
                path,
                placeholder.at,
                format!("found `{{{name}}}` in a request"),
                "replies are known only in `done`",
            );
            return;
        }
        let first = reply.split(['.', '[']).next().unwrap_or("");
        let members = reply_members(api);
        if !members.contains(&first) {
            findings.error_at(
                path,
                placeholder.at,
                format!("found `{{{name}}}`, expected one of the reply's members: {}", members.join(", ")),
                "name a member of the reply",
            );
        }
        return;
    }
    let token = api.token.map(|token| &*api.parameters[token.index()].name);
    if api.parameter_named(name).is_none() || token == Some(name) {
        let known: Vec<&str> = api
            .parameters
            .iter()
            .map(|parameter| &*parameter.name)
            .filter(|known| token != Some(known))
            .collect();
        findings.error_at(
            path,
            placeholder.at,
            format!("found `{{{name}}}`, expected one of the parameters: {}", known.join(", ")),
            "name a parameter of the API",
        );
    }
}

fn check_complete(found: &[Placeholder<'_>], api: &Api, path: &Path<'_>, findings: &mut Findings) {
    for (index, parameter) in api.parameters.iter().enumerate() {
        let is_filled = api.is_filled(crate::model::ParameterId(index as u16));
        let said =
            found.iter().any(|placeholder| *placeholder.name == *parameter.name && !placeholder.optional);
        if parameter.required && !is_filled && !said {
            findings.error(
                path,
                format!(
                    "found a phrase without the required parameter `{}` outside brackets",
                    parameter.name
                ),
                format!("say `{{{}}}`", parameter.name),
            );
        }
    }
}

/// Returns the top-level member names of an API's reply.
fn reply_members(api: &Api) -> Vec<&str> {
    let reply = &api.reply;
    if let Some(envelope) = &reply.envelope {
        return vec![envelope];
    }
    let mut names: Vec<&str> = Vec::new();
    match &api.behaviour.kind {
        BehaviourKind::List(_) | BehaviourKind::Members { .. } => {
            names.extend([&*reply.items, &*reply.total].into_iter().filter(|name| !name.is_empty()));
            names.extend(reply.paging.iter().map(|(_, name): &(PagingMember, _)| &**name));
        }
        BehaviourKind::Aggregate { measures, group_by, .. } => match group_by {
            Some(_) => names.push(&reply.items),
            None => names.extend(measures.iter().map(|(name, _)| &**name)),
        },
        BehaviourKind::Compute(computed) => names.extend(computed.iter().map(|(name, _)| &**name)),
        BehaviourKind::SignIn { .. } => names.extend(["token", "expires_at"]),
        _ => names.extend(reply.members.iter().map(|member| &*member.name)),
    }
    names.extend(reply.with.iter().map(|(name, _)| &**name));
    names
}

fn braced(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_know_their_brackets() {
        let check = |template: &str, expect: Result<&str, &str>| {
            let shown = placeholders(template).map(|found| {
                let each =
                    |p: &Placeholder<'_>| format!("{}@{}{}", p.name, p.at, if p.optional { "?" } else { "" });
                found.iter().map(each).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown.as_deref().map_err(|(_, message)| *message), expect);
        };
        check("{reply:x[0].y}", Ok("reply:x[0].y@0"));
        check("é {a}[ for {b}] {c}", Ok("a@3 b@12? c@17"));
        check("[a [b]]", Err("found `[` inside `[`; optional parts do not nest"));
        check("{a", Err("found `{` without `}`"));
        check("a}", Err("found `}` without `{`"));
        check("[a", Err("found `[` without `]`"));
        check("", Ok(""));
    }
}
