# SPDX-License-Identifier: Apache-2.0
"""PRB: stop when the best value is within epsilon of the minimum with probability 1 - delta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.errors import InputError, shown
from stopwise.stopping._checks import check_positive
from stopwise.stopping._clopper_pearson import acceptance_number, lower_bound, upper_bound
from stopwise.stopping.sampled_regret import exceedances, largest_chance, union_bound
from stopwise.stopping.signals import OBJECTIVE, PURE_NUMBER, SAMPLE_PATHS, SignalKind
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleParameter, RuleTraits

Estimate = Literal["bound", "mean"]

# min(ceil(64 * 1.5^(j-1)), 1000), j = 1, 2, ...: samples in all at each look of the test.
LOOKS = (64, 96, 144, 216, 324, 486, 729, 1000)


@dataclass(frozen=True, slots=True)
class ProbabilisticRegretBound(ThresholdRule):
    r"""Stop when :math:`P(f(x^*) - \min f > \epsilon \mid D) \le \delta`, tested with paths.

    The risk is shared: delta/2 for the regret, delta/2 for the test. The test is sequential: paths
    are drawn in batches (64, 96, 144, ... up to 1,000 in all) until the Clopper-Pearson interval,
    its risk shared over the looks, lies on one side of delta/2, or until so many exceed epsilon
    that no later look could stop. Before that two bounds may decide without a sample: the largest
    probability of any one point is a lower bound, and on a finite domain the sum over points an
    upper one. Assumes that f is a path of the model. Where evaluations may fail or break a limit,
    a path exceeds epsilon only where its draw of success succeeds.

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

    def __post_init__(self) -> None:
        epsilon = check_positive("ProbabilisticRegretBound", "epsilon", self.epsilon)
        object.__setattr__(self, "epsilon", epsilon)
        delta = check_positive("ProbabilisticRegretBound", "delta", self.delta)
        object.__setattr__(self, "delta", delta)
        if self.delta >= 1.0:
            message = f"ProbabilisticRegretBound(delta={self.delta!r}): give 0 < delta < 1."
            raise InputError(message)
        if self.estimate not in ("bound", "mean"):
            given = f"ProbabilisticRegretBound(estimate={shown(self.estimate)})"
            message = f"{given}: give 'bound' or 'mean'."
            raise InputError(message)

    @property
    def traits(self) -> RuleTraits:
        """Its signal depends on epsilon, and on delta, which says when sampling ends."""
        signal = SignalKind(
            f"regret_probability_{self.estimate}_{float(self.epsilon)}_{float(self.delta)}",
            "linear",
            "probability of a larger gain",
            reads="model",
            unit=PURE_NUMBER,
            costly=True,
            beyond_marginals=SAMPLE_PATHS,
        )
        epsilon = RuleParameter("epsilon", self.epsilon, OBJECTIVE)
        return RuleTraits(signal, memory=1, parameters=(epsilon,))

    @property
    def level(self) -> float:
        """What the probability is compared with."""
        return self.delta if self.estimate == "mean" else 0.5 * self.delta

    def signal(self, snapshot: Snapshot) -> Signal:
        """A bound of the probability that more than epsilon can still be gained."""
        if self.estimate == "mean":
            samples = LOOKS[min(max(snapshot.t, 1), len(LOOKS)) - 1]
            exceeding = int(next(exceedances(snapshot, self.epsilon, [samples])).sum())
            return snapshot.signal(exceeding / samples, samples=samples, exceeding=exceeding)
        largest = largest_chance(snapshot, self.epsilon)
        if largest > self.level:
            return snapshot.signal(largest, samples=0, exceeding=0)
        total = union_bound(snapshot, self.epsilon)
        if total <= self.level:
            return snapshot.signal(total, samples=0, exceeding=0)
        return self._sequential_test(snapshot)

    def _sequential_test(self, snapshot: Snapshot) -> Signal:
        """Look at the first 64, 96, 144, ... paths; draw no more than an answer may need."""
        risk = 0.5 * self.delta / len(LOOKS)
        accepted = [acceptance_number(samples, risk, self.level) for samples in LOOKS]
        # The first batch shows whether many exceed. A later look that could not stop even if none
        # did gets no batch of its own: it reads that of the next look that could.
        drawn_at = [n for n, c in zip(LOOKS, accepted, strict=True) if c >= 0 or n == LOOKS[0]]
        batches = exceedances(snapshot, self.epsilon, np.diff(drawn_at, prepend=0).tolist())
        exceeds = next(batches)
        exceeding, samples = 0, 0
        for samples, acceptance in zip(LOOKS, accepted, strict=True):
            if samples > len(exceeds):
                exceeds = np.append(exceeds, next(batches))
            exceeding = int(np.count_nonzero(exceeds[:samples]))
            futile = exceeding > accepted[-1]  # more than the last look, so any look, accepts
            rejected = lower_bound(exceeding, samples, risk) > self.level
            if exceeding <= acceptance or futile or rejected:
                break
        bound = upper_bound(exceeding, samples, risk)
        return snapshot.signal(bound, samples=samples, exceeding=exceeding)

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """The risk that is allowed."""
        return Boundary(self.level)

    def sentence(self, now: Signal, level: float) -> str:
        """How likely a larger gain is, from how many samples, and the risk that is allowed."""
        samples = int(now.facts.get("samples", 0))
        how = f"from {samples} samples" if samples else "without a sample"
        return (
            f"the probability that more than {quantity(self.epsilon)} can still be gained"
            f"{now.units.in_value} is put at {quantity(now.value, level)} ({how}); the risk"
            f" allowed is {quantity(level, now.value)}"
        )
