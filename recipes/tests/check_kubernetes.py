#!/usr/bin/env python3
"""Validates recipes/kubernetes offline, and runs the commands of its Jobs here, index by index, with the same variables."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

import datasets

RECIPE = Path(__file__).parent.parent / "kubernetes"
VERSIONS = ("1.33", "1.37")
ROWS, SHARDS = 8_000, 4


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((RECIPE / name).read_text())


def check_schemas() -> None:
    for name in ("run.yaml", "generate.yaml", "merge.yaml"):
        for version in VERSIONS:
            kubernetes_validate.validate(load(name), version, strict=True)
    broken = load("generate.yaml")
    broken["spec"]["backoffLimitPerIndexes"] = 1
    try:
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)
    except kubernetes_validate.ValidationError:
        print(f"the manifests are valid for Kubernetes {' and '.join(VERSIONS)}, and a misspelt member is not")
    else:
        raise AssertionError("the validator accepts a misspelt member")


def check_rules() -> None:
    """Checks rules of the API server that the schemas do not have."""
    run, generate, merge = (load(name) for name in ("run.yaml", "generate.yaml", "merge.yaml"))
    spec = generate["spec"]
    assert str(spec["completions"]) == run["data"]["SHARDS"], "completions and SHARDS differ"
    assert spec["completionMode"] == "Indexed", "JOB_COMPLETION_INDEX and backoffLimitPerIndex need an Indexed Job"
    assert "backoffLimit" not in spec and spec["maxFailedIndexes"] <= spec["completions"] and spec["parallelism"] <= 10_000
    for job in (generate, merge):
        pod = job["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "Never", "podFailurePolicy needs restartPolicy: Never"
        names = {container["name"] for container in pod["containers"]}
        rules = job["spec"]["podFailurePolicy"]["rules"]
        for rule in rules:
            assert ("onExitCodes" in rule) != ("onPodConditions" in rule), rule
            assert rule["action"] in {"Ignore", "FailJob", "FailIndex", "Count"}, rule
            if "onExitCodes" in rule:
                values = rule["onExitCodes"]["values"]
                assert rule["onExitCodes"]["containerName"] in names and 0 not in values and values == sorted(set(values)), rule
        failing = {code for rule in rules for code in rule.get("onExitCodes", {}).get("values", [])}
        assert 2 in failing and 1 not in failing, "exit code 2 is never worth a retry, exit code 1 always is"
    print("the failure policies follow the exit codes")


def run_container(job: dict[str, Any], environment: dict[str, str], index: int | None = None) -> int:
    container = job["spec"]["template"]["spec"]["containers"][0]
    more = {} if index is None else {"JOB_COMPLETION_INDEX": str(index)}
    return subprocess.run([*container["command"], *container["args"]], env={**environment, **more},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).returncode


def check_commands(diorama: str) -> None:
    generate, merge = load("generate.yaml"), load("merge.yaml")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "diorama").symlink_to(diorama)
        settings = {**load("run.yaml")["data"], "DIALOGUES": str(ROWS), "SHARDS": str(SHARDS), "LOCATION": str(folder / "run")}
        environment = {**os.environ, **settings, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        for index in range(SHARDS - 1):
            assert run_container(generate, environment, index) == 0, index
        assert run_container(merge, environment) == 3, "the last shard is missing"
        assert run_container(generate, {**environment, "SEED": "8"}, SHARDS - 1) == 2, "another seed in one location"
        assert run_container(generate, environment, SHARDS - 1) == 0
        assert run_container(merge, environment) == 0
        datasets.one_process(diorama, ROWS, folder / "one")
        files = datasets.assert_same(folder / "run", folder / "one")
        print(f"the commands of {SHARDS} indexes and of the merge: the same bytes as one process in all {files} files")


def main() -> None:
    check_schemas()
    check_rules()
    check_commands(str(Path(os.environ.get("DIORAMA", "target/release/diorama")).absolute()))


if __name__ == "__main__":
    sys.exit(main())
