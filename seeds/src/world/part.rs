//! The domains of a document, whichever form it uses.

use indexmap::IndexMap;

use crate::doc::{ApiDoc, DomainHead, HouseDoc, ResourceDoc, WorldDoc};
use diorama_format::path::Path;

/// One domain of the document, whichever form the document uses.
#[derive(Clone, Copy)]
pub(crate) struct Part<'d> {
    /// Position under `domains`; `None` for the short form.
    index: Option<usize>,
    /// The head; `None` when the short form leaves it out.
    pub(crate) head: Option<&'d DomainHead>,
    /// The resources.
    pub(crate) resources: &'d IndexMap<String, ResourceDoc>,
    /// The APIs.
    pub(crate) apis: &'d [ApiDoc],
}

/// Where a domain's parts stand in the document.
const DOMAINS: Path<'static> = Path::ROOT.name("domains");

impl<'d> Part<'d> {
    /// The place of the domain: the root in the short form.
    pub(crate) const fn path(&self) -> Path<'static> {
        match self.index {
            Some(index) => DOMAINS.index(index),
            None => Path::ROOT,
        }
    }

    /// The policy of the domain.
    pub(crate) fn house(&self) -> Option<&'d HouseDoc> {
        self.head?.house.as_ref()
    }

    /// The domains of a document, in the order of [`WorldDoc::into_domains`].
    pub(crate) fn all(doc: &'d WorldDoc) -> Vec<Self> {
        let mut parts = Vec::with_capacity(doc.domains.len() + 1);
        if doc.domain.is_some() || !doc.resources.is_empty() || !doc.apis.is_empty() {
            parts.push(Part {
                index: None,
                head: doc.domain.as_ref(),
                resources: &doc.resources,
                apis: &doc.apis,
            });
        }
        parts.extend(doc.domains.iter().enumerate().map(|(index, domain)| Part {
            index: Some(index),
            head: Some(&domain.domain),
            resources: &domain.resources,
            apis: &domain.apis,
        }));
        parts
    }
}
