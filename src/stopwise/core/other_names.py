# SPDX-License-Identifier: Apache-2.0
"""Other names of options: what other packages call them, and what an unknown name may mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from stopwise.errors import InputTypeError

P = ParamSpec("P")
T = TypeVar("T")

# Names that other packages use -> ours, and what must be said besides.
_TIME = ("budget", "with cost='seconds'")
_OTHERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            *("n_trials", "num_trials", "total_trials", "trials", "num_samples", "n_iter"),
            *("n_calls", "max_evals", "n_evals", "max_iter", "maxiter", "n_iterations"),
        ),
        ("max_trials", ""),
    ),
    **dict.fromkeys(
        ("timeout", "time_budget", "time_budget_s", "max_time", "timeout_s", "time_limit"), _TIME
    ),
    **dict.fromkeys(("max_cost", "total_budget", "cost_budget"), ("budget", "")),
    **dict.fromkeys(
        ("n_startup_trials", "n_initial_points", "n_random_starts", "init_points", "n_init"),
        ("n_initial", ""),
    ),
    **dict.fromkeys(("random_state", "random_seed", "rng"), ("seed", "")),
    **dict.fromkeys(
        ("x0", "points_to_evaluate", "initial_points", "warm_start"), ("start_from", "")
    ),
    **dict.fromkeys(("mode", "goal", "sense", "maximize", "minimize"), ("direction", "")),
    **dict.fromkeys(("acq_func", "acquisition_function", "sampler"), ("acquisition", "")),
    **dict.fromkeys(
        ("early_stopping", "stopper", "stopping_rule", "stop", "terminator"), ("stopping", "")
    ),
    **dict.fromkeys(("lambda_", "exchange_rate"), ("lam", "")),
    **dict.fromkeys(("storage", "log_file", "checkpoint"), ("journal", "")),
    **dict.fromkeys(("callback", "callbacks", "verbose"), ("progress", "")),
    **dict.fromkeys(("cost_fn", "cost_function", "costs"), ("cost", "")),
}


def meant(name: str, allowed: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """A question about what was meant by an unknown name, or nothing if nothing is near.

    Args:
        name: The unknown name.
        allowed: The names that there are.
        elsewhere: Names that somebody else sets.

    Example:
        >>> meant("n_trials", ["lam", "max_trials"]), meant("lamda", ["lam", "cost"])
        ("did you mean 'max_trials'?", "did you mean 'lam'?")
        >>> meant("timeout", ["budget", "cost"])
        "did you mean 'budget', with cost='seconds'?"
        >>> meant("n_trials", ["lam"], elsewhere=["max_trials"])
        "'max_trials' is not set here but in the loop around it"
        >>> meant("xyz", ["budget", "cost"])
        ''
    """
    known = list(allowed)
    ours, how = _OTHERS.get(name, ("", ""))
    if ours in known:
        return f"did you mean {ours!r}{', ' * bool(how)}{how}?"
    for by_others in {ours, name} & set(elsewhere):
        return f"{by_others!r} is not set here but in the loop around it"
    from difflib import get_close_matches  # for errors alone

    close = [] if ours else get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def says_its_options(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose error for an unknown option names the nearest one, and all of them."""
    parameters = inspect.signature(function).parameters.values()
    options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    first = [p.name for p in parameters if p.name not in options]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        unknown = [name for name in kwargs if name not in (*options, *first)]
        if unknown:
            question = meant(unknown[0], options)
            hint = f" ({question})" if question else ""
            message = (
                f"{unknown[0]!r} is no option of {function.__name__}(){hint}; it has"
                f" {', '.join(options)}."
            )
            raise InputTypeError(message)
        return function(*args, **kwargs)

    return checked
