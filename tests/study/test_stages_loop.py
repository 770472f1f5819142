# SPDX-License-Identifier: Apache-2.0
"""minimize with stages: generators, report, executors, resumes, and objectives that misbehave."""

import json
import math
import runpy
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from tests.support.repository import ROOT

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def value(params: Any, step: int) -> float:
    return (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
    for step in range(1, 10):
        yield step, value(params, step)


def run(objective: Any, **options: Any) -> sw.Result:
    return sw.minimize(objective, SPACE, **{"lam": 0.01, "stages": STAGES, **options})


def test_a_generator_and_a_callback_are_the_same_study() -> None:
    answers = []

    def called(params: dict[str, Any], report: Any) -> None:
        for step in range(1, 10):
            answers.append(report(step, value(params, step)))
            if not answers[-1]:
                return

    one, two = run(train), run(called)
    assert one.best == two.best
    assert one.spent == two.spent
    assert one.verdict == two.verdict
    assert one.verdict.stop
    assert True in answers


def test_an_objective_that_does_not_return_when_it_is_to_end_is_ended() -> None:
    reported, errors = [], []

    def deaf(params: dict[str, Any], report: Any) -> None:
        for step in range(1, 15):  # beyond the last one, too
            try:
                report(step, value(params, step))
            except InputError as error:
                errors.append(str(error))
                raise
            reported.append(step)

    def threads() -> list[threading.Thread]:
        return [t for t in threading.enumerate() if t.name == "stopwise-run"]

    def run_to_the_end() -> sw.Result:
        result = run(deaf)
        for thread in threads():
            thread.join(10.0)
        return result

    with pytest.warns(UserWarning, match="return when report answers False"):
        result = run_to_the_end()
    assert threads() == []
    whole = run(train)
    assert (result.best, result.spent, result.verdict) == (whole.best, whole.spent, whole.verdict)
    curves = result._study.curves
    assert len(reported) == sum(curve[-1].step for curve in curves.values())  # what is paid
    assert len(errors) == len(curves)
    assert any("trial 0 reports step" in said for said in errors)
    assert all("Return when report answers False" in said for said in errors)


def test_threads_run_trials_in_stages_and_processes_are_refused() -> None:
    with ThreadPoolExecutor(2) as executor:
        result = run(train, executor=executor)
    assert result.verdict.stop
    assert result.best is not None
    with ThreadPoolExecutor(3) as executor:
        capped = run(train, executor=executor, max_trials=2)  # fewer than could run at once
    assert len(capped._study.curves) == 2
    assert capped.best is not None
    with ProcessPoolExecutor(1) as processes, pytest.raises(InputError, match="ThreadPool"):
        run(train, executor=processes)


def test_the_same_call_goes_on_after_an_interrupt(tmp_path: Path) -> None:
    calls = 0

    def interrupted(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        nonlocal calls
        for told in train(params):
            calls += 1
            if calls == 20:
                raise KeyboardInterrupt
            yield told

    whole = run(train)
    path = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(interrupted, journal=path)
    result = run(train, journal=path)
    assert result.best == whole.best
    assert result.spent == whole.spent
    assert result.verdict == whole.verdict


def test_costs_are_measured_or_reported() -> None:
    def costing(params: dict[str, Any]) -> Iterator[tuple[int, float, float]]:
        for step, each in train(params):
            yield step, each, 2.0 * step

    reported = run(costing, cost="reported", lam=0.001)
    curves = reported._study.curves.values()
    assert all(report.cost == 2.0 * report.step for curve in curves for report in curve)
    measured = run(train, cost="seconds", max_trials=3, lam=10.0)
    assert 0.0 < measured.spent < 10.0


def test_runs_that_break_diverge_or_end_are_failures() -> None:
    def unruly(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        x = params["x"]
        for step, each in train(params):
            if x > 0.75:
                raise RuntimeError("out of memory")
            if x < 0.125:
                return
            yield step, math.nan if 0.5 < x < 0.625 else each

    result = run(unruly, n_initial=12)  # of which one or more lie in each eighth
    said = " | ".join(o.message for o in result.history if o.failed)
    assert "RuntimeError: out of memory" in said
    assert "the value was nan" in said
    assert "the run ended at step 0 of 9 without a word" in said
    assert result.best is not None


@pytest.mark.parametrize(
    ("objective", "said", "error"),
    [
        (lambda _: 3.0, "returned 3.0: with stages= the objective yields", InputTypeError),
        (lambda _: iter([5]), "yielded 5", InputTypeError),
        (lambda _: iter([(2, 1.0), (10, 1.0)]), r"\[2\] and not 1", InputError),
        (lambda _: iter([(3, 1.0), (9, 1.0)]), r"\[3\] and not 1", InputError),
        (lambda _: iter([(1, 1.0), (9, 1.0)]), r"\[9\] and not 3", InputError),
        (lambda _: iter([(9, 1.0)]), r"\[9\] and not 1", InputError),
        (lambda _: iter([("one", 1.0)]), "give a whole number", InputError),
    ],
)
def test_an_objective_that_yields_no_stages_is_refused(
    objective: Any, said: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=said):
        run(objective)


def test_steps_that_go_backwards_and_costs_that_shrink_are_refused(tmp_path: Path) -> None:
    def back(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        yield from ((step, value(params, step)) for step in (1, 2, 3, 2))

    def cheaper(params: dict[str, Any]) -> Iterator[tuple[int, float, float]]:
        yield from ((step, value(params, step), 10.0 - step) for step in (1, 3, 9))

    first, second = tmp_path / "back.jsonl", tmp_path / "cheaper.jsonl"
    with pytest.raises(InputError, match="reported step 2 after step 3: steps go forward"):
        run(back, journal=first)
    with pytest.raises(InputError, match="had cost 9 at step 1, and now 7"):
        run(cheaper, journal=second, cost="reported")
    for path in (first, second):
        assert all(c[0].step == 1 for c in sw.Study.load(path).curves.values())
        assert sw.Study.load(path).curves


def test_a_generator_without_stages_is_told_of_them() -> None:
    with pytest.raises(InputTypeError, match=r"yields \(step, value\) as it trains needs stages="):
        sw.minimize(train, SPACE, lam=0.01)


def test_a_final_value_that_passed_stages_by_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(InputError, match=r"reported steps \[9\] and not 1"):
        run(lambda _: iter([(9, 1.0)]), journal=path)
    [told] = sw.Study.load(path).history
    assert (told.value, told.cost) == (1.0, 1.0)


def test_a_run_of_a_resumed_study_may_go_on_from_a_later_checkpoint(tmp_path: Path) -> None:
    path, saved = tmp_path / "run.jsonl", set()

    def killed(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        for step, each in train(params):
            if step == 2:
                saved.add(params["x"])
                raise KeyboardInterrupt
            yield step, each

    def trained(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        for step, each in train(params):
            if params["x"] not in saved or step > 3:  # what was saved and not reported
                yield step, each

    with pytest.raises(KeyboardInterrupt):
        run(killed, journal=path)
    [number] = [t.number for t in sw.Study.load(path).pending if t.params["x"] in saved]
    result = run(trained, journal=path)
    assert [report.step for report in result.curves[number]] == [1, 9]


def test_a_curve_that_ends_early_is_a_failure() -> None:
    result = run(lambda _: iter([(1, 1.0)]), max_trials=4)
    assert result.best is None
    assert "ended at step 1 of 9 without a word" in result.history[0].message


@pytest.mark.parametrize("breaks", [False, True])
def test_a_run_that_ends_between_two_stages_is_charged_to_its_last_step(
    breaks: bool,  # noqa: FBT001  a parameter of the test
    tmp_path: Path,
) -> None:
    def early(params: dict[str, Any]) -> Iterator[tuple[int, float, float]]:
        for step in range(1, 6):
            yield step, value(params, step), 2.0 * step
        if breaks:
            raise RuntimeError("out of memory")

    for cost, unit in ((None, 1 / 9), ("reported", 2.0)):
        path = tmp_path / f"{cost}.jsonl"
        failed = run(early, cost=cost, max_trials=1, journal=path).history[0]
        said = "RuntimeError: out of memory" if breaks else "the run ended at step 5 of 9"
        assert said in failed.message
        assert failed.cost == pytest.approx(5 * unit)
        [told] = [json.loads(line) for line in path.open() if '"event": "tell"' in line]
        assert told["step"] == 5


@pytest.mark.slow
def test_the_example_tunes_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    runpy.run_path(str(ROOT / "examples" / "epochs.py"), run_name="__main__")
    printed = capsys.readouterr().out
    chosen = [line for line in printed.splitlines() if line.startswith("Continue")]
    assert all(", fair value " in line for line in chosen)
    assert "times its price" in chosen[-1]
    assert any(line.startswith("Start") and "fair value" in line for line in printed.splitlines())
    assert "best " in printed


def test_a_missing_cost_is_asked_for_where_it_is_reported() -> None:
    with pytest.raises(InputError, match=r"trial 0 .* yield \(step, value, cost\)"):
        run(train, cost="reported")
