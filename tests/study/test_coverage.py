# SPDX-License-Identifier: Apache-2.0
"""Coverage: choices that were never tried and a best one at the end of a range are named once."""

import pytest

import stopwise as sw
from stopwise.tools.report import page

PLAIN = {"lam": 0.5, "surrogate": "plain", "n_initial": 3}
KINDS = {"solvent": sw.Categorical(["water", "toluene", "DMF"]), "x": sw.Real(0.0, 1.0)}
WATER = [{"solvent": "water", "x": x} for x in (0.2, 0.5, 0.7)]


def told(space, rows, value, **options):
    study = sw.Study(space, **PLAIN, **options)
    for params in rows:
        study.tell(params, value(params))
    return study


def about(study, beginning):
    return [line for line in study.explain().splitlines() if line.startswith(beginning)]


def test_choices_that_were_never_tried_are_named_until_they_are():
    study = told(KINDS, WATER, lambda p: p["x"])
    assert about(study, "Never tried") == ["Never tried: solvent toluene, DMF."]
    assert page(study).count("Never tried: solvent toluene, DMF.") == 1
    study.tell({"solvent": "toluene", "x": 0.1}, None)  # a failure is a try
    assert about(study, "Never tried") == ["Never tried: solvent DMF."]
    study.tell({"solvent": "DMF", "x": 0.1}, 0.3)
    assert about(study, "Never tried") == []


def test_a_result_names_a_dear_choice_that_was_never_tried():
    """The design leaves out what costs much, and so do choices after it."""
    dear = {"kind": sw.Categorical(["a", "b"]), "x": sw.Real(0.0, 1.0)}
    cost = {"cost": lambda p: 50.0 if p["kind"] == "b" else 1.0}
    result = sw.minimize(lambda p: p["x"], dear, lam=0.01, max_trials=6, **cost)
    assert {o.params["kind"] for o in result.history} == {"a"}
    assert str(result).splitlines()[-1] == "Never tried: kind b."
    first = [{"kind": "b", "x": 0.3}]
    result = sw.minimize(lambda p: p["x"], dear, lam=0.01, max_trials=6, start_from=first, **cost)
    assert "Never tried" not in str(result)


def test_many_choices_are_counted():
    space = {"kind": sw.Categorical(list("abcdefghij")), "x": sw.Real(0.0, 1.0)}
    rows = [{"kind": "a", "x": x} for x in (0.2, 0.5, 0.7)]
    study = told(space, rows, lambda p: p["x"])
    assert about(study, "Never tried") == ["Never tried: kind b, c, d, e, f, g and 3 more."]


def test_of_a_table_only_what_its_rows_have_can_be_tried():
    rows = [*WATER, {"solvent": "DMF", "x": 0.1}]
    table = sw.Candidates(rows, space={"solvent": KINDS["solvent"]})
    study = told(table, WATER, lambda p: p["x"])
    assert about(study, "Never tried") == ["Never tried: solvent DMF."]
    assert about(study, "The best one has") == []  # 0.1 is what there is


def test_a_parameter_that_was_never_there_is_not_named():
    space = {**KINDS, "base": sw.Categorical(["KOH", "NaOH"], when={"solvent": ["DMF"]})}
    study = told(space, WATER, lambda p: p["x"])
    assert about(study, "Never tried") == ["Never tried: solvent toluene, DMF."]


@pytest.mark.parametrize(
    ("direction", "end"), [("minimize", "lower limit, 0.0001"), ("maximize", "upper limit, 0.1")]
)
def test_a_best_one_at_the_end_of_a_range_is_named_once(direction, end):
    space = {"lr": sw.Real(1e-4, 1e-1, log=True), "x": sw.Real(0.0, 1.0)}
    rows = [{"lr": lr, "x": 0.5} for lr in (1e-4, 1e-2, 1e-1)]
    study = told(space, rows, lambda p: p["lr"], direction=direction)
    said = f"The best one has lr at its {end}: a wider range may have better."
    assert about(study, "The best one has") == [said]
    assert page(study).count(said) == 1


def test_whole_numbers_have_ends_unless_there_are_only_two():
    space = {"layers": sw.Integer(1, 4), "on": sw.Integer(0, 1), "x": sw.Real(0.0, 1.0)}
    rows = [{"layers": n, "on": 0, "x": x} for n, x in ((4, 0.9), (2, 1.0), (3, 0.9))]
    study = told(space, rows, lambda p: -p["layers"])
    assert about(study, "The best one has") == [
        "The best one has layers at its upper limit, 4: a wider range may have better."
    ]
    study = told(space, rows, lambda p: (p["layers"] - 2) ** 2)
    assert about(study, "The best one has") == [
        "The best one has x at its upper limit, 1: a wider range may have better."
    ]
    rows[1]["x"] = 0.9
    assert about(told(space, rows, lambda p: (p["layers"] - 2) ** 2), "The best one has") == []


def test_two_ends_are_one_sentence():
    space = {"layers": sw.Integer(1, 4), "x": sw.Real(0.0, 1.0)}
    rows = [{"layers": 4, "x": 0.0}, {"layers": 3, "x": 0.4}, {"layers": 2, "x": 0.9}]
    study = told(space, rows, lambda p: p["x"] - p["layers"])
    [line] = about(study, "The best one has")
    assert "layers at its upper limit, 4 and x at its lower limit, 0: wider ranges may" in line
