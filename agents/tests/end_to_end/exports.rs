//! Owns the tests of exports: their consumers' readers read them.

use std::process::Command;

use diorama_baselines::plan::parse;
use diorama_benchmarks::reverse_chain::Material;

#[test]
fn the_labels_of_an_export_are_read_by_the_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, file) = (folder.path().join("rows"), folder.path().join("chains.jsonl"));
    let run = |arguments: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_diorama")).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    let (rows, chains) = (rows.to_str().unwrap(), file.to_str().unwrap());
    run(&["generate", "-n", "60", "--seed", "77", "--out", rows]);
    run(&["dataset", "export", rows, "--format", "reverse-chain", "--out", chains]);
    let material = Material::read(&file).unwrap();
    assert!(material.instances.len() >= 20, "{}", material.instances.len());
    for instance in &material.instances {
        let label = parse(&instance.label).unwrap();
        for call in label.calls() {
            let api = instance.apis.iter().find(|api| api.name == call.api).unwrap();
            let named =
                |(name, _): &(Option<String>, _)| api.input_params.contains_key(name.as_ref().unwrap());
            assert!(call.arguments.iter().all(named), "{}: {}", call.api, instance.label);
        }
    }
}
