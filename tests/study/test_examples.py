# SPDX-License-Identifier: Apache-2.0
"""The examples of problems as people have them: short, and they say what they claim."""

import runpy

import pytest

from tests.support.repository import ROOT

SAYS = {
    "bonus": ["dollars spent"],
    "repeats": ["again, worth", "cakes for", "±"],
    "price_list": ["dollars spent", "solvent:", "of the variation"],
    "toxic_corner": ["failed", "too toxic", ": stop", "toxicity 2."],
}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_to_its_end(name, capsys):
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(words in printed for words in SAYS[name])


def test_examples_are_short():
    lengths = {p.name: len(p.read_text("utf-8").splitlines()) for p in ROOT.glob("examples/*.py")}
    assert {name: n for name, n in lengths.items() if n >= 60} == {}
