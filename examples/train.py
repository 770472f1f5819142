# SPDX-License-Identifier: Apache-2.0
"""A small program to tune: ridge regression on random cosine features, written with numpy.

    python train.py --features=200 --scale=1.0 --ridge=0.01

Its last line is JSON, as `stopwise run` expects it: {"rmse": 0.21}. More features cost more time.
"""

import argparse
import json

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--features", type=int, required=True)
parser.add_argument("--scale", type=float, required=True)
parser.add_argument("--ridge", type=float, required=True)
given = parser.parse_args()

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, (3000, 2))
y = np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + 0.1 * rng.standard_normal(3000)

frequencies = rng.standard_normal((2, given.features)) * given.scale
features = np.cos(x @ frequencies + rng.uniform(0, 2 * np.pi, given.features))
train, test = slice(0, 2000), slice(2000, None)
gram = features[train].T @ features[train] + given.ridge * np.eye(given.features)
weights = np.linalg.solve(gram, features[train].T @ y[train])
error = features[test] @ weights - y[test]

print("trained on 2000 points")
print(json.dumps({"rmse": float(np.sqrt(np.mean(error**2)))}))
