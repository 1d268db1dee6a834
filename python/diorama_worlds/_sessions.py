"""Sessions of a server, for the adapters of trainers: each call is one request of the server's own API."""

from __future__ import annotations

import http.client
import json
import os
import selectors
import urllib.parse
from collections.abc import Iterator
from typing import Any

TIMEOUT_SECONDS = 120.0
PAGE_TASKS = 1_000
# A session ends when nobody has asked for it for so long, as after a trainer that died.
LEASE_SECONDS = 3_600


class Refused(RuntimeError):
    """The server refused a request. `problem` is its problem document."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status}: {problem.get('detail', problem)}")
        self.status = status
        self.problem = problem


class Client:
    """A connection to a server, which is kept. `token` is its control token: DIORAMA_CONTROL_TOKEN unless given."""

    def __init__(self, server: str, token: str | None = None) -> None:
        self.server = server.rstrip("/")
        self._token = token or os.environ.get("DIORAMA_CONTROL_TOKEN", "")
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The reply to a request. Raises Refused where it is no success."""
        headers = {"Content-Type": "application/json", **({"Diorama-Token": self._token} if self._token else {})}
        reply = self._send(method, path, None if body is None else json.dumps(body), headers)
        text = reply.read()
        found = json.loads(text) if text else {}
        if reply.status >= 400:
            raise Refused(reply.status, found)
        return found

    def tasks(self, split: str | None = None) -> Iterator[dict[str, Any]]:
        """The tasks of the server: `id`, `world`, `split`, `ability`."""
        offset = 0
        while True:
            page = self.ask("GET", f"/v1/tasks?limit={PAGE_TASKS}&offset={offset}")
            yield from (task for task in page["tasks"] if split in (None, task["split"]))
            offset += PAGE_TASKS
            if offset >= page["total"]:
                return

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        if self._connection is None:
            parts = urllib.parse.urlsplit(self.server)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        if _is_ended(self._connection):
            # The next request opens it again.
            self._connection.close()
        try:
            # No request is sent twice: one whose reply was lost may have been carried out.
            self._connection.request(method, path, body, headers)
            return self._connection.getresponse()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise


def _is_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has ended a kept connection, as it does with those that are idle: there is something to read, which is its end."""
    if connection.sock is None:
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


class Session:
    """A session of a task. The agent's requests, and the grade."""

    def __init__(self, client: Client, task: str, seed: int | None = None) -> None:
        self._client = client
        made = client.ask("POST", "/v1/sessions", {"task": task, "lease_seconds": LEASE_SECONDS} | ({} if seed is None else {"seed": seed}))
        self.id: str = made["id"]
        self.path = f"/v1/sessions/{self.id}"

    def task(self) -> dict[str, Any]:
        """What is said first, and the tools: `system`, `user`, `tools`."""
        return self._client.ask("GET", f"{self.path}/task")

    def reachable_tools(self) -> list[dict[str, Any]]:
        """Every tool that the session can come to call."""
        return self._client.ask("GET", f"{self.path}/tools")["tools"]

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls an API, `finish` or `ask_user`: `status` and `body` of the reply, refusals too."""
        try:
            return self._client.ask("POST", f"{self.path}/call", {"api": name, "arguments": arguments})
        except Refused as refused:
            return {"status": refused.status, "body": refused.problem}

    def grade(self) -> dict[str, Any]:
        """Ends the episode: `reward`, `success`, `excluded`, and the verdicts."""
        return self._client.ask("POST", f"{self.path}/grade", {})

    def close(self) -> None:
        """Frees the session. One that is gone is none to free."""
        try:
            self._client.ask("DELETE", self.path)
        except Refused as refused:
            if refused.status != 404:
                raise
