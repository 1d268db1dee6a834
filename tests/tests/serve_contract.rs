//! Owns the test of schemathesis against the server's own API: each response fits the document, and no
//! request fails.

use std::process::Command;

use diorama_tests::installed;
use diorama_tests::requests::{NOTES, serve};
use serde_json::{Value as Json, json};

/// Puts existing names into the document, because random ids would only lead to 404.
fn with_names(mut document: Json, session: &str, spare: &str, world: &str) -> Json {
    let paths = document["paths"].as_object_mut().unwrap();
    // MCP is a protocol of its own, and has tests of its own.
    paths.remove("/v1/sessions/{id}/mcp");
    for (path, item) in paths.iter_mut() {
        let id = if path.starts_with("/v1/worlds") { world } else { session };
        for (method, operation) in item.as_object_mut().unwrap() {
            // The session is needed until the end, so the test deletes another one.
            let id = if method == "delete" { spare } else { id };
            let parameters = operation["parameters"].as_array_mut().unwrap();
            for parameter in parameters.iter_mut().filter(|parameter| parameter["in"] == "path") {
                parameter["schema"] = json!({"enum": [id]});
            }
        }
    }
    document
}

#[test]
fn the_management_api_keeps_to_its_document() {
    let Some(program) = installed("venv-schemathesis/bin/st") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.yaml");
    std::fs::write(&file, NOTES).unwrap();
    let server = serve(&["--world", file.to_str().unwrap(), "--max-sessions", "100000"]);
    let [id, spare] =
        [0, 1].map(|_| server.post("/v1/sessions", Json::Null)["id"].as_str().unwrap().to_owned());
    let document = with_names(server.get("/openapi.json"), &id, &spare, "notes");
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, document.to_string()).unwrap();
    let ran = Command::new(program)
        .current_dir(folder.path())
        .arg("run")
        .arg(&file)
        .args([
            "--url",
            &server.url,
            "--seed",
            "1",
            "--max-examples",
            "30",
            "--phases",
            "examples,coverage,fuzzing",
        ])
        .args(["--checks", "all", "--continue-on-failure", "--generation-deterministic"])
        // Without a control token the server requires no credentials. The schemas do not list the existing
        // worlds, tasks and calls, so the server may refuse requests that fit them.
        .args(["--exclude-checks", "ignored_auth,positive_data_acceptance"])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{out}{}", String::from_utf8_lossy(&ran.stderr));
    // The sent values reached the server.
    assert!(server.get("/v1/sessions?limit=1")["total"].as_u64().unwrap() > 10, "{out}");
    server.stop();
}
