"""Comparing datasets, and watching the processes that make them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def checksums(dataset: Path) -> dict[str, str]:
    """SHA-256 of every file, by its path in the dataset."""
    files = (path for path in sorted(dataset.rglob("*")) if path.is_file())
    return {str(path.relative_to(dataset)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def assert_same(first: Path, second: Path) -> int:
    """Fails unless both hold the same files with the same bytes. Returns the number of files."""
    left, right = checksums(first), checksums(second)
    different = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
    assert not different, f"{first} and {second} differ in {len(different)} files: {different[:5]}"
    assert "manifest.json" in left, f"{first} has no manifest"
    return len(left)


def wait_until(condition: Callable[[], T | None], what: str, seconds: float = 120) -> T:
    """Asks until the condition gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds:.0f} s for {what}")


def parents() -> dict[int, int]:
    """The parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # It has ended.
    return found


def descendants(root: int) -> set[int]:
    """The processes below one, without it."""
    parent_of, found = parents(), {root}
    grown = True
    while grown:
        more = {pid for pid, parent in parent_of.items() if parent in found} - found
        grown = bool(more)
        found |= more
    return found - {root}


def command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []


def generating(root: int) -> list[int]:
    """The processes below one that are `diorama generate`."""
    return [pid for pid in descendants(root) if "generate" in command_line(pid)[1:3] and "--shard" in command_line(pid)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def resident_mib(pids: set[int]) -> float:
    """The resident memory of processes; pages that several share count for each."""
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def one_process(diorama: str, rows: int, out: Path, threads: int = 2) -> float:
    """Makes the dataset to compare with, in one process, and returns the seconds."""
    started = time.monotonic()
    command = [diorama, "generate", "-n", str(rows), "--seed", "7", "--threads", str(threads), "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dialogues"] > 0
    return time.monotonic() - started
