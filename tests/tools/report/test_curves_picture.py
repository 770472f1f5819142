# SPDX-License-Identifier: Apache-2.0
"""The report and the progress of a study with stages."""

import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import stopwise as sw
from stopwise.tools.progress import Progress
from stopwise.tools.progress.view import view_of

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
    for step in range(1, 10):
        yield step, (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def test_a_report_shows_where_runs_were_left_and_why(tmp_path: Path) -> None:
    stream = io.StringIO()
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, progress=Progress(stream=stream))
    text = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    study = result._study
    assert f"{len(study.curves)} trials were begun" in text
    assert "paused: going on is worth" in text
    assert f"{len(study.paused)} paused" in text
    worths = study.worth_going_on()
    assert worths.keys() == {trial.number for trial in study.paused}
    assert max(worths.values()) <= 1.0  # or it would have gone on
    assert "times its price" in stream.getvalue()
    assert study.explain() == f"pbgi: {result.verdict.reason}."


def test_a_report_lists_the_configurations_of_paused_trials(tmp_path: Path) -> None:
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, cost_unit="runs")
    text = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    _, _, part = text.partition("<h2>Paused trials</h2>")
    table, _, _ = part.partition("</section>")
    assert result.paused
    assert table.count("<tr>") == 1 + len(result.paused)
    for paused in result.paused:
        for number in (paused.params["x"], paused.value, paused.cost_to_finish):
            assert f">{number:.6g}</td>" in table
    assert "expected cost to finish (runs)" in table
    whole = sw.minimize(lambda params: params["x"], SPACE, lam=1.0)
    assert "Paused" not in whole.report(tmp_path / "whole.html").read_text(encoding="utf-8")


def test_an_empty_study_has_a_report_too(tmp_path: Path) -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    assert study.worth_going_on() == {}
    text = study.result().report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Nothing was reported yet" in text


def test_progress_says_how_far_and_for_what() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    said = set()
    while not study.should_stop().stop:
        action = study.next()
        said.add(view_of(study).next)
        step = action.to_step or 9
        study.tell(action.trial, dict(train(dict(action.trial.params)))[step], step=step)
    assert "trial 0 to step 1 of 9" in said
    assert any("of 9, worth starting: " in words for words in said)
    assert any("of 9, worth going on: " in words for words in said)
