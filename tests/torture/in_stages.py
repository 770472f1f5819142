# SPDX-License-Identifier: Apache-2.0
"""Drawn studies of evaluations in stages: what they are made of, and how one is run.

They have lots of their own, so that the others stay as they were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import stopwise as sw
from stopwise.study.choosing import NothingLeftError
from tests.torture.drawn import FIRST, SHAPES, SPACES, Drawn, powers, signed
from tests.torture.running import QuickStudy, check, check_inside, state_of

MOST = 6  # trials of one study
ACTIONS = 40  # more than six trials of at most four stages can have


@dataclass(frozen=True)
class DrawnInStages(Drawn):
    """A study whose curves fall towards, or rise away from, what a whole evaluation gives."""

    way: float = 1.0  # how far the first stage is from the last, in scales


@st.composite
def drawn_in_stages(draw):
    """Any study in stages, most of them hard in one respect or two."""
    space = draw(st.sampled_from(list(SPACES)))
    cost = draw(st.sampled_from([None, "known", "reported"]))
    spread = draw(st.sampled_from([0, 1, 6, 120]))
    costs = draw(st.sampled_from([(0.0, 0.5), (-0.5 * spread, 0.5 * spread)]))
    price = 1.0 if cost is None else 10.0 ** costs[draw(st.integers(0, 1))]
    steps = draw(st.sampled_from([[1, 3, 9], [2, 5], [7], [1, 10, 100, 10**9]]))
    rules = ["pbgi", "pbgi", sw.stopping.FixedTrials(3)]
    options = {
        "stages": sw.Stages(steps, usable=draw(st.booleans())),
        "stopping": draw(st.sampled_from(rules)),
        "cost": cost,
        "lam": draw(powers(-323)),
        "budget": draw(st.sampled_from([None, None, 3.0 * price, 1e3 * price])),
        "direction": draw(st.sampled_from(["minimize", "maximize"])),
        "n_initial": draw(st.sampled_from([None, 1, 2, 3])),
        "start_from": draw(st.sampled_from([[], [], [FIRST[space]]])),
        "seed": draw(st.integers(0, 3)),
        "max_trials": MOST,
        "replicates": False,
    }
    return DrawnInStages(
        space,
        options,
        draw(st.sampled_from(list(SHAPES))),
        draw(powers(-323)),
        draw(st.one_of(st.just(0.0), signed(powers()))),
        costs,
        tuple(draw(st.sampled_from([(False,), (False,), (False, False, True), (True,)]))),
        draw(st.sampled_from([0, 0, 2])),
        draw(st.sampled_from([1, 1, 3])),
        draw(st.sampled_from([None, None, None, 2, 5])),
        also=frozenset(draw(st.sets(st.sampled_from(["amend", "drop"])))),
        way=draw(st.sampled_from([1.0, 0.0, -1.0, 1e6, 1e-6])),
    )


class RunInStages:
    """A drawn study in stages, run to its verdict or to an error of stopwise."""

    def __init__(self, drawn, folder):
        self.drawn, self.rng = drawn, np.random.default_rng(0)
        self.path = folder / "study.jsonl" if drawn.resumes is not None else None
        self.reported, self.asked, self.running = 0, {}, []
        self.study = None

    def to_the_end(self):
        """The verdict."""
        options = self.drawn.all_options()
        options.pop("replicates")
        self.study = QuickStudy(SPACES[self.drawn.space], journal=self.path, **options)
        for _ in range(ACTIONS):
            self._begin()
            if not self.running:
                return self.study.should_stop()
            self._report(self.running.pop(int(self.rng.integers(len(self.running)))))
            if self.reported == self.drawn.resumes:
                self._resume()
        raise AssertionError(f"more than {ACTIONS} actions")

    def _begin(self):
        while len(self.running) < self.drawn.at_once and not self.study.should_stop().stop:
            try:
                action = self.study.next()
            except NothingLeftError:  # until one of those that run has reported
                assert self.running
                return
            check_inside(self.study.domain, action.trial.params)
            self.asked[action.trial.number] = action.trial.params
            self.running.append(action)

    def _report(self, action):
        trial, step = action.trial, action.to_step
        last = self.drawn.options["stages"].last
        fails = self.drawn.fails[self.reported % len(self.drawn.fails)]
        way = self.drawn.way * self.drawn.scale * (1.0 - step / last)
        value = None if fails else self.drawn.value(trial.params, self.rng) + way
        paid = None
        if self.drawn.options["cost"] == "reported":
            paid = self.drawn.cost(trial.params) * step / last
        self.reported += 1
        self.study.tell(trial, value, paid, step=step)
        if "amend" in self.drawn.also and self.study.history:
            told = self.study.history[int(self.rng.integers(len(self.study.history)))]
            value = None if self.rng.random() < 0.3 else self.drawn.value(told.params, self.rng)
            self.study.amend(told.number, value)
        if "drop" in self.drawn.also and self.reported == 4 and self.study.paused:
            dropped = self.study.paused[0]
            self.study.drop(dropped)
            self.asked.pop(dropped.number)

    def _resume(self):
        before = (*state_of(self.study), self.study.curves, self.study.legs, self.study.paused)
        self.study.close()
        given = {"cost": self.drawn.cost} if self.drawn.options["cost"] == "known" else {}
        self.study = QuickStudy.resume(self.path, **given)
        now = (*state_of(self.study), self.study.curves, self.study.legs, self.study.paused)
        assert now == before
        self.running = []  # they are handed out again


def check_in_stages(drawn):
    """Check a study in stages; nothing of it may be refused once its options are accepted."""
    return check(drawn, RunInStages, refused_late=None)
