# SPDX-License-Identifier: Apache-2.0
"""Studies drawn at random, hard ones above all: what they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS
from stopwise.core.beliefs.models import SURROGATES
from stopwise.stopping import RULES

LARGEST = float(np.finfo(float).max)
MOST = 6  # evaluations of one study

SPACES = {
    "table": sw.Candidates([{"x": i / 17, "n": 1 + i % 3} for i in range(18)]),
    "few": sw.Candidates([{"x": 0.1}, {"x": 0.7}, {"x": 0.2}, {"x": 1.0}]),
    "interval": {"x": sw.Real(0.0, 1.0)},
    "box": {"x": sw.Real(0.0, 1.0), "z": sw.Real(1e-30, 1e30, log=True)},
    "far": {"x": sw.Real(1e6, 1e6 + 1.0)},
    "whole": {"n": sw.Integer(1, 4), "c": sw.Categorical(["a", "b"])},
    "mixed": {"x": sw.Real(0.0, 1.0), "n": sw.Integer(1, 3), "c": sw.Categorical(["a", "b"])},
    "conditional": {
        "c": sw.Categorical(["a", "b"]),
        "n": sw.Ordinal([1, 2, 4], when={"c": "a"}),
        "x": sw.Real(0.0, 1.0, when={"c": "b"}),
        "z": sw.Real(1e-30, 1e30, log=True, when={"n": [2, 4]}),
    },
}
SPACES["constrained"] = {**SPACES["mixed"], "y": sw.Real(0.0, 1.0)}
CONSTRAINTS = {"constrained": ["x + y <= 1", "n < 3 or c == 'a'"]}
FIXED = {  # what some trials are asked with
    "table": {"n": 2},
    "few": {"x": 0.2},
    "interval": {"x": 0.25},
    "box": {"x": 0.25},
    "far": {"x": 1e6},
    "whole": {"c": "a"},
    "mixed": {"n": 3, "c": "a"},
    "conditional": {"c": "a", "n": 2},
    "constrained": {"n": 3, "c": "a"},
}
FIRST = {  # a configuration that is tried first
    "table": {"x": 3 / 17, "n": 1},
    "few": {"x": 0.7},
    "interval": {"x": 1.0},
    "box": {"x": 0.0, "z": 1.0},
    "far": {"x": 1e6 + 0.5},
    "whole": {"n": 4, "c": "b"},
    "mixed": {"x": 0.3, "n": 2, "c": "a"},
    "conditional": {"c": "b", "x": 0.5},
    "constrained": {"x": 0.3, "n": 2, "c": "a", "y": 0.5},
}
SIDES = ["above", "below"]
SHAPES = {
    "constant": lambda u, _: 0.0 * u,
    "wave": lambda u, _: math.sin(9.0 * u) + u,
    "step": lambda u, _: float(u > 0.5),
    "spike": lambda u, _: float(abs(u - 0.3) < 0.05),
    "powers": lambda u, _: 10.0 ** (40.0 * (u - 0.5)),
    "noise": lambda _, rng: rng.standard_normal(),
}


@dataclass(frozen=True)
class Drawn:
    """A study: its space, its options and what its evaluations give and cost."""

    space: str
    options: dict[str, object]
    shape: str
    scale: float
    offset: float
    costs: tuple[float, float]  # powers of ten: lowest and highest
    fails: tuple[bool, ...]  # whether the i-th evaluation fails, in turns
    told: int  # evaluations from elsewhere, told before the first ask
    at_once: int
    resumes: int | None  # after so many evaluations it is resumed from its journal
    measured: tuple[str, float, float] = ("wave", 1.0, 0.0)  # the outcome: shape, scale, offset
    also: frozenset[str] = frozenset()  # "amend", "drop", "fixed", "repeat": what else is done

    def position(self, params):
        """The configuration as a number from 0 to 1."""
        parts = {
            "x": lambda x: x - 1e6 if self.space == "far" else x,
            "y": lambda y: y,
            "z": lambda z: 0.5 + math.log10(z) / 60.0,
            "n": lambda n: n / 4.0,
            "c": lambda c: float(c == "b"),
        }
        return float(np.mean([parts[name](value) for name, value in params.items()]))

    def cost(self, params):
        """What an evaluation costs."""
        low, high = self.costs
        return 10.0 ** (low + (high - low) * self.position(params))

    def value(self, params, rng):
        """What an evaluation gives, within the bounds if there are any."""
        value = self.offset + self.scale * SHAPES[self.shape](self.position(params), rng)
        low, high = self.options.get("bounds") or (None, None)
        low, high = (-LARGEST if low is None else low), (LARGEST if high is None else high)
        return min(max(value, low), high)

    def outcomes(self, params, rng):
        """What is measured besides, if there are limits."""
        if self.options.get("limits") is None:
            return None
        shape, scale, offset = self.measured
        value = offset + scale * SHAPES[shape](self.position(params), rng)
        return {"harm": min(max(value, -1e99), 1e99)}

    def all_options(self):
        """The options, with the cost as it was drawn."""
        cost = {"known": self.cost}.get(self.options["cost"], self.options["cost"])
        return {**self.options, "cost": cost, "constraints": CONSTRAINTS.get(self.space)}


def powers(low=-308, high=307):
    """Positive numbers over so many powers of ten, ordinary ones in half of all cases."""
    ordinary, any_power = st.sampled_from([-2, -1, 0, 1, 2]), st.integers(low, high)
    mantissa = st.sampled_from([1.0, 1.7])
    power = st.one_of(ordinary, any_power)
    return st.tuples(mantissa, power).map(lambda parts: float(f"{parts[0]}e{parts[1]}"))


def signed(numbers):
    return st.tuples(st.sampled_from([-1.0, 1.0]), numbers).map(math.prod)


@st.composite
def drawn_studies(draw):
    """Any study, most of them hard in one respect or two."""
    space = draw(st.sampled_from(list(SPACES)))
    low, spread = draw(st.integers(-300, 180)), draw(st.sampled_from([0, 1, 6, 120]))
    costs = draw(st.sampled_from([(0.0, 0.5), (-0.5 * spread, 0.5 * spread), (low, low + spread)]))
    noise = draw(st.sampled_from([None, None, "learn", "given"]))
    noise = draw(powers(-323)) if noise == "given" else noise
    spending = draw(st.sampled_from(["lam", "lam", "budget", "both"]))
    cost = draw(st.sampled_from([None, "known", "reported"]))
    price = 1.0 if cost is None else 10.0 ** costs[draw(st.integers(0, 1))]
    offset = draw(st.one_of(st.just(0.0), signed(powers())))
    acquisitions = list(ACQUISITIONS)
    rules = [sw.stopping.FixedTrials(5) if name == "fixed" else name for name in RULES]
    if spending == "budget":
        rules.remove("pbgi")
        acquisitions.remove("eic")
    measured = draw(
        st.tuples(st.sampled_from(list(SHAPES)), powers(-120, 90), signed(powers(-120, 90)))
    )
    limits = draw(st.sampled_from([None, None, "within", "beyond", "about"]))
    direction, scale = draw(st.sampled_from(["minimize", "maximize"])), draw(powers(-323))
    also = draw(st.sets(st.sampled_from(["amend", "drop", "fixed", "repeat"])))
    if noise is None or limits is not None:
        also -= {"repeat"}
    options = {
        "surrogate": draw(st.sampled_from(list(SURROGATES))),
        "acquisition": draw(st.sampled_from(acquisitions)),
        "stopping": draw(st.sampled_from(["pbgi", *rules])),
        "watch": tuple(draw(st.lists(st.sampled_from(rules), max_size=2))),
        "cost": cost,
        "lam": draw(powers(-323)) if spending != "budget" else None,
        "budget": draw(st.sampled_from([3.0, 10.0, 1e3])) * price if spending != "lam" else None,
        "noise": noise,
        "replicates": noise is not None and draw(st.booleans()),
        "direction": direction,
        "utility": draw(st.one_of(st.none(), st.none(), utilities(offset, scale, direction))),
        "prior": draw(st.sampled_from(["lognormal", "gamma", None])),
        "bounds": draw(st.one_of(st.none(), st.none(), bounds(offset))),
        "failures": draw(st.sampled_from(["chance", "chance", "median"])),
        "limits": None if limits is None else {"harm": harm_limits(limits, measured)},
        "fallback": draw(st.sampled_from([None, 0.0])) if limits is not None else None,
        "n_initial": draw(st.sampled_from([None, 1, 2, 3])),
        "start_from": draw(st.sampled_from([[], [], [FIRST[space]]])),
        "seed": draw(st.integers(0, 3)),
        "max_trials": MOST,
    }
    return Drawn(
        space,
        options,
        draw(st.sampled_from(list(SHAPES))),
        scale,
        offset,
        costs,
        tuple(draw(st.sampled_from([(False,), (False,), (False, True), (True,)]))),
        draw(st.sampled_from([0, 0, 2])),
        draw(st.sampled_from([1, 1, 3])),
        draw(st.sampled_from([None, None, None, 2, 5])),
        measured,
        frozenset(also),
    )


@st.composite
def utilities(draw, offset, scale, direction):
    """What values are worth: by a level among them, or far from them."""
    at = draw(st.sampled_from([offset, offset + scale, draw(signed(powers(-90, 90)))]))
    at = min(max(at, -9e98), 9e98)
    width = draw(st.sampled_from([scale, draw(powers(-90, 90))]))
    width, worth = min(max(width, 1e-12 * abs(at), 1e-300), 1e98), draw(powers(-90, 90))
    sign = 1.0 if direction == "maximize" else -1.0
    steps = [(at - sign * width, 0.0), (at, 0.3 * worth), (at + sign * width, worth)]
    kind = draw(st.sampled_from(["sigmoid", "threshold", "piecewise", "linear"]))
    makers = {
        "sigmoid": lambda: sw.utility.sigmoid(at=at, width=width, height=worth),
        "threshold": lambda: sw.utility.threshold(at, worth, draw(st.sampled_from(SIDES))),
        "piecewise": lambda: sw.utility.piecewise(steps, unit="dollars"),
        "linear": lambda: sw.utility.linear(worth),
    }
    return makers[kind]()


def harm_limits(kind, measured):
    """Limits that all outcomes keep, that none does, or that cut through them."""
    _, scale, offset = measured
    if kind == "about":
        return (offset - 0.2 * scale - 1e-99, offset + 0.4 * scale + 1e-99)
    away = 1e3 * (scale + abs(offset)) + 1e-90
    return (None, min(away, 1e99)) if kind == "within" else (min(away, 9e98), None)


def bounds(offset):
    """Bounds that hold for all values, near them or far away."""
    least = abs(offset) / 1e15  # so that they differ from the offset
    below = above = st.one_of(st.none(), powers(-300).map(lambda away: max(away, least)))
    return st.tuples(below, above).map(
        lambda away: (
            None if away[0] is None else max(offset - away[0], -LARGEST),
            None if away[1] is None else min(offset + away[1], LARGEST),
        )
    )
