# SPDX-License-Identifier: Apache-2.0
"""The looks of PRB's sequential test: their bounds, how often they err, and when they end.

The truth is counted in joint draws of the textbook's posterior, over all candidates of a table.
Seeds are fixed; with others a statistical test of a right program would fail with probability 1e-5
or so.
"""

import math

import numpy as np
import pytest
from scipy import stats

from stopwise.stopping import (
    ProbabilisticRegretBound,
    prb,
)
from stopwise.stopping._clopper_pearson import acceptance_number, lower_bound, upper_bound
from stopwise.stopping.prb import LOOKS
from stopwise.stopping.sampled_regret import largest_chance, union_bound
from tests.support.rules import KINDS
from tests.support.textbook import TABLE, Textbook, study
from tests.support.true_regrets import (
    CROWD,
    DELTA,
    LEVEL,
    ROUGH,
    ask,
    crowd,
    margin_for,
    true_regrets,
)


def test_bounds_are_those_of_clopper_and_pearson():
    for samples in (1, 64, 1000):
        for exceeding in {0, 1, samples // 3, samples - 1, samples}:
            for risk in (0.003125, 0.05):
                upper = upper_bound(exceeding, samples, risk)
                lower = lower_bound(exceeding, samples, risk)
                if exceeding < samples:
                    wanted = stats.beta.ppf(1.0 - risk, exceeding + 1, samples - exceeding)
                    assert upper == pytest.approx(wanted, rel=1e-9)
                    # By definition: so few, or fewer, have probability `risk` there.
                    assert stats.binom.cdf(exceeding, samples, upper) == pytest.approx(risk)
                else:
                    assert upper == 1.0
                if exceeding > 0:
                    wanted = stats.beta.ppf(risk, exceeding, samples - exceeding + 1)
                    assert lower == pytest.approx(wanted, rel=1e-9)
                    assert stats.binom.sf(exceeding - 1, samples, lower) == pytest.approx(risk)
                else:
                    assert lower == 0.0


def test_the_looks_are_the_published_schedule():
    wanted = [min(math.ceil(64 * 1.5 ** (j - 1)), 1000) for j in range(1, 9)]
    assert list(LOOKS) == wanted
    assert min(math.ceil(64 * 1.5**6), 1000) < 1000 == LOOKS[-1]


def test_the_acceptance_number_is_the_largest_count_that_stops():
    for samples in LOOKS:
        for level in (0.005, 0.025, 0.45):
            few = acceptance_number(samples, level / 8, level)
            bounds = [upper_bound(k, samples, level / 8) for k in range(samples + 1)]
            assert few == sum(bound <= level for bound in bounds) - 1


# ------------------------------------------------------------- how often it errs, and when it ends


@KINDS
def test_the_sequential_test_errs_no_more_often_than_allowed(noise):
    """Just above the level a stop is an error; its rate must not exceed delta/2."""
    snapshot = study(n=6, hyper=ROUGH, noise=noise)
    regret = true_regrets(snapshot, TABLE.points)
    epsilon = margin_for(regret, 1.25 * LEVEL)
    assert largest_chance(snapshot, epsilon) < LEVEL
    assert union_bound(snapshot, epsilon) > LEVEL  # so that samples must decide
    repeats = 250
    stops = sum(ask(snapshot, epsilon, seed)[0].stop for seed in range(repeats))
    assert stops <= stats.binom.isf(1e-5, repeats, LEVEL)


def test_a_clear_no_takes_one_look():
    # Many candidates, each unlikely, together likely.
    snapshot = study(n=4, hyper=ROUGH)
    regret = true_regrets(snapshot, TABLE.points)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    epsilon = float(np.max(lead - stats.norm.ppf(0.9 * LEVEL) * std))
    assert np.mean(regret > epsilon) > 5.0 * LEVEL
    for seed in range(5):
        verdict, signal = ask(snapshot, epsilon, seed)
        assert not verdict.stop
        assert 0 < signal.facts["samples"] <= 144


def test_a_clear_yes_takes_as_many_samples_as_the_bound_needs():
    snapshot = crowd()
    regret = true_regrets(snapshot, CROWD.points[::4])
    epsilon = margin_for(regret, 0.001)
    assert union_bound(snapshot, epsilon) > LEVEL
    # With none exceeding, the first look at which 1 - risk^(1/n) <= level.
    first = next(n for n in LOOKS if 1.0 - (LEVEL / len(LOOKS)) ** (1.0 / n) <= LEVEL)
    assert first == 324
    for seed in range(5):
        verdict, signal = ask(snapshot, epsilon, seed)
        assert verdict.stop
        assert first <= signal.facts["samples"] <= 729


def plain_test(exceeds, risk, level):
    """The sequential test as it is defined: all looks, one after the other, and no shortcut."""
    counts = [np.count_nonzero(exceeds[:samples]) for samples in LOOKS]
    for samples, count in zip(LOOKS, counts, strict=True):
        if upper_bound(count, samples, risk) <= level:
            return True
        if lower_bound(count, samples, risk) > level:
            return False
    return False


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.2, 0.9])
def test_ending_early_never_changes_the_decision(monkeypatch, delta):
    rule = ProbabilisticRegretBound(1.0, delta=delta)
    rng = np.random.default_rng(75)
    early, stops = 0, 0
    for share in np.repeat([0.2, 0.6, 0.9, 1.1, 1.5, 3.0], 15):
        exceeds = rng.random(1000) < share * rule.level

        def drawn(_, __, batches, exceeds=exceeds):
            ends = np.cumsum(batches)
            return (exceeds[end - batch : end] for end, batch in zip(ends, batches, strict=True))

        monkeypatch.setattr(prb, "exceedances", drawn)
        signal = rule._sequential_test(study())
        stop = plain_test(exceeds, rule.level / len(LOOKS), rule.level)
        assert (signal.value <= rule.level) == stop
        samples, count = int(signal.facts["samples"]), int(signal.facts["exceeding"])
        assert count == np.count_nonzero(exceeds[:samples])
        assert signal.value == upper_bound(count, samples, rule.level / len(LOOKS))
        early += samples < 1000
        stops += stop
    assert early > 0
    assert (stops > 0) == (delta > 0.01)  # at 0.01 a thousand are too few for any look


def test_the_first_batch_is_the_first_look_and_the_next_ends_where_a_look_may_stop(monkeypatch):
    rule, asked = ProbabilisticRegretBound(1.0, delta=DELTA), []

    def drawn(_, __, batches):
        asked.extend(np.cumsum(batches).tolist())
        return (np.zeros(batch, dtype=bool) for batch in batches)

    monkeypatch.setattr(prb, "exceedances", drawn)
    rule._sequential_test(study())
    bounds = [upper_bound(0, n, rule.level / len(LOOKS)) for n in LOOKS]
    assert asked == [
        LOOKS[0],
        *(n for n, bound in zip(LOOKS, bounds, strict=True) if bound <= rule.level),
    ]


def test_at_the_level_it_ends_when_no_look_could_stop_any_more():
    snapshot = study(n=6, hyper=ROUGH)
    regret = true_regrets(snapshot, TABLE.points)
    epsilon = margin_for(regret, LEVEL)
    most = acceptance_number(LOOKS[-1], LEVEL / len(LOOKS), LEVEL)
    ended = 0
    for seed in range(10):
        verdict, signal = ask(snapshot, epsilon, seed)
        assert verdict.stop == (signal.value <= LEVEL)
        ended += signal.facts["samples"] < 1000 and signal.facts["exceeding"] > most
    assert ended >= 5
