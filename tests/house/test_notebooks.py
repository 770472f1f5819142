# SPDX-License-Identifier: Apache-2.0
"""Notebooks run from top to bottom and print what they show."""

import contextlib
import io
import json

import pytest

from tests.support.repository import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.slow  # some seconds each
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec("".join(cell["source"]), names)  # noqa: S102  our own page
            shown = "".join("".join(output["text"]) for output in cell["outputs"])
            assert out.getvalue() == shown
