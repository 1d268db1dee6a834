//! The node that a state folder belongs to, in a file beside the database: the ids of its sessions carry that node's name.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use super::error::StoreError;

/// The name of the file. It holds the node's name, and nothing where the server has none.
const FILE: &str = "node";

/// Writes the owner of a new folder down, and refuses a folder of another node.
pub(super) fn check(folder: &Path, is_new: bool, node: Option<&str>) -> Result<(), StoreError> {
    let (path, own) = (folder.join(FILE), node.unwrap_or_default());
    let failed = |error| StoreError::opening(folder, &error);
    if is_new {
        // The database is made after it, so that a file that was cut off here belongs to a new folder still.
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
