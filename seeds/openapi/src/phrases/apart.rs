//! Removes requests that would read alike: users cannot tell such operations apart by words.

use std::collections::HashMap;

use diorama_seeds::doc::{ApiDoc, FieldDoc, Method, PhrasesDoc, Place};

use super::named;

/// Removes the phrases of operations that share a request with another.
pub(crate) fn tell_apart(apis: &mut [ApiDoc]) {
    let mut asked: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, api) in apis.iter().enumerate() {
        let mut own: Vec<String> = api.phrases.imperative.iter().map(|phrase| request(api, phrase)).collect();
        own.extend(api.phrases.noun.iter().map(|phrase| format!("which {}", request(api, phrase))));
        own.sort();
        own.dedup();
        for words in own {
            asked.entry(words).or_default().push(index);
        }
    }
    let alike: Vec<usize> = asked.into_values().filter(|all| all.len() > 1).flatten().collect();
    for index in alike {
        if let Some(api) = apis.get_mut(index) {
            let unasked = api.phrases.unasked || api.method == Method::Get;
            api.phrases = PhrasesDoc { unasked, ..PhrasesDoc::default() };
        }
    }
}

/// Returns the core of a phrase: its verb and object, and the kinds of the keys in its path.
fn request(api: &ApiDoc, phrase: &str) -> String {
    let head = phrase.split(['{', '[', '"']).next().unwrap_or_default();
    let end = [" with ", " called "].iter().filter_map(|joint| head.find(joint)).min();
    let words =
        head.get(..end.unwrap_or(head.len())).unwrap_or_default().split_whitespace().map(|word| match word {
            "remove" => "delete",
            "create" => "add",
            "overwrite" => "update",
            word => word,
        });
    let words: Vec<&str> = words
        .filter(|word| !["a", "an", "the", "new", "to", "of", "for", "in", "from"].contains(word))
        .collect();
    let in_path = |doc: &FieldDoc| doc.place == Some(Place::Path);
    let mut kinds: Vec<String> = api
        .parameters
        .iter()
        .filter(|(name, doc)| in_path(doc) && phrase.contains(&format!("{{{name}}}")))
        .map(|(name, doc)| named(name, Some(doc)))
        .collect();
    kinds.sort();
    format!("{}: {}", words.join(" "), kinds.join(", "))
}
