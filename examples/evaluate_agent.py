"""An agent in plain HTTP: it asks a model, calls the world's APIs, and answers the user until the user has nothing more to say.

    diorama serve --tasks DATASET --open
    python evaluate_agent.py --server http://127.0.0.1:8080 --base-url http://127.0.0.1:8000 --model NAME --tasks 20

Needs `requests` and nothing else. The model's server speaks the protocol of OpenAI's chat completions.
"""

import argparse
import json
import os

import requests


def post(url, body, headers=None):
    reply = requests.post(url, json=body, headers=headers, timeout=120)
    reply.raise_for_status()
    return reply.json()


def run(server, task, ask, control, most=40):
    """Plays one task to its end and returns its grade. `ask(messages, tools)` gives the model's next message."""
    made = post(f"{server}/v1/sessions", {"task": task}, control)
    session = f"{server}/v1/sessions/{made['id']}"
    shown = requests.get(f"{session}/task", timeout=120).json()
    messages = [{"role": "system", "content": shown["system"]}, {"role": "user", "content": shown["user"]}]
    tools = {tool["function"]["name"]: tool for tool in shown["tools"]}
    done = False
    for _ in range(most):
        message = ask(messages, list(tools.values()))
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:  # Words to the user, who answers from what they hold back.
            heard = post(f"{session}/messages", {"content": message.get("content") or ""})
            done = heard["done"]
            messages.append({"role": "user", "content": heard["content"] or ""})
        for call in calls:
            name, result = call["function"]["name"], None
            try:
                arguments = json.loads(call["function"]["arguments"] or "{}")
            except ValueError as error:
                arguments, result = {}, {"error": f"the arguments are no JSON: {error}"}
            if result is None and name == "finish":  # Ends the goal; the user opens the next, or is done.
                reply = requests.post(f"{session}/finish", json=arguments, timeout=120)
                result = reply.json()  # An ending that is refused says why, and the goal stays open.
                done = reply.ok and result["done"]
                if reply.ok and result.get("finish"):
                    tools["finish"] = result["finish"]  # The next goal asks for other facts.
            elif result is None:
                result = post(f"{session}/call", {"api": name, "arguments": arguments})
                found = result["body"].get("tools") if name == "ToolSearcher" and result["status"] == 200 else None
                for function in found or []:  # What a search shows may be called from now on.
                    tools[function["name"]] = {"type": "function", "function": function}
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
        if done:
            break
    return post(f"{session}/grade", {}, control)


def chat(base_url, model):
    """Asks a server of chat completions."""
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def ask(messages, tools):
        body = {"model": model, "messages": messages, "tools": tools, "temperature": 0}
        return post(f"{base_url}/v1/chat/completions", body, headers)["choices"][0]["message"]

    return ask


def listed(server, control):
    """The tasks of the server, page by page."""
    offset, total = 0, 1
    while offset < total:
        reply = requests.get(f"{server}/v1/tasks", params={"limit": 1000, "offset": offset}, headers=control, timeout=120)
        if reply.status_code == 401:
            raise SystemExit("the server asks for its token: set DIORAMA_CONTROL_TOKEN to what `diorama serve` printed")
        reply.raise_for_status()
        page = reply.json()
        yield from page["tasks"]
        offset, total = offset + 1000, page["total"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="http://127.0.0.1:8080", help="diorama serve --tasks")
    parser.add_argument("--base-url", required=True, help="URL of the model's server, without /v1")
    parser.add_argument("--model", required=True)
    parser.add_argument("--split", default="test", help="split of the tasks: train or test")
    parser.add_argument("--tasks", type=int, default=20, help="maximum tasks")
    asked = parser.parse_args()
    token = os.environ.get("DIORAMA_CONTROL_TOKEN")
    control = {"Diorama-Token": token} if token else {}
    tasks = [task["id"] for task in listed(asked.server, control) if task["split"] == asked.split][: asked.tasks]
    if not tasks:
        raise SystemExit(f"found no tasks of the split {asked.split}; generate 500 dialogues or more, or give --split train")
    ask, counted = chat(asked.base_url, asked.model), []
    for task in tasks:
        grade = run(asked.server, task, ask, control)
        if not grade["excluded"]:  # An excluded episode failed beside a fault of the environment, and says nothing.
            counted.append(grade["reward"])
        print(json.dumps({"task": task, "reward": grade["reward"], "excluded": grade["excluded"]}), flush=True)
    print(json.dumps({"episodes": len(counted), "success": sum(counted) / max(1, len(counted))}))


if __name__ == "__main__":
    main()
