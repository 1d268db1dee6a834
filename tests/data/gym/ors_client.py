"""The Open Reward Standard's own client against a served dataset, by recorded steps.

Prints a JSON object.
"""

import argparse
import asyncio
import json

import scripted
from openreward import AsyncOpenReward
from openreward.api.environments.types import Task
from openreward.api.errors import ToolCallError


async def play(env, task, record, calls):
    """The rewards of an episode, and how it ended."""
    spec = {"id": task, "seed": record["seed"]}
    asked = Task(server_name=env.server, environment_name="diorama", task_spec=spec, namespace=None)
    async with env.session(task=asked) as session:
        prompt = await session.get_prompt()
        messages = await session.get_messages(format="openai")
        assert [block.text for block in prompt] == [message["content"] for message in messages]
        tools = {tool.name for tool in await session.list_tools()}
        output, rewards = None, []
        for name, arguments in calls:
            output = await session.call_tool(name, arguments)
            json.loads(output.blocks[0].text)
            rewards.append(output.reward)
        finished = bool(output and output.finished)
        after = None
        if finished:
            try:
                await session.call_tool("ask_user", {"question": "More?"})
            except ToolCallError as error:
                after = error.reason
        return {"rewards": rewards, "finished": finished, "after": after, "finish": "finish" in tools}


async def refused(env, task):
    """The reasons of calls that are none."""
    found = {}
    asked = Task(server_name=env.server, environment_name="diorama", task_spec={"id": task}, namespace=None)
    async with env.session(task=asked) as session:
        try:
            await session.call_tool("NoSuchTool", {})
        except ToolCallError as error:
            found["no such tool"] = error.reason
        output = await session.call_tool("finish", {"outcome": "maybe"})
        found["no such outcome"] = output.metadata["status"]
        # Clients that fill in every parameter send those that were not given as null.
        output = await session.call_tool("ask_user", {"question": None})
        found["null"] = output.metadata["status"]
    return found


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--server", required=True)
    options.add_argument("--episodes", required=True)
    options.add_argument("--limit", type=int, default=50)
    options = options.parse_args()
    recorded = dict(list(scripted.steps(options.episodes).items())[: options.limit])
    client = AsyncOpenReward(api_key="unused", base_url=options.server)
    env = client.environments.get("env", base_url=options.server)
    splits = await env.list_splits()
    count = await env.num_tasks(splits[0])
    first = await env.get_task(splits[0], 0)
    last = await env.get_task_range(splits[0], -1)
    shared = [tool.name for tool in await env.list_tools()]
    gate = asyncio.Semaphore(8)

    async def one(task, record, calls):
        async with gate:
            return await play(env, task, record, calls)

    played = await asyncio.gather(*[one(task, record, record["calls"]) for task, record in recorded.items()])
    idle = await asyncio.gather(*[one(task, record, []) for task, record in recorded.items()])
    async with env.session(split=splits[0], index=0) as session:
        by_index = (await session.get_prompt())[1].text
    print(json.dumps({
        "splits": splits, "tasks": count, "first": first.task_spec, "last": [task.task_spec["index"] for task in last], "shared": shared,
        "played": len(played), "reward": sum(one["rewards"][-1] or 0 for one in played),
        "early": sum(reward is not None for one in played for reward in one["rewards"][:-1]),
        "finished": sum(one["finished"] for one in played), "after": sorted({one["after"] for one in played}),
        "expected": sum(record["reward"] for record in recorded.values()),
        "idle": sum(one["finished"] for one in idle), "finish": all(one["finish"] for one in played),
        "refused": await refused(env, next(iter(recorded))), "by_index": by_index,
    }))
    await client.environments.aclose()


if __name__ == "__main__":
    asyncio.run(main())
