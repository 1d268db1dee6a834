"""Runs recipes/nemo-gym/app.py as NeMo Gym does, on an assigned port, and asks the server there for a reward."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

RECIPE = Path(__file__).parent.parent / "nemo-gym"


def post(url, body, cookie=""):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply), reply.headers.get("set-cookie", "").split(";")[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        data, rows = f"{folder}/data", f"{folder}/rows.jsonl"
        subprocess.run(["diorama", "generate", "--dialogues", "5", "--out", data], check=True, capture_output=True)
        subprocess.run(["diorama", "dataset", "export", data, "--format", "nemo-gym", "--out", rows], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = {"entrypoint": "app.py", "host": "127.0.0.1", "port": port, "dataset": data, "options": ["--max-sessions", "50"]}
        config = {"diorama": {"resources_servers": {"diorama": server}}}
        package = str(Path(__file__).parent.parent.parent / "python")
        variables = {"NEMO_GYM_CONFIG_DICT": json.dumps(config), "NEMO_GYM_CONFIG_PATH": "diorama", "PYTHONPATH": package}
        started = subprocess.Popen([sys.executable, "app.py"], cwd=RECIPE, env=os.environ | variables)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(300):
                try:
                    urllib.request.urlopen(url, timeout=5).close()
                    break
                except OSError:
                    assert started.poll() is None, "the server ended"
                    time.sleep(0.1)
            row = json.loads(Path(rows).read_text(encoding="utf-8").splitlines()[0])
            _, cookie = post(f"{url}/seed_session", row)
            verdict, _ = post(f"{url}/verify", row | {"response": {"output": []}}, cookie)
            assert verdict["reward"] == 0.0, verdict
        finally:
            started.terminate()
            started.wait()
    print("recipes/nemo-gym: a row was seeded and verified on the assigned port")


if __name__ == "__main__":
    main()
