#!/usr/bin/env python3
"""Runs recipes/ray/serve.py on a Ray cluster of two nodes on this machine. Kills a server and a worker, then stops all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

import datasets

RECIPE = Path(__file__).parent.parent / "ray" / "serve.py"
TEMPLATE = Path(os.environ.get("HAPROXY_TEMPLATE", RECIPE.parent.parent / "haproxy" / "haproxy.cfg"))
TOKEN = "a-token-for-this-check"


def ask(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Diorama-Token": TOKEN}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as reply:
        return json.load(reply)


def serving() -> dict[str, int]:
    """The processes of the servers by their nodes."""
    lines = {pid: datasets.command_line(pid) for pid in datasets.descendants(os.getpid())}
    return {line[line.index("--node") + 1]: pid for pid, line in lines.items() if line[1:2] == ["serve"] and "--node" in line}


def answers(url: str) -> dict[str, Any] | None:
    try:
        return ask(url)
    except OSError:
        return None


def main() -> None:
    diorama = str(Path(os.environ.get("DIORAMA", "target/release/diorama")).absolute())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    with tempfile.TemporaryDirectory() as name:
        try:
            cluster.add_node(num_cpus=1)
            check(cluster.address, diorama, Path(name))
        finally:
            cluster.shutdown()


def check(address: str, diorama: str, folder: Path) -> None:
    command = [sys.executable, str(RECIPE), "--address", address, "--diorama", diorama, "--port", "0", "--agent-port", "0",
               "--state", str(folder / "state"), "--haproxy", str(folder / "haproxy.cfg"), "--haproxy-template", str(TEMPLATE),
               "--", "--world", "hotel_rooms"]
    driver = subprocess.Popen(command, env={**os.environ, "DIORAMA_CONTROL_TOKEN": TOKEN}, stdout=subprocess.PIPE, text=True)
    try:
        assert driver.stdout is not None
        servers = json.loads(driver.stdout.readline())["servers"]
        assert len({server["node"] for server in servers}) == 2, servers
        sessions = {}
        for server in servers:
            made = ask(f"{server['url']}/v1/sessions", {})
            assert made["id"].startswith(server["node"] + "_"), made["id"]
            sessions[server["node"]] = f"{server['url']}/v1/sessions/{made['id']}"
        first, second = (server["node"] for server in servers)

        os.kill(serving()[first], signal.SIGKILL)
        datasets.wait_until(lambda: answers(sessions[first]), "the session of the killed server")
        assert answers(sessions[second]), "the other server is not affected"
        print("a server killed by SIGKILL: it is back on its address with its session")

        server = serving()[second]
        os.kill(datasets.parents()[server], signal.SIGKILL)
        datasets.wait_until(lambda: not datasets.is_alive(server), "the end of the killed worker's server", 10)
        datasets.wait_until(lambda: answers(sessions[second]), "the session of the killed worker")
        print("a worker killed by SIGKILL: its server ended with it, and is back with its session")

        check_haproxy(folder / "haproxy.cfg", servers)
        pids = list(serving().values())
        driver.send_signal(signal.SIGINT)
        assert driver.wait(60) == 0, driver.returncode
        assert not any(map(datasets.is_alive, pids)), "a server runs on after the driver"
        print("stopped by SIGINT: no server is left")
    finally:
        driver.kill()
        driver.wait()


def check_haproxy(configuration: Path, servers: list[dict[str, str]]) -> None:
    text = configuration.read_text()
    for server in servers:
        agent_port = server["agent_check"].rpartition(":")[2]
        line = f"server {server['node']} {server['url'].removeprefix('http://')}"
        assert f"{line} agent-port {agent_port}\n" in text and text.count(f"{line} track create/{server['node']}\n") == 2, text
    assert text.count("    server ") == 3 * len(servers), text
    if shutil.which("haproxy"):
        subprocess.run(["haproxy", "-c", "-f", str(configuration)], check=True, stdout=subprocess.DEVNULL)
        print("HAProxy accepts the configuration")


if __name__ == "__main__":
    main()
