//! Owns the requests and replies of a worker: one request on stdin, one reply on stdout.
//!
//! A request is a line of JSON and the packed worlds whose sizes it lists. A reply is a line of JSON,
//! with the packed world of a prepared document. Worlds are packed as JSON in zstd, so that the caller need
//! not parse them.

use std::thread;

use diorama_baselines::jq::{JqError, Program, evaluate};
use diorama_output::documents::DocumentReport;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::prepare::{ImportRequest, ImportedDocument, Refusal, import_document, prepare_document};
use crate::cli::error::CliError;
use crate::rows::documents::batch::{self, BatchRequest, MadeBatch};
use crate::rows::documents::prepared::PreparedWorld;

/// Stack size of the thread that reads documents, because documents nest deeply.
const STACK_BYTES: usize = 256 << 20;
/// Compression level of zstd, the fastest one.
const LEVEL: i32 = 1;

/// Request to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Asks for the world of a document.
    Import(ImportRequest),
    /// Asks for the world of a document with scenarios.
    Prepare {
        /// Document to import.
        document: ImportRequest,
        /// Seed of the run.
        seed: u64,
    },
    /// Asks for the rows of a batch.
    Batch {
        /// Batch to make.
        request: BatchRequest,
        /// Names of its documents, and the lengths of their packed worlds in bytes. The worlds follow the
        /// line.
        documents: Vec<(String, usize)>,
    },
    /// Asks for the outputs of a jq program.
    Jq {
        /// Program to run.
        program: Program,
        /// Input of the program.
        input: Json,
    },
}

/// Reply of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The world of a document.
    Imported(Box<ImportedDocument>),
    /// The report on a prepared document. Its packed world follows the line.
    Prepared(Box<DocumentReport>),
    /// The rows of a batch.
    Made(Box<MadeBatch>),
    /// The outputs of a jq program, or its error.
    Outputs(Result<Vec<Json>, JqError>),
    /// The reasons for which the document gives no world.
    Refused(Refusal),
}

/// Serializes a request.
#[must_use]
pub fn write_request(request: &Request, worlds: &[Vec<u8>]) -> Vec<u8> {
    frame(serde_json::to_vec(request), worlds.concat())
}

/// Parses a reply, and returns the packed world after it.
///
/// # Errors
/// Returns an error if the bytes are not a reply.
pub fn read_reply(bytes: &[u8]) -> Result<(Reply, &[u8]), String> {
    let (line, rest) = split_line(bytes);
    let reply =
        serde_json::from_slice(line).map_err(|error| format!("its process answered nonsense: {error}"))?;
    Ok((reply, rest))
}

/// Answers a request on a thread with a large stack.
///
/// # Errors
/// Returns an error if the bytes are not a request, or if the thread panics.
pub fn answer_on_thread(request: Vec<u8>) -> Result<Vec<u8>, CliError> {
    let work = move || {
        // The command already runs several workers at a time, so that scenarios get a single thread here.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK_BYTES).build()?;
        pool.install(|| answer(&request))
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work)?;
    thread.join().map_err(|_| CliError::Worker)?
}

fn answer(bytes: &[u8]) -> Result<Vec<u8>, CliError> {
    let (line, mut rest) = split_line(bytes);
    let usage =
        |error: &dyn std::fmt::Display| CliError::Usage(format!("found no request of `diorama`: {error}"));
    let request: Request = serde_json::from_slice(line).map_err(|error| usage(&error))?;
    let refused = |refusal: Refusal| (Reply::Refused(refusal), Vec::new());
    let (reply, world) = match request {
        Request::Import(document) => match import_document(&document) {
            Ok(imported) => (Reply::Imported(Box::new(imported)), Vec::new()),
            Err(refusal) => refused(refusal),
        },
        Request::Prepare { document, seed } => match prepare_document(&document, seed) {
            Ok((world, report)) => (Reply::Prepared(Box::new(report)), pack(&world)?),
            Err(refusal) => refused(refusal),
        },
        Request::Jq { program, input } => (Reply::Outputs(evaluate(&program, &input)), Vec::new()),
        Request::Batch { request, documents } => {
            let mut worlds = Vec::new();
            for (name, size) in documents {
                let (packed, after) =
                    rest.split_at_checked(size).ok_or_else(|| usage(&"a world is cut off"))?;
                let mut world = unpack(packed)?;
                world.rename(&name);
                worlds.push(world);
                rest = after;
            }
            let failed = |error: crate::worlds::error::PipelineError| {
                let report = error.to_string();
                refused(Refusal { reason: report.lines().next().unwrap_or_default().to_owned(), report })
            };
            batch::make(&request, worlds)
                .map_or_else(failed, |made| (Reply::Made(Box::new(made)), Vec::new()))
        }
    };
    Ok(frame(serde_json::to_vec(&reply), world))
}

fn pack(world: &PreparedWorld) -> Result<Vec<u8>, CliError> {
    let text = serde_json::to_vec(world).map_err(|error| CliError::Output(error.into()))?;
    Ok(zstd::bulk::compress(&text, LEVEL)?)
}

fn unpack(packed: &[u8]) -> Result<PreparedWorld, CliError> {
    let text = zstd::stream::decode_all(packed)?;
    serde_json::from_slice(&text).map_err(|error| CliError::Output(error.into()))
}

/// Joins a line of JSON and bytes. All types here consist of strings, numbers and lists, so that
/// serializing them cannot fail.
fn frame(line: serde_json::Result<Vec<u8>>, mut rest: Vec<u8>) -> Vec<u8> {
    let mut bytes = line.unwrap_or_default();
    bytes.push(b'\n');
    bytes.append(&mut rest);
    bytes
}

fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}
