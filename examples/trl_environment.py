"""Diorama's tasks for TRL's GRPOTrainer: a class for each world, as its `environment_factory` takes them.

    from trl import GRPOConfig, GRPOTrainer
    from trl_environment import environments

    factories, rows = environments("http://127.0.0.1:8080", split="train")
    trainer = GRPOTrainer(model="...", environment_factory=factories, train_dataset=Dataset.from_list(rows),
                          args=GRPOConfig(...))

TRL fixes the tools of a class before it knows the task, so a class has every tool that a task of its world can come to call
(`GET /v1/sessions/{id}/tools`). A task in which APIs have to be searched for still refuses what no search has shown yet, and says so.
Needs `requests`; written for TRL 1.16, whose interface is experimental.
"""

import inspect
import json
import keyword
import os
import re

import requests

KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
FINISH = "finish"


class World:
    """What the classes of all worlds share. Methods with an underscore are no tools."""

    _server = ""
    _control = {}

    def __init__(self):
        self._session = None
        self._grade = None

    def reset(self, task, **_):
        """Begins a task, and tells what its first `finish` asks for; TRL appends that to the user's words."""
        self._close()
        made = self._post("/v1/sessions", {"task": task}, self._control)
        self._session, self._grade = f"/v1/sessions/{made['id']}", None
        shown = requests.get(f"{self._server}{self._session}/task", timeout=120).json()
        return asks(next(tool for tool in shown["tools"] if tool["function"]["name"] == FINISH))

    def get_reward(self):
        """1 for a solved task, 0 for one that is not, and nothing where the environment is to blame: TRL leaves that out."""
        if self._grade is None:
            self._grade = self._post(f"{self._session}/grade", {}, self._control)
        return None if self._grade["excluded"] else self._grade["reward"]

    def ask_user(self, question: str) -> str:
        """Asks the user for something that they have not told.

        Args:
            question: The question.
        """
        heard = self._post(f"{self._session}/messages", {"content": question})
        return heard["content"] or "The user has nothing more to say."

    def finish(
        self, outcome: str, facts: dict | None = None, reason: str | None = None, about: str | None = None, message: str = ""
    ) -> str:
        """Ends what the user has asked for; they may ask for more.

        Args:
            outcome: "done", "refused" or "need_input".
            facts: What was asked for, by name, in the types and units that were told.
            reason: Of a refusal: "not_found", "conflict", "forbidden", "invalid" or "no_tool".
            about: Of a refusal: the id or name of what was asked for.
            message: What is said to the user.
        """
        given = {"outcome": outcome, "facts": facts, "reason": reason, "about": about, "message": message}
        given = {name: value for name, value in given.items() if value is not None}
        reply = requests.post(f"{self._server}{self._session}/finish", json=given, timeout=120)
        heard = reply.json()
        if not reply.ok:
            return json.dumps(heard)
        if heard["done"]:
            return "The user has nothing more to say."
        return f"{heard['content']}{asks(heard['finish']) if heard.get('finish') else ''}"

    def _call(self, api, arguments):
        given = {name: value for name, value in arguments.items() if value is not None}
        return json.dumps(self._post(f"{self._session}/call", {"api": api, "arguments": given})["body"])

    def _post(self, path, body, headers=None):
        reply = requests.post(f"{self._server}{path}", json=body, headers=headers, timeout=120)
        reply.raise_for_status()
        return reply.json()

    def _close(self):
        if self._session:
            requests.delete(f"{self._server}{self._session}", headers=self._control, timeout=120)


def asks(finish):
    """What an ending asks for, in words that go into the conversation."""
    facts = finish["function"]["parameters"]["properties"]["facts"]
    return f"\n\n(End with `finish`; its facts: {json.dumps(facts.get('properties', {}))})"


def method(function):
    """A tool as a method: its signature and docstring are what TRL makes its schema from."""
    name, schema = function["name"], function.get("parameters") or {}
    required, lines, named = schema.get("required", []), [], {}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    given = sorted(schema.get("properties", {}).items(), key=lambda entry: entry[0] not in required)
    for original, declared in given:
        plain = re.sub(r"\W", "_", original)
        plain = f"{plain}_" if keyword.iskeyword(plain) else plain
        named[plain] = original
        kind = declared.get("type", "string")
        kind = KINDS[next((each for each in kind if each != "null"), "string") if isinstance(kind, list) else kind]
        told = " ".join([declared.get("description", ""), f"One of {declared['enum']}." if "enum" in declared else ""])
        lines.append(f"    {plain}: {told.strip() or original}")
        must = original in required
        parameters.append(
            inspect.Parameter(
                plain,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if must else None,
                annotation=kind if must else kind | None,
            )
        )

    def tool(self, **arguments):
        return self._call(name, {named.get(plain, plain): value for plain, value in arguments.items()})

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = "\n".join([function.get("description", name), "", "Args:" if lines else "", *lines])
    tool.__signature__ = inspect.Signature(parameters, return_annotation=str)
    tool.__annotations__ = {each.name: each.annotation for each in parameters[1:]} | {"return": str}
    return tool


def environments(server, split=None, limit=1000):
    """A class for each world by its name, and a row for each task: `prompt`, `environment`, `task`."""
    token = os.environ.get("DIORAMA_CONTROL_TOKEN")
    control = {"Diorama-Token": token} if token else {}
    listed = requests.get(f"{server}/v1/tasks", params={"limit": limit}, headers=control, timeout=120)
    listed.raise_for_status()
    classes, rows = {}, []
    for task in listed.json()["tasks"]:
        if split and task["split"] != split:
            continue
        made = requests.post(f"{server}/v1/sessions", json={"task": task["id"]}, headers=control, timeout=120).json()
        session = f"{server}/v1/sessions/{made['id']}"
        shown = requests.get(f"{session}/task", timeout=120).json()
        tools = requests.get(f"{session}/tools", headers=control, timeout=120).json()["tools"]
        requests.delete(session, headers=control, timeout=120)
        world = classes.setdefault(task["world"], type(f"World_{len(classes)}", (World,), {}))
        world._server, world._control = server, control
        for tool in tools:
            if tool["function"]["name"] != FINISH and not hasattr(world, tool["function"]["name"]):
                setattr(world, tool["function"]["name"], method(tool["function"]))
        prompt = [{"role": "system", "content": shown["system"]}, {"role": "user", "content": shown["user"]}]
        rows.append({"prompt": prompt, "environment": task["world"], "task": task["id"]})
    return classes, rows
