//! Restricts the state folder to the user who runs the server, because it contains tokens and the agents'
//! messages.

use std::fs;
use std::io;
use std::path::Path;

/// Creates a folder that only its owner may enter, if it is missing.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// Removes the access of other users to a folder and its content: 0700 for folders, 0600 for files. The
/// database creates files with more access. The folder itself protects them until the next call.
///
/// # Errors
/// Returns an I/O error if the folder has another owner, as mounted volumes may have. Its permissions then
/// stay.
#[cfg(unix)]
pub(super) fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = match fs::symlink_metadata(path) {
        // The database has removed the file meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let mode = if metadata.is_dir() {
        0o700
    } else if metadata.is_file() {
        0o600
    } else {
        return Ok(());
    };
    if metadata.permissions().mode() & 0o777 != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            close(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn close(_: &Path) -> io::Result<()> {
    Ok(())
}
