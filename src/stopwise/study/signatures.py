# SPDX-License-Identifier: Apache-2.0
"""Signatures and docstrings that spell out the options of a study, which are written only once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, TypeVar

from stopwise.study.options import StudyOptions

OPTIONS_LINE = "        **options: Each option of ``StudyOptions``.\n"  # in docstrings
F = TypeVar("F", bound=Callable[..., Any])


def spells_out_options(leave_out: Collection[str] = ()) -> Callable[[F], F]:
    """A decorator: the signature of a function with ``**options`` names each option.

    ``help``, notebooks and scikit-learn read signatures; the list itself is written only once.

    Args:
        leave_out: Options that the function sets itself.
    """

    def spelled_out(function: F) -> F:
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in parameters}
        options = [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type
            )
            for f in fields(StudyOptions)
            if f.name not in taken and f.name not in leave_out
        ]
        function.__signature__ = signature.replace(parameters=[*parameters, *options])  # type: ignore[attr-defined]
        explain_options(function)
        return function

    return spelled_out


def explain_options(documented: object) -> None:
    """Write the meaning of each option into a docstring that has the line for ``**options``."""
    text = documented.__doc__ or ""
    lines = inspect.cleandoc(StudyOptions.__doc__ or "").partition("Args:\n")[2].splitlines()
    meanings = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    documented.__doc__ = text.replace(OPTIONS_LINE, meanings)
