//! Owns BM25 over the words of APIs, in memory.

use diorama_seeds::model::Method;
use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, WhitespaceTokenizer};
use tantivy::{Index, Searcher, TantivyDocument, Term};

use super::types::{ApiQuery, SearchError};
use diorama_engine::search::ApiEntry;
use diorama_engine::search::words::words;

/// Weights of a word in the name, description, parameters and domain.
const WEIGHTS: [f32; 4] = [3.0, 2.0, 0.7, 1.0];
/// Maximum number of distinct words of a query. The first ones count.
const MAX_WORDS: usize = 64;
/// Memory of the writer with one thread, in bytes.
const WRITER_BYTES: usize = 50_000_000;
const ANALYSER: &str = "english";

/// Index of the words of entries, which are identified by their positions.
pub(super) struct Lexical {
    searcher: Searcher,
    /// Position of each document, per segment.
    positions: Vec<Column<u64>>,
    /// Fields of name, description, parameters and domain.
    fields: [Field; 4],
    /// Fields of world, domain and method.
    filters: [Field; 3],
    analyser: TextAnalyzer,
}

impl Lexical {
    pub(super) fn new(entries: &[ApiEntry]) -> Result<Self, SearchError> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(ANALYSER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = TextOptions::default().set_indexing_options(indexing);
        let fields = ["name", "description", "parameters", "domain_title"]
            .map(|name| schema.add_text_field(name, text.clone()));
        let exact =
            TextFieldIndexing::default().set_tokenizer("raw").set_index_option(IndexRecordOption::Basic);
        let exact = TextOptions::default().set_indexing_options(exact.set_fieldnorms(false));
        let filters = ["world", "domain", "method"].map(|name| schema.add_text_field(name, exact.clone()));
        let position = schema.add_u64_field("position", FAST);
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
            let exact = [entry.world.as_str(), &entry.domain, entry.method.map_or("", Method::as_str)];
            for (field, text) in filters.into_iter().zip(exact) {
                document.add_text(field, text);
            }
            document.add_u64(position, number as u64);
            writer.add_document(document)?;
        }
        writer.commit()?;
        let searcher = index.reader()?.searcher();
        let positions = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.fast_fields().u64("position"))
            .collect::<Result<_, _>>()?;
        Ok(Self { searcher, positions, fields, filters, analyser })
    }

    /// Returns the best entries with their scores, best first. The position decides ties.
    pub(super) fn best(&self, query: ApiQuery<'_>, limit: usize) -> Result<Vec<(usize, f32)>, SearchError> {
        let Some(wanted) = self.query(query).filter(|_| limit > 0) else { return Ok(Vec::new()) };
        let found = self.searcher.search(&wanted, &TopDocs::with_limit(limit).order_by_score())?;
        let mut found: Vec<(usize, f32)> = found
            .into_iter()
            .filter_map(|(score, address)| {
                let position = self.positions.get(address.segment_ord as usize)?.first(address.doc_id)?;
                Some((usize::try_from(position).ok()?, score))
            })
            .collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        Ok(found)
    }

    fn query(&self, query: ApiQuery<'_>) -> Option<BooleanQuery> {
        let wanted = self.words(query.text);
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
        let exact = [query.world, query.domain, query.method.map(Method::as_str)];
        let mut all: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (field, text) in self.filters.into_iter().zip(exact) {
            let Some(text) = text else { continue };
            let of = TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic);
            // A filter restricts the hits and adds no score.
            all.push((Occur::Must, Box::new(BoostQuery::new(Box::new(of), 0.0))));
        }
        if all.is_empty() {
            return Some(words);
        }
        all.push((Occur::Must, Box::new(words)));
        Some(BooleanQuery::new(all))
    }

    fn words(&self, text: &str) -> Vec<String> {
        let mut analyser = self.analyser.clone();
        let text = normalised(text);
        let mut stream = analyser.token_stream(&text);
        let mut wanted: Vec<String> = Vec::new();
        while let (true, Some(token)) = (wanted.len() < MAX_WORDS, stream.next()) {
            if !wanted.contains(&token.text) {
                wanted.push(token.text.clone());
            }
        }
        wanted
    }
}

/// Returns the words of a text in the form that all searches of this crate use.
fn normalised(text: &str) -> String {
    words(text).collect::<Vec<_>>().join(" ")
}
