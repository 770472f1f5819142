# SPDX-License-Identifier: Apache-2.0
"""A BoTorch loop of your own: PBGI chooses, the rule says when to stop, the cost is learned."""

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from stopwise.integrations.botorch import PandorasBoxGittinsIndex, StopwiseStopper

torch.manual_seed(0)
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def experiment(X):  # stands for a simulation: the yield, and the hours that it took
    gain = torch.exp(-8.0 * ((X - torch.tensor([0.3, 0.6])) ** 2).sum(-1, keepdim=True))
    hours = 1.0 + 4.0 * X[:, :1]
    return gain, hours


def fitted(X, Y):
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


lam = 0.002  # an hour is worth 0.002 of yield
X = torch.rand(6, 2, dtype=torch.float64)
Y, hours = experiment(X)
stopper = StopwiseStopper(bounds, lam=lam)

while True:
    model, cost_model = fitted(X, Y), fitted(X, hours.log())
    verdict = stopper.should_stop(model, X, Y, cost_model=cost_model)
    if verdict.stop:
        break
    fair_value = PandorasBoxGittinsIndex(model, lam, cost_model=cost_model)
    x, _ = optimize_acqf(fair_value, bounds, q=1, num_restarts=4, raw_samples=64)
    y, spent = experiment(x)
    X, Y, hours = torch.cat([X, x]), torch.cat([Y, y]), torch.cat([hours, spent])

print(f"yield {Y.max():.3f} at {X[Y.argmax()].tolist()}, {len(Y)} runs, {hours.sum():.0f} hours")
print(verdict.reason)
