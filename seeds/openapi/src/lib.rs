//! Imports OpenAPI documents as source worlds.
//!
//! Owns the way from a document to a [`WorldDoc`]: it merges schemas of one resource, finds each operation's
//! effect, and chooses fitting generated values. It opens no network and no files itself; [`Files`] gives
//! other files. Notes list what cannot be modelled, and such operations still answer in the shape of their
//! schemas.
//!
//! The steps are `document` (text to operations), `ground` (operations to resources and APIs) and `mend` (a
//! world that runs).

use std::collections::HashMap;

use diorama_seeds::doc::{DomainHead, WORLD_VERSION, WorldDoc};
use diorama_seeds::english::capitalised;
use diorama_seeds::model::World;
use diorama_seeds::world::{Finding, Report};

pub use bundle::{Files, NoFiles};
pub use hypotheses::{Choices, Hypothesis, Strength};
pub use overlay::overlay;
pub use source::MAX_BYTES;

mod agreement;
mod bounds;
mod bundle;
mod constants;
mod contract;
#[cfg(test)]
mod deep;
mod document;
mod errors;
mod examples;
mod fakes;
mod free;
mod ground;
mod hypotheses;
mod intent;
mod levels;
mod mend;
mod nouns;
mod operations;
mod overlay;
mod phrases;
mod protocol;
mod resource_names;
mod security;
mod shape;
mod slips;
mod source;
mod subtypes;
mod swagger;
mod terms;
mod texts;
mod views;
mod walk;
mod words;

/// Options of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The timestamp at which the world starts, as `2026-03-02T09:00`.
    pub clock: String,
    /// IANA time zone.
    pub zone: String,
    /// True if the document describes a public benchmark.
    pub benchmark: bool,
    /// True if a reference that leads nowhere is an error.
    pub strict: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { clock: "2026-03-02T09:00".to_owned(), zone: "UTC".to_owned(), benchmark: false, strict: false }
    }
}

/// The world of a document, with notes and guesses.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedWorld {
    /// The source world, ready to be edited.
    pub doc: WorldDoc,
    /// Notes on parts of the document that the world lacks or changes.
    pub notes: Vec<Note>,
    /// The importer's guesses.
    pub hypotheses: Vec<Hypothesis>,
    /// The guesses that each API uses, as indices into `hypotheses`.
    pub uses: Vec<Vec<usize>>,
}

/// A difference between an operation of the document and that of the world.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// The operation, as `GET /movie/{movie_id}`, or `*` for the whole document.
    pub operation: String,
    /// The difference and its cause, as a clause.
    pub reason: String,
    /// The weight of the difference.
    pub severity: Severity,
}

/// The weight of a note, the heaviest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A part of the document is not served.
    LeftOut,
    /// An operation does less than it declares.
    Less,
    /// A name or a form differs from the document's.
    Other,
}

/// A reason and its weight, before its operation is known.
pub(crate) type Remark = (Severity, String);

impl Severity {
    /// Returns a remark of this weight.
    pub(crate) fn says(self, reason: impl Into<String>) -> Remark {
        (self, reason.into())
    }
}

impl Note {
    fn on(operation: &str, (severity, reason): Remark) -> Self {
        // Control characters of a document must not steer a terminal.
        let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { operation: plain(operation), reason: plain(&reason), severity }
    }

    fn on_all(remark: Remark) -> Self {
        Self::on("*", remark)
    }
}

/// Reads an OpenAPI document (3.0 or 3.1, JSON or YAML) or one of Swagger 2.0 that stands alone.
///
/// # Errors
/// As [`import_with`].
pub fn import(name: &str, text: &[u8], options: &ImportOptions) -> Result<ImportedWorld, Report> {
    import_with(name, text, options, &NoFiles)
}

/// Reads an OpenAPI document that may refer to other files, and takes the first alternative of each guess.
///
/// # Errors
/// As [`Draft::read`] and [`Draft::world`].
pub fn import_with(
    name: &str,
    text: &[u8],
    options: &ImportOptions,
    files: &dyn Files,
) -> Result<ImportedWorld, Report> {
    Draft::read(name, text, options, files)?.world(&Choices::default())
}

/// A document that was read. One draft makes a world for each set of choices.
pub struct Draft {
    root: serde_json::Value,
    operations: Vec<document::Operation>,
    doc: WorldDoc,
    notes: Vec<Note>,
}

impl Draft {
    /// Reads an OpenAPI document that may refer to other files.
    ///
    /// # Errors
    /// A [`Report`] when the text cannot be parsed (with line and column), is not an OpenAPI document, has no operations
    /// or a schema that is made of itself, and with [`ImportOptions::strict`] when a reference leads nowhere.
    pub fn read(name: &str, text: &[u8], options: &ImportOptions, files: &dyn Files) -> Result<Self, Report> {
        let refuse = |error: source::Unreadable| {
            let mut finding = Finding::error("", error.message, error.fix);
            if let Some((line, column)) = error.place {
                finding = finding
                    .at(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
            }
            Report::one(name, finding)
        };
        let mut root = source::parse(text).map_err(refuse)?;
        let swagger = document::is_swagger(&root).map_err(refuse)?;
        let reasons = bundle::take_in(&mut root, files);
        texts::cut(&mut root);
        let lost = bundle::unresolved(&root, &reasons);
        if options.strict && !lost.is_empty() {
            let findings = lost.into_iter().map(|reason| {
                Finding::error("", reason, "correct the reference, or import without --strict")
            });
            return Err(Report { name: name.to_owned(), findings: findings.collect() });
        }
        bundle::check_circles(&root).map_err(refuse)?;
        if swagger {
            root = swagger::convert(&root);
        }
        slips::mend(&mut root);
        subtypes::write_out(&mut root);
        let mut notes: Vec<Note> =
            lost.into_iter().map(|reason| Note::on_all(Severity::LeftOut.says(reason))).collect();
        let mut document = document::read(&root, &mut notes).map_err(refuse)?;
        if resource_names::read(&root, &mut document.operations) {
            let told =
                "parameters that take full names of resources are read as one for each part of the name";
            notes.push(Note::on_all(Severity::Other.says(told)));
        }
        intent::read(&mut document.operations);
        free::mark(&mut document.operations);
        let identifier = identifier(name);
        let title = if document.title.is_empty() || document.title == "API" {
            capitalised(&words::label(&identifier))
        } else {
            document.title
        };
        let description = Some(words::sentence(&document.description)).filter(|text| !text.is_empty());
        let doc = WorldDoc {
            world: WORLD_VERSION,
            name: identifier.clone(),
            title: Some(title.clone()),
            description: description.clone(),
            clock: options.clock.clone(),
            zone: options.zone.clone(),
            license: terms::license(&root),
            source: Some(terms::source(&root, &title)),
            benchmark: options.benchmark,
            domain: Some(DomainHead {
                name: identifier.clone(),
                title: Some(title),
                description,
                security: document.security,
                ..DomainHead::default()
            }),
            ..WorldDoc::default()
        };
        ground::say_unsaid(&root, &mut document.operations);
        Ok(Self { root, operations: document.operations, doc, notes })
    }

    /// Returns the number of operations.
    #[must_use]
    pub const fn operations(&self) -> usize {
        self.operations.len()
    }

    /// Makes a world.
    ///
    /// # Errors
    /// Returns the findings that remain when no simplification helps.
    pub fn world(&self, choices: &Choices) -> Result<ImportedWorld, Report> {
        self.run(choices).map(|(imported, _)| imported)
    }

    /// Makes a world, with the compiled world and its records for the seed 0.
    ///
    /// # Errors
    /// As [`Draft::world`].
    pub fn run(&self, choices: &Choices) -> Result<(ImportedWorld, World), Report> {
        let (mut doc, mut notes) = (self.doc.clone(), self.notes.clone());
        let made = ground::ground(&self.root, &self.operations, &mut notes, choices);
        (doc.resources, doc.apis) = (made.resources, made.apis);
        if let Some(head) = &mut doc.domain {
            head.schemas = made.schemas;
            head.given = made.given;
        }
        name_as_sent(&mut doc, &self.operations);
        let world = mend::mend(&mut doc, &self.operations, &mut notes)?;
        Ok((ImportedWorld { doc, notes, hypotheses: made.hypotheses, uses: made.uses }, world))
    }
}

/// Gives each parameter the document's name, by which HTTP callers send it.
fn name_as_sent(doc: &mut WorldDoc, operations: &[document::Operation]) {
    let sent: HashMap<(&str, &str, &str), &str> = operations
        .iter()
        .flat_map(|operation| operation.parameters.iter().map(move |parameter| (operation, parameter)))
        .filter_map(|(operation, parameter)| {
            let sent_as = parameter.sent_as.as_deref()?;
            Some(((operation.written_method(), operation.written_path(), &*parameter.name), sent_as))
        })
        .collect();
    for api in &mut doc.apis {
        let method = api.method.as_str();
        for (name, parameter) in &mut api.parameters {
            parameter.sent_as = sent.get(&(method, &*api.path, &**name)).map(|sent_as| (*sent_as).to_owned());
        }
    }
}

/// Returns a world's name from a document's file name.
fn identifier(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    words::snake(file.split('.').next().unwrap_or(file)).chars().take(60).collect()
}

/// Returns the path of a document's first server: `/3` of `https://api.example.com/3`. Callers of the real
/// API put it before paths.
/// Returns none for a document without one, or one that cannot be read.
#[must_use]
pub fn server_path(text: &[u8]) -> Option<String> {
    let root = source::parse(text).ok()?;
    let text = |pointer: &str| root.pointer(pointer).and_then(serde_json::Value::as_str);
    let url = text("/servers/0/url").or_else(|| text("/basePath"))?;
    let below = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|slash| rest.get(slash..))?,
        None => url,
    };
    let path = below.split(['?', '#']).next()?.trim_end_matches('/');
    // A path with variables stands for many servers, and none can be told from a path of the API.
    (path.starts_with('/') && !path.contains('{')).then(|| path.to_owned())
}
