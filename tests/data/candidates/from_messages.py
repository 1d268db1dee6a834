#!/usr/bin/env python3
"""Turns a dialogue of chat messages into a candidate: from_messages.py MESSAGES.json WORLD > CANDIDATE.json"""
import json
import sys


def leaves(body, path=""):
    if isinstance(body, dict):
        for name, member in body.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(body, list):
        for place, item in enumerate(body):
            yield from leaves(item, f"{path}[{place}]")
    else:
        yield path, body


def claims(words, replies):
    """Values of the goal's last reply that the final message repeats."""
    call, body = replies[-1]
    for path, value in leaves(body):
        told = str(value).replace("_", " ")
        if not isinstance(value, bool) and len(told) > 2 and told.lower() in words.lower():
            yield {"call": call, "path": path}


def convert(messages, world):
    goals, replies, calls, status = [], [], 0, 200
    for place, message in enumerate(messages):
        role, words = message["role"], message.get("content")
        if role == "user":
            asked = goals and goals[-1]["turns"] and "ends" not in goals[-1]["turns"][-1]
            if asked:
                goals[-1].setdefault("withheld", {})[f"detail {place}"] = words
                goals[-1]["turns"].append({"user": words})
            else:
                goals.append({"user": words, "turns": []})
                replies = []
        elif role == "assistant":
            turn = {"say": words} if words else {}
            if message.get("tool_calls"):
                turn["calls"] = [{"api": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
                                 for call in message["tool_calls"]]
            elif not words.rstrip().endswith("?"):
                facts = list(claims(words, replies)) if replies and status < 400 else []
                turn["ends"] = {"outcome": "done" if status < 400 else "refused", "facts": facts}
            goals[-1]["turns"].append(turn)
        elif role == "tool":
            body = json.loads(message["content"])
            status = body.get("status", 200) if isinstance(body.get("status"), int) else 200
            replies.append((calls, body))
            calls += 1
    return {"candidate": 1, "world": world, "goals": goals}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        json.dump(convert(json.load(file), sys.argv[2]), sys.stdout, indent=1, ensure_ascii=False)
    print()
