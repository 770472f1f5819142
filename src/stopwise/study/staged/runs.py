# SPDX-License-Identifier: Apache-2.0
"""Runs: evaluations in stages that wait where they are until they are taken up again.

An objective with stages is a generator function, which yields ``(step, value)`` and is simply not
resumed while its trial is paused; or a function of the params and ``report``, which runs in a
thread of its own and waits in ``report(step, value)`` while its trial is paused.
"""

from __future__ import annotations

import inspect
import queue
import threading
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterator
from typing import Any, NamedTuple

from stopwise.core.checks import checked_whole
from stopwise.errors import InputError, InputTypeError, shown

HOW = (
    "with stages= the objective yields (step, value) as it goes, or takes report as a second"
    " argument and calls report(step, value), which says whether to go on"
)
_END = object()
_RUNS_ON = (
    "an objective went on after report had answered False, and was ended by an error in its next"
    " report: return when report answers False, since what is run after it is not told"
)


class _AfterTheEndError(InputError):
    """A report of a run that was told to end."""


class Advanced(NamedTuple):
    """How a run went on.

    Args:
        reports: What it reported: step, value, and cost if it says so.
        seconds: How long it took.
        ended: Whether it has ended.
        error: Why, if it broke down.
    """

    reports: list[tuple[int, Any, Any]]
    seconds: float
    ended: bool
    error: str = ""


class Run:
    """One evaluation, as far as it has gone.

    Args:
        objective: The objective.
        params: Its params.
        number: The number of its trial, for messages.
        late: The stages, of a run that is begun anew after a resume: it may go on from a
            checkpoint that lies beyond a stage, and is then let go on to the next one.
    """

    def __init__(
        self,
        objective: Callable[..., Any],
        params: dict[str, Any],
        number: int,
        late: Collection[int] = (),
    ) -> None:
        self._objective = objective
        self._late = late
        self._params = params
        self._number = number
        self._reports: Iterator[Any] | None = None
        self._step = 0

    def advance(self, to_step: int) -> Advanced:
        """Go on until a step is reported that is no less than ``to_step``."""
        reports: list[tuple[int, Any, Any]] = []
        begin = time.perf_counter()
        while not reports or not self._is_there(reports[-1][0], to_step):
            try:
                if self._reports is None:
                    self._reports = _begun(self._objective, self._params, self._number)
                given = next(self._reports)
            except StopIteration:
                return Advanced(reports, time.perf_counter() - begin, ended=True)
            except InputTypeError:
                raise  # the objective is not one with stages
            except Exception as error:  # noqa: BLE001  whatever the user's code raises
                said = f"{type(error).__name__}: {error}"
                return Advanced(reports, time.perf_counter() - begin, ended=True, error=said)
            reports.append(self._checked(_report(given)))
        return Advanced(reports, time.perf_counter() - begin, ended=False)

    def _is_there(self, step: int, to_step: int) -> bool:
        return step >= to_step and (not self._late or step in self._late)

    def _checked(self, report: tuple[int, Any, Any]) -> tuple[int, Any, Any]:
        """A report; one whose step is no number, or does not come after the last, is refused."""
        step = checked_whole("step", report[0])
        if step <= self._step:
            message = (
                f"the objective reported step {step} after step {self._step}: steps go forward,"
                " and each is reported once. What was told before is kept."
            )
            raise InputError(message)
        self._step = step
        return step, *report[1:]

    def close(self) -> None:
        """End the run where it is."""
        close = getattr(self._reports, "close", None)
        if close is not None:
            close()


def takes_report(objective: Callable[..., Any]) -> bool:
    """Whether an objective has a parameter ``report``."""
    try:
        return "report" in inspect.signature(objective).parameters
    except (TypeError, ValueError):  # of a callable that does not say
        return False


def _begun(objective: Callable[..., Any], params: dict[str, Any], number: int) -> Iterator[Any]:
    if takes_report(objective):
        return _Waiting(objective, params, number)
    returned = objective(params)
    if isinstance(returned, Generator) or hasattr(returned, "__next__"):
        return returned  # type: ignore[no-any-return]
    message = f"the objective returned {shown(returned)}: {HOW}."
    raise InputTypeError(message)


def _report(given: Any) -> tuple[int, Any, Any]:  # noqa: ANN401  what the user yields
    """Step, value and cost of what was yielded."""
    if isinstance(given, tuple) and len(given) in (2, 3):
        step, value, *cost = given
        return step, value, cost[0] if cost else None
    message = f"the objective yielded {shown(given)}: {HOW}, with the cost so far if it is told."
    raise InputTypeError(message)


class _Waiting(Iterator[Any]):
    """The reports of a function in a thread, which waits after each until it is to go on."""

    def __init__(self, objective: Callable[..., Any], params: dict[str, Any], number: int) -> None:
        self._number = number
        self._said: queue.Queue[Any] = queue.Queue()
        self._answers: queue.Queue[bool] = queue.Queue()
        self._thread = threading.Thread(
            target=self._run, args=(objective, params), daemon=True, name="stopwise-run"
        )
        self._is_begun = self._is_over = False
        self._is_told = False  # that the run is to end

    def __next__(self) -> Any:  # noqa: ANN401  what the user reports
        if self._is_over:
            raise StopIteration
        if self._is_begun:
            self._answers.put(True)  # noqa: FBT003  the answer of report
        else:
            self._is_begun = True
            self._thread.start()
        said = self._said.get()
        self._is_over = said is _END or isinstance(said, BaseException)
        if isinstance(said, BaseException):
            raise said
        if self._is_over:
            raise StopIteration
        return said

    def close(self) -> None:
        """Let ``report`` answer that the run is to end."""
        if self._is_begun and not self._is_over:
            self._is_over = True
            self._answers.put(False)  # noqa: FBT003

    def _run(self, objective: Callable[..., Any], params: dict[str, Any]) -> None:
        try:
            objective(params, report=self._report)
        except _AfterTheEndError as error:
            self._said.put(error)
            warnings.warn(_RUNS_ON, stacklevel=1)
        except BaseException as error:  # noqa: BLE001  it is raised where it is waited for
            self._said.put(error)
        else:
            self._said.put(_END)

    def _report(self, step: int, value: Any, cost: Any = None) -> bool:  # noqa: ANN401
        """Report a value; True if the run is to go on."""
        if self._is_told:
            message = (
                f"trial {self._number} reports step {shown(step)} after report has answered False:"
                " its run is to end, and nothing more is told of it. Return when report answers"
                " False."
            )
            raise _AfterTheEndError(message)
        goes_on = False
        if not self._is_over:
            self._said.put((step, value, cost))
            goes_on = self._answers.get()
        self._is_told = not goes_on
        return goes_on
