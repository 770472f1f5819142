# SPDX-License-Identifier: Apache-2.0
"""Progress of a run: live in a terminal or a notebook, plain lines elsewhere.

It changes nothing: it reads what is recorded, and whatever goes wrong with showing it (a closed
stream, a narrow terminal) ends the display, never the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TextIO

from stopwise.core.stages import Stages
from stopwise.core.units import SECONDS, AnswerUnits, amount
from stopwise.study import Study
from stopwise.study.display import Silent
from stopwise.study.result import Result
from stopwise.tools.progress.painters import Painter, painter_for
from stopwise.tools.progress.view import reported, told, units_of, view_of

__all__ = ["SECONDS", "Progress"]


class Progress(Silent):
    """Shows a run while it goes on.

    Used as a context manager by whoever runs the loop: ``begin`` once, ``changed`` after each
    ask, tell and should_stop, ``end`` with the result.

    Args:
        unit: Of costs, in the user's words: "hours", "euros". ``SECONDS`` writes durations. The
            ``cost_unit`` of the study if left out.
        stream: Where to; ``sys.stderr`` if left out, so that a program's own output stays apart.
    """

    def __init__(self, *, unit: str = "", stream: TextIO | None = None) -> None:
        self._unit, self._stream = unit, stream
        self._painter: Painter | None = None
        self._study: Study | None = None
        self._shown = 0  # observations that lines were written for
        self._seen = 0  # observations when we last looked
        self._stages: dict[int, int] = {}  # of each trial, stages that lines were written for
        self._note = ""  # what an interrupt does
        self._last = ""  # the sentence after a run that did not end by itself

    def __exit__(self, *problem: object) -> None:
        """Give the terminal back, however the run ended; what was running does not any more."""
        if self._painter is not None and self._study is not None:
            self._show(self._study, len(self._study.history), runs=False)
        self._close(self._last)

    def begin(self, study: Study) -> None:
        """A run begins; what is in the history already is not told again."""

        def start() -> None:
            self._painter = painter_for(self._stream, units_of(study, self._unit).cost_unit)

        self._study = study
        self._shown = self._seen = len(study.history)
        self._stages = {number: len(curve) for number, curve in study.curves.items()}
        self._safely(start)
        self._show(study)

    def changed(self, study: Study) -> None:
        """Something was asked, told or answered.

        A line about an evaluation waits for one more call: by then the rules were asked about it.
        """
        ready, self._seen = self._seen, len(study.history)
        self._show(study, ready)

    def note(self, text: str) -> None:
        """Show what an interrupt does, until the run is over; a signal handler may call it."""
        self._note = text
        if self._painter is not None:
            self._painter.note(text)

    def interrupted(self, running: int) -> None:
        """Say that an executor may go on for a while; Python's own message comes after that."""
        trials = "1 trial" if running == 1 else f"{running} trials"
        self._last = (
            f"Interrupted: nothing new is begun. The executor is at work on {trials} and may wait"
            " until they end; what they give is not told."
        )

    def end(self, study: Study, result: Result) -> None:
        """The run is over: why, and what it came to."""
        self._show(study, len(study.history), runs=False)
        spent, verdict = units_of(study, self._unit).cost(result.spent), result.verdict
        ours = f"stopwise itself took {amount(study.own_seconds, SECONDS)}"
        self._close(f"Spent {spent}; {ours}. {verdict.rule}: {verdict.reason}.")

    def _show(self, study: Study, ready: int = 0, *, runs: bool = True) -> None:
        def paint() -> None:
            if self._painter is None:
                return
            new, units = study.history[self._shown : ready], units_of(study, self._unit)
            self._shown = max(self._shown, ready)
            view = view_of(study, self._unit)
            view = replace(view, note=self._note) if runs else view.at_the_end
            stages = self._new_stages(study, units)
            self._painter.paint(view, [*stages, *(told(o, units) for o in new)])

        self._safely(paint)

    def _new_stages(self, study: Study, units: AnswerUnits) -> list[str]:
        """A line for each stage since the last look; the last stage of a trial is told with it."""
        lines, stages = list[str](), study.options.stages
        if not isinstance(stages, Stages):
            return lines
        for number, curve in study.curves.items():
            new = curve[self._stages.get(number, 0) :]
            legs = {leg.to_step: leg for leg in study.legs.get(number, ())}
            lines += [
                reported(r, stages, units, legs.get(r.step)) for r in new if r.step < stages.last
            ]
            self._stages[number] = len(curve)
        return lines

    def _close(self, last: str) -> None:
        painter, self._painter = self._painter, None
        if painter is not None:
            self._safely(painter.close, last)

    def _safely(self, action: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401
        """Do it; a run does not end because it cannot be shown."""
        try:
            action(*arguments)
        except Exception:  # noqa: BLE001  whatever a terminal, a notebook or rich can come up with
            painter, self._painter = self._painter, None
            if painter is not None and action != painter.close:
                self._safely(painter.close, "")
