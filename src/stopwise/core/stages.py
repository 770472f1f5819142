# SPDX-License-Identifier: Apache-2.0
"""Stages: the steps of an evaluation at which its value is reported, and at which it may be left.

A training run of 81 epochs that reports after 1, 3, 9, 27 and 81 of them has five stages. The last
one is the whole evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stopwise.core.checks import checked_whole
from stopwise.core.numerics.limits import as_float
from stopwise.errors import InputError, InputTypeError, shown

_LARGEST = 10**12  # steps
_MOST = 50  # stages


@dataclass(frozen=True, slots=True)
class Stages:
    """The steps at which an evaluation reports.

    Args:
        steps: The last step, from which the others are divided by ``eta`` again and again; or all
            steps, in order.
        usable: Whether the value of an early stage is a result: the best one is then the best that
            was reported. By default a result is a value of the last stage.
        eta: The factor from stage to stage, if only the last step is given; 3 if left out.
        first: The lowest step at which it is worth looking, if only the last step is given; 1 if
            left out.

    Example:
        >>> Stages(81, eta=3)
        Stages(steps=(1, 3, 9, 27, 81), usable=False)
        >>> Stages(100, eta=4, first=5).steps
        (6, 25, 100)
        >>> Stages([10, 20, 50]).last
        50
    """

    steps: tuple[int, ...]
    usable: bool = False
    eta: InitVar[float | None] = None
    first: InitVar[int | None] = None

    if TYPE_CHECKING:  # the last step alone is as good as all of them

        def __init__(
            self,
            steps: int | Sequence[int],
            usable: bool = False,  # noqa: FBT001, FBT002  a field
            eta: float | None = None,
            first: int | None = None,
        ) -> None: ...

    def __post_init__(self, eta: float | None, first: int | None) -> None:
        given: Any = self.steps
        if isinstance(given, Sequence) and not isinstance(given, str):
            _refuse_beside_steps(eta=eta, first=first)
            steps = tuple(checked_whole("a stage", step, most=_LARGEST) for step in given)
            if not steps or any(a >= b for a, b in pairwise(steps)):
                message = (
                    f"Stages({shown(list(given))}): give steps that grow, such as [1, 3, 9], or"
                    " the last step alone."
                )
                raise InputError(message)
        else:
            last = checked_whole("the last stage", given, most=_LARGEST)
            lowest = 1 if first is None else checked_whole("first", first, most=last)
            steps = _geometric(last, 3 if eta is None else eta, lowest)
        if len(steps) > _MOST:
            message = (
                f"{len(steps)} stages: at most {_MOST} are allowed, and a few are better, because"
                " each is a decision."
            )
            raise InputError(message)
        usable: object = self.usable
        if not isinstance(usable, bool):
            message = f"usable={shown(usable)}: give True if early values are results."
            raise InputTypeError(message)
        object.__setattr__(self, "steps", steps)

    def __len__(self) -> int:
        """Number of stages."""
        return len(self.steps)

    @property
    def last(self) -> int:
        """The step at which an evaluation is complete."""
        return self.steps[-1]

    def after(self, step: int) -> int:
        """The stage that follows a step; of 0 the first one."""
        return next(later for later in self.steps if later > step)

    def index(self, step: int) -> int:
        """Which stage a step is, from 0 on."""
        return self.steps.index(step)

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))


def checked_stages(given: object) -> Stages | None:
    """The option ``stages``: None, stages, or what ``Stages`` takes."""
    if given is None or isinstance(given, Stages):
        return given
    if isinstance(given, bool) or not isinstance(given, int | Sequence) or isinstance(given, str):
        message = (
            f"stages={shown(given)}: give sw.Stages(81, eta=3), a list of steps, or the last step."
        )
        raise InputTypeError(message)
    return Stages(given)


def _refuse_beside_steps(**given: object) -> None:
    """Refuse what says how to find the steps where they are all given."""
    for name, value in given.items():
        if value is not None:
            message = (
                f"{name}={shown(value)} beside a list of steps: {name} is for the last step alone,"
                f" as in Stages(81, {name}=3). Leave out {name}, or give the last step."
            )
            raise InputError(message)


def _geometric(last: int, eta: float, first: int) -> tuple[int, ...]:
    """The last step divided by eta again and again, rounded, down to the first."""
    factor = as_float(eta)
    if not 1.0 < factor <= _LARGEST:
        message = f"eta={shown(eta)}: give a factor above 1, such as 3."
        raise InputError(message)
    steps, step = {last}, last / factor
    while round(step) >= first and len(steps) <= _MOST:
        steps.add(round(step))
        step /= factor
    return tuple(sorted(steps))
