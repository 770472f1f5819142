# SPDX-License-Identifier: Apache-2.0
"""The search for hyper-parameters, and data that are hard to fit."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from stopwise.core.beliefs import Hyperparameters, condition, fit_posterior
from stopwise.core.beliefs import fit as fitting
from stopwise.core.beliefs.fit import NUGGET, fit, log_likelihood
from stopwise.core.beliefs.priors import Fixed, Flat, LogNormalPrior, Priors, priors
from stopwise.errors import InputError
from tests.support.dense import DenseGP
from tests.support.fitted_data import GROUPS, UNGROUPED, moved, some_data
from tests.support.strategies import dyadics, magnitudes, observations

PRIORS = ["lognormal", "gamma", None]


@pytest.fixture
def rng():
    return np.random.default_rng(30)


@pytest.fixture
def evaluations(monkeypatch):
    """The points at which the likelihood has been evaluated, as they come."""
    seen = []

    def counted(X, y, hyper, groups, **options):
        seen.append(hyper)
        return log_likelihood(X, y, hyper, groups, **options)

    monkeypatch.setattr(fitting, "log_likelihood", counted)
    return seen


# ------------------------------------------------------------------------------ the search


def objective(X, y, hyper, groups, prior, *, learned):
    """Log posterior density of hyper-parameters, written again and in full."""
    d = hyper.lengthscales.size
    dense = DenseGP(X, y, hyper, groups=groups, shift=0.0, scale=1.0)
    known = {"lognormal": priors("lognormal", d), "gamma": priors("gamma", d)}.get(prior)
    if known is None:
        return dense.log_likelihood()
    parts = [(known.lengthscale, hyper.lengthscales), (known.outputscale, [hyper.outputscale])]
    parts += [(known.noise, [hyper.noise])] * learned
    return dense.log_likelihood() + sum(p.log_density(np.log(v))[0].sum() for p, v in parts)


@pytest.mark.parametrize("noise", [1e-4, None], ids=["fixed", "learned"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("groups", [UNGROUPED, GROUPS], ids=["ungrouped", "grouped"])
def test_a_fit_is_a_maximum_in_every_direction(rng, groups, prior, noise):
    X, y = some_data(rng, n=40, width=groups.size, noise=0.2)
    hyper = fit(X, y, groups=groups, prior=prior, noise=noise)
    assert hyper.noise == noise or noise is None
    best = objective(X, y, hyper, groups, prior, learned=noise is None)
    free = [0, 1, 2, 3, 5] + ([4] if noise is None else [])
    for i in free:
        for step in (-0.05, 0.05):
            theta = np.zeros(6)
            theta[i] = step
            nearby = moved(hyper, theta)
            assert objective(X, y, nearby, groups, prior, learned=noise is None) < best + 1e-5


def test_an_idle_column_is_recognised(rng):
    X, y = some_data(rng, n=60)
    for prior in PRIORS:
        lengthscales = fit(X, y, noise=None, prior=prior).lengthscales
        assert lengthscales[2] > 3 * lengthscales[:2].max()
    # Without a prior nothing holds it back, and a bound too low would cost likelihood.
    y = np.sin(5.0 * X[:, :2]).sum(axis=1)
    assert fit(X, (y - y.mean()) / y.std(), noise=1e-4, prior=None).lengthscales[2] > 1e4


def test_columns_of_one_parameter_share_its_length_scale(rng):
    X, y = some_data(rng, width=4)
    assert fit(X, y, groups=GROUPS).lengthscales.shape == (3,)
    posterior = fit_posterior(X, y, groups=GROUPS)
    np.testing.assert_allclose(posterior(X).mean, y, atol=1e-4)


@pytest.mark.parametrize("name", ["log-normal", "", "None"])
def test_an_unknown_prior_is_refused_with_the_known_ones(rng, name):
    with pytest.raises(InputError, match=rf"prior='{name}' is not known: give 'lognormal', 'gam"):
        fit(*some_data(rng), prior=name)


def test_a_warm_start_finds_the_same_with_fewer_evaluations(rng, evaluations):
    X, y = some_data(rng, n=41)
    earlier = fit(X[:40], y[:40], noise=None)
    evaluations.clear()
    cold = fit(X, y, noise=None)
    n_cold = len(evaluations)
    evaluations.clear()
    warm = fit(X, y, noise=None, start=earlier)
    assert len(evaluations) < n_cold
    np.testing.assert_allclose(warm.lengthscales[:2], cold.lengthscales[:2], rtol=1e-2)


def test_a_start_that_leads_nowhere_is_not_followed(rng):
    X, y = some_data(rng)
    cold = fit(X, y, noise=1e-4)
    absurd = Hyperparameters(np.full(3, 1e-8), outputscale=1e30, noise=1.0)
    misled = fit(X, y, noise=1e-4, start=absurd)
    np.testing.assert_array_equal(misled.lengthscales, cold.lengthscales)


def test_a_start_from_a_fixed_noise_serves_a_learned_one(rng):
    X, y = some_data(rng)
    exact = Hyperparameters(np.ones(3), noise=0.0)
    np.testing.assert_allclose(
        fit(X, y, noise=None, start=exact).noise, fit(X, y, noise=None).noise, rtol=1e-2
    )


def beginnings(evaluations, prior):
    """How often the likelihood was evaluated where cold searches begin: at 1, 0.3, 4 modes."""
    modes = math.exp(priors(prior, 3).lengthscale.log_mode) * np.array([1.0, 0.3, 4.0])
    begun = [hyper.lengthscales[0] for hyper in evaluations if hyper.outputscale == 1.0]
    return np.isclose(np.reshape(begun, (-1, 1)), modes, rtol=1e-12).sum(axis=0).tolist()


def test_a_clear_result_is_searched_for_once(rng, evaluations):
    fit(*some_data(rng), noise=None)
    assert beginnings(evaluations, "lognormal") == [1, 0, 0]


def test_a_doubtful_result_is_searched_for_again(rng, evaluations):
    # Equal values: the output scale falls to its bound, and other beginnings are tried.
    X, y = rng.random((12, 3)), np.zeros(12)
    fit(X, y, noise=1e-4, prior="gamma")
    assert beginnings(evaluations, "gamma") == [1, 1, 1]
    evaluations.clear()
    warm = Hyperparameters(np.full(3, 1.0), outputscale=2e-3)
    fit(X, y, noise=1e-4, prior="gamma", start=warm)
    assert beginnings(evaluations, "gamma") == [1, 1, 1]  # compared with and begun from: once


def test_without_a_prior_several_beginnings_are_tried(rng, evaluations):
    fit(*some_data(rng), noise=0.01, prior=None)
    assert beginnings(evaluations, None) == [1, 1, 1]


def test_own_priors_may_fix_the_kernel_and_leave_the_mean(rng):
    X, y = some_data(rng)
    kernel = Priors(Fixed(math.log(0.5)), Fixed(math.log(2.0)), Flat(-4.0))
    hyper = fit(X, y, noise=1e-3, prior=kernel)
    np.testing.assert_allclose(hyper.lengthscales, 0.5, rtol=1e-14)
    assert hyper.outputscale == pytest.approx(2.0, rel=1e-14)
    assert hyper.noise == 1e-3
    profiled = log_likelihood(X, y, hyper, UNGROUPED, profile_mean=True)
    assert hyper.mean == profiled.mean != 0.0


def test_own_priors_may_fix_the_output_scale_alone(rng, evaluations):
    X, y = some_data(rng)
    scale_fixed = Priors(priors("lognormal", 3).lengthscale, Fixed(0.0), LogNormalPrior(-4.0, 1.0))
    hyper = fit(X, y, noise=None, prior=scale_fixed)
    assert hyper.outputscale == 1.0
    assert beginnings(evaluations, "lognormal") == [1, 0, 0]  # what is fixed is not doubtful
    free = fit(X, y, noise=None)
    assert hyper.lengthscales[0] != pytest.approx(free.lengthscales[0], rel=1e-3)


def test_no_data_leave_the_modes_of_the_priors():
    known = priors("lognormal", 2)
    hyper = fit(np.empty((0, 2)), np.empty(0), noise=None)
    np.testing.assert_allclose(np.log(hyper.lengthscales), known.lengthscale.log_mode)
    assert math.log(hyper.noise) == pytest.approx(known.noise.log_mode)
    posterior = fit_posterior(np.empty((0, 2)), np.empty(0))
    assert posterior(np.zeros((1, 2))) == (pytest.approx([0.0]), pytest.approx([1.0]))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"noise": NUGGET}, True),
        ({"noise": 0.0}, True),
        ({"noise": 1e-6}, False),
        ({"noise": 1e-6, "interpolate": True}, True),
        ({"noise": NUGGET, "interpolate": False}, False),
        ({"noise": None}, False),
    ],
)
def test_a_nugget_interpolates_and_a_noise_does_not(rng, options, expected):
    assert fit_posterior(*some_data(rng), **options).interpolate is expected


# ------------------------------------------------------------------------- degenerate data


def degenerate():
    rng = np.random.default_rng(40)
    X = rng.random((12, 3))
    y = np.sin(5.0 * X).sum(axis=1)
    return {
        "one observation": (X[:1], y[:1]),
        "two observations": (X[:2], y[:2]),
        "equal values": (X, np.full(12, 3.3)),
        "zeros": (X, np.zeros(12)),
        "one value differs": (X, np.eye(12)[3]),
        "duplicates": (np.vstack([X, X]), np.tile(y, 2)),
        "contradictions": (np.vstack([X, X]), np.concatenate([y, y + 1.0])),
        "one point only": (np.tile(X[:1], (12, 1)), y),
        "tiny values": (X, 1e-12 * y),
        "huge values": (X, 1e12 * y),
        "an outlier": (X, np.append(y[1:], 1e9)),
        "fifty dimensions": (rng.random((30, 50)), rng.standard_normal(30)),
        "corners": (np.eye(3)[[0, 1, 2, 0, 1]], y[:5]),
        "constant column": (np.column_stack([X, np.ones(12)]), y),
    }


DEGENERATE = degenerate()


@pytest.mark.parametrize("noise", [NUGGET, 0.0, None], ids=["nugget", "zero", "learned"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_give_finite_predictions_without_a_warning(name, prior, noise):
    X, y = DEGENERATE[name]
    Q = np.vstack([np.random.default_rng(0).random((5, X.shape[1])), X[:2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = fit_posterior(X, y, prior=prior, noise=noise)
        (mean, std), d_mean, d_std = posterior.with_gradient(Q)
        again = fit_posterior(X, y, prior=prior, noise=noise, start=posterior.hyper)
    for numbers in (mean, std, d_mean, d_std, *posterior(Q), *again(Q)):
        assert np.isfinite(numbers).all()
    assert np.all(std >= 0.0)
    spread = np.ptp(y) or 1.0
    assert np.all(mean > y.min() - 100 * spread)
    assert np.all(mean < y.max() + 100 * spread)


@pytest.mark.parametrize("value", [0.0, -5.0, 1e12])
def test_equal_values_are_predicted_everywhere(rng, value):
    X = rng.random((10, 2))
    posterior = fit_posterior(X, np.full(10, value))
    np.testing.assert_allclose(posterior(rng.random((5, 2))).mean, value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("noise", [1e-9, 1e-6])
def test_equal_duplicates_change_nothing_but_contradictions_are_averaged(rng, noise):
    X, y = some_data(rng, n=12)
    twice = np.vstack([X, X])
    hyper = Hyperparameters(np.full(3, 0.5), noise=noise)
    Q = rng.random((5, 3))
    once = condition(X, y, hyper)
    again = condition(twice, np.tile(y, 2), hyper, standardiser=once.standardiser)
    np.testing.assert_allclose(again(Q).mean, once(Q).mean, atol=1e-4)
    split = np.concatenate([y - 0.1, y + 0.1])
    between = condition(twice, split, hyper, standardiser=once.standardiser)
    np.testing.assert_allclose(between(Q).mean, again(Q).mean, atol=1e-6)


def test_a_thousand_points(rng):
    X = rng.random((1000, 5))
    y = np.sin(4.0 * X[:, :3]).sum(axis=1) + 0.02 * rng.standard_normal(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = fit_posterior(X, y, noise=None)
    Q = rng.random((200, 5))
    mean, std = posterior(Q)
    errors = mean - np.sin(4.0 * Q[:, :3]).sum(axis=1)
    assert np.sqrt(np.mean(errors**2)) < 0.02
    assert 0.5 < np.sqrt(np.mean((errors / std) ** 2)) < 2.0  # it knows how wrong it is
    noise_sd = math.sqrt(posterior.hyper.noise) * posterior.standardiser.scale
    assert noise_sd == pytest.approx(0.02, rel=0.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(rng, bad):
    X, y = some_data(rng)
    y[7] = bad
    with pytest.raises(InputError, match=rf"observation 7 is {bad!r}.*Report a failed evaluation"):
        fit_posterior(X, y)


def test_inputs_that_do_not_belong_together_are_refused(rng):
    X, y = some_data(rng)
    with pytest.raises(InputError, match=r"X has shape \(25, 3\) and y has shape \(24,\)"):
        fit_posterior(X, y[1:])
    with pytest.raises(InputError, match=r"X has shape \(25,\)"):
        fit(X[:, 0], y)


@pytest.mark.parametrize("kind", [np.float32, np.int64, list])
def test_inputs_of_other_kinds_are_taken_as_numbers(kind):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    y = np.array([1, 4, 2, 0])
    expected = fit_posterior(X.astype(float), y.astype(float))
    given = (X.tolist(), y.tolist()) if kind is list else (X.astype(kind), y.astype(kind))
    np.testing.assert_array_equal(fit_posterior(*given).residual, expected.residual)


# -------------------------------------------------------------------------------- the laws


@settings(max_examples=30)
@given(observations(min_size=3), dyadics(-100, 100), magnitudes(-12, 12))
def test_law_units_of_the_observations_are_units_of_the_predictions(sample, shift, scale):
    X, y = sample
    Q = np.random.default_rng(0).random((5, X.shape[1]))
    here = fit_posterior(X, y, noise=1e-4)(Q)
    there = fit_posterior(X, scale * (y + shift), noise=1e-4)(Q)
    # Where the search stops depends on the last bits, by a few millionths at most in 3,000 draws.
    np.testing.assert_allclose(there.mean / scale, here.mean + shift, atol=1e-4)
    np.testing.assert_allclose(there.std / scale, here.std, atol=1e-4)


@settings(max_examples=30)
@given(observations(min_size=3))
def test_law_the_order_of_observations_does_not_matter(sample):
    X, y = sample
    Q = np.random.default_rng(0).random((5, X.shape[1]))
    order = np.random.default_rng(1).permutation(len(X))
    here = fit_posterior(X, y, noise=1e-4)(Q)
    there = fit_posterior(X[order], y[order], noise=1e-4)(Q)
    np.testing.assert_allclose(there.mean, here.mean, atol=1e-4)
    np.testing.assert_allclose(there.std, here.std, atol=1e-4)
