# SPDX-License-Identifier: Apache-2.0
"""A rule of somebody else works wherever ours do: one of 0.1, and one that says what it is."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.stopping import (
    PBGI,
    After,
    Boundary,
    RuleParameter,
    RuleTraits,
    SignalKind,
    Smoothed,
    ThresholdRule,
    Verdict,
)
from stopwise.tools.progress.view import view_of
from stopwise.tools.report import page
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._rivals import rivals, rule_words
from stopwise.tools.report._signal_picture import signal_picture


class Spread:
    """A rule of 0.1: name, key, scale, signal and verdict, and nothing else."""

    name, key, signal_scale = "spread", "spread", "linear"

    def signal(self, snapshot):
        return snapshot.signal(np.ptp(snapshot.y[-3:]))

    def verdict(self, trace):
        value = trace.current.value
        return Verdict.at_most(self.name, value, 0.01, f"the last 3 values differ by {value:g}")


@dataclass(frozen=True)
class DescribedSpread(ThresholdRule):
    """The same, which says what it is."""

    tolerance: float = 0.01
    name: ClassVar[str] = "described-spread"

    @property
    def traits(self):
        return RuleTraits(
            SignalKind("spread", "linear", "spread of 3 values", reads="values", unit=(1, 0)),
            memory=1,
            parameters=(RuleParameter("tolerance", self.tolerance, (1, 0)),),
        )

    def signal(self, snapshot):
        return snapshot.signal(np.ptp(snapshot.y[-3:]))

    def boundary(self, record):  # noqa: ARG002
        return Boundary(self.tolerance)

    def sentence(self, now, level):
        return f"the last 3 values differ by {now.value:g}, tolerated are {level:g}"


def valley(params):
    return abs(params["x"] - 0.3)


def told(rule, *, watch=(), trials=9):
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-3, stopping=rule, watch=watch, n_initial=3)
    for _ in range(trials):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, valley(trial.params))
    study.should_stop()
    return study


BOTH = pytest.mark.parametrize("rule", [Spread(), DescribedSpread()], ids=["0.1", "described"])


@BOTH
def test_a_report_shows_it(rule):
    study = told(rule, watch=[After(Smoothed(rule, 2), 3)])
    text = page(study)
    assert rule.name in text
    assert f"{rule_words(rule)}, averaged over 2, from trial 3 on" in text
    label = "spread of 3 values" if isinstance(rule, DescribedSpread) else "spread"
    assert f"{rule.name}, {label}: now" in signal_picture(Facts(study)).words


def test_only_a_rule_that_reads_values_is_computed_from_them():
    study = told("gss")
    study.watched = [Spread(), DescribedSpread()]  # as if they had not been recorded
    sources = {rival.rule.name: rival.source for rival in rivals(Facts(study))}
    assert sources["spread"] == "judged with the final model"
    assert sources["described-spread"] == "computed from the values"


@BOTH
def test_an_explanation_speaks_of_it(rule):
    words = told(rule).explain()
    assert words.startswith(f"{rule.name}: ")
    assert "No rule here has a lam" in words


def test_a_tolerance_that_it_names_is_checked():
    words = told(DescribedSpread(1e5)).explain()
    assert "Warning: tolerance amounts to 100,000 where observed values spread by" in words


@BOTH
def test_a_guarantee_is_not_about_it(rule):
    with pytest.raises(InputError, match="needs a PBGI stopping rule"):
        told(rule).guarantee()
    assert "the stopping rule is not PBGI's alone" in told([PBGI(1e-3), rule]).guarantee().broken


@BOTH
def test_an_audit_replays_it(rule):
    rows = [{"x": x, "value": valley({"x": x})} for x in np.linspace(0, 1, 9)]
    audit = sw.audit(rows, cost=None, lam=1e-3, rules=[rule, "immediate"], n_initial=3)
    assert audit[rule.name].now.rule == rule.name


@BOTH
def test_progress_shows_how_far_it_is(rule):
    [gauge] = view_of(told(rule)).stops
    assert gauge.text.startswith(f"{rule.name}: ")
    assert "where it stops at 0.01" in gauge.text


@BOTH
def test_a_worker_of_optuna_records_what_it_reads(rule, monkeypatch):
    optuna = pytest.importorskip("optuna")
    from stopwise.integrations.optuna import StopwiseCallback

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    theirs = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    theirs.optimize(lambda trial: valley({"x": trial.suggest_float("x", 0, 1)}), n_trials=8)
    moments, signal = [], type(rule).signal

    def noting(self, snapshot):
        moments.append(snapshot.t)
        return signal(self, snapshot)

    monkeypatch.setattr(type(rule), "signal", noting)
    verdict = StopwiseCallback(stopping=rule, n_initial=3).verdict(theirs)
    assert verdict.rule == rule.name
    assert math.isfinite(verdict.value)
    # Of a rule that does not say how far back it reads, every moment is recorded.
    assert moments == ([5] if isinstance(rule, DescribedSpread) else [0, 1, 2, 3, 4, 5])
