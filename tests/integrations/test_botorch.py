# SPDX-License-Identifier: Apache-2.0
"""Acquisition functions and stopping rules on BoTorch models, against the core's formulas."""

import math
import runpy

import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations._botorch_formulas import ClosedForm, fair, log_gain
from stopwise.integrations.botorch import (
    LogExpectedImprovementPerCost,
    PandorasBoxGittinsIndex,
    StopwiseStopper,
)
from tests.support.repository import ROOT

LAM = 0.02
BOUNDS = torch.tensor([[0.0, -1.0], [1.0, 2.0]], dtype=torch.float64)


def f(X):
    return ((X - 0.4) ** 2).sum(-1, keepdim=True) * 3.0 + 5.0


def cost(X):
    return 0.5 + X[..., 0] ** 2


def data(n=9, seed=0):
    generator = torch.Generator().manual_seed(seed)
    U = torch.rand(n, 2, dtype=torch.float64, generator=generator)
    X = BOUNDS[0] + U * (BOUNDS[1] - BOUNDS[0])
    return X, f(X)


@pytest.fixture(scope="module")
def model():
    return SingleTaskGP(*data()).eval()


@pytest.fixture(scope="module")
def cost_model():
    X, _ = data(12, seed=1)
    noise = 0.1 * torch.sin(37.0 * X[:, :1])
    return SingleTaskGP(X, cost(X).log().unsqueeze(-1) + noise).eval()


@pytest.fixture(scope="module")
def X():  # noqa: N802  a matrix
    return data(7, seed=2)[0].unsqueeze(-2)  # 7 x 1 x 2


def marginals(model, X):
    with torch.no_grad():
        posterior = model.posterior(X)
    return posterior.mean.reshape(-1).numpy(), posterior.variance.sqrt().reshape(-1).numpy()


def expected_cost(cost_model, X):
    with torch.no_grad():
        posterior = cost_model.posterior(X, observation_noise=True)
    return (posterior.mean + 0.5 * posterior.variance).exp().reshape(-1).numpy()


# --------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("maximize", [True, False])
def test_fair_values_are_the_cores(model, X, maximize):
    mean, std = marginals(model, X)
    price = LAM * cost(X).reshape(-1).numpy()
    sign = -1.0 if maximize else 1.0
    score = PandorasBoxGittinsIndex(model, LAM, cost=cost, maximize=maximize)(X)
    assert score.shape == (7,)
    assert score.detach().numpy() == pytest.approx(
        -sw.math.pbgi(sign * mean, std, price), abs=1e-9
    )


@pytest.mark.parametrize("maximize", [True, False])
def test_log_gains_per_cost_are_the_cores(model, X, maximize):
    mean, std = marginals(model, X)
    sign = -1.0 if maximize else 1.0
    expected = sw.math.log_ei(sign * mean, std, sign * 6.0) - np.log(cost(X).reshape(-1).numpy())
    score = LogExpectedImprovementPerCost(model, 6.0, cost=cost, maximize=maximize)(X)
    assert score.detach().numpy() == pytest.approx(expected, abs=1e-9)


def test_a_learned_cost_counts_by_its_expectation_noise_included(model, cost_model, X):
    mean, std = marginals(model, X)
    paid = expected_cost(cost_model, X)
    fair = PandorasBoxGittinsIndex(model, LAM, cost_model=cost_model)(X).detach().numpy()
    assert fair == pytest.approx(-sw.math.pbgi(-mean, std, LAM * paid), abs=1e-9)
    gain = LogExpectedImprovementPerCost(model, 6.0, cost_model=cost_model)(X).detach().numpy()
    assert gain == pytest.approx(sw.math.log_ei(-mean, std, -6.0) - np.log(paid), abs=1e-9)
    with torch.no_grad():
        variance = cost_model.posterior(X, observation_noise=True).variance.reshape(-1).numpy()
    inverse = LogExpectedImprovementPerCost(model, 6.0, cost_model=cost_model, pricing="inv")
    assert inverse(X).detach().numpy() == pytest.approx(gain + variance, abs=1e-9)
    assert variance.min() > 1e-6  # or the test would prove nothing


def test_batches_of_any_shape(model, X):
    acquisition = PandorasBoxGittinsIndex(model, LAM, cost=cost)
    flat = acquisition(X)
    assert torch.allclose(acquisition(X.expand(3, 7, 1, 2)), flat.expand(3, 7), atol=1e-12)
    assert acquisition(X[0]).shape == (1,)


class TwoModels(SingleTaskGP):
    """Two models beside each other, as BoTorch's fully Bayesian ones are (those need JAX)."""

    _is_ensemble = True

    def posterior(self, X, *args, **kwargs):
        return super().posterior(X.unsqueeze(-3), *args, **kwargs)


def test_an_ensemble_is_averaged(X):
    train_X, train_Y = data()
    ensemble = TwoModels(train_X.expand(2, -1, -1), train_Y.expand(2, -1, -1)).eval()
    ensemble.covar_module.lengthscale = torch.tensor([[[0.5, 0.7]], [[1.0, 0.3]]])
    posterior = ensemble.posterior(X)
    mean, std = posterior.mean[..., 0, 0], posterior.variance.sqrt()[..., 0, 0]  # 7 x 2
    price = LAM * cost(X).numpy()
    each = -sw.math.pbgi(-mean.detach().numpy(), std.detach().numpy(), price)
    scores = PandorasBoxGittinsIndex(ensemble, LAM, cost=cost)(X).detach().numpy()
    assert scores == pytest.approx(each.mean(axis=1), abs=1e-9)
    assert np.abs(each[:, 0] - each[:, 1]).min() > 1e-3
    with pytest.raises(InputError, match="ensemble"):
        PandorasBoxGittinsIndex(SingleTaskGP(train_X, train_Y), LAM, cost_model=ensemble)
    with pytest.raises(InputError, match="ensemble"):
        StopwiseStopper(BOUNDS, lam=LAM).should_stop(ensemble, train_X, train_Y)


# ------------------------------------------------------------------------------------ gradients


@pytest.mark.parametrize("formula", [fair, log_gain])
def test_the_closed_forms_pass_gradcheck(formula):
    mean = torch.tensor([0.0, 1.0, -2.0, 5.0], dtype=torch.float64, requires_grad=True)
    std = torch.tensor([1.0, 0.1, 3.0, 0.5], dtype=torch.float64, requires_grad=True)
    third = torch.tensor([-3.0, 0.2, -1.0, 4.6], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *t: ClosedForm.apply(formula, *t), (mean, std, third))


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("priced", ["unit", "known", "learned"])
def test_gradients_through_model_and_price(model, cost_model, X, priced, maximize):
    price = {"unit": {}, "known": {"cost": cost}, "learned": {"cost_model": cost_model}}[priced]
    at = X.clone().requires_grad_(True)  # noqa: FBT003
    fair = PandorasBoxGittinsIndex(model, LAM, maximize=maximize, **price)
    assert torch.autograd.gradcheck(fair, (at,))
    gain = LogExpectedImprovementPerCost(model, 6.0, maximize=maximize, **price)
    assert torch.autograd.gradcheck(gain, (at,))


def test_the_cost_gradient_is_that_of_the_definition():
    """The g with EI over g = c, found by bisection, moves with log c as the gradient says."""
    mean, std = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    log_cost = torch.tensor([-4.0], dtype=torch.float64, requires_grad=True)
    ClosedForm.apply(fair, mean, std, log_cost).backward()

    def bisected(price):
        low, high = -50.0, 50.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            gain = middle * 0.5 * math.erfc(-middle / math.sqrt(2)) + math.exp(
                -0.5 * middle**2
            ) / math.sqrt(2 * math.pi)
            low, high = (middle, high) if gain < price else (low, middle)
        return low

    step = 1e-4
    slope = (bisected(math.exp(-4.0 + step)) - bisected(math.exp(-4.0 - step))) / (2 * step)
    assert log_cost.grad.item() == pytest.approx(slope, rel=1e-6)


def test_float32_models_work(X):
    train_X, train_Y = data()
    small = SingleTaskGP(train_X.float(), train_Y.float()).eval()
    score = PandorasBoxGittinsIndex(small, LAM, cost=cost)(X.float())
    assert score.dtype == torch.float32
    assert bool(torch.isfinite(score).all())


# --------------------------------------------------------------------------------- optimisation


def test_optimize_acqf_prefers_the_cheap_side():
    """With equal prospects on both sides, the price decides."""
    X = torch.tensor([[0.5]], dtype=torch.float64)
    flat = SingleTaskGP(X, torch.zeros(1, 1, dtype=torch.float64), outcome_transform=None).eval()
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)

    def dear_on_the_right(X):
        return torch.exp(4.0 * X[..., 0])

    for acquisition in (
        PandorasBoxGittinsIndex(flat, 0.01, cost=dear_on_the_right),
        LogExpectedImprovementPerCost(flat, 0.0, cost=dear_on_the_right),
    ):
        torch.manual_seed(0)
        x, value = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=32)
        grid = torch.linspace(0, 1, 201, dtype=torch.float64).reshape(-1, 1, 1)
        assert x.item() < 0.5
        assert value >= acquisition(grid).max() - 1e-6


# ------------------------------------------------------------------------------------- refusals


def test_bad_prices_and_lam_are_refused(model, cost_model, X):
    with pytest.raises(InputError, match="both say"):
        PandorasBoxGittinsIndex(model, LAM, cost=cost, cost_model=cost_model)
    with pytest.raises(InputError, match="lam"):
        PandorasBoxGittinsIndex(model, 0.0)
    with pytest.raises(InputError, match="pricing"):
        LogExpectedImprovementPerCost(model, 0.0, pricing="median")
    with pytest.raises(InputError, match="positive and finite"):
        PandorasBoxGittinsIndex(model, LAM, cost=lambda X: X[..., 0] - 10.0)(X)


# ------------------------------------------------------------------------------------- stopping


def test_on_a_list_the_signal_is_the_cores_formula_over_what_remains(model, cost_model):
    train_X, train_Y = data()
    others = data(40, seed=3)[0]
    choices = torch.cat([others, train_X])
    mean, std = marginals(model, others.unsqueeze(-2))
    for options, paid in (
        ({"cost": cost}, cost(others).numpy()),
        ({}, expected_cost(cost_model, others.unsqueeze(-2))),
    ):
        stopper = StopwiseStopper(choices=choices, lam=LAM, maximize=False, **options)
        learned = {} if options else {"cost_model": cost_model}
        verdict = stopper.should_stop(model, train_X, train_Y, **learned)
        best = float(train_Y.min())
        expected = np.max(sw.math.log_ei(mean, std, best) - np.log(paid))
        assert verdict.value == pytest.approx(expected, abs=1e-9)
        assert verdict.threshold == math.log(LAM)
        assert verdict.stop == (expected <= math.log(LAM))
        assert "the best remaining candidate" in verdict.reason


def test_on_a_box_the_supremum_is_at_least_botorchs(model):
    train_X, train_Y = data()
    rule = sw.stopping.PBGI(LAM)
    verdict = StopwiseStopper(BOUNDS, stopping=rule, cost=cost).should_stop(
        model, train_X, train_Y
    )
    acquisition = LogExpectedImprovementPerCost(model, train_Y.max(), cost=cost)
    torch.manual_seed(0)
    _, value = optimize_acqf(acquisition, BOUNDS, q=1, num_restarts=8, raw_samples=128)
    assert verdict.value >= value.item() - 1e-6
    assert verdict.value <= value.item() + 1e-2


def test_maximising_is_minimising_the_negative():
    train_X, train_Y = data()
    verdicts = []
    for sign in (1.0, -1.0):
        model = SingleTaskGP(train_X, sign * train_Y).eval()
        stopper = StopwiseStopper(BOUNDS, lam=LAM, maximize=sign < 0)
        verdicts.append(stopper.should_stop(model, train_X, sign * train_Y))
    assert verdicts[0].value == pytest.approx(verdicts[1].value, abs=1e-6)


def test_with_noise_the_difference_to_the_best_counts():
    """A point that cannot be told from the best gains nothing."""
    train_X, train_Y = data()
    noisy = SingleTaskGP(train_X, train_Y, torch.full_like(train_Y, 0.3)).eval()
    others = data(20, seed=3)[0]
    stopper = StopwiseStopper(
        choices=torch.cat([others, train_X]), lam=LAM, maximize=False, noisy=True
    )
    value = stopper.should_stop(noisy, train_X, train_Y).value
    with torch.no_grad():
        at_data = noisy.posterior(train_X).mean.reshape(-1)
        reference = train_X[at_data.argmin()]
        pairs = torch.stack([others, reference.expand_as(others)], dim=-2)
        posterior = noisy.posterior(pairs)
        c = posterior.distribution.covariance_matrix
        std = (c[:, 0, 0] + c[:, 1, 1] - 2 * c[:, 0, 1]).sqrt().numpy()
        mean = posterior.mean[:, 0, 0].numpy()
    expected = np.max(sw.math.log_ei(mean, std, at_data.min().item()))
    assert value == pytest.approx(expected, abs=1e-9)


def test_pending_points_are_left_out(model):
    train_X, train_Y = data()
    others = data(2, seed=3)[0]
    stopper = StopwiseStopper(choices=torch.cat([others, train_X]), lam=LAM)
    both = stopper.should_stop(model, train_X, train_Y).value
    one = [
        stopper.should_stop(model, train_X, train_Y, X_pending=others[[i]]).value for i in (0, 1)
    ]
    assert max(one) == both
    assert min(one) < both
    nothing = stopper.should_stop(model, train_X, train_Y, X_pending=others)
    assert nothing.stop


def test_the_record_grows_with_the_data_and_not_with_the_questions():
    train_X, train_Y = data(12)
    stopper = StopwiseStopper(BOUNDS, stopping=sw.stopping.FixedTrials(2))
    for n in (9, 10, 10, 11):
        model = SingleTaskGP(train_X[:n], train_Y[:n]).eval()
        verdict = stopper.should_stop(model, train_X[:n], train_Y[:n])
    assert [signal.t for signal in stopper.trace] == [0, 1, 2]
    assert verdict.stop


@pytest.mark.parametrize("rule", ["logeipc-med", "ucb-lcb", "gss", "convergence", "immediate"])
def test_other_rules_answer(model, rule):
    train_X, train_Y = data()
    verdict = StopwiseStopper(BOUNDS, lam=LAM, stopping=rule).should_stop(model, train_X, train_Y)
    assert verdict.rule == rule


@pytest.mark.parametrize(
    "rule", ["srgap-med", "prb", sw.stopping.PBGI(LAM, update="before")], ids=str
)
def test_rules_that_a_model_cannot_answer_are_refused(rule):
    with pytest.raises(InputError, match="which a BoTorch model does not give"):
        StopwiseStopper(BOUNDS, stopping=rule)


def test_the_default_rule_is_that_of_a_study():
    box = sw.Study({"x": sw.Real(0, 1)}, lam=LAM).rules[0]
    assert StopwiseStopper(BOUNDS, lam=LAM).rule == box
    assert StopwiseStopper(choices=BOUNDS, lam=LAM).rule == sw.stopping.PBGI(LAM)


def test_what_makes_no_sense_is_refused(model):
    train_X, train_Y = data()
    with pytest.raises(InputError, match="bounds"):
        StopwiseStopper(lam=LAM)
    with pytest.raises(InputError, match="one value per point"):
        StopwiseStopper(BOUNDS, lam=LAM).should_stop(model, train_X, train_Y[:3])
    with pytest.raises(InputError, match="outside its bounds"):
        StopwiseStopper(BOUNDS, lam=LAM).should_stop(model, train_X + 9.0, train_Y)


def test_the_example_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "botorch_search.py"), run_name="__main__")
    assert ": stop" in capsys.readouterr().out
