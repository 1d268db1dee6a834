//! Owns the search for a world that fits the replies of an episode and contradicts an answer.
//!
//! Replies tell an answer if no world that fits them contradicts it. The search alters one record at a time.
//! Each alteration that changes the answer must also change a reply that the agent got. The engine replays
//! all calls, so this module interprets no rule of an API.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, Origin, Reply, State, apply};
use diorama_seeds::model::{FieldId, Record, ResourceId};
use diorama_seeds::task::Call;
use diorama_seeds::value::Value;

use super::alteration::{Alteration, Alterer, FieldChoice};
use super::question::{Answer, Question, Standard};

/// A call of an episode.
pub(super) struct MadeCall<'a> {
    pub(super) entry: &'a Arc<LogEntry>,
    pub(super) before: State,
    /// The resources that its API reads or writes.
    pub(super) resources: BTreeSet<ResourceId>,
}

/// A search for an alteration that changes the answer to a call but no reply.
pub(super) struct Search<'a> {
    /// The world of the call: that of the episode, or its shadow world.
    pub(super) base: &'a Base,
    /// The world of the episode.
    pub(super) served: &'a Base,
    pub(super) call: &'a Call,
    pub(super) question: &'a Question,
    pub(super) standard: Standard,
    pub(super) resources: &'a BTreeSet<ResourceId>,
    /// The state in which the call gives the answer.
    pub(super) state: &'a State,
    /// The reply to the call in that state.
    pub(super) reply: Reply,
    /// The calls of the episode about the same resources.
    pub(super) replies: &'a [&'a MadeCall<'a>],
}

/// Bounds the records that are compared with the first one of a list.
const MAX_RIVALS: usize = 200;
/// Status of a reply that says that a record is not there.
const NOT_FOUND: u16 = 404;

/// Records, each with its resource.
type Records<'a> = Vec<(ResourceId, &'a Record)>;

/// The alterations that change the answer: true if there are any, and the fields that they change.
#[derive(Default)]
pub(super) struct Findings {
    any: bool,
    fields: BTreeSet<(ResourceId, FieldId)>,
}

impl Search<'_> {
    /// Returns true if the replies tell the answer.
    pub(super) fn holds(&self) -> bool {
        match self.question.answer {
            Answer::Forbidden(_) => self.tells_refusal(),
            Answer::Refused(status) if status != 404 => self.tells_refusal(),
            Answer::First { ref by, greatest, resource, .. } => self.tells_first(by, greatest, resource),
            _ => self.tells_answer(),
        }
    }

    /// Returns true if some alteration changes the answer and each such one changes a reply.
    fn tells_answer(&self) -> bool {
        let mut findings = Findings::default();
        self.tells_all(&mut findings) && findings.any
    }

    /// Returns true if each alteration that changes the answer also changes a reply.
    pub(super) fn tells_all(&self, findings: &mut Findings) -> bool {
        let alterer = self.alterer();
        let shown = self.shown_keys();
        let new = self.resources.iter().flat_map(|id| {
            let own = shown.range((*id, &Value::Absent)..).take_while(move |(of, _)| of == id);
            alterer.new_records(*id, own.map(|(_, key)| *key))
        });
        if !self.tells_of_each(new, findings) {
            return false;
        }
        let (shown, others) = self.records_that_matter(&shown);
        let all = shown.into_iter().all(|(resource, record)| {
            self.tells_of_each(alterer.alterations(resource, record, FieldChoice::All), findings)
        });
        if !all {
            return false;
        }
        // In records that no reply shows, it alters only the fields found so far, or all fields if none was
        // found.
        let fields = std::mem::take(&mut findings.fields);
        let all = self.standard == Standard::Thorough || fields.is_empty();
        let tried = if all { FieldChoice::All } else { FieldChoice::Fields(&fields) };
        others.into_iter().all(|(resource, record)| {
            self.tells_of_each(alterer.alterations(resource, record, tried), findings)
        })
    }

    /// Returns true if each record that a better value would put first is one that replies tell of.
    fn tells_first(&self, by: &str, greatest: bool, resource: ResourceId) -> bool {
        // The path names the field of the list's items.
        let place = |(path, _, origin): (String, _, &Origin)| match origin {
            Origin::Field { resource: of, field, .. } if *of == resource && path.ends_with(by) => {
                Some(*field)
            }
            _ => None,
        };
        let Some(field) = self.reply.body.leaves().find_map(place) else { return false };
        let leaves = self.replies.iter().filter(|made| made.entry.reply.is_success());
        let shown: BTreeSet<&Value> = leaves
            .flat_map(|made| made.entry.reply.body.values())
            .filter_map(|(_, origin)| match origin {
                Origin::Field { resource: of, key, field: shown } if (*of, *shown) == (resource, field) => {
                    Some(key)
                }
                _ => None,
            })
            .collect();
        let rivals = self.state.iter(self.base, resource);
        let mut unseen = rivals.filter(|record| !shown.contains(self.key(resource, record))).take(MAX_RIVALS);
        unseen.all(|record| {
            let better = self.alterer().find_better(resource, record, field, greatest);
            better.is_none_or(|better| !self.alters_answer(&better) || self.is_told(&better))
        })
    }

    /// Returns true if each of these alterations that changes the answer also changes a reply.
    fn tells_of_each(
        &self,
        mut alterations: impl Iterator<Item = Alteration>,
        findings: &mut Findings,
    ) -> bool {
        alterations.all(|alteration| {
            if !self.alters_answer(&alteration) {
                return true;
            }
            findings.any = true;
            findings.fields.extend(alteration.field());
            self.is_told(&alteration)
        })
    }

    /// Returns true if the replies show the reason of a refusal. For each record with alterations that would
    /// let the call succeed, one of them must change a reply. If several rules fail, an alteration that meets
    /// the first of them counts.
    fn tells_refusal(&self) -> bool {
        let rule = self.failed_rule(&self.reply);
        let records = self.records_that_matter(&self.shown_keys());
        self.tells_cause(&records, Reply::is_success).or_else(|| {
            let meets = |reply: &Reply| reply.is_success() || self.failed_rule(reply) > rule;
            rule.and_then(|_| self.tells_cause(&records, meets))
        }) == Some(true)
    }

    /// Returns true if, for each record with a wanted alteration, one such alteration changes a reply. An
    /// alteration is wanted if `wanted` accepts the reply after it. Returns none if no record has one.
    fn tells_cause(
        &self,
        (shown, others): &(Records<'_>, Records<'_>),
        wanted: impl Fn(&Reply) -> bool,
    ) -> Option<bool> {
        let alterer = self.alterer();
        let fits = |alteration: &Alteration| wanted(&self.reply_after(alteration));
        let Some(causes) = self.find_told_causes(alterer, shown, FieldChoice::All, fits) else {
            return Some(false);
        };
        // If no shown record causes the refusal, one that a list leaves out may. Example: a seat that is not
        // among the free ones.
        let fields = causes.iter().filter_map(Alteration::field).collect();
        let tried = if causes.is_empty() { FieldChoice::All } else { FieldChoice::Fields(&fields) };
        let Some(others) = self.find_told_causes(alterer, others, tried, fits) else { return Some(false) };
        (!causes.is_empty() || !others.is_empty()).then_some(true)
    }

    /// Returns the alterations that fit. Returns none if a record has such alterations, but none of them
    /// changes a reply.
    fn find_told_causes(
        &self,
        alterer: Alterer<'_>,
        records: &Records<'_>,
        tried: FieldChoice<'_>,
        fits: impl Fn(&Alteration) -> bool,
    ) -> Option<Vec<Alteration>> {
        let mut found = Vec::new();
        for (resource, record) in records {
            let causes: Vec<Alteration> =
                alterer.alterations(*resource, record, tried).filter(&fits).collect();
            if !causes.is_empty() && !causes.iter().any(|cause| self.is_told(cause)) {
                return None;
            }
            found.extend(causes);
        }
        Some(found)
    }

    const fn alterer(&self) -> Alterer<'_> {
        Alterer { base: self.base, state: self.state, question: self.question, standard: self.standard }
    }

    fn reply_of(&self, state: &State, call: &Call) -> Reply {
        apply(self.base, state, call).reply
    }

    fn reply_after(&self, alteration: &Alteration) -> Reply {
        self.reply_of(&alteration.apply_to(self.base, self.state), self.call)
    }

    fn alters_answer(&self, alteration: &Alteration) -> bool {
        !self.question.answer.is_given(&self.reply_after(alteration), self.base.world())
    }

    /// Returns true if an alteration changes a reply that shows records, or that says that one is not there. Another
    /// refusal of another call tells nothing about this one.
    fn is_told(&self, alteration: &Alteration) -> bool {
        let tells = |status| (200..300).contains(&status) || status == NOT_FOUND;
        self.replies.iter().any(|made| {
            tells(made.entry.reply.status) && made.resources.contains(&alteration.resource) && {
                let other = alteration.apply_to(self.base, &made.before);
                apply(self.served, &other, &made.entry.call).reply != made.entry.reply
            }
        })
    }

    /// Returns the records without which the reply would differ: those that replies show, and the others.
    fn records_that_matter(&self, shown: &BTreeSet<(ResourceId, &Value)>) -> (Records<'_>, Records<'_>) {
        let base = self.base;
        let records = |id: &ResourceId| {
            let id = *id;
            self.state.iter(base, id).map(move |record| (id, record))
        };
        let all = self.resources.iter().flat_map(records);
        let (shown, others): (Records<'_>, Records<'_>) =
            all.partition(|(id, record)| shown.contains(&(*id, self.key(*id, record))));
        (self.filter_relevant(&shown), self.filter_relevant(&others))
    }

    /// Returns the keys of the records of which a reply shows a field.
    fn shown_keys(&self) -> BTreeSet<(ResourceId, &Value)> {
        let leaves = self.replies.iter().flat_map(|made| made.entry.reply.body.values());
        let keys = leaves.filter_map(|(_, origin)| match origin {
            Origin::Field { resource, key, .. } => Some((*resource, key)),
            _ => None,
        });
        keys.collect()
    }

    /// Returns the records that affect the reply, by bisection. A half whose removal leaves the reply the
    /// same is skipped.
    fn filter_relevant<'r>(&self, records: &[(ResourceId, &'r Record)]) -> Records<'r> {
        let mut found = Vec::new();
        let mut open = vec![records];
        while let Some(part) = open.pop() {
            let keys = part.iter().map(|(id, record)| (*id, self.key(*id, record)));
            let without = self.state.without(self.base, keys);
            if part.is_empty() || self.reply_of(&without, self.call) == self.reply {
                continue;
            }
            if let [only] = part {
                found.push(*only);
                continue;
            }
            let (first, second) = part.split_at(part.len() / 2);
            open.extend([second, first]);
        }
        found
    }

    fn key<'r>(&self, resource: ResourceId, record: &'r Record) -> &'r Value {
        &record[self.base.world().resource(resource).key.index()]
    }

    /// Returns the position of the rule that a refusal states.
    fn failed_rule(&self, reply: &Reply) -> Option<usize> {
        let detail = reply.body.member("detail")?.value()?.as_str()?;
        let api = self.base.world().api(self.question.api);
        api.behaviour.require.iter().position(|rule| &*rule.message == detail)
    }
}
