"""Loads a dataset and its exports with the libraries that trainers use. Usage: load.py DATASET EXPORTS.

Prints {"rows": n, "by": {library: rows}, "exports": {file: rows}} when everything agrees; fails where it does not.
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
    read = {}
    for file in sorted(glob.glob(os.path.join(exports, "*.jsonl"))):
        lines = [json.loads(line) for line in open(file, encoding="utf-8")]
        loaded = datasets.load_dataset("json", data_files=file, split="train", cache_dir=cache)
        assert loaded["id"][:] == [line["id"] for line in lines], file
        read[os.path.basename(file)] = loaded.num_rows
print(json.dumps({"rows": len(rows), "by": by, "exports": read}))
