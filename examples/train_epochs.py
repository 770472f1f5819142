# SPDX-License-Identifier: Apache-2.0
"""A small program that reports after every epoch, and can go on from a checkpoint.

    python train_epochs.py --rate=0.1 --width=64 --checkpoint=state.npz

A network with one hidden layer learns a function of two variables, written with numpy. After each
epoch it saves itself and then prints a line of JSON: {"step": 9, "rmse": 0.31}.
"""

import argparse
import json
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--checkpoint", type=Path)
parser.add_argument("--epochs", type=int, default=27)
given = parser.parse_args()

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (3000, 2))
y = np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + 0.1 * rng.standard_normal(3000)
hidden = rng.standard_normal((3, given.width))
output = np.zeros(given.width)
done = 0
if given.checkpoint and given.checkpoint.exists():
    with np.load(given.checkpoint) as saved:
        hidden, output, done = saved["hidden"], saved["output"], int(saved["done"])


def layer(points):
    return np.tanh(np.column_stack([points, np.ones(len(points))]) @ hidden)


for epoch in range(done + 1, given.epochs + 1):
    for rows in np.random.default_rng(epoch).permutation(2000).reshape(-1, 20):
        active = layer(x[rows])
        error = active @ output - y[rows]
        back = (error[:, None] * output) * (1 - active**2)
        output -= given.rate / given.width**0.5 * active.T @ error / 20
        hidden -= given.rate * np.column_stack([x[rows], np.ones(20)]).T @ back / 20
    rmse = np.sqrt(np.mean((layer(x[2000:]) @ output - y[2000:]) ** 2))
    if given.checkpoint:
        with given.checkpoint.with_suffix(".new").open("wb") as file:
            np.savez(file, hidden=hidden, output=output, done=epoch)
        given.checkpoint.with_suffix(".new").replace(given.checkpoint)
    print(json.dumps({"step": epoch, "rmse": float(rmse)}), flush=True)
