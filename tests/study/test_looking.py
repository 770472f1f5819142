# SPDX-License-Identifier: Apache-2.0
"""Looking changes nothing, whatever the options: the journal of a study that is looked at at every
step is that of one that is not.
"""

import pytest

import stopwise as sw
from stopwise.study.external import ExternalStudy
from stopwise.study.options import names
from tests.support.looked_at import LookedAt
from tests.trajectories.studies import BOX, STUDIES, box, in_turn, lines_of, noisy_box

LONGEST = 10  # evaluations, of which the design has 6 or 8 at most


def failing_box(trial):
    return (None if trial.params["x"] > 0.7 else box(trial)[0],)


def with_outcomes(study, trials, evaluate):
    """One trial after the other, with an outcome that some of them must not have."""
    while len(study.history) < trials and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, *evaluate(trial), outcomes={"harm": 2.0 * trial.params["x"]})
    return study


def with_data_off_the_table(study, trials, evaluate):
    """One trial after the other, after data that are in no row."""
    study.tell({"x": 2.5}, 0.7)
    return in_turn(study, trials, evaluate)


def row(trial):
    return ((trial.params["x"] - 2.2) ** 2,)


MORE = {
    "off-table": (
        sw.Candidates([{"x": float(x)} for x in range(9)]),
        {"lam": 1e-4, "off_table": True, "n_initial": 3}, row, 9, with_data_off_the_table,
    ),
    "chance": (
        BOX, {"lam": 1e-4, "failures": "chance", "seed": 2}, failing_box, 30, in_turn,
    ),
    "limits": (
        BOX, {"lam": 1e-4, "limits": {"harm": (None, 0.8)}, "fallback": 5.0, "seed": 1},
        failing_box, 12, with_outcomes,
    ),
    "sizes": (
        BOX, {"lam": 1e-4, "n_initial": 4, "max_trials": 12, "bounds": (-9.0, None), "seed": 3,
              "value_name": "loss", "cost_unit": "$"},
        box, 30, in_turn,
    ),
    "weighed": (BOX, {"lam": 1e-4, "surrogate": "default", "seed": 5}, box, 10, in_turn),
    "weighed-budget": (BOX, {"budget": 9.0, "surrogate": "default"}, box, 10, in_turn),
    "constraints": (
        BOX, {"lam": 1e-4, "constraints": ["x < 0.9"], "seed": 6}, box, 12, in_turn,
    ),
    "utility": (
        BOX, {"utility": sw.utility.sigmoid(at=-0.5, width=0.3, height=0.1), "lam": 1e-4}, box, 9,
        in_turn,
    ),
    "gamma": (BOX, {"budget": 14.0, "prior": "gamma", "seed": 4}, noisy_box, 30, in_turn),
}  # fmt: skip
LOOKED_AT = {
    **{name: STUDIES[name] for name in (
        "box", "mixed", "mixed-failures", "finite", "noise-given", "noise-finite", "budget",
        "budget-mixed", "budget-finite", "pending", "pending-budget", "smoothed",
    )},
    **MORE,
}  # fmt: skip


def journal_of(name, path, wrapped, kind=sw.Study):
    space, options, evaluate, trials, drive = LOOKED_AT[name]
    study = kind(space, journal=path, **{"surrogate": "plain", **options})  # the faster model
    drive(wrapped(study), min(trials, LONGEST), evaluate)
    study.close()
    return lines_of(path)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_study_that_is_looked_at_takes_the_same_path(name, tmp_path):
    plain = journal_of(name, tmp_path / "plain.jsonl", lambda study: study)
    looked_at = journal_of(name, tmp_path / "looked_at.jsonl", LookedAt)
    assert looked_at == plain


@pytest.mark.parametrize("name", ["box", "budget-finite", "noise-given"])
def test_a_study_in_which_others_may_choose_takes_the_same_path_too(name, tmp_path):
    plain = journal_of(name, tmp_path / "plain.jsonl", lambda study: study, ExternalStudy)
    looked_at = journal_of(name, tmp_path / "looked_at.jsonl", LookedAt, ExternalStudy)
    assert looked_at == plain


def test_every_option_is_looked_at():
    given = {name for _, options, *_ in LOOKED_AT.values() for name in options}
    assert given | {"stages"} == set(names())  # those have tests of their own: test_stages.py


def test_a_budget_takes_the_same_path_when_its_acquisition_was_looked_at():
    """PBGI-D reads recorded signals: a supremum from before they grew must not be kept."""
    paths = []
    for looked_at in (False, True):
        study = sw.Study(BOX, budget=16.0, seed=1)
        while not study.should_stop().stop:
            if looked_at and study.acquisition is not None:
                study.snapshot().sup(study.acquisition)
            trial = study.ask()
            study.tell(trial, *box(trial))
        paths.append([dict(o.params) for o in study.history])
    assert paths[0] == paths[1]
