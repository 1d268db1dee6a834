//! Owns the access to a document's domains, in its short or long form.

use indexmap::IndexMap;

use crate::doc::{ApiDoc, DomainHead, HouseDoc, ResourceDoc, WorldDoc};
use diorama_format::path::Path;

/// One domain of a document in either form.
#[derive(Clone, Copy)]
pub(crate) struct Part<'d> {
    /// Position under `domains`, or `None` for the short form.
    index: Option<usize>,
    /// Head of the domain, or `None` if the short form omits it.
    pub(crate) head: Option<&'d DomainHead>,
    /// The resources.
    pub(crate) resources: &'d IndexMap<String, ResourceDoc>,
    /// The APIs.
    pub(crate) apis: &'d [ApiDoc],
}

/// Path of the domains in the long form.
const DOMAINS: Path<'static> = Path::ROOT.name("domains");

impl<'d> Part<'d> {
    /// Returns the path of the domain, which is the root in the short form.
    pub(crate) const fn path(&self) -> Path<'static> {
        match self.index {
            Some(index) => DOMAINS.index(index),
            None => Path::ROOT,
        }
    }

    /// Returns the policy of the domain.
    pub(crate) fn house(&self) -> Option<&'d HouseDoc> {
        self.head?.house.as_ref()
    }

    /// Returns the domains of a document, in the order of [`WorldDoc::into_domains`].
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
