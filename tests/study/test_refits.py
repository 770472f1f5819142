# SPDX-License-Identifier: Apache-2.0
"""When a study fits: at every observation at first, then at fixed sizes of its data."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.beliefs import RefitAtSizes
from stopwise.study import model_updates
from tests.support.looked_at import LookedAt
from tests.trajectories.studies import BOX, box, lines_of, noisy_box

TRIALS = 14
SIZES = [6, 8, 10, 13]  # where few observations are 6, and a part is a third


class Sparse(sw.Study):
    """A study that soon fits at some sizes only."""

    _refits = RefitAtSizes(always_up_to=6, part=3)


def priced(trial):
    return *noisy_box(trial), 1.0 + trial.params["x"]


def failing(trial):
    return (None, 1.0) if trial.number % 5 == 3 else priced(trial)


STUDIES = {
    "plain": ({"lam": 1e-9, "surrogate": "plain", "seed": 2}, box),
    "weighed": ({"lam": 1e-9, "surrogate": "default"}, box),
    "learned": (
        {"lam": 1e-9, "surrogate": "plain", "noise": "learn", "cost": "reported"}, priced,
    ),
    "failures": ({"lam": 1e-9, "surrogate": "plain", "cost": "reported"}, failing),
}  # fmt: skip


@pytest.fixture
def fits(monkeypatch):
    """The numbers of observations that were fitted to, as they come."""
    sizes, believe = [], model_updates.believe

    def noted(domain, X, y, **more):
        sizes.append(len(y))
        return believe(domain, X, y, **more)

    monkeypatch.setattr(model_updates, "believe", noted)
    return sizes


def step(study, evaluate, most=TRIALS):
    """One trial; whether the study goes on."""
    if study.should_stop().stop or len(study.history) >= most:
        return False
    trial = study.ask()
    study.tell(trial, *evaluate(trial))
    return True


def whole(name, path, wrapped=lambda study: study, most=TRIALS):
    options, evaluate = STUDIES[name]
    study = Sparse(BOX, journal=path, max_trials=TRIALS, **options)
    looked_at = wrapped(study)
    while step(looked_at, evaluate, most):
        pass
    study.close()
    return lines_of(path)


def test_a_study_fits_at_every_observation_and_then_at_some_sizes(tmp_path, fits):
    whole("plain", tmp_path / "run.jsonl")
    assert [n for n in fits if n >= SIZES[0]] == SIZES


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_that_is_resumed_between_fits_goes_on_as_if_it_had_not_been(name, tmp_path):
    options, evaluate = STUDIES[name]
    undisturbed = whole(name, tmp_path / "whole.jsonl")
    path = tmp_path / "resumed.jsonl"
    study = Sparse(BOX, journal=path, max_trials=TRIALS, **options)
    while step(study, evaluate):
        study.close()
        study = Sparse.resume(path)
    study.close()
    resumed = [line for line in lines_of(path) if line.get("event") != "resume"]
    assert resumed == undisturbed


def test_looking_between_fits_changes_nothing(tmp_path):
    plain = whole("failures", tmp_path / "plain.jsonl", most=10)
    assert whole("failures", tmp_path / "looked_at.jsonl", LookedAt, most=10) == plain


def told(n):
    X = np.random.default_rng(4).random((n, 1))
    return [({"x": float(x)}, float((x - 0.3) ** 2)) for [x] in X]


def test_a_study_that_is_only_told_is_fitted_once_for_each_size(fits):
    study = sw.Study({"x": sw.Real(0.0, 1.0)}, lam=1e-9, stopping="immediate", surrogate="plain")
    data = told(123)
    for params, value in data[:115]:
        study.tell(params, value)
    for params, value in data[115:]:
        study.tell(params, value)
        assert study.snapshot().n == len(study.history)
        assert len(study.snapshot().belief.posterior) == len(study.history)
    assert fits == [110, 121]


def test_what_is_fitted_to_the_first_observations_does_not_depend_on_the_others():
    data = told(118)
    hypers = []
    for n in (111, 118):
        study = Sparse({"x": sw.Real(0.0, 1.0)}, lam=1e-9, surrogate="plain")
        study._context.model._refits = RefitAtSizes()
        for params, value in data[:n]:
            study.tell(params, value)
        hypers.append(study.snapshot().belief.posterior.hyper)
    assert hypers[0] == hypers[1]


def test_the_sizes_of_a_study_are_those_of_the_documentation():
    policy = RefitAtSizes()
    assert [policy.latest(n) for n in (0, 1, 99, 100, 101, 109)] == [0, 1, 99, 100, 100, 100]
    assert [policy.latest(n) for n in (110, 120, 121, 132, 133)] == [110, 110, 121, 121, 133]
