"""Uses the classes of `diorama_worlds.trl` as TRL's GRPOTrainer 1.16 does: instances from the factories, tools from the
functions of the class, schemas from `transformers`, `reset` with the row's members, `get_reward` once.

Arguments: the server's URL. Standard input: JSON, task to its steps, each [name, arguments]. Prints JSON.
"""

import inspect
import json
import sys
from pathlib import Path

from transformers.utils import get_json_schema

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from diorama_worlds.trl import environments  # noqa: E402

wanted = json.load(sys.stdin)
factories, rows = environments(sys.argv[1])
seen = {"environments": len(factories), "rows": len(rows), "rewards": {}, "idle": {}, "schemas": {}, "asked": []}
pool = {name: factory() for name, factory in factories.items()}
for name, instance in pool.items():
    members = inspect.getmembers(type(instance), predicate=inspect.isfunction)
    names = [name for name, _ in members if name not in ("reset", "get_reward") and not name.startswith("_")]
    for tool in names:
        schema = get_json_schema(getattr(instance, tool))["function"]
        seen["schemas"].setdefault(name, {})[tool] = schema["parameters"]
for row in rows:
    instance = pool[row["environment"]]
    given = {name: value for name, value in row.items() if name != "environment"}
    seen["asked"].append(instance.reset(**given))
    seen["idle"][row["task"]] = instance.get_reward()
    if row["task"] in wanted:
        instance.reset(**given)
        for tool, arguments in wanted[row["task"]]:
            assert isinstance(getattr(instance, tool)(**arguments), str)
        seen["rewards"][row["task"]] = instance.get_reward()
print(json.dumps(seen))
