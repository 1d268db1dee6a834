//! Distributes rows over documents, and plans their batches.
//!
//! All documents get the same number of rows, up to the number of their operations; larger ones take the
//! rest. A batch has one document, in a world with a few others of its split and licence. Searches for tools
//! then have something to distinguish.

use std::collections::BTreeMap;

use diorama_output::plan::ROWS_PER_BATCH;
use diorama_output::row::Split;
use rand::seq::SliceRandom;

use crate::draws::{Streams, rank};

/// The greatest number of operations of a document that shares its world with others.
const MAX_SHARING: u64 = 200;
/// The greatest number of operations of a document that joins the worlds of others.
const MAX_PARTNER: u64 = 80;

/// The inputs of the layout for one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentSize<'a> {
    /// The name of its domain.
    pub name: &'a str,
    /// The split of the document.
    pub split: Split,
    /// The licence of its rows.
    pub license: &'a str,
    /// The number of operations that users ask for.
    pub askable: u64,
    /// The number of all operations.
    pub operations: u64,
}

/// A batch of rows of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentBatch {
    /// The index of the document.
    pub document: usize,
    /// The number of its rows in earlier batches.
    pub first: u64,
    /// The number of rows, at most 50.
    pub rows: u32,
}

/// Returns the number of rows of each document: `rows` in all, unless no document has an operation that users
/// ask for.
#[must_use]
pub fn shares(documents: &[DocumentSize<'_>], rows: u64, streams: &Streams) -> Vec<u64> {
    let mut shares = vec![0; documents.len()];
    let mut order: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].askable > 0).collect();
    if order.is_empty() {
        return shares;
    }
    order.shuffle(&mut streams.stream("documents/shares", 0));
    let mut left = rows;
    // Each round allows one more row for each operation that users ask for.
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

/// Returns the batches of documents in the order of their rows. Each document gets a first batch before any
/// gets a second.
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
            // The remaining rows are spread evenly over the batches that they need.
            let rows = left.div_ceil(left.div_ceil(most).max(1));
            batches.push(DocumentBatch { document: *at, first: first[*at], rows: rows as u32 });
            first[*at] += rows;
        }
        order.retain(|at| first[*at] < shares[*at]);
    }
    batches
}

/// Returns the documents that share the world of each: the `count` small ones of its split and licence that
/// rank first.
/// A large document has none. Different licences never share a world, so that each row has one licence.
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
