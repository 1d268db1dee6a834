//! Rewrites operations that are named by a verb as REST operations: `POST /ListAppMonitors` becomes `GET
//! /app_monitors`.
//!
//! `/users.info?user=` becomes `GET /users/{user}`. Callers send the method and path of the document.

mod below;
mod removals;
mod said;

use self::said::{Common, OperationEffect, PathWords, key, keys, many, one, said, takes};
use super::document::{Operation, Place};

/// Rewrites operations with verbs. A noun that no operation shows is skipped, unless it belongs to another.
pub(super) fn read(operations: &mut [Operation]) {
    let common = Common::of(operations);
    let all: Vec<Option<PathWords>> = operations.iter().map(|operation| said(operation, &common)).collect();
    let keys = keys(operations, &all, &common);
    let key_of = |operation: &Operation, said: &PathWords| {
        let known = keys.get(&one(&said.noun)).filter(|name| takes(operation, name)).cloned();
        key(operation, said, &common).or(known)
    };
    let shows = |noun: &[String]| {
        operations.iter().zip(&all).any(|(operation, said)| {
            said.as_ref().is_some_and(|said| {
                let opens = || many(&said.noun) || key_of(operation, said).is_some();
                let shows = said.deed == Some(OperationEffect::List)
                    || (said.deed == Some(OperationEffect::Show) && opens());
                shows && one(&said.noun) == one(noun)
            })
        })
    };
    let read = operations.iter().zip(&all).map(|(operation, said)| {
        let said = said.as_ref().filter(|said| shows(&said.noun))?;
        let collection = said.collection();
        let item = || key_of(operation, said).map(|key| format!("{collection}/{{{key}}}"));
        let read = match said.deed? {
            OperationEffect::List => ("GET", collection),
            // `users.info` shows one user if it takes a key.
            OperationEffect::Show
                if many(&said.noun)
                    && !said.is_segment
                    && !(said.is_dotted && keys.contains_key(&one(&said.noun))) =>
            {
                ("GET", collection)
            }
            OperationEffect::Show => ("GET", item()?),
            OperationEffect::Make => ("POST", collection),
            OperationEffect::Put => ("PUT", item()?),
            OperationEffect::Change => ("PATCH", item()?),
            OperationEffect::Remove => ("DELETE", item()?),
        };
        Some((read.0.to_owned(), read.1))
    });
    let mut read: Vec<Option<(String, String)>> = read.collect();
    below::read(operations, &all, &keys, &mut read);
    removals::read(operations, &all, &keys, &mut read);
    for (operation, read) in operations.iter_mut().zip(read) {
        if let Some((method, path)) = read {
            let makes = method == "PUT";
            let written = (
                std::mem::replace(&mut operation.method, method),
                std::mem::replace(&mut operation.path, path),
            );
            // An earlier rewrite already holds the method that callers send.
            operation.written.get_or_insert(written);
            operation.makes |= makes;
            // A member that the body repeats is dropped from the query.
            let body = operation.body.as_ref().and_then(|body| body.first_object().members());
            let in_body: Vec<String> = body.into_iter().flatten().map(|(name, _)| name.clone()).collect();
            operation
                .parameters
                .retain(|known| known.place != Place::Query || !in_body.contains(&known.name));
        }
    }
}

#[cfg(test)]
mod tests;
