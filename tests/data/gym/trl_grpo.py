"""TRL's GRPOTrainer for two steps on served tasks: by `diorama_worlds.trl`, and by its own OpenRewardSpec.

The model is tiny, random and on the CPU. Of each group one rollout plays the recorded steps and the others what the model says, so that
rewards differ and the steps learn. Arguments: the server, its port of ORS, recorded episodes, a folder. Prints a JSON object.
"""

import json
import os
import sys
from pathlib import Path

server, ors, episodes, folder = sys.argv[1:]
os.environ |= {"HF_HUB_OFFLINE": "1", "OPENREWARD_API_URL": ors, "OPENREWARD_SESSION_URL": ors, "OPENREWARD_API_KEY": "none"}

import diorama_worlds.trl  # noqa: E402
import pages  # noqa: E402
import requests  # noqa: E402
import scripted  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from diorama_worlds._sessions import Session  # noqa: E402
from tiny_model import tiny, tokenizer  # noqa: E402
from transformers import Qwen3ForCausalLM  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from trl.experimental.openreward import OpenRewardSpec  # noqa: E402

STEPS, GROUP, TASKS = 2, 4, 4
recorded = scripted.steps(episodes)


def seeded(client, task):
    """A session on the seed of the recorded episode."""
    return Session(client, task, int(recorded[task]["seed"]))


diorama_worlds.trl.Session = seeded


class Player(Qwen3ForCausalLM):
    """A model whose first rollout of each group makes the recorded calls; the others say what the model draws."""

    def generate(self, input_ids, **options):
        drawn = super().generate(input_ids=input_ids, **options)
        rows = [self.said(text) if self.plays(text, row) else drawn[row, input_ids.shape[1]:].tolist()
                for row, text in enumerate(self.words.batch_decode(input_ids))]
        longest = max(map(len, rows))
        rows = [row + [self.words.pad_token_id] * (longest - len(row)) for row in rows]
        return torch.cat([input_ids, torch.tensor(rows, dtype=torch.long)], dim=1)

    def plays(self, text, row):
        return "<tool_response>" in text or row % GROUP == 0

    def said(self, text):
        """The recorded call that a conversation has come to."""
        calls = next(calls for opening, calls in self.played.items() if opening in text)
        done = text.count("<tool_response>")
        said = "Done."
        if done < len(calls):
            name, arguments = calls[done]
            said = f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
        return self.words(said).input_ids + [self.words.eos_token_id]


def train(name, factory, rows, words, played, rewards=None):
    """The rewards and losses of the steps."""
    torch.manual_seed(0)
    model = Player(tiny(words))
    model.words, model.played = words, played
    before = model.lm_head.weight.detach().clone()
    arguments = GRPOConfig(
        output_dir=str(Path(folder) / name), max_steps=STEPS, per_device_train_batch_size=GROUP, num_generations=GROUP, use_cpu=True,
        max_completion_length=6000, generation_kwargs={"max_new_tokens": 8}, logging_steps=1, report_to=[], save_strategy="no",
        learning_rate=1e-2, max_tool_calling_iterations=40, bf16=False, gradient_checkpointing=False,
    )
    more = {"reward_funcs": rewards} if rewards else {}
    trainer = GRPOTrainer(model=model, processing_class=words, environment_factory=factory, train_dataset=rows, args=arguments, **more)
    trainer.train()
    logs = [log for log in trainer.state.log_history if "reward" in log]
    changed = bool((model.lm_head.weight.detach() != before).any())
    seen = {"rewards": [log["reward"] for log in logs], "grad_norms": [log["grad_norm"] for log in logs],
            "calls": [log["tools/call_frequency"] for log in logs], "failures": [log["tools/failure_frequency"] for log in logs]}
    return seen | {"steps": trainer.state.global_step, "learned": changed}


def as_written(words):
    """The steps and rewards of the two blocks of docs/how-to/grpo-trl.md, with a tiny model, and a step of two rollouts in the place of many."""
    model = Path(folder) / "model"
    Qwen3ForCausalLM(tiny(words)).save_pretrained(model)
    words.save_pretrained(model)
    found = []
    for number, address in enumerate([{"http://127.0.0.1:8080": server}, {"http://127.0.0.1:9002": ors}]):
        seen = {}
        exec(pages.block("how-to/grpo-trl.md", "python", address | {
            "Qwen/Qwen3-0.6B": str(model),
            'output_dir="trained", max_completion_length=8192': f"""output_dir={str(Path(folder) / "trained")!r}, max_completion_length=32,
                use_cpu=True, bf16=False, max_steps=1, num_generations=2, per_device_train_batch_size=2, report_to=[], logging_steps=1""",
        }, number), seen)
        state = seen["trainer"].state
        found.append({"steps": state.global_step, "rewards": [log["reward"] for log in state.log_history if "reward" in log]})
    return found


def main():
    factories, rows = diorama_worlds.trl.environments(server)
    # Worlds with few tools, which a CPU reads quickly.
    methods = lambda row: [method for name, method in vars(factories[row["environment"]]).items() if not name.startswith("_")]
    # Tasks with their tools from the start: OpenRewardSpec fixes the tools before the first call.
    seen_at_start = lambda row: not any(name == "ToolSearcher" for name, _ in recorded[row["task"]]["calls"])
    rows = sorted(filter(seen_at_start, rows), key=lambda row: (len(methods(row)), len(recorded[row["task"]]["calls"])))[:TASKS]
    played = {row["prompt"][1]["content"]: recorded[row["task"]]["calls"] for row in rows}
    words = tokenizer([json.dumps(row) for row in rows] + [method.__doc__ for row in rows for method in methods(row)])
    seen = {"environments": train("environments", factories, Dataset.from_list(rows), words, played)}
    listed = requests.post(f"{ors}/diorama/tasks", json={"split": "train"}, timeout=30).json()["tasks"]
    places = {task["id"]: task["index"] for task in listed}
    spec = OpenRewardSpec(ors, indices=[places[row["task"]] for row in rows])
    # A rollout that ends nothing has no reward there, which TRL would leave out.
    paid = lambda environments, **_: [environment.reward or 0.0 for environment in environments]
    seen["ors"] = train("ors", spec.environment_factory, spec.train_dataset, words, played, paid)
    seen["as_written"] = as_written(words)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
