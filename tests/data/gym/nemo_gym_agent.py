"""NeMo Gym's own `simple_agent` over a served dataset, with a scripted policy in the place of the model.

Prints a JSON object: the rewards by task of the policy that repeats recorded episodes, and of one that does nothing; what
`/aggregate_metrics` makes of them, beside what NeMo Gym's own code makes of them; and what a stored rollout's second `/verify` gives.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import threading
import time

import aiohttp
import uvicorn
from fastapi import FastAPI
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.reward_profile import compute_aggregate_metrics
from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, ServerClient, set_global_aiohttp_client
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

import scripted

HOST = "127.0.0.1"


def policy(recorded, prompts):
    """A model server whose replies are the recorded calls, one after the other; after the last one, words."""
    app = FastAPI()

    @app.post("/v1/responses")
    async def respond(body: dict):
        given = [item for item in body["input"] if item.get("type", "message") == "message"]
        key = json.dumps([given[0]["content"], given[1]["content"]])
        done = sum(item.get("type") == "function_call" for item in body["input"])
        calls = recorded[prompts[key]]["calls"] if body.get("metadata") != {"policy": "idle"} else []
        if done < len(calls):
            name, arguments = calls[done]
            offered = {tool["name"] for tool in body["tools"]}
            if name not in offered:
                name, arguments = "call_api", {"name": name, "arguments": arguments}
            assert name in offered, f"{name} is not among {sorted(offered)}"
            item = {"type": "function_call", "call_id": f"c{done}", "name": name, "arguments": json.dumps(arguments)}
        else:
            text = {"type": "output_text", "text": "Done.", "annotations": []}
            item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
        return {
            "id": "r", "created_at": 0, "model": "scripted", "object": "response", "output": [item],
            "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        }

    return app


def serve(app):
    """Serves an app on a free port, in a thread."""
    bound = socket.socket()
    bound.bind((HOST, 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True).start()
    while not server.started:
        time.sleep(0.02)
    return bound.getsockname()[1]


def agent(resources_port, model_port):
    """NeMo Gym's agent, configured as its command configures it."""
    ports = {}
    for name, kind, port in [("diorama", "resources_servers", resources_port), ("policy_model", "responses_api_models", model_port)]:
        ports[name] = {kind: {name: {"entrypoint": "app.py", "host": HOST, "port": port}}}
    free = socket.socket()
    free.bind((HOST, 0))
    own = free.getsockname()[1]
    ports["diorama_simple_agent"] = {"responses_api_agents": {"simple_agent": {"entrypoint": "app.py", "host": HOST, "port": own}}}
    client = ServerClient(head_server_config=BaseServerConfig(host=HOST, port=11000), global_config_dict=OmegaConf.create(ports))
    config = SimpleAgentConfig(
        name="diorama_simple_agent", host=HOST, port=own, entrypoint="app.py",
        resources_server={"type": "resources_servers", "name": "diorama"},
        model_server={"type": "responses_api_models", "name": "policy_model"},
    )
    app = SimpleAgent(config=config, server_client=client).setup_webserver()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))

    def run():
        # The agent's requests go through one client, which belongs to the loop of its server.
        async def start():
            set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
            await server.serve(sockets=[free])

        asyncio.run(start())

    threading.Thread(target=run, daemon=True).start()
    while not server.started:
        time.sleep(0.02)
    return f"http://{HOST}:{own}"


async def rollouts(url, rows, metadata):
    """The agent's results for all rows, sixteen at a time."""
    gate = asyncio.Semaphore(16)

    async def one(session, number, row):
        body = row | {"_ng_task_index": number, "_ng_rollout_index": 0}
        body["responses_create_params"] = row["responses_create_params"] | ({"metadata": metadata} if metadata else {})
        async with gate, session.post(f"{url}/run", json=body) as reply:
            text = await reply.text()
            assert reply.status == 200, text
            return body | json.loads(text)

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(300)) as session:
        return await asyncio.gather(*[one(session, number, row) for number, row in enumerate(rows)])


async def post(url, body):
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
        return await reply.json()


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--server", required=True)
    options.add_argument("--rows", required=True)
    options.add_argument("--episodes", required=True)
    options.add_argument("--limit", type=int, default=50)
    options = options.parse_args()
    recorded = scripted.steps(options.episodes)
    rows = scripted.rows(options.rows, recorded, options.limit)
    prompts = {json.dumps([m["content"] for m in row["responses_create_params"]["input"][:2]]): row["id"] for row in rows}
    port = int(options.server.rsplit(":", 1)[1])
    url = agent(port, serve(policy(recorded, prompts)))
    results = {name: await rollouts(url, rows, metadata) for name, metadata in [("oracle", None), ("idle", {"policy": "idle"})]}
    stripped = [
        {key: value for key, value in result.items() if key not in ("response", "responses_create_params")}
        for result in results["oracle"] + results["idle"]
    ]
    for number, result in enumerate(stripped):
        result["_ng_rollout_index"] = number // len(rows)
    metrics = await post(f"{url}/aggregate_metrics", {"verify_responses": stripped})
    theirs = compute_aggregate_metrics(stripped)
    again = [await post(f"{options.server}/verify", result) for result in results["oracle"][:10]]
    print(json.dumps({
        "rewards": {name: {result["id"]: result["reward"] for result in found} for name, found in results.items()},
        "components": {name: [result["reward_components"] for result in found][:2] for name, found in results.items()},
        "expected": {row["id"]: recorded[row["id"]]["reward"] for row in rows},
        "key_metrics": metrics["key_metrics"],
        "same_metrics": metrics["agent_metrics"] == theirs.agent_metrics,
        "differing": {k: [v, theirs.agent_metrics.get(k)] for k, v in metrics["agent_metrics"].items() if theirs.agent_metrics.get(k) != v},
        "missing": sorted(set(theirs.agent_metrics) - set(metrics["agent_metrics"])),
        "again": {result["id"]: result["reward"] for result in again},
    }))


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.flush()
    # NeMo Gym closes its client at exit in a loop that is not the client's own.
    os._exit(0)
