# SPDX-License-Identifier: Apache-2.0
"""Timings, to be run by hand: ``python -m benchmarks [NAME ...] [--quick]``.

Each module here without a leading underscore is a benchmark. The first line of its docstring is
its title, and it has one function, ``run(*, quick: bool) -> list[Row]``: the rows of a table,
each a dict of column -> number or text. With ``quick`` it is done in seconds, for a first look.
What is compared is timed in the same run, in turns: see ``_timing.medians``.
"""

Row = dict[str, float | str]
