"""Diorama's tasks as an Inspect task: each sample is a session, whose tools come by the Model Context Protocol.

    inspect eval diorama_worlds/diorama -T server=http://127.0.0.1:8080 -T split=test --model ...

The server is one of `diorama serve --tasks DATASET`; its control token is read from DIORAMA_CONTROL_TOKEN. The score is the server's
grade of the session. Excluded episodes have no score.
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, execute_tools, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import mcp_server_http

from ._sessions import Client, Session

SESSION = "diorama_session"
PATIENCE_SECONDS = 60
GO_ON = "Please go on. When you are done, call `finish`."


@task
def diorama(server: str = "http://127.0.0.1:8080", split: str | None = None, limit: int | None = None, max_turns: int = 60) -> Task:
    """The tasks of a server, of one split or all."""
    listed = list(Client(server).tasks(split))[:limit]
    samples = [Sample(id=one["id"], input=one["id"], metadata={"world": one["world"], "ability": one["ability"]}) for one in listed]
    return Task(dataset=MemoryDataset(samples, name="diorama"), solver=converse(server, max_turns), scorer=graded(server))


@solver
def converse(server: str, max_turns: int) -> Solver:
    """Plays a sample in a session of its own until the user has nothing more to say."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        client = Client(server)
        session = await asyncio.to_thread(Session, client, str(state.sample_id))
        state.store.set(SESSION, session.id)
        shown = await asyncio.to_thread(session.task)
        state.messages = [ChatMessageSystem(content=shown["system"]), ChatMessageUser(content=shown["user"])]
        for _ in range(max_turns):
            # A server of Inspect's keeps its first list of tools; searches and goals bring others.
            tools = await mcp_server_http(name="diorama", url=f"{server}{session.path}/mcp", timeout=PATIENCE_SECONDS).tools()
            state.output = await get_model().generate(state.messages, tools)
            state.messages.append(state.output.message)
            if not state.output.message.tool_calls:
                state.messages.append(ChatMessageUser(content=GO_ON))
                continue
            called = await execute_tools(state.messages, tools)
            state.messages.extend(called.messages)
            if any(over(message) for message in called.messages):
                break
        state.completed = True
        return state

    return solve


def over(message: Any) -> bool:
    """Whether a reply says that the user has nothing more to say."""
    return getattr(message, "function", None) in ("finish", "ask_user") and '"done":true' in message.text.replace(" ", "")


@scorer(metrics=[mean(), stderr()])
def graded(server: str) -> Scorer:
    """The server's grade of a sample's session, which ends with it."""

    async def score(state: TaskState, target: Target) -> Score | None:
        client, session = Client(server), state.store.get(SESSION)
        if session is None:
            return None
        grade = await asyncio.to_thread(client.ask, "POST", f"/v1/sessions/{session}/grade", {})
        await asyncio.to_thread(client.ask, "DELETE", f"/v1/sessions/{session}")
        if grade["excluded"]:
            return None
        told = "; ".join(error["message"] for error in grade["errors"][:3])
        return Score(value=grade["reward"], explanation=told or None, metadata={"components": grade["components"], "grader": grade["version"]})

    return score
