# SPDX-License-Identifier: Apache-2.0
"""``stopwise audit``: was all that tuning worth it, and is the next evaluation?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.errors import InputError

if TYPE_CHECKING:
    from stopwise._audit import Audit


def audit(
    file: Annotated[
        str, typer.Argument(help="A .csv or .parquet file, or an Optuna storage URL.")
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
    maximize: Annotated[bool, typer.Option("--maximize", help="Larger is better.")] = False,
    log: Annotated[
        list[str] | None, typer.Option(help="A column on a log scale; inferred if none is given.")
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="Bounds of a column, as in lr=0.0001:0.1.")
    ] = None,
    order: Annotated[str | None, typer.Option(help="A column to sort by.")] = None,
    study: Annotated[str | None, typer.Option(help="The name of the Optuna study.")] = None,
    n_initial: Annotated[
        int | None, typer.Option(help="Evaluations that count as the initial design.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report page here.")] = None,
) -> None:
    """When would each rule have stopped, what would that have saved, and is it time now?"""
    from stopwise._audit import audit as audit_of

    paid = None if unit_cost else cost
    if "://" in file:
        found = _of_storage(file, study, paid, lam=lam, n_initial=n_initial)
    else:
        found = audit_of(
            file,
            lam=lam,
            value=value,
            cost=paid,
            order=order,
            direction="maximize" if maximize else "minimize",
            log=log or None,
            bounds=dict(map(_bounds, bounds or [])),
            n_initial=n_initial,
        )
    typer.echo(str(found))
    if html is not None:
        from stopwise import report

        report.write(found.study, html)
        typer.echo(f"report: {html}")


def _of_storage(url: str, name: str | None, cost: str | None, **options: Any) -> Audit:  # noqa: ANN401
    from stopwise._audit import audit as audit_of
    from stopwise.integrations.optuna import read_history

    told = read_history(url, name, cost=cost)
    return audit_of(
        told.history, space=told.space, direction=told.direction, notes=told.notes, **options
    )


def _bounds(given: str) -> tuple[str, tuple[float, float]]:
    name, _, interval = given.rpartition("=")
    low, _, high = interval.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError as error:
        message = f"--bounds {given!r}: give a column, its lowest and highest value: lr=0.0001:0.1"
        raise InputError(message) from error
