# SPDX-License-Identifier: Apache-2.0
"""Slices beside constraints, limits and conditions: what is not in a curve is said."""

import pytest

import stopwise as sw
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._slice_pictures import slice_pictures
from stopwise.tools.report._slices import slices

OPTIONS = {"lam": 0.01, "surrogate": "plain", "direction": "maximize"}


def sliced(study):
    found = slices(Facts(study))
    pictures = slice_pictures(found)
    return {one.name: (one, picture.words) for one, picture in zip(found, pictures, strict=True)}


def test_a_curve_ends_where_constraints_exclude_what_follows():
    box = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
    study = sw.Study(box, constraints=["a + b <= 1", "a < 0.45 or a > 0.55"], **OPTIONS)
    for a, b in ((0.1, 0.2), (0.3, 0.3), (0.2, 0.6), (0.05, 0.9), (0.7, 0.1), (0.4, 0.4)):
        study.tell({"a": a, "b": b}, a + 2 * b - 3 * (b - 0.6) ** 2)
    best = study.best.params
    found = sliced(study)
    (a, words), (b, _) = found["a"], found["b"]
    assert max(b.values) <= 1.0 - best["a"] + 1e-9
    assert max(a.values) <= 0.45
    assert a.values[a.best_at] == pytest.approx(best["a"])
    assert b.values[b.best_at] == pytest.approx(best["b"])
    assert "What is left out violates the constraints" in words
    free = sw.Study(box, **OPTIONS)
    for o in study.history:
        free.tell(o.params, o.value)
    assert "left out" not in sliced(free)["a"][1]
    assert max(sliced(free)["a"][0].values) == 1.0


def test_limits_are_said_not_to_be_in_the_curve():
    study = sw.Study({"x": sw.Real(0.0, 1.0)}, limits={"harm": (None, 1.0)}, **OPTIONS)
    for x in (0.1, 0.3, 0.5, 0.7, 0.9):
        study.tell({"x": x}, x, outcomes={"harm": 4 * x * x})
    words = sliced(study)["x"][1]
    assert "Limits are not in the curve: where it is best a trial would succeed" in words
    here, there = _chances(words)
    assert there < 0.1
    assert here > 0.5


def _chances(words):
    there, here = (
        words.rsplit("probability ", 1)[1].rstrip(".").split(", at the best configuration ")
    )
    return float(here), float(there)


def test_values_assumed_of_parameters_that_the_best_has_not_are_named():
    space = {
        "solvent": sw.Categorical(["water", "ether"]),
        "load": sw.Real(0.0, 2.0, when={"solvent": ["ether"]}),
    }
    study = sw.Study(space, **OPTIONS)
    study.tell({"solvent": "water"}, 1.0)
    for load in (0.2, 0.9, 1.7):
        study.tell({"solvent": "ether", "load": load}, 0.1 * load)
    assert "no such parameter, load = 1 is assumed" in sliced(study)["solvent"][1]
