//! `toolsearch/2`: the words of `toolsearch/1` and the meaning of texts, fused by rank, in integers only.
//!
//! An API's text is its name split into words, its description and its domain's title; its vector is that of the model in the program,
//! `minilm-static-1`, rounded to 16 bits. The model sums integers, divides and takes one square root, all of which
//! IEEE 754 rounds in one way only, and cosines are sums of products of integers: the same hits on every machine.
//! What a rank (from 0) counts, in words as in meaning, is 65,536 · 10 / (10 + rank), rounded down.

use diorama_seeds::model::{ApiId, World};

use super::{Hit, split};
use crate::embed::embedded;
use crate::search::vectors::Vectors;

/// What the best of each ranking counts.
const MOST: u32 = 65_536;
/// The rank at which half of it is left.
const HALF_RANK: u32 = 10;
/// So many of each ranking count.
const DEPTH: usize = 50;
/// A cosine below a quarter is chance; in 2^-28ths.
const LEAST: i32 = 1 << 26;

/// The vectors of a world's APIs.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    vectors: Vectors,
}

impl Meaning {
    pub(super) fn new(world: &World) -> Self {
        // The model's bytes are part of the program, and a test loads them: there is no other outcome.
        let Ok(model) = embedded() else { return Self::default() };
        let texts = world.apis.iter().map(|api| {
            let words: Vec<String> = split(&api.name).map(str::to_lowercase).collect();
            let title = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.title);
            format!("{}. {} {title}", words.join(" "), api.description)
        });
        let values: Vec<f32> = texts.flat_map(|text| model.vector(&text)).collect();
        Self { vectors: Vectors::new(crate::embed::Embedder::dimensions(&*model), &values) }
    }

    /// All APIs that either ranking has among its best, best first, ties by name.
    pub(super) fn fused(&self, world: &World, by_words: &[Hit], keywords: &str) -> Vec<Hit> {
        let name = |api: ApiId| &world.api(api).name;
        let mut score = vec![0_u32; world.apis.len()];
        let mut add = |ranking: &mut dyn Iterator<Item = ApiId>| {
            for (rank, api) in (0..).zip(ranking.take(DEPTH)) {
                if let Some(score) = score.get_mut(api.index()) {
                    *score += MOST * HALF_RANK / (HALF_RANK + rank);
                }
            }
        };
        add(&mut by_words.iter().map(|hit| hit.api));
        let mut near = self.near(keywords);
        near.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| name(left.1).cmp(name(right.1))));
        add(&mut near.into_iter().map(|(_, api)| api));
        let hits = score.into_iter().enumerate().filter(|(_, score)| *score > 0);
        let mut hits: Vec<Hit> =
            hits.map(|(position, score)| Hit { api: ApiId(position as u16), score }).collect();
        hits.sort_by(|left, right| {
            right.score.cmp(&left.score).then_with(|| name(left.api).cmp(name(right.api)))
        });
        hits
    }

    fn near(&self, keywords: &str) -> Vec<(i32, ApiId)> {
        // Marks without a word have vectors too, and mean nothing.
        let (Some(_), Ok(model)) = (split(keywords).next(), embedded()) else { return Vec::new() };
        let products = self.vectors.products(&model.vector(keywords));
        let found = products.into_iter().zip(0..).map(|(product, position)| (product, ApiId(position)));
        found.filter(|(product, _)| *product > LEAST).collect()
    }
}
