"""Tunes a model that fit.py wrote on pairs of a request and the APIs that answer it.

    python tune.py --model DIR --pairs pairs.jsonl --out DIR

Contrastive: a request's vector is drawn to that of an API that answers it, away from other APIs of the same world and
from those of other requests. Some domains are kept for validation, with every pair that has one of their APIs.
The share of the start in the result is the one that validates best. Same inputs and seed, same model.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import numpy
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from fit import means, quantised

PAIRS_OF_AN_API = 300
VALIDATION_REQUESTS = 2000
KEPT = (0.0, 0.25, 0.5, 0.75)


def domain_of(key):
    return key.split(".")[0]


def read(file):
    """Pairs by kind, and the APIs of each world."""
    by_kind, worlds = defaultdict(list), {}
    for line in file.open():
        entry = json.loads(line)
        if entry["kind"] == "world":
            worlds[entry["world"]] = entry["apis"]
        else:
            by_kind[entry["kind"]].append(entry)
    return by_kind, worlds


def sampled(pairs, random_):
    """At most so many pairs of each set of APIs, each request once."""
    by_gold = defaultdict(dict)
    for pair in pairs:
        by_gold[tuple(sorted(pair["gold"]))].setdefault(pair["request"], pair)
    kept = []
    for _, found in sorted(by_gold.items()):
        found = list(found.values())
        kept += random_.sample(found, min(PAIRS_OF_AN_API, len(found)))
    random_.shuffle(kept)
    return kept


def unit(vectors):
    norm = numpy.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return vectors / norm, norm


def recall(x, vectors, requests, gold, pool, keys, cuts=(1, 5, 10)):
    """Recall at cuts over one pool, and completeness at the last."""
    near = unit(x[requests] @ vectors)[0] @ unit(x[pool] @ vectors)[0].T
    order = numpy.argsort(-near, axis=1, kind="stable")[:, :cuts[-1]]
    found = numpy.array([
        [sum(keys[pool[at]] in own for at in best[:cut]) / len(own) for cut in cuts]
        for best, own in zip(order, gold)
    ])
    return numpy.array([*found.mean(axis=0), (found[:, -1] >= 1).mean()])


class Trainer:
    """Adam on the tokens of each batch alone, and on one linear map that all tokens share."""

    def __init__(self, x, start, arguments):
        self.x, self.start, self.arguments = x, start, arguments
        self.change = numpy.zeros_like(start)
        self.map = numpy.eye(start.shape[1], dtype=numpy.float32)
        self.moments = [numpy.zeros_like(each) for each in (start, start, self.map, self.map)]
        self.steps = 0

    def vectors(self):
        return self.start @ self.map + self.change

    def step(self, requests, positives, negatives, gold, keys, rate):
        """`gold[i]` are the keys that are no negatives of request i; `keys` those of the texts."""
        candidates = numpy.unique(numpy.concatenate([positives, negatives]))
        answer = numpy.searchsorted(candidates, positives)
        texts, at = numpy.unique(numpy.concatenate([requests, candidates]), return_inverse=True)
        left, right = at[:len(requests)], at[len(requests):]
        rows = self.x[texts]
        tokens, columns = numpy.unique(rows.indices, return_inverse=True)
        rows = type(rows)((rows.data, columns, rows.indptr), (len(texts), len(tokens)))
        start = self.start[tokens]
        pooled, norm = unit(rows @ (start @ self.map + self.change[tokens]))

        logits = pooled[left] @ pooled[right].T / self.arguments.temperature
        places = defaultdict(list)
        for place, key in enumerate(keys[candidates]):
            places[key].append(place)
        for request, own in enumerate(gold):
            others = [place for key in own for place in places[key] if place != answer[request]]
            logits[request, others] = -1e9
        share = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        every = numpy.arange(len(requests))
        loss = -numpy.log(share[every, answer] + 1e-9).mean()
        share[every, answer] -= 1
        share /= len(requests) * self.arguments.temperature

        slope = numpy.zeros_like(pooled)
        numpy.add.at(slope, left, share @ pooled[right])
        slope[right] += share.T @ pooled[left]
        slope = (slope - pooled * (slope * pooled).sum(axis=1, keepdims=True)) / norm
        slope = (rows.T @ slope).astype(numpy.float32)
        self.steps += 1
        self.adam(self.change, slope + self.arguments.ridge * self.change[tokens], 0, rate, tokens)
        if self.arguments.map_rate:
            self.adam(self.map, start.T @ slope, 2, rate * self.arguments.map_rate, slice(None))
        return loss

    def adam(self, what, slope, moment, rate, rows):
        first, second = self.moments[moment], self.moments[moment + 1]
        first[rows] = 0.9 * first[rows] + 0.1 * slope
        second[rows] = 0.99 * second[rows] + 0.01 * slope * slope
        low, high = 1 - 0.9**self.steps, 1 - 0.99**self.steps
        what[rows] -= rate * (first[rows] / low) / (numpy.sqrt(second[rows] / high) + 1e-8)


class Numbered:
    """Pairs and worlds with texts as numbers, each text once."""

    def __init__(self, worlds):
        self.numbers, self.keys, self.worlds = {}, {}, {}
        for world, apis in worlds.items():
            self.worlds[world] = {key: self.number(text) for key, text in apis.items()}
            self.keys.update((number, key) for key, number in self.worlds[world].items())
        self.members = {world: numpy.array(list(apis.values())) for world, apis in self.worlds.items()}

    def number(self, text):
        return self.numbers.setdefault(text, len(self.numbers))

    def pairs(self, pairs):
        return [(self.number(pair["request"]), pair["gold"], pair["world"]) for pair in pairs]

    def draw(self, pairs, count, negatives, random_):
        """Requests, an API that answers each, others of its world, and all APIs that answer it."""
        drawn = [pairs[at] for at in random_.integers(len(pairs), size=count)]
        positives = [self.worlds[world][gold[random_.integers(len(gold))]] for _, gold, world in drawn]
        others = [random_.choice(self.members[world], negatives) for _, _, world in drawn]
        return [request for request, _, _ in drawn], positives, others, [gold for _, gold, _ in drawn]


def tune(numbered, x, start, sources, validate, arguments):
    """Steps over batches that take a share of each source. The rate falls to nothing in a straight line."""
    random_ = numpy.random.default_rng(arguments.seed)
    keys = numpy.array([numbered.keys.get(number) for number in range(len(numbered.numbers))], dtype=object)
    trainer = Trainer(x, start, arguments)
    for step in range(arguments.steps):
        parts = [
            numbered.draw(pairs, int(share * arguments.batch), arguments.negatives, random_)
            for pairs, share in zip(sources, arguments.shares) if pairs and share
        ]
        requests, positives, others = (numpy.concatenate([part[at] for part in parts]).astype(int) for at in range(3))
        gold = [own for part in parts for own in part[3]]
        rate = arguments.rate * (1 - step / arguments.steps)
        loss = trainer.step(requests, positives, others.ravel(), gold, keys, rate)
        if (step + 1) % 200 == 0 or step == 0:
            print(f"step {step + 1}: loss {loss:.3f}", flush=True)
            validate(trainer.vectors())
    return trainer.vectors()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="the model to start from")
    parser.add_argument("--pairs", type=Path, required=True, help="what pairs.py wrote")
    parser.add_argument("--hold", nargs="+", required=True, metavar="DOMAIN", help="domains kept for validation")
    parser.add_argument("--shares", type=float, nargs=3, default=[0.4, 0.2, 0.4], help="of requests, searches, operations")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--negatives", type=int, default=6, help="APIs of the same world for each request")
    parser.add_argument("--temperature", type=float, default=0.1)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--map-rate", type=float, default=0.0, help="rate of the shared map, as a share of --rate")
    parser.add_argument("--ridge", type=float, default=0.0, help="towards the start")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    random_ = random.Random(arguments.seed)
    by_kind, worlds = read(arguments.pairs)
    catalog = {}
    for pair in by_kind["request"]:
        catalog = {**worlds[pair["world"]], **catalog}

    def is_held(pair):
        return any(domain_of(key) in arguments.hold for key in pair["gold"])

    validation = {kind: sampled(filter(is_held, by_kind[kind]), random_)[:VALIDATION_REQUESTS] for kind in ("request", "search")}
    for kind, found in validation.items():
        if not found:
            held = " ".join(arguments.hold)
            parser.error(
                f"--hold {held}: found no {kind} for an API of these domains, expected at least one to validate on;"
                " name a domain that has some"
            )
    sources = [
        sampled([pair for kind in kinds for pair in by_kind[kind] if not is_held(pair)], random_)
        for kinds in (("turn", "request"), ("search",), ("operation",))
    ]
    for world, apis in worlds.items():
        worlds[world] = {key: text for key, text in apis.items() if domain_of(key) not in arguments.hold}
    print("{} requests, {} searches, {} operations".format(*map(len, sources)))
    print("for validation, {} requests, {} searches".format(*map(len, validation.values())), flush=True)

    numbered = Numbered({**worlds, "": catalog})
    sources = [numbered.pairs(pairs) for pairs in sources]
    validation = {kind: numbered.pairs(pairs) for kind, pairs in validation.items()}
    whole, keys = numpy.array(list(numbered.worlds[""].values())), numbered.keys

    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    saved = load_file(arguments.model / "model.safetensors")
    start = saved["embeddings"].astype(numpy.float32) * saved["weights"][:, None]
    start /= numpy.linalg.norm(start, axis=1).mean()
    x = means(tokenizer, list(numbered.numbers), len(start), tokenizer.token_to_id("[UNK]"))

    def validate(vectors):
        """Prints the figures of each kind and returns the mean recall at 10."""
        tens = []
        for kind, pairs in validation.items():
            numbers, gold, _ = zip(*pairs)
            figures = recall(x, vectors, numpy.array(numbers), gold, whole, keys)
            tens.append(figures[2])
            print(f"  {kind}: recall at 1, 5, 10 and completeness at 10: {figures.round(3)}", flush=True)
        return numpy.mean(tens)

    validate(start)
    tuned = tune(numbered, x, start, sources, validate, arguments)
    mixed = []
    for kept in KEPT:
        print(f"with {kept} of the start")
        vectors = kept * start + (1 - kept) * tuned
        mixed.append((validate(vectors), kept, vectors))
    _, kept, vectors = max(mixed, key=lambda each: each[:2])
    rows, scale = quantised(vectors)
    print(f"written: with {kept} of the start, in 8 bits")
    validate(rows.astype(numpy.float32) * scale[:, None])
    arguments.out.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": rows, "weights": scale}, arguments.out / "model.safetensors")
    for name in ("tokenizer.json", "config.json"):
        (arguments.out / name).write_bytes((arguments.model / name).read_bytes())


if __name__ == "__main__":
    main()
