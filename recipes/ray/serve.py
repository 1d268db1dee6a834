#!/usr/bin/env python3
"""Runs one `diorama serve` on each node of a Ray cluster, for a proxy that places sessions by node.

    python serve.py --state /local/sessions --haproxy haproxy.cfg [-- options of `diorama serve`]

A server that ends starts again on its node, with its address and its --state folder. SIGINT or SIGTERM stops all servers.
DIORAMA_CONTROL_TOKEN is the control token of all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray import cloudpickle
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import cluster

cloudpickle.register_pickle_by_value(cluster)  # Workers need not have cluster.py.

TEMPLATE = Path(__file__).parent.parent / "haproxy" / "haproxy.cfg"
MAX_MESSAGE_CHARACTERS = 2_000
MAX_BACKOFF_SECONDS = 30.0
STOP_SECONDS = 15.0
# A server that ran this long starts again without a growing delay.
STEADY_SECONDS = 60.0
MAX_NAME_CHARACTERS = 32


class ServerActor:
    """One server process on one node."""

    def start(self, command: list[str], extra_environment: dict[str, str], folder: str) -> dict[str, Any]:
        """Starts the server and returns the JSON that it prints when it listens, or how it ended."""
        self.messages = tempfile.TemporaryFile("w+")
        try:
            self.process = cluster.start(command, extra_environment, folder, stdout=subprocess.PIPE, stderr=self.messages)
        except cluster.MissingBinary as error:
            return {"code": 2, "message": str(error)}
        text = ""
        for line in self.process.stdout:
            text += line
            if line.rstrip() == "}":
                return json.loads(text)
        return self.ended()

    def ended(self) -> dict[str, Any]:
        """Waits for the end of the server."""
        code = self.process.wait()
        self.messages.seek(0)
        return {"code": code, "message": self.messages.read().strip().removeprefix("error: ")[-MAX_MESSAGE_CHARACTERS:]}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclass
class Server:
    """The driver's side of one server."""

    name: str
    address: str
    port: int
    agent_port: int
    node_id: str
    actor: Any = None
    task: ray.ObjectRef | None = None  # The start, or the end that is waited for.
    is_listening: bool = False
    started: float = 0.0
    due: float = 0.0
    failures: int = 0

    def start(self, given: argparse.Namespace) -> None:
        if self.actor is None:
            placement = NodeAffinitySchedulingStrategy(node_id=self.node_id, soft=False)
            actor_class = ray.remote(max_restarts=0, max_concurrency=3, num_cpus=given.cpus)(ServerActor)
            self.actor = actor_class.options(scheduling_strategy=placement, name=f"diorama-{self.name}-{os.getpid()}-{time.time()}").remote()
        state = ["--state", f"{given.state}/{self.name}"] if given.state else []
        public = ["--public-url", given.public_url] if given.public_url else []
        command = [given.diorama, "serve", "--json", "--node", self.name, "--host", self.address, "--port", str(self.port),
                   "--agent-check", str(self.agent_port), *state, *public, *given.rest]
        self.started = time.monotonic()
        self.task = self.actor.start.remote(command, {"DIORAMA_CONTROL_TOKEN": given.token}, os.getcwd())

    def settle(self, result: dict[str, Any]) -> None:
        """Takes the end of the task: the server listens, or it has ended."""
        if "listening" in result:
            self.is_listening = True
            self.port = int(result["listening"].rpartition(":")[2])
            self.agent_port = int(result["agent_check"].rpartition(":")[2])
            self.task = self.actor.ended.remote()
            return
        if result["code"] == 2:
            raise SystemExit(f"error: {self.name}: {result['message']}")
        self.failures = 0 if time.monotonic() - self.started > STEADY_SECONDS else self.failures + 1
        seconds = min(MAX_BACKOFF_SECONDS, 2.0 ** (self.failures - 1)) if self.failures else 0.0
        self.task, self.is_listening, self.due = None, False, time.monotonic() + seconds
        say(f"{self.name} ended ({result['code']}) and starts again in {seconds:.0f} s: {result['message'] or 'no message'}")

    def lose_actor(self, error: Exception) -> None:
        """Takes the loss of the actor. The node may be gone; one of the same name may be back."""
        self.actor = None
        back = [node for name, node in alive_nodes() if name == self.name]
        if back:
            self.node_id = back[0]["NodeID"]
        self.settle({"code": "lost", "message": str(error).strip().splitlines()[0]})


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def alive_nodes() -> list[tuple[str, dict[str, Any]]]:
    """The nodes by the names of their servers: the host names, with -2, -3, ... where nodes share a host."""
    named: list[tuple[str, dict[str, Any]]] = []
    for node in sorted(ray.nodes(), key=lambda node: (node["NodeManagerHostname"], node["NodeManagerPort"])):
        if node["Alive"] and node["Resources"].get("CPU"):
            name = re.sub(r"[^A-Za-z0-9-]", "-", node["NodeManagerHostname"])[:MAX_NAME_CHARACTERS]
            same = sum(1 for other, _ in named if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
            named.append((f"{name[:MAX_NAME_CHARACTERS - 4]}-{same + 1}" if same else name, node))
    return named


def place(given: argparse.Namespace) -> list[Server]:
    """One server for each node. Nodes that share an address get ports of their own."""
    used: dict[str, int] = {}
    servers = []
    for name, node in alive_nodes()[: given.servers]:
        address = node["NodeManagerAddress"]
        offset = used.get(address, 0)
        used[address] = offset + 1
        servers.append(Server(name, address, given.port and given.port + offset, given.agent_port and given.agent_port + offset, node["NodeID"]))
    if given.servers and len(servers) < given.servers:
        raise SystemExit(f"error: --servers {given.servers}: the cluster has {len(servers)} nodes with CPUs")
    return servers


def haproxy_configuration(template: str, servers: list[Server]) -> str:
    """Returns the sample configuration with these servers in the place of its own."""
    lines: list[str] = []
    backend, written = "", False
    for line in template.splitlines():
        words = line.split()
        if line[:1].isalpha():
            backend, written = (words[1] if words[0] == "backend" else ""), False
        if not backend or words[:1] != ["server"]:
            lines.append(line)
        elif not written:
            written = True
            for server in servers:
                more = f"agent-port {server.agent_port}" if " agent-port " in line else f"track create/{server.name}"
                lines.append(f"    server {server.name} {server.address}:{server.port} {more}")
    return "\n".join(lines) + "\n"


def announce(given: argparse.Namespace, servers: list[Server]) -> None:
    """Prints the servers as one line of JSON, and writes the proxy's configuration."""
    print(json.dumps({"servers": [{"node": server.name, "url": f"http://{server.address}:{server.port}",
                                   "agent_check": f"{server.address}:{server.agent_port}"} for server in servers]}), file=sys.__stdout__, flush=True)
    if given.haproxy:
        given.haproxy.write_text(haproxy_configuration(given.haproxy_template.read_text(), servers))
        say(f"wrote {given.haproxy}")


def run(given: argparse.Namespace, servers: list[Server]) -> None:
    """Starts the servers and starts again those that end, until a signal comes."""
    announced = False
    while True:
        for server in servers:
            if server.task is None and server.due <= time.monotonic():
                server.start(given)
        tasks = {server.task: server for server in servers if server.task is not None}
        if not tasks:
            time.sleep(0.5)
            continue
        for task in ray.wait(list(tasks), timeout=0.5)[0]:
            try:
                tasks[task].settle(ray.get(task))
            except ray.exceptions.RayError as error:
                tasks[task].lose_actor(error)
        if not announced and all(server.is_listening for server in servers):
            announced = True
            announce(given, servers)


def parse(arguments: list[str]) -> argparse.Namespace:
    own, rest = arguments, []
    if "--" in arguments:
        own, rest = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, help="servers, each on a node of its own; all nodes unless given")
    parser.add_argument("--port", type=int, default=8080, help="port of the servers; 0 picks free ones (default: 8080)")
    parser.add_argument("--agent-port", type=int, default=9080, help="port of HAProxy's agent checks; 0 picks free ones (default: 9080)")
    parser.add_argument("--state", help="folder on each node in which the sessions survive; each server has a folder below it")
    parser.add_argument("--cpus", type=float, default=1, help="CPUs that Ray reserves for a server (default: 1)")
    parser.add_argument("--public-url", help="address of the proxy, which the sessions' base_url has")
    parser.add_argument("--haproxy", type=Path, metavar="FILE", help="write the configuration of HAProxy")
    parser.add_argument("--haproxy-template", type=Path, default=TEMPLATE, metavar="FILE", help="configuration whose servers are replaced")
    parser.add_argument("--address", default=os.environ.get("RAY_ADDRESS"), help="cluster; RAY_ADDRESS, or else this machine alone")
    parser.add_argument("--diorama", help="binary on every node; DIORAMA, or else `diorama` on PATH")
    given = parser.parse_args(own)
    given.diorama, given.rest = cluster.binary_of(given.diorama), rest
    given.state = str(Path(given.state).absolute()) if given.state else None
    given.token = os.environ.get("DIORAMA_CONTROL_TOKEN") or secrets.token_hex(16)
    if "DIORAMA_CONTROL_TOKEN" not in os.environ:
        say(f"control token of all servers: {given.token}")
    return given


def main() -> int:
    given = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers: list[Server] = []
    sys.stdout = sys.stderr  # Ray prints messages of its nodes on stdout.
    try:
        cluster.connect(given.address)
        servers = place(given)
        run(given, servers)
    except KeyboardInterrupt:
        say("stopping the servers")
    except OSError as error:
        say(f"error: {error}")
        return 1
    except SystemExit as error:
        say(str(error))
        return 2
    finally:
        stops = [server.actor.stop.remote() for server in servers if server.actor is not None]
        if stops:
            ray.wait(stops, num_returns=len(stops), timeout=STOP_SECONDS)
        ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
