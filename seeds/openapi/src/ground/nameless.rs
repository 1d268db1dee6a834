//! Finds operations that no user asks for, with the reason: users have no noun for their records, or a read
//! ends something.

use std::collections::HashSet;

use diorama_seeds::contract::ME;
use diorama_seeds::doc::{ApiDoc, Method, PhrasesDoc, Place, ResourceDoc};
use indexmap::IndexMap;

use crate::document::Operation;
use crate::nouns::{Prose, is, says_end};
use crate::words::{is_plural, singular, words};

/// Removes the phrases of such operations and records the reason.
pub(super) fn leave_out(
    apis: &mut [ApiDoc],
    operations: &[Operation],
    resources: &IndexMap<String, ResourceDoc>,
    prose: &Prose,
) {
    let changed: Vec<String> = apis.iter().flat_map(written).cloned().collect();
    let opened = apis.iter().filter_map(|api| api.behaviour.get.clone());
    let kept: HashSet<String> = opened.chain(changed.iter().cloned()).collect();
    for (api, operation) in apis.iter_mut().zip(operations) {
        let reads = api.method == Method::Get || api.behaviour.get.is_some() || api.behaviour.list.is_some();
        let ends = [&operation.summary, &operation.description].into_iter().any(|text| says_end(text));
        let lone = api.behaviour.get.as_ref().and_then(|name| Some((name, resources.get(name)?)));
        let lone = lone.filter(|(name, resource)| resource.singleton && !changed.contains(name));
        let label = lone.and_then(|(_, resource)| resource.label.as_deref()).unwrap_or_default();
        let is_single = |label: &str| words(label).last().is_some_and(|last| is("singles", last));
        let reason = if reads && ends {
            Some("it is called for a question, and ends something".to_owned())
        } else if !label.is_empty() && !is_single(label) {
            Some(format!("what it shows is no thing that a service has one of: `{label}`"))
        } else if api.behaviour.get.is_some()
            && api.path.rsplit('/').next().is_some_and(|last| ME.contains(&last))
        {
            Some("people do not ask who they are".to_owned())
        } else if let Some(word) = plural_single(api, resources) {
            Some(format!("people have no noun for what it shows: `{word}` names several things"))
        } else if let Some(label) = choice(api) {
            Some(format!("people do not say what its path chooses: `{label}`"))
        } else if let Some(word) = singular_list(api, resources, &kept) {
            Some(format!("people have no noun for what it lists: `{word}` is no name of several things"))
        } else {
            let fault = labels(api, resources).into_iter().find_map(|label| prose.fault(&label));
            fault.map(|fault| format!("people have no noun for what it is about: {fault}"))
        };
        if let Some(reason) = reason {
            let unasked = api.phrases.unasked || reads && ends;
            api.phrases = PhrasesDoc { unasked, no_request: Some(reason), ..PhrasesDoc::default() };
        }
    }
}

/// Returns the last word of a list's path if it names no things: `sent` of `/orders/status/sent`, `today`.
/// Records that are opened or changed by themselves have a noun of their own.
fn singular_list(
    api: &ApiDoc,
    resources: &IndexMap<String, ResourceDoc>,
    kept: &HashSet<String>,
) -> Option<String> {
    let listed = api.behaviour.list.as_ref().filter(|name| !kept.contains(*name))?;
    let label = resources.get(listed)?.label.as_deref()?;
    let last = api.path.rsplit('/').find(|part| !part.is_empty())?;
    let word = words(last).pop().filter(|_| !last.contains('{'))?;
    (!is_plural(&word) && label.rsplit(' ').next() == Some(&*word)).then_some(word)
}

/// Returns the last word of a path that shows one thing and names several: `related_jobs` of a skill.
fn plural_single(api: &ApiDoc, resources: &IndexMap<String, ResourceDoc>) -> Option<String> {
    let shown = resources.get(api.behaviour.get.as_ref()?)?;
    let last = api.path.rsplit('/').find(|part| !part.is_empty()).filter(|last| !last.contains('{'))?;
    let word = words(last).pop()?;
    let is_one_each = shown.each.iter().any(|each| each.max == 1);
    let is_single =
        ["singles", "containers"].iter().any(|kind| is(kind, &word) || is(kind, &singular(&word)));
    (is_one_each && is_plural(&word) && !is_single).then_some(word)
}

/// Returns a path parameter that users do not choose, such as the format of the reply.
fn choice(api: &ApiDoc) -> Option<&str> {
    let needed = api.parameters.values().filter(|doc| {
        doc.place == Some(Place::Path) && !doc.optional && doc.default.is_none() && doc.reference.is_none()
    });
    let labels = needed.filter(|doc| !doc.values.is_empty()).filter_map(|doc| doc.label.as_deref());
    labels.into_iter().find(|label| label.rsplit(' ').next().is_some_and(|last| is("untold", last)))
}

/// Returns the resources whose records an operation creates or changes.
fn written(api: &ApiDoc) -> impl Iterator<Item = &String> {
    let behaviour = &api.behaviour;
    let own = [&behaviour.create, &behaviour.patch, &behaviour.replace, &behaviour.delete];
    own.into_iter().flatten()
}

/// Returns the nouns that a request would contain: of the shown or changed records, and of those in the path.
fn labels(api: &ApiDoc, resources: &IndexMap<String, ResourceDoc>) -> Vec<String> {
    let behaviour = &api.behaviour;
    let shown = behaviour.get.iter().chain(&behaviour.list).chain(written(api));
    let removed = behaviour.also.iter().filter_map(|effect| effect.delete.as_ref());
    let needed = api.parameters.values().filter(|doc| !doc.optional && doc.default.is_none());
    let named = needed.filter_map(|doc| doc.reference.as_ref());
    let all = shown.chain(removed).chain(named);
    all.filter_map(|name| resources.get(name)?.label.clone()).collect()
}
