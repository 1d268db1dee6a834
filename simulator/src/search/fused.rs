//! Words, meaning and need joined.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lexical::Lexical;
use super::needs::{Needs, Passed};
use super::vectors::{Vectors, cosine};
use super::{ApiEntry, ApiHit, ApiQuery, PartScores, SearchBy, SearchError, best_first};
use crate::embed::Embedder;
use crate::engine::tools::split;

/// Hits of one search, at most.
const MAX_HITS: usize = 1_000;
/// The best of each part that are fused, at least.
const DEPTH: usize = 100;
/// Texts that are embedded at once.
const BATCH: usize = 1_024;
/// A cosine below this is chance.
const LEAST_COSINE: f32 = 0.2;
/// The rank at which a part's share has halved.
const HALF_RANK: f32 = 10.0;
/// What the best hit of each part counts: words, meaning.
const SHARES: [f32; 2] = [0.5, 0.5];

/// An index of APIs.
///
/// ```
/// use diorama_simulator::embed::embedded;
/// use diorama_simulator::search::{ApiEntry, ApiIndex, ApiQuery, Port};
///
/// let entry = |api: &str, description: &str, inputs: &[&str], outputs: &[&str]| ApiEntry {
///     world: "clinic".into(), api: api.into(), description: description.into(),
///     inputs: inputs.iter().map(|name| Port::named(name)).collect(),
///     outputs: outputs.iter().map(|name| Port::named(name)).collect(),
///     ..ApiEntry::default()
/// };
/// let index = ApiIndex::new(vec![
///     entry("BookAppointment", "Books an appointment with a dentist.", &["dentist_id"], &["appointment_id"]),
///     entry("DentistName2ID", "Gives the identifier of a person.", &["name"], &["dentist_id"]),
///     entry("PlayTrack", "Plays a song.", &["song"], &[]),
/// ], embedded()?)?;
/// let hits = index.search(ApiQuery { text: "make an appointment for me", k: 2, ..ApiQuery::default() })?;
/// assert_eq!(hits[0].api, "BookAppointment");
/// assert_eq!(hits[1].api, "DentistName2ID");
/// assert_eq!(hits[1].scores.needed_by.as_deref(), Some("BookAppointment"));
/// # Ok::<(), diorama_simulator::search::SearchError>(())
/// ```
pub struct ApiIndex {
    entries: Vec<ApiEntry>,
    /// The position at which each entry was given.
    given: Vec<usize>,
    lexical: Lexical,
    vectors: Vectors,
    needs: Needs,
    embedder: Arc<dyn Embedder>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    score: f32,
    lexical: Option<f32>,
    embedding: Option<f32>,
    fed: Option<f32>,
    needed: Option<Passed>,
}

type Candidates = BTreeMap<usize, Found>;

impl ApiIndex {
    /// Indexes APIs.
    ///
    /// # Errors
    /// When the index cannot be made or the embedder fails.
    pub fn new(entries: Vec<ApiEntry>, embedder: Arc<dyn Embedder>) -> Result<Self, SearchError> {
        // Ties are told apart by position, so positions follow the names.
        let mut sorted: Vec<(usize, ApiEntry)> = entries.into_iter().enumerate().collect();
        sorted.sort_by(|(_, left), (_, right)| (&left.world, &left.api).cmp(&(&right.world, &right.api)));
        let (given, entries): (Vec<usize>, Vec<ApiEntry>) = sorted.into_iter().unzip();
        let texts: Vec<String> = entries.iter().map(ApiEntry::text).collect();
        let mut values = Vec::with_capacity(texts.len() * embedder.dimensions());
        for batch in texts.chunks(BATCH) {
            values.extend(embedder.embed(&batch.iter().map(String::as_str).collect::<Vec<_>>())?);
        }
        let vectors = Vectors::new(embedder.dimensions(), &values);
        Ok(Self {
            lexical: Lexical::new(&entries)?,
            needs: Needs::new(&entries, &vectors),
            vectors,
            embedder,
            given,
            entries,
        })
    }

    /// The APIs that fit best, best first, ties by world and name.
    ///
    /// # Errors
    /// When the index cannot be read or the embedder fails.
    pub fn search(&self, query: ApiQuery<'_>) -> Result<Vec<ApiHit>, SearchError> {
        let (found, best) = self.found(query)?;
        Ok(best.into_iter().filter_map(|position| self.hit(position, found.get(&position)?)).collect())
    }

    fn found(&self, query: ApiQuery<'_>) -> Result<(Candidates, Vec<usize>), SearchError> {
        let k = query.k.min(MAX_HITS);
        let depth = DEPTH.max(k);
        let mut found = Candidates::new();
        if query.by != SearchBy::Meaning {
            for (rank, (position, score)) in self.lexical.best(query, depth)?.into_iter().enumerate() {
                let hit = found.entry(position).or_default();
                hit.lexical = Some(score);
                hit.score += if query.by == SearchBy::Words { score } else { share(SHARES[0], rank) };
            }
        }
        if query.by != SearchBy::Words {
            for (rank, (position, score)) in self.nearest(query, depth)?.into_iter().enumerate() {
                let hit = found.entry(position).or_default();
                hit.embedding = Some(score);
                hit.score += if query.by == SearchBy::Meaning { score } else { share(SHARES[1], rank) };
            }
        }
        if query.by == SearchBy::FusedAndNeeds {
            self.add_needs(query, &mut found);
        }
        let best = best(&found, k);
        Ok((found, best))
    }

    /// The positions, among the entries that the index was made of, of the APIs that fit best.
    ///
    /// # Errors
    /// As [`ApiIndex::search`].
    pub fn positions(&self, query: ApiQuery<'_>) -> Result<Vec<usize>, SearchError> {
        let (_, best) = self.found(query)?;
        Ok(best.into_iter().filter_map(|position| self.given.get(position).copied()).collect())
    }

    /// The number of APIs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no API.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn nearest(&self, query: ApiQuery<'_>, limit: usize) -> Result<Vec<(usize, f32)>, SearchError> {
        // Marks without a word have vectors too, and mean nothing.
        if split(query.text).next().is_none() {
            return Ok(Vec::new());
        }
        let products = self.vectors.products(&self.embedder.embed(&[query.text])?);
        let least = (LEAST_COSINE * (1 << 28) as f32) as i32;
        let mut near: Vec<(i32, u32)> = products
            .into_iter()
            .zip(0_u32..)
            .filter(|(product, position)| *product > least && self.passes(*position as usize, query))
            .map(|(product, position)| (-product, position))
            .collect();
        if near.len() > limit {
            near.select_nth_unstable(limit);
            near.truncate(limit);
        }
        near.sort_unstable();
        Ok(near.into_iter().map(|(product, position)| (position as usize, cosine(-product))).collect())
    }

    fn passes(&self, position: usize, query: ApiQuery<'_>) -> bool {
        if (query.world, query.domain, query.method) == (None, None, None) {
            return true;
        }
        self.entries.get(position).is_some_and(|entry| {
            query.world.is_none_or(|world| entry.world == world)
                && query.domain.is_none_or(|domain| entry.domain == domain)
                && query.method.is_none_or(|method| entry.method == Some(method))
        })
    }

    /// Hits that fit together rise, and what the best need is found too.
    fn add_needs(&self, query: ApiQuery<'_>, found: &mut Candidates) {
        let own: BTreeMap<usize, f32> = found.iter().map(|(position, hit)| (*position, hit.score)).collect();
        let exchanged = self.needs.exchanged(&own, |position| self.passes(position, query));
        for (score, position) in exchanged.fed {
            let hit = found.entry(position).or_default();
            hit.fed = Some(score - hit.score).filter(|gain| *gain > 0.0);
            hit.score = hit.score.max(score);
        }
        for (source, passed) in exchanged.passed {
            let hit = found.entry(source).or_default();
            hit.score = hit.score.max(passed.score);
            hit.needed = Some(passed);
        }
    }

    fn hit(&self, position: usize, found: &Found) -> Option<ApiHit> {
        let entry = self.entries.get(position)?;
        let needed_by = found.needed.and_then(|passed| self.entries.get(passed.by));
        Some(ApiHit {
            api: entry.api.clone(),
            domain: entry.domain.clone(),
            world: entry.world.clone(),
            method: entry.method.map(diorama_seeds::model::Method::as_str),
            score: found.score,
            scores: PartScores {
                lexical: found.lexical,
                embedding: found.embedding,
                fed: found.fed,
                needed: found.needed.map(|passed| passed.score),
                needed_by: needed_by.map(|entry| entry.api.clone()),
            },
            description: entry.description.clone(),
        })
    }
}

/// What a rank (from 0) counts.
fn share(most: f32, rank: usize) -> f32 {
    most * HALF_RANK / (HALF_RANK + rank as f32)
}

/// The positions of the best, best first, ties by position.
fn best(found: &Candidates, limit: usize) -> Vec<usize> {
    let mut sorted: Vec<(f32, usize)> = found.iter().map(|(position, hit)| (hit.score, *position)).collect();
    best_first(&mut sorted);
    sorted.truncate(limit);
    sorted.into_iter().map(|(_, position)| position).collect()
}
