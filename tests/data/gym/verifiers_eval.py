"""verifiers' evaluation as docs/how-to/verifiers.md has it, over its own NeMo Gym taskset, with recorded steps in the place of a model. Prints a JSON object.

Arguments: the server's URL, rows, recorded episodes, a folder for the run, how many tasks. Needs `vf-eval` and `uv` beside the interpreter.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pages
import scripted

def main():
    server, rows, episodes, folder, limit = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True)
    chosen = scripted.rows(rows, scripted.steps(episodes), int(limit))
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in chosen), encoding="utf-8")
    port = folder / "port"
    policy = subprocess.Popen([sys.executable, Path(__file__).with_name("chat_policy.py"), rows, episodes, port])
    try:
        while not (port.exists() and port.read_text(encoding="ascii")):
            time.sleep(0.05)
        config = folder / "eval.toml"
        page = pages.block("how-to/verifiers.md", "toml", {
            '"NAME"': f'"scripted"\noutput_dir = "{folder / "out"}"', "rows.jsonl": str(folder / "rows.jsonl"),
            "http://127.0.0.1:9000": server, "http://127.0.0.1:8000": f"http://127.0.0.1:{port.read_text(encoding='ascii')}",
        })
        config.write_text(page, encoding="utf-8")
        programs = Path(sys.executable).parent
        # The registry's certificates are those of the machine, which uv does not read by itself.
        variables = os.environ | {"OPENAI_API_KEY": "x", "PATH": f"{programs}:{os.environ['PATH']}", "UV_NATIVE_TLS": "true"}
        ran = subprocess.run([programs / "vf-eval", "@", config, "--no-rich"], env=variables, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    finally:
        policy.terminate()
    traces = []
    for file in (folder / "out").glob("*/traces.jsonl"):
        episodes = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        traces += [trace for episode in episodes for trace in episode.get("traces", [episode])]
    errors = [trace["errors"] for trace in traces if trace.get("errors")]
    print(json.dumps({"rewards": [trace["rewards"].get("nemo_gym", {}).get("score") for trace in traces], "errors": errors[:3]}))


if __name__ == "__main__":
    main()
