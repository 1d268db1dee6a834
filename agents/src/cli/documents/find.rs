//! Owns the search for documents on the command line, and in folders at any depth.

use std::path::{Path, PathBuf};

use crate::cli::error::CliError;

/// Maximum depth of folders.
const MAX_DEPTH: usize = 32;
/// File extensions of documents.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Document that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    /// Path of the document.
    pub path: PathBuf,
    /// Path relative to the folder on the command line, with `/`. A file on the command line has its file
    /// name.
    pub label: String,
}

/// Returns the documents of files and folders, those of a folder by path. Hidden folders and links to folders
/// are skipped.
///
/// # Errors
/// Returns an error if a folder cannot be read, or holds no document.
pub fn documents(named: &[PathBuf]) -> Result<Vec<DocumentFile>, CliError> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            let label = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            all.push(DocumentFile { path: path.clone(), label });
            continue;
        }
        let mut found = Vec::new();
        walk(path, &mut Vec::new(), &mut found)?;
        if found.is_empty() {
            return Err(CliError::Usage(format!(
                "{} holds no document, expected .yaml, .yml or .json files, in folders or not",
                path.display()
            )));
        }
        found.sort_by(|one, other| one.label.cmp(&other.label));
        all.extend(found);
    }
    Ok(all)
}

/// Returns true if there may be several documents: a folder, or more than one file.
pub fn is_several(named: &[PathBuf]) -> bool {
    named.len() > 1 || named.iter().any(|path| path.is_dir())
}

/// Returns true if a file has the extension of a document or a world.
pub fn has_ending(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

fn walk(folder: &Path, above: &mut Vec<String>, found: &mut Vec<DocumentFile>) -> Result<(), CliError> {
    let fail = |source| CliError::Read { path: folder.to_owned(), source };
    if above.len() > MAX_DEPTH {
        return Err(CliError::Usage(format!(
            "{} is in more than {MAX_DEPTH} folders, expected fewer",
            folder.display()
        )));
    }
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if entry.file_type().map_err(fail)?.is_dir() {
            if !name.starts_with('.') {
                above.push(name);
                walk(&path, above, found)?;
                above.pop();
            }
            continue;
        }
        if has_ending(&path) && path.is_file() {
            let label = above.iter().map(String::as_str).chain([&*name]).collect::<Vec<_>>().join("/");
            found.push(DocumentFile { path, label });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn documents_are_found_at_any_depth_by_path() {
        let folder = tempfile::tempdir().unwrap();
        for file in
            ["z.json", "b.org/mail/1.0/openapi.yaml", "a.yml", "readme.md", ".git/x.json", "b.org/a.json"]
        {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let found = documents(&[folder.path().to_owned(), folder.path().join("z.json")]).unwrap();
        let labels: Vec<&str> = found.iter().map(|found| &*found.label).collect();
        assert_eq!(labels, ["a.yml", "b.org/a.json", "b.org/mail/1.0/openapi.yaml", "z.json", "z.json"]);
        fs::create_dir(folder.path().join("none")).unwrap();
        let error = documents(&[folder.path().join("none")]).unwrap_err();
        assert!(error.to_string().contains("holds no document"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
