# SPDX-License-Identifier: Apache-2.0
"""All benchmarks run, whatever a clone has not."""

import sys
from types import SimpleNamespace

from benchmarks import __main__ as command
from stopwise_paper.problems.data_folder import MissingDataError


def without_its_data(*, quick):
    message = "its table is not there"
    raise MissingDataError(message)


def two_rows(*, quick):
    return [{"what": f"quick: {quick}", "met": "yes"}, {"what": "more", "met": "NO"}]


def test_a_benchmark_without_its_data_is_left_out_and_the_next_one_runs(monkeypatch, capsys):
    made = {
        "first": SimpleNamespace(run=without_its_data),
        "second": SimpleNamespace(run=two_rows),
    }
    monkeypatch.setattr(command, "NAMES", list(made))
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, f"benchmarks.{name}", module)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick"])
    command.main()
    printed = capsys.readouterr().out
    assert "first is left out: its table is not there" in printed
    assert "quick: True  yes" in printed
    assert "targets met\n  second: 1 of 2\n" in printed
    assert printed.endswith("left out, because something is missing: first\n")
