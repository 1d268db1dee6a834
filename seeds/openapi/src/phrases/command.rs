//! Parses summaries of operations as commands.

use super::verbs::VERBS;
use crate::words::words;
use diorama_seeds::contract::noun;

/// A summary that is a command: `Mark a thread as done`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// The verb, as `mark`.
    pub(crate) verb: String,
    /// The object, as `thread`.
    pub(crate) object: String,
    /// The resulting state, as ` as done`.
    pub(crate) end: String,
}

/// Parses a summary as a command. Its first word is a verb if it is a known verb or an article follows.
/// A word of the operation's name is a verb, too.
pub(crate) fn command(name: &str, summary: &str) -> Option<Command> {
    const ARTICLES: [&str; 12] = [
        "a",
        "an",
        "the",
        "your",
        "my",
        "existing",
        "new",
        "single",
        "given",
        "specific",
        "specified",
        "particular",
    ];
    const JOINTS: [&str; 16] = [
        "for", "from", "to", "of", "in", "on", "with", "by", "as", "at", "into", "using", "under", "and",
        "or", "that",
    ];
    let sentence = summary.split(['.', '(', ':', ',']).next()?;
    let mut said = sentence.split_whitespace().map(str::to_lowercase).peekable();
    // `New user` is the title of a form that adds one.
    let first = said.next().map(|first| if first == "new" { "add".to_owned() } else { first })?;
    let named = words(name);
    let stem = &infinitive(&first);
    let article = said.peek().is_some_and(|next| ARTICLES.contains(&next.as_str()));
    let is_known = |verb: &str| VERBS.contains(&verb) || PLAIN.contains(&verb);
    // A name that begins with another verb does not confirm this one.
    let says = named.first().is_none_or(|word| !is_known(word));
    let verb = [first.as_str(), stem.as_str()]
        .into_iter()
        .find(|verb| article || is_known(verb) || (says && named.iter().any(|word| word == verb)))?;
    let verb = if article { stem.as_str() } else { verb };
    let mut object = Vec::new();
    let mut end = String::new();
    for word in said.by_ref() {
        if JOINTS.contains(&word.as_str()) {
            end = word;
            break;
        }
        if !ARTICLES.contains(&word.as_str()) {
            object.push(word);
        }
    }
    let rest: Vec<String> = said.collect();
    // Of the words after a preposition only the resulting state is used.
    let end = if end == "as" && rest.len() < 3 { format!(" as {}", rest.join(" ")) } else { String::new() };
    (!object.is_empty()).then(|| Command { verb: verb.to_owned(), object: object.join(" "), end })
}

/// Returns the infinitive: `modify` for `modifies`, and `fork` for itself.
fn infinitive(verb: &str) -> String {
    if let Some(stem) = verb.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let hisses = ["sses", "shes", "ches", "xes"].iter().any(|ending| verb.ends_with(ending));
    let stem = verb.strip_suffix(if hisses { "es" } else { "s" });
    stem.filter(|stem| !stem.ends_with('s') || hisses).unwrap_or(verb).to_owned()
}

/// Verbs that say no more than the method.
const PLAIN: [&str; 20] = [
    "add", "change", "create", "delete", "edit", "fetch", "get", "list", "make", "modify", "patch", "post",
    "put", "remove", "replace", "retrieve", "set", "show", "update", "upsert",
];

/// Returns true if a plain verb in an operation's name acts on a thing, and false if it acts on another thing.
/// `CreateDm` acts on no channel. Returns none for a name without such a verb.
pub(crate) fn names(name: &str, thing: &str) -> Option<bool> {
    let words = words(name);
    let (verb, rest) = words.split_first()?;
    let thing: Vec<String> = thing.split(' ').map(noun).collect();
    let is_plain = PLAIN.contains(&verb.as_str()) && !rest.is_empty();
    is_plain.then(|| rest.iter().any(|word| thing.contains(&noun(word))))
}

impl Command {
    /// Returns true if its verb says more than the method.
    pub(crate) fn is_own(&self) -> bool {
        !PLAIN.contains(&self.verb.as_str())
    }

    /// Returns true if a name contains its object: unassigning a task deletes a task assignment.
    pub(crate) fn is_within(&self, name: &str) -> bool {
        let name: Vec<String> = words(name).iter().map(|word| noun(word)).collect();
        words(&self.object).iter().all(|word| name.contains(&noun(word)))
    }

    /// Returns true if its object is the noun of a name or an abbreviation: `repo` for `repository`.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let last = |text: &str| text.rsplit(' ').next().map(noun).unwrap_or_default();
        let (one, two) = (last(&self.object), last(name));
        let short = |short: &str, long: &str| short.len() > 2 && long.starts_with(short);
        one == two || short(&two, &one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_a_command_where_its_first_word_is_a_verb() {
        let check = |name: &str, summary: &str, expect: Option<(&str, &str, &str)>| {
            let found = command(name, summary);
            let found = found.as_ref().map(|found| (&*found.verb, &*found.object, &*found.end));
            assert_eq!(found, expect, "{summary}");
        };
        check("GistsFork", "Fork a gist", Some(("fork", "gist", "")));
        check("MarkThreadAsDone", "Mark a thread as done", Some(("mark", "thread", " as done")));
        check("BlockUser", "Block a user from an organization", Some(("block", "user", "")));
        check("ReviewRequestsInBulk", "Review requests to access data", Some(("review", "requests", "")));
        check("GetGist", "Gist details", None);
        check("AccountNewUser", "New User", Some(("add", "user", "")));
        check("GetShow", "Get a single show", Some(("get", "show", "")));
        check("DeleteFile", "Deletes the file.", Some(("delete", "file", "")));
    }
}
