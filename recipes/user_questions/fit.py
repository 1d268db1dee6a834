"""Fits the weights of the user simulator's signs (`simulator/src/user/asks.rs`) by logistic regression.

A detail counts as asked for where one clause of a message asks for it, so each message is represented by the clause
that has the highest score under the weights so far; weights and choices are fitted in turn.
"""

import json
import sys

import numpy as np

ROUNDS = 8
STEPS = 3_000
RATE = 0.8
PENALTY = 0.002


def main() -> None:
    lines = [line.split("SIGNS ", 1)[1] for line in sys.stdin if "SIGNS " in line]
    messages = [json.loads(line) for line in lines]
    count = next(len(detail) for message in messages for clause in message["signs"] for detail in clause)
    weights = np.zeros(count)
    weights[0], weights[1], weights[-1] = 3.0, 4.0, -2.0
    penalised = np.arange(count) != count - 1
    for _ in range(ROUNDS):
        signs, wanted, shares = [], [], []
        for message in messages:
            for detail, is_wanted in enumerate(message["wanted"]):
                clauses = [np.array(clause[detail]) for clause in message["signs"]]
                if clauses:
                    signs.append(max(clauses, key=lambda clause: clause @ weights))
                    wanted.append(float(is_wanted))
                    shares.append(float(message["weight"]))
        x, y, share = np.array(signs), np.array(wanted), np.array(shares) / np.mean(shares)
        for _ in range(STEPS):
            likely = 1 / (1 + np.exp(-x @ weights))
            weights -= RATE * (x.T @ ((likely - y) * share) / len(y) + PENALTY * weights * penalised)
    print([round(float(weight), 2) for weight in weights])


if __name__ == "__main__":
    main()
