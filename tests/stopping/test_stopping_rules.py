# SPDX-License-Identifier: Apache-2.0
"""All rules: parameters that are refused, the table of names, and the domains that they read."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from stopwise.core.space import Candidates, Integer, Real, as_domain
from stopwise.errors import InputError, InputTypeError
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
    Smoothed,
    SRGapMedian,
    StoppingRule,
    make_rule,
)
from tests.support.textbook import (
    LINE,
    TABLE,
    study,
)

LAM = 0.3


POSITIVE = [
    (lambda v: LogEIPCMedian(eta=v), "LogEIPCMedian", "eta"),
    (lambda v: SRGapMedian(chi=v), "SRGapMedian", "chi"),
    (lambda v: UCBLCB(theta=v), "UCBLCB", "theta"),
    (lambda v: GSS(phi=v), "GSS", "phi"),
    (lambda v: ProbabilisticRegretBound(epsilon=v), "ProbabilisticRegretBound", "epsilon"),
    (lambda v: ProbabilisticRegretBound(delta=v), "ProbabilisticRegretBound", "delta"),
]


COUNTS = [
    (lambda v: LogEIPCMedian(initial=v), "LogEIPCMedian", "initial"),
    (lambda v: SRGapMedian(initial=v), "SRGapMedian", "initial"),
    (lambda v: GSS(window=v), "GSS", "window"),
    (Convergence, "Convergence", "patience"),
    (FixedTrials, "FixedTrials", "n"),
    (lambda v: After(Immediate(), v), "After", "trials"),
    (lambda v: Smoothed(Immediate(), v), "Smoothed", "window"),
]


@pytest.mark.parametrize(("make", "owner", "name"), POSITIVE, ids=[n for *_, n in POSITIVE])
def test_thresholds_are_positive_numbers(make, owner, name):
    for bad in (0.0, -1.0, math.nan, math.inf, True, "0.1", None):
        message = rf"{owner}\({name}={re.escape(repr(bad))}\): {name} must be a positive number"
        with pytest.raises(InputError, match=message):
            make(bad)
    assert make(np.float32(0.25)) == make(0.25)


@pytest.mark.parametrize(("make", "owner", "name"), COUNTS, ids=[f"{o}-{n}" for _, o, n in COUNTS])
def test_counts_are_whole_numbers_from_one_on(make, owner, name):
    for bad in (0, -1, 2.0, True, "3", None):
        message = rf"{owner}\({name}={re.escape(repr(bad))}\): {name} must be a whole number of"
        with pytest.raises(InputError, match=message):
            make(bad)
    assert make(np.int64(3)) == make(3)


@pytest.mark.parametrize("lam", [0.0, -1.0, math.nan, "0.1"])
def test_lambda_is_positive(lam):
    with pytest.raises(InputError, match=r"lam must be a positive number, got .*exchange_rate"):
        PBGI(lam)


def test_the_update_is_after_or_before():
    with pytest.raises(InputError, match=r"PBGI\(update='never'\): give 'after' .* or 'before'"):
        PBGI(1.0, update="never")


def test_rules_are_made_by_name():
    assert make_rule("pbgi", LAM) == PBGI(LAM)
    assert make_rule("ucb-lcb", None) == UCBLCB()
    mine = Convergence(9)
    assert make_rule(mine, None) is mine
    with pytest.raises(InputError, match=r"no stopping rule 'ei': give one of pbgi, logeipc-med"):
        make_rule("ei", LAM)
    with pytest.raises(InputError, match=r"'pbgi' needs lam\. .*exchange_rate"):
        make_rule("pbgi", None)
    with pytest.raises(InputError, match=r"'fixed' needs n: .* sw.stopping.FixedTrials\(n=\.\.\."):
        make_rule("fixed", LAM)
    with pytest.raises(InputTypeError, match="an object with signal and verdict"):
        make_rule(PBGI, LAM)


def test_the_table_has_every_rule_and_each_is_one():
    assert {
        "pbgi", "logeipc-med", "srgap-med", "ucb-lcb", "prb", "gss", "convergence", "immediate",
        "fixed",
    } <= set(RULES)  # fmt: skip
    for name in RULES:
        rule = FixedTrials(3) if name == "fixed" else make_rule(name, LAM)
        assert isinstance(rule, StoppingRule)
        assert rule.name == name
        assert hash(rule) == hash(replace(rule))


# ------------------------------------------------------------------------------ scales and domains


def test_gains_per_cost_are_read_on_a_log_scale_and_all_else_is_linear():
    assert PBGI(1.0).signal_scale == LogEIPCMedian().signal_scale == "log"
    others = [GSS(), Convergence(), Immediate(), FixedTrials(3), UCBLCB(), SRGapMedian()]
    assert {rule.signal_scale for rule in others} == {"linear"}
    assert ProbabilisticRegretBound().signal_scale == "linear"


def test_rules_read_a_table_of_rows_as_they_read_a_grid():
    rows = [{"a": a, "b": b} for a in range(8) for b in range(5)]
    listed = as_domain(Candidates(rows, space={"a": Integer(0, 7), "b": Integer(0, 4)}))
    np.testing.assert_allclose(listed.points, TABLE.points)
    here, there = study(), study(listed)
    for rule in (PBGI(LAM), UCBLCB(), SRGapMedian(), ProbabilisticRegretBound()):
        assert rule.signal(here).value == pytest.approx(rule.signal(there).value)


def test_a_log_scale_changes_only_where_points_are():
    domain = as_domain({"x": Real(1e-3, 1.0, log=True)})
    encoded = domain.encode([{"x": 10.0**e} for e in (-3, -2, -1.2, -0.5)])
    log, plain = study(domain, X=encoded), study(LINE, X=encoded)
    assert PBGI(LAM).signal(log).value == pytest.approx(PBGI(LAM).signal(plain).value, abs=1e-6)
