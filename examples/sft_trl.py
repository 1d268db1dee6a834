"""Fine-tune a model on dialogues with TRL (pip install trl).

    diorama generate --out dataset
    diorama dataset export dataset --split train --format trl --answers structured --out rows.jsonl
    python examples/sft_trl.py rows.jsonl --model Qwen/Qwen3-0.6B --steps 100
"""

import argparse

import torch
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("rows", help="file that `diorama dataset export` wrote")
parser.add_argument("--model", default="trl-internal-testing/tiny-Qwen3ForCausalLM", help="model to train; the default is for a try on a CPU")
parser.add_argument("--steps", type=int, default=1, help="training steps")
options = parser.parse_args()

gpu = torch.cuda.is_available()
rows = load_dataset("json", data_files=options.rows, split="train")
# `--format trl` has messages, `--format trl-prompt-completion` a prompt and a completion. Both hold only what is to be learned.
rows = rows.select_columns([name for name in ("messages", "prompt", "completion", "tools") if name in rows.column_names])
# TRL learns from the completion of a pair alone. A mask of the chat template tells it the assistant's part of whole dialogues.
masks = "messages" in rows.column_names
config = SFTConfig(output_dir="trained", max_steps=options.steps, max_length=8192, assistant_only_loss=masks, logging_steps=1, bf16=gpu, use_cpu=not gpu)
trainer = SFTTrainer(model=options.model, train_dataset=rows, args=config)
trainer.train()
trainer.save_model()
print(f"trained {options.model} on {len(rows)} dialogues; the model is in {config.output_dir}")
