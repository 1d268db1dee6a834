"""An Inspect evaluation with recorded steps in the place of a model, whose log `inspect view` then opens. Prints a JSON object.

Arguments: the server's URL, the file of recorded episodes, the folder for the log, how many tasks.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import requests
import scripted
import tiktoken
from inspect_ai import eval as evaluate
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput, get_model

import diorama_worlds.inspect
from diorama_worlds._sessions import Client, Session


class Words:
    """In the place of an encoding that tiktoken downloads; Inspect estimates tokens with it."""

    def encode(self, text, **_):
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Words()
server, episodes, folder, limit = sys.argv[1:]
recorded = scripted.steps(episodes)
prompts = {}


def respond(messages, tools, choice, config):
    """The recorded call that the conversation has come to."""
    calls = prompts[(messages[0].text, messages[1].text)]
    done = sum(message.role == "tool" for message in messages)
    if done >= len(calls):
        return ModelOutput.from_content("mockllm", "Nothing more.")
    name, arguments = calls[done]
    names = [tool.name for tool in tools]
    if name not in names:
        name, arguments = "ToolCaller", {"api": name, "arguments": arguments}
    assert name in names, f"{name} is not among {names}"
    return ModelOutput.for_tool_call("mockllm", name, arguments)


def seeded(client, task):
    """A session on the seed of the recorded episode."""
    return Session(client, task, int(recorded[task]["seed"]))


def viewed(name):
    """How many samples `inspect view` shows of a log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    inspect = Path(sys.executable).with_name("inspect")
    viewer = subprocess.Popen([inspect, "view", "start", "--log-dir", folder, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                requests.get(f"http://127.0.0.1:{port}/api/logs", timeout=5).raise_for_status()
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        shown = requests.get(f"http://127.0.0.1:{port}/api/logs/{urllib.parse.quote(name, safe='')}", timeout=60)
        return len(shown.json()["samples"])
    finally:
        viewer.kill()


def main():
    diorama_worlds.inspect.Session = seeded
    client = Client(server)
    for one in client.tasks():
        session = seeded(client, one["id"])
        shown = session.task()
        prompts[(shown["system"], shown["user"])] = recorded[one["id"]]["calls"]
        session.close()
    model = get_model("mockllm/model", custom_outputs=respond)
    task = diorama_worlds.inspect.diorama(server=server, limit=int(limit), max_turns=60)
    logs = evaluate(task, model=model, log_dir=folder, display="none", log_format="json")
    name = list_eval_logs(folder)[0].name
    log = read_eval_log(name)
    scores = {sample.id: sample.scores["graded"].value for sample in log.samples}
    print(json.dumps({"status": logs[0].status, "samples": len(log.samples), "scores": scores, "viewed": viewed(name)}))


if __name__ == "__main__":
    main()
