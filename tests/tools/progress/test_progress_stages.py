# SPDX-License-Identifier: Apache-2.0
"""The progress of a study with stages."""

import io
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

import stopwise as sw
from stopwise.tools.progress import Progress
from stopwise.tools.progress.painters import Clock, rows
from stopwise.tools.progress.view import view_of

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
    for step in range(1, 10):
        yield step, (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def tell(study: sw.Study, action: Any) -> None:
    step = action.to_step
    study.tell(action.trial, dict(train(dict(action.trial.params)))[step], step=step)


def test_progress_says_how_far_and_for_what() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    said = set()
    while not study.should_stop().stop:
        action = study.next()
        said.add(view_of(study).leg)
        tell(study, action)
    assert "trial 0 to step 1 of 9" in said
    assert any("of 9, worth starting: " in words for words in said)
    assert any("of 9, worth going on: " in words for words in said)


def test_what_runs_is_under_now_and_costs_what_its_stage_does() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    action = study.next()
    view = view_of(study)
    labels = {label: gauge.text for label, gauge in rows(view, [])}
    assert labels["now"] == "trial 0 to step 1 of 9"
    assert "left" not in labels
    [running] = view.running
    assert running.expected_cost == pytest.approx(1 / 9)
    clock = Clock("runs")
    clock.look(view)
    assert "expected to cost about 0.1111 runs" in clock.running(view)[0]
    tell(study, action)
    assert view_of(study).leg == ""


def test_the_design_is_counted_by_first_stages_and_the_cap_by_begun_trials() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES, max_trials=8)
    said = []
    for _ in range(4):
        study.should_stop()
        tell(study, study.next())
        said.append(view_of(study).stops[0].text)
    assert said == [
        *(f"not before the initial design is done, {done} of 4" for done in (1, 2, 3)),
        "not before a trial has finished",
    ]
    assert view_of(study).trials == "4 begun of at most 8, 0 finished"
    study.tell(study.paused[0], None)
    assert view_of(study).trials == "4 begun of at most 8, 0 finished, 1 failed"


def test_lines_are_written_for_each_stage() -> None:
    stream = io.StringIO()
    display = Progress(stream=stream)
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, progress=display, cost_unit="runs")
    lines = stream.getvalue().splitlines()
    for number, curve in result.curves.items():
        for report in curve:
            at = f" at step {report.step} of 9" if report.step < 9 else ""
            value = re.escape(result.options.units.value(report.value))
            start = re.compile(rf"trial {number}: {value}{at} for [\d.]+ runs?(,| |$)")
            assert sum(bool(start.match(line)) for line in lines) == 1
    assert len(lines) == sum(map(len, result.curves.values())) + 1  # and why it has ended
    assert re.search(
        r"step 3 of 9 for .* runs, was worth going on: [\d.]+ times its price", stream.getvalue()
    )
