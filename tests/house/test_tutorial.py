# SPDX-License-Identifier: Apache-2.0
"""The tutorial works: its blocks run one after the other, as a reader would run them."""

import contextlib
import io
import re

import pytest

from tests.support.pages import blocks
from tests.support.repository import ROOT

PAGES = ["tutorial/first-study.md"]
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


def numbers_of(text):
    return [float(number) for number in NUMBER.findall(text)]


def words_of(text):
    """A text without its numbers, whose last digits another version of numpy may move."""
    return [re.sub(r"\s+", " ", line).strip() for line in NUMBER.sub("#", text).splitlines()]


@pytest.mark.slow  # seconds of training, for a page that rarely changes; `make docs` runs it
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_tutorial_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    printed = ""
    for kind, block in blocks(ROOT / "docs" / page):
        if kind == "python":
            assert printed == ""  # what was printed before is on the page
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(block, names)  # noqa: S102  it is our own page
            printed = out.getvalue()
        elif kind == "text":
            assert words_of(printed) == words_of(block)
            assert numbers_of(printed) == pytest.approx(numbers_of(block), rel=0.01)
            printed = ""
    assert names["result"].verdict.stop
    assert (tmp_path / "digits.html").exists()
