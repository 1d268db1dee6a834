#!/usr/bin/env python3
"""Runs recipes/ray/generate.py on a Ray cluster of two nodes on this machine, and compares it with one process.

    check_ray.py --rows 40000 --shards 8 --faults     # a worker is killed in the middle; then the other failures
    check_ray.py --rows 1000000 --shards 50           # figures only
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from ray.cluster_utils import Cluster

import datasets

RECIPE = Path(__file__).parent.parent / "ray" / "generate.py"


class Driver:
    """One run of the driver."""

    def __init__(self, address: str, rows: int, shards: int, out: Path, *more: str, variables: dict[str, str] | None = None) -> None:
        command = [sys.executable, str(RECIPE), "--address", address, "-n", str(rows), "--seed", "7", "--shards", str(shards),
                   "--out", str(out), "--json", *more]
        self.messages: IO[str] = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.messages, text=True,
                                        env={**os.environ, **(variables or {})})

    def finish(self, code: int) -> tuple[dict, str]:
        """Waits, checks the exit code, and returns the summary and the messages."""
        output = self.process.communicate()[0]
        self.messages.seek(0)
        messages = self.messages.read()
        assert self.process.returncode == code, f"exit {self.process.returncode}, expected {code}: {messages}"
        assert not output or output.count("\n") == 1, f"stdout has more than one line of JSON: {output}"
        return (json.loads(output) if output else {}), messages


class Memory:
    """Watches the resident memory of everything that this script started."""

    def __init__(self) -> None:
        self.peak, self.ended = 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while not self.ended.wait(1.0):
            self.peak = max(self.peak, datasets.resident_mib(datasets.descendants(os.getpid())))

    def stop(self) -> float:
        self.ended.set()
        self.thread.join()
        return self.peak


def kill_worker() -> None:
    """Kills a Ray worker that runs a shard. The shard's process must end with it."""
    shard = datasets.wait_until(lambda: datasets.generating(os.getpid()), "a running shard")[0]
    os.kill(datasets.parents()[shard], signal.SIGKILL)
    datasets.wait_until(lambda: not datasets.is_alive(shard), "the end of the killed worker's shard", 10)


def check_passed_variables(cluster: Cluster, folder: Path) -> None:
    """A variable reaches the shards, and none of Ray's files."""
    secret = "a-secret-of-this-check"
    script = folder / "needs-secret"
    script.write_text(f"""#!/bin/sh
[ "$STORE_SECRET" = {secret} ] || exit 2
echo '{{"dialogues": 1}}'
""")
    script.chmod(0o755)
    Driver(cluster.address, 1, 1, folder / "secret", "--diorama", str(script)).finish(2)
    passed = Driver(cluster.address, 1, 1, folder / "secret", "--diorama", str(script), "--pass-env", "STORE_SECRET",
                    variables={"STORE_SECRET": secret})
    _, messages = passed.finish(0)
    logs = Path(cluster.head_node.get_session_dir_path()).rglob("*")
    found = [str(path) for path in logs if path.is_file() and secret.encode() in path.read_bytes()]
    assert not found and secret not in messages, found
    print("--pass-env: the variable reaches the shards, and no file of Ray has its value")


def check_failures(address: str, folder: Path) -> None:
    rows = 8_000
    datasets.one_process(os.environ["DIORAMA"], rows, folder / "small")

    driver = Driver(address, rows, 4, folder / "resumed")
    datasets.wait_until(lambda: list((folder / "resumed" / ".progress").glob("shard-*")), "the first marker")
    driver.process.send_signal(signal.SIGINT)
    driver.finish(130)
    assert not datasets.generating(os.getpid()), "a shard runs on after the interrupted driver"
    _, messages = Driver(address, rows, 5, folder / "resumed").finish(2)
    print(f"another number of shards: {messages.strip().splitlines()[-1]}")
    Driver(address, rows, 4, folder / "resumed").finish(0)
    datasets.assert_same(folder / "resumed", folder / "small")
    print("interrupted by SIGINT and run again: the same bytes")
    again, _ = Driver(address, rows, 4, folder / "resumed").finish(0)
    assert again["dialogues"] == rows, again
    datasets.assert_same(folder / "resumed", folder / "small")
    print(f"run again on the merged dataset: {again['seconds']:.1f} s")

    _, messages = Driver(address, rows, 4, folder / "refused", "--", "--nonsense").finish(2)
    assert messages.count("error:") == 1, messages
    assert not datasets.generating(os.getpid())
    (folder / "file").touch()
    _, messages = Driver(address, rows, 2, folder / "file" / "below", "--retries", "1").finish(1)
    print(f"a location that cannot be written: {messages.strip().splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--faults", action="store_true", help="kill a worker in the middle; then check the other failures")
    given = parser.parse_args()
    os.environ["DIORAMA"] = diorama = str(Path(os.environ.get("DIORAMA", "target/release/diorama")).absolute())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = datasets.one_process(diorama, given.rows, folder / "one")
        print(f"one process, two threads: {alone:.1f} s, {given.rows / alone:.0f} rows/s", flush=True)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            cluster.add_node(num_cpus=1)
            memory = Memory()
            driver = Driver(cluster.address, given.rows, given.shards, folder / "ray")
            if given.faults:
                kill_worker()
            summary, messages = driver.finish(0)
            peak = memory.stop()
            if given.faults:
                assert summary["retried"] >= 1, (summary, messages)
            files = datasets.assert_same(folder / "ray", folder / "one")
            print(f"two Ray workers, {given.shards} shards, {summary['retried']} repeated: {summary['seconds']:.1f} s, "
                  f"{summary['rows_per_second']:.0f} rows/s, {alone / summary['seconds']:.2f} of one process")
            print(f"peak {summary['peak_mib']} MiB in a shard, {peak:.0f} MiB in all with Ray; {summary['ray_bytes']} bytes through Ray")
            print(f"the same bytes in all {files} files")
            if given.faults:
                check_failures(cluster.address, folder)
                check_passed_variables(cluster, folder)
        finally:
            cluster.shutdown()


if __name__ == "__main__":
    main()
