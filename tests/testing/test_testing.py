# SPDX-License-Identifier: Apache-2.0
"""Each law is broken on purpose once, and the check must notice and name it."""

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import expit

from stopwise.acquisition import LCB, LogEIPC, Partials, PointwiseScore
from stopwise.core.search.supremum import Supremum
from stopwise.errors import StopwiseError
from stopwise.stopping import (
    PBGI,
    After,
    Boundary,
    FixedTrials,
    RuleParameter,
    RuleTraits,
    SignalKind,
    ThresholdRule,
    Verdict,
)
from stopwise.testing import (
    ACQUISITION_LAWS,
    RULE_LAWS,
    UNITS,
    Law,
    LawBroken,
    check_acquisition,
    check_stopping_rule,
)
from stopwise.testing._law import Case, numbers_of, verify, with_parameters

CALLS = itertools.count()
SEEN = {}

# --------------------------------------------------------------------- broken acquisitions


@dataclass(frozen=True)
class NetBound:
    """A bound below the median, less a price: what someone might write."""

    lam: float = 0.01

    def __call__(self, law, log_price, best):  # noqa: ARG002
        price = self.lam * np.exp(log_price)
        bound, slopes = law.quantile(-1.0)
        return Partials(-bound - price, tuple(-slope for slope in slopes), -price)

    def bind(self, snapshot):
        return PointwiseScore(self, snapshot, in_objective_units=True)


@dataclass(frozen=True)
class By:
    """An acquisition by a formula, or by whatever else gives a score."""

    formula: Callable = NetBound()
    score: Callable = PointwiseScore
    exclude: bool = True

    def bind(self, snapshot):
        return self.score(self.formula, snapshot, exclude=self.exclude, in_objective_units=True)


class Mutable:
    def bind(self, snapshot):
        return NetBound().bind(snapshot)


@dataclass(frozen=True, eq=False)
class NeverEqual:
    def bind(self, snapshot):
        return NetBound().bind(snapshot)


@dataclass(unsafe_hash=True)
class Settable:
    width: float = 1.0

    def bind(self, snapshot):
        return NetBound().bind(snapshot)


def nan_where_certain(law, log_price, best):
    mean, std, *others = law.parameters  # others: of a chance, a utility
    with np.errstate(all="ignore"):
        value = std - mean + 0.0 * mean / std
    ones = np.ones_like(mean)
    return Partials(value, (-ones, ones, *(0.0 * each for each in others)), 0.0 * ones)


def anchored(law, log_price, best):
    """It depends on where y is counted from."""
    mean, std = law.parameters
    bent = np.logaddexp(0.0, 4.0 * mean)
    slope = -4.0 * expit(4.0 * mean)
    return Partials(std - bent, (slope, np.ones_like(std)), 0.0 * mean)


def unscaled(law, log_price, best):
    """Its price is in objective units, whatever they are."""
    return NetBound(0.3)(law, log_price, best)


def spendthrift(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(law.std - law.mean + 0.01 * log_price, (-ones, ones), 0.01 * ones)


def upward(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(law.std + law.mean, (ones, ones), 0.0 * ones)


def timid(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(-law.std - law.mean, (-ones, -ones), 0.0 * ones)


@dataclass(frozen=True, eq=False)
class Passing:
    """A score that passes everything on; broken ones change one thing."""

    inner: PointwiseScore
    unit: float = 1.0
    starts: np.ndarray | None = None

    @classmethod
    def on(cls, *args, **options):
        return cls(PointwiseScore(*args, **options))

    @property
    def scales(self):
        return self.inner.scales

    def __call__(self, X):
        return self.inner(X)

    def with_gradient(self, X):
        return self.inner.with_gradient(X)


class Relative(Passing):
    def __call__(self, X):
        values = self.inner(X)
        return values - np.max(values, initial=0.0)


class Shaped(Passing):
    def __call__(self, X):
        return self.inner(X)[:, None]


class Steep(Passing):
    def with_gradient(self, X):
        values, gradients = self.inner.with_gradient(X)
        return values, 1.001 * gradients


class Drifting(Passing):
    def with_gradient(self, X):
        found = self.inner.with_gradient(X)
        X += 0.01
        return found


class Endless(Passing):
    scales = np.array([math.inf, -1.0])


class Between(Passing):
    @classmethod
    def on(cls, formula, snapshot, **options):
        starts = np.full((1, snapshot.domain.width), 0.3)
        return cls(PointwiseScore(formula, snapshot, **options), starts=starts)


def without_unit(*args, **options):
    return replace(Passing.on(*args, **options), unit=math.nan)


def unseeded(formula, snapshot, **options):
    width = (0.1, 10.0)[next(CALLS) % 2]  # as from a generator that nobody seeds

    def exploring(law, log_price, best):
        ones = np.ones_like(law.mean)
        return Partials(width * law.std - law.mean, (-ones, width * ones), 0.0 * ones)

    return PointwiseScore(exploring, snapshot, **options)


def behind_the_memo(formula, snapshot, **options):
    """It reads the record where the memo does not see it: what is kept may be of another one."""
    recorded = sum(map(len, snapshot.traces.untracked.values()))

    def upside_down(law, log_price, best):
        value, slopes, d_log_price = formula(law, log_price, best)
        return Partials(-value, tuple(-slope for slope in slopes), -d_log_price)

    return PointwiseScore(formula if recorded % 3 else upside_down, snapshot, **options)


BROKEN_ACQUISITIONS = [
    ("value", Mutable()),
    ("value", NeverEqual()),
    ("value", Settable()),
    ("numbers", By(nan_where_certain)),
    ("numbers", By(score=Shaped.on)),
    ("rows", By(score=Relative.on)),
    ("gradient", By(score=Steep.on)),
    ("hints", By(score=without_unit)),
    ("hints", By(score=Endless.on)),
    ("hints", By(score=Between.on)),
    ("barred", By(exclude=False)),
    ("attainable", By(score=Drifting.on)),
    ("seed", By(score=unseeded)),
    ("looking", By(score=behind_the_memo)),
    ("shift", By(anchored)),
    ("scale", By(unscaled)),
    ("price", By(spendthrift)),
    ("mean", By(upward)),
    ("deviation", By(timid)),
]


def names(pairs):
    return [f"{law}-{position}" for position, (law, _) in enumerate(pairs)]


@pytest.mark.parametrize(("law", "broken"), BROKEN_ACQUISITIONS, ids=names(BROKEN_ACQUISITIONS))
def test_a_broken_acquisition_is_noticed(law, broken):
    with pytest.raises(LawBroken, match=rf"\n- {law}: (?!it raised)") as caught:
        verify(Case(broken, UNITS), [one for one in ACQUISITION_LAWS if one.name == law])
    assert caught.value.laws == (law,)


def test_every_law_of_acquisitions_is_broken_once():
    assert list(dict(BROKEN_ACQUISITIONS)) == [law.name for law in ACQUISITION_LAWS]


def test_a_sound_acquisition_of_someone_else_passes():
    check_acquisition(NetBound(0.1))


def test_a_sound_score_that_is_not_pointwise_passes():
    @dataclass(frozen=True)
    class Exploring(By):
        formula: Callable = field(default=NetBound(1e-6))
        score: Callable = Passing.on

    check_acquisition(Exploring())


# ---------------------------------------------------------------------------- broken rules


def count(rule, snapshot):
    return snapshot.signal(snapshot.t)


def compare(rule, trace):
    value = trace.current.value
    return Verdict.at_least(rule.name, value, rule.n, f"{value:g} of {rule.n} evaluations")


@dataclass(frozen=True)
class Counting:
    """Stop at t = n. Sound, and quick; broken rules replace a part."""

    n: int = 5
    key: str = "counting"
    signal_scale: str = "linear"
    signal_by: Callable = count
    verdict_by: Callable = compare
    name: ClassVar[str] = "counting"

    def signal(self, snapshot):
        return self.signal_by(self, snapshot)

    def verdict(self, trace):
        return self.verdict_by(self, trace)


class MutableRule:
    name, key, signal_scale = "counting", "counting", "linear"

    def signal(self, snapshot):
        return count(self, snapshot)

    def verdict(self, trace):
        return compare(Counting(), trace)


class Unlisted(Counting):
    """As if it were one of ours."""

    __module__ = "stopwise.stopping.unlisted"


def signalling(change):
    """A rule whose signal is changed."""
    return Counting(signal_by=lambda rule, snapshot: change(count(rule, snapshot)))


def judging(change):
    """A rule whose verdict is changed."""
    return Counting(verdict_by=lambda rule, trace: change(compare(rule, trace)))


def moody(rule, snapshot):
    return snapshot.signal(next(CALLS))


def sorting(rule, snapshot):
    """It puts the values in order: for itself, it thinks."""
    snapshot.y.flags.writeable = True
    snapshot.y.sort()
    return count(rule, snapshot)


def hiding(rule, snapshot):
    """Its number depends on more than its key says."""
    return snapshot.signal(snapshot.t / rule.n)


def noting(rule, snapshot):
    SEEN["n"] = snapshot.n
    return count(rule, snapshot)


def recalling(rule, trace):
    """Its verdict knows more than the record."""
    found = compare(rule, trace)
    return replace(found, reason=f"{found.reason} after {SEEN.get('n')}")


def meddling(rule, snapshot):
    """It leaves a wrong supremum behind."""
    points = getattr(snapshot.domain, "points", snapshot.X)
    free = points[~snapshot.taken(points)]
    if len(free):
        snapshot.once(("sup", LogEIPC()), lambda: Supremum(free[-1], 0.0))
    return count(rule, snapshot)


def counting_looks(rule, snapshot):
    """It answers by how often it was asked."""
    return snapshot.signal(next(CALLS))


def level(rule, snapshot):
    """It stops at a level of y, wherever y is counted from."""
    return snapshot.signal(snapshot.best)


def variance(rule, snapshot):
    """Its signal is in squared units."""
    return snapshot.signal(np.var(snapshot.y))


def positional(rule, trace):
    """It counts questions instead of evaluations."""
    return Verdict.at_least(rule.name, len(trace) - 1, rule.n, f"asked {len(trace)} times")


@dataclass(frozen=True)
class Spread:
    """Stop when all values lie within a tolerance: what someone might write."""

    tolerance: float = 2.0
    name: ClassVar[str] = "spread"
    key: ClassVar[str] = "spread"
    signal_scale: ClassVar[str] = "linear"

    def signal(self, snapshot):
        return snapshot.signal(np.ptp(snapshot.y))

    def verdict(self, trace):
        sentence = f"values differ by {trace.current.value:g}, the tolerance is {self.tolerance:g}"
        return Verdict.at_most(self.name, trace.current.value, self.tolerance, sentence)


@dataclass(frozen=True)
class Priced(PBGI):
    """A rule with lambda and a threshold of its own."""

    threshold: Callable = math.log

    def verdict(self, trace):
        value, threshold = trace.current.value, self.threshold(self.lam)
        return Verdict.at_most(self.name, value, threshold, f"{value} beside {threshold}")


COUNT = SignalKind("counting", "linear", "evaluations", reads="values", unit=(0, 0))


@dataclass(frozen=True)
class Saying(Counting):
    """A rule that says what it is."""

    traits: object = RuleTraits(COUNT, memory=1)


def change_since(rule, trace):
    """It reads how much the number has changed since the one before."""
    last = trace.between(trace.current.t - 1, trace.current.t - 1)
    change = trace.current.value - (last[0] if last else math.nan)
    return Verdict.at_least(rule.name, change, rule.n, f"a change of {change:g}")


def judged(rule, snapshot):
    """It judges observations as the model does where they are noisy."""
    return snapshot.signal(int(np.argmin(snapshot.judged)))


def expected(rule, snapshot):
    """It asks the model how sure it is."""
    return snapshot.signal(snapshot.belief.objective(snapshot.X).std.max() > 0.0)


def worthwhile(rule, snapshot):
    """It looks at prices."""
    return snapshot.signal(snapshot.sup(LogEIPC()).value > -1.0)


@dataclass(frozen=True)
class Hasty(ThresholdRule):
    """Its sweep forgets that it must wait."""

    name: ClassVar[str] = "hasty"
    traits: ClassVar[RuleTraits] = RuleTraits(COUNT, memory=1)

    def signal(self, snapshot):
        return snapshot.signal(snapshot.t)

    def boundary(self, record):  # noqa: ARG002
        return Boundary(3.0, "at least", since=8)

    def sentence(self, now, level):
        return f"{now.value:g} beside {level:g}"

    def stops(self, record, read):  # noqa: ARG002
        return read >= 3.0


@dataclass(frozen=True)
class Patient(Hasty):
    """The same rule with the sweep that follows from its boundary."""

    stops: ClassVar[Callable] = ThresholdRule.stops


def saying(signal_by=count, **changes):
    return Saying(signal_by=signal_by, traits=RuleTraits(replace(COUNT, **changes), memory=1))


BROKEN_RULES = [
    ("value", MutableRule()),
    ("name", Counting(key="")),
    ("name", Counting(signal_scale="cubic")),
    ("name", Unlisted()),
    ("moment", signalling(lambda signal: replace(signal, n=signal.n - 1))),
    ("moment", signalling(lambda signal: replace(signal, t=signal.t + 1))),
    ("moment", signalling(lambda signal: replace(signal, value=signal.t))),
    ("pure", Counting(signal_by=moody)),
    ("pure", Counting(signal_by=sorting)),
    ("key", Counting(signal_by=hiding)),
    ("key", Counting(key="ucb_lcb_gap")),  # another rule's
    ("replay", Counting(signal_by=noting, verdict_by=recalling)),
    ("once", judging(lambda verdict: replace(verdict, reason=f"asked {next(CALLS)} times"))),
    ("watching", Counting(signal_by=meddling)),
    ("looking", Counting(signal_by=counting_looks)),
    ("nan", judging(lambda verdict: replace(verdict, stop=not verdict.value < 5))),
    ("ties", judging(lambda verdict: replace(verdict, stop=verdict.value > 5))),
    ("answers", After(Counting(), 1000)),
    ("gaps", Counting(verdict_by=positional)),
    ("reason", judging(lambda verdict: replace(verdict, reason="because"))),
    ("reason", judging(lambda verdict: replace(verdict, rule="other"))),
    ("reason", judging(lambda verdict: replace(verdict, stop=np.bool_(verdict.stop)))),
    ("reason", judging(lambda verdict: replace(verdict, reason=f"{verdict.value} of nan"))),
    ("reason", judging(lambda verdict: replace(verdict, threshold=math.nan))),
    ("shift", Counting(signal_by=level)),
    ("scale", Counting(signal_by=variance)),
    ("scale", Spread()),  # unless it says that its tolerance has a unit
    ("scale", saying(unit=(1, 0))),  # a count has none
    ("lambda", Priced(0.01, threshold=lambda lam: -math.log(lam) - 5.0)),
    ("prohibitive", Priced(0.01, threshold=lambda lam: min(-700.0, lam))),
    ("prohibitive", After(PBGI(0.01), 1000)),  # it never answers
    ("traits", Saying(traits="a counter")),
    ("traits", saying(key="other")),
    ("traits", saying(scale="log")),
    ("traits", saying(reads="tea leaves")),
    ("traits", saying(label="")),
    ("traits", Saying(traits=RuleTraits(COUNT, memory=0))),
    ("memory", Saying(verdict_by=change_since)),
    ("values", saying(judged)),
    ("values", saying(expected)),
    ("values", saying(expected, reads="judged values")),
    ("price", saying(worthwhile, reads="model")),
    ("sweep", Hasty()),
]


@pytest.mark.parametrize(("law", "broken"), BROKEN_RULES, ids=names(BROKEN_RULES))
def test_a_broken_rule_is_noticed(law, broken):
    with pytest.raises(LawBroken, match=rf"\n- {law}: (?!it raised)") as caught:
        verify(Case(broken, UNITS), [one for one in RULE_LAWS if one.name == law])
    assert caught.value.laws == (law,)


def test_every_law_of_rules_is_broken_once():
    assert list(dict(BROKEN_RULES)) == [law.name for law in RULE_LAWS]


def test_sound_rules_of_someone_else_pass():
    check_stopping_rule(Counting())
    check_stopping_rule(Priced(0.01))
    check_stopping_rule(Spread(), units={"tolerance": (1, 0)})
    check_stopping_rule(Saying())
    check_stopping_rule(Patient())
    check_stopping_rule(saying(judged, reads="judged values", unit=None))


def test_units_may_be_said_in_traits():
    @dataclass(frozen=True)
    class SayingSpread(Spread):
        @property
        def traits(self):
            tolerance = RuleParameter("tolerance", self.tolerance, (1, 0))
            return RuleTraits(SignalKind("spread", "linear", "spread"), parameters=(tolerance,))

    check_stopping_rule(SayingSpread())


# ------------------------------------------------------------------------------- the error


def refuse(*given, **options):
    raise RuntimeError("not today")


def test_an_error_counts_against_the_laws_that_met_it():
    with pytest.raises(LawBroken, match="it raised RuntimeError: not today") as caught:
        check_acquisition(By(score=refuse))
    assert "value" not in caught.value.laws
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(LawBroken, match="it raised RuntimeError: not today") as caught:
        check_stopping_rule(Counting(signal_by=refuse))
    assert "name" not in caught.value.laws


def test_the_error_is_one_of_ours_and_an_assertion():
    assert issubclass(LawBroken, StopwiseError)
    assert issubclass(LawBroken, AssertionError)


def test_one_message_names_all_that_is_broken():
    def bad(case):
        raise LawBroken(f"{case.subject} is not enough")

    def good(case):
        return

    laws = [Law("one", "", bad), Law("two", "", good), Law("three", "", bad)]
    with pytest.raises(LawBroken) as caught:
        verify(Case(7), laws)
    assert str(caught.value) == (
        "7 breaks 2 of 3 laws:\n- one: 7 is not enough\n- three: 7 is not enough"
    )
    assert caught.value.laws == ("one", "three")
    assert caught.value.__cause__ is None
    verify(Case(7), laws[1:2])


# -------------------------------------------------------------------------------- the parts


def test_numbers_of_wrappers_are_those_inside_too():
    @dataclass(frozen=True)
    class Outer:
        rule: PBGI
        trials: int
        loud: bool = True
        word: str = "x"

    outer = Outer(PBGI(0.5), 3)
    assert numbers_of(outer) == {"lam": 0.5, "trials": 3}
    assert with_parameters(outer, {"lam": 0.25}) == Outer(PBGI(0.25), 3)
    assert with_parameters("a word", {"lam": 0.25}) == "a word"
    assert numbers_of("a word") == {}


def test_parameters_move_with_their_units():
    case = Case(PBGI(0.5), UNITS)
    assert case.rescaled(objective=4.0).lam == 2.0
    assert case.rescaled(cost=4.0).lam == 0.125
    assert Case(FixedTrials(5), UNITS).rescaled(objective=4.0, cost=2.0) == FixedTrials(5)


def test_what_one_check_does_to_its_problems_another_does_not_see():
    with pytest.raises(LawBroken):
        check_stopping_rule(Counting(signal_by=sorting))
    with pytest.raises(LawBroken):
        check_acquisition(By(score=Drifting.on))
    check_stopping_rule(Counting())
    check_acquisition(LCB())


def test_the_checks_need_no_test_framework():
    script = (
        "import sys, stopwise.testing; from stopwise.stopping import Immediate;"
        "stopwise.testing.check_stopping_rule(Immediate());"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
