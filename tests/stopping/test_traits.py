# SPDX-License-Identifier: Apache-2.0
"""What rules say of themselves, and what is assumed of those that say nothing."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

from stopwise.stopping import (
    GSS,
    PBGI,
    RULES,
    UCBLCB,
    After,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    RuleParameter,
    Smoothed,
    SRGapMedian,
    StoppingRule,
    innermost,
    traits_of,
)
from stopwise.stopping.defaults import Requirements, default_rules, requirements
from stopwise.stopping.signals import GAIN_PER_COST, OBJECTIVE, OBJECTIVE_PER_COST


class Stranger:
    """A rule of 0.1: a name, a key, a scale, a signal and a verdict."""

    name, key, signal_scale = "stranger", "strange_number", "linear"

    def __repr__(self):
        return "Stranger()"

    def signal(self, snapshot):
        return snapshot.signal(1.0)

    def verdict(self, trace):
        raise NotImplementedError


class Wrapping(Stranger):
    """A wrapper of 0.1: it holds the rule inside as ``rule``."""

    def __init__(self, rule):
        self.rule = rule


@dataclass(frozen=True)
class OtherKey(PBGI):
    """Made of one of ours, with a signal of its own."""

    key: ClassVar[str] = "another_number"


def test_a_rule_that_says_nothing_promises_nothing():
    traits = traits_of(Stranger())
    assert isinstance(Stranger(), StoppingRule)
    assert (traits.signal.key, traits.signal.scale) == ("strange_number", "linear")
    assert traits.signal.label == "strange_number"
    assert traits.signal.reads == "model and price"
    assert traits.signal.unit is None
    assert traits.memory == math.inf
    assert traits.lam is None
    assert traits.tolerances == traits.breaks == ()
    assert traits.inner is None
    assert not traits.in_theorem


@pytest.mark.parametrize(("lam", "taken"), [(0.5, 0.5), (2, 2), (True, None), ("much", None)])
def test_an_attribute_called_lam_is_what_a_unit_of_cost_is_worth(lam, taken):
    rule = Stranger()
    rule.lam = lam
    assert traits_of(rule).lam == taken
    assert not traits_of(rule).in_theorem
    assert traits_of(Wrapping(rule)).lam == taken


def test_the_innermost_rule_is_found_in_wrappers_of_anybody():
    for rule in (PBGI(0.1), Stranger()):
        assert innermost(rule) is rule
        assert innermost(After(Smoothed(rule, 3), 2)) is rule
        assert innermost(Wrapping(After(rule, 2))) is rule
    assert traits_of(Wrapping(PBGI(0.1))).memory == math.inf  # who knows what it reads


def test_another_key_is_another_signal():
    traits = traits_of(OtherKey(0.1))
    assert traits.signal.key == "another_number"
    assert traits.signal.unit is None
    assert traits.lam == 0.1


def test_wrappers_pass_on_what_they_do_not_change():
    inside = traits_of(PBGI(0.1))
    after, smoothed = traits_of(After(PBGI(0.1), 3)), traits_of(Smoothed(PBGI(0.1), 5))
    for traits in (after, smoothed):
        assert traits.signal == inside.signal == GAIN_PER_COST
        assert traits.lam == 0.1
        assert traits.in_theorem
        assert traits.inner == PBGI(0.1)
    assert after.breaks == ("no stop within the first 3 evaluations (stabilisation)",)
    assert smoothed.breaks == ("the signal is averaged over 5 evaluations (smoothing)",)
    assert traits_of(Smoothed(PBGI(0.1), 1)).breaks == ()
    assert (after.manner, smoothed.manner) == ("from trial 3 on", "averaged over 5")


@pytest.mark.parametrize(
    ("rule", "memory"),
    [
        (PBGI(0.1), 1),
        (UCBLCB(), 1),
        (GSS(), 1),
        (ProbabilisticRegretBound(), 1),
        (Convergence(), 1),
        (FixedTrials(9), 1),
        (Immediate(), 1),
        (LogEIPCMedian(), math.inf),
        (SRGapMedian(), math.inf),
        (After(PBGI(0.1), 9), 1),
        (Smoothed(PBGI(0.1), 5), 5),
        (After(Smoothed(GSS(), 4), 9), 4),
        (Smoothed(LogEIPCMedian(), 4), math.inf),
        (Smoothed(Stranger(), 4), math.inf),
    ],
    ids=str,
)
def test_how_many_records_a_verdict_reads(rule, memory):
    assert traits_of(rule).memory == memory


def test_parameters_have_units():
    assert traits_of(PBGI(0.1)).parameters == (RuleParameter("lam", 0.1, OBJECTIVE_PER_COST),)
    assert traits_of(UCBLCB(0.2)).tolerances == (RuleParameter("theta", 0.2, OBJECTIVE),)
    [epsilon] = traits_of(Smoothed(ProbabilisticRegretBound(0.3), 2)).tolerances
    assert epsilon == ("epsilon", 0.3, OBJECTIVE)
    assert traits_of(GSS()).parameters == ()


@pytest.mark.parametrize(
    ("rule", "exact", "noisy", "priced"),
    [
        (Convergence(), False, False, False),
        (FixedTrials(3), False, False, False),
        (GSS(), False, True, False),
        (UCBLCB(), True, True, False),
        (SRGapMedian(), True, True, False),
        (PBGI(0.1), True, True, True),
        (LogEIPCMedian(), True, True, True),
        (Stranger(), True, True, True),
    ],
    ids=str,
)
def test_what_a_signal_reads(rule, exact, noisy, priced):
    signal = traits_of(rule).signal
    assert signal.reads_model(exact=True) == exact
    assert signal.reads_model(exact=False) == noisy
    assert signal.reads_price == priced


# ----------------------------------------------------------------------------- rules of a table


def test_what_a_rule_cannot_be_made_without():
    assert requirements(PBGI) == Requirements(lam=True, others=())
    assert requirements(FixedTrials) == Requirements(lam=False, others=("n",))
    assert requirements(GSS) == Requirements(lam=False, others=())
    assert requirements(After) == Requirements(lam=False, others=("rule", "trials"))


def test_default_rules_are_those_that_need_nothing_more():
    assert list(default_rules(RULES, 0.1)) == [name for name in RULES if name != "fixed"]
    assert default_rules(RULES, 0.1)["pbgi"] == PBGI(0.1)
    assert list(default_rules(RULES, None)) == [n for n in RULES if n not in ("fixed", "pbgi")]


def test_typical_parameters_fill_what_has_no_default():
    rules = default_rules(RULES, 0.1, typical=True)
    assert list(rules) == list(RULES)
    assert rules["fixed"] == FixedTrials(20)

    def needy(lam, n, m=3):
        raise AssertionError

    needy.typical = {"n": 1}
    assert default_rules({"needy": needy}, None, typical=True) == {}
