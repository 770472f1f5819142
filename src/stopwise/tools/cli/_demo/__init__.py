# SPDX-License-Identifier: Apache-2.0
"""The demo: a real model tuned until it is no longer worth it, or Weitzman's boxes."""

from __future__ import annotations

from rich.console import Console

from stopwise.errors import InputError

PROBLEMS = ("train", "pandora")


def demo(problem: str = "train", *, seed: int | None = None, report: str | None = None) -> None:
    """Show stopwise at work.

    Args:
        problem: ``"train"`` tunes a scikit-learn model on data that come with scikit-learn;
            ``"pandora"`` shows why fair values are the right way to think.
        seed: Of everything that is random; the demo's own if left out.
        report: Where the report of ``"train"`` goes; ``stopwise-demo.html`` if left out.
    """
    console = Console(highlight=False, emoji=False)
    if problem == "pandora":
        from stopwise.tools.cli._demo.pandora import pandora

        pandora(console, **({} if seed is None else {"seed": seed}))
    elif problem == "train":
        from stopwise.tools.cli._demo.train import REPORT, SEED, train

        train(console, seed=SEED if seed is None else seed, report=report or REPORT)
    else:
        message = f"there is no demo {problem!r}: give one of {', '.join(PROBLEMS)}."
        raise InputError(message)
