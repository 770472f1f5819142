# SPDX-License-Identifier: Apache-2.0
"""A choice for somebody who waits: one light search, which knows what is pending."""

import math

import pytest

import stopwise as sw
from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.snapshot import Snapshot
from stopwise.study.choosing import LIGHT, with_effort, with_pending_believed
from stopwise.study.external import ExternalStudy


def test_a_further_choice_is_another_one_and_pending():
    space = {"x": sw.Real(0, 1), "y": sw.Real(0, 1)}
    study = ExternalStudy(space, lam=1e-6, surrogate="plain")
    for i in range(8):
        x, y = (0.37 * i) % 1.0, (0.61 * i) % 1.0
        study.tell({"x": x, "y": y}, (x - 0.3) ** 2 + (y - 0.6) ** 2)
    asked = [study.ask(), study.ask_beside(), study.ask_beside()]
    points = {tuple(trial.params.values()) for trial in asked}
    assert len(points) == len(study.pending) == 3
    assert all(math.isfinite(x) for point in points for x in point)


def searched_for(monkeypatch):
    """The acquisitions whose suprema are searched for from now on, with the effort."""
    asked, search = [], Snapshot.sup

    def sup(self, acquisition):
        asked.append((acquisition, self.search))
        return search(self, acquisition)

    monkeypatch.setattr(Snapshot, "sup", sup)
    return asked


def told_study(lam):
    study = ExternalStudy({"x": sw.Real(0, 1)}, lam=lam, surrogate="plain", n_initial=4)
    for i in range(6):
        study.tell({"x": i / 5}, math.sin(9.0 * i / 5))
    return study


def test_a_choice_for_somebody_who_waits_is_one_search_as_good_as_two(monkeypatch):
    study = told_study(1e-6)
    study.ask()
    beside = with_effort(with_pending_believed(study.snapshot()), LIGHT)
    wanted = beside.sup(PBGI(1e-6))
    asked = searched_for(monkeypatch)
    trial = study.ask_beside()
    [(acquisition, search), *_] = asked
    assert len(set(asked)) == 1
    assert search == LIGHT
    score = PBGI(1e-6).bind(beside)(study.domain.encode(trial.params))
    assert acquisition.formula == PBGI(1e-6)
    assert score[0] == pytest.approx(wanted.value, rel=1e-6)


def test_where_nothing_is_worth_its_price_it_is_gain_per_cost_that_chooses(monkeypatch):
    study = told_study(1e3)
    study.ask()
    asked = searched_for(monkeypatch)
    trial = study.ask_beside()
    assert asked[-1] == (LogEIPC(), LIGHT)
    assert len(study.pending) == 2
    assert 0.0 <= trial.params["x"] <= 1.0
