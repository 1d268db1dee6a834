#!/usr/bin/env python3
"""Checks an installed wheel, in the environment that runs this script: the command, the package, and its errors."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import urllib.request
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import diorama_worlds


def ask(url: str, body: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", **({"Diorama-Token": token} if token else {})}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as reply:
        return json.load(reply)


def section_names(binary: bytes) -> set[str]:
    """The names of the sections of a 64-bit little-endian ELF file."""
    assert binary[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", binary, 0x3A)
    (names,) = struct.unpack_from("<Q", binary, start + names_index * size + 0x18)
    found = set()
    for index in range(count):
        (offset,) = struct.unpack_from("<I", binary, start + index * size)
        found.add(binary[names + offset : binary.index(b"\0", names + offset)].decode())
    return found


def check_package(diorama: str) -> None:
    files = {str(file) for file in metadata.files("diorama-worlds") or []}
    assert any(name.endswith("licenses/LICENSE") for name in files), files
    assert "# Diorama" in metadata.metadata("diorama-worlds").get_payload()
    assert resources.files(diorama_worlds).joinpath("py.typed").is_file()
    assert os.path.dirname(diorama) == os.path.dirname(sys.executable), diorama
    printed = subprocess.run([diorama, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == f"diorama {metadata.version('diorama-worlds')}", printed
    sections = section_names(Path(diorama).read_bytes())
    assert ".text" in sections and not sections & {".symtab", ".debug_info"}, f"the command is not stripped: {sections}"
    print(f"{printed.strip()}: stripped, with licence, README and types")


def check_server() -> None:
    with diorama_worlds.serve("--world", "hotel_rooms") as server:
        made = ask(f"{server.url}/v1/sessions", {}, server.token)
        session = f"{server.url}/v1/sessions/{made['id']}"
        api = ask(f"{server.url}/v1/search", {"query": "list hotels"})["hits"][0]["api"]
        called = ask(f"{session}/call", {"api": api, "arguments": {}})
        assert "status" in called, called
        pid = server.pid
    assert not os.path.exists(f"/proc/{pid}"), "the server runs on after close()"
    server.close()
    print(f"serve(): a session and a call of {api} ({called['status']})")


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
    subprocess.run([diorama, "dataset", "verify", sys.argv[1]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print("the thousand rows hold")


if __name__ == "__main__":
    main()
