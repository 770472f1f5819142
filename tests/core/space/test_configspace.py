# SPDX-License-Identifier: Apache-2.0
"""Spaces of ConfigSpace are read as they are: what it allows we allow, and the reverse."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.space import as_domain
from stopwise.core.space.configspace import is_configspace, read_configspace
from stopwise.errors import InputError
from stopwise.record.journal import ResumeWarning

cs = pytest.importorskip("ConfigSpace")


def boosters():
    """Every kind of hyper-parameter, condition and forbidden clause."""
    space = cs.ConfigurationSpace(seed=0)
    booster = cs.Categorical("booster", ["tree", "dart", "linear"])
    depth = cs.Integer("tree:depth", (1, 8))
    size = cs.OrdinalHyperparameter("size", ["s", "m", "l"])
    rate = cs.Float("rate", (1e-3, 1.0), log=True, default=0.9)
    drop, skip = cs.Float("drop", (0.0, 1.0)), cs.Float("skip", (0.0, 1.0))
    deep, small = cs.Integer("deep", (1, 99), log=True), cs.Float("small", (0.0, 2.0))
    either = cs.Categorical("either", [True, False])
    fixed = cs.Constant("fixed", 3)
    bell = cs.Float("bell", (0.0, 1.0), distribution=cs.Normal(0.5, 0.2))
    space.add([booster, depth, size, rate, drop, skip, deep, small, either, fixed, bell])
    space.add(cs.InCondition(depth, booster, ["tree", "dart"]))
    space.add(cs.EqualsCondition(drop, booster, "dart"))
    space.add(cs.NotEqualsCondition(skip, booster, "linear"))
    space.add(
        cs.AndConjunction(
            cs.GreaterThanCondition(deep, depth, 4), cs.EqualsCondition(deep, booster, "dart")
        )
    )
    space.add(cs.LessThanCondition(small, size, "l"))
    space.add(
        cs.OrConjunction(
            cs.EqualsCondition(either, size, "s"), cs.EqualsCondition(either, size, "l")
        )
    )
    space.add(
        cs.ForbiddenAndConjunction(
            cs.ForbiddenEqualsClause(booster, "dart"), cs.ForbiddenInClause(size, ["m", "l"])
        )
    )
    space.add(cs.ForbiddenLessThanRelation(rate, bell))
    return space


def test_what_one_allows_the_other_allows():
    theirs = boosters()
    assert is_configspace(theirs)
    domain = as_domain(theirs)
    for drawn in theirs.sample_configuration(100):
        row = {
            name: value.item() if hasattr(value, "item") else value
            for name, value in drawn.items()
        }
        [back] = domain.decode(domain.encode(row))
        assert back == pytest.approx(row)
    for row in domain.decode(domain.sobol(100, np.random.default_rng(0))):
        cs.Configuration(theirs, values=row).check_valid_configuration()


def test_a_study_takes_it_and_its_journal_holds_it(tmp_path):
    def loss(params):
        return abs(params["rate"] - 0.3) + 0.1 * (params["booster"] != "dart")

    journal = tmp_path / "run.jsonl"
    options = {"lam": 1e-4, "surrogate": "plain", "journal": journal}
    first = sw.minimize(loss, boosters(), max_trials=5, **options)
    with pytest.warns(ResumeWarning, match="max_trials is now 8"):
        again = sw.minimize(loss, boosters(), max_trials=8, **options)
    assert len(again.history) == 8
    assert [o.params for o in again.history][:5] == [o.params for o in first.history]
    for o in sw.Study.load(journal).history:
        cs.Configuration(boosters(), values=o.params).check_valid_configuration()
    loaded = sw.Study.load(journal)
    assert [c.source for c in loaded.options.constraints] == read_configspace(boosters())[1]


def test_what_cannot_be_read_is_refused():
    space = cs.ConfigurationSpace()
    a, b, x = cs.Categorical("a", [1, 2]), cs.Categorical("b", [1, 2]), cs.Float("x", (0, 1))
    space.add([a, b, x])
    space.add(cs.OrConjunction(cs.EqualsCondition(x, a, 1), cs.EqualsCondition(x, b, 1)))
    with pytest.raises(InputError, match="values of one parameter or of another"):
        as_domain(space)
    unbounded = cs.ConfigurationSpace()
    unbounded.add(cs.Integer("n", (0, 10**6)), y := cs.Float("y", (0, 1)))
    unbounded.add(cs.GreaterThanCondition(y, unbounded["n"], 5))
    with pytest.raises(InputError, match="too many values"):
        as_domain(unbounded)
