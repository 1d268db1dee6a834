//! The benchmark's own search (section 3.1): finds the API whose text is nearest to the keywords, by the
//! cosine of their vectors.
//!
//! An API's text is its name in words and its description. The vectors come from the compiled-in model, where
//! the paper uses a sentence model. An API that takes a token follows the one that issues tokens, as in the
//! recorded searches.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::embed::{EmbedError, Embedder, StaticEmbedder, dot, embedded};
use diorama_engine::search::{ApiEntry, entries};
use diorama_seeds::model::ApiId;
use serde_json::{Value as Json, json};

/// An index of a world's APIs.
pub(super) struct NearestSearch {
    model: Arc<StaticEmbedder>,
    /// One vector per API, in the order of the world's APIs.
    vectors: Vec<f32>,
}

impl NearestSearch {
    /// Indexes the APIs of a world.
    ///
    /// # Errors
    /// Returns an error if the program was built with damaged model files.
    pub(super) fn new(base: &Base) -> Result<Self, EmbedError> {
        let model = embedded()?;
        let text = |entry: &ApiEntry| ApiEntry { domain: String::new(), ..entry.clone() }.text();
        let texts: Vec<String> = entries("", base.world()).iter().map(text).collect();
        let vectors = model.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(Self { model, vectors })
    }

    /// Returns the API nearest to keywords, the first one of a tie. Returns none for keywords without a known
    /// word.
    pub(super) fn nearest(&self, keywords: &str) -> Option<ApiId> {
        let wanted = self.model.embed(&[keywords]).ok()?;
        let vectors = self.vectors.chunks_exact(self.model.dimensions());
        let cosines = vectors.map(|vector| dot(vector, &wanted)).enumerate();
        let best = cosines
            .filter(|(_, cosine)| *cosine > 0.0)
            .reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.and_then(|(position, _)| u16::try_from(position).ok()).map(ApiId)
    }

    /// Returns the reply body of a search, in the form of `ToolSearcher`.
    pub(super) fn reply(&self, base: &Base, keywords: &str) -> Json {
        let found = self.nearest(keywords);
        let sign_in = found.map(|api| base.world().api(api)).filter(|api| api.token.is_some());
        let sign_in = sign_in.and_then(|api| base.sign_in_api(api.domain)).filter(|api| Some(*api) != found);
        let tools = sign_in.into_iter().chain(found).filter_map(|api| base.tool_schema(api)?.get("function"));
        json!({ "tools": tools.collect::<Vec<_>>() })
    }
}
