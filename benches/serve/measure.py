"""Measures `diorama serve` beside a bare axum handler and json-server, and prints ratios and sizes.

Takes the binary, the bare handler, a folder to work in, and the seconds of a run. Everything listens on loopback; the
two servers of a ratio are measured in turns, so that a busy machine is unfair to neither. A request that is refused ends
the measurement: a refusal is not what is measured.
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
    """A server without caps on what a run adds to; sessions are reset before each."""
    world = folder / "items.yaml"
    caps = [f"--max-{what}=1000000000000" for what in ("calls", "session-bytes", "bytes")]
    return start([binary, "serve", "--port", "0", "--world", str(world), *caps, *more])


def post(url, path, body=None):
    data = json.dumps(body or {}).encode()
    request = urllib.request.Request(url + path, data, {"content-type": "application/json"}, method="POST")
    return json.load(urllib.request.urlopen(request))


def get(url, path):
    return urllib.request.urlopen(url + path).read().decode()


def wrk(url, lines, connections=32, threads=1, delay_ms=0, duration=None):
    """Requests per second, latencies in ms at 50 and 99 %, and requests. Ends the measurement where one failed."""
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

    if failed := re.search(r"Non-2xx or 3xx responses: .*|Socket errors: .*", out):
        sys.exit(f"{lines[0]}, and others like it, at {url}: {failed[0]}")
    return rate, percentile(50), percentile(99), int(re.search(r"(\d+) requests in", out)[1])


def resident_mib(child):
    status = Path(f"/proc/{child.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def processor_us(child):
    """Microseconds of processor time that a process has used."""
    times = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) * 1_000_000 / os.sysconf("SC_CLK_TCK")


def costs(child, run):
    """A run's requests per second, and the microseconds of processor time that a server used for each."""
    before = processor_us(child)
    rate, _, _, requests = run()
    return rate, (processor_us(child) - before) / requests


def beside_bare(child, one, bare_child, bare_one, rounds=5):
    """Medians over rounds. Rates hold what the client and the machine cost both, processor time does not."""
    rounds = [(costs(child, one), costs(bare_child, bare_one)) for _ in range(rounds)]
    ours, bares = zip(*rounds)
    for what, which, unit in (("rate", 0, "/s"), ("processor time of a request", 1, " us")):
        ratio = statistics.median(a[which] / b[which] for a, b in rounds)
        first, second = (statistics.median(side[which] for side in sides) for sides in (ours, bares))
        print(f"GET by key, against bare axum, {what}: {first:.1f}{unit} against {second:.1f}{unit}, ratio {ratio:.2f}", flush=True)


def in_turns(label, one, other, rounds=3):
    """The median over rounds of one's rate over the other's."""
    pairs = [(one()[0], other()[0]) for _ in range(rounds)]
    ratio = statistics.median(a / b for a, b in pairs)
    rates = [statistics.median(side) for side in zip(*pairs)]
    print(f"{label}: {rates[0]:.0f}/s against {rates[1]:.0f}/s, ratio {ratio:.2f}", flush=True)


def item(n):
    return json.dumps({"name": f"New {n}", "price": 2.5, "stock": n % 50, "kind": "tool"})


def rates(only_get):
    world, url = serve()
    session = post(url, "/v1/sessions")
    root = f"/s/{session['id']}"
    reset = lambda: post(url, f"/v1/sessions/{session['id']}/reset")
    reply = get(url, f"{root}/items/500")
    (folder / "reply.json").write_text(reply)
    bare_child, bare_url = start([bare, str(folder / "reply.json")])
    gets = [f"GET {root}/items/{n}" for n in range(1, 1001)]
    posts = [f"POST {root}/items {item(n)}" for n in range(1000)]

    def fresh(url, lines):
        reset()
        return wrk(url, lines)

    beside_bare(world, lambda: fresh(url, gets), bare_child, lambda: wrk(bare_url, ["GET /items/500"]))
    if only_get:
        return
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
    _, median, late, _ = wrk(url, steps[:1024], connections=1024, threads=1, delay_ms=250)
    print(f"1,024 sessions, each stepped every 250 ms on average: p50 {median:.2f} ms, p99 {late:.2f} ms")
    median, late = batched(url, ids[:1024])
    print(f"1,024 sessions stepped by one request: p50 {median:.2f} ms, p99 {late:.2f} ms")
    rate, median, late, _ = wrk(url, steps[:1024], connections=1024, threads=1)
    print(f"1,024 sessions, each stepped as soon as answered: {rate:.0f}/s, p50 {median:.2f} ms, p99 {late:.2f} ms")

    def calls():
        return sum(int(n) for n in re.findall(r'diorama_calls_total\{.*\} (\d+)', get(url, "/metrics")))

    writes = [f"POST /s/{id}/items {item(n)}" for n, id in enumerate(ids)]
    wanted = calls() + 1_000_000
    while (left := wanted - calls()) > 0:
        rate = wrk(url, writes, connections=16, duration=2 if left < 60_000 else 10)[0]
    print(f"resident with 10,000 sessions of 100 writes each ({calls()} calls): {resident_mib(child):.0f} MiB, {rate:.0f} writes/s")
    child.kill()


try:
    parts = sys.argv[5:] or ["rates", "crowd"]
    if "rates" in parts or "get" in parts:
        rates(only_get="rates" not in parts)
    if "crowd" in parts:
        crowd()
finally:
    for child in children:
        child.kill()
