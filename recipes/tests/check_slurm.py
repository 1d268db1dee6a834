#!/usr/bin/env python3
"""Runs recipes/slurm here with a stand-in for Slurm: four tasks, one killed, all submitted again, merged, compared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import datasets

RECIPE = Path(__file__).parent.parent / "slurm"
STAND_IN = Path(__file__).parent / "slurm_stand_in.py"
ROWS, SHARDS = 8_000, 4


def main() -> None:
    diorama = str(Path(os.environ.get("DIORAMA", "target/release/diorama")).absolute())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "jobs").mkdir()
        for command in ("sbatch", "srun"):
            script = folder / "bin" / command
            script.symlink_to(STAND_IN)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "SLURM_STAND_IN": str(folder / "jobs"),
                       "DIORAMA": diorama, "DIORAMA_BACKOFF_SECONDS": "0"}

        def submit(*arguments: str) -> subprocess.Popen[str]:
            return subprocess.Popen([str(RECIPE / "submit.sh"), *arguments], cwd=folder, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def states(process: subprocess.Popen[str]) -> list[str]:
            output, messages = process.communicate()
            assert process.returncode == 0, messages
            words = output.replace(",", "").split()  # shards: job N merge: job M
            return [(folder / "jobs" / words[index]).read_text() for index in (2, 5)]

        run = [str(SHARDS), "run", "-n", str(ROWS), "--seed", "7"]
        first = submit(*run)
        victim = datasets.wait_until(lambda: datasets.generating(os.getpid()), "a running task")[0]
        os.kill(victim, signal.SIGKILL)
        shards, merge = states(first)
        assert shards == str(128 + signal.SIGKILL) and merge == "cancelled", (shards, merge)
        print("one of four tasks killed by SIGKILL: the merge was cancelled")

        assert states(submit(*run)) == ["0", "0"]
        datasets.one_process(diorama, ROWS, folder / "one")
        files = datasets.assert_same(folder / "run", folder / "one")
        print(f"submitted again and merged: the same bytes as one process in all {files} files")

        assert states(submit("2", "refused", "--nonsense")) == ["2", "cancelled"]
        (folder / "file").touch()
        assert states(submit("2", "file/below", "-n", "100")) == ["1", "cancelled"]
        usage = submit("many")
        assert "usage:" in usage.communicate()[1] and usage.returncode == 2
        print("bad usage and a location that cannot be written: the merge was cancelled")


if __name__ == "__main__":
    sys.exit(main())
