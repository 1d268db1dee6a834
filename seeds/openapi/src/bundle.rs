//! Takes other files of the document's folder into the document, and finds references that lead nowhere.
//!
//! Files come from a [`Files`], which alone decides which of them may be read. The network is never asked.

use diorama_seeds::pointer::{escape, unescape};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value as Json};

use super::source::{self, Unreadable};
use super::walk::Walk;

/// The member of a document that holds the files taken into it.
const TAKEN: &str = "x-diorama-files";
/// The greatest number of files that one document may take in.
const MAX_FILES: usize = 500;
/// The greatest number of references that are reported one by one.
const MAX_NOTES: usize = 200;

/// Gives the other files that a document refers to.
pub trait Files {
    /// Returns the bytes of a file by its path below the document's folder, with `/` between the segments.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read, as a lower-case clause: `there is no such file`.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// Refuses every other file.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("other files are not read here".to_owned())
    }
}

/// Takes the files that a document refers to into it, so that references to them become references inside the
/// document.
/// A reference that cannot be followed stays as it is. Returns the reasons, by the text of the reference.
pub(super) fn take_in(root: &mut Json, files: &dyn Files) -> IndexMap<String, String> {
    let mut bundle =
        Bundle { files, taken: Map::new(), queue: Vec::new(), failed: IndexMap::new(), bytes: 0 };
    bundle.point(root, "");
    while let Some(path) = bundle.queue.pop() {
        if let Some(mut document) = bundle.load(&path) {
            bundle.point(&mut document, &path);
            bundle.taken.insert(path, document);
        }
    }
    let Bundle { taken, failed, .. } = bundle;
    if let (Json::Object(members), false) = (root, taken.is_empty()) {
        members.insert(TAKEN.to_owned(), Json::Object(taken));
    }
    failed
}

struct Bundle<'f> {
    files: &'f dyn Files,
    taken: Map<String, Json>,
    queue: Vec<String>,
    failed: IndexMap<String, String>,
    bytes: usize,
}

impl Bundle<'_> {
    fn load(&mut self, path: &str) -> Option<Json> {
        let mut read = || {
            let text = self.files.read(path)?;
            self.bytes += text.len();
            if self.bytes > source::MAX_BYTES || self.taken.len() >= MAX_FILES {
                return Err("the document takes too many or too large files in".to_owned());
            }
            source::parse(&text).map_err(|error| match error.place {
                Some((line, column)) => format!("{path}:{line}:{column}: {}", error.message),
                None => format!("{path}: {}", error.message),
            })
        };
        match read() {
            Ok(document) => Some(document),
            Err(reason) => {
                self.failed.insert(inside(path, ""), reason);
                None
            }
        }
    }

    /// Rewrites the references of a file to positions inside the whole document.
    fn point(&mut self, node: &mut Json, file: &str) {
        Walk::default().visit_mut(node, &mut |members| {
            if let Some(Json::String(reference)) = members.get_mut("$ref") {
                let wanted = std::mem::take(reference);
                *reference = self.target(&wanted, file);
            }
        });
    }

    /// Returns a reference as one inside the whole document; the reference itself where it cannot be
    /// followed.
    fn target(&mut self, reference: &str, file: &str) -> String {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if path.is_empty() {
            return if file.is_empty() { reference.to_owned() } else { inside(file, fragment) };
        }
        if path.contains("://") || path.starts_with("//") {
            self.fail(reference, "it leads to the network, which is never asked");
            return reference.to_owned();
        }
        match joined(file, path) {
            Ok(path) if path.is_empty() => format!("#{fragment}"),
            Ok(path) => {
                if !self.taken.contains_key(&path)
                    && !self.queue.contains(&path)
                    && path != file
                    && !self.failed.contains_key(&inside(&path, ""))
                {
                    self.queue.push(path.clone());
                }
                inside(&path, fragment)
            }
            Err(reason) => {
                self.fail(reference, reason);
                reference.to_owned()
            }
        }
    }

    fn fail(&mut self, reference: &str, reason: &str) {
        if self.failed.len() < MAX_NOTES {
            self.failed.insert(reference.to_owned(), reason.to_owned());
        }
    }
}

/// Returns a reference to a position inside a file that was taken in.
fn inside(path: &str, fragment: &str) -> String {
    format!("#/{TAKEN}/{}{fragment}", escape(path))
}

/// Returns a reference as its author wrote it, as `pet.yaml#/Pet` for a file that was taken in.
pub(super) fn shown(reference: &str) -> String {
    let inner = reference.strip_prefix("#/").and_then(|rest| rest.strip_prefix(TAKEN)?.strip_prefix('/'));
    let Some(inner) = inner else { return reference.to_owned() };
    let (file, rest) = inner.split_once('/').map_or((inner, None), |(file, rest)| (file, Some(rest)));
    let file = unescape(file);
    format!("{file}#{}", rest.map(|rest| format!("/{rest}")).unwrap_or_default())
}

/// Resolves the path of a file against the path of the file that names it, both below the folder.
fn joined(from: &str, path: &str) -> Result<String, &'static str> {
    let decoded = super::shape::percent_decode(path);
    if decoded.contains(['\\', '\0', ':']) || decoded.starts_with('/') {
        return Err("it is no path below the document's folder");
    }
    let mut segments: Vec<&str> = from.split('/').collect();
    segments.pop();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or("it leads out of the document's folder")?;
            }
            name => segments.push(name),
        }
    }
    Ok(segments.join("/"))
}

/// Lists the references that lead nowhere, each with its position in the document and the reason.
pub(super) fn unresolved(root: &Json, reasons: &IndexMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    Walk::default().visit(root, &mut String::from("#"), &mut |members, path| {
        if let Some(reference) = members.get("$ref").and_then(Json::as_str)
            && found.len() < MAX_NOTES
            && super::shape::lookup(root, reference).is_none()
        {
            let shown = shown(reference);
            let of_file = shown.split_once('#').and_then(|(file, _)| reasons.get(&inside(file, "")));
            let why = reasons.get(reference).or(of_file);
            let why = why.map_or("there is no such place in the document", String::as_str);
            found.push(format!(
                "the reference `{shown}` at {path} does not resolve: {why}; what hangs on it is a plain object"
            ));
        }
    });
    found
}

/// Refuses schemas that contain themselves by `allOf` or bare references: such a circle has no meaning.
pub(super) fn check_circles(root: &Json) -> Result<(), Unreadable> {
    let mut starts = IndexSet::new();
    Walk::default().visit(root, &mut String::new(), &mut |members, _| {
        starts.extend(members.get("$ref").and_then(Json::as_str));
    });
    let mut settled: IndexSet<&str> = IndexSet::new();
    for start in starts {
        if settled.contains(start) {
            continue;
        }
        let mut open: IndexMap<&str, Vec<&str>> = IndexMap::from([(start, made_of(root, start))]);
        while let Some((_, next)) = open.last_mut() {
            let Some(part) = next.pop() else {
                settled.extend(open.pop().map(|(done, _)| done));
                continue;
            };
            if let Some(place) = open.get_index_of(part) {
                let circle: Vec<&str> = open.keys().copied().skip(place).chain([part]).take(12).collect();
                return Err(Unreadable::new(
                    format!("found a schema made of itself by allOf: {}", circle.join(" -> ")),
                    "take one of these parts out of the circle; a property may refer back, allOf may not",
                ));
            }
            if !settled.contains(part) {
                open.insert(part, made_of(root, part));
            }
        }
    }
    Ok(())
}

/// Returns the references that a schema consists of: its own, and those of its `allOf`.
fn made_of<'a>(root: &'a Json, reference: &str) -> Vec<&'a str> {
    let mut out = Vec::new();
    let mut nodes: Vec<&Json> = super::shape::lookup(root, reference).into_iter().collect();
    while let Some(node) = nodes.pop() {
        match node.get("$ref").and_then(Json::as_str) {
            Some(inner) => out.push(inner),
            None => nodes.extend(node.get("allOf").and_then(Json::as_array).into_iter().flatten()),
        }
    }
    out
}

#[cfg(test)]
mod tests;
