#!/usr/bin/env python3
"""A stand-in for `sbatch` and `srun` that sets the variables that Slurm sets. The name it is called by says which.

`sbatch` runs the tasks at once, two at a time, and remembers in SLURM_STAND_IN/JOB whether all ended well. A job that depends
on one that did not is cancelled. A file named `sbatch` or `srun` on the PATH starts this script.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def sbatch(arguments: list[str]) -> int:
    options = [argument for argument in arguments if argument.startswith("--") and arguments.index(argument) < script_index(arguments)]
    values = dict(option.removeprefix("--").partition("=")[::2] for option in options)
    command = arguments[script_index(arguments) :]
    jobs = Path(os.environ["SLURM_STAND_IN"])
    job = str(1000 + len(list(jobs.iterdir())))
    needed = values.get("dependency", "").removeprefix("afterok:")
    if needed and (jobs / needed).read_text() != "0":
        (jobs / job).write_text("cancelled")
        print(job)
        return 0
    directives = dict(line.split()[1].removeprefix("--").partition("=")[::2] for line in Path(command[0]).read_text().splitlines()
                      if line.startswith("#SBATCH"))
    environment = {**os.environ, "SLURM_JOB_ID": job, "SLURM_CPUS_PER_TASK": directives["cpus-per-task"]}
    tasks = task_ids(values["array"]) if "array" in values else [None]

    def run(task: int | None) -> int:
        more = {} if task is None else {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(len(tasks))}
        # Slurm runs a copy of the script in the folder of the submission.
        return subprocess.run(["bash", *command], env={**environment, **more}, stdout=sys.stderr).returncode

    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(run, tasks))
    (jobs / job).write_text(str(max(abs(code) for code in codes)))
    print(job)
    return 0


def script_index(arguments: list[str]) -> int:
    return next(index for index, argument in enumerate(arguments) if argument.endswith(".sbatch"))


def task_ids(text: str) -> list[int]:
    """Reads 1-4, 1-4%2 and 3,17."""
    found: list[int] = []
    for part in text.partition("%")[0].split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


if __name__ == "__main__":
    if Path(sys.argv[0]).name == "srun":
        os.execvp(sys.argv[1], sys.argv[1:])
    sys.exit(sbatch(sys.argv[1:]))
