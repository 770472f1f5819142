# SPDX-License-Identifier: Apache-2.0
"""A loaded study lacks constraints that are functions: what needs them is left out, and said."""

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.study.lam_ladder import lam_ladder

SAYS = "Without the constraints that are not at hand"


def within(params):
    return params["a"] + params["b"] <= 1


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    space = {"a": sw.Real(0, 1), "b": sw.Real(0, 1)}
    options = {"constraints": [within], "n_initial": 4, "surrogate": "plain"}
    with sw.Study(space, lam=1e-3, journal=path, **options) as study:
        while not study.should_stop().stop and len(study.history) < 10:
            trial = study.ask()
            study.tell(trial, 0.1 * trial.params["a"] ** 3 - trial.params["a"] - trial.params["b"])
        assert study.importance()
        assert study.without_constraints == ""
    return path


def test_what_needs_them_is_left_out_and_said(journal):
    study = sw.Study.load(journal)
    assert [name.rpartition(".")[2] for name in study.lacking] == ["within"]
    assert study.importance() == ()
    assert study.remaining() is None
    assert not len(lam_ladder(study))
    said = study.explain()
    assert SAYS in said
    assert "would go on for any lam" not in said
    assert "remains to be evaluated" not in said
    [note] = study.notes
    assert "candidates still to try, shares of parameters, and rules replayed" in note


def test_the_report_says_it_in_their_place(journal, tmp_path):
    sw.Study.load(journal).result().report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count(SAYS) == 2  # of what remains, and of importance
    assert "the best candidate (" not in page
    assert "matters most" not in page
    assert "not recorded, and constraints are not at hand" in page


def test_an_audit_replays_what_reads_values_alone(journal):
    audited = sw.audit(journal)
    assert {row.rule for row in audited.rows} == {"gss", "convergence", "immediate"}
    assert any("what may be tried is not known without" in note for note in audited.notes)
    with pytest.raises(InputError, match=r"the constraints .*within: give them, constraints="):
        sw.audit(journal, rules=["pbgi"])


def test_an_audit_takes_them(journal):
    audited = sw.audit(journal, rules=["pbgi"], constraints=[within])
    assert [row.rule for row in audited.rows] == ["pbgi"]
    assert not any("not at hand" in note for note in audited.notes)
    best = audited.study.snapshot().sup(audited.study.acquisition).x
    assert within(audited.study.domain.decode(best[None, :])[0])


def test_what_breaks_a_limit_is_no_best_of_values(tmp_path):
    path = tmp_path / "run.jsonl"
    space = {"a": sw.Real(0, 1), "b": sw.Real(0, 1)}
    options = {"constraints": [within], "n_initial": 2, "limits": {"size": (None, 1.0)}}
    with sw.Study(space, lam=1e-3, journal=path, **options) as study:
        for i, size in enumerate((0.5, 2.0, 0.5)):
            study.tell({"a": 0.1 * i, "b": 0.2}, 1.0 - (i == 1), outcomes={"size": size})
    assert sw.audit(path).best == 1.0
