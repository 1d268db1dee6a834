//! Owns the worlds of the catalog, parsed on first use.

use std::sync::{Arc, OnceLock};

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::{self, Files, Report};

/// Returns a world of the catalog with its scenarios, or none if no world has the name.
///
/// # Errors
/// Returns a finding in the catalog itself.
pub fn world(name: &str) -> Result<Option<WorldDoc>, Report> {
    let Some(source) = diorama_catalog::source(name) else { return Ok(None) };
    let mut doc = world::read(&format!("catalog/domains/{name}.yaml"), source.as_bytes())?;
    let beside = |kind: &str| format!("catalog/domains/{name}.{kind}.yaml");
    if let Some(scenarios) = diorama_catalog::scenarios(name) {
        world::add_scenarios(&mut doc, &beside("scenarios"), scenarios.as_bytes())?;
    }
    if let Some(words) = diorama_catalog::words(name) {
        world::add_words(&mut doc, &beside("words"), words.as_bytes())?;
    }
    doc.source = Some(format!("Diorama catalog: {name}"));
    Ok(Some(doc))
}

/// Returns the texts of a world of the catalog, for the lines of findings.
#[must_use]
pub fn texts_of(name: &str) -> Option<Files> {
    let named =
        |kind: &str, text: &str| (format!("catalog/domains/{name}{kind}.yaml"), text.as_bytes().to_vec());
    Some(Files {
        world: named("", diorama_catalog::source(name)?),
        scenarios: diorama_catalog::scenarios(name).map(|text| named(".scenarios", text)),
        words: diorama_catalog::words(name).map(|text| named(".words", text)),
    })
}

/// Returns all worlds, in the catalog's order.
///
/// # Errors
/// Returns the errors of [`world()`].
pub fn worlds() -> Result<Vec<WorldDoc>, Report> {
    diorama_catalog::names().filter_map(|name| world(name).transpose()).collect()
}

/// Domain of the catalog.
pub struct CatalogDomain {
    /// Name of the domain.
    pub name: &'static str,
    /// BLAKE3 hash of its texts, in hexadecimal.
    pub hash: String,
    doc: OnceLock<Result<WorldDoc, Report>>,
}

impl CatalogDomain {
    fn new(name: &'static str) -> Arc<Self> {
        let texts =
            [diorama_catalog::source(name), diorama_catalog::scenarios(name), diorama_catalog::words(name)];
        let mut hasher = blake3::Hasher::new();
        for text in texts.into_iter().flatten() {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
        Arc::new(Self { name, hash: hasher.finalize().to_hex().to_string(), doc: OnceLock::new() })
    }

    /// Makes a domain that a test changes.
    #[cfg(test)]
    pub(crate) fn from_doc(doc: WorldDoc) -> Arc<Self> {
        let text = serde_json::to_string(&doc).unwrap_or_default();
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Arc::new(Self { name: doc.name.clone().leak(), hash, doc: OnceLock::from(Ok(doc)) })
    }

    /// Returns the world of the domain.
    ///
    /// # Errors
    /// Returns a finding in the catalog itself.
    pub fn doc(&self) -> Result<&WorldDoc, Report> {
        // Each name of the catalog has a text, so that the default is never used.
        let read = || world(self.name).map(Option::unwrap_or_default);
        self.doc.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

/// Returns all domains, in the catalog's order, without parsing them.
#[must_use]
pub fn domains() -> Vec<Arc<CatalogDomain>> {
    diorama_catalog::names().map(CatalogDomain::new).collect()
}
