# SPDX-License-Identifier: Apache-2.0
"""Every acquisition and every rule of the tables keeps the laws that third parties are held to."""

import re

import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, make_acquisition
from stopwise.stopping import (
    PBGI,
    RULES,
    UCBLCB,
    After,
    ProbabilisticRegretBound,
    Smoothed,
)
from stopwise.stopping.defaults import default_rules
from stopwise.testing import (
    ACQUISITION_LAWS,
    RULE_LAWS,
    check_acquisition,
    check_stopping_rule,
)
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "how-to" / "conformance.md"
LAM = 0.01

WRAPPED = {
    "after": After(PBGI(LAM), 3),
    "smoothed": Smoothed(PBGI(LAM), 5),
    "smoothed-linear": Smoothed(PBGI(LAM), 5, scale="linear"),
    "smoothed-log": Smoothed(UCBLCB(), 5, scale="log"),
    "after-smoothed": After(Smoothed(PBGI(LAM), 5), 3),
    "before-update": PBGI(LAM, update="before"),
    "prb-mean": ProbabilisticRegretBound(estimate="mean"),
    "small-lam": PBGI(1e-6),
    "large-lam": PBGI(10.0),
}


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_acquisitions_of_the_table(name):
    check_acquisition(make_acquisition(name, LAM))


@pytest.mark.parametrize(
    ("name", "lam"),
    [
        ("pbgi", 1e-6),
        pytest.param("pbgi", 10.0, marks=pytest.mark.slow),
        pytest.param("pbgi-d", 1e-6, marks=pytest.mark.slow),
        pytest.param("eic", 10.0, marks=pytest.mark.slow),
    ],
)
def test_acquisitions_at_other_lambdas(name, lam):
    check_acquisition(make_acquisition(name, lam))


@pytest.mark.parametrize("name", RULES)
def test_rules_of_the_table(name):
    check_stopping_rule(default_rules(RULES, LAM, typical=True)[name])


@pytest.mark.parametrize("name", ["after-smoothed", "before-update", "prb-mean", "small-lam"])
def test_wrappers_and_variants(name):
    check_stopping_rule(WRAPPED[name])


@pytest.mark.slow
@pytest.mark.parametrize("rule", WRAPPED.values(), ids=WRAPPED)
def test_all_wrappers_and_variants(rule):
    check_stopping_rule(rule)


def test_nothing_is_evaluated_where_every_cost_exceeds_the_range():
    """The paper's proposition, with the rule in a study rather than on a record."""
    rows = [{"x": i / 20} for i in range(21)]
    values = {row["x"]: abs(row["x"] - 0.4) for row in rows}
    result = sw.minimize(
        lambda p: values[p["x"]],
        sw.Candidates(rows),
        cost=[0.7] * len(rows),  # the range of the values is 0.6
        lam=1.0,
        n_initial=4,
    )
    assert len(result.history) == 4
    assert result.verdict.rule == "pbgi"


@pytest.mark.parametrize(
    ("heading", "laws"), [("Acquisitions", ACQUISITION_LAWS), ("Stopping rules", RULE_LAWS)]
)
def test_the_page_lists_the_laws(heading, laws):
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    assert listed == [(law.name, law.statement) for law in laws]


def test_laws_have_distinct_names():
    for laws in (ACQUISITION_LAWS, RULE_LAWS):
        assert len({law.name for law in laws}) == len(laws)
