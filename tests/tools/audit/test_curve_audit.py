# SPDX-License-Identifier: Apache-2.0
"""The audit of a study with stages: what each came to, and what other lams would have done."""

import json

import pytest

import stopwise as sw
from stopwise.stopping import PBGI
from stopwise.tools.audit import CurveAudit
from stopwise.tools.cli.audit import audit as command

STAGES = sw.Stages([1, 3, 9])


def train(params):
    for step in range(1, 10):
        if params["x"] > 0.9:
            raise RuntimeError("out of memory")
        yield step, -((params["x"] - 0.3) ** 2) - params["x"] / step**0.5


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "run.jsonl"
    sw.maximize(
        train,
        {"x": sw.Real(0, 1)},
        lam=0.003,
        stages=STAGES,
        journal=path,
        max_trials=7,
        start_from=[{"x": 0.95}],
        value_name="gain",
        cost_unit="$",
    )
    return path


@pytest.fixture(scope="module")
def audited(journal):
    calls = []
    found = sw.audit(journal, lam=0.3, progress=lambda done, of: calls.append((done, of)))
    assert calls[-1][0] == calls[-1][1] == len(calls)
    return found


def test_stages_add_up_to_what_was_spent(journal, audited):
    study = sw.Study.load(journal)
    assert isinstance(audited, CurveAudit)
    assert audited.begun == len(study.curves)
    assert audited.finished == len([o for o in study.history if not o.failed])
    assert audited.failed > 0.0
    paid = sum(row.cost for row in audited.stages) + audited.failed
    assert paid == pytest.approx(study.spent)
    ended = sum(o.cost for o in study.history)
    assert sum(row.wasted for row in audited.stages) == pytest.approx(study.spent - ended)
    assert [row.step for row in audited.stages] == [1, 3, 9]
    reached = [row.trials for row in audited.stages]
    assert reached[0] == audited.begun
    for here, further, row in zip(
        reached, [*reached[1:], reached[-1]], audited.stages, strict=True
    ):
        assert here - further == row.left
    assert 0.0 < audited.useful <= ended


def test_at_its_own_lam_the_audit_says_what_the_study_did(journal, audited):
    study = sw.Study.load(journal)
    own = audited.rows[0]
    assert own.lam == audited.lam == 0.003
    assert own.now.stop
    assert own.stopped_at == sum(len(curve) for curve in study.curves.values())
    assert own.spent == pytest.approx(study.spent)
    assert (own.best, own.lost) == (study.best.value, 0.0)
    [replayed] = sw.replay(study, PBGI(0.003))
    assert replayed.stop_t == own.stopped_at + 1  # signals count the failure, too


def test_a_dearer_lam_stops_earlier_and_leaves_more(audited):
    own, dear = audited.rows
    assert own.lam < dear.lam == 0.3
    assert dear.stopped_at is not None
    assert dear.spent < own.spent
    assert dear.saved == pytest.approx(own.spent - dear.spent)
    assert dear.lost >= 0.0  # of what is maximised, too
    assert dear.not_worth_cost <= dear.spent


def test_it_is_printed_in_the_users_words(audited):
    text = str(audited)
    assert "trials begun" in text
    assert "best gain -" in text
    assert "$" in text
    assert "0.003 (own)" in text
    assert "<table>" in audited._repr_html_()
    told = json.loads(json.dumps(audited.as_json()))
    assert [row["now"]["stop"] for row in told["lams"]] == [row.now.stop for row in audited.rows]


def test_the_command_says_what_the_audit_of_the_result_says(tmp_path, capsys):
    def run(params):
        for step in (1, 3, 9):
            yield step, params["x"] + 1.0 / step

    path, page = tmp_path / "run.jsonl", tmp_path / "page.html"
    space = {"x": sw.Real(0, 1)}
    result = sw.minimize(run, space, lam=1.0, stages=STAGES, max_trials=3, journal=path)
    found = sw.audit(result, lam=10.0)
    assert isinstance(found, CurveAudit)
    assert [row.lam for row in found.rows] == [1.0, 10.0]
    assert found.spent == pytest.approx(result.spent)
    command(str(path), lam=10.0, html=page)
    assert capsys.readouterr().out == f"{found}\nreport: {page}\n"
    assert "<svg" in page.read_text()
