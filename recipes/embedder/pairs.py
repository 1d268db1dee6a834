"""Gathers the pairs of a request and the APIs that answer it that tune.py reads: lines of JSON.

    python pairs.py [--rows DATASET]... [--documents FOLDER] --out pairs.jsonl

Rows give requests, turns of the user and searches of `ToolSearcher`, from the split `train` only. OpenAPI documents
give operations: the summary stands for the request. Then come the worlds, with the text of each API by its key. A key
is the same in all worlds that rename the API.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet

from texts import first_sentence, split_name

SEARCH = "ToolSearcher"
METHODS = ("get", "put", "post", "delete", "patch")
OPERATIONS_OF_A_DOCUMENT, OPERATIONS_OF_A_PROVIDER = 100, 1000


class Pool:
    """The text of each API by world and key, as the search gives it to an embedder."""

    def __init__(self):
        self.worlds = {}

    def add(self, world, name, description, domain, key):
        parts = [split_name(name), description.rstrip("."), split_name(domain)]
        self.worlds.setdefault(world, {})[key] = ". ".join(part for part in parts if part)


def read_world(world_id, text, pool):
    """Adds a world's APIs and returns their keys by name."""
    names = {}
    world = json.loads(text)
    for domain in world.get("domains", [world]):
        for api in domain["apis"]:
            key = names[api["name"]] = api.get("source_api") or f"{domain['domain']['name']}.{api['name']}"
            pool.add(world_id, api["name"], api.get("description", ""), domain["domain"]["name"], key)
    return names


def row_pairs(row, names):
    """Each search with the first API it shows that is called; what the user says up to a call with the turn's calls."""
    calls = [call for call in json.loads(row["gold_calls"]) if not call.get("mistake")]
    called = {call["api"] for call in calls if call["api"] in names}
    users, words = [], {}
    for message in row["messages"]:
        if message["role"] == "user":
            users.append(message["content"])
        for call in message["tool_calls"] or []:
            if call["function"]["name"] == SEARCH:
                words[call["id"]] = json.loads(call["function"]["arguments"]).get("keywords", "")
        if message["tool_call_id"] in words:
            shown = [tool["name"] for tool in json.loads(message["content"]).get("tools", [])]
            found = [names[name] for name in shown if name in called]
            yield from (("search", words[message["tool_call_id"]], (key,)) for key in found[:1])
    turns = defaultdict(list)
    for call in calls:
        if call["api"] in names:
            turns[call["turn"]].append(names[call["api"]])
    said = 0
    for turn, keys in sorted(turns.items()):
        if turn < len(users):
            yield "turn", " ".join(users[said:turn + 1]), tuple(dict.fromkeys(keys))
        said = turn + 1
    if turns and row["ability"] != "call":
        yield "request", row["query"], tuple(dict.fromkeys(key for keys in turns.values() for key in keys))


def rows_of(folder, pattern, columns=None):
    for file in sorted(folder.glob(pattern)):
        for batch in pyarrow.parquet.ParquetFile(file).iter_batches(500, columns=columns):
            yield from batch.to_pylist()


def dataset_pairs(folder, pool):
    """Pairs of the split `train` of a dataset."""
    worlds = rows_of(folder, "worlds/train-*.parquet")
    names = {world["world_id"]: read_world(world["world_id"], world["world"], pool) for world in worlds}
    columns = ["world_id", "ability", "query", "messages", "gold_calls"]
    for row in rows_of(folder, "data/train-*.parquet", columns):
        for kind, request, gold in row_pairs(row, names[row["world_id"]]):
            yield {"kind": kind, "request": request, "gold": gold, "world": row["world_id"]}


def operations(document):
    """The request, name, description and path of each operation that has a text."""
    for url, item in document["paths"].items():
        for method in METHODS:
            operation = item.get(method) if isinstance(item, dict) else None
            if not isinstance(operation, dict):
                continue
            summary, description = (first_sentence(operation.get(member)) for member in ("summary", "description"))
            request = summary or description
            if len(request.split()) > 1 and request.isascii():
                name = operation.get("operationId") or f"{method} {url}"
                yield request, name, description if description != request else "", f"{method} {url}"


def document_pairs(folder, without, pool, random_):
    """Summaries of operations with the operations, named and described without them."""
    by_provider = defaultdict(list)
    for file in sorted(folder.rglob("*.json")):
        path = file.relative_to(folder).with_suffix("")
        if path.parts[0] in without:
            continue
        found = list(operations(json.loads(file.read_text())))
        random_.shuffle(found)
        by_provider[path.parts[0]] += [(str(path), *each) for each in found[:OPERATIONS_OF_A_DOCUMENT]]
    for _, found in sorted(by_provider.items()):
        random_.shuffle(found)
        for document, request, name, description, operation in found[:OPERATIONS_OF_A_PROVIDER]:
            key = f"{document}.{operation}"
            pool.add(document, name, description, document, key)
            yield {"kind": "operation", "request": request, "gold": [key], "world": document}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, action="append", default=[], help="dataset that `diorama generate` wrote")
    parser.add_argument("--documents", type=Path, help="folder of OpenAPI documents in JSON")
    parser.add_argument("--without", action="append", default=[], help="provider to leave out: a benchmark's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    pool = Pool()
    with arguments.out.open("w") as out:
        for folder in arguments.rows:
            for pair in dataset_pairs(folder, pool):
                print(json.dumps(pair), file=out)
        if arguments.documents:
            for pair in document_pairs(arguments.documents, arguments.without, pool, random.Random(arguments.seed)):
                print(json.dumps(pair), file=out)
        for world, apis in pool.worlds.items():
            print(json.dumps({"kind": "world", "world": world, "apis": apis}), file=out)


if __name__ == "__main__":
    main()
