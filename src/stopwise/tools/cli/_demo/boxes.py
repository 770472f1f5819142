# SPDX-License-Identifier: Apache-2.0
"""Weitzman's boxes (Pandora's problem), and policies to open them.

Each box holds a normally distributed prize; opening it has a price. The player opens as many boxes
as they like, in any order, stops at any time, and keeps the best prize (or none, which is 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.normal import pbgi


@dataclass(frozen=True)
class Boxes:
    """Some boxes.

    Args:
        mean: Of each prize.
        std: Deviation of each prize.
        price: Of opening each.
    """

    mean: Array
    std: Array
    price: Array

    @classmethod
    def of(cls, rows: Sequence[tuple[float, float, float]]) -> Boxes:
        """From rows of mean, deviation and price."""
        return cls(*np.array(rows, dtype=float).T)

    def __len__(self) -> int:
        """Number of boxes."""
        return len(self.mean)

    @property
    def fair_values(self) -> Array:
        """The prize in hand at which opening a box is just worth its price.

        ``E max(prize - g, 0) = price``: Weitzman's reservation value, which is PBGI of the negated
        prize, since PBGI is for minimising.
        """
        negated: Array = pbgi(-self.mean, self.std, self.price)
        return -negated


@dataclass(frozen=True)
class Policy:
    """An order in which to open, and when to stop.

    Args:
        name: For the table.
        order: Boxes in the order in which they are opened.
        enough: Stop before the k-th opening if the prize in hand is at least ``enough[k]``.
    """

    name: str
    order: Indices
    enough: Array


@dataclass(frozen=True)
class Games:
    """The games of one policy, one in each of many worlds."""

    payoff: Array
    opened: Array
    paid: Array

    @property
    def mean(self) -> float:
        """The mean payoff: best prize less prices."""
        return float(self.payoff.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean payoff."""
        return float(self.payoff.std(ddof=1) / np.sqrt(len(self.payoff)))


def by_index(name: str, order_by: Array, worth: Array) -> Policy:
    """Open in descending order of one number; stop when no unopened box is worth more."""
    order = np.argsort(-order_by, kind="stable")
    return Policy(name, order, np.maximum.accumulate(worth[order][::-1])[::-1])


def policies(boxes: Boxes) -> list[Policy]:
    """The policy of fair values, and what people do without them."""
    mean = boxes.mean
    return [
        by_index("by fair value", boxes.fair_values, boxes.fair_values),
        by_index("best mean first, while a better one is left", mean, mean),
        by_index("cheapest first, while a better mean is left", -boxes.price, mean),
        Policy("open them all", np.arange(len(boxes)), np.full(len(boxes), np.inf)),
    ]


def play(boxes: Boxes, policy: Policy, prizes: Array) -> Games:
    """A policy in many worlds at once; ``prizes`` has a row for each world."""
    best_so_far = np.maximum.accumulate(np.maximum(prizes[:, policy.order], 0.0), axis=1)
    in_hand = np.column_stack(
        [np.zeros(len(prizes)), best_so_far]
    )  # before each opening, and at last
    goes_on = np.logical_and.accumulate(in_hand[:, :-1] < policy.enough, axis=1)
    opened = goes_on.sum(axis=1)
    paid = np.concatenate([[0.0], np.cumsum(boxes.price[policy.order])])[opened]
    best = in_hand[np.arange(len(prizes)), opened]
    return Games(best - paid, opened.astype(float), paid)


def worlds(boxes: Boxes, count: int, seed: int) -> Array:
    """The prizes of many worlds."""
    rng = np.random.default_rng(seed)
    return boxes.mean + boxes.std * rng.standard_normal((count, len(boxes)))


def best_possible(boxes: Boxes, cells: int = 4000) -> float:
    """The expected payoff of the best of all policies, by dynamic programming.

    V(S, y) = max(y, max over i in S of E V(S less i, max(y, prize_i)) - price_i), over every set
    S of unopened boxes and a fine grid of prizes in hand. It does not use fair values.
    """
    top = float(np.max(boxes.mean + 8.0 * boxes.std))
    edges = np.linspace(0.0, top, cells + 1)
    grid = np.concatenate([[0.0], (edges[1:] + edges[:-1]) / 2])  # nothing in hand, then cells
    below = ndtr((edges - boxes.mean[:, None]) / boxes.std[:, None])
    mass = np.column_stack([below[:, 0], np.diff(below, axis=1)])
    value = {frozenset[int](): grid}
    for size in range(1, len(boxes) + 1):
        for some in map(frozenset, combinations(range(len(boxes)), size)):
            ways = [grid]
            for i in some:
                after = value[some - {i}]
                better = np.cumsum((mass[i] * after)[::-1])[::-1]  # the prize is in cell k or up
                ways.append(
                    np.cumsum(mass[i]) * after + np.append(better[1:], 0.0) - boxes.price[i]
                )
            value[some] = np.max(ways, axis=0)
    return float(value[frozenset(range(len(boxes)))][0])
