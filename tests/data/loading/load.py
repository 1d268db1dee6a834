"""Loads a dataset and its exports with the libraries that trainers use. Usage: load.py DATASET EXPORTS.

Prints {"rows": n, "by": {library: rows}, "configs": {name: rows}, "exports": {file: rows}} when everything agrees; fails where it
does not.
"""

import glob
import json
import os
import sys
import tempfile

import datasets
import pyarrow.parquet as pq

dataset, exports = map(os.path.abspath, sys.argv[1:3])
files = sorted(glob.glob(os.path.join(dataset, "data", "*.parquet")))
rows = [row for file in files for row in pq.read_table(file).to_pylist()]
by = {"pyarrow": len(rows)}
try:
    import duckdb
    import polars
except ImportError:  # the old environment has `datasets` alone
    pass
else:
    frame = polars.concat([polars.read_parquet(file) for file in files])
    assert frame["messages"].to_list() == [row["messages"] for row in rows], "polars reads other messages"
    by["polars"] = frame.height
    calls = "SELECT count(*), sum(len(messages)) FROM read_parquet(?)"
    by["duckdb"], messages = duckdb.execute(calls, [files]).fetchone()
    assert messages == sum(len(row["messages"]) for row in rows), "duckdb reads other messages"

# The card's own snippet, in the folder that it names.
os.chdir(dataset)
with open("README.md", encoding="utf-8") as card:
    snippet = card.read().split("```python\n", 1)[1].split("```", 1)[0]
exec(snippet, card := {})
arguments = [call["function"]["arguments"] for message in card["messages"] for call in message["tool_calls"] or []]
assert arguments and all(isinstance(each, dict) for each in arguments), "the card's snippet leaves arguments as text"

with tempfile.TemporaryDirectory() as cache:
    loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
    assert loaded["id"][:] == [row["id"] for row in rows]
    assert [row["messages"] for row in loaded] == [row["messages"] for row in rows], "datasets reads other messages"
    by["datasets"] = loaded.num_rows
    # By the card's configurations, as the Hub does it: whole, and streamed.
    configs = {}
    for config in ["default", "structured", "worlds"]:
        whole = datasets.load_dataset(dataset, config, cache_dir=cache)
        streamed = datasets.load_dataset(dataset, config, streaming=True, cache_dir=cache)
        assert set(whole) == set(streamed), f"{config}: other splits when streamed"
        configs[config] = 0
        for split in whole:
            assert [row for row in streamed[split]] == [row for row in whole[split]], f"{config}: other rows when streamed"
            configs[config] += whole[split].num_rows
    structured = datasets.load_dataset(dataset, "structured", cache_dir=cache)
    plain = datasets.load_dataset(dataset, cache_dir=cache)
    for split in plain:
        left = iter(plain[split]["id"])
        assert all(id in left for id in structured[split]["id"]), "structured rows stand in another order"
        for row in structured[split]:
            last = row["messages"][-1]["tool_calls"]
            assert last and last[-1]["function"]["name"] == "finish", f"{row['id']} does not end by finish"
    worlds = {row["world_id"]: row["world"] for rows in datasets.load_dataset(dataset, "worlds", cache_dir=cache).values() for row in rows}
    assert set(worlds) == {row["world_id"] for row in rows}, "rows name other worlds"
    assert all(json.loads(world)["world"] == 1 for world in worlds.values())
    read = {}
    for file in sorted(glob.glob(os.path.join(exports, "*.jsonl"))):
        lines = [json.loads(line) for line in open(file, encoding="utf-8")]
        loaded = datasets.load_dataset("json", data_files=file, split="train", cache_dir=cache)
        assert loaded["id"][:] == [line["id"] for line in lines], file
        read[os.path.basename(file)] = loaded.num_rows
print(json.dumps({"rows": len(rows), "by": by, "configs": configs, "exports": read}))
