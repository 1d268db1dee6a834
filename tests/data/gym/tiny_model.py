"""A tiny random model of Qwen3's kind and a tokenizer of given texts, where no model can be fetched.

Arguments: a file of texts, a folder to save both in.
"""

import sys
from pathlib import Path

import torch
import trl.chat_template_utils
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokenizer(texts):
    """A tokenizer of the pieces that are frequent in these texts."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet))
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=SPECIAL[2], pad_token=SPECIAL[0])
    wrapped.chat_template = trl.chat_template_utils.qwen3_chat_template
    return wrapped


def tiny(words):
    """The smallest model that reads whole prompts."""
    return Qwen3Config(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        head_dim=8, max_position_embeddings=1 << 17, eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id,
    )


if __name__ == "__main__":
    words = tokenizer(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    torch.manual_seed(0)
    Qwen3ForCausalLM(tiny(words)).save_pretrained(sys.argv[2])
    words.save_pretrained(sys.argv[2])
