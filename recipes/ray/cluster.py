"""Connects to Ray, and starts `diorama` as a child process that never outlives the worker that started it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import ray

# Runs in the child before `diorama`. On Linux the kernel kills the child when its parent dies (PR_SET_PDEATHSIG is 1),
# so that a worker killed by SIGKILL leaves no process behind. The comparison covers a parent that died before the call.
TIE_TO_PARENT = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


class MissingBinary(Exception):
    """The binary is not on this machine."""


def start(command: list[str], extra_environment: dict[str, str], folder: str, **streams: object) -> subprocess.Popen[str]:
    """Starts the command in the folder; where this machine lacks the folder, in the current one."""
    binary = shutil.which(command[0])
    if binary is None:
        raise MissingBinary(f"found no `{command[0]}` on the node {os.uname().nodename}: install the wheel there, or give --diorama")
    return subprocess.Popen(
        [sys.executable, "-S", "-c", TIE_TO_PARENT, str(os.getpid()), binary, *command[1:]],
        env={**os.environ, **extra_environment},
        cwd=folder if Path(folder).is_dir() else None,
        stdin=subprocess.DEVNULL,
        text=True,
        **streams,
    )


def binary_of(given: str | None) -> str:
    """Returns the binary's name or absolute path: --diorama, then DIORAMA, then `diorama` on each node's PATH."""
    name = given or os.environ.get("DIORAMA") or "diorama"
    return str(Path(name).absolute()) if "/" in name else name


def connect(address: str | None) -> None:
    """Connects to the cluster, or starts Ray on this machine. Raises OSError when nobody listens at the address."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon:  # Ray itself tries for minutes.
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise OSError(f"cannot connect to the Ray cluster {address}: {error}") from error
    local = {} if address else {"include_dashboard": False}
    ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **local)
