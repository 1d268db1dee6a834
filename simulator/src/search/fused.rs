//! Owns the fusion of words, meaning and need.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lexical::Lexical;
use super::types::{ApiHit, ApiQuery, PartScores, SearchBy, SearchError};
use diorama_engine::embed::Embedder;
use diorama_engine::search::ApiEntry;
use diorama_engine::search::cosine;
use diorama_engine::search::fusion::{FusedScores, Fusion};
use diorama_engine::search::score::{BEST_OF_ALL, Score};

/// Maximum number of hits of one search.
const MAX_HITS: usize = 1_000;
/// Maximum number of domains in a message.
const MAX_DOMAINS_NAMED: usize = 40;
/// Minimum number of hits of each part that are fused.
const DEPTH: usize = 100;

/// Index of APIs.
///
/// ```
/// use diorama_engine::embed::embedded;
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
    /// Position of each entry in the input.
    given: Vec<usize>,
    lexical: Lexical,
    fusion: Fusion,
    embedder: Arc<dyn Embedder>,
}

/// Results of each part, best first.
struct SearchParts {
    words: Vec<(usize, f32)>,
    near: Vec<(i32, usize)>,
    fused: FusedScores,
}

impl ApiIndex {
    /// Indexes APIs.
    ///
    /// # Errors
    /// Returns an error if the index cannot be made, or if the embedder fails.
    pub fn new(entries: Vec<ApiEntry>, embedder: Arc<dyn Embedder>) -> Result<Self, SearchError> {
        let (given, entries) = ApiEntry::sorted(entries);
        Ok(Self {
            lexical: Lexical::new(&entries)?,
            fusion: Fusion::new(&entries, &*embedder)?,
            embedder,
            given,
            entries,
        })
    }

    /// Returns the best APIs, best first. World and name decide ties.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read, or if the embedder fails.
    pub fn search(&self, query: ApiQuery<'_>) -> Result<Vec<ApiHit>, SearchError> {
        let found = self.found(query)?;
        Ok(found.fused.best.iter().filter_map(|best| self.hit(*best, &found)).collect())
    }

    /// Returns the positions of the best APIs among the input of [`ApiIndex::new`].
    ///
    /// # Errors
    /// Returns the errors of [`ApiIndex::search`].
    pub fn positions(&self, query: ApiQuery<'_>) -> Result<Vec<usize>, SearchError> {
        let best = self.found(query)?.fused.best;
        Ok(best.into_iter().filter_map(|(_, position)| self.given.get(position).copied()).collect())
    }

    /// Checks that a domain has an API.
    ///
    /// # Errors
    /// Returns the expected names if the domain has none, or some of them if there are many.
    pub fn check_domain(&self, name: &str) -> Result<(), String> {
        let known: BTreeSet<&str> = self.entries.iter().map(|entry| &*entry.domain).collect();
        if known.contains(name) {
            return Ok(());
        }
        let more = if known.len() > MAX_DOMAINS_NAMED { ", ..." } else { "" };
        let named: Vec<&str> = known.into_iter().take(MAX_DOMAINS_NAMED).collect();
        Err(format!("one of {}{more}", named.join(", ")))
    }

    /// Returns the number of APIs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no APIs.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn found(&self, query: ApiQuery<'_>) -> Result<SearchParts, SearchError> {
        let k = query.k.min(MAX_HITS);
        let depth = DEPTH.max(k);
        let passes = |position| self.passes(position, query);
        let words =
            if query.by == SearchBy::Meaning { Vec::new() } else { self.lexical.best(query, depth)? };
        let near = if query.by == SearchBy::Words {
            Vec::new()
        } else {
            self.fusion.nearest(query.text, &*self.embedder, depth, passes)?
        };
        let mut by_words = words.iter().map(|(position, _)| *position);
        let mut by_meaning = near.iter().map(|(_, position)| *position);
        let needs = query.by == SearchBy::FusedAndNeeds;
        let mut fused = self.fusion.fused([&mut by_words, &mut by_meaning], needs, passes);
        fused.best.truncate(k);
        Ok(SearchParts { words, near, fused })
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

    fn hit(
        &self,
        (score, position): (Score, usize),
        SearchParts { words, near, fused }: &SearchParts,
    ) -> Option<ApiHit> {
        let entry = self.entries.get(position)?;
        let whole = |score: Score| score as f32 / BEST_OF_ALL as f32;
        let own = fused.own.get(&position).copied().unwrap_or(0);
        let passed = fused.exchanged.passed.get(&position);
        let fed = fused.exchanged.fed.iter().find(|(_, fed)| *fed == position).map(|(fed, _)| fed - own);
        Some(ApiHit {
            api: entry.api.clone(),
            domain: entry.domain.clone(),
            world: entry.world.clone(),
            method: entry.method.map(diorama_seeds::model::Method::as_str),
            score: whole(score),
            scores: PartScores {
                lexical: words.iter().find(|(word, _)| *word == position).map(|(_, score)| *score),
                embedding: near.iter().find(|(_, near)| *near == position).map(|(near, _)| cosine(*near)),
                fed: fed.filter(|gain| *gain > 0).map(whole),
                needed: passed.map(|passed| whole(passed.score)),
                needed_by: passed.and_then(|passed| Some(self.entries.get(passed.by)?.api.clone())),
            },
            description: entry.description.clone(),
        })
    }
}
