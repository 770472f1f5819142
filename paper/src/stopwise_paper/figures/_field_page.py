# SPDX-License-Identifier: Apache-2.0
"""The tables of the field as a page: all tables, each kind of problem, and bbob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stopwise_paper.figures._style import Record, table_line
from stopwise_paper.runs.field.plan import EVALUATIONS

_LEGEND = """# The field, all tables

Made by `stopwise-paper field`; [the field](../README.md) says what it means. Sums are regret plus
the worth of all that was spent, in gaps, \u00b1 one standard error over problems; behind each,
what is paid more than with stopwise on the same problems and seeds. The gap is worth 20 (dear),
100 (middle) or 500 (cheap) median evaluations. Regret, spent and trials are for the three prices
where they differ; "at the cap" counts runs that were ended by the largest number of trials.
"""
_PRICES = ("dear", "middle", "cheap")


def field_page(groups: Mapping[str, Sequence[Record]], bbob: Sequence[Record]) -> str:
    """The page.

    Args:
        groups: Rows of scores, by the problems that they are about.
        bbob: Rows of contenders at equal trials.
    """
    lines = [_LEGEND]
    for name, rows in groups.items():
        if rows:
            problems = max(row["problems"] for row in rows)
            lines += [f"## {name[:1].upper()}{name[1:]} ({problems})", "", *_scores(rows), ""]
    if bbob:
        lines += ["## bbob, at equal trials", "", *_ranks(bbob), ""]
    return "\n".join(lines)


def _scores(rows: Sequence[Record]) -> list[str]:
    head = ["", "seeds", "stopped", *_PRICES, "regret", "spent", "trials", "at the cap"]
    lines = [table_line(head), table_line(["---"] * len(head))]
    most = max(row["problems"] for row in rows)
    for key in dict.fromkeys((row["contender"], row["stopped"]) for row in rows):
        at = {row["gap worth"]: row for row in rows if (row["contender"], row["stopped"]) == key}
        played = [at[price] for price in EVALUATIONS if price in at]
        name = key[0] if played[0]["problems"] == most else f"{key[0]}, {played[0]['problems']}"
        paid = [_paid(at[price]) if price in at else "" for price in EVALUATIONS]
        details = [
            _joined(played, what, form)
            for what, form in (
                ("regret", ".2f"),
                ("spent", ".3g"),
                ("trials", ".3g"),
                ("not stopped", "d"),
            )
        ]
        lines.append(table_line([name, str(played[0]["seeds"]), key[1], *paid, *details]))
    return lines


def _paid(row: Record) -> str:
    paid = f"{row['paid']:.2f} \u00b1 {row['error']:.2f}"
    if "more than stopwise" not in row:
        return paid
    return f"{paid} ({row['more than stopwise']:+.2f} \u00b1 {row['its error']:.2f})"


def _joined(rows: Sequence[Record], what: str, form: str) -> str:
    texts = [format(row[what], form) for row in rows]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _ranks(rows: Sequence[Record]) -> list[str]:
    head = ["d", "problems", "contender", "mean rank", "rank less stopwise's", "what is left"]
    lines = [table_line(head), table_line(["---"] * len(head))]
    for row in rows:
        left = f"{row['left']:.2f} \u00b1 {row['left error']:.2f}"
        numbers = [f"{row['rank']:.2f}", _rank_more(row), left]
        lines.append(table_line([str(row["d"]), str(row["problems"]), row["contender"], *numbers]))
    return lines


def _rank_more(row: Record) -> str:
    return f"{row['rank more']:+.2f} \u00b1 {row['its error']:.2f}" if "rank more" in row else ""
