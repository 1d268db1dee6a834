"""Renders dialogues with every chat template that TRL ships. Usage: refusals.py EXPORT, written by `diorama dataset export --format trl`.

Prints, by template, how many dialogues it renders with each call in them, and why it does not render others: its own words, the
error that stops it, or `drops a call`.
"""

import collections
import json
import os
import sys
import tempfile
from importlib import metadata

import datasets

from templates import NotWritten, dialogue, template


def outcome(made, messages, tools):
    try:
        text = made.render(messages=messages, tools=tools, bos_token="<s>", eos_token="</s>", add_generation_prompt=False)
    except NotWritten as refused:
        return str(refused)
    except Exception as error:
        return type(error).__name__
    # The tools' own documents, where there are any, stand before the user's first words.
    at = text.find(next(message["content"] for message in messages if message["role"] == "user"))
    names = collections.Counter(call["function"]["name"] for m in messages for call in m.get("tool_calls") or [])
    return "" if all(text[at:].count(name) >= times for name, times in names.items()) else "drops a call"


def main():
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=cache)
        rows = [dialogue(row) for row in loaded]
    folder = str(metadata.distribution("trl").locate_file("trl/chat_templates"))
    found = {}
    for name in sorted(file.removesuffix(".jinja") for file in os.listdir(folder) if file.endswith(".jinja")):
        made = template(name)
        outcomes = collections.Counter(outcome(made, messages, tools) for _, messages, tools in rows)
        found[name] = {"rendered": outcomes.pop("", 0), "not": dict(sorted(outcomes.items()))}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
