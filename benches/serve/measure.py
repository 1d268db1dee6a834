"""Measures `diorama serve` beside a bare axum handler and json-server, and prints ratios and sizes.

Takes the binary, the bare handler, a folder to work in, and the seconds of a run. Everything listens on loopback; the
two servers of a ratio are measured in turns, so that a busy machine is unfair to neither.
"""

import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

here = Path(__file__).parent
binary, bare, folder, seconds = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
children = []


def start(command):
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    children.append(child)
    for line in child.stdout:
        if found := re.search(r"listening on (\S+)", line):
            return child, found[1]
    sys.exit(f"{command[0]} did not start")


def serve(*more):
    world = folder / "items.yaml"
    return start([binary, "serve", "--port", "0", "--world", str(world), "--max-calls", "1000000000", *more])


def post(url, path, body=None):
    data = json.dumps(body or {}).encode()
    request = urllib.request.Request(url + path, data, {"content-type": "application/json"}, method="POST")
    return json.load(urllib.request.urlopen(request))


def get(url, path):
    return urllib.request.urlopen(url + path).read().decode()


def wrk(url, lines, connections=32, threads=1, delay_ms=0, duration=None):
    """Requests per second, latencies in ms at 50 and 99 %, and failures."""
    requests = folder / "requests"
    requests.write_text("\n".join(lines) + "\n")
    env = dict(os.environ, REQUESTS=str(requests), DELAY_MS=str(delay_ms))
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{duration or seconds}s", "--latency"]
    command += ["-s", str(here / "requests.lua"), url]
    out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])

    def percentile(which):
        number, unit = re.search(rf"\s{which}%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    socket = re.search(r"Socket errors: (.*)", out)
    failed = (f"{bad[1]} failed " if bad else "") + (socket[0] if socket else "")
    return rate, percentile(50), percentile(99), failed


def resident_mib(child):
    status = Path(f"/proc/{child.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def in_turns(label, one, other, rounds=3):
    """The median over rounds of one's rate over the other's."""
    pairs = []
    for _ in range(rounds):
        first, second = one(), other()
        assert not first[3] and not second[3], (label, first, second)
        pairs.append((first[0], second[0]))
    ratio = statistics.median(a / b for a, b in pairs)
    rates = [statistics.median(side) for side in zip(*pairs)]
    print(f"{label}: {rates[0]:.0f}/s against {rates[1]:.0f}/s, ratio {ratio:.2f}", flush=True)


def item(n):
    return json.dumps({"name": f"New {n}", "price": 2.5, "stock": n % 50, "kind": "tool"})


def rates():
    world, url = serve()
    session = post(url, "/v1/sessions")
    root = f"/s/{session['id']}"
    reset = lambda: post(url, f"/v1/sessions/{session['id']}/reset")
    reply = get(url, f"{root}/items/500")
    (folder / "reply.json").write_text(reply)
    _, bare_url = start([bare, str(folder / "reply.json")])
    gets = [f"GET {root}/items/{n}" for n in range(1, 1001)]
    posts = [f"POST {root}/items {item(n)}" for n in range(1000)]

    def fresh(url, lines):
        reset()
        return wrk(url, lines)

    in_turns("GET by key, against bare axum", lambda: fresh(url, gets), lambda: wrk(bare_url, ["GET /items/500"]))
    in_turns("POST create, against GET by key", lambda: fresh(url, posts), lambda: fresh(url, gets))
    if (folder / "node_modules/.bin/json-server").exists():
        port = 39471
        command = [str(folder / "node_modules/.bin/json-server"), "--port", str(port), str(folder / "db.json")]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children.append(child)
        other = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                get(other, "/items/500")
                break
            except OSError:
                time.sleep(0.1)
        plain = [f"GET /items/{n}" for n in range(1, 1001)]
        in_turns("GET by key, against json-server", lambda: fresh(url, gets), lambda: wrk(other, plain))
        child.kill()
    for extra in ([], ["--fsync"]):
        name = "--state " + " ".join(extra)
        _, kept = serve("--state", str(folder / f"state{len(extra)}"), *extra)
        other = post(kept, "/v1/sessions")["id"]
        lines = [f"POST /s/{other}/items {item(n)}" for n in range(1000)]

        def stored():
            post(kept, f"/v1/sessions/{other}/reset")
            return wrk(kept, lines)

        in_turns(f"POST create with {name}, against GET by key", stored, lambda: fresh(url, gets))
    one = [f"POST /v1/sessions/{session['id']}/reset"]
    print(f"reset over HTTP: median {wrk(url, one, connections=1)[1]:.3f} ms")
    _, wide = serve("--max-sessions", "10000000")
    parent = post(wide, "/v1/sessions")["id"]
    for n in range(100):
        post(wide, f"/s/{parent}/items", json.loads(item(n)))
    fork = [f"POST /v1/sessions/{parent}/fork"]
    print(f"fork of a session of 100 writes over HTTP: median {wrk(wide, fork, connections=1, duration=2)[1]:.3f} ms")
    for child in children:
        child.kill()
    children.clear()


def batched(url, ids, rounds=500):
    """Latencies in ms at 50 and 99 % of a request that makes one call of each session, a write; its own reading of the
    reply is not counted."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    took = []
    for round in range(rounds):
        calls = [
            {"session": id, "api": "SetStock", "arguments": {"id": n % 1000 + 1, "stock": (n + round) % 50}}
            for n, id in enumerate(ids)
        ]
        body = json.dumps({"calls": calls})
        began = time.perf_counter()
        connection.request("POST", "/v1/calls", body, {"content-type": "application/json"})
        reply = connection.getresponse().read()
        took.append((time.perf_counter() - began) * 1000)
        results = json.loads(reply)["results"]
        assert [result["status"] for result in results] == [200] * len(ids)
        assert all(r["body"]["stock"] == c["arguments"]["stock"] for r, c in zip(results, calls)), "cross-talk"
    took.sort()
    return took[len(took) // 2], took[len(took) * 99 // 100]


def crowd():
    child, url = serve("--max-sessions", "20000")
    empty = resident_mib(child)
    ids = []
    for _ in range(10):
        ids += [session["id"] for session in post(url, "/v1/sessions", {"n": 1000})["sessions"]]
    print(f"resident with 10,000 sessions: {resident_mib(child):.0f} MiB, without: {empty:.0f} MiB", flush=True)
    steps = [f"PATCH /s/{id}/items/{n % 1000 + 1} {{\"stock\": {n % 50}}}" for n, id in enumerate(ids)]
    _, median, late, failed = wrk(url, steps[:1024], connections=1024, threads=1, delay_ms=250)
    print(f"1,024 sessions, each stepped every 250 ms on average: p50 {median:.2f} ms, p99 {late:.2f} ms {failed}")
    median, late = batched(url, ids[:1024])
    print(f"1,024 sessions stepped by one request: p50 {median:.2f} ms, p99 {late:.2f} ms")
    rate, median, late, failed = wrk(url, steps[:1024], connections=1024, threads=1)
    print(f"1,024 sessions, each stepped as soon as answered: {rate:.0f}/s, p50 {median:.2f} ms, p99 {late:.2f} ms {failed}")

    def calls():
        return sum(int(n) for n in re.findall(r'diorama_calls_total\{.*\} (\d+)', get(url, "/metrics")))

    writes = [f"POST /s/{id}/items {item(n)}" for n, id in enumerate(ids)]
    wanted = calls() + 1_000_000
    while (left := wanted - calls()) > 0:
        rate = wrk(url, writes, connections=16, duration=2 if left < 60_000 else 10)[0]
    print(f"resident with 10,000 sessions of 100 writes each ({calls()} calls): {resident_mib(child):.0f} MiB, {rate:.0f} writes/s")
    child.kill()


try:
    if "crowd" not in sys.argv[5:] or "rates" in sys.argv[5:]:
        rates()
    if "rates" not in sys.argv[5:] or "crowd" in sys.argv[5:]:
        crowd()
finally:
    for child in children:
        child.kill()
