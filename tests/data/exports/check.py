"""Loads each format of `dataset export` in its consumer. Usage: check.py DIORAMA DATASET.

Prints a line for each format and consumer: rows, what is wrong, what was left out. Fails where anything is wrong.
"""

import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from importlib import metadata

import datasets
from jsonschema import Draft202012Validator as Validator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loading"))
from refusals import outcome  # noqa: E402  every template of TRL, and why one refuses a dialogue
from templates import dialogue, template  # noqa: E402

diorama, dataset = sys.argv[1:3]
folder = tempfile.mkdtemp()
failed = []


def export(name, format, *options):
    file = os.path.join(folder, name + ".jsonl")
    ran = subprocess.run(
        [diorama, "dataset", "export", dataset, "--format", format, "--out", file, "--json", *options],
        capture_output=True, text=True, check=False,
    )
    if ran.returncode:
        sys.exit(f"{name}: {ran.stderr}")
    return file, json.loads(ran.stdout)


def lines(file):
    with open(file, encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def tell(what, wrong=0, **figures):
    told = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in figures.items())
    print(f"{'WRONG' if wrong else 'ok'}\t{what}\t{told}" + (f", {wrong} wrong" if wrong else ""), flush=True)
    if wrong:
        failed.append(what)


def loaded(file):
    """A file as `datasets` reads it, whole and streamed."""
    whole = datasets.load_dataset("json", data_files=file, split="train", cache_dir=folder)
    streamed = datasets.load_dataset("json", data_files=file, split="train", streaming=True)
    return whole, sum(1 for _ in streamed)


# Every format is read by `datasets`, the ids in their order.
DIALOGUES = ["openai", "trl", "trl-prompt-completion", "trl-preference", "sharegpt", "llama-factory"]
OTHERS = ["jsonl", "prompt-only", "xlam", "reverse-chain", "nemo-gym", "verl"]
files = {}
for name in DIALOGUES + OTHERS + [format + "-structured" for format in DIALOGUES]:
    format = name.removesuffix("-structured")
    files[name], done = export(name, format, *([] if name == format else ["--answers", "structured"]))
    rows = lines(files[name])
    whole, streamed = loaded(files[name])
    wrong = int(whole["id"][:] != [row["id"] for row in rows]) + int(streamed != len(rows))
    tell(f"datasets: {name}", wrong, rows=done["rows"], lines=done["lines"], left_out=done["left_out"])

# The dataset itself, by its card.
for config in ["default", "structured", "worlds"]:
    read = datasets.load_dataset(dataset, config, cache_dir=folder)
    streamed = datasets.load_dataset(dataset, config, streaming=True)
    counts = {split: rows.num_rows for split, rows in read.items()}
    wrong = sum(counts[split] != sum(1 for _ in streamed[split]) for split in counts)
    tell(f"datasets: the dataset's {config}", wrong, **counts)

# Calls that end goals have the form of the schema that stands in the row.
wrong = 0
for row in lines(files["trl-structured"]):
    known = {tool["function"]["name"]: tool["function"]["parameters"] for tool in row["tools"]}
    calls = [call["function"] for message in row["messages"] for call in message.get("tool_calls") or []]
    wrong += any(c["name"] == "finish" and not Validator(known["finish"]).is_valid(c["arguments"]) for c in calls)
tell("jsonschema: arguments of finish", wrong, rows=len(lines(files["trl-structured"])))

# OpenAI: the shape of requests for chat, by the client's own types, as far as they check anything.
from openai.types.chat import ChatCompletionMessage  # noqa: E402

wrong = 0
rows = lines(files["openai"])
for row in rows:
    names = [tool["function"]["name"] for tool in row["tools"]]
    bad = [name for name in names if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)]
    open_calls = set()
    for message in row["messages"]:
        if message["role"] == "assistant":
            ChatCompletionMessage.model_validate({"refusal": None, **message}, strict=True)
            open_calls |= {call["id"] for call in message.get("tool_calls") or []}
        elif message["role"] == "tool":
            bad += [] if message["tool_call_id"] in open_calls else [message["tool_call_id"]]
            open_calls.discard(message["tool_call_id"])
    wrong += bool(bad or open_calls)
tell("openai: messages", wrong, rows=len(rows))

# Mistral's validator for fine-tuning, of the tokenizers that ask the most of ids.
from mistral_common.protocol.instruct.request import ChatCompletionRequest  # noqa: E402
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV11, ValidationMode  # noqa: E402

validator = MistralRequestValidatorV11(ValidationMode.finetuning)
refused = collections.Counter()
for row in rows:
    messages = [{key: value for key, value in message.items() if key != "weight"} for message in row["messages"]]
    try:
        validator.validate_request(ChatCompletionRequest(messages=messages, tools=row["tools"]))
    except Exception as error:  # the validator's own, and pydantic's
        refused[str(error)[:80]] += 1
tell("mistral-common: openai", sum(refused.values()), rows=len(rows), **{f"times_{k}": n for k, n in refused.items()})

# TRL: every template that it ships.
listed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loading", "refusals.txt")
with open(listed, encoding="utf-8") as text:
    expected = {name: reasons.split("; ") for name, reasons in (line.rstrip("\n").split(": ", 1) for line in text)}
templates = str(metadata.distribution("trl").locate_file("trl/chat_templates"))
names = sorted(file.removesuffix(".jinja") for file in os.listdir(templates) if file.endswith(".jinja"))
read = [dialogue(row) for row in datasets.load_dataset("json", data_files=files["trl"], split="train", cache_dir=folder)]
whole, some, none, unexpected = [], {}, [], []
for name in names:
    made = template(name)
    outcomes = collections.Counter(outcome(made, messages, tools) for _, messages, tools in read)
    rendered = outcomes.pop("", 0)
    if not outcomes:
        whole.append(name)
    elif rendered:
        some[name] = rendered
    else:
        none.append(name)
    unexpected += [f"{name}: {reason}" for reason in outcomes if reason not in expected.get(name, "")]
tell("trl: templates", len(unexpected), rows=len(read), templates=len(names), render_all=len(whole), render_some=len(some), render_none=len(none))
print("\t\trender some: " + ", ".join(f"{name} {rows}" for name, rows in some.items()))
print("\t\trender none: " + ", ".join(none) + "".join(f"\n\t\tnew: {each}" for each in unexpected))

# LLaMA-Factory's converters, without what they import of torch.
root = str(metadata.distribution("llamafactory").locate_file("llamafactory"))
warned = []
for name, path in [("llamafactory", root), ("llamafactory.data", root + "/data"), ("llamafactory.extras", root + "/extras")]:
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module


class Log:
    def __getattr__(self, name):
        return lambda text, *a, **k: warned.append(text)


log = types.ModuleType("llamafactory.extras.logging")
log.get_logger = lambda name: Log()
sys.modules[log.__name__] = log
sys.modules["llamafactory.extras"].logging = log
import llamafactory.data.converter as converter  # noqa: E402

ROLES = {"user_tag": "human", "assistant_tag": "gpt", "observation_tag": "observation", "function_tag": "function_call",
         "system_tag": "system", "role_tag": "from", "content_tag": "value", "messages": "conversations", "system": "system",
         "tools": "tools", "images": None, "videos": None, "audios": None, "ranking": False, "kto_tag": None, "chosen": None,
         "rejected": None}
OPEN = {**ROLES, "user_tag": "user", "assistant_tag": "assistant", "observation_tag": "tool", "function_tag": "function",
        "role_tag": "role", "content_tag": "content", "messages": "messages", "system": None}
for name, of, tags in [
    ("llama-factory", converter.SharegptDatasetConverter, ROLES),
    ("llama-factory-structured", converter.SharegptDatasetConverter, ROLES),
    ("openai", converter.OpenAIDatasetConverter, OPEN),
]:
    del warned[:]
    rows = lines(files[name])
    convert = of(types.SimpleNamespace(**tags), types.SimpleNamespace(media_dir=None))
    wrong = sum(not (made["_prompt"] and made["_response"]) for made in map(convert, rows))
    tell(f"llamafactory: {name}", wrong + len(warned), rows=len(rows))

# Pairs: the form of the rejected calls, by the schemas that stand in the row.
for name in ["trl-preference", "trl-preference-structured"]:
    kinds, wrong, same = collections.Counter(), 0, 0
    rows = lines(files[name])
    for row in rows:
        kinds[row["damage"]] += 1
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in row["tools"]}
        calls = [call["function"] for call in row["rejected"][0].get("tool_calls") or []]
        wrong += any(c["name"] not in tools or not Validator(tools[c["name"]]).is_valid(c["arguments"]) for c in calls)
        bare = [[(c["function"]["name"], json.dumps(c["function"]["arguments"])) for c in side[0].get("tool_calls") or []] + [side[0].get("content")] for side in (row["chosen"], row["rejected"])]
        same += bare[0] == bare[1]
    tell(f"jsonschema: {name}", wrong + same, pairs=len(rows), **kinds)

print("not run: training itself, in any of them: it needs torch (the lane `trainers` has TRL's trainer for two steps)")
sys.exit(f"wrong: {', '.join(failed)}" if failed else 0)
