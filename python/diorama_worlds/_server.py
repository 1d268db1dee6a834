"""A server of worlds as a child process."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Any

from ._binary import find_diorama

MAX_MESSAGE_BYTES = 4_000
STOP_SECONDS = 10.0


class ServerError(RuntimeError):
    """The server did not start. The message holds what the server printed."""


class Server:
    """A running `diorama serve`. It ends with `close()`, at the end of a `with` block, or with the interpreter."""

    url: str
    """Base address, such as http://127.0.0.1:40321."""
    token: str
    """Control token: the header `Diorama-Token` of admin requests."""
    gym: dict[str, str]
    """Addresses of the protocols of `--gym`, by name."""

    def __init__(self, listening: dict[str, Any], token: str, process: subprocess.Popen[str]) -> None:
        self.url = listening["listening"]
        self.gym = listening.get("gym", {})
        self.token = token
        self._process = process
        self._finalizer = weakref.finalize(self, _stop, process)

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    def close(self) -> None:
        """Stops the server and waits for its end. Further calls do nothing."""
        self._finalizer()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve(
    *arguments: str,
    token: str | None = None,
    environment: Mapping[str, str] | None = None,
    wait_seconds: float = 60.0,
    diorama: str | None = None,
) -> Server:
    """Starts `diorama serve` on a free port and returns when it listens.

    `arguments` are options of `diorama serve`, such as `"--tasks", "dataset"`. `token` is the control token; a random one is
    made unless given. `environment` is added to this process's. `diorama` is the command's path.

    Raises ServerError when the server ends or does not listen within `wait_seconds`.
    """
    token = token or secrets.token_hex(16)
    port = [] if "--port" in arguments else ["--port", "0"]
    command = [diorama or find_diorama(), "serve", "--json", *port, *arguments]
    variables = {**os.environ, **(environment or {}), "DIORAMA_CONTROL_TOKEN": token}
    # A file in the place of a pipe: a long-running server may print more than a pipe holds.
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, text=True)
        try:
            listening = _listening(process, wait_seconds)
        except BaseException:
            _stop(process)
            raise
        if listening is None:
            ended = process.poll()
            _stop(process)
            reason = f"did not listen within {wait_seconds:g} s" if ended is None else f"ended with exit code {ended}"
            raise ServerError(f"`diorama serve` {reason}: {_last(messages) or 'it printed no message'}")
    return Server(listening, token, process)


def _listening(process: subprocess.Popen[str], wait_seconds: float) -> dict[str, Any] | None:
    """Reads the JSON that the server prints when it listens; None when it ends before, or takes longer."""
    found: list[dict[str, Any]] = []
    output = process.stdout
    assert output is not None

    def read() -> None:
        text = ""
        for line in output:
            text += line
            if line.rstrip() == "}" and not found:
                found.append(json.loads(text))
                listening.set()
        listening.set()  # The output has ended, and soon the process.

    listening = threading.Event()
    threading.Thread(target=read, daemon=True).start()
    if listening.wait(wait_seconds) and not found:
        process.wait(STOP_SECONDS)
    return found[0] if found else None


def _last(messages: IO[bytes]) -> str:
    """The end of what the server printed."""
    size = messages.seek(0, os.SEEK_END)
    messages.seek(max(0, size - MAX_MESSAGE_BYTES))
    return messages.read().decode(errors="replace").strip()


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
