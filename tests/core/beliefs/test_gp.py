# SPDX-License-Identifier: Apache-2.0
"""The posterior against dense textbook formulas, finite differences and simulation; its laws."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.beliefs import Hyperparameters, Standardiser, condition
from stopwise.errors import InputError
from tests.support.dense import DenseGP
from tests.support.gradients import differences
from tests.support.strategies import dyadics, hyperparameters, magnitudes, observations

GROUPS = np.array([0, 1, 1, 1, 2])  # a category of three choices between two numbers


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def some_data(rng, n=15, width=3):
    X = rng.random((n, width))
    return X, 40.0 + 7.0 * np.sin(5.0 * X).sum(axis=1)


def some_hyper(d=3, **changes):
    values = {"outputscale": 1.7, "noise": 1e-2, "mean": 0.3, **changes}
    return Hyperparameters(np.linspace(0.4, 1.1, d), **values)


# ------------------------------------------------------------------------- dense formulas


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["ungrouped", "grouped"])
def test_mean_and_deviation_are_the_textbook_s(rng, groups, interpolate):
    width = 3 if groups is None else groups.size
    X, y = some_data(rng, width=width)
    dense = DenseGP(X, y, some_hyper(), groups=groups)
    posterior = condition(X, y, some_hyper(), groups=groups, interpolate=interpolate)
    Q = np.vstack([rng.random((20, width)), X[:3]])
    mean, std = posterior(Q)
    np.testing.assert_allclose(mean, dense.mean(Q), rtol=1e-11)
    np.testing.assert_allclose(std, dense.std(Q, exact_data=interpolate), rtol=1e-9)


@pytest.mark.parametrize("interpolate", [False, True])
def test_covariances_between_pairs_are_the_textbook_s(rng, interpolate):
    X, y = some_data(rng)
    A, B = rng.random((6, 3)), rng.random((4, 3))
    posterior = condition(X, y, some_hyper(), interpolate=interpolate)
    dense = DenseGP(X, y, some_hyper())
    expected = dense.covariance(A, B, exact_data=interpolate)
    np.testing.assert_allclose(posterior.covariance(A, B), expected, atol=1e-11 * dense.scale**2)
    np.testing.assert_allclose(
        np.sqrt(np.diag(posterior.covariance(A, A))), posterior(A).std, rtol=1e-9
    )


def test_log_likelihood_is_the_textbook_s(rng):
    X, y = some_data(rng)
    expected = DenseGP(X, y, some_hyper()).log_likelihood()
    assert condition(X, y, some_hyper()).log_likelihood == pytest.approx(expected, rel=1e-12)


def test_many_candidates_are_answered_in_blocks_without_a_seam(rng):
    X, y = some_data(rng)
    posterior = condition(X, y, some_hyper())
    Q = rng.random((5000, 3))
    whole = posterior(Q)
    for rows in (slice(2040, 2060), slice(4090, 4100), slice(4990, 5000)):
        part = posterior(Q[rows])
        np.testing.assert_allclose(whole.mean[rows], part.mean, rtol=1e-13)
        np.testing.assert_allclose(whole.std[rows], part.std, rtol=1e-10)


# -------------------------------------------------------------------------- interpolation


def test_interpolation_reports_the_error_that_simulation_finds(rng):
    hyper = some_hyper(noise=0.3, mean=0.0)
    X, Q = rng.random((8, 3)), rng.random((5, 3))
    unit = Standardiser()
    dense = DenseGP(X, np.zeros(8), hyper, shift=0.0, scale=1.0)
    both = np.vstack([X, Q])
    factor = np.linalg.cholesky(dense.kernel(both, both) + 1e-12 * np.eye(13))
    truths = rng.standard_normal((20_000, 13)) @ factor.T
    guesses = truths[:, :8] @ dense.weights(Q)  # the same linear predictor on exact data
    square_errors = (guesses - truths[:, 8:]) ** 2
    found, sure = square_errors.mean(axis=0), square_errors.std(axis=0) / np.sqrt(20_000)
    posterior = condition(X, truths[0, :8], hyper, standardiser=unit, interpolate=True)
    np.testing.assert_allclose(posterior(Q).mean, guesses[0], atol=1e-10)
    assert np.all(np.abs(posterior(Q).std ** 2 - found) < 4.5 * sure)  # false alarm: 3e-5
    with_noise = condition(X, truths[0, :8], hyper, standardiser=unit)
    assert np.all(with_noise(Q).std ** 2 - found > 4.5 * sure)  # and the test has the power


@pytest.mark.parametrize("noise", [1e-9, 1e-6])
def test_nothing_is_left_to_gain_at_a_point_that_is_known_exactly(rng, noise):
    X, y = some_data(rng)
    sd = np.std(y, ddof=1)
    hyper = some_hyper(noise=noise)
    believed = condition(X, y, hyper)(X).std
    known = condition(X, y, hyper, interpolate=True)(X).std
    assert np.all(believed > 0.5 * np.sqrt(noise) * sd)
    assert np.all(known < 1e-5 * sd)
    assert np.all(known < 0.02 * believed)


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["ungrouped", "grouped"])
def test_gradients_are_those_of_differences(rng, groups, interpolate):
    width = 3 if groups is None else groups.size
    X, y = some_data(rng, width=width)
    posterior = condition(X, y, some_hyper(), groups=groups, interpolate=interpolate)
    Q = rng.random((7, width))
    normal, d_mean, d_std = posterior.with_gradient(Q)
    np.testing.assert_allclose(normal.mean, posterior(Q).mean, rtol=1e-12)
    np.testing.assert_allclose(normal.std, posterior(Q).std, rtol=1e-9)
    scale = posterior.standardiser.scale
    expected = differences(lambda Z: posterior(Z).mean, Q)
    np.testing.assert_allclose(d_mean, expected, atol=1e-7 * scale)
    expected = differences(lambda Z: posterior(Z).std, Q)
    np.testing.assert_allclose(d_std, expected, atol=1e-6 * scale)


def test_the_gradient_of_a_deviation_of_zero_is_zero():
    posterior = condition([[0.5]], [1.0], Hyperparameters([0.3], noise=0.0))
    normal, _, d_std = posterior.with_gradient(np.array([[0.5], [0.6]]))
    assert normal.std[0] == 0.0
    assert d_std[0, 0] == 0.0
    assert d_std[1, 0] > 0.0


# --------------------------------------------------------------------- append and prefix


@pytest.mark.parametrize("interpolate", [False, True])
def test_appending_one_by_one_is_conditioning_on_all(rng, interpolate):
    X, y = some_data(rng, n=40)
    standardiser = Standardiser.of(y)
    settings = {"standardiser": standardiser, "interpolate": interpolate}
    grown = condition(X[:3], y[:3], some_hyper(), **settings)
    for i in range(3, 40):
        grown = grown.append(X[i], y[i])
    whole = condition(X, y, some_hyper(), **settings)
    assert len(grown) == 40
    assert np.array_equal(grown.X, X)
    np.testing.assert_allclose(grown.lower, whole.lower, atol=1e-13)
    np.testing.assert_allclose(grown.residual, whole.residual, atol=1e-12)
    Q = rng.random((10, 3))
    np.testing.assert_allclose(grown(Q).mean, whole(Q).mean, rtol=1e-12)
    np.testing.assert_allclose(grown(Q).std, whole(Q).std, rtol=1e-9)


@pytest.mark.parametrize("k", [0, 1, 9, 15])
def test_a_prefix_is_conditioning_on_the_first_observations(rng, k):
    X, y = some_data(rng)
    posterior = condition(X, y, some_hyper(), interpolate=True)
    short = condition(
        X[:k], y[:k], some_hyper(), standardiser=posterior.standardiser, interpolate=True
    )
    Q = rng.random((10, 3))
    prefix = posterior.prefix(k)
    assert len(prefix) == k
    assert prefix.log_likelihood == pytest.approx(short.log_likelihood, rel=1e-12)
    for ours, theirs in zip(prefix.with_gradient(Q)[1:], short.with_gradient(Q)[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
    np.testing.assert_allclose(prefix(Q).mean, short(Q).mean, rtol=1e-12)
    np.testing.assert_allclose(prefix(Q).std, short(Q).std, rtol=1e-9)
    np.testing.assert_allclose(prefix.covariance(Q, Q), short.covariance(Q, Q), atol=1e-10)


def test_the_whitener_is_the_inverse_of_the_factor_however_it_came_about(rng):
    X, y = some_data(rng)
    posterior = condition(X[:9], y[:9], some_hyper())
    for x, value in zip(X[9:], y[9:], strict=True):
        posterior = posterior.append(x, value)
    for k in (0, 1, 9, len(X)):
        prefix = posterior.prefix(k)
        np.testing.assert_allclose(prefix.whitener @ prefix.lower, np.eye(k), atol=1e-12)
        assert prefix.whitener.flags.f_contiguous


def test_the_empty_prefix_is_the_prior(rng):
    X, y = some_data(rng)
    posterior = condition(X, y, some_hyper(mean=0.3, outputscale=1.7))
    Q = rng.random((4, 3))
    normal, d_mean, d_std = posterior.prefix(0).with_gradient(Q)
    sd = np.std(y, ddof=1)
    np.testing.assert_allclose(normal.mean, np.mean(y) + 0.3 * sd)
    np.testing.assert_allclose(normal.std, np.sqrt(1.7) * sd)
    assert not d_mean.any()
    assert not d_std.any()
    assert posterior.prefix(0).log_likelihood == 0.0
    regrown = posterior.prefix(0).append(X[0], y[0])
    np.testing.assert_allclose(regrown(Q).mean, posterior.prefix(1)(Q).mean, rtol=1e-13)


@pytest.mark.parametrize("k", [-1, 16])
def test_a_prefix_that_does_not_exist_is_refused(rng, k):
    posterior = condition(*some_data(rng), some_hyper())
    with pytest.raises(InputError, match=rf"prefix\({k}\) of 15 observations.*from 0 to 15"):
        posterior.prefix(k)


def test_conditioning_on_nothing_gives_the_prior():
    posterior = condition(np.empty((0, 2)), np.empty(0), Hyperparameters([0.5, 0.5], mean=0.2))
    assert posterior(np.zeros((1, 2))) == (pytest.approx([0.2]), pytest.approx([1.0]))


# ---------------------------------------------------------------------------------- jitter


def test_jitter_is_added_only_where_the_factorisation_fails(rng):
    X, y = some_data(rng)
    twice = np.vstack([X, X])
    assert condition(X, y, some_hyper(noise=0.0)).jitter == 0.0
    assert condition(twice, np.tile(y, 2), some_hyper(noise=1e-9)).jitter == 0.0
    exhausted = condition(twice, np.tile(y, 2), some_hyper(noise=0.0))
    assert 0.0 < exhausted.jitter <= 1e-11 * 1.7
    np.testing.assert_allclose(exhausted(X).mean, y, rtol=1e-6)
    K = DenseGP(twice, np.tile(y, 2), some_hyper(noise=0.0)).K
    np.testing.assert_allclose(
        exhausted.lower @ exhausted.lower.T, K + exhausted.jitter * np.eye(30), rtol=0, atol=1e-14
    )


def test_jitter_belongs_to_the_nugget_of_later_observations(rng):
    X, y = some_data(rng)
    standardiser = Standardiser.of(y)
    start = condition(
        np.vstack([X, X[:1]]), [*y, y[0]], some_hyper(noise=0.0), standardiser=standardiser
    )
    grown = start.append(X[1], y[1])
    assert start.jitter > 0.0
    assert grown.jitter >= start.jitter
    K = DenseGP(grown.X, y[[*range(15), 0, 1]], some_hyper(noise=grown.jitter)).K
    np.testing.assert_allclose(grown.lower @ grown.lower.T, K, rtol=0, atol=1e-14)


@pytest.mark.parametrize("interpolate", [False, True])
def test_a_duplicate_without_any_nugget_is_appended_by_factorising_anew(interpolate):
    exact = Hyperparameters([0.5], noise=0.0)
    unit = Standardiser()
    start = condition([[0.5], [0.0]], [1.0, 2.0], exact, standardiser=unit)
    start = dataclasses.replace(start, interpolate=interpolate)
    assert start.jitter == 0.0
    grown = start.append([0.5], 1.0)
    whole = condition(
        [[0.5], [0.0], [0.5]], [1.0, 2.0, 1.0], exact, standardiser=unit, interpolate=interpolate
    )
    assert grown.jitter == whole.jitter > 0.0
    Q = np.array([[0.2], [0.5], [0.9]])
    np.testing.assert_allclose(grown(Q).mean, whole(Q).mean, rtol=1e-9)
    np.testing.assert_allclose(grown(Q).std, whole(Q).std, atol=1e-6)


# ----------------------------------------------------------------------- what may come in


@pytest.mark.parametrize("kind", [np.float32, np.int64, list])
def test_inputs_of_other_kinds_are_taken_as_numbers(kind):
    X = np.array([[0, 1], [2, 3], [1, 1]])
    y = np.array([1, 4, 2])
    expected = condition(X.astype(float), y.astype(float), some_hyper(2))
    given = (X.tolist(), y.tolist()) if kind is list else (X.astype(kind), y.astype(kind))
    posterior = condition(*given, some_hyper(2))
    assert posterior.X.dtype == np.float64
    np.testing.assert_array_equal(posterior.residual, expected.residual)
    grown, reference = posterior.append(given[0][0], given[1][0]), expected.append(X[0], 1.0)
    np.testing.assert_array_equal(grown.residual, reference.residual)


@pytest.mark.parametrize(
    ("X", "y"),
    [([[0.1], [0.2]], [1.0]), ([0.1, 0.2], [1.0, 2.0]), ([[0.1]], [[1.0]]), ([], [])],
    ids=["too few values", "flat inputs", "values in a column", "no width"],
)
def test_inputs_that_do_not_belong_together_are_refused(X, y):
    with pytest.raises(InputError, match=r"X has shape .* and y has shape .*one row of X per"):
        condition(X, y, some_hyper(1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_wherever_they_enter(rng, bad):
    X, y = some_data(rng)
    posterior = condition(X, y, some_hyper())
    y[[4, 9]] = bad
    message = rf"observation 4 is {bad!r} \(2 of 15 are not finite\). Report a failed evaluation"
    with pytest.raises(InputError, match=message):
        condition(X, y, some_hyper())
    with pytest.raises(InputError, match=message):
        condition(X, y, some_hyper(), standardiser=Standardiser())
    with pytest.raises(InputError, match=rf"observation 0 is {bad!r} \(1 of 1 are not"):
        posterior.append(X[0], bad)


def test_a_posterior_cannot_be_changed(rng):
    X, y = some_data(rng)
    lengthscales = np.ones(3)
    groups = np.arange(3)
    first = condition(X, y, Hyperparameters(lengthscales, noise=1e-2), groups=groups)
    for posterior in (first, first.append(X[0], 1.0), first.prefix(15), first.prefix(4)):
        for array in (
            posterior.X,
            posterior.lower,
            posterior.residual,
            posterior.groups,
            posterior.hyper.lengthscales,
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        for thing, name in [(posterior, "jitter"), (posterior.hyper, "noise")]:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, name, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.standardiser.scale = 1.0
    before = first(X).mean
    X[:], y[:], lengthscales[:], groups[:] = 0.0, 0.0, 5.0, 0  # the caller's, still writeable
    np.testing.assert_array_equal(first(first.X).mean, before)


def test_a_posterior_is_itself_only_and_can_be_a_key(rng):
    X, y = some_data(rng)
    first, second = condition(X, y, some_hyper()), condition(X, y, some_hyper())
    assert {first: "a", second: "b"}[first] == "a"


# -------------------------------------------------------------------------------- the laws


@given(st.data(), observations())
def test_law_more_data_never_widen_the_belief(data, sample):
    X, y = sample
    posterior = condition(X, y, data.draw(hyperparameters(X.shape[1])))
    Q = np.random.default_rng(0).random((20, X.shape[1]))
    widths = np.array([posterior.prefix(k)(Q).std ** 2 for k in range(len(X) + 1)])
    assert np.all(np.diff(widths, axis=0) <= 1e-12 * posterior.hyper.outputscale)


@given(st.data(), observations(), st.booleans())
def test_law_the_order_of_observations_does_not_matter(data, sample, interpolate):
    X, y = sample
    hyper = data.draw(hyperparameters(X.shape[1]))
    order = np.array(data.draw(st.permutations(range(len(X)))))
    Q = np.random.default_rng(0).random((5, X.shape[1]))
    here = condition(X, y, hyper, interpolate=interpolate)(Q)
    there = condition(X[order], y[order], hyper, interpolate=interpolate)(Q)
    np.testing.assert_allclose(there.mean, here.mean, atol=1e-9)
    np.testing.assert_allclose(there.std**2, here.std**2, atol=1e-9)


@given(st.data(), observations(), dyadics(-100, 100), magnitudes(-12, 12), st.booleans())
def test_law_units_of_the_observations_are_units_of_the_predictions(
    data, sample, shift, scale, interpolate
):
    X, y = sample
    hyper = data.draw(hyperparameters(X.shape[1]))
    Q = np.random.default_rng(0).random((5, X.shape[1]))
    here = condition(X, y, hyper, interpolate=interpolate).with_gradient(Q)
    there = condition(X, scale * (y + shift), hyper, interpolate=interpolate).with_gradient(Q)
    np.testing.assert_allclose(there[0].mean / scale, here[0].mean + shift, atol=1e-9)
    np.testing.assert_allclose(there[0].std / scale, here[0].std, atol=1e-9)
    np.testing.assert_allclose(there[1] / scale, here[1], atol=1e-7)
    np.testing.assert_allclose(there[2] / scale, here[2], atol=1e-7)


# ------------------------------------------------------------------- what others ask of it


def test_what_acquisitions_and_rules_ask_of_a_posterior(rng):
    X, y = rng.random((6, 3)), 5.0 + 2.0 * rng.random(6)
    hyper = Hyperparameters([0.4, 0.9], 1.3, 1e-4)
    groups = np.array([0, 1, 1])
    exact = condition(X, y, hyper, groups=groups, interpolate=True)
    noisy = condition(X, y, hyper, groups=groups)
    assert (exact.exact, noisy.exact) == (True, False)
    np.testing.assert_array_equal(exact.column_lengthscales, [0.4, 0.9, 0.9])
    assert exact.unit == noisy.unit == pytest.approx(np.std(y, ddof=1), rel=1e-12)
    assert exact.resolution == pytest.approx(1e-2 * exact.unit)
    assert noisy.resolution == 0.0
    with pytest.raises(ValueError, match="read-only"):
        exact.column_lengthscales[0] = 1.0
    Q = rng.random((4, 3))
    np.testing.assert_array_equal(exact.law(Q), exact(Q))
    law, gradients = noisy.law_with_gradient(Q)
    normal, d_mean, d_std = noisy.with_gradient(Q)
    np.testing.assert_array_equal(law, normal)
    np.testing.assert_array_equal(gradients, (d_mean, d_std))


@pytest.mark.parametrize("interpolate", [False, True])
def test_the_likeliest_mean_is_where_the_likelihood_is_highest(rng, interpolate):
    X, y = rng.random((9, 2)), 3.0 + rng.standard_normal(9)
    unit = Standardiser()
    hyper = Hyperparameters([0.5, 0.7], 1.2, 0.1, mean=0.4)
    best = condition(X, y, hyper, standardiser=unit, interpolate=interpolate).with_likeliest_mean()
    dense = DenseGP(X, y, best.hyper, shift=0.0, scale=1.0)
    assert best.log_likelihood == pytest.approx(dense.log_likelihood(), rel=1e-10)
    for step in (-1e-3, 1e-3):
        other = dataclasses.replace(best.hyper, mean=best.hyper.mean + step)
        assert condition(X, y, other, standardiser=unit).log_likelihood < best.log_likelihood
    again = condition(X, y, best.hyper, standardiser=unit, interpolate=interpolate)
    np.testing.assert_allclose(best(X), again(X), rtol=1e-9)
    assert best.with_likeliest_mean().hyper.mean == pytest.approx(best.hyper.mean, abs=1e-12)


def test_no_data_have_no_likeliest_mean():
    prior = condition(np.empty((0, 1)), np.empty(0), Hyperparameters([0.5]))
    with pytest.raises(InputError, match="no observation"):
        prior.with_likeliest_mean()
