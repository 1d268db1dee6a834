//! Keeps the state folder to the user who runs the server: it holds tokens and what agents sent.

use std::fs;
use std::io;
use std::path::Path;

/// Makes a folder that its owner alone may enter, where it is not there.
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

/// Takes the rights of other users to a folder and to what is in it: 0700 for folders, 0600 for files. Files that the database makes
/// later may have wider rights, which the folder keeps others from using. A folder of another owner, as mounted volumes have, stays as it
/// is, and the log says so.
pub(super) fn close(folder: &Path) {
    if let Err(error) = close_all(folder) {
        tracing::warn!(%error, folder = %folder.display(), "other users may be able to read the state folder");
    }
}

#[cfg(unix)]
fn close_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = fs::symlink_metadata(path)?;
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
            close_all(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_all(_: &Path) -> io::Result<()> {
    Ok(())
}
