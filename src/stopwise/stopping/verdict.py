# SPDX-License-Identifier: Apache-2.0
"""The verdict: a stopping rule's answer, with its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer that carries its reason; true if it is to stop.

    Args:
        stop: Whether to stop.
        rule: Which rule answered: a name of ``RULES``, or ``initial``, ``max-trials``,
            ``budget``, ``exhausted``, ``failures``, ``limits``.
        value: The number that decided.
        threshold: What it was compared with.
        reason: A sentence with numbers in the user's units.
    """

    stop: bool
    rule: str
    value: float
    threshold: float
    reason: str

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return self.reason

    def _repr_html_(self) -> str:
        """The verdict in a notebook."""
        from html import escape

        answer = "Stop" if self.stop else "Go on"
        return f"<p><strong>{answer}</strong> ({escape(self.rule)}): {escape(self.reason)}.</p>"

    @classmethod
    def at_most(cls, rule: str, value: float, threshold: float, sentence: str) -> Verdict:
        """Stop if value <= threshold; ties stop, nan never does."""
        return cls.decided(rule, value, threshold, sentence, stop=value <= threshold)

    @classmethod
    def at_least(cls, rule: str, value: float, threshold: float, sentence: str) -> Verdict:
        """Stop if value >= threshold; ties stop, nan never does."""
        return cls.decided(rule, value, threshold, sentence, stop=value >= threshold)

    @classmethod
    def not_yet(cls, rule: str, sentence: str, value: float = math.nan) -> Verdict:
        """Go on: there is no answer yet."""
        return cls(False, rule, value, math.nan, sentence)  # noqa: FBT003

    @classmethod
    def decided(
        cls, rule: str, value: float, threshold: float, sentence: str, *, stop: bool
    ) -> Verdict:
        """The verdict of a comparison, with its answer at the end of the sentence."""
        return cls(stop, rule, value, threshold, f"{sentence}: {'stop' if stop else 'go on'}")
