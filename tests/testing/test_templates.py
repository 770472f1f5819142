# SPDX-License-Identifier: Apache-2.0
"""The templates keep every law, and so does the rule of the page on one's own."""

import stopwise as sw
from stopwise.testing import check_acquisition, check_stopping_rule
from stopwise.testing.templates import MyAcquisition, MyRule
from tests.support.pages import blocks_of
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "how-to" / "own-rule.md"


def test_the_templates_keep_every_law():
    check_stopping_rule(MyRule())
    check_acquisition(MyAcquisition())


def test_a_study_uses_them():
    result = sw.minimize(
        lambda p: (p["x"] - 0.3) ** 2,
        {"x": sw.Real(0, 1)},
        acquisition=MyAcquisition(),
        stopping=MyRule(),
        cost=lambda p: 1.0 + p["x"],
        value_name="loss",
        max_trials=30,
    )
    assert result.verdict.rule == "my-rule"
    assert " in loss, and 0.01 is tolerated: stop" in result.verdict.reason


def test_the_rule_on_the_page_keeps_every_law():
    block = blocks_of(PAGE, "python")[0]
    names = {"__name__": "page"}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102  our own page
    check_stopping_rule(names["Plateau"](least=0.01))
