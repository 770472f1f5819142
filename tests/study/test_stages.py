# SPDX-License-Identifier: Apache-2.0
"""Studies of evaluations in stages: actions, reports, verdicts, journals, and bad input."""

import json
import math
import re
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.record.outcomes import Pruned
from stopwise.study.choosing import NothingLeftError
from stopwise.study.external import ExternalStudy
from stopwise.tools.report._curves_picture import curves_picture
from stopwise.tools.report._facts import Facts

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def curve(params: Any, step: int) -> float:
    """A curve that falls to its final value at step 9."""
    return (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def begun(**options: Any) -> sw.Study:
    return sw.Study(SPACE, **{"lam": 0.01, "stages": STAGES, **options})


def go_on(study: sw.Study, actions: int) -> list[tuple[Any, ...]]:
    """Take some actions, and say which they were."""
    taken: list[tuple[Any, ...]] = []
    while len(taken) < actions and not study.should_stop().stop:
        action = study.next()
        step = action.to_step or 9
        study.tell(action.trial, curve(action.trial.params, step), step=step)
        what = type(action).__name__, action.trial.number, dict(action.trial.params)
        taken.append((*what, step, action.fair_value, action.worth))
    return taken


@cache
def whole() -> tuple[sw.Study, list[tuple[Any, ...]]]:
    """A study that has stopped, and its actions; to be looked at only."""
    study = begun()
    return study, go_on(study, 200)


def test_a_study_starts_many_finishes_few_and_stops() -> None:
    study, taken = whole()
    assert study.should_stop().stop
    assert [what[0] for what in taken[:4]] == ["Start"] * 4  # the design, at the first stage
    assert {what[3] for what in taken[:4]} == {1}
    assert len(study.history) < len(taken) / 2
    assert len(study.paused) + len(study.history) == len(study.curves)
    assert study.best is not None
    assert abs(study.best.params["x"] - 0.3) < 0.1
    steps = sum(curve[-1].step for curve in study.curves.values())
    assert study.spent == pytest.approx(steps / 9)  # a whole evaluation costs 1
    worths = [what[-1] for what in taken if what[-1] is not None]
    assert min(worths) > 1.0 - 1e-9  # what is not worth its price is not done


def test_the_verdict_is_that_of_the_lowest_fair_value() -> None:
    study, compared = begun(), 0
    for _ in range(14):
        if study.should_stop().stop:
            break
        action = study.next()
        best = study.best
        if best is not None:
            compared += 1
            assert action.fair_value is not None
            assert action.fair_value < best.value
            assert action.worth is not None
            assert action.worth > 1.0
        step = action.to_step or 9
        study.tell(action.trial, curve(action.trial.params, step), step=step)
    assert compared > 0


def test_a_trial_that_has_just_reported_is_left_only_for_a_reason() -> None:
    study, taken = whole()
    stayed = 0
    for before, after in pairwise(taken):
        if before[1] != after[1] or after[0] == "Start":
            continue
        earlier = [leg for leg in study.legs[after[1]] if leg.to_step <= before[3]][-1]
        later = next(leg for leg in study.legs[after[1]] if leg.to_step == after[3])
        # It goes on from where it was taken up, and its fair value is no higher than there.
        if earlier.since is not None:
            assert later.since == earlier.since
            stayed += later.fair_value <= earlier.since  # type: ignore[operator]
    assert stayed


def test_replay_is_live() -> None:
    study, _ = whole()
    [replayed] = sw.replay(study, study.rules)
    assert replayed.verdict is not None
    assert replayed.verdict.stop
    assert replayed.stop_t == len([r for c in study.curves.values() for r in c])


def test_looking_changes_nothing(tmp_path: Path) -> None:
    quiet, looked = begun(journal=tmp_path / "a"), begun(journal=tmp_path / "b")
    for _ in range(9):
        for study in (quiet, looked):
            go_on(study, 1)
        _ = (looked.should_stop(), looked.best, looked.result(), looked.paused, looked.curves)
        looked.snapshot()
        looked.importance()
    assert quiet.curves == looked.curves
    assert quiet.legs == looked.legs


def test_a_resumed_study_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    expected = whole()[1][:12]
    for count in (2, 7):
        killed = tmp_path / f"killed-{count}.jsonl"
        study = begun(journal=killed)
        taken = go_on(study, count)
        study.should_stop()
        action = study.next()
        # A process that is killed now leaves what is on disk now.
        path = shutil.copy(killed, tmp_path / f"run-{count}.jsonl")
        study.close()
        study = sw.Study.resume(path)
        assert not study.should_stop().stop
        again = study.next()
        assert (again.trial, again.to_step) == (action.trial, action.to_step)
        assert type(again) is type(action)
        step = again.to_step or 9
        study.tell(again.trial, curve(again.trial.params, step), step=step)
        what = type(again).__name__, again.trial.number, dict(again.trial.params)
        taken.append((*what, step, again.fair_value, again.worth))
        taken += go_on(study, 12 - len(taken))
        assert taken == expected
        verdict = study.should_stop()
        study.close()
        loaded = sw.Study.load(path)
        assert loaded.curves == study.curves
        assert loaded.should_stop() == verdict


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"value": 1.0, "step": 1}, "step 3 already"),
        ({"value": 1.0, "step": 3}, "step 3 already"),
        ({"value": 1.0, "step": 4}, "none of this study's stages, 1, 3, 9"),
        ({"value": 1.0, "step": 0}, "at least 1"),
        ({"value": 1.0, "step": 9, "cost": 0.1}, "does not shrink"),
        ({"value": math.nan, "step": 9, "done": False}, "Nothing was told"),
        ({"value": 1.0, "step": 9, "done": False}, "leave out done=False"),
        ({"value": 1.0, "step": 3, "done": True}, "done at step 3 of 9"),
    ],
)
def test_bad_reports_are_refused_and_nothing_is_lost(told: dict[str, Any], said: str) -> None:
    study = begun()
    trial = study.next().trial
    study.tell(trial, 2.0, step=1)
    study.tell(trial, 1.5, step=3)
    before = study.curves
    with pytest.raises(InputError, match=said):
        study.tell(trial, **told)
    assert study.curves == before
    study.tell(trial, 1.5, step=3)  # once more is harmless
    study.tell(trial, 1.2, step=9)
    assert [report.step for report in study.curves[0]] == [1, 3, 9]
    study.tell(trial, 1.2)
    with pytest.raises(InputError, match="told already"):
        study.tell(trial, 1.3)
    for done in (None, True, False):
        with pytest.raises(InputError, match=r"is done.*study.amend\(0"):
            study.tell(trial, 1.3, step=3, done=done)


def test_a_first_report_that_passes_a_stage_by_is_refused() -> None:
    study = begun(stages=sw.Stages([1, 3, 9, 27]))
    trial = study.next().trial
    with pytest.raises(InputError, match=r"handed out to step 1, .* one of step 9: .* 1, 3, 9"):
        study.tell(trial, 1.0, step=9)
    assert study.curves == {}
    study.tell(trial, 2.0, step=1)
    study.tell(trial, 1.0, step=9)  # of a run that went on from a later checkpoint
    assert [report.step for report in study.curves[0]] == [1, 9]
    other = study.next().trial
    study.tell(other, 0.5, step=27)  # one that was run to its end
    assert study.history[0].value == 0.5


def test_a_wrong_report_on_the_way_has_a_way_out() -> None:
    study = begun()
    trial = study.next().trial
    study.tell(trial, 2.0, step=1)
    with pytest.raises(InputError, match=r"study.drop\(0\) gives the trial up"):
        study.tell(trial, 1.0, step=1)
    with pytest.raises(InputError, match=r"cannot be amended.*study.drop\(0\)"):
        study.amend(trial, 1.0)
    study.drop(0)
    assert study.spent == pytest.approx(1 / 9)


@pytest.mark.parametrize("more", [{}, {"done": False}, {"done": True}])
def test_a_value_without_a_step_is_none_of_the_last_stage(
    more: dict[str, Any], tmp_path: Path
) -> None:
    study = begun(journal=tmp_path / "run.jsonl")
    trial = study.next().trial
    both = "trial 0 was handed out to step 1 of 9.*step=1, or step=9 if it was run to its end"
    for given in (trial, trial.number, dict(trial.params)):
        with pytest.raises(InputError, match=both):
            study.tell(given, 0.7, **more)
    assert study.curves == {}
    assert study.spent == 0.0
    study.tell(trial, 0.7, step=1)
    with pytest.raises(InputError, match="handed out to step 1"):  # paused
        study.tell(trial, 0.6, **more)
    assert len(study.history) == 0
    study.close()
    study = sw.Study.resume(tmp_path / "run.jsonl")
    study.tell(trial, 0.6, step=9)
    study.tell(trial, 0.6)  # it was told: once more is harmless
    assert [report.step for report in study.curves[0]] == [1, 9]
    study.close()


def test_only_a_trial_that_was_asked_for_reports_a_stage() -> None:
    study = begun()
    with pytest.raises(InputError, match="was not asked"):
        study.tell(sw.Trial(7, {"x": 0.1}), 1.0, step=3)
    with pytest.raises(InputError, match="params are told at step 3"):
        study.tell({"x": 0.1}, 1.0, step=3)
    study.tell({"x": 0.1}, 1.0)
    assert study.curves[0][-1].step == 9
    with pytest.raises(InputTypeError, match="without stages"):
        sw.Study(SPACE, lam=0.1).tell({"x": 0.1}, 1.0, step=3)
    learned = begun(cost="reported")
    with pytest.raises(InputError, match="a cost is missing"):
        learned.tell(learned.next().trial, 1.0, step=1)


def test_a_diverged_trial_is_an_outcome_with_its_cost() -> None:
    study = begun()
    first, second, third = (study.next().trial for _ in range(3))
    study.tell(first, 1.0, step=1)
    study.tell(first, math.nan, 0.5, step=3)
    study.tell(second, None, message="out of memory")
    study.tell(third, Pruned("enough"), 0.2)
    assert [o.failed for o in study.history] == [True] * 3
    assert study.spent == pytest.approx(0.5 + 1 / 9 + 0.2)
    go_on(study, 12)
    assert first.number not in {trial.number for trial in study.pending}
    assert study.best is not None


def test_a_failure_has_the_step_that_was_told_and_one_cost(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    study = begun(journal=path)
    first, second, third, fourth = (study.next().trial for _ in range(4))
    for trial in (first, second, third):
        study.tell(trial, 1.0, step=1)
    study.tell(first, math.nan, 0.5, step=3)
    study.tell(second, math.nan, step=5)  # it broke between two stages
    study.tell(third, None, step=9)
    study.tell(fourth, None)  # the step that it was to reach is the best guess
    with pytest.raises(InputError, match="step=10"):
        study.tell(study.next().trial, None, step=10)
    rows = curves_picture(Facts(study)).rows
    study.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines if line.get("event") == "tell"] == [3, 5, 9, 0]
    assert [o.cost for o in study.history] == pytest.approx([0.5, 5 / 9, 1.0, 1 / 9])
    assert study.spent == pytest.approx(sum(o.cost for o in study.history))
    assert [row[3] for row in rows] == [o.cost for o in study.history[:3]]
    assert sw.Study.load(path).history == study.history
    learned = begun(cost="reported")
    trial = learned.next().trial
    learned.tell(trial, 1.0, 4.0, step=1)
    learned.tell(trial, 1.0, 5.0, step=3)
    with pytest.raises(InputError, match="step 3 already"):
        learned.tell(trial, None, step=2)
    learned.tell(trial, None, step=9)
    assert learned.history[0].cost == 5.0  # as far as anybody knows


def test_the_verdict_names_a_better_paused_value() -> None:
    study = begun(lam=1000.0)
    trials = [study.next().trial for _ in range(4)]
    for i, trial in enumerate(trials):
        study.tell(trial, 1.0 - 0.1 * i, step=1)
    study.tell(trials[0], 0.95, step=9)
    verdict = study.should_stop()
    assert verdict.stop
    assert "Trial 3 is paused at step 1 of 9 with 0.7" in verdict.reason
    assert "and 2 more" in verdict.reason
    assert "to finish it is expected to cost 0.8889" in verdict.reason


def test_usable_values_are_results() -> None:
    study = begun(stages=sw.Stages([1, 3, 9], usable=True), lam=1000.0)
    for value in (1.0, 0.4, 0.9, 0.8):
        study.tell(study.next().trial, value, step=1)
    assert study.best is not None
    assert (study.best.value, study.best.number, study.best.step) == (0.4, 1, 1)
    assert "(trial 1, step 1)" in str(study.result())
    verdict = study.should_stop()
    assert verdict.stop
    assert "paused" not in verdict.reason


def test_limits_on_trials_and_money() -> None:
    study = begun(max_trials=2)
    go_on(study, 40)
    assert len(study.curves) == 2
    assert study.history.succeeded
    study = begun(budget=1.0, lam=1e-6)
    go_on(study, 60)
    assert study.spent <= 1.0
    assert study.should_stop().rule == "budget"
    study = sw.Study({"n": sw.Integer(1, 2)}, lam=1e-9, stages=STAGES)
    for _ in range(6):
        action = study.next()
        study.tell(action.trial, float(action.trial.params["n"]), step=action.to_step)
    assert study.should_stop().rule == "exhausted"
    with pytest.raises(NothingLeftError, match="nothing left to start"):
        study.next()


def test_a_rule_that_counts_counts_what_was_begun_and_ends() -> None:
    study = begun(stages=27, stopping=sw.stopping.FixedTrials(6))
    for _ in range(60):
        verdict = study.should_stop()
        if verdict.stop:
            break
        action = study.next()
        x, step = action.trial.params["x"], action.to_step or 27
        jump = 0.3 * (x > 0.2) * (step == 27)  # most runs are left just before their end
        study.tell(action.trial, (x - 0.3) ** 2 + jump + 0.02 * step / 27, step=step)
    assert verdict.stop
    assert verdict.rule == "fixed"
    assert "6 of 6 trials begun after the initial design" in verdict.reason
    assert len(study.curves) == study.n_initial + 6
    assert len(study.history) < 6
    [replayed] = sw.replay(study, study.rules)
    assert replayed.verdict is not None
    assert replayed.verdict.value == verdict.value


@pytest.mark.parametrize("options", [{"max_trials": 2}, {"max_trials": 2, "budget": 9.0}])
def test_at_the_cap_the_verdict_and_the_next_action_agree(options: dict[str, Any]) -> None:
    study = begun(**options)
    first, second = study.next(), study.next()
    verdict = study.should_stop()
    assert verdict.stop
    assert verdict.rule == "max-trials"
    assert "nothing new can be begun now (2 of at most 2 trials are begun)" in verdict.reason
    assert "2 still running" in verdict.reason
    with pytest.raises(NothingLeftError):
        study.next()
    study.tell(first.trial, 0.5, step=first.to_step)
    assert not study.should_stop().stop  # there is something to continue
    assert study.next().trial == first.trial
    assert study.should_stop().stop
    with pytest.raises(NothingLeftError):
        study.next()
    study.tell(second.trial, 0.4, step=second.to_step)
    assert not study.should_stop().stop


def test_a_verdict_speaks_in_names_and_units_and_of_the_cap() -> None:
    study = begun(lam=1e-4, max_trials=5, value_name="loss", cost_unit="epochs")
    go_on(study, 200)
    reason = study.should_stop().reason
    assert reason.startswith("5 of at most 5 trials are begun; the best remaining candidate")
    assert re.search(r"to lower loss by .* and costs [\d.]+ epochs", reason)


def test_ask_is_the_special_case_of_a_whole_evaluation() -> None:
    study = begun()
    trial = study.ask()
    assert study.legs[trial.number][0].to_step == 9
    study.tell(trial, 0.5)
    assert len(study.history) == 1
    assert len(study.ask(4)) == 4
    with pytest.raises(InputError, match="fixed"):
        study.ask(fixed={"x": 0.5})
    plain = sw.Study(SPACE, lam=0.1)
    action = plain.next()
    assert isinstance(action, sw.Start)
    assert action.to_step is None
    assert plain.curves == {}


def test_the_best_is_amended_and_a_paused_trial_is_dropped() -> None:
    study = begun(lam=0.05)
    go_on(study, 200)
    best = study.best
    assert best is not None
    study.amend(best.number, 5.0)
    assert study.curves[best.number][-1].value == 5.0
    study.amend(best.number, None, message="it was not right")
    assert study.curves[best.number][-1].step < 9
    paused = study.paused[0]
    spent = study.spent
    study.drop(paused)
    assert study.spent == spent  # what was paid is paid
    assert paused not in study.paused
    go_on(study, 2)


def test_amending_a_diverged_trial_keeps_what_it_reported(tmp_path: Path) -> None:
    study = begun(journal=tmp_path / "run.jsonl")
    trial = study.next().trial
    study.tell(trial, 1.0, 0.1, step=1)
    study.tell(trial, math.nan, 0.5, step=3)
    for amended, steps in (
        ({"cost": 0.4}, [1]),
        ({"value": None, "message": "it broke"}, [1]),
        ({"value": 0.7}, [1, 9]),
        ({"value": 0.8, "cost": 0.6}, [1, 9]),
        ({"value": None}, [1]),
    ):
        study.amend(trial.number, **amended)  # type: ignore[arg-type]
        curve = study.curves[trial.number]
        assert [report.step for report in curve] == steps
        assert (curve[0].value, curve[0].cost) == (1.0, 0.1)
        assert sw.Study.load(tmp_path / "run.jsonl").curves == study.curves
    study.close()


def test_trials_that_are_given_up_are_no_results(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    usable = sw.Stages([1, 3], usable=True)
    study = begun(n_initial=2, stages=usable, journal=path)
    first = study.next().trial
    study.tell(first, 0.1, step=1)
    study.drop(first)
    assert study.best is None
    assert not study.should_stop().stop  # the design is not begun
    second = study.next().trial
    study.tell(second, 0.7, step=1)
    assert study.best is not None
    assert (study.best.number, study.best.value) == (second.number, 0.7)
    study.should_stop()
    study.close()
    study = sw.Study.resume(path)
    assert study.should_stop().rule == "pbgi"
    assert study.next().trial.number in (second.number, second.number + 1)
    study.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": None, "budget": 3.0}, "needs lam="),
        ({"noise": "learn"}, "noise= does not go with stages="),
        ({"surrogate": "plain"}, "surrogate="),
        ({"acquisition": "lcb"}, "acquisition="),
        ({"stopping": "convergence"}, "cannot decide about evaluations in stages"),
        ({"watch": ["ucb-lcb"]}, "cannot decide"),
        ({"stages": "81"}, "sw.Stages"),
    ],
)
def test_options_that_do_not_go_with_stages_are_refused(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises((InputError, InputTypeError), match=said):
        begun(**options)


def test_guarantees_most_rules_and_choices_of_others_are_not_for_stages() -> None:
    study = begun()
    go_on(study, 12)
    with pytest.raises(InputError, match="whole evaluations"):
        study.guarantee()
    with pytest.raises(InputError, match="cannot decide"):
        study.record("convergence")
    study.record(sw.stopping.FixedTrials(3))
    assert "evaluations" in study.traces
    with pytest.raises(InputError, match="somebody else chooses"):
        ExternalStudy(SPACE, lam=0.1, stages=STAGES)


def test_a_study_of_which_all_trials_fail_is_exhausted() -> None:
    study = begun(max_trials=3)
    while not study.should_stop().stop:
        study.tell(study.next().trial, None)
    assert study.best is None
    assert study.should_stop().rule == "exhausted"
    assert begun(max_trials=3).paused == ()


def test_maximising_is_minimising_the_negative_also_with_bounds() -> None:
    low = begun(bounds=(0.0, None))
    high = begun(direction="maximize", bounds=(None, 0.0))
    for _ in range(8):
        for study, sign in ((low, 1.0), (high, -1.0)):
            action = study.next()
            step = action.to_step or 9
            study.tell(action.trial, sign * curve(action.trial.params, step), step=step)
    assert low.curves.keys() == high.curves.keys()
    for number, reports in low.curves.items():
        assert [r.value for r in reports] == [-r.value for r in high.curves[number]]
