"""Writes a world of 1,000 written-out records as YAML, or the same records as json-server's database."""

import json
import sys

items = [
    {"id": n, "name": f"Item {n}", "price": round(1 + n * 0.37 % 90, 2), "stock": n % 50, "kind": ["food", "tool", "toy"][n % 3]}
    for n in range(1, 1001)
]
if sys.argv[1] == "json-server":
    print(json.dumps({"items": items}))
else:
    fields = {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "price": {"type": "number", "min": 0},
        "stock": {"type": "integer", "min": 0},
        "kind": {"enum": ["food", "tool", "toy"]},
    }
    like = {name: {"like": f"thing.{name}"} for name in ("name", "price", "stock", "kind")}
    world = {
        "world": 1,
        "name": "items",
        "materialised": 0,
        "clock": "2026-03-02T09:00",
        "domain": {"name": "items", "title": "Items"},
        "resources": {"thing": {"key": "id", "display": "name", "fields": fields, "records": items}},
        "apis": [
            {"name": "GetItem", "method": "GET", "path": "/items/{id}", "description": "Gets an item.", "parameters": {"id": {"ref": "thing"}}, "behaviour": {"get": "thing"}},
            {"name": "ListItems", "method": "GET", "path": "/items", "description": "Lists items.", "behaviour": {"list": "thing"}},
            {"name": "AddItem", "method": "POST", "path": "/items", "description": "Adds an item.", "parameters": like, "behaviour": {"create": "thing"}},
            {"name": "SetStock", "method": "PATCH", "path": "/items/{id}", "description": "Changes an item.", "parameters": {"id": {"ref": "thing"}, "stock": {"like": "thing.stock"}}, "behaviour": {"patch": "thing"}},
        ],
    }
    # JSON is YAML.
    print(json.dumps(world))
