"""Renders dialogues with the chat templates of several model families and reads the calls back.

Usage: templates.py EXPORT [EXPORT ...], each written by `diorama dataset export --format trl`. Prints, by family, how many
dialogues were rendered, how many calls were read back, and how many dialogues the family has no way to write.

Each call must come back with its name and its arguments and no others, and what is rendered of the first messages must be the
beginning of what is rendered of all: a trainer masks by it, a server caches by it.
"""

import ast
import json
import keyword
import os
import re
import sys
import tempfile
from importlib import metadata

import datasets
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """`{% generation %}`, which marks what a model says; here it stays as it is."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class NotWritten(Exception):
    """The family has no way to write this dialogue."""


def refuse(message):
    raise NotWritten(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def template(name):
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=refuse, strftime_now=lambda form: "2 March 2026")
    folder = metadata.distribution("trl").locate_file("trl/chat_templates")
    with open(os.path.join(str(folder), name + ".jinja"), encoding="utf-8") as file:
        return env.from_string(file.read())


def typed(text, schema):
    """A value written bare, by the type that the tool declares."""
    kinds = schema.get("type", "string")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return text if "string" in kinds else json.loads(text.replace("True", "true").replace("False", "false"))


def properties(tools, name):
    return next((t["function"]["parameters"].get("properties", {}) for t in tools if t["function"]["name"] == name), {})


def hermes(text, tools):
    found = re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text, re.S)
    return [(call["name"], call["arguments"]) for call in map(json.loads, found)]


def llama(text, tools):
    found = re.findall(r"<\|start_header_id\|>assistant<\|end_header_id\|>\n\n(\{\"name\".*?\})<\|eot_id\|>", text, re.S)
    return [(call["name"], call["parameters"]) for call in map(json.loads, found)]


def harmony(text, tools):
    found = re.findall(r"<\|start\|>assistant to=functions\.(\S+?)<\|channel\|>commentary json<\|message\|>(.*?)<\|call\|>", text, re.S)
    return [(name, json.loads(arguments)) for name, arguments in found]


def in_pairs(calls, pairs):
    def read(text, tools):
        found = []
        for name, body in re.findall(calls, text, re.S):
            known = properties(tools, name)
            found.append((name, {key: typed(value, known.get(key, {})) for key, value in re.findall(pairs, body, re.S)}))
        return found

    return read


glm = in_pairs(r"<tool_call>([^\n<{]+)\n(.*?)</tool_call>", r"<arg_key>(.*?)</arg_key>\n<arg_value>(.*?)</arg_value>")
nemotron = in_pairs(
    r"<tool_call>\n<function=(.*?)>\n(.*?)</function>\n</tool_call>", r"<parameter=(.*?)>\n(.*?)\n</parameter>\n"
)


def pythonic(text, tools):
    calls = []
    for body in re.findall(r"<\|tool_call_start\|>(.*?)<\|tool_call_end\|>", text, re.S):
        # A parameter may have the name of a word of Python's own.
        body = re.sub(r"(?<=[(\s])(%s)(?==)" % "|".join(keyword.kwlist), r"\1__", body)
        for call in ast.parse(body, mode="eval").body.elts:
            # Lists, objects and the literals that Python knows by other names are JSON; strings are Python's.
            def value(node):
                text = ast.get_source_segment(body, node)
                bare = text.startswith("'") or text in ("True", "False", "None")
                return ast.literal_eval(node) if bare else json.loads(text)

            calls.append((call.func.id, {word.arg.removesuffix("__"): value(word.value) for word in call.keywords}))
    return calls


FAMILIES = {
    "qwen2_5_training": hermes,
    "qwen3_training": hermes,
    "glm4moe_training": glm,
    "nemotron_3_nano_training": nemotron,
    "lfm2_v2_training": pythonic,
    "llama3_1": llama,
    "gptoss_training": harmony,
}

# Its template writes the last answer otherwise than earlier ones, whatever the messages.
NO_PREFIXES = {"gptoss_training"}


def dialogue(row):
    """A row as a trainer gets it from `datasets`, which fills in null for what a message does not have."""
    for message in row["messages"]:
        for key in [key for key, value in message.items() if value is None]:
            del message[key]
    return row["id"], row["messages"], row["tools"]


def check(family, read, rows):
    made = template(family)
    rendered = calls = without = 0
    for name, messages, tools in rows:
        render = lambda some: made.render(messages=some, tools=tools, bos_token="<s>", eos_token="</s>", add_generation_prompt=False)
        try:
            whole = render(messages)
        except NotWritten:
            without += 1
            continue
        several = any(len(m.get("tool_calls") or []) > 1 for m in messages)
        if family == "gptoss_training" and several:  # it writes the first of several calls and drops the rest
            without += 1
            continue
        turns = [m for m in messages if m["role"] == "assistant" and m.get("tool_calls")]
        wanted = [(c["function"]["name"], c["function"]["arguments"]) for m in turns for c in m["tool_calls"]]
        # Calls stand after the tools' own documents, which show the form once more.
        at = whole.find(messages[1]["content"] if messages[0]["role"] == "system" else messages[0]["content"])
        got = read(whole[at:], tools)
        assert got == wanted, f"{family}, {name}: {got} read back, {wanted} written"
        ends = [i + 1 for i, m in enumerate(messages[:-1]) if m["role"] == "assistant" or messages[i + 1]["role"] == "assistant"]
        for end in [] if family in NO_PREFIXES else ends:
            if end > 1 or messages[0]["role"] != "system":
                part = render(messages[:end])
                assert whole.startswith(part), f"{family}, {name}: the first {end} messages are rendered otherwise alone"
        rendered += 1
        calls += len(wanted)
    assert rendered, f"{family} renders nothing"
    return {"dialogues": rendered, "calls": calls, "no_way_to_write": without}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset("json", data_files=sys.argv[1:], split="train", cache_dir=cache)
        rows = [dialogue(row) for row in loaded]
    print(json.dumps({family: check(family, read, rows) for family, read in FAMILIES.items()}))
