"""What scripted policies do: the steps of episodes that `diorama eval --out` recorded, as calls of tools."""

import json


def steps(episodes):
    """The calls of each recorded episode by task, and the seed of its session."""
    recorded = {}
    with open(episodes, encoding="utf-8") as lines:
        for line in lines:
            episode = json.loads(line)
            calls = [call for step in episode["steps"] if (call := as_call(step))]
            recorded[episode["task"]] = {"seed": str(episode["seed"]), "calls": calls, "reward": episode["grade"]["reward"]}
    return recorded


def as_call(step):
    """A step as the name of a tool and its arguments; none for notes."""
    if step["step"] == "called":
        return step["api"], step["arguments"]
    if step["step"] == "said":
        return "ask_user", {"question": step["words"]}
    if step["step"] == "finished":
        return "finish", step["end"]
    return None


def rows(file, recorded, limit):
    """The rows of an export, on the seeds of the recorded episodes."""
    with open(file, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    found = [row | {"seed": recorded[row["id"]]["seed"]} for row in found if row["id"] in recorded]
    return found[:limit]
