"""verl's own ToolAgentLoop and its parser of calls, under the adapter, by recorded steps; tokens are the bytes of texts.

Prints a JSON object.
"""

import argparse
import asyncio
import json
import types

import scripted
import stand_ins

stand_ins.install(
    "accelerate", "cachetools", "datasets", "pandas", "fastapi", "uvicorn", "peft", "psutil", "ray", "tensordict", "torch", "torch_npu", "torchdata", "transformers"
)

from verl.experimental.agent_loop import agent_loop
from verl.utils.tokenizer.continuous_token import ContinuousTokenBuilder, MergeResult
from verl.workers.rollout.replica import TokenOutput

from diorama_worlds.verl import DioramaAgentLoop

LIMIT = 1_000_000


class Bytes:
    """Texts as bytes, in the place of verl's tokenizer."""

    def decode(self, ids, **_):
        return bytes(ids).decode()


class Builder(ContinuousTokenBuilder):
    """verl's joining of messages, with the bytes of JSON for a chat template."""

    def __init__(self):
        pass

    def build_initial_tokens(self, messages, tools=None, **_):
        return list(json.dumps([messages, tools]).encode())

    def merge_context_tokens(self, before, after, so_far, tools=None):
        added = list(json.dumps(after[len(before):]).encode())
        return MergeResult([*so_far, *added], len(added))


class Model:
    """Says the recorded calls, `together` of them at a time, and then nothing more."""

    def __init__(self, calls, together):
        self.turns = [calls[at : at + together] for at in range(0, len(calls), together)]

    async def generate(self, **_):
        turn = self.turns.pop(0) if self.turns else []
        said = "".join(f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>" for name, given in turn)
        return TokenOutput(token_ids=list((said or "Done.").encode()))


class Settings(types.SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


def loop(server, model):
    turns = Settings(
        max_user_turns=None, max_assistant_turns=None, max_parallel_calls=LIMIT, max_tool_response_length=LIMIT,
        tool_response_truncate_side="middle", format="hermes",
    )
    rollout = Settings(multi_turn=turns, prompt_length=LIMIT, response_length=LIMIT, full_determinism=False)
    config = Settings(actor_rollout_ref=Settings(rollout=rollout))
    return DioramaAgentLoop(
        agent_loop.DictConfigWrap(config), model, Bytes(), None, None, agent_loop.DictConfigWrap(Settings()), server=server, name="diorama"
    )


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--server", required=True)
    options.add_argument("--episodes", required=True)
    options = options.parse_args()
    agent_loop.create_continuous_token_builder = lambda *_, **__: Builder()
    recorded = scripted.steps(options.episodes)

    async def play(task, record, calls, together=1):
        row = {"raw_prompt": [], "extra_info": {"id": task, "seed": int(record["seed"])}}
        output = await loop(options.server, Model(calls, together)).run({}, **row)
        assert len(output.response_ids) == len(output.response_mask), task
        return output

    # Calls that are made together are made in their order.
    played = await asyncio.gather(*[play(task, record, record["calls"]) for task, record in recorded.items()])
    joined = await asyncio.gather(*[play(task, record, record["calls"], LIMIT) for task, record in recorded.items()])
    idle = await asyncio.gather(*[play(task, record, []) for task, record in recorded.items()])
    print(json.dumps({
        "played": [output.reward_score for output in played], "joined": [output.reward_score for output in joined],
        "idle": [output.reward_score for output in idle],
        "learned": sum(sum(output.response_mask) for output in played) > 0,
        "info": played[0].extra_fields["reward_extra_info"],
    }))


if __name__ == "__main__":
    asyncio.run(main())
