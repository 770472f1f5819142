# SPDX-License-Identifier: Apache-2.0
"""The demo of fair values on one screen: Weitzman's boxes."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from stopwise.core.numerics.arrays import Array
from stopwise.tools.cli._demo.boxes import Boxes, best_possible, play, policies, worlds

BOXES = Boxes.of(  # mean and deviation of the prize, price of looking
    [
        (5.0, 0.5, 0.2),
        (6.0, 2.0, 2.0),
        (4.0, 5.0, 1.0),
        (2.0, 8.0, 1.5),
        (5.5, 1.0, 1.0),
        (3.0, 1.0, 0.1),
    ]
)
NAMES = "ABCDEF"
WORLDS = 200_000


def pandora(console: Console, seed: int = 1, count: int = WORLDS) -> None:
    """Show the boxes, one game, and what each way to play is worth on average."""
    console.print(
        "[bold]Pandora's boxes.[/] Looking into a box has a price; you keep the best you find.\n"
        "A box's [bold]fair value[/] is the prize in hand at which looking just pays.\n"
    )
    console.print(_boxes())
    console.print(
        "\nD has the lowest mean, yet comes second: it may hold a lot.\n"
        "Open by fair value, and stop when the prize in hand beats every fair value left:"
    )
    console.print(one_game(worlds(BOXES, 1, seed)[0]), highlight=False)
    console.print(_compared(worlds(BOXES, count, seed)))
    console.print(
        "\nNo policy beats fair values (Weitzman 1979); each depends on its own box only.\n"
        "stopwise gives every configuration such a value, and stops for the same reason."
    )


def _boxes() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("box", "prize", "price", "fair value", "opened"):
        table.add_column(heading, justify="right")
    fair = BOXES.fair_values
    rank = np.argsort(np.argsort(-fair)) + 1
    for i, name in enumerate(NAMES):
        prize = f"{BOXES.mean[i]:g} +- {BOXES.std[i]:g}"
        order = {1: "1st", 2: "2nd", 3: "3rd"}.get(int(rank[i]), f"{rank[i]}th")
        table.add_row(name, prize, f"{BOXES.price[i]:g}", f"[bold]{fair[i]:.2f}[/]", order)
    return table


def one_game(prizes: Array) -> str:
    """A game by fair values, told step by step."""
    fair = BOXES.fair_values
    hand, paid, steps = 0.0, 0.0, []
    for i in np.argsort(-fair):
        if hand >= fair[i]:
            steps.append(f"{hand:.2f} in hand, {fair[i]:.2f} the most that is left: stop.")
            break
        hand, paid = max(hand, prizes[i]), paid + BOXES.price[i]
        steps.append(f"{NAMES[i]} holds {prizes[i]:.2f}.")
    return f"  {' '.join(steps)}\n  Payoff {hand:.2f} - {paid:.2f} = {hand - paid:.2f}.\n"


def _compared(prizes: Array) -> Table:
    """The mean payoff of each policy over the same worlds, and the best possible."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"mean of {len(prizes):,} games")
    for heading in ("payoff", "opened", "paid"):
        table.add_column(heading, justify="right")
    for policy in policies(BOXES):
        games = play(BOXES, policy, prizes)
        table.add_row(
            policy.name,
            f"{games.mean:.3f} +- {games.error:.3f}",
            f"{games.opened.mean():.1f}",
            f"{games.paid.mean():.2f}",
        )
    best = f"{best_possible(BOXES):.3f}{'':9}"  # in line with those that have an error
    table.add_row("the best policy, by dynamic programming", best)
    return table
