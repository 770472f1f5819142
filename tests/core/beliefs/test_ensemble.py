# SPDX-License-Identifier: Apache-2.0
"""Ensembles of posteriors, and models that are fitted to the same data."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs import Ensemble, Hyperparameters, Normal, condition
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.ensemble import DoubtedMarginals
from stopwise.core.beliefs.foresight import Foresight, Seen
from stopwise.core.beliefs.laws import Mixture
from stopwise.core.beliefs.models import SURROGATES, Data, PlainModel, WeighedModel, make_model
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, SoftWarp
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Real, as_domain
from stopwise.errors import InputError, InputTypeError
from tests.support.gradients import differences

RNG = np.random.default_rng(0)
X = RNG.random((9, 2))
Y = np.array([1.0, 1.2, 3.0, 0.9, 40.0, 2.5, 1.7, 1.1, 6.0])
Q = np.random.default_rng(1).random((6, 2))
BOX = as_domain({"a": Real(0, 1), "b": Real(0, 1)})
GROUPS = np.arange(2)


def ensemble(*, noise=1e-9, trust=1.0, weights=(0.2, 0.5, 0.3)):
    warps = (DEFAULT_WARP, SoftWarp(1.5, 0.4), Clipped(0.0, math.inf, SoftWarp(1.2, 0.2)))
    components = tuple(
        condition(
            X, Y, Hyperparameters([0.4, 0.6 + 0.1 * k], 1.0, noise, warp=warp),
            interpolate=noise < 1e-6,
        )
        for k, warp in enumerate(warps)
    )  # fmt: skip
    return Ensemble(components, np.array(weights), ("a", "b", "c"), trust)


def snapshot_of(objective, y=Y):
    price = UnitCost().price(BOX, X, np.ones(len(X)))
    return Snapshot(BOX, X, y, Belief(objective, price), np.empty((0, 2)))


def draws(model, at, n=400_000):
    """Monte Carlo of f at one point: a component, then its normal, then the warp undone."""
    rng = np.random.default_rng(3)
    which = rng.choice(3, size=n, p=model.weights)
    values = np.empty(n)
    for k, component in enumerate(model.components):
        mean, std = component(at[None, :])
        z = rng.normal(mean[0], std[0], size=n)
        values[which == k] = component.hyper.warp.inverse(z)[which == k]
    return values


def check_gradients_of_parameters(model, tolerance):
    law, gradients = model.law_with_gradient(Q)
    assert len(law.parameters) == len(gradients)
    for i, gradient in enumerate(gradients):
        rises = differences(lambda at, i=i: model.law(at).parameters[i], Q)
        np.testing.assert_allclose(gradient, rises, rtol=10 * tolerance, atol=tolerance)


def test_the_law_is_that_of_drawing_a_component_and_then_a_value():
    model = ensemble()
    law = model.law(Q)
    for i, at in enumerate(Q):
        values = draws(model, at)
        for level in np.quantile(values, [0.05, 0.4, 0.8]):
            gain = np.maximum(level - values, 0.0)
            error = gain.std() / math.sqrt(len(gain))
            assert abs(np.exp(law.log_ei(level).value[i]) - gain.mean()) < 5 * error + 1e-9
            share = np.mean(values <= level)
            assert abs(law.cdf(level).value[i] - share) < 5 * math.sqrt(0.25 / len(values))


def test_gradients_of_the_law_are_those_of_differences():
    check_gradients_of_parameters(ensemble(), tolerance=1e-5)


def test_observations_are_added_and_taken_away_in_every_component():
    model = ensemble()
    grown = model.append(Q[0], 1.3)
    assert len(grown) == len(Y) + 1
    np.testing.assert_allclose(grown.law(Q[:1]).median, 1.3, atol=1e-3)
    shorter = grown.prefix(len(Y))
    np.testing.assert_allclose(shorter.law(Q).median, model.law(Q).median, rtol=1e-9)
    for component, believed in zip(
        model.components, model.believing(Q[0]).components, strict=True
    ):
        np.testing.assert_allclose(
            believed.law(Q[:1]).median, component.law(Q[:1]).median, rtol=1e-4
        )
    worse = model.believing(Q[0], 30.0)
    assert (worse.law(Q[:1]).median >= 29.0).all()


def test_a_component_without_weight_is_not_heard():
    model = ensemble(weights=(1.0, 0.0, 0.0))
    assert isinstance(model.law(Q), Normal)
    np.testing.assert_array_equal(model.law(Q), model.components[0].law(Q))
    assert model.weighted == ((1.0, model.components[0]),)


def test_beside_the_incumbent_nothing_is_gained():
    """With noise the components disagree about f(x*); a neighbour of x* gains nothing."""
    model = ensemble(noise=0.05)
    value = float(model.law(X[:1]).median[0])
    seen = model.relative_to(X[0], value)
    far = np.exp(seen.law(X[:1] + 0.1).log_ei(value).value[0])
    for distance, most in ((1e-2, 0.3), (1e-4, 1e-2), (1e-6, 1e-4)):
        gain = np.exp(seen.law(X[:1] + distance).log_ei(value).value[0])
        assert gain <= most * far
    assert seen.law(X[:1]).log_ei(value).value[0] < math.log(1e-6 * far)


def test_the_difference_to_the_incumbent_is_joint_within_each_component():
    model = ensemble(noise=0.05)
    value, at = 1.1, Q[2]
    law = model.relative_to(X[0], value).law(at[None, :])
    rng, n = np.random.default_rng(5), 400_000
    which = rng.choice(3, size=n, p=model.weights)
    both = np.vstack([at, X[0]])
    values = np.empty(n)
    for k, component in enumerate(model.components):
        joint = rng.multivariate_normal(
            component(both).mean, component.covariance(both, both), size=n
        )
        f = component.hyper.warp.inverse(joint)
        values[which == k] = (value + f[:, 0] - f[:, 1])[which == k]
    for level in np.quantile(values, [0.1, 0.3, 0.6]):
        gain = np.maximum(level - values, 0.0)
        assert np.exp(law.log_ei(level).value[0]) == pytest.approx(gain.mean(), rel=0.02)


def test_components_seen_from_the_incumbent_are_asked_as_one_mixture():
    seen = ensemble(noise=0.05).relative_to(X[6], 1.7)
    law, nested = seen.law(Q), [component.law(Q) for component in seen.components]
    assert [isinstance(part, Mixture) for part in nested] == [False, True, True]
    assert len(law.laws) == 15
    apart = Mixture.of_checked(seen.weights, nested)
    for level in (1.0, 1.7, 3.0):
        np.testing.assert_allclose(law.log_ei(level).value, apart.log_ei(level).value, rtol=1e-10)
    fair, other = law.fair_value(0.03), apart.fair_value(0.03)
    np.testing.assert_allclose(fair.value, other.value, rtol=1e-10)
    np.testing.assert_allclose(fair.slopes, other.slopes, rtol=1e-7, atol=1e-12)


def test_gradients_of_the_law_seen_from_the_incumbent_are_those_of_differences():
    check_gradients_of_parameters(ensemble(noise=0.05).relative_to(X[0], 1.0), tolerance=1e-4)


def test_doubt_is_about_improvements_alone():
    model = ensemble(trust=0.25)
    snapshot = snapshot_of(model)
    doubted = snapshot.law(Q, from_incumbent=True)
    plain = model.law(Q)
    best = snapshot.best
    np.testing.assert_allclose(
        doubted.log_ei(best).value, plain.log_ei(best).value + math.log(0.25), rtol=1e-12
    )
    np.testing.assert_allclose(snapshot.law(Q).median, plain.median)
    assert isinstance(snapshot.seen(snapshot.belief, from_incumbent=True), DoubtedMarginals)
    law, gradients = snapshot.seen(snapshot.belief, from_incumbent=True).law_with_gradient(Q)
    assert len(law.parameters) == len(gradients)


def test_the_sum_of_components_is_the_belief():
    snapshot = snapshot_of(ensemble(trust=0.5))
    parts = snapshot.components
    assert math.isclose(sum(weight for weight, _ in parts), 1.0)
    level = 1.0
    total = sum(w * part.law(Q).cdf(level).value for w, part in parts)
    np.testing.assert_allclose(total, snapshot.law(Q).cdf(level).value, rtol=1e-12)
    assert all(part.incumbent == snapshot.incumbent for _, part in parts)
    assert all(part.belief.trust == 1.0 for _, part in parts)
    with pytest.raises(InputTypeError, match="several posteriors"):
        snapshot.belief.posterior  # noqa: B018  it is asked for


# ----------------------------------------------------------------------------- models


def data(**about):
    return Data(X, Y, GROUPS, **about)


def test_the_default_model_reads_bad_values_in_three_ways():
    model = WeighedModel().fit(data(design=6), None, ())
    design = Y[:6]
    warps = [component.hyper.warp for component in model.components]
    assert warps[0] == DEFAULT_WARP
    knee = float(np.median(design))
    assert warps[1] == SoftWarp(knee, knee - design.min())
    assert model.trust < 1.0
    assert model.resolution > 0
    assert model.unit > 0
    assert model.column_lengthscales.shape == (2,)


def test_equal_readings_share_a_fit_and_values_that_are_all_equal_are_fitted():
    flat = Data(X, np.full(len(X), 2.0), GROUPS)
    model = WeighedModel().fit(flat, None, ())
    assert model.components[0] is model.components[1] is model.components[2]
    again = WeighedModel().as_fitted(flat, model.fit)
    assert again.components[0] is again.components[2]


def test_weights_follow_what_was_seen_and_are_kept_by_a_fit_as_it_was():
    missed = [Seen(Foresight(0.5, (0.9, 0.2, 0.1)), came=False)] * 5
    before, after = (WeighedModel().fit(data(), None, seen) for seen in ((), missed))
    assert after.weights[0] < before.weights[0]
    assert after.trust < before.trust
    same = WeighedModel().weighed(before, missed)
    np.testing.assert_array_equal(same.weights, after.weights)
    again = WeighedModel().as_fitted(data(), after.fit)
    np.testing.assert_array_equal(again.weights, after.weights)
    np.testing.assert_array_equal(again.law(Q).parameters, after.law(Q).parameters)
    posterior = after.components[0]
    assert WeighedModel().weighed(posterior, missed) is posterior
    assert PlainModel().weighed(posterior, missed) is posterior


@pytest.mark.parametrize("name", SURROGATES)
def test_no_model_promises_what_is_beyond_the_bounds(name):
    model = make_model(name).fit(data(bounds=(0.5, math.inf)), None, ())
    law = model.law(Q)
    assert (law.log_ei(0.5).value == -np.inf).all()
    assert (law.quantile(-6.0).value >= 0.5).all()


@pytest.mark.parametrize("noise", ["learn", 0.04])
def test_noise_is_learned_or_taken_in_every_component(noise):
    model = WeighedModel().fit(data(noise=noise), None, ())
    assert not model.exact
    assert all(component.hyper.noise > 1e-7 for component in model.components)
    start = WeighedModel().fit(data(noise=noise), model.fit, ())
    np.testing.assert_allclose(start.law(Q).median, model.law(Q).median, rtol=0.05)


@pytest.mark.parametrize("noise", ["learn", 1e-4, 0.0225, 0.15])
def test_means_of_compressed_values_stay_sensible_where_there_is_noise(noise):
    # Two of the first values that are close make a small scale of compression, and the noise
    # leaves an uncertainty of many times that scale: means of 1e60 came of it.
    grid = np.linspace(0.0, 1.0, 20)[:, None]
    for seed in (8, 11, 26):
        rng = np.random.default_rng(seed)
        x = rng.random((10, 1))
        y = np.abs(x[:, 0] - 0.3) + 0.15 * rng.standard_normal(10)
        noisy = Data(x, y, np.zeros(1, dtype=int), design=4, noise=noise)
        for component in WeighedModel().fit(noisy, None, ()).components:
            assert np.abs(component.law(grid).mean).max() < 100.0 * np.ptp(y)


def test_the_scale_of_compression_is_no_less_than_a_given_noise():
    warps = [c.hyper.warp for c in WeighedModel().fit(data(noise=9.0), None, ()).components]
    assert [getattr(warp, "tau", None) for warp in warps] == [None, 3.0, 3.0]


def test_a_model_is_looked_up_by_name():
    assert make_model("paper").nugget == 1e-6
    model = WeighedModel()
    assert make_model(model) is model
    with pytest.raises(InputError, match="no surrogate 'gp'"):
        make_model("gp")
    with pytest.raises(InputTypeError):
        make_model(3)


def test_a_mixture_of_equals_is_each_of_them():
    one = condition(X, Y, Hyperparameters([0.4, 0.5], 1.0, 1e-9), interpolate=True)
    twice = Ensemble((one, one), np.array([0.5, 0.5]), ("a", "b"))
    np.testing.assert_allclose(
        twice.law(Q).fair_value(0.1).value, one.law(Q).fair_value(0.1).value, rtol=1e-9
    )
    np.testing.assert_allclose(twice.law(Q).mean, one.law(Q).mean, rtol=1e-12)
    assert replace(twice, trust=0.5).fit.trust == 0.5


def test_a_belief_of_one_posterior_has_the_law_of_that_posterior():
    one = condition(X, Y, Hyperparameters([0.4, 0.5], 1.0, 1e-9), interpolate=True)
    snapshot = snapshot_of(one)
    assert snapshot.seen(snapshot.belief, from_incumbent=True) is one
    assert snapshot.components == ((1.0, snapshot),)
    mean, std = one(Q)
    z = (snapshot.best - mean) / std
    ei = std * (z * stats.norm.cdf(z) + stats.norm.pdf(z))
    np.testing.assert_allclose(
        np.exp(snapshot.law(Q, from_incumbent=True).log_ei(snapshot.best).value), ei, rtol=1e-6
    )
