# SPDX-License-Identifier: Apache-2.0
"""Whatever is combined: it ends with a verdict, spends what it says, and repeats nothing.

All pairs of choices run in the ordinary tests, with a sample of those in conditional spaces. The
slow ones run half of all combinations, in which any six choices of the seven occur together.
Limits and utilities do not multiply the product: combinations in which every pair of the other
choices occurs have each of them.
"""

import itertools
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS

CONDITIONAL = {
    "c": sw.Categorical(["a", "b"]),
    "x": sw.Real(0.0, 1.0),
    "n": sw.Integer(1, 3, when={"c": "a"}),
    "y": sw.Real(0.0, 1.0, when={"c": "b"}),
}
SPACES = {
    "finite": sw.Candidates([{"x": i / 17, "n": 1 + i % 3} for i in range(18)]),
    "box": {"x": sw.Real(0.0, 1.0)},
    "mixed": {"x": sw.Real(0.0, 1.0), "n": sw.Integer(1, 3), "c": sw.Categorical(["a", "b"])},
    "conditional": CONDITIONAL,
    "constrained": CONDITIONAL,
}
CONSTRAINTS = {"constrained": ["x <= 0.9", lambda p: p.get("y", 1.0) > 0.2 or p["x"] < 0.5]}
FACTORS = {
    "space": list(SPACES),
    "acquisition": list(ACQUISITIONS),
    "cost": ["unit", "known", "learned"],
    "noise": [None, "learn"],
    "budget": [False, True],
    "failures": [False, True],
    "at_once": [1, 3],
}
PLAIN = {"limits": False, "utility": None}
EVERYTHING = [
    dict(zip(FACTORS, values, strict=True)) | PLAIN
    for values in itertools.product(*FACTORS.values())
]
HALF = [  # the sum of the places of the choices is even, so that any six of them leave one seventh
    c for c in EVERYTHING if sum(FACTORS[name].index(c[name]) for name in FACTORS) % 2 == 0
]
ADDED = {"limits": [False, True], "utility": [None, "piecewise", "sigmoid"]}
UTILITIES = {
    "piecewise": sw.utility.piecewise([(-1.0, 30.0), (0.5, 0.0)], unit="dollars"),
    "sigmoid": sw.utility.sigmoid(at=-0.5, width=0.3, height=30.0),
}
BUDGET, CAP = 9.75, 9  # four evaluations of the design, and five choices


def covering(combinations):
    """A few combinations in which every pair of choices of two factors occurs: greedily."""

    def pairs(combination):
        return set(itertools.combinations(combination.items(), 2))

    missing = set().union(*map(pairs, combinations))
    chosen = []
    while missing:
        best = max(combinations, key=lambda c: len(pairs(c) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen


def widened(combinations):
    """Each combination with every way to have limits or a utility, or both."""
    ways = [dict(zip(ADDED, pair, strict=True)) for pair in itertools.product(*ADDED.values())]
    return [c | way for c in combinations for way in ways if way != PLAIN]


PAIRWISE = covering([c for c in EVERYTHING if SPACES[c["space"]] is not CONDITIONAL])
TREES = covering([c for c in EVERYTHING if SPACES[c["space"]] is CONDITIONAL])
SAMPLE = TREES[::5]
WIDE = widened([*PAIRWISE, *TREES])


def name(combination):
    return "-".join(str(value) for value in combination.values())


def price(params):
    return 0.6 + 0.8 * params["x"]


def wavy(params):
    return math.sin(9.0 * params["x"]) + params["x"] + 0.1 * params.get("n", 0)


class Run:
    """A study run to its end, a few at once, told in no particular order, some of them failing."""

    def __init__(
        self, *, space, acquisition, cost, noise, budget, failures, at_once, limits, utility
    ):
        self.price = (lambda _: 1.0) if cost == "unit" else price
        self.study = sw.Study(
            SPACES[space],
            lam=None if utility or (budget and acquisition != "eic") else 2e-3,
            cost={"unit": None, "known": price, "learned": "reported"}[cost],
            budget=BUDGET if budget else None,
            acquisition=acquisition,
            noise=noise,
            constraints=CONSTRAINTS.get(space),
            limits={"height": (None, 0.75)} if limits else None,
            utility=UTILITIES.get(utility),
            n_initial=4,
            max_trials=CAP,
        )
        self.limits = limits
        self.learned, self.failures, self.at_once = cost == "learned", failures, at_once
        self.noise = 0.0 if noise is None else 0.2
        self.asked, self.paid = [], []

    def to_the_end(self):
        rng = np.random.default_rng(0)
        study = self.study
        while True:
            while len(study.pending) < self.at_once and not study.should_stop().stop:
                self.asked.append(study.ask().params)
                assert len(study.pending) <= self.at_once
            if not study.pending:
                return study.should_stop()
            trial = study.pending[rng.integers(len(study.pending))]
            failed = self.failures and trial.number % 4 == 1
            value = wavy(trial.params) + self.noise * rng.standard_normal()
            paid = self.price(trial.params)
            self.paid.append(paid)
            outcomes = {"height": trial.params["x"]} if self.limits and not failed else None
            cost = paid if self.learned else None
            study.tell(trial, None if failed else value, cost, outcomes=outcomes)


def check(combination):
    run = Run(**combination)
    verdict = run.to_the_end()
    study = run.study
    # It ends with a verdict, which has its reason.
    assert verdict.stop
    assert verdict.reason.endswith(": stop")
    expected = {"max-trials"} | ({"budget"} if combination["budget"] else {"pbgi"})
    if combination["acquisition"] == "eic" or combination["utility"]:
        expected.add("pbgi")
    assert verdict.rule in expected
    # It spends what it says.
    assert study.spent == sum(run.paid) == sum(o.cost for o in study.history)
    assert len(study.history) == len(run.asked) <= CAP
    assert study.pending == ()
    if combination["budget"] and not run.learned:
        assert study.spent <= BUDGET
    # It proposes what exists and is allowed, and nothing twice.
    for params in run.asked if SPACES[combination["space"]] is CONDITIONAL else ():
        assert set(params) == ({"c", "x", "n"} if params["c"] == "a" else {"c", "x", "y"})
    if combination["space"] == "constrained":
        assert all(p["x"] <= 0.9 and (p.get("y", 1) > 0.2 or p["x"] < 0.5) for p in run.asked)
    X = study.domain.encode(run.asked)
    gaps = np.abs(X[:, None] - X[None]).max(axis=2)[np.triu_indices(len(X), 1)]
    assert gaps.min() > 1e-6
    # And what it reports is something that it saw.
    failed = [o.number for o in study.history if o.failed]
    assert bool(failed) == combination["failures"]
    assert study.best.number not in failed
    if combination["limits"]:
        assert any(o.infeasible for o in study.history if not o.failed) == any(
            p["x"] > 0.75 for i, p in enumerate(run.asked) if i not in failed
        )
        assert combination["noise"] or study.best.params["x"] <= 0.75
    if combination["utility"]:
        assert study.result().worth == study.worth(study.best.value)
    assert (study.best.std > 0) == (combination["noise"] is not None)
    assert study.result().best == study.best


def test_the_few_cover_every_pair():
    simple = {**FACTORS, "space": ["finite", "box", "mixed"]}
    both = list(itertools.combinations(FACTORS, 2))
    for first, second in both:
        wanted = set(itertools.product(simple[first], simple[second]))
        assert {(c[first], c[second]) for c in PAIRWISE} == wanted
    assert len(PAIRWISE) < 40
    assert {c["space"] for c in SAMPLE} == {"conditional", "constrained"}
    assert len(EVERYTHING) == 1680


def test_in_half_of_all_any_six_choices_occur_together():
    for left_out in FACTORS:
        six = [name for name in FACTORS if name != left_out]
        wanted = set(itertools.product(*(FACTORS[name] for name in six)))
        assert {tuple(c[name] for name in six) for c in HALF} == wanted
    assert len(HALF) < 0.51 * len(EVERYTHING)


def test_limits_and_utilities_meet_every_other_choice():
    """In every pair of the other choices, each way to have them."""
    ways = {pair for pair in itertools.product(*ADDED.values()) if pair != (False, None)}
    for first, second in itertools.combinations(FACTORS, 2):
        seen = {(c[first], c[second], (c["limits"], c["utility"])) for c in WIDE}
        assert seen == set(itertools.product(FACTORS[first], FACTORS[second], ways))
    assert len(WIDE) < 250


@pytest.mark.parametrize("combination", [*PAIRWISE, *SAMPLE, *WIDE[::26]], ids=name)
def test_every_pair_of_choices_runs(combination):
    check(combination)


@pytest.mark.slow
@pytest.mark.parametrize("combination", [*HALF, *WIDE], ids=name)
def test_any_six_choices_run(combination):
    check(combination)
