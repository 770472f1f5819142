# SPDX-License-Identifier: Apache-2.0
"""All benchmarks run, whatever a clone has not."""

import sys
from types import SimpleNamespace

from benchmarks import __main__ as command
from stopwise_paper.problems.data_folder import MissingDataError


def without_its_data(*, quick):
    message = "its table is not there"
    raise MissingDataError(message)


def test_a_benchmark_without_its_data_is_left_out_and_the_next_one_runs(monkeypatch, capsys):
    made = {
        "first": SimpleNamespace(run=without_its_data),
        "second": SimpleNamespace(run=lambda *, quick: [{"what": "a row", "quick": str(quick)}]),
    }
    monkeypatch.setattr(command, "NAMES", list(made))
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, f"benchmarks.{name}", module)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick"])
    command.main()
    printed = capsys.readouterr().out
    assert "first is left out: its table is not there" in printed
    assert "a row  True" in printed
    assert printed.endswith("left out, because something is missing: first\n")
