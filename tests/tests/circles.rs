//! Owns the test of import cycles between the modules of a package. It counts them in `use` lines, and the
//! count must not grow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Number of cycles in each package. If the count falls, lower it here.
const ALLOWED: [(&str, usize); 21] = [
    ("agents", 0),
    ("agents/llm", 0),
    ("agents/llm/server", 0),
    ("agents/baselines", 0),
    ("agents/benchmarks", 0),
    ("output", 0),
    ("seeds", 0),
    ("seeds/catalog", 0),
    ("seeds/format", 0),
    ("seeds/openapi", 4),
    ("simulator", 0),
    ("simulator/answers", 0),
    ("simulator/console", 0),
    ("simulator/engine", 0),
    ("simulator/grade", 0),
    ("simulator/gym", 0),
    ("simulator/import", 0),
    ("simulator/proof", 0),
    ("simulator/sessions", 0),
    ("simulator/user", 0),
    ("tests", 0),
];

/// A module path: `crate::engine::run` is `["engine", "run"]`.
type Module = Vec<String>;

/// Returns the modules of a package with the text of their files, without test modules.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(source.to_owned(), Module::new())];
    while let Some((folder, above)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if matches!(name.as_str(), "tests" | "main") {
                continue;
            }
            let module = [above.clone(), vec![name.clone()]].concat();
            if path.is_dir() {
                folders.push((path, module));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let tests =
                    ["mod tests {", "pub(crate) mod tests {"].map(|begin| format!("#[cfg(test)]\n{begin}"));
                let code = tests.iter().filter_map(|tests| text.split(tests.as_str()).next());
                let code = code.min_by_key(|code| code.len()).unwrap_or_default();
                let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
                let is_root = above.is_empty() && name == "lib";
                let text = lines.collect::<Vec<_>>().join("\n");
                found.insert(if is_root { Module::new() } else { module }, text);
            }
        }
    }
    found
}

/// Returns the paths in a `use` tree. Example: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in inner.char_indices().chain([(inner.len(), ',')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                start = (at + 1).min(inner.len());
                if !part.is_empty() {
                    found.extend(paths(&format!("{}{part}", before.trim_start())));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the modules whose items a module imports.
fn imports(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let statements = text.split(';').filter_map(|statement| {
        let line = statement.lines().map(str::trim).skip_while(|line| {
            !(line.starts_with("use ") || (line.starts_with("pub") && line.contains("use ")))
        });
        let statement = line.collect::<Vec<_>>().join(" ");
        statement.split_once("use ").map(|(_, tree)| tree.to_owned())
    });
    let mut found = BTreeSet::new();
    for path in statements.flat_map(|tree| paths(&tree)) {
        let mut names = path.split("::").peekable();
        let mut at: Module = match names.peek().copied() {
            Some("crate") => {
                names.next();
                Module::new()
            }
            Some("self") => {
                names.next();
                module.clone()
            }
            Some("super") => {
                let mut at = module.clone();
                while names.next_if_eq(&"super").is_some() {
                    at.pop();
                }
                at
            }
            Some(child) if all.contains_key(&[module.clone(), vec![child.to_owned()]].concat()) => {
                module.clone()
            }
            _ => continue,
        };
        for name in names {
            let inner = [at.clone(), vec![name.to_owned()]].concat();
            if !all.contains_key(&inner) {
                break;
            }
            at = inner;
        }
        if at != *module && all.contains_key(&at) {
            found.insert(at);
        }
    }
    found
}

/// Returns the groups of two or more modules in which each module reaches each other.
fn circles(all: &BTreeMap<Module, String>) -> Vec<Vec<Module>> {
    let uses: BTreeMap<&Module, BTreeSet<Module>> =
        all.iter().map(|(module, text)| (module, imports(module, text, all))).collect();
    let reached = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            open.extend(uses[&module].iter().filter(|used| seen.insert((*used).clone())).cloned());
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> =
        all.keys().map(|module| (module, reached(module))).collect();
    let mut found: Vec<Vec<Module>> = Vec::new();
    for module in all.keys().filter(|module| reach[*module].contains(*module)) {
        let of = |circle: &&mut Vec<Module>| {
            reach[module].contains(&circle[0]) && reach[&circle[0]].contains(module)
        };
        match found.iter_mut().find(of) {
            Some(circle) => circle.push(module.clone()),
            None => found.push(vec![module.clone()]),
        }
    }
    found
}

#[test]
fn fewer_files_import_each_other_and_never_more() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut wrong = Vec::new();
    for (package, allowed) in ALLOWED {
        let source: PathBuf = root.join(package).join("src");
        let found = circles(&modules(&source));
        if found.len() != allowed {
            let shown: Vec<String> = found
                .iter()
                .map(|circle| circle.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", "))
                .collect();
            wrong.push(format!(
                "{package}: {} circles, {allowed} allowed:\n  {}",
                found.len(),
                shown.join("\n  ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn circles_are_found_through_any_form_of_use() {
    let text = |code: &str| code.to_owned();
    let all: BTreeMap<Module, String> = [
        (vec!["a"], text("use crate::b::{c::Deep, Flat as Other};\npub struct A;")),
        (vec!["b"], text("mod c;\npub use c::Deep;")),
        (vec!["b", "c"], text("use super::super::a::A;")),
        (vec!["d"], text("use crate::a;\nuse std::fmt;")),
    ]
    .into_iter()
    .map(|(module, code)| (module.into_iter().map(str::to_owned).collect(), code))
    .collect();
    let found = circles(&all);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].iter().map(|module| module.join("::")).collect::<Vec<_>>(), ["a", "b", "b::c"]);
}
