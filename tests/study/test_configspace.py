# SPDX-License-Identifier: Apache-2.0
"""A study of a space of ConfigSpace, and its journal."""

import pytest

import stopwise as sw
from stopwise.core.space.configspace import read_configspace
from stopwise.record.journal import ResumeWarning
from tests.support.configspaces import boosters, cs


def test_a_study_takes_it_and_its_journal_holds_it(tmp_path):
    def loss(params):
        return abs(params["rate"] - 0.3) + 0.1 * (params["booster"] != "dart")

    journal = tmp_path / "run.jsonl"
    options = {"lam": 1e-4, "surrogate": "plain", "journal": journal}
    first = sw.minimize(loss, boosters(), max_trials=5, **options)
    with pytest.warns(ResumeWarning, match="max_trials is now 8"):
        again = sw.minimize(loss, boosters(), max_trials=8, **options)
    assert len(again.history) == 8
    assert [o.params for o in again.history][:5] == [o.params for o in first.history]
    for o in sw.Study.load(journal).history:
        cs.Configuration(boosters(), values=o.params).check_valid_configuration()
    loaded = sw.Study.load(journal)
    assert [c.source for c in loaded.options.constraints] == read_configspace(boosters())[1]
