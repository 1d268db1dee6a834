#!/usr/bin/env python3
"""Makes a dataset on a Ray cluster: one task for each shard, then one that merges.

    python generate.py -n 1000000 --seed 7 --out s3://bucket/run [--shards 50] [--threads 1] [-- options of `diorama generate`]

Rows go from `diorama` to the output location. Only a small JSON summary of each shard passes through Ray. Run the same
command again after any failure: shards that are done return at once. Exit codes are those of `diorama`: 0 done,
1 failed (worth a retry), 2 bad usage or another configuration, 3 shards missing, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray import cloudpickle

import cluster

cloudpickle.register_pickle_by_value(cluster)  # Workers need not have cluster.py.

# Starting `diorama` takes 0.6 core-seconds, and so many rows about 40.
ROWS_PER_SHARD = 20_000
MAX_SUBMITTED = 1_000
MAX_MESSAGE_CHARACTERS = 2_000
MAX_BACKOFF_SECONDS = 60.0
SAME_MESSAGE_CHARACTERS = 60
# Exit codes of shells for SIGINT, SIGKILL and SIGTERM. A process that a signal ended is lost, like a worker; Python gives it a negative code.
ENDED_BY_SIGNAL = (130, 137, 143)
# The members of diorama's JSON that the driver reads. Longer ones, such as `uses`, stay on the worker.
KEPT_MEMBERS = ("dialogues", "worlds", "domains", "apis", "dropped", "seconds", "missing")


def run_diorama(command: list[str], extra_environment: dict[str, str], folder: str) -> bytes:
    """Runs one command on a worker. Returns its exit code, the kept members of its JSON and the end of its messages."""
    started = time.monotonic()
    try:
        process = cluster.start(command, extra_environment, folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except cluster.MissingBinary as error:
        return json.dumps({"code": 2, "message": str(error)}).encode()
    try:
        output, messages = process.communicate()
    finally:  # A cancelled task arrives here with KeyboardInterrupt.
        if process.poll() is None:
            process.kill()
            process.wait()
    try:
        summary = json.loads(output)
    except ValueError:
        summary = {}
    return json.dumps({
        "code": process.returncode,
        "summary": {name: summary[name] for name in KEPT_MEMBERS if name in summary},
        "message": messages.strip().removeprefix("error: ")[-MAX_MESSAGE_CHARACTERS:],
        "process_seconds": round(time.monotonic() - started, 3),
        "peak_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }).encode()


class RunEnded(Exception):
    """The run cannot go on: an exit code and one message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Run:
    """Schedules commands as Ray tasks and keeps the sums that the summary reports."""

    arguments: argparse.Namespace
    waiting: list[tuple[float, int, int]] = field(default_factory=list)  # (monotonic start time, shard, attempt), a heap
    running: dict[ray.ObjectRef, tuple[int, int]] = field(default_factory=dict)  # shard and attempt of each task
    done: int = 0
    rows: int = 0
    retried: int = 0
    peak_mib: int = 0
    ray_bytes: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    printed: set[str] = field(default_factory=set)  # The starts of the messages of repeated shards.
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        # Lost workers are counted and run again here, as exit code 1 is, so Ray itself does not retry.
        self.task = ray.remote(max_retries=0)(run_diorama)
        self.ray_bytes = len(cloudpickle.dumps(run_diorama))

    def submit(self, command: list[str], threads: int) -> ray.ObjectRef:
        task_arguments = (command, self.arguments.environment, os.getcwd())
        self.ray_bytes += len(cloudpickle.dumps(task_arguments))
        return self.task.options(num_cpus=threads, name=" ".join(command[1:3])).remote(*task_arguments)

    def result(self, reference: ray.ObjectRef) -> dict[str, Any]:
        """Returns what a task returned. A lost worker counts as exit code 1."""
        try:
            reply: bytes = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise RunEnded(1, f"a task failed in its Python code: {error}") from error
        except ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines()
            return {"code": 1, "message": f"lost its worker: {lines[0] if lines else type(error).__name__}"}
        self.ray_bytes += len(reply)
        result = json.loads(reply)
        self.peak_mib = max(self.peak_mib, result.get("peak_mib", 0))
        return result

    def shard_command(self, shard: int) -> list[str]:
        given = self.arguments
        return [given.diorama, "generate", "--json", "-n", str(given.dialogues), "--seed", str(given.seed), "--out", given.out,
                "--shard", f"{shard}/{given.shards}", "--threads", str(given.threads), *given.rest]

    def generate(self) -> None:
        """Runs all shards, each until it is done or the retries are used up."""
        self.waiting = [(0.0, shard, 1) for shard in range(1, self.arguments.shards + 1)]
        failed: list[str] = []
        while self.waiting or self.running:
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now and len(self.running) < self.arguments.concurrency:
                _, shard, attempt = heapq.heappop(self.waiting)
                self.running[self.submit(self.shard_command(shard), self.arguments.threads)] = (shard, attempt)
            if not self.running:
                time.sleep(max(0.0, self.waiting[0][0] - now))
                continue
            for reference in ray.wait(list(self.running), timeout=1.0)[0]:
                shard, attempt = self.running.pop(reference)
                self.settle(shard, attempt, self.result(reference), failed)
            self.show_progress()
        if failed:
            raise RunEnded(1, f"{len(failed)} of {self.arguments.shards} shards failed: {', '.join(failed)}; run the same command again")

    def settle(self, shard: int, attempt: int, result: dict[str, Any], failed: list[str]) -> None:
        name, message = f"{shard}/{self.arguments.shards}", result.get("message") or "it was killed"
        if result["code"] == 0:
            self.done += 1
            self.rows += result["summary"].get("dialogues", 0)
            for reason, count in result["summary"].get("dropped", {}).items():
                self.dropped[reason] = self.dropped.get(reason, 0) + count
        elif result["code"] > 1 and result["code"] not in ENDED_BY_SIGNAL:
            raise RunEnded(result["code"], f"shard {name}: {message}")
        elif attempt > self.arguments.retries:
            if self.done == 0:
                raise RunEnded(1, f"shard {name} failed {attempt} times, and no other ended well: {message}")
            failed.append(name)
            say(f"shard {name} failed {attempt} times, the last time: {message}")
        else:
            seconds = min(MAX_BACKOFF_SECONDS, 2.0 ** (attempt - 1))
            self.retried += 1
            heapq.heappush(self.waiting, (time.monotonic() + seconds, shard, attempt + 1))
            # Shards that fail together tend to fail alike; each message is printed once.
            start = message[:SAME_MESSAGE_CHARACTERS]
            say(f"shard {name} runs again in {seconds:.0f} s: {'as before' if start in self.printed else message}")
            self.printed.add(start)

    def merge(self) -> dict[str, Any]:
        """Merges in a task of its own, since workers have the credentials and the file system."""
        command = [self.arguments.diorama, "dataset", "merge", self.arguments.out, "--json"]
        for attempt in range(1, self.arguments.retries + 2):
            reference = self.submit(command, 1)
            self.running[reference] = (0, attempt)
            result = self.result(reference)
            del self.running[reference]
            if result["code"] == 0:
                return result["summary"]
            if result["code"] == 3:
                missing = ", ".join(result["summary"].get("missing", []))
                raise RunEnded(3, f"the shards {missing} ended well but are not in {self.arguments.out}; do all nodes share this location?")
            if result["code"] != 1 or attempt > self.arguments.retries:
                raise RunEnded(result["code"] if result["code"] > 0 else 1, f"merge: {result['message']}")
            self.retried += 1
            time.sleep(min(MAX_BACKOFF_SECONDS, 2.0 ** (attempt - 1)))
        raise AssertionError("the loop above always ends the merge")

    def cancel(self) -> None:
        """Cancels what is left and waits for it, so that no `diorama` runs on after the driver."""
        for reference in self.running:
            ray.cancel(reference)
        if self.running:
            ray.wait(list(self.running), num_returns=len(self.running), timeout=10)

    def show_progress(self) -> None:
        if sys.stderr.isatty():
            rate = self.rows / max(time.monotonic() - self.started, 0.001)
            print(f"\r\033[K{self.done}/{self.arguments.shards} shards, {self.rows:,} rows, {rate:,.0f} rows/s", end="", file=sys.stderr, flush=True)


def say(message: str) -> None:
    print(("\r\033[K" if sys.stderr.isatty() else "") + message, file=sys.stderr, flush=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    own, rest = arguments, []
    if "--" in arguments:
        own, rest = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--dialogues", type=int, default=1000, help="dialogues to make (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, help="location that all nodes reach: s3://, gs://, az://, or a shared folder")
    parser.add_argument("--shards", type=int, help=f"shards; one for each {ROWS_PER_SHARD:,} dialogues unless given")
    parser.add_argument("--threads", type=int, default=1, help="threads of a shard, and the CPUs that Ray reserves for it (default: 1)")
    parser.add_argument("--concurrency", type=int, default=MAX_SUBMITTED, help="most shards submitted at a time; the CPUs bound those that run")
    parser.add_argument("--retries", type=int, default=4, help="further attempts at a shard that fails or loses its worker (default: 4)")
    parser.add_argument("--address", default=os.environ.get("RAY_ADDRESS"), help="cluster; RAY_ADDRESS, or else this machine alone")
    parser.add_argument("--diorama", help="binary on every node; DIORAMA, or else `diorama` on PATH")
    parser.add_argument("--pass-env", action="append", default=[], metavar="NAME", help="hand this variable to the shards; may be given several times")
    parser.add_argument("--json", action="store_true", help="print JSON only on stdout")
    given = parser.parse_args(own)
    for name in ("dialogues", "threads", "concurrency"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} must be 1 or more")
    given.shards = given.shards or -(-given.dialogues // ROWS_PER_SHARD)
    absent = [name for name in given.pass_env if name not in os.environ]
    if absent:
        parser.error(f"--pass-env: {', '.join(absent)} is not set")
    given.environment = {name: os.environ[name] for name in given.pass_env}  # Values are never printed.
    given.diorama, given.rest = cluster.binary_of(given.diorama), rest
    given.local = "://" not in given.out
    given.out = str(Path(given.out).absolute()) if given.local else given.out
    return given


def connect(given: argparse.Namespace) -> None:
    cluster.connect(given.address)
    cpus = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    if max(cpus, default=0) < given.threads:
        if not given.address:
            raise RunEnded(2, f"--threads {given.threads}: this machine has {max(cpus):.0f} CPUs")
        say(f"no node has {given.threads} CPUs yet; waiting for one")
    if given.local and len(cpus) > 1:
        say(f"{given.out} must be on a file system that all {len(cpus)} nodes share")


def main() -> int:
    given = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run = Run(given)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Ray prints messages of its nodes on stdout.
            connect(given)
            run.generate()
            merged = run.merge()
    except RunEnded as error:
        run.cancel()
        say(f"error: {error}")
        return error.code
    except OSError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        run.cancel()
        say("interrupted; run the same command again to go on")
        return 130
    finally:
        ray.shutdown()
    seconds = time.monotonic() - run.started
    # The merge counts worlds and APIs over all shards; their sums would count some twice. Shards of a location that was merged
    # before answer with the counts of the whole dataset.
    rows = merged.get("dialogues", run.rows)
    dropped = {"dropped": run.dropped} if rows == run.rows else {}
    print_summary(given.json, {"dialogues": rows, **dropped, **merged, "shards": given.shards, "out": given.out,
                               "seconds": round(seconds, 3), "rows_per_second": round(rows / seconds, 1), "retried": run.retried,
                               "peak_mib": run.peak_mib, "ray_bytes": run.ray_bytes})
    return 0


def print_summary(as_json: bool, summary: dict[str, Any]) -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if as_json:
        print(json.dumps(summary))
        return
    print(f"{summary['dialogues']:,} dialogues in {summary['shards']} shards at {summary['out']}")
    print(f"{summary['seconds']:.1f} s, {summary['rows_per_second']:,.0f} rows/s, peak {summary['peak_mib']} MiB in a process, "
          f"{summary['retried']} runs repeated, {summary['ray_bytes']:,} bytes through Ray")


if __name__ == "__main__":
    sys.exit(main())
