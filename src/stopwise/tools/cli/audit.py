# SPDX-License-Identifier: Apache-2.0
"""``stopwise audit``: when each rule would have stopped a run, and whether to stop now."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from stopwise.errors import InputError
from stopwise.tools.cli._output import say
from stopwise.tools.cli._studies import STOP, AsJson

if TYPE_CHECKING:
    from stopwise.integrations.foreign_space import Told
    from stopwise.tools.audit import Audit, CurveAudit

_DIRECTIONS: dict[bool, Literal["minimize", "maximize"]] = {True: "maximize", False: "minimize"}


def audit(  # long: typer wants each option with its help
    file: Annotated[
        str,
        typer.Argument(
            help="A .csv or .parquet table, a journal (.jsonl), an Optuna storage URL, a client of"
            " Ax (.json), or a results folder of Ray Tune."
        ),
    ],
    *,
    lam: Annotated[
        float | None, typer.Option(help="What a unit of cost is worth, in objective units.")
    ] = None,
    value: Annotated[str, typer.Option(help="The column with the objective.")] = "value",
    cost: Annotated[
        str, typer.Option(help="The column with the costs; Optuna: a user attribute, or duration.")
    ] = "cost",
    unit_cost: Annotated[
        bool, typer.Option("--unit-cost", help="Count each evaluation as 1.")
    ] = False,
    maximize: Annotated[
        bool | None,
        typer.Option("--maximize/--minimize", help="Larger, or smaller, is better."),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(help="Columns that were varied: lr,layers; all others if none."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Columns that are no parameters: id,date; may be repeated."),
    ] = None,
    value_name: Annotated[
        str | None, typer.Option(help="The value in your words, with its unit: 'misread %'.")
    ] = None,
    cost_unit: Annotated[str | None, typer.Option(help="The unit of costs: '$', 's'.")] = None,
    log: Annotated[
        list[str] | None, typer.Option(help="Columns on a log scale: lr,decay; inferred if none.")
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            help="Bounds of a column, as in lr=0.0001:0.1; of the objective too, by the name of"
            " its column, as in loss=0: (never below 0)."
        ),
    ] = None,
    constraint: Annotated[
        list[str] | None,
        typer.Option(
            help="What every configuration had to satisfy, as in 'a + b <= 1'; may be repeated."
        ),
    ] = None,
    order: Annotated[str | None, typer.Option(help="A column to sort by.")] = None,
    study: Annotated[str | None, typer.Option(help="The name of the Optuna study.")] = None,
    n_initial: Annotated[
        int | None, typer.Option(help="Evaluations that count as the initial design.")
    ] = None,
    values_only: Annotated[
        bool,
        typer.Option("--values-only", help="No column is a parameter: judge values and costs."),
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write the report page here.")] = None,
    as_json: AsJson = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 3 if the first rule says to stop now.")
    ] = False,
) -> None:
    """When would each rule have stopped, what would that have saved, and is it time now?

    Exit codes: 0 audited; 3 with --exit-code, the first rule of the table says to stop now; 2 bad
    input; 1 something outside prevents it.
    """
    from stopwise.tools.audit import audit as audit_of

    params, drop, log = _listed(params), _listed(drop), _listed(log)
    paid = None if unit_cost else cost
    told = _read_elsewhere(file, study, value, paid, maximize=bool(maximize), log=log)
    shared: dict[str, Any] = {
        "lam": lam,
        "value": value,
        "bounds": dict(map(_bounds, bounds or [])),
        "constraints": constraint,
        "n_initial": n_initial,
        "value_name": value_name,
        "cost_unit": cost_unit,
    }
    with _progress() as progress:
        if told is not None:
            audited = audit_of(told, progress=progress, **shared)
        else:
            audited = audit_of(
                file,
                cost=paid,
                order=order,
                params=[] if values_only else params or None,
                drop=drop,
                direction=None if maximize is None else _DIRECTIONS[maximize],
                log=log or None,
                progress=progress,
                **shared,
            )
    _show(audited, html, as_json=as_json)
    if exit_code and audited.rows[0].now.stop:
        raise typer.Exit(STOP)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr that goes away; nothing where nobody watches."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("auditing", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _show(audited: Audit | CurveAudit, html: Path | None, *, as_json: bool) -> None:
    """Write the page, if one is wanted, and say what was found."""
    if html is not None:
        from stopwise.tools import report

        if audited.study is None:
            raise InputError(
                "--html shows a model, and without parameters there is none, nor without"
                " constraints that are functions, which a journal does not hold."
            )
        report.write(audited.study, html)
    say(json.dumps(audited.as_json()) if as_json else str(audited))
    if html is not None and not as_json:
        say(f"report: {html}")


def _listed(given: list[str] | None) -> list[str]:
    """The names of columns, which may be repeated options or one list with commas."""
    return [name.strip() for names in given or [] for name in names.split(",") if name.strip()]


def _read_elsewhere(
    file: str,
    study: str | None,
    value: str,
    cost: str | None,
    *,
    maximize: bool,
    log: Collection[str],
) -> Told | None:
    """The history of another package's study; None for a journal or a table."""
    if "://" in file:
        from stopwise.integrations.optuna import read_history

        return read_history(file, study, cost=cost)
    if Path(file).is_dir():
        from stopwise.integrations.ray import read_results

        mode: Literal["min", "max"] = "max" if maximize else "min"
        return read_results(file, metric=value, mode=mode, cost=_or(cost, "time_total_s"), log=log)
    if file.endswith(".json"):
        from stopwise.integrations import ax

        return ax.read_history(file, cost=_or(cost, "seconds"))
    return None


def _or(cost: str | None, usual: str) -> str | None:
    """The name of the costs; the usual one if the user gave none."""
    return usual if cost == "cost" else cost


def _bounds(given: str) -> tuple[str, tuple[float | None, float | None]]:
    name, _, interval = given.rpartition("=")
    low, colon, high = interval.partition(":")
    try:
        if not (name and colon):
            raise ValueError(given)  # noqa: TRY301  said in words below
        return name, (float(low) if low else None, float(high) if high else None)
    except ValueError as error:
        message = f"--bounds {given!r}: give a column, its lowest and highest value: lr=0.0001:0.1"
        raise InputError(message) from error
