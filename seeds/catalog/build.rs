//! Writes the index of the catalog: for each file `domains/NAME.yaml` its text and those of the files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let folder = variable("CARGO_MANIFEST_DIR")?.join("domains");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for file in fs::read_dir(&folder)? {
        let file = file?.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(".yaml"));
        names.extend(name.filter(|name| !name.contains('.')).map(str::to_owned));
    }
    names.sort_unstable();
    let mut index = "[\n".to_owned();
    for name in &names {
        let text = |path: &Path| format!("include_str!({:?})", path.display().to_string());
        let world = text(&folder.join(format!("{name}.yaml")));
        let beside = |kind: &str| {
            let path = folder.join(format!("{name}.{kind}.yaml"));
            if path.exists() { format!("Some({})", text(&path)) } else { "None".to_owned() }
        };
        let (scenarios, words) = (beside("scenarios"), beside("words"));
        // Writing into a string cannot fail.
        let _ = writeln!(
            index,
            "    Entry {{ name: {name:?}, world: {world}, scenarios: {scenarios}, words: {words} }},"
        );
    }
    index.push_str("]\n");
    fs::write(variable("OUT_DIR")?.join("index.rs"), index)
}
