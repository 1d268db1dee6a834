#!/usr/bin/env python3
"""Checks an installed wheel, in the environment that runs this script: the command, the package, and its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from importlib import metadata, resources
from typing import Any

import diorama_worlds


def ask(url: str, body: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", **({"Diorama-Token": token} if token else {})}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as reply:
        return json.load(reply)


def check_package(diorama: str) -> None:
    files = {str(file) for file in metadata.files("diorama-worlds") or []}
    assert any(name.endswith("licenses/LICENSE") for name in files), files
    assert "# Diorama" in metadata.metadata("diorama-worlds").get_payload()
    assert resources.files(diorama_worlds).joinpath("py.typed").is_file()
    assert os.path.dirname(diorama) == os.path.dirname(sys.executable), diorama
    printed = subprocess.run([diorama, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == f"diorama {metadata.version('diorama-worlds')}", printed
    with open(diorama, "rb") as binary:
        sections = binary.read()
    assert b".debug_info" not in sections and b".symtab" not in sections, "the command is not stripped"
    print(f"{printed.strip()}: stripped, with licence, README and types")


def check_server() -> None:
    with diorama_worlds.serve("--world", "hotel_rooms") as server:
        made = ask(f"{server.url}/v1/sessions", {}, server.token)
        session = f"{server.url}/v1/sessions/{made['id']}"
        with urllib.request.urlopen(urllib.request.Request(f"{session}/tools", headers={"Diorama-Token": server.token})) as reply:
            tools = json.load(reply)
        tools = tools.get("tools", tools) if isinstance(tools, dict) else tools
        called = ask(f"{session}/call", {"api": tools[0]["function"]["name"], "arguments": {}})
        assert "status" in called, called
        pid = server.pid
    assert not os.path.exists(f"/proc/{pid}"), "the server runs on after close()"
    server.close()
    print(f"serve(): a session and a call ({called['status']})")


def check_errors() -> None:
    try:
        diorama_worlds.serve("--world", "no-such-world")
    except diorama_worlds.ServerError as error:
        assert "exit code 2" in str(error) and "no-such-world" in str(error), error
        print(f"an error: {str(error)[:100]}...")
    else:
        raise AssertionError("a server of no world starts")
    # A server whose owner never closes it ends with the interpreter.
    program = "import diorama_worlds; print(diorama_worlds.serve().pid)"
    pid = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert not os.path.exists(f"/proc/{pid}"), "the server outlives the interpreter"


def main() -> None:
    diorama = diorama_worlds.find_diorama()
    check_package(diorama)
    check_server()
    check_errors()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([diorama, "dataset", "verify", sys.argv[1]], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    print("the thousand rows hold")


if __name__ == "__main__":
    main()
