# SPDX-License-Identifier: Apache-2.0
"""PRB: stop when the best value is within epsilon of the minimum with probability 1 - delta."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from scipy.special import betaincinv, ndtr

from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping._rule import check_positive
from stopwise.stopping.sampled_regret import crossings, largest_chance, total_chance
from stopwise.stopping.verdict import Verdict

Estimate = Literal["bound", "mean"]

# min(ceil(64 * 1.5^(j-1)), 1000), j = 1, 2, ...: samples in all at each look of the test.
LOOKS = (64, 96, 144, 216, 324, 486, 729, 1000)


def upper_bound(exceeding: int, samples: int, risk: float) -> float:
    """One-sided Clopper-Pearson upper bound of a probability."""
    if exceeding >= samples:
        return 1.0
    return float(betaincinv(exceeding + 1, samples - exceeding, 1.0 - risk))


def lower_bound(exceeding: int, samples: int, risk: float) -> float:
    """One-sided Clopper-Pearson lower bound of a probability."""
    if exceeding == 0:
        return 0.0
    return float(betaincinv(exceeding, samples - exceeding + 1, risk))


@cache
def allowance(samples: int, risk: float, level: float) -> int:
    """How many may exceed for the upper bound to be at most a level; -1 if not even none."""
    few = -1
    while few < samples and upper_bound(few + 1, samples, risk) <= level:
        few += 1
    return few


@dataclass(frozen=True, slots=True)
class ProbabilisticRegretBound:
    r"""Stop when :math:`P(f(x^*) - \min f > \epsilon \mid D) \le \delta`, tested with paths.

    The risk is shared: delta/2 for the regret, delta/2 for the test. Paths are drawn in batches
    (64, 96, 144, ... up to 1,000 in all) until the Clopper-Pearson interval, its risk shared over
    the looks, lies on one side of delta/2, or so many exceed that no later look could stop. Before
    that two bounds may decide without a sample: the largest probability of any one point is a
    lower bound, and on a finite domain the sum over points an upper one.

    Args:
        epsilon: Regret that does not matter, in objective units. (The paper's are percentage
            points: with accuracy in [0, 1] give a hundredth.)
        delta: Risk of being wrong.
        estimate: ``"bound"`` as above; ``"mean"``: the plain fraction of
            :math:`N_t = \min(\lceil 64\cdot 1.5^{t-1}\rceil, 1000)` paths against delta.

    References:
        Wilson (2024).
    """

    epsilon: float = 0.1
    delta: float = 0.05
    estimate: Estimate = "bound"
    name: ClassVar[str] = "prb"
    signal_scale: ClassVar[Scale] = "linear"

    def __post_init__(self) -> None:
        check_positive("ProbabilisticRegretBound", "epsilon", self.epsilon)
        check_positive("ProbabilisticRegretBound", "delta", self.delta)
        if self.delta >= 1.0:
            message = f"ProbabilisticRegretBound(delta={self.delta!r}): give 0 < delta < 1."
            raise InputError(message)
        if self.estimate not in ("bound", "mean"):
            message = (
                f"ProbabilisticRegretBound(estimate={self.estimate!r}): give 'bound' or 'mean'."
            )
            raise InputError(message)

    @property
    def key(self) -> str:
        """What is sampled depends on epsilon, when sampling ends on delta."""
        return f"regret_probability_{self.estimate}_{float(self.epsilon)}_{float(self.delta)}"

    @property
    def level(self) -> float:
        """What the probability is compared with."""
        return self.delta if self.estimate == "mean" else 0.5 * self.delta

    def signal(self, snapshot: Snapshot) -> Signal:
        """A bound of the probability that more than epsilon can still be gained."""
        if self.estimate == "mean":
            samples = LOOKS[min(max(snapshot.t, 1), len(LOOKS)) - 1]
            exceeding = int(next(crossings(snapshot, self.epsilon, [samples])).sum())
            return snapshot.signal(exceeding / samples, samples=samples, exceeding=exceeding)
        largest = float(ndtr(largest_chance(snapshot, self.epsilon)))
        if largest > self.level:
            return snapshot.signal(largest, samples=0, exceeding=0)
        total = total_chance(snapshot, self.epsilon)
        if total <= self.level:
            return snapshot.signal(total, samples=0, exceeding=0)
        return self._sequential_test(snapshot)

    def _sequential_test(self, snapshot: Snapshot) -> Signal:
        """Look at the first 64, 96, 144, ... paths; draw no more than an answer may need."""
        risk = 0.5 * self.delta / len(LOOKS)
        allowed = [allowance(samples, risk, self.level) for samples in LOOKS]
        # A first few show whether many exceed; fewer than the next can then not stop.
        rounds = [n for n, few in zip(LOOKS, allowed, strict=True) if few >= 0 or n == LOOKS[0]]
        batches = crossings(snapshot, self.epsilon, np.diff(rounds, prepend=0).tolist())
        exceeds = next(batches)
        exceeding, samples = 0, 0
        for samples, few in zip(LOOKS, allowed, strict=True):
            if samples > len(exceeds):
                exceeds = np.append(exceeds, next(batches))
            exceeding = int(np.count_nonzero(exceeds[:samples]))
            hopeless = exceeding > allowed[-1]  # more than the last look, or any, allows
            clear = lower_bound(exceeding, samples, risk) > self.level
            if exceeding <= few or hopeless or clear:
                break
        bound = upper_bound(exceeding, samples, risk)
        return snapshot.signal(bound, samples=samples, exceeding=exceeding)

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with the risk that is allowed."""
        now = trace.current
        samples = int(now.facts.get("samples", 0))
        how = f"from {samples} samples" if samples else "without a sample"
        sentence = (
            f"the probability that more than {quantity(self.epsilon)} can still be gained is put"
            f" at {quantity(now.value)} ({how}); the risk allowed is {quantity(self.level)}"
        )
        return Verdict.at_most(self.name, now.value, self.level, sentence)
