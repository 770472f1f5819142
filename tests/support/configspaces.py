# SPDX-License-Identifier: Apache-2.0
"""A space of ConfigSpace with every kind of hyper-parameter, condition and forbidden clause."""

import pytest

cs = pytest.importorskip("ConfigSpace")


def boosters():
    """The space; its names are those of a boosted model."""
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
