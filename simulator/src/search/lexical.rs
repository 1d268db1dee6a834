//! BM25 over the words of APIs, in memory.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, WhitespaceTokenizer};
use tantivy::{Index, IndexReader, Searcher, TantivyDocument, Term};

use super::{ApiEntry, ApiHit, ApiQuery, ApiSearch};
use crate::engine::tools::words;

/// Why the index cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[error("the index of APIs: {0}")]
pub struct SearchError(#[from] tantivy::TantivyError);

/// How much a word counts by where it stands.
const WEIGHTS: [f32; 4] = [3.0, 2.0, 0.7, 1.0];
/// Different words of a query that count, at most; the first ones.
const MAX_WORDS: usize = 64;
/// Hits of one search, at most.
const MAX_HITS: usize = 1_000;
/// The writer's memory while the index is made; the least that tantivy takes for one thread.
const WRITER_BYTES: usize = 15_000_000;
const ANALYSER: &str = "english";

/// A search by words: BM25 over name, description, parameters and domain.
///
/// ```
/// use diorama_simulator::search::{ApiEntry, ApiQuery, ApiSearch, LexicalSearch};
///
/// let entry = |api: &str, description: &str| ApiEntry {
///     world: "clinic".into(), api: api.into(), domain: "clinic".into(), domain_title: "Dental clinic".into(),
///     description: description.into(), parameters: String::new(),
/// };
/// let search = LexicalSearch::new(vec![
///     entry("BookAppointment", "Books an appointment with a dentist."),
///     entry("ListDentists", "Lists dentists."),
/// ])?;
/// let hits = search.search(ApiQuery { text: "book me in", k: 1, world: None })?;
/// assert_eq!(hits[0].api, "BookAppointment");
/// # Ok::<(), diorama_simulator::search::SearchError>(())
/// ```
pub struct LexicalSearch {
    entries: Vec<ApiEntry>,
    reader: IndexReader,
    /// Name, description, parameters, domain.
    fields: [Field; 4],
    world: Field,
    position: Field,
    analyser: TextAnalyzer,
}

impl LexicalSearch {
    /// Indexes APIs.
    ///
    /// # Errors
    /// When the index cannot be made.
    pub fn new(mut entries: Vec<ApiEntry>) -> Result<Self, SearchError> {
        // Ties are told apart by position, so positions follow the names.
        entries.sort_by(|left, right| (&left.world, &left.api).cmp(&(&right.world, &right.api)));
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(ANALYSER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = TextOptions::default().set_indexing_options(indexing);
        let fields = ["name", "description", "parameters", "domain"]
            .map(|name| schema.add_text_field(name, text.clone()));
        let exact =
            TextFieldIndexing::default().set_tokenizer("raw").set_index_option(IndexRecordOption::Basic);
        let world = schema.add_text_field("world", TextOptions::default().set_indexing_options(exact));
        let position = schema.add_u64_field("position", STORED);
        let index = Index::create_in_ram(schema.build());
        let analyser = TextAnalyzer::builder(WhitespaceTokenizer::default())
            .filter(Stemmer::new(Language::English))
            .build();
        index.tokenizers().register(ANALYSER, analyser.clone());
        let mut writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
        for (number, entry) in entries.iter().enumerate() {
            let mut document = TantivyDocument::new();
            let texts = [&entry.api, &entry.description, &entry.parameters, &entry.domain_title];
            for (field, text) in fields.into_iter().zip(texts) {
                document.add_text(field, normalised(text));
            }
            document.add_text(world, &entry.world);
            document.add_u64(position, number as u64);
            writer.add_document(document)?;
        }
        writer.commit()?;
        let reader = index.reader()?;
        Ok(Self { entries, reader, fields, world, position, analyser })
    }

    fn query(&self, query: ApiQuery<'_>) -> Option<BooleanQuery> {
        let mut analyser = self.analyser.clone();
        let text = normalised(query.text);
        let mut stream = analyser.token_stream(&text);
        let mut wanted: Vec<String> = Vec::new();
        while let (true, Some(token)) = (wanted.len() < MAX_WORDS, stream.next()) {
            if !wanted.contains(&token.text) {
                wanted.push(token.text.clone());
            }
        }
        if wanted.is_empty() {
            return None;
        }
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for word in &wanted {
            for (field, weight) in self.fields.into_iter().zip(WEIGHTS) {
                let term = TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(term), weight))));
            }
        }
        let words = BooleanQuery::new(clauses);
        Some(match query.world {
            None => words,
            Some(world) => {
                let of = TermQuery::new(Term::from_field_text(self.world, world), IndexRecordOption::Basic);
                // The world narrows the hits and does not count.
                let of = BoostQuery::new(Box::new(of), 0.0);
                BooleanQuery::new(vec![(Occur::Must, Box::new(words)), (Occur::Must, Box::new(of))])
            }
        })
    }

    fn entry(&self, searcher: &Searcher, address: tantivy::DocAddress) -> Result<Option<usize>, SearchError> {
        let document: TantivyDocument = searcher.doc(address)?;
        let position = document.get_first(self.position).and_then(|value| value.as_u64());
        Ok(position.and_then(|position| usize::try_from(position).ok()))
    }
}

impl ApiSearch for LexicalSearch {
    fn search(&self, query: ApiQuery<'_>) -> Result<Vec<ApiHit>, SearchError> {
        let k = query.k.min(MAX_HITS);
        let Some(wanted) = self.query(query).filter(|_| k > 0) else { return Ok(Vec::new()) };
        let searcher = self.reader.searcher();
        let mut found: Vec<(f32, usize)> = Vec::new();
        for (score, address) in searcher.search(&wanted, &TopDocs::with_limit(k).order_by_score())? {
            found.extend(self.entry(&searcher, address)?.map(|position| (score, position)));
        }
        found.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let hit = |(score, position): (f32, usize)| {
            self.entries.get(position).map(|entry| ApiHit {
                api: entry.api.clone(),
                domain: entry.domain.clone(),
                world: entry.world.clone(),
                score,
                description: entry.description.clone(),
            })
        };
        Ok(found.into_iter().filter_map(hit).collect())
    }
}

/// The words of a text, as all searches of this crate see them.
fn normalised(text: &str) -> String {
    words(text).collect::<Vec<_>>().join(" ")
}
