# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that the user wrote about params: a cost, a constraint.

What goes wrong in them is an error that names the function, the params and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from stopwise.core.space._checks import listing, suggestion
from stopwise.errors import InputError, StopwiseError


def called(
    function: Callable[[Mapping[str, Any]], Any],
    params: Mapping[str, Any],
    names: Collection[str],
    *,
    what: str,
    returns: str,
) -> Any:  # noqa: ANN401  whatever it returns
    """The answer of a function of the params.

    Args:
        function: Of the user.
        params: The active parameters and their values.
        names: The names of all parameters.
        what: What the function is, for messages: "cost function".
        returns: What it should return, in words.

    Raises:
        InputError: If it raises an error, whatever it is; that one is its cause.

    Example:
        >>> called(lambda p: p["x"], {"x": 2}, ["x"], what="cost function", returns="a number")
        2
    """
    try:
        return function(params)
    except StopwiseError:
        raise
    except Exception as error:
        who, shown = f"the {what} {name_of(function)!r}", dict(params)
        inactive = [name for name in names if name not in params]
        asked = asked_for(error)
        if asked in inactive:
            raise InputError(
                f"{who} asks for {asked!r}, which does not exist in {shown}: its condition does "
                f"not hold there. Ask by params.get({asked!r}), which is then None, or by "
                f"params.get({asked!r}, value) with a value to use instead"
            ) from error
        hint = ""
        if isinstance(asked, str) and asked not in names:
            hint = f"; the space has {listing(list(names))}{suggestion(asked, names)}"
        elif inactive:
            hint = f"; what does not exist there, params.get gives as None: {listing(inactive)}"
        raise InputError(
            f"{who} raised {type(error).__name__}: {error}, for {shown}. It takes the params, one "
            f"dict, and returns {returns}{hint}"
        ) from error


def asked_for(error: BaseException | None) -> Any:  # noqa: ANN401  any key
    """The key that a KeyError is about; None for other errors."""
    return error.args[0] if isinstance(error, KeyError) and error.args else None


def name_of(function: Any) -> str:  # noqa: ANN401  anything that can be called
    """The name of a function, without the names of those that it was defined in."""
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    return name.rpartition("<locals>.")[2]
