//! Owns the analysis of an API's uses: its parameters, and the resources about whose records it reveals
//! anything.

use std::collections::HashSet;

use crate::model::walk::ApiPart;
use crate::model::{Api, ParameterId, ResourceId};

/// The parameters and resources that one API uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Positions of the parameters on which the call depends.
    pub(super) parameters: HashSet<usize>,
    /// Resources whose records a call shows, or whose records affect a reply or refusal.
    pub(super) shown: HashSet<ResourceId>,
    /// Position of the parameter that holds the page size.
    pub(super) limit: Option<usize>,
}

impl Uses {
    pub(super) fn of(api: &Api) -> Self {
        let mut uses = Self::default();
        api.walk(&mut |part| match part {
            ApiPart::Parameter(parameter) => {
                uses.parameters.insert(parameter.index());
            }
            ApiPart::Shown(resource) => {
                uses.shown.insert(resource);
            }
            ApiPart::Touched(_) | ApiPart::Condition(..) | ApiPart::Node(_) => {}
        });
        let page = api.query().and_then(|query| query.page.as_ref());
        uses.limit = page.and_then(|page| page.limit).map(ParameterId::index);
        uses
    }
}
