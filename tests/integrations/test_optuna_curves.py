# SPDX-License-Identifier: Apache-2.0
"""The audit of what Optuna's trials reported on the way, with Optuna itself."""

import json
from typing import Any

import pytest

import stopwise as sw

optuna = pytest.importorskip("optuna")

from stopwise.integrations.foreign_curves import stages_among  # noqa: E402
from stopwise.integrations.optuna import StopwisePruner, read_history  # noqa: E402
from stopwise.tools.audit import Audit, CurveAudit  # noqa: E402
from stopwise.tools.audit import _foreign_curves as reading  # noqa: E402
from tests.support.commands import stopwise  # noqa: E402

EPOCHS = 9


def train(trial: Any, first: int = 1, *, costs: bool = True, failing: int = -1) -> float:
    x, value = trial.suggest_float("x", 0.0, 1.0), 0.0
    if costs:
        trial.set_user_attr("cost", 3.0)
    for epoch in range(1, EPOCHS + 1):
        value = (x - 0.3) ** 2 + 0.3 / epoch
        trial.report(value, epoch - 1 + first)
        if trial.number == failing and epoch == 3:
            raise RuntimeError("out of memory")
        if trial.should_prune():
            if costs:
                trial.set_user_attr("cost", 3.0 * epoch / EPOCHS)
            raise optuna.TrialPruned
    return value


def run(storage: str | None = None, n_trials: int = 9, **options: Any) -> Any:
    study = optuna.create_study(
        storage=storage,
        study_name="net",
        sampler=optuna.samplers.RandomSampler(seed=3),
        pruner=StopwisePruner(0.005, sw.Stages([1, 3, 9]), cost=lambda _: 3.0),
    )
    study.optimize(lambda t: train(t, **options), n_trials=n_trials, catch=RuntimeError)
    return study


@pytest.fixture(scope="module")
def study() -> Any:
    return run()


@pytest.fixture(scope="module")
def audited(study: Any) -> Audit:
    found = sw.audit(study, lam=0.005, rules=["immediate"])
    assert isinstance(found, Audit)
    return found


def test_reports_at_the_stages_are_those_of_optuna(study: Any, audited: Audit) -> None:
    curves = audited.curves
    assert isinstance(curves, CurveAudit)
    pruned = [t for t in study.trials if t.state.name == "PRUNED"]
    assert 0 < len(pruned) < len(study.trials)
    assert [row.step for row in curves.stages] == [1, 3, 9]
    for row in curves.stages:
        reached = [t for t in study.trials if t.last_step >= row.step]
        assert row.trials == len(reached)
        assert row.left == sum(t.last_step == row.step for t in pruned)
    assert curves.spent == pytest.approx(sum(t.user_attrs["cost"] for t in study.trials))
    assert curves.best == study.best_value == audited.best
    told = curves.study
    assert told is not None
    for number, curve in told.curves.items():
        trial = study.trials[number]
        seen = {**trial.intermediate_values}
        assert {r.step: r.value for r in curve} == {
            s: seen[s] for s in (1, 3, 9) if s <= trial.last_step
        }
        for report in curve:
            assert report.cost == pytest.approx(3.0 * report.step / EPOCHS)


def test_it_is_printed_below_the_rules(audited: Audit) -> None:
    text = str(audited)
    assert text.index("immediate") < text.index("Intermediate values:") < text.index("left here")
    assert "values at steps 1, 3, 9 are read" in text
    assert json.loads(json.dumps(audited.as_json()))["curves"]["begun"] == 9
    assert "left here" in audited._repr_html_()


def test_a_storage_and_the_command_say_the_same(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    run(url, n_trials=5)
    done = stopwise("audit", url, "--lam", "0.005", "--json")
    told = done.json
    found = sw.audit(read_history(url), lam=0.005, rules=["immediate"])
    assert told["curves"] == json.loads(json.dumps(found.as_json()["curves"]))


def test_steps_from_0_on_are_moved_and_failures_stay_failures() -> None:
    study = run(n_trials=6, first=0, costs=False, failing=2)
    told = read_history(study, cost=None)
    assert told.curves is not None
    assert told.curves.stages.steps == (1, 3, 9)
    assert [o.value for o in told.history if not o.failed] == [
        t.value for t in study.trials if t.state.name == "COMPLETE"
    ]
    found = sw.audit(study, lam=0.005, cost=None, rules=["immediate"], n_initial=2).curves
    assert found is not None
    failed = study.trials[2]
    assert found.study.curves[2][-1].value == failed.intermediate_values[2]
    assert [o.number for o in found.study.history if o.failed] == [2]
    assert found.study.curves[2][-1].cost == pytest.approx(3 / EPOCHS)


def test_where_curves_are_not_read_a_note_says_why(
    study: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = sw.audit(study, rules=["immediate"])
    assert without.curves is None
    assert "not read as curves: lam, what" in str(without)
    assert without.as_json()["curves"] is None
    monkeypatch.setattr(reading, "_MOST", 3)
    many = sw.audit(study, lam=0.005, rules=["immediate"])
    assert many.curves is None
    assert "reports are more than 3" in str(many)


def test_trials_without_reports_have_no_curves() -> None:
    study = optuna.create_study(direction="maximize")
    study.optimize(lambda t: -t.suggest_float("x", 0, 1), n_trials=5)
    assert read_history(study, cost=None).curves is None
    found = sw.audit(study, lam=0.1, cost=None)
    assert found.curves is None
    assert found.best == study.best_value  # the direction is that of the study
    assert "Intermediate" not in str(found)
    study.optimize(lambda t: [t.suggest_float("x", 0, 1), t.report(1.0, 7)][0], n_trials=1)
    assert read_history(study, cost=None).curves is None  # one step is no curve


def test_costs_that_pruned_trials_do_not_tell_are_those_of_others(study: Any) -> None:
    silent = optuna.create_study()
    for trial in study.trials:
        if trial.state.name == "PRUNED":
            trial.user_attrs.clear()
        silent.add_trial(trial)
    curves = read_history(silent).curves
    assert curves is not None
    for report in curves.tellings:
        assert report.cost == pytest.approx(3.0 * report.step / EPOCHS)  # type: ignore[union-attr]
    free = optuna.create_study()
    for trial in study.trials:
        trial.user_attrs["price"] = 0.0
        free.add_trial(trial)
    assert read_history(free, cost="price").curves is None  # nothing has a price


def test_stages_are_a_factor_of_three_apart() -> None:
    assert stages_among(range(1, 28), 27) == sw.Stages(27)
    assert stages_among([10, 20, 30, 50], 50) == sw.Stages([10, 20, 50])
    assert stages_among([50], 50) is None
    assert stages_among([], 50) is None
