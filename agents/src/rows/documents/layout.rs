//! The share of each document in the rows, and the batches that follow from it.
//!
//! All documents get the same number of rows, up to what each has operations for; what small ones cannot take goes to the
//! others. A batch is of one document, in a world with a few others of its split and licence, so that a search for tools
//! has something to tell apart.

use std::collections::BTreeMap;

use diorama_output::plan::ROWS_PER_BATCH;
use diorama_output::row::Split;
use rand::seq::SliceRandom;

use crate::draws::{Streams, rank};

/// Operations of a document that shares its world with others, at most.
const MAX_SHARING: u64 = 200;
/// Operations of a document that joins the worlds of others, at most.
const MAX_PARTNER: u64 = 80;

/// What the layout follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentSize<'a> {
    /// The name of its domain.
    pub name: &'a str,
    /// Its split.
    pub split: Split,
    /// Its licence.
    pub license: &'a str,
    /// Operations that can be asked for.
    pub askable: u64,
    /// Operations.
    pub operations: u64,
}

/// A batch of rows of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentBatch {
    /// The position of the document.
    pub document: usize,
    /// The number of its rows in batches before.
    pub first: u64,
    /// The number of rows, at most 50.
    pub rows: u32,
}

/// The rows asked of each document: `rows` in all, unless nothing can be asked of any.
#[must_use]
pub fn shares(documents: &[DocumentSize<'_>], rows: u64, streams: &Streams) -> Vec<u64> {
    let mut shares = vec![0; documents.len()];
    let mut order: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].askable > 0).collect();
    if order.is_empty() {
        return shares;
    }
    order.shuffle(&mut streams.stream("documents/shares", 0));
    let mut left = rows;
    // A row for each operation that can be asked for is enough, then a second one for each, and so on.
    for times in 1.. {
        let enough = |at: usize| times * documents[at].askable;
        let mut open: Vec<usize> = order.iter().copied().filter(|at| shares[*at] < enough(*at)).collect();
        while left > 0 && !open.is_empty() {
            let each = left / open.len() as u64;
            let room = open.iter().map(|at| enough(*at) - shares[*at]).min().unwrap_or_default();
            if each == 0 {
                for at in open.iter().take(left as usize) {
                    shares[*at] += 1;
                }
                return shares;
            }
            let step = each.min(room);
            for at in &open {
                shares[*at] += step;
            }
            left -= step * open.len() as u64;
            open.retain(|at| shares[*at] < enough(*at));
        }
        if left == 0 {
            break;
        }
    }
    shares
}

/// The batches of documents with these shares, in the order of their rows: each document has a batch before any has a second one.
#[must_use]
pub fn batches(shares: &[u64], streams: &Streams) -> Vec<DocumentBatch> {
    let most = u64::from(ROWS_PER_BATCH);
    let mut order: Vec<usize> = (0..shares.len()).filter(|at| shares[*at] > 0).collect();
    order.shuffle(&mut streams.stream("documents/batches", 0));
    let mut first = vec![0; shares.len()];
    let mut batches = Vec::new();
    while !order.is_empty() {
        for at in &order {
            let left = shares[*at] - first[*at];
            // The rows that are left are spread evenly over the batches that they need.
            let rows = left.div_ceil(left.div_ceil(most).max(1));
            batches.push(DocumentBatch { document: *at, first: first[*at], rows: rows as u32 });
            first[*at] += rows;
        }
        order.retain(|at| first[*at] < shares[*at]);
    }
    batches
}

/// The documents that share the world of each: the `count` others of its split and licence that rank first beside it, none of them large;
/// none for a large one. Documents of different licences share no world, so that each row has one.
#[must_use]
pub fn partners(documents: &[DocumentSize<'_>], count: usize, streams: &Streams) -> Vec<Vec<usize>> {
    let mut pools: BTreeMap<(Split, &str), Vec<usize>> = BTreeMap::new();
    for (at, document) in documents.iter().enumerate() {
        let pool = pools.entry((document.split, document.license)).or_default();
        if document.askable > 0 && document.operations <= MAX_PARTNER {
            pool.push(at);
        }
    }
    let of = |(at, document): (usize, &DocumentSize<'_>)| {
        let pool = pools.get(&(document.split, document.license)).map_or(&[][..], Vec::as_slice);
        if document.operations > MAX_SHARING || pool.is_empty() {
            return Vec::new();
        }
        let key = streams.number(&format!("partners/{}", document.name), 0);
        let mut others: Vec<usize> = pool.iter().copied().filter(|other| *other != at).collect();
        others.sort_by_cached_key(|other| rank(key, documents[*other].name));
        others.truncate(count);
        others
    };
    documents.iter().enumerate().map(of).collect()
}
