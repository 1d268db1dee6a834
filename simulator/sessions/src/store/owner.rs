//! Records the owner of a state folder: a file beside the database with the name of the node. The session ids
//! contain that name.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use super::error::StoreError;

/// The name of the file. It contains the node's name, or nothing if the server has none.
const FILE: &str = "node";

/// Writes the owner into a new folder, and refuses a folder of another node.
pub(super) fn check(folder: &Path, is_new: bool, node: Option<&str>) -> Result<(), StoreError> {
    let (path, own) = (folder.join(FILE), node.unwrap_or_default());
    let failed = |error| StoreError::opening(folder, &error);
    if is_new {
        // The database is created later, so the folder still counts as new if this is interrupted.
        let written = File::create(path).and_then(|mut file| {
            file.write_all(own.as_bytes())?;
            file.sync_all()
        });
        return written.map_err(failed);
    }
    let owner = match fs::read_to_string(path) {
        Ok(owner) => owner,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    if owner == own {
        return Ok(());
    }
    Err(StoreError::OtherNode {
        path: folder.to_owned(),
        owner: owner.chars().take(60).collect(),
        found: own.to_owned(),
    })
}
