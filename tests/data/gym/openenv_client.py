"""OpenEnv's own clients against a served dataset: episodes over `/ws` by recorded steps, errors, sessions of the Model Context
Protocol, and the graders of OpenEnv's validation on a measured episode.

Prints a JSON object.
"""

import argparse
import asyncio
import json

import pages
import requests
import scripted
from openenv import GenericEnvClient
from openenv.core import CallToolAction, MCPToolClient
from openenv.validation.graders.runtime.basic import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from websockets.asyncio.client import connect


async def play(url, task, record, calls):
    """The rewards of an episode, and whether it was done."""
    async with GenericEnvClient(base_url=url) as env:
        result = await env.reset(id=task, seed=record["seed"], episode_id=task)
        rewards, tools = [], {tool["name"] for tool in result.observation["available_tools"]}
        for name, arguments in calls:
            assert not result.done
            result = await env.step({"type": "call_tool", "tool_name": name, "arguments": arguments})
            rewards.append(result.reward)
        state = await env.state()
        assert state["episode_id"] == task and state["step_count"] == len(calls), state
        return {"reward": sum(rewards), "done": result.done, "finish": "finish" in tools}


async def errors(url):
    """The codes of errors by what was sent."""
    found = {}
    async with connect(url.replace("http", "ws") + "/ws") as socket:
        for name, message in {
            "no JSON": "{",
            "no object": "7",
            "unknown type": json.dumps({"type": "jump"}),
            "no data": json.dumps({"type": "step"}),
            "wrong action": json.dumps({"type": "step", "data": {"type": "walk"}}),
            "more members": json.dumps({"type": "state", "more": 1}),
            "no episode": json.dumps({"type": "step", "data": {"type": "call_tool", "tool_name": "finish", "arguments": {}}}),
            "no such task": json.dumps({"type": "reset", "data": {"id": "nope"}}),
        }.items():
            await socket.send(message)
            found[name] = json.loads(await socket.recv())["data"]["code"]
        await socket.send(json.dumps({"type": "step", "data": {"type": "list_tools"}}))
        found["tools before a reset"] = [tool["name"] for tool in json.loads(await socket.recv())["data"]["observation"]["tools"]]
        await socket.send(json.dumps({"type": "reset", "data": {"seed": 3}}))
        await socket.recv()
        await socket.send(json.dumps({"type": "step", "data": {"type": "call_tool", "tool_name": "NoSuchTool", "arguments": {}}}))
        found["no such tool"] = json.loads(await socket.recv())["data"]["observation"]["error"]["error_type"]
    async with connect(url.replace("http", "ws") + "/ws?session_id=nope") as socket:
        found["no such session"] = json.loads(await socket.recv())["data"]["code"]
    return found


async def model_context_protocol(url, task, record):
    """The reward of an episode whose tools are called by HTTP in a session that a socket has joined."""
    async with MCPToolClient(base_url=url) as env:
        await env.reset(id=task, seed=record["seed"])
        listed = [tool.name for tool in await env.list_tools(use_cache=False)]
        for name, arguments in record["calls"][:-1]:
            await env.call_tool(name, **arguments)
        name, arguments = record["calls"][-1]
        result = await env.step(CallToolAction(tool_name=name, arguments=arguments))
        return {"reward": result.reward, "done": result.done, "tools": len(listed)}


class Manifest:
    class reward:
        range = (0.0, 1.0)


class Subject:
    manifest = Manifest


def graded(url, task, record):
    """What OpenEnv's own graders say of a measured episode."""
    actions = [{"type": "list_tools"}]
    actions += [{"type": "call_tool", "tool_name": name, "arguments": arguments} for name, arguments in record["calls"]]
    reset = {"episode_id": "measured", "seed": 7, "options": {"id": task}}
    plan = RuntimePlan(plan_schema_version="1", reset=reset, actions=actions)
    subject = Subject()
    subject.runtime_evidence = collect_runtime_evidence(url, plan, episode_timeout_s=30)
    assert subject.runtime_evidence.failure_reason is None, subject.runtime_evidence
    graders = [RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()]
    return {grader.check_id: [(result := grader.run(subject)).status.value, result.evidence] for grader in graders}


def over_http(url, task, record):
    """The reward of an episode over plain HTTP."""
    reset = requests.post(f"{url}/reset", json={"id": task, "seed": record["seed"]}, timeout=30).json()
    episode = reset["metadata"]["episode_id"]
    total, result = 0.0, reset
    for name, arguments in record["calls"]:
        action = {"type": "call_tool", "tool_name": name, "arguments": arguments}
        result = requests.post(f"{url}/step", json={"action": action, "episode_id": episode}, timeout=30).json()
        total += result["reward"]
    state = requests.get(f"{url}/state", params={"episode_id": episode}, timeout=30).json()
    return {"reward": total, "done": result["done"], "state": state["episode_id"] == episode and state["done"] and state["step_count"] == len(record["calls"])}


def as_written(url):
    """What the code of docs/how-to/openenv.md comes to: its last reward, and whether the episode was done."""
    seen = {}
    exec(pages.block("how-to/openenv.md", "python", {"http://127.0.0.1:9001": url}), seen)
    return [seen["result"].reward, seen["result"].done]


def tasks(url):
    """The splits and their counts."""
    splits = requests.get(f"{url}/diorama/splits", timeout=30).json()
    count = lambda name: requests.post(f"{url}/diorama/num_tasks", json={"split": name}, timeout=30).json()["num_tasks"]
    return {split["name"]: count(split["name"]) for split in splits}


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--server", required=True)
    options.add_argument("--episodes", required=True)
    options.add_argument("--limit", type=int, default=50)
    options = options.parse_args()
    recorded = dict(list(scripted.steps(options.episodes).items())[: options.limit])
    gate = asyncio.Semaphore(16)

    async def one(task, record, calls):
        async with gate:
            return await play(options.server, task, record, calls)

    played = await asyncio.gather(*[one(task, record, record["calls"]) for task, record in recorded.items()])
    idle = await asyncio.gather(*[one(task, record, []) for task, record in recorded.items()])
    # `MCPToolClient.call_tool(name, **arguments)` cannot take an argument called `name`.
    fits = lambda record: not any("name" in arguments for _, arguments in record["calls"])
    task, record = next((task, record) for task, record in recorded.items() if fits(record))
    print(json.dumps({
        "played": len(played), "reward": sum(one["reward"] for one in played), "done": sum(one["done"] for one in played),
        "expected": sum(record["reward"] for record in recorded.values()),
        "idle": sum(one["reward"] for one in idle), "finish": all(one["finish"] for one in played),
        "errors": await errors(options.server),
        "mcp": await model_context_protocol(options.server, task, record),
        "http": over_http(options.server, task, record),
        "graders": graded(options.server, task, record),
        "tasks": tasks(options.server),
        "as_written": await asyncio.to_thread(as_written, options.server),
    }))


if __name__ == "__main__":
    asyncio.run(main())
