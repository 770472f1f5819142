# SPDX-License-Identifier: Apache-2.0
"""Histories to audit."""

import csv
import math

import numpy as np


def history(n=24, seed=0):
    """Rows of evaluations drawn at random, each with its value and its cost."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        lr, layers = float(10 ** rng.uniform(-4, -1)), int(rng.integers(1, 7))
        act = str(rng.choice(["relu", "tanh"]))
        loss = (math.log10(lr) + 2.5) ** 2 + 0.1 * (layers - 3) ** 2 + 0.3 * (act == "relu")
        rows.append({"lr": lr, "layers": layers, "act": act, "value": loss, "cost": float(layers)})
    return rows


def as_csv(path, rows):
    """Write rows to a file; returns its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
