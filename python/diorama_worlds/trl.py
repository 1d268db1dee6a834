"""Diorama's tasks for TRL's GRPOTrainer: a class for each world, as its `environment_factory` takes them.

    factories, rows = environments("http://127.0.0.1:8080", split="train")      # docs/how-to/grpo-trl.md has the whole

TRL fixes the tools of a class before it knows the task, so a class has every tool that a task of its world can come to call
(`GET /v1/sessions/{id}/tools`). A task in which APIs have to be searched for still refuses what no search has shown yet, and says so.
Written for TRL 1.16, whose interface is experimental.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Callable
from typing import Any

from ._sessions import Client, Session

KINDS: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
FINISH = "finish"


class World:
    """What the classes of all worlds share. Methods with an underscore are no tools."""

    _server = ""
    _token: str | None = None

    def __init__(self) -> None:
        self._client = Client(self._server, self._token)
        self._session: Session | None = None
        self._grade: dict[str, Any] | None = None

    def reset(self, task: str, **_: Any) -> str:
        """Begins a task, and tells what its first `finish` asks for; TRL appends that to the user's words."""
        if self._session:
            self._session.close()
        self._session, self._grade = Session(self._client, task), None
        return asks(next(tool for tool in self._session.task()["tools"] if tool["function"]["name"] == FINISH))

    def get_reward(self) -> float | None:
        """1 for a solved task, 0 for one that is not, and nothing where the environment is to blame: TRL leaves that out."""
        if self._grade is None:
            self._grade = self._held().grade()
            self._held().close()
        return None if self._grade["excluded"] else self._grade["reward"]

    def ask_user(self, question: str) -> str:
        """Asks the user for something that they have not told.

        Args:
            question: The question.
        """
        called = self._held().call("ask_user", {"question": question})
        if called["status"] >= 400:
            return json.dumps(called["body"])
        return called["body"]["content"] or "The user has nothing more to say."

    def finish(
        self, outcome: str, facts: dict | None = None, reason: str | None = None, about: str | None = None, message: str = ""
    ) -> str:
        """Ends what the user has asked for; they may ask for more.

        Args:
            outcome: "done" or "refused".
            facts: What was asked for, by name, in the types and units that were told.
            reason: Of a refusal: "not_found", "conflict", "forbidden", "invalid" or "no_tool".
            about: Of a refusal: the id or name of what was asked for.
            message: What is said to the user.
        """
        given = {"outcome": outcome, "facts": facts, "reason": reason, "about": about, "message": message}
        called = self._held().call(FINISH, {name: value for name, value in given.items() if value is not None})
        if called["status"] >= 400:
            return json.dumps(called["body"])
        if called["body"]["done"]:
            return "The user has nothing more to say."
        return f"{called['body']['content']}{asks(called['body']['finish']) if called['body'].get('finish') else ''}"

    def _call(self, api: str, arguments: dict[str, Any]) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        return json.dumps(self._held().call(api, given)["body"])

    def _held(self) -> Session:
        if self._session is None:
            raise RuntimeError("found no episode, expected `reset` before the first call")
        return self._session


# TRL reads annotations as types.
for _method in (World.ask_user, World.finish):
    _method.__annotations__ = inspect.get_annotations(_method, eval_str=True)


def asks(finish: dict[str, Any]) -> str:
    """What an ending asks for, in words that go into the conversation."""
    facts = finish["function"]["parameters"]["properties"]["facts"]
    return f"\n\n(End with `finish`; its facts: {json.dumps(facts.get('properties', {}))})"


def method(function: dict[str, Any]) -> Callable[..., str]:
    """A tool as a method: its signature and docstring are what TRL makes its schema from."""
    name, schema = function["name"], function.get("parameters") or {}
    required, lines, named = schema.get("required", []), [], {}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for original, declared in sorted(schema.get("properties", {}).items(), key=lambda entry: entry[0] not in required):
        plain = re.sub(r"\W", "_", original)
        plain = f"{plain}_" if keyword.iskeyword(plain) else plain
        named[plain] = original
        kind = declared.get("type", "string")
        kind = KINDS[next((each for each in kind if each != "null"), "string") if isinstance(kind, list) else kind]
        told = " ".join([declared.get("description", ""), f"One of {declared['enum']}." if "enum" in declared else ""])
        lines.append(f"    {plain}: {told.strip() or original}")
        must = original in required
        default, annotation = (inspect.Parameter.empty, kind) if must else (None, kind | None)
        parameters.append(inspect.Parameter(plain, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))

    def tool(self: World, **arguments: Any) -> str:
        return self._call(name, {named.get(plain, plain): value for plain, value in arguments.items()})

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = "\n".join([function.get("description", name), "", "Args:" if lines else "", *lines])
    tool.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    tool.__annotations__ = {each.name: each.annotation for each in parameters[1:]} | {"return": str}
    return tool


def environments(server: str, split: str | None = None, token: str | None = None) -> tuple[dict[str, type], list[dict[str, Any]]]:
    """A class for each world by its name, and a row for each task: `prompt`, `environment`, `task`."""
    client = Client(server, token)
    classes: dict[str, type] = {}
    rows = []
    for task in client.tasks(split):
        session = Session(client, task["id"])
        shown, tools = session.task(), session.reachable_tools()
        session.close()
        world = classes.setdefault(task["world"], type(f"World_{len(classes)}", (World,), {"_server": server, "_token": token}))
        for function in (tool["function"] for tool in tools):
            if function["name"] != FINISH and not hasattr(world, function["name"]):
                setattr(world, function["name"], method(function))
        prompt = [{"role": "system", "content": shown["system"]}, {"role": "user", "content": shown["user"]}]
        rows.append({"prompt": prompt, "environment": task["world"], "task": task["id"]})
    return classes, rows
