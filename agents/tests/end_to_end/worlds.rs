//! The worlds of a dataset, read by many at once.

use std::sync::Arc;

use diorama_agents::episode::{World, Worlds};
use diorama_output::manifest::world_file;
use diorama_output::storage::Storage;

#[test]
fn many_that_ask_for_a_world_at_once_share_one_load() {
    let folder = tempfile::tempdir().unwrap();
    let world = r#"{"world": 1, "name": "inn", "clock": "2026-03-02T09:00", "materialised": 1, "resources": {"room": {
        "key": "room_id", "fields": {"room_id": {"type": "integer"}}, "records": [{"room_id": 1}]}}}"#;
    std::fs::create_dir(folder.path().join("worlds")).unwrap();
    std::fs::write(folder.path().join(world_file("inn-1")), world).unwrap();
    let worlds = Worlds::new(Storage::local(folder.path()));
    let loaded: Vec<Arc<World>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| worlds.get("inn-1").unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(loaded.iter().all(|world| Arc::ptr_eq(world, &loaded[0])));
    // A world that is not there is looked for each time.
    assert!(worlds.get("inn-2").is_err() && worlds.get("inn-2").is_err());
}
