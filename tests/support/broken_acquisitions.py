# SPDX-License-Identifier: Apache-2.0
"""Acquisitions that each break one law, beside sound ones that somebody else might write."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from stopwise.acquisition import Partials, PointwiseScore

CALLS = itertools.count()


@dataclass(frozen=True)
class NetBound:
    """A bound below the median, less a price: what someone might write."""

    lam: float = 0.01

    def __call__(self, law, log_price, best):  # noqa: ARG002
        price = self.lam * np.exp(log_price)
        bound, slopes = law.quantile(-1.0)
        return Partials(-bound - price, tuple(-slope for slope in slopes), -price)

    def bind(self, snapshot):
        return PointwiseScore(self, snapshot, in_objective_units=True)


@dataclass(frozen=True)
class By:
    """An acquisition by a formula, or by whatever else gives a score."""

    formula: Callable = NetBound()
    score: Callable = PointwiseScore
    exclude: bool = True

    def bind(self, snapshot):
        return self.score(self.formula, snapshot, exclude=self.exclude, in_objective_units=True)


class Mutable:
    def bind(self, snapshot):
        return NetBound().bind(snapshot)


@dataclass(frozen=True, eq=False)
class NeverEqual:
    def bind(self, snapshot):
        return NetBound().bind(snapshot)


@dataclass(unsafe_hash=True)
class Settable:
    width: float = 1.0

    def bind(self, snapshot):
        return NetBound().bind(snapshot)


def nan_where_certain(law, log_price, best):
    mean, std, *others = law.parameters  # others: of a chance, a utility
    with np.errstate(all="ignore"):
        value = std - mean + 0.0 * mean / std
    ones = np.ones_like(mean)
    return Partials(value, (-ones, ones, *(0.0 * each for each in others)), 0.0 * ones)


def anchored(law, log_price, best):
    """It depends on where y is counted from."""
    mean, std = law.parameters
    bent = np.logaddexp(0.0, 4.0 * mean)
    slope = -4.0 * expit(4.0 * mean)
    return Partials(std - bent, (slope, np.ones_like(std)), 0.0 * mean)


def unscaled(law, log_price, best):
    """Its price is in objective units, whatever they are."""
    return NetBound(0.3)(law, log_price, best)


def spendthrift(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(law.std - law.mean + 0.01 * log_price, (-ones, ones), 0.01 * ones)


def upward(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(law.std + law.mean, (ones, ones), 0.0 * ones)


def timid(law, log_price, best):
    ones = np.ones_like(law.mean)
    return Partials(-law.std - law.mean, (-ones, -ones), 0.0 * ones)


@dataclass(frozen=True, eq=False)
class Passing:
    """A score that passes everything on; broken ones change one thing."""

    inner: PointwiseScore
    unit: float = 1.0
    starts: np.ndarray | None = None

    @classmethod
    def on(cls, *args, **options):
        return cls(PointwiseScore(*args, **options))

    @property
    def scales(self):
        return self.inner.scales

    def __call__(self, X):
        return self.inner(X)

    def with_gradient(self, X):
        return self.inner.with_gradient(X)


class Relative(Passing):
    def __call__(self, X):
        values = self.inner(X)
        return values - np.max(values, initial=0.0)


class Shaped(Passing):
    def __call__(self, X):
        return self.inner(X)[:, None]


class Steep(Passing):
    def with_gradient(self, X):
        values, gradients = self.inner.with_gradient(X)
        return values, 1.001 * gradients


class Drifting(Passing):
    def with_gradient(self, X):
        found = self.inner.with_gradient(X)
        X += 0.01
        return found


class Endless(Passing):
    scales = np.array([math.inf, -1.0])


class Between(Passing):
    @classmethod
    def on(cls, formula, snapshot, **options):
        starts = np.full((1, snapshot.domain.width), 0.3)
        return cls(PointwiseScore(formula, snapshot, **options), starts=starts)


def without_unit(*args, **options):
    return replace(Passing.on(*args, **options), unit=math.nan)


def unseeded(formula, snapshot, **options):
    width = (0.1, 10.0)[next(CALLS) % 2]  # as from a generator that nobody seeds

    def exploring(law, log_price, best):
        ones = np.ones_like(law.mean)
        return Partials(width * law.std - law.mean, (-ones, width * ones), 0.0 * ones)

    return PointwiseScore(exploring, snapshot, **options)


def behind_the_memo(formula, snapshot, **options):
    """It reads the record where the memo does not see it: what is kept may be of another one."""
    recorded = sum(map(len, snapshot.traces.untracked.values()))

    def upside_down(law, log_price, best):
        value, slopes, d_log_price = formula(law, log_price, best)
        return Partials(-value, tuple(-slope for slope in slopes), -d_log_price)

    return PointwiseScore(formula if recorded % 3 else upside_down, snapshot, **options)


BROKEN_ACQUISITIONS = [
    ("value", Mutable()),
    ("value", NeverEqual()),
    ("value", Settable()),
    ("numbers", By(nan_where_certain)),
    ("numbers", By(score=Shaped.on)),
    ("rows", By(score=Relative.on)),
    ("gradient", By(score=Steep.on)),
    ("hints", By(score=without_unit)),
    ("hints", By(score=Endless.on)),
    ("hints", By(score=Between.on)),
    ("barred", By(exclude=False)),
    ("attainable", By(score=Drifting.on)),
    ("seed", By(score=unseeded)),
    ("looking", By(score=behind_the_memo)),
    ("shift", By(anchored)),
    ("scale", By(unscaled)),
    ("price", By(spendthrift)),
    ("mean", By(upward)),
    ("deviation", By(timid)),
]
