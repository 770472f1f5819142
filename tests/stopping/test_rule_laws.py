# SPDX-License-Identifier: Apache-2.0
"""Laws of rules and their wrappers, on recorded signals that are drawn."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stopwise import acquisition, replay
from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Candidates, as_domain
from stopwise.core.traces import Trace
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
)
from tests.support.oracles import fair_value_partials, log_ei_partials, mp
from tests.support.strategies import costs, dyadics, magnitudes, reals, traces

RULES = [
    PBGI(0.1),
    PBGI(0.1, update="before"),
    LogEIPCMedian(initial=4),
    SRGapMedian(initial=4),
    UCBLCB(0.5),
    ProbabilisticRegretBound(),
    GSS(0.5),
    Convergence(),
    Immediate(),
    FixedTrials(5),
]
WRAPPERS = {
    "bare": lambda rule: rule,
    "after": lambda rule: After(rule, 3),
    "smoothed": lambda rule: Smoothed(rule, 4),
    "smoothed-linear": lambda rule: Smoothed(rule, 4, scale="linear"),
    "after-smoothed": lambda rule: After(Smoothed(rule, 4), 3),
    "smoothed-after": lambda rule: Smoothed(After(rule, 3), 4),
}


def every_rule(function):
    return pytest.mark.parametrize("rule", RULES, ids=repr)(function)


def stop_of(rule, trace):
    """The first t at which a rule stops; infinity if it does not."""
    [found] = replay({rule.key: trace}, [rule])
    return math.inf if found.stop_t is None else found.stop_t


def moments(trace):
    return [trace.upto(signal.n) for signal in trace]


def written(verdicts):
    return [repr(verdict) for verdict in verdicts]


# ---------------------------------------------------------------------- recorded signals


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@given(traces(), costs(), costs())
def test_a_larger_lambda_never_stops_later(wrap, trace, one, other):
    smaller, larger = sorted([one, other])
    assert stop_of(wrap(PBGI(larger)), trace) <= stop_of(wrap(PBGI(smaller)), trace)


@every_rule
@given(trace=traces())
def test_a_window_of_one_is_the_rule_itself(rule, trace):
    smoothed = Smoothed(rule, 1)
    for moment in moments(trace):
        assert repr(smoothed.verdict(moment)) == repr(rule.verdict(moment))


@every_rule
@given(trace=traces(), window=st.integers(1, 9))
def test_a_smoothed_rule_without_an_answer_goes_on(rule, trace, window):
    blank = replace(trace.current, value=math.nan)
    trace = Trace.of((*trace.signals[:-1], blank))
    assert not Smoothed(rule, window).verdict(trace).stop


@every_rule
@given(trace=traces(), trials=st.integers(1, 20))
def test_a_rule_after_some_trials_is_silent_and_then_itself(rule, trace, trials):
    after = After(rule, trials)
    for moment in moments(trace):
        verdict = after.verdict(moment)
        if moment.current.t < trials:
            assert not verdict.stop
            assert str(moment.current.t) in verdict.reason
        else:
            assert repr(verdict) == repr(rule.verdict(moment))


@every_rule
@given(trace=traces(), trials=st.integers(1, 20))
def test_a_rule_after_some_trials_stops_at_its_first_stop_from_then_on(rule, trace, trials):
    stops = [m.current.t for m in moments(trace) if rule.verdict(m).stop]
    wanted = min((t for t in stops if t >= trials), default=math.inf)
    assert stop_of(After(rule, trials), trace) == wanted


@every_rule
@given(trace=traces())
def test_ties_stop(rule, trace):
    answer = replace(trace.current, value=1.0)  # whatever was recorded, perhaps nan
    threshold = rule.verdict(Trace.of((*trace.signals[:-1], answer))).threshold
    assume(math.isfinite(threshold))
    tie = replace(trace.current, value=float(threshold))
    verdict = rule.verdict(Trace.of((*trace.signals[:-1], tie)))
    assume(verdict.threshold == threshold)  # a median may have moved with the value
    assert verdict.stop


@every_rule
@given(trace=traces(), more=traces())
def test_what_comes_later_changes_no_earlier_verdict(rule, trace, more):
    last = trace.current
    later = [replace(s, t=s.t + last.t + 1, n=s.n + last.n + 1) for s in more]
    [short] = replay({rule.key: trace}, [rule])
    [long] = replay({rule.key: Trace.of((*trace.signals, *later))}, [rule])
    seen = [long.verdicts[t] for t in short.verdicts]
    assert written(seen) == written(short.verdicts.values())


@given(traces(values=dyadics(-12, 6)), st.integers(1, 9), magnitudes(-3, 3))
def test_an_average_moves_with_its_values(trace, window, factor):
    """In other units a log signal is shifted, and so is its average, on either scale."""
    shift = math.log(factor)
    moved = Trace.of(tuple(replace(s, value=s.value + shift) for s in trace))
    for scale in (None, "log", "linear"):
        one, other = (
            Smoothed(PBGI(lam), window, scale).verdict(given)
            for lam, given in ((0.1, trace), (0.1 * factor, moved))
        )
        assert other.value - one.value == pytest.approx(shift, abs=1e-9)
        assert other.threshold - one.threshold == pytest.approx(shift, abs=1e-9)


# ------------------------------------------------------------- three forms of one rule


@st.composite
def snapshots(draw):
    """A table of candidates with known costs, some of them evaluated."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.choice(64, size=6, replace=False) / 64
    domain = as_domain(Candidates([{"x": float(x)} for x in rows]))
    n = draw(st.integers(2, 5))
    X, y = domain.points[:n], draw(magnitudes(-3, 3)) * rng.standard_normal(n)
    hyper = Hyperparameters(np.array([draw(magnitudes(-1.5, 0.5))]), noise=1e-9)
    price = KnownCost(10.0 ** rng.uniform(-1.0, 1.0, 6)).price(domain, X, np.ones(n))
    belief = Belief(condition(X, y, hyper, interpolate=True), price)
    return Snapshot(domain, X, y, belief, np.empty((0, 1)), initial=n)


@settings(max_examples=50)  # each takes a sixth of a second, by quadrature
@given(snapshots(), reals(-3.0, 3.0))
def test_the_three_forms_of_the_rule_agree(snapshot, log_factor):
    """No fair value below y*; no EI above its price; sup log EI/c at most log lambda.

    The first two come from the definition of expected improvement, by quadrature.
    """
    assume(abs(log_factor) > 1e-6)  # away from rounding
    signal = PBGI(1.0).signal(snapshot)
    assume(math.isfinite(signal.value) and signal.value > -200.0)
    lam = math.exp(signal.value + log_factor)
    free = ~snapshot.taken(snapshot.domain.points)
    mean, std = (a[free] for a in snapshot.law(snapshot.domain.points))
    price = np.exp(snapshot.belief.log_price(snapshot.domain.points))[free]
    assume(np.all(std > 1e-6 * np.ptp(snapshot.y)))  # where deviations are more than rounding
    rows = list(zip(mean.tolist(), std.tolist(), (lam * price).tolist(), strict=True))
    fair_values = [fair_value_partials(*row)[0] for row in rows]
    gains = [mp.exp(log_ei_partials(m, s, snapshot.best)[0]) for m, s, _ in rows]

    by_fair_value = min(fair_values) >= snapshot.best
    by_gain = all(gain <= cost for gain, (_, _, cost) in zip(gains, rows, strict=True))
    verdict = PBGI(lam).verdict(Trace.of((signal,)))
    assert by_fair_value == by_gain == verdict.stop == (log_factor > 0)

    # The acquisitions that carry the paper's Lemma say so too, at their own optimum.
    assert (-snapshot.sup(acquisition.PBGI(lam)).value >= snapshot.best) == verdict.stop
    assert (snapshot.sup(acquisition.EIC(lam)).value <= 0.0) == verdict.stop
