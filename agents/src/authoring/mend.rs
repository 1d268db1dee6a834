//! Owns the checks of a document that a model wrote: bounds, findings, and the removal of parts that stay
//! wrong.

use diorama_engine::{Base, Smoke, smoke};
use diorama_seeds::doc::{DomainHead, RecordsDoc, WorldDoc};
use diorama_seeds::materialise::Source;
use diorama_seeds::world::{self, Finding, Report, Severity};

use super::asking::Notes;
use super::domain::Domain;
use crate::worlds::error::PipelineError;
use crate::worlds::inspect::inspect;

/// Maximum number of records of a world, as far as the document states it.
const RECORDS: u64 = 2_000;
/// Maximum number of records of one resource.
const RECORDS_EACH: u32 = 200;
/// Maximum numbers of resources and APIs of a world.
const RESOURCES: usize = 12;
const APIS: usize = 48;
/// Maximum number of fields of a resource and of parameters of an API.
const FIELDS: usize = 40;
/// Minimum number of APIs of a world.
const LEAST_APIS: usize = 3;

/// Document with its text and its findings.
#[derive(Clone, Debug)]
pub struct CheckedDocument {
    /// The document itself.
    pub doc: WorldDoc,
    /// Text of the document. The lines in [`CheckedDocument::report`] refer to it.
    pub text: String,
    /// Findings of `world check`.
    pub report: Report,
}

impl CheckedDocument {
    /// Checks a document.
    ///
    /// # Errors
    /// Returns an error if the document cannot be serialized, or passes its checks and cannot be run.
    pub fn new(doc: WorldDoc) -> Result<Self, PipelineError> {
        let text = world::to_yaml(&doc)?;
        let report = inspect(&format!("{}.yaml", doc.name), text.as_bytes(), &doc)?;
        Ok(Self { doc, text, report })
    }

    /// Returns the numbers of errors and of all findings. Errors prevent a world from running.
    pub fn badness(&self) -> (usize, usize) {
        (self.report.errors(), self.report.findings.len())
    }
}

/// Names a document of one domain after `domain`, and checks the bounds of a world that a model writes.
///
/// # Errors
/// Returns the reason for which the document is unfit, in a few words.
pub fn bounded(doc: WorldDoc, domain: &Domain, license: &str) -> Result<WorldDoc, &'static str> {
    let (mut doc, mut domains) = doc.into_domains();
    let (Some(mut only), true) = (domains.pop(), domains.is_empty()) else {
        return Err("not one domain");
    };
    if only.resources.len() > RESOURCES || only.apis.len() > APIS {
        return Err("too many resources or APIs");
    }
    let wide = only.resources.values().any(|resource| resource.fields.len() > FIELDS)
        || only.apis.iter().any(|api| api.parameters.len() > FIELDS);
    if wide {
        return Err("too many fields");
    }
    for resource in only.resources.values_mut() {
        match &mut resource.records {
            RecordsDoc::Count(count) => *count = (*count).min(RECORDS_EACH),
            RecordsDoc::Given(given) => given.truncate(RECORDS_EACH as usize),
        }
        resource.each.truncate(2);
        for each in &mut resource.each {
            (each.min, each.max) = (each.min.min(20), each.max.min(20));
        }
    }
    let head = only.domain;
    // For a bare topic, the model describes the domain itself.
    let own = head.description.clone().filter(|own| domain.is_topic() && !own.trim().is_empty());
    let description = own.unwrap_or_else(|| domain.description.clone());
    doc.domain = Some(DomainHead {
        name: domain.name.clone(),
        title: Some(domain.title.clone()),
        description: Some(description.clone()),
        sector: Some(domain.sector.clone()),
        ..head
    });
    (doc.resources, doc.apis, doc.system) = (only.resources, only.apis, only.system);
    (doc.benchmark, doc.materialised) = (false, None);
    doc.name.clone_from(&domain.name);
    (doc.title, doc.description) = (Some(domain.title.clone()), Some(description));
    (doc.license, doc.source) = (Some(license.to_owned()), None);
    if records(&doc) > RECORDS {
        return Err("too many records");
    }
    Ok(doc)
}

/// Returns the maximum number of records of a document. Records per parent record are multiplied level by
/// level.
fn records(doc: &WorldDoc) -> u64 {
    let own = |records: &RecordsDoc| match records {
        RecordsDoc::Count(count) => u64::from(*count),
        RecordsDoc::Given(given) => given.len() as u64,
    };
    let first: Vec<u64> = doc.resources.values().map(|resource| own(&resource.records)).collect();
    let mut counts = first.clone();
    for _ in 0..doc.resources.len() {
        counts = doc
            .resources
            .values()
            .zip(&first)
            .map(|(resource, own)| {
                let each = resource.each.iter().map(|each| {
                    let parent = doc.resources.get_index_of(&each.of).and_then(|at| counts.get(at));
                    parent.copied().unwrap_or_default().saturating_mul(u64::from(each.max))
                });
                each.fold(*own, u64::saturating_add)
            })
            .collect();
    }
    counts.into_iter().fold(0, u64::saturating_add)
}

/// World without findings whose APIs passed the smoke pass.
#[derive(Clone, Debug)]
pub struct Sound {
    /// Document of the world.
    pub doc: WorldDoc,
    /// Text of the document.
    pub text: String,
    /// Results of the smoke pass.
    pub smoke: Vec<Smoke>,
}

/// Removes the parts with findings, one at a time, then each API that fails in the smoke pass.
///
/// # Errors
/// Returns the reason for which no world remains: a finding, too few APIs, or a failed run.
pub fn reduced(checked: CheckedDocument, notes: &Notes) -> Result<Sound, String> {
    let fail = |error: PipelineError| failed(&error);
    let mut checked = checked;
    let mut borne: Vec<String> = Vec::new();
    // Each round removes a part or accepts its finding, so that the loop ends.
    loop {
        if let Some(finding) = next(&checked.report, &borne).cloned() {
            checked = take_out(checked, &finding, &mut borne, notes).map_err(fail)?;
            continue;
        }
        if checked.report.errors() > 0 {
            let first = checked.report.findings.iter().find(|finding| finding.severity == Severity::Error);
            return Err(format!("findings: {}", first.map(class).unwrap_or_default()));
        }
        if checked.doc.apis.len() < LEAST_APIS {
            return Err("too few APIs".to_owned());
        }
        let smoke = run_smoke_tests(&checked.doc).map_err(fail)?;
        let Some(faulty) = smoke.iter().find(|smoke| !smoke.faults.is_empty()) else {
            for one in &smoke {
                let counts = [one.succeeded, one.refused, one.invalid];
                notes.count(|funnel| {
                    funnel.smoke.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
                });
            }
            return Ok(Sound { doc: checked.doc, text: checked.text, smoke });
        };
        let mut doc = checked.doc;
        doc.apis.retain(|api| api.name != faulty.api);
        count(notes, "fault in the smoke pass");
        checked = CheckedDocument::new(doc).map_err(fail)?;
    }
}

/// Returns the reason to drop a world that cannot be run.
pub(crate) fn failed(error: &PipelineError) -> String {
    format!("cannot be run: {}", error.to_string().lines().next().unwrap_or_default())
}

fn count(notes: &Notes, why: &str) {
    notes.count(|funnel| *funnel.apis_dropped.entry(why.to_owned()).or_default() += 1);
}

fn run_smoke_tests(doc: &WorldDoc) -> Result<Vec<Smoke>, PipelineError> {
    Ok(smoke(&*Base::new(Source::new(doc.clone())?.materialise(0)?.world)?))
}

/// Returns the first error that a removal can solve, else the first such warning.
fn next<'r>(report: &'r Report, borne: &[String]) -> Option<&'r Finding> {
    let mut open = report.findings.iter().filter(|finding| {
        let part = part(&finding.path);
        part.is_some_and(|part| !matches!(part, Part::Resource(_)) || finding.severity == Severity::Warning)
            && !borne.contains(&finding.path)
    });
    open.clone().find(|finding| finding.severity == Severity::Error).or_else(|| open.next())
}

/// Part of a document that can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'p> {
    /// The phrases of an API.
    Phrases(usize),
    /// An API.
    Api(usize),
    /// The questions and statements of a resource's fields.
    Words(&'p str),
    /// A resource.
    Resource(&'p str),
}

fn part(path: &str) -> Option<Part<'_>> {
    if let Some(rest) = path.strip_prefix("apis[") {
        let (number, rest) = rest.split_once(']')?;
        let number = number.parse().ok()?;
        return Some(if rest.starts_with(".phrases") { Part::Phrases(number) } else { Part::Api(number) });
    }
    let rest = path.strip_prefix("resources.")?;
    let (name, rest) = rest.split_once('.').unwrap_or((rest, ""));
    let words = rest.contains(".ask") || rest.contains(".say");
    Some(if words { Part::Words(name) } else { Part::Resource(name) })
}

fn take_out(
    checked: CheckedDocument,
    finding: &Finding,
    borne: &mut Vec<String>,
    notes: &Notes,
) -> Result<CheckedDocument, PipelineError> {
    let mut doc = checked.doc.clone();
    match part(&finding.path) {
        Some(Part::Phrases(at)) if at < doc.apis.len() => doc.apis[at].phrases = Default::default(),
        Some(Part::Api(at)) if at < doc.apis.len() => {
            doc.apis.remove(at);
            count(notes, &class(finding));
        }
        Some(Part::Words(name)) if doc.resources.contains_key(name) => {
            let fields =
                doc.resources.get_mut(name).into_iter().flat_map(|resource| resource.fields.values_mut());
            fields.for_each(|field| (field.ask, field.say) = (Vec::new(), Vec::new()));
        }
        Some(Part::Resource(name)) if finding.path == format!("resources.{name}") => {
            doc.resources.shift_remove(name);
            let after = CheckedDocument::new(doc)?;
            // Other parts need this resource. Its records do no harm, so it stays.
            if after.report.errors() > checked.report.errors() {
                borne.push(finding.path.clone());
                return Ok(checked);
            }
            return Ok(after);
        }
        _ => {
            borne.push(finding.path.clone());
            return Ok(checked);
        }
    }
    CheckedDocument::new(doc)
}

/// Returns the class of a finding: its message without names and without the expectation.
fn class(finding: &Finding) -> String {
    let found = finding.message.split([';', ',']).next().unwrap_or_default();
    let mut out = String::new();
    for (at, part) in found.split('`').enumerate() {
        out.push_str(if at % 2 == 0 { part } else { "_" });
    }
    out.chars().take(80).collect()
}
