# SPDX-License-Identifier: Apache-2.0
"""SRGap, term by term, against the definition of Ishibashi et al. 2023.

    |mu_(t-1)(x*_(t-1)) - mu_t(x*_t)|  +  E max(G, 0)  +  kappa_(t-1) sqrt(KL_t/2)

x* are incumbents; G = f(x*_t) - f(x*_(t-1)) under the new posterior, 0 where the two are one;
kappa is the confidence gap of the old posterior, with an unscaled beta at the new n; KL is that
from the new posterior to the old one at the last evaluated point, in standardised units.
"""

import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.traces import Signal, Trace
from stopwise.stopping import SRGapMedian
from stopwise.stopping.srgap_median import srgap_terms
from tests.support.textbook import LINE, TABLE, Textbook, positive_part, study

NOISE = 0.05
LEAST = 1e-6  # of the standardised variance: the noise that exact data are given in KL


def normal_kl(m1, v1, m0, v0):
    """KL(N(m1, v1) || N(m0, v0)), any textbook."""
    return 0.5 * (math.log(v0 / v1) + v1 / v0 + (m1 - m0) ** 2 / v0 - 1.0)


def joint_kl(m1, C1, m0, C0):
    """The same for many dimensions."""
    shift = m0 - m1
    _, log_det_1 = np.linalg.slogdet(C1)
    _, log_det_0 = np.linalg.slogdet(C0)
    solved = np.linalg.solve(C0, C1)
    quadratic = shift @ np.linalg.solve(C0, shift)
    return 0.5 * (np.trace(solved) + quadratic - len(m1) + log_det_0 - log_det_1)


def old_kappa(snapshot, grid):
    """The confidence gap of the posterior before the last observation."""
    old, n, d = Textbook(snapshot, -1), snapshot.n, snapshot.domain.d
    root = math.sqrt(2.0 * math.log(d * n**2 * math.pi**2 / (6.0 * 0.1)))
    upper = np.min(old.mean(old.X) + root * old.std(old.X))
    return upper - np.min(old.mean(grid) - root * old.std(grid))


def divergence(snapshot, noise):
    """KL(new || old) of f at the last point, by Bayes' rule for one observation with noise."""
    old, scale = Textbook(snapshot, -1), Textbook(snapshot).gp.scale
    x = snapshot.X[-1:]
    m0, v0 = float(old.mean(x)[0]) / scale, float(old.std(x)[0] / scale) ** 2
    precision = 1.0 / v0 + 1.0 / noise
    m1 = (m0 / v0 + snapshot.y[-1] / scale / noise) / precision
    return normal_kl(m1, 1.0 / precision, m0, v0)


def ishibashi(snapshot, grid, noise):
    """The three terms, each from its definition."""
    new, old = Textbook(snapshot), Textbook(snapshot, -1)
    shift = abs(old.best - new.best)
    gain = 0.0
    if not np.array_equal(new.incumbent, old.incumbent):
        pair = np.vstack([new.incumbent, old.incumbent])
        mean, covariance = new.mean(pair), new.covariance(pair)
        v = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])
        gain = float(positive_part(mean[0] - mean[1], v))
    kl = divergence(snapshot, noise)
    return shift, gain, old_kappa(snapshot, grid) * math.sqrt(0.5 * kl)


# ----------------------------------------------------------------------------------- the terms


@pytest.mark.parametrize("noise", [None, NOISE], ids=["exact", "noisy"])
def test_the_three_terms_on_a_table(noise):
    changed = 0
    for seed in range(12):
        snapshot = study(noise=noise, seed=seed)
        wanted = ishibashi(snapshot, TABLE.points, NOISE if noise else LEAST)
        np.testing.assert_allclose(srgap_terms(snapshot), wanted, rtol=1e-6, atol=1e-9)
        signal = SRGapMedian().signal(snapshot)
        assert signal.value == pytest.approx(sum(wanted), rel=1e-6)
        assert [signal.facts[k] for k in ("shift", "gain", "spread")] == list(
            srgap_terms(snapshot)
        )
        changed += wanted[1] > 0.0
    assert noise is None or changed >= 2  # else the second term was not tested


def test_the_three_terms_on_a_line():
    snapshot = study(LINE, 5, hyper=Hyperparameters([0.15], 1.0))
    grid = np.linspace(0.0, 1.0, 1501)[:, None]
    wanted = ishibashi(snapshot, grid, LEAST)
    np.testing.assert_allclose(srgap_terms(snapshot), wanted, rtol=1e-4)


def test_the_divergence_is_that_of_the_whole_function():
    # Only one observation lies between the two posteriors, so that all the rest of the function
    # is the same given f there: at more points there is no more divergence.
    snapshot = study(noise=NOISE)
    new, old = Textbook(snapshot), Textbook(snapshot, -1)
    points = np.vstack([snapshot.X[-1:], TABLE.points[[2, 14, 37]]])
    joint = joint_kl(
        new.mean(points), new.covariance(points), old.mean(points), old.covariance(points)
    )
    assert divergence(snapshot, NOISE) == pytest.approx(joint, rel=1e-6)
    spread = srgap_terms(snapshot)[2]
    kappa = old_kappa(snapshot, TABLE.points)
    assert spread == pytest.approx(kappa * math.sqrt(0.5 * joint), rel=1e-6)


def test_the_divergence_has_no_unit():
    here = study(noise=NOISE)
    there = study(noise=NOISE, y=1000.0 * here.y + 7.0)
    for one, other in zip(srgap_terms(here), srgap_terms(there), strict=True):
        assert other == pytest.approx(1000.0 * one, rel=1e-6)


def test_the_old_posterior_has_the_new_hyperparameters_and_unit():
    # Conditioned on naively, at hyper-parameters and a standardiser set by hand.
    snapshot = study(noise=NOISE)
    posterior = snapshot.belief.objective
    old = condition(
        snapshot.X[:-1],
        snapshot.y[:-1],
        posterior.hyper,
        standardiser=posterior.standardiser,
        groups=posterior.groups,
    )
    lowest = float(np.min(old(snapshot.X[:-1]).mean))
    now = float(np.min(posterior(snapshot.X).mean))
    assert srgap_terms(snapshot)[0] == pytest.approx(abs(lowest - now), abs=1e-10)


# ------------------------------------------------------------------------------- special cases


def test_with_exact_data_the_shift_is_the_improvement_and_the_second_term_is_nothing():
    X = TABLE.points[[0, 10, 20, 35]]
    worse = srgap_terms(study(X=X, y=[3.0, 1.0, 2.0, 5.0]))
    assert worse[:2] == (0.0, 0.0)
    better = srgap_terms(study(X=X, y=[3.0, 1.0, 2.0, 0.25]))
    assert better[:2] == (0.75, 0.0)


def test_with_the_same_incumbent_the_second_term_is_nothing():
    X = TABLE.points[[0, 10, 20, 35]]
    shift, gain, spread = srgap_terms(study(X=X, y=[3.0, 0.0, 2.0, 5.0], noise=0.01))
    assert gain == 0.0
    assert shift > 0.0  # the mean there moves all the same
    assert spread > 0.0


def test_the_same_point_twice_is_one_incumbent():
    X = TABLE.points[[0, 10, 20, 10]]
    snapshot = study(X=X, y=[3.0, 0.5, 2.0, -1.0], noise=0.1)
    np.testing.assert_array_equal(snapshot.X[snapshot.incumbent], TABLE.points[10])
    assert srgap_terms(snapshot)[1] == 0.0


def test_a_new_incumbent_that_is_uncertain_has_a_second_term():
    X = TABLE.points[[0, 39, 20]]
    snapshot = study(X=X, y=[0.0, 2.0, -0.1], noise=0.5, initial=2)
    new, old = Textbook(snapshot), Textbook(snapshot, -1)
    assert not np.array_equal(new.incumbent, old.incumbent)
    draws = new.draws(
        np.vstack([new.incumbent, old.incumbent]), np.random.default_rng(60), 200_000
    )
    gains = np.maximum(draws[:, 0] - draws[:, 1], 0.0)
    sure = gains.std() / math.sqrt(len(gains))
    assert abs(srgap_terms(snapshot)[1] - gains.mean()) < 5.0 * sure
    assert gains.mean() > 0.05


def test_exact_data_are_given_a_little_noise_in_the_divergence():
    # With none at all the divergence would be infinite: f(x) becomes known.
    snapshot = study()
    kappa = old_kappa(snapshot, TABLE.points)
    for noise, same in ((LEAST, True), (1e-5, False), (1e-9, False)):
        spread = kappa * math.sqrt(0.5 * divergence(snapshot, noise))
        assert (srgap_terms(snapshot)[2] == pytest.approx(spread, rel=1e-6)) == same


# ------------------------------------------------------------------------------------ the rule


def test_at_t_0_there_is_no_step_to_speak_of():
    assert math.isnan(SRGapMedian().signal(study(n=5, initial=5)).value)
    assert math.isfinite(SRGapMedian().signal(study(n=5, initial=4)).value)


def record(values):
    return Trace.of(tuple(Signal(t, t + 5, v) for t, v in enumerate(values)))


def test_the_threshold_is_a_fraction_of_the_median_of_t_1_to_i():
    rule = SRGapMedian(chi=0.1, initial=4)
    values = [math.nan, 8.0, 2.0, 6.0, 1.0]  # median 4
    for last in range(1, 6):
        verdict = rule.verdict(record(values[:last]))
        assert not verdict.stop
        assert verdict.reason == f"{last - 1} of 4 first values of the regret gap: go on"
    for value, stop in ((0.41, False), (0.4, True), (0.0, True)):
        verdict = rule.verdict(record([*values, value]))
        assert verdict.stop == stop
        assert verdict.threshold == pytest.approx(0.4)
    assert verdict.reason == (
        "the last evaluation moved the expected regret by at most 0, and 0.1 of its median over"
        " the first 4 evaluations is 0.4: stop"
    )


def test_without_any_first_value_there_is_no_threshold():
    trace = Trace.of((Signal(0, 5, math.nan), Signal(9, 14, 0.1)))
    verdict = SRGapMedian(initial=4).verdict(trace)
    assert not verdict.stop
    assert math.isnan(verdict.threshold)


def test_thresholds_share_a_record():
    assert SRGapMedian(0.1, 5).key == SRGapMedian(0.2, 9).key == "srgap"
