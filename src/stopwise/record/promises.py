# SPDX-License-Identifier: Apache-2.0
"""Promises: the gain that was expected of each choice of the acquisition, and the gain that came.

Both are one quantity, in the user's units and at least 0. Where observations are exact it is the
improvement on the best value; where they are noisy it is the fall of the lowest posterior mean
among evaluated points, at the hyper-parameters of the choice. Where evaluations may fail or break
a limit, the gain times the chance to succeed is promised; what does not succeed delivers 0. With a
utility, gains are by what values are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from stopwise.core.html_table import html_table
from stopwise.core.quantity import quantity


@dataclass(frozen=True, slots=True)
class Promise:
    """A choice of the acquisition.

    Args:
        trial: Number of the trial.
        promised: The gain that the model expected of it when it was asked for.
        delivered: The gain when it was told, over what had been told before; 0 if the evaluation
            failed or broke a limit, None while it is pending.
    """

    trial: int
    promised: float
    delivered: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether a gain came, and at least the one that was promised."""
        return self.delivered is not None and 0.0 < self.delivered >= self.promised


@dataclass(frozen=True, slots=True)
class Promises(Sequence[Promise]):
    """The promises of a study, in the order in which its trials were asked for.

    Example:
        >>> promises = Promises((Promise(4, 0.3, 0.1), Promise(5, 0.2, 0.0), Promise(6, 0.1)))
        >>> str(promises)
        'promised 0.5 in 2 choices, 0.1 came'
    """

    entries: tuple[Promise, ...] = ()

    def __len__(self) -> int:
        """Number of choices, pending ones included."""
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> Promise: ...
    @overload
    def __getitem__(self, index: slice) -> Promises: ...
    def __getitem__(self, index: int | slice) -> Promise | Promises:
        """One promise, or some of them."""
        if isinstance(index, slice):
            return Promises(self.entries[index])
        return self.entries[index]

    @property
    def told(self) -> Promises:
        """Those whose trial was told."""
        return Promises(tuple(p for p in self.entries if p.delivered is not None))

    @property
    def promised(self) -> float:
        """The gain promised by all choices that were told."""
        return float(sum(p.promised for p in self.told.entries))

    @property
    def delivered(self) -> float:
        """The gain that came of them."""
        return float(sum(p.delivered or 0.0 for p in self.told.entries))

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        """The promises in a notebook: a row for each choice."""
        if not self.entries:
            return "<p>Nothing has been promised yet: the acquisition has made no choice.</p>"
        rows = [
            (p.trial, p.promised, "pending" if p.delivered is None else p.delivered)
            for p in self.entries
        ]
        said = self.words()
        head = ("trial", "gain promised", "gain that came")
        return f"<p>{said[0].upper()}{said[1:]}.</p>{html_table(head, rows)}"

    def words(self, of: str = "") -> str:
        """What was promised and what came, as a sentence.

        Args:
            of: What is gained, if it has a name: ``"misread %"``.
        """
        count = len(self.told)
        choices = "1 choice" if count == 1 else f"{count} choices"
        promised = f"{quantity(self.promised)} {of}".strip()
        return f"promised {promised} in {choices}, {quantity(self.delivered)} came"
