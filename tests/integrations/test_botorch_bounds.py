# SPDX-License-Identifier: Apache-2.0
"""Bounds of the objective on BoTorch models: laws are clipped, for choosing and stopping alike."""

import math

import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from scipy.integrate import quad
from scipy.stats import norm

from stopwise.errors import InputError, InputTypeError
from stopwise.integrations._botorch_formulas import ClosedForm, fair_within, log_gain_within
from stopwise.integrations.botorch import (
    LogExpectedImprovementPerCost,
    PandorasBoxGittinsIndex,
    StopwiseStopper,
)

LAM = 0.02
LOW = 4.9
BOX = torch.tensor([[0.0, -1.0], [1.0, 2.0]], dtype=torch.float64)


def drawn(n, seed):
    generator = torch.Generator().manual_seed(seed)
    return BOX[0] + torch.rand(n, 2, dtype=torch.float64, generator=generator) * (BOX[1] - BOX[0])


def observed():
    X = drawn(9, seed=0)
    return X, ((X - 0.4) ** 2).sum(-1, keepdim=True) * 3.0 + 5.0


@pytest.fixture(scope="module")
def model():
    return SingleTaskGP(*observed()).eval()


def marginals(model, X, sign=1.0):
    with torch.no_grad():
        posterior = model.posterior(X.unsqueeze(-2))
    mean, variance = posterior.mean.reshape(-1), posterior.variance.reshape(-1)
    return sign * mean.numpy(), variance.sqrt().numpy()


def gain(mean, std, level, low, high=math.inf):
    """E max(level - clip(f, low, high), 0) by quadrature of the cdf; zero below the bound."""
    if level <= low:
        return 0.0
    certain = max(level - high, 0.0)
    value, _ = quad(lambda u: norm.cdf(u, mean, std), low, min(level, high), epsabs=1e-13)
    return value + certain


# ----------------------------------------------------------------------------------- choosing


@pytest.mark.parametrize("maximize", [False, True])
def test_gains_are_those_of_the_clipped_law(model, maximize):
    X, sign = drawn(7, seed=2), -1.0 if maximize else 1.0
    model = SingleTaskGP(observed()[0], sign * observed()[1]).eval()
    mean, std = marginals(model, X, sign)
    bounds = (None, -LOW) if maximize else (LOW, None)
    score = LogExpectedImprovementPerCost(
        model, sign * 5.2, maximize=maximize, value_bounds=bounds
    )
    expected = [gain(m, s, 5.2, LOW) for m, s in zip(mean, std, strict=True)]
    assert np.exp(score(X.unsqueeze(-2)).detach().numpy()) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("bounds", [(LOW, None), (LOW, 9.0), (None, 9.0)])
def test_fair_values_are_the_roots_of_the_clipped_gain(model, bounds):
    X = drawn(7, seed=2)
    mean, std = marginals(model, X)
    score = PandorasBoxGittinsIndex(model, LAM, maximize=False, value_bounds=bounds)
    low, high = (-50.0 if bounds[0] is None else bounds[0]), bounds[1] or math.inf
    for m, s, fair in zip(mean, std, -score(X.unsqueeze(-2)).detach().numpy(), strict=True):
        assert gain(m, s, fair, low, high) == pytest.approx(LAM, rel=1e-6)


@pytest.mark.parametrize("make", [fair_within, log_gain_within])
def test_gradients(make):
    mean = torch.tensor([0.0, 1.0, 0.3, 2.0], dtype=torch.float64, requires_grad=True)
    std = torch.tensor([1.0, 0.3, 2.0, 0.7], dtype=torch.float64, requires_grad=True)
    third = torch.tensor([0.1, 0.5, 0.2, 0.4], dtype=torch.float64, requires_grad=True)
    formula = make((-0.5, 3.0))
    assert torch.autograd.gradcheck(lambda *t: ClosedForm.apply(formula, *t), (mean, std, third))
    assert torch.autograd.gradcheck(
        lambda *t: ClosedForm.apply(formula, *t), (mean[None], std[None], third[None])
    )


def test_nothing_is_gained_on_a_best_value_at_the_bound(model):
    X = drawn(3, seed=2).unsqueeze(-2).requires_grad_(True)  # noqa: FBT003
    score = LogExpectedImprovementPerCost(model, LOW, maximize=False, value_bounds=(LOW, None))
    assert torch.all(score(X) == -math.inf)


def test_without_bounds_nothing_changes(model):
    X = drawn(5, seed=2).unsqueeze(-2)
    for make in (PandorasBoxGittinsIndex, LogExpectedImprovementPerCost):
        plain, unbounded = make(model, 5.0), make(model, 5.0, value_bounds=(None, None))
        assert torch.equal(plain(X), unbounded(X))


# ------------------------------------------------------------------------------------ stopping


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_signal_is_that_of_the_clipped_law(sign):
    X, y = observed()
    model = SingleTaskGP(X, sign * y).eval()
    others = drawn(40, seed=3)
    mean, std = marginals(model, others, sign)
    best = float(y.min())
    bounds = (LOW, None) if sign > 0 else (None, -LOW)
    stopper = StopwiseStopper(
        choices=torch.cat([others, X]), lam=LAM, maximize=sign < 0, value_bounds=bounds
    )
    verdict = stopper.should_stop(model, X, sign * y)
    gains = [gain(m, s, best, LOW) for m, s in zip(mean, std, strict=True)]
    assert math.exp(verdict.value) == pytest.approx(max(gains), rel=1e-6)
    free = StopwiseStopper(choices=torch.cat([others, X]), lam=LAM, maximize=sign < 0)
    assert free.should_stop(model, X, sign * y).value > verdict.value


@pytest.mark.parametrize("noisy", [False, True])
def test_on_a_box_no_more_can_be_gained_than_the_bound_allows(noisy):
    X, y = observed()
    noise = {"train_Yvar": torch.full_like(y, 0.3)} if noisy else {}
    model = SingleTaskGP(X, y, **noise).eval()
    stopper = StopwiseStopper(BOX, lam=LAM, maximize=False, noisy=noisy, value_bounds=(4.99, None))
    verdict = stopper.should_stop(model, X, y)
    with torch.no_grad():
        best = float(model.posterior(X).mean.min()) if noisy else float(y.min())
    assert math.exp(verdict.value) <= max(best - 4.99, 0.0) * (1.0 + 1e-9)
    free = StopwiseStopper(BOX, lam=LAM, maximize=False, noisy=noisy)
    assert free.should_stop(model, X, y).value > verdict.value


def test_at_the_bound_one_stops(model):
    X, y = observed()
    low = float(y.min())
    stopper = StopwiseStopper(BOX, lam=1e-12, maximize=False, value_bounds=(low, None))
    assert stopper.should_stop(model, X, y).stop


def test_what_is_beyond_the_bounds_is_refused(model):
    X, y = observed()
    stopper = StopwiseStopper(BOX, lam=LAM, maximize=False, value_bounds=(6.0, None))
    with pytest.raises(InputError, match="no value is below 6"):
        stopper.should_stop(model, X, y)
    with pytest.raises(InputTypeError, match="not two numbers"):
        StopwiseStopper(BOX, lam=LAM, value_bounds=0.0)
    with pytest.raises(InputError, match="lower bound must be below"):
        PandorasBoxGittinsIndex(model, LAM, value_bounds=(1.0, 0.0))
