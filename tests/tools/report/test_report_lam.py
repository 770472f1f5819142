# SPDX-License-Identifier: Apache-2.0
"""The lam ladder in the report."""

import stopwise as sw
from stopwise.core.units import PLAIN
from stopwise.study.lam_ladder import LamLadder, Rung
from stopwise.tools.report._lam_table import ladder_part
from stopwise.tools.report._page import page


def test_the_table_has_a_row_for_each_lam():
    given = Rung(0.1, None, 7.0, None, is_given=True)
    text = str(ladder_part(LamLadder((given, Rung(1.0, 5, 3.0, 0.25)), 0.3), PLAIN, ""))
    assert "0.1 (given)" in text
    assert "not yet" in text
    assert "after 5 trials" in text
    assert "would stop now at lam = 0.3 or more" in text
    assert "under PBGI another lam would have chosen otherwise" in text
    assert str(ladder_part(LamLadder(), PLAIN, "")) == ""


def test_the_page_has_the_ladder_once_rules_are_asked():
    study = sw.Study({"n": sw.Integer(1, 9)}, lam=0.01, surrogate="plain", n_initial=3)
    assert 'id="lam-ladder"' not in page(study)
    for n in (1, 5, 9):
        study.tell({"n": n}, abs(n - 4.0))
    assert 'id="lam-ladder"' in page(study)
