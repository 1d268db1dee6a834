//! The worlds of the catalog, read.

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::{self, Report};

/// The world of the catalog that has a name, with its scenarios; nothing where none has it.
///
/// # Errors
/// A finding in the catalog itself.
pub fn world(name: &str) -> Result<Option<WorldDoc>, Report> {
    let Some(source) = diorama_catalog::source(name) else { return Ok(None) };
    let mut doc = world::read(&format!("catalog/{name}.yaml"), source.as_bytes())?;
    if let Some(scenarios) = diorama_catalog::scenarios(name) {
        world::add_scenarios(&mut doc, &format!("catalog/{name}.scenarios.yaml"), scenarios.as_bytes())?;
    }
    doc.source = Some(format!("Diorama catalog: {name}"));
    Ok(Some(doc))
}

/// All of them, in the catalog's order.
///
/// # Errors
/// As [`world()`].
pub fn worlds() -> Result<Vec<WorldDoc>, Report> {
    diorama_catalog::names().iter().filter_map(|name| world(name).transpose()).collect()
}
