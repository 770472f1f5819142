# SPDX-License-Identifier: Apache-2.0
"""PRB against the true probability that more than epsilon can still be gained.

The truth is counted in joint draws of the textbook's posterior: over all candidates of a table,
over a fine grid of a box. Seeds are fixed; with others a statistical test of a right program would
fail with probability 1e-5 or so.
"""

import functools
import math
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.space import Categorical, Integer, Real, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping import (
    PBGI,
    UCBLCB,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    SRGapMedian,
    prb,
    sampled_regret,
)
from stopwise.stopping._clopper_pearson import acceptance_number, lower_bound, upper_bound
from stopwise.stopping._crossing import Crossings, Draws
from stopwise.stopping.prb import LOOKS
from stopwise.stopping.sampled_regret import exceedances, largest_chance, regrets, union_bound
from tests.support.textbook import LINE, SQUARE, TABLE, Textbook, study

DELTA = 0.05
LEVEL = DELTA / 2.0
DRAWS = 100_000
NOISY = 0.05
KINDS = pytest.mark.parametrize("noise", [None, NOISY], ids=["exact", "noisy"])

# Short length scales: many candidates that are nearly independent. Long: nearly one.
# Elsewhere lower values are expected than were seen, so that there is something to gain.
ROUGH = Hyperparameters([0.12, 0.12], 1.0, mean=-0.5)
SMOOTH = Hyperparameters([0.6, 0.6], 1.0, mean=-1.0)
CROWD = as_domain({"k": Integer(0, 200)})


def true_regrets(snapshot, points, draws=DRAWS, seed=70):
    """Draws of f(x*) - min f; what only rounding makes of 0 is 0."""
    book = Textbook(snapshot)
    rng = np.random.default_rng(seed)
    rows = np.vstack([points, book.incumbent])
    found = []
    for _ in range(draws // 10_000):
        values = book.draws(rows, rng, 10_000)
        found.append(values[:, -1] - values.min(axis=1))
    regret = np.concatenate(found)
    return np.where(regret < 1e-6, 0.0, regret)


def margin_for(regret, probability):
    """The epsilon that is exceeded with this probability."""
    return float(np.quantile(regret, 1.0 - probability))


def crowd(noise=None):
    """Many neighbours far from the data: their chances add up to more than they amount to."""
    return study(
        CROWD, X=CROWD.points[[0, 10, 20]], hyper=Hyperparameters([0.5], 1.0), noise=noise
    )


def exceeding(snapshot, epsilon, batches):
    """How many paths of each batch have a regret above epsilon."""
    return [np.count_nonzero(batch) for batch in exceedances(snapshot, epsilon, batches)]


def ask(snapshot, epsilon, seed=0, **options):
    rule = ProbabilisticRegretBound(epsilon, **options)
    signal = rule.signal(replace(snapshot, seed=seed))
    return rule.verdict(Trace.of((signal,))), signal


# ---------------------------------------------------------------------------- Clopper-Pearson


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


# --------------------------------------------------------------------- decisions on a table


@KINDS
@pytest.mark.parametrize("hyper", [ROUGH, SMOOTH], ids=["rough", "smooth"])
def test_decisions_far_from_the_level_are_those_of_the_true_probability(hyper, noise):
    snapshot = study(n=5, hyper=hyper, noise=noise)
    regret = true_regrets(snapshot, TABLE.points)
    for probability, stop in ((0.5, False), (0.15, False), (0.08, False), (0.004, True)):
        epsilon = margin_for(regret, probability)
        for seed in range(5):
            verdict, signal = ask(snapshot, epsilon, seed)
            assert verdict.stop == stop
            assert (signal.value <= LEVEL) == stop
            assert verdict.threshold == LEVEL


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


@KINDS
def test_well_below_the_level_it_stops_and_its_bound_holds(noise):
    snapshot = crowd(noise)
    regret = true_regrets(snapshot, CROWD.points[::4])
    epsilon = margin_for(regret, 0.3 * LEVEL)
    truth = np.mean(regret > epsilon)
    repeats, stops, missed = 100, 0, 0
    for seed in range(repeats):
        verdict, signal = ask(snapshot, epsilon, seed)
        stops += verdict.stop
        missed += signal.value < truth
        assert signal.facts["exceeding"] <= signal.facts["samples"]
    assert signal.facts["samples"] > 0
    assert stops >= 0.8 * repeats
    assert missed <= stats.binom.isf(1e-5, repeats, LEVEL)


def test_the_fraction_of_exceeding_paths_is_the_true_probability():
    for noise in (None, NOISY):
        for hyper in (ROUGH, SMOOTH):
            snapshot = study(n=6, hyper=hyper, noise=noise)
            regret = true_regrets(snapshot, TABLE.points)
            for probability in (0.3, 0.03):
                epsilon = margin_for(regret, probability)
                counts = sum(exceeding(snapshot, epsilon, [25_000, 25_000]))
                error = counts / 50_000 - np.mean(regret > epsilon)
                sure = math.sqrt(probability * (1.0 - probability) * (1 / 50_000 + 1 / DRAWS))
                assert abs(error) < 4.5 * sure + 1e-5


def test_many_candidates_are_sampled_as_paths(monkeypatch):
    snapshot = study(n=6, hyper=ROUGH)
    regret = true_regrets(snapshot, TABLE.points)
    monkeypatch.setattr(sampled_regret, "_EXACT", 5)
    monkeypatch.setattr(sampled_regret, "_POOL", 7)  # so that several blocks are needed
    for noise in (None, NOISY):
        snapshot = study(n=6, hyper=ROUGH, noise=noise)
        regret = true_regrets(snapshot, TABLE.points)
        epsilon = margin_for(regret, 0.2)
        shares = np.array(exceeding(snapshot, epsilon, [200] * 40)) / 200
        sure = math.hypot(shares.std(ddof=1) / math.sqrt(40), math.sqrt(0.16 / DRAWS))
        assert abs(shares.mean() - np.mean(regret > epsilon)) < 4.5 * sure


def test_only_candidates_that_cannot_matter_are_left_out():
    snapshot = study(n=12, hyper=SMOOTH)
    epsilon = 0.5
    book = Textbook(snapshot)
    lead, std = book.lead(TABLE.points)
    chances = stats.norm.cdf((lead - epsilon) / np.maximum(std, 1e-12))
    kept = TABLE.index_of(sampled_regret._likely_candidates(snapshot, TABLE, epsilon))
    out = np.setdiff1d(np.arange(len(TABLE)), kept)
    assert len(kept) < 28  # the evaluated are never among them
    assert not set(kept) & set(TABLE.index_of(snapshot.X))
    assert chances[out].sum() <= 1.01e-5
    assert chances[kept].min() >= chances[out].max()


# ------------------------------------------------------------------- decisions without a sample


@KINDS
def test_one_likely_point_is_enough_to_go_on(noise):
    snapshot = study(noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    z = (lead - 0.01) / np.maximum(std, 1e-9)
    verdict, signal = ask(snapshot, 0.01)
    assert signal.facts["samples"] == 0
    assert signal.value == pytest.approx(stats.norm.cdf(z.max()), rel=1e-6)
    assert signal.value > LEVEL
    assert not verdict.stop
    assert "(without a sample)" in verdict.reason


@KINDS
def test_the_largest_chance_decides_as_soon_as_it_is_above_the_level(noise):
    snapshot = study(n=4, hyper=ROUGH, noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    for factor, sampled in ((1.01, False), (0.99, True)):
        epsilon = float(np.max(lead - stats.norm.ppf(factor * LEVEL) * std))
        verdict, signal = ask(snapshot, epsilon)
        assert (signal.facts["samples"] > 0) == sampled
        assert not verdict.stop


@KINDS
def test_chances_that_add_up_to_little_are_enough_to_stop(noise):
    snapshot = study(noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    for epsilon in (12.0, 20.0):
        z = (lead - epsilon) / np.maximum(std, 1e-9)
        total = stats.norm.cdf(z).sum()
        assert total <= LEVEL
        verdict, signal = ask(snapshot, epsilon)
        assert signal.facts["samples"] == 0
        assert signal.value == pytest.approx(total, rel=1e-5, abs=1e-300)
        assert verdict.stop


def test_the_bounds_enclose_the_truth():
    for noise in (None, NOISY):
        for hyper in (ROUGH, SMOOTH):
            snapshot = study(n=7, hyper=hyper, noise=noise)
            regret = true_regrets(snapshot, TABLE.points)
            for epsilon in np.quantile(regret, [0.5, 0.9, 0.99]):
                truth = np.mean(regret > epsilon)
                slack = 4.5 * math.sqrt(truth / DRAWS)
                assert largest_chance(snapshot, epsilon) <= truth + slack
                assert union_bound(snapshot, epsilon) >= truth - slack


def test_what_is_known_exactly_gains_nothing_however_large_the_numbers():
    for unit in (1e-9, 1e12):
        snapshot = study(y=unit * study().y)
        verdict, signal = ask(snapshot, 12.0 * unit)
        assert verdict.stop
        assert signal.facts["samples"] == 0


# ------------------------------------------------------------------------------ early endings


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


def test_the_acceptance_number_is_the_largest_count_that_stops():
    for samples in LOOKS:
        for level in (0.005, 0.025, 0.45):
            few = acceptance_number(samples, level / 8, level)
            bounds = [upper_bound(k, samples, level / 8) for k in range(samples + 1)]
            assert few == sum(bound <= level for bound in bounds) - 1


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


# --------------------------------------------------------------------------------- on a box

BOXES = [
    pytest.param(LINE, 5, None, id="line-exact"),
    pytest.param(LINE, 6, 0.02, id="line-noisy"),
    pytest.param(SQUARE, 10, None, id="square-exact"),
    pytest.param(SQUARE, 12, 0.02, id="square-noisy"),
]


def box_study(domain, n, noise):
    scale = 0.12 if domain is LINE else 0.3
    return study(domain, n, hyper=Hyperparameters([scale] * domain.d, 1.0), noise=noise, seed=2)


def fine(domain):
    axis = np.linspace(0.0, 1.0, 301 if domain is LINE else 27)
    return np.stack(np.meshgrid(*[axis] * domain.d), axis=-1).reshape(-1, domain.d)


@functools.cache
def box_truth(domain, n, noise):
    return true_regrets(box_study(domain, n, noise), fine(domain), 20_000)


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_the_fraction_of_paths_is_the_true_probability(domain, n, noise):
    snapshot, regret = box_study(domain, n, noise), box_truth(domain, n, noise)
    epsilon = margin_for(regret, 0.15)
    # Batches have their own features, so their spread tells how sure their mean is.
    shares = np.array(exceeding(snapshot, epsilon, [80] * 16)) / 80
    sure = math.hypot(shares.std(ddof=1) / 4.0, math.sqrt(0.15 / 20_000))
    assert abs(shares.mean() - 0.15) < stats.t.isf(1e-5, 15) * sure
    assert sure < 0.015


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_decisions_far_from_the_level_are_right(domain, n, noise):
    snapshot, regret = box_study(domain, n, noise), box_truth(domain, n, noise)
    for probability, stop in ((0.5, False), (0.12, False), (0.001, True)):
        verdict, signal = ask(snapshot, margin_for(regret, probability))
        assert verdict.stop == stop
        if probability == 0.5:
            assert signal.facts["samples"] <= 64
    assert math.isinf(union_bound(snapshot, 1.0))  # no sum over a box


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_the_largest_chance_is_that_of_a_fine_grid(domain, n, noise):
    snapshot = box_study(domain, n, noise)
    points = fine(domain)
    lead, std = Textbook(snapshot).lead(points)
    for epsilon in (0.5, 2.0):
        highest = np.max((lead - epsilon) / np.maximum(std, 1e-6))
        low, high = stats.norm.cdf([highest - 1e-6, highest + 0.15])
        assert low <= largest_chance(snapshot, epsilon) <= high


def test_a_mixed_space_is_sampled_at_attainable_points():
    space = {"x": Real(0.0, 1.0), "k": Integer(1, 3), "c": Categorical(["plain", "bent"])}
    domain = as_domain(space)
    snapshot = study(domain, 9, hyper=Hyperparameters([0.3, 0.8, 1.0], 1.0))
    axis = np.linspace(0.0, 1.0, 101)
    params = [{"x": x, "k": k, "c": c} for x in axis for k in (1, 2, 3) for c in ("plain", "bent")]
    regret = true_regrets(snapshot, domain.encode(params), 20_000)
    for probability, stop in ((0.5, False), (0.1, False), (0.001, True)):
        assert ask(snapshot, margin_for(regret, probability))[0].stop == stop


def test_paths_descend_to_their_minima():
    """Of each path, the lowest value that screening and two descents find, and a fine grid's."""
    snapshot = box_study(SQUARE, 10, None)
    paths = sampled_regret.sample_paths(snapshot.belief.objective, np.random.default_rng(71), 60)
    lowest = sampled_regret._path_minima(snapshot, paths, None)
    axis = np.linspace(0.0, 1.0, 101)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    wanted = paths(grid).min(axis=1)
    unit = snapshot.belief.objective.standardiser.scale
    assert np.mean(lowest <= wanted + 1e-3 * unit) >= 0.95
    assert np.mean(lowest - wanted) < 1e-2 * unit


# -------------------------------------------------------------------- what could be gained in all


@KINDS
def test_regrets_have_the_true_distribution(noise, monkeypatch):
    for exact in (True, False):
        if not exact:
            monkeypatch.setattr(sampled_regret, "_EXACT", 5)
        snapshot = study(n=6, hyper=ROUGH, noise=noise)
        wanted = true_regrets(snapshot, TABLE.points, 20_000)
        rng = np.random.default_rng(72)
        found = np.concatenate([regrets(snapshot, rng, 250) for _ in range(16)])
        assert found.min() >= 0.0
        assert stats.ks_2samp(found, wanted).pvalue > 1e-5


def test_regrets_on_a_box_have_the_true_distribution():
    snapshot = box_study(LINE, 5, None)
    wanted = box_truth(LINE, 5, None)
    rng = np.random.default_rng(73)
    found = np.concatenate([regrets(snapshot, rng, 50) for _ in range(12)])
    assert stats.ks_2samp(found, wanted).pvalue > 1e-5
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.1)


# ---------------------------------------------------------------------------- the plain fraction


@pytest.mark.parametrize(
    ("t", "samples"),
    [(0, 64), (1, 64), (2, 96), (3, 144), (5, 324), (7, 729), (8, 1000), (9, 1000), (4000, 1000)],
)
def test_the_plain_fraction_is_of_n_t_paths(t, samples):
    snapshot = study(n=6, initial=6 - t)
    _, signal = ask(snapshot, 2.0, estimate="mean")
    assert signal.facts["samples"] == samples
    assert samples == (min(math.ceil(64 * 1.5 ** max(t - 1, 0)), 1000) if t < 1000 else 1000)
    assert signal.value == signal.facts["exceeding"] / samples


@KINDS
def test_the_plain_fraction_is_near_the_true_probability_and_compared_with_delta(noise):
    snapshot = study(n=6, initial=-10, hyper=ROUGH, noise=noise)
    regret = true_regrets(snapshot, TABLE.points)
    for probability, stop in ((0.3, False), (0.02, True)):
        verdict, signal = ask(snapshot, margin_for(regret, probability), estimate="mean")
        sure = math.sqrt(probability * (1.0 - probability) / 1000)
        assert abs(signal.value - probability) < 4.5 * sure
        assert (verdict.stop, verdict.threshold) == (stop, DELTA)


def test_the_plain_fraction_is_nothing_where_nothing_can_be_gained():
    verdict, signal = ask(study(n=20), 100.0, estimate="mean")
    assert signal.value == 0.0
    assert verdict.stop


# ------------------------------------------------------------------------------------ the rule


def test_a_signal_depends_on_epsilon_delta_and_how():
    rule = ProbabilisticRegretBound
    keys = {rule().key, rule(0.2).key, rule(delta=0.1).key, rule(estimate="mean").key}
    assert len(keys) == 4
    assert rule(np.float64(0.5)).key == rule(0.5).key
    assert rule(1).key == rule(1.0).key


def test_the_same_seed_gives_the_same_answer_and_watching_does_not_matter():
    snapshot = study(n=6, hyper=ROUGH)
    rule = ProbabilisticRegretBound(3.0)
    first = rule.signal(replace(snapshot))
    other = replace(snapshot)
    UCBLCB().signal(other)
    ProbabilisticRegretBound(1.0).signal(other)
    assert rule.signal(other) == first


def test_prb_in_words():
    rule = ProbabilisticRegretBound(0.25, delta=0.1)
    verdict = rule.verdict(Trace.of((Signal(3, 8, 0.0625, {"samples": 324.0}),)))
    assert verdict.reason == (
        "the probability that more than 0.25 can still be gained is put at 0.0625 (from 324"
        " samples); the risk allowed is 0.05: go on"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "ProbabilisticRegretBound(delta=1.0): give 0 < delta < 1."),
        ({"estimate": "median"}, "estimate='median'): give 'bound' or 'mean'."),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        ProbabilisticRegretBound(**options)


# -------------------------------------------------------------------------------------- memory


def test_no_rule_needs_more_than_a_fraction_of_a_gigabyte():
    domain = as_domain({f"channels_{i}": Integer(0, 7) for i in range(5)})
    assert len(domain) == 32_768
    X = domain.design(200, np.random.default_rng(74))
    y = np.sin(7.0 * X).sum(axis=1)
    snapshot = study(domain, X=X, y=y, hyper=Hyperparameters([0.5] * 5, 1.0), cost=UnitCost())
    # An epsilon at which thousands of candidates matter and samples must decide.
    epsilon = float(np.std(y)) * 2.2
    rules = [
        PBGI(0.1),
        LogEIPCMedian(),
        SRGapMedian(),
        UCBLCB(),
        ProbabilisticRegretBound(epsilon),
        ProbabilisticRegretBound(epsilon, estimate="mean"),
    ]
    for rule in rules:
        fresh = replace(snapshot)
        tracemalloc.start()
        signal = rule.signal(fresh)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**28, f"{rule}: {peak / 2**20:.0f} MiB"
    assert signal.facts["samples"] == 1000


def test_where_nothing_can_be_gained_no_net_is_laid():
    snapshot = box_study(SQUARE, 10, None)
    assert Crossings.over(snapshot, 1e3) is None
    verdict, signal = ask(snapshot, 1e3)
    assert verdict.stop
    assert signal.facts["exceeding"] == 0.0


def test_the_first_paths_on_a_box_are_the_same_however_they_are_asked_for():
    """The pilots come first, each once; all that follow are fresh."""
    snapshot = box_study(SQUARE, 10, None)
    epsilon = margin_for(box_truth(SQUARE, 10, None), 0.3)
    apart = np.concatenate(list(exceedances(replace(snapshot), epsilon, [40, 24, 64])))
    once = np.concatenate(list(exceedances(replace(snapshot), epsilon, [64, 64])))
    again = np.concatenate(list(exceedances(snapshot, epsilon, [10, 54])))
    np.testing.assert_array_equal(apart, once)
    np.testing.assert_array_equal(again, once[:64])
    assert 0 < np.count_nonzero(once[:64]) < 64
    assert np.any(once[:64] != once[64:])


def test_each_path_descends_from_its_lowest_point_and_from_the_lowest_away_from_it():
    draws = Crossings.over(study(SQUARE, 5), 0.1).coarse
    scaled = draws.points / draws.snapshot.belief.objective.column_lengthscales
    left = np.random.default_rng(4).random((20, len(scaled)))
    which, starts = draws._starts(left, 0.02)
    assert list(which[:20]) == list(range(20))
    for path in range(20):
        first, *second = starts[which == path]
        assert first == np.argmin(left[path])
        away = np.linalg.norm(scaled - scaled[first], axis=1) > 0.3
        lowest = np.flatnonzero(away)[np.argmin(left[path, away])]
        assert second == ([lowest] if left[path, lowest] < 0.02 else [])
    assert len(which) > 20


def test_paths_that_come_near_the_level_between_points_of_the_net_are_followed():
    snapshot = box_study(LINE, 6, None)
    regret = box_truth(LINE, 6, None)
    epsilon = margin_for(regret, 0.3)
    draws = Draws.at(snapshot, epsilon, np.linspace(0.0, 1.0, 9)[:, None], 0.1)
    rng = np.random.default_rng(8)
    level = snapshot.best - epsilon
    at_net = np.mean(draws.net.values(draws.net.normals(rng, 1000)).min(axis=1) < level)
    followed = np.mean(draws(rng, 1000, 1.0)[1])
    assert at_net < 0.2
    assert 0.22 < followed < 0.36  # a few pass by between the points unseen
