//! The worlds of a dataset, read by many at once.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use diorama_agents::episode::{World, Worlds};
use diorama_output::folder::Folder;
use diorama_output::storage::Storage;

#[test]
fn many_that_ask_for_a_world_at_once_share_one_load() {
    let folder = tempfile::tempdir().unwrap();
    let world = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/library.yaml");
    let mut generate = Command::new(env!("CARGO_BIN_EXE_diorama"));
    let made =
        generate.arg("generate").arg(world).args(["-n", "4", "--out"]).arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let dataset = Folder::open(Storage::local(folder.path())).unwrap();
    let id = dataset.rows().next().unwrap().unwrap().world_id;
    let worlds = Worlds::new(dataset);
    let loaded: Vec<Arc<World>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| worlds.get(&id).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(loaded.iter().all(|world| Arc::ptr_eq(world, &loaded[0])));
    // A world that is not there is looked for each time.
    assert!(worlds.get("inn-2").is_err() && worlds.get("inn-2").is_err());
}
