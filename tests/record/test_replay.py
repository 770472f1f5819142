# SPDX-License-Identifier: Apache-2.0
"""Replaying recorded signals says what live stopping said, for every rule and every lambda."""

import math

import pytest

import stopwise as sw
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError, InputTypeError
from stopwise.stopping import (
    GSS,
    PBGI,
    RULES,
    UCBLCB,
    After,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
)

TABLE = sw.Candidates([{"x": i % 7, "y": i // 7} for i in range(42)])
BOX = {"x": sw.Real(0.0, 6.0), "y": sw.Real(0.0, 5.0)}
INITIAL = 6

# Thresholds at which each rule stops somewhere inside a short record.
SOME_OF_EACH = [
    PBGI(0.02),
    PBGI(0.02, update="before"),
    LogEIPCMedian(eta=0.3, initial=3),
    SRGapMedian(chi=0.5, initial=3),
    UCBLCB(theta=0.5),
    ProbabilisticRegretBound(epsilon=0.3),
    ProbabilisticRegretBound(epsilon=0.3, estimate="mean"),
    GSS(phi=0.2, window=2),
    Convergence(patience=4),
    Immediate(),
    FixedTrials(5),
    After(PBGI(0.5), 3),
    Smoothed(PBGI(0.02), 3),
    Smoothed(LogEIPCMedian(eta=0.3, initial=3), 2, scale="linear"),
    After(Smoothed(UCBLCB(theta=0.7), 2), 4),
]


def objective(params):
    x, y = params["x"], params["y"]
    return math.sin(1.3 * x) + 0.3 * (y - 2.4) ** 2 + 0.1 * x


def price(params):
    return 0.5 + 0.25 * params["x"]


def options(**more):
    return {"cost": price, "acquisition": "logeipc", "lam": 0.02, **more}


def live_verdicts(space, rule, steps=11):
    """What a study that obeys the rule says at every step, if nobody listens."""
    study = sw.Study(space, **options(stopping=rule))
    verdicts = {}
    for _ in range(INITIAL + steps):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
        verdict = study.should_stop()
        if verdict.rule != "initial":
            verdicts[len(study.history) - INITIAL] = verdict
    return study, verdicts


def recorded(rules, steps=20, space=TABLE):
    return sw.minimize(
        objective, space, **options(stopping=FixedTrials(steps), watch=list(rules))
    ).traces


@pytest.fixture(scope="module")
def record():
    return recorded(SOME_OF_EACH)


def test_every_rule_is_here():
    def inside(rule):
        return inside(rule.rule) if hasattr(rule, "rule") else rule.name

    assert {inside(rule) for rule in SOME_OF_EACH} == set(RULES)


@pytest.mark.parametrize("rule", SOME_OF_EACH, ids=repr)
def test_a_replay_says_what_was_said_live_at_every_step(rule):
    study, live = live_verdicts(TABLE, rule)
    [replayed] = sw.replay(study.traces, [rule])
    assert replayed.rule == rule
    assert dict(replayed.verdicts) == live
    stops = [t for t, verdict in live.items() if verdict.stop]
    assert replayed.stop_t == (min(stops) if stops else None)


@pytest.mark.parametrize("rule", SOME_OF_EACH, ids=repr)
def test_one_long_record_says_when_each_rule_would_have_ended_a_study(record, rule):
    [replayed] = sw.replay(record, [rule])
    assert replayed.stop_t is not None, "the record is too short to show anything"
    result = sw.minimize(objective, TABLE, **options(stopping=rule))
    assert result.verdict.rule == rule.name
    assert len(result.history) == INITIAL + replayed.stop_t
    assert result.verdict == replayed.verdict == replayed.verdicts[replayed.stop_t]


@pytest.mark.parametrize("lam", [1e-4, 1e-3, 1e-2, 0.1, 1.0])
def test_one_record_serves_every_lambda(record, lam):
    [replayed] = sw.replay(record, [PBGI(lam)])
    result = sw.minimize(objective, TABLE, **options(lam=lam))
    assert len(result.history) == INITIAL + replayed.stop_t
    assert result.verdict == replayed.verdict


def test_a_larger_lambda_never_stops_later(record):
    lams = [10.0**e for e in (-5, -4, -3, -2, -1, 0)]
    stops = [r.stop_t for r in sw.replay(record, [PBGI(lam) for lam in lams])]
    known = [math.inf if t is None else t for t in stops]
    assert known == sorted(known, reverse=True)
    assert len(set(known)) > 3


def test_what_a_study_obeys_by_name_can_be_replayed_from_its_rules():
    result = sw.minimize(objective, BOX, **options())
    [obeyed] = sw.Study(BOX, **options()).rules
    assert obeyed == PBGI(0.02)
    [replayed] = sw.replay(result.traces, [obeyed])
    assert replayed.verdict == result.verdict
    assert len(result.history) == INITIAL + replayed.stop_t


def test_several_tells_between_two_questions_leave_gaps_and_change_nothing_else():
    study = sw.Study(TABLE, **options(stopping=Smoothed(PBGI(0.02), 4)))
    live = {}
    for step in range(24):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
        if step in (6, 9, 10, 15, 23):
            live[step + 1 - INITIAL] = study.should_stop()
    [replayed] = sw.replay(study.traces, study.rules)
    # `ask` records on its own, so there are more moments than questions.
    assert {t: replayed.verdicts[t] for t in live} == live


def test_rules_can_be_named_and_need_no_list(record):
    [by_name] = sw.replay(record, "convergence")
    [by_rule] = sw.replay(record, Convergence())
    assert by_name == by_rule
    assert [r.rule.name for r in sw.replay(record, ("immediate", FixedTrials(3)))] == [
        "immediate",
        "fixed",
    ]


def test_a_study_or_its_result_stand_for_their_record():
    study = sw.Study(TABLE, **options())
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    study.should_stop()
    expected = sw.replay(study.traces, study.rules)
    assert expected[0].verdicts
    assert sw.replay(study, study.rules) == sw.replay(study.result(), study.rules) == expected


def test_a_rule_that_does_not_stop_answers_with_its_last_verdict(record):
    [replayed] = sw.replay(record, [PBGI(1e-200)])
    assert replayed.stop_t is None
    assert replayed.verdict == replayed.verdicts[20]
    assert not replayed.verdict.stop


def test_an_empty_record_has_no_verdict():
    [replayed] = sw.replay({"evaluations": Trace()}, [Immediate()])
    assert (replayed.stop_t, replayed.verdict, dict(replayed.verdicts)) == (None, None, {})


def test_a_replay_computes_nothing(record):
    class Lazy(Convergence):
        def signal(self, _):
            raise AssertionError

    [replayed] = sw.replay(record, [Lazy()])
    assert replayed.verdict.rule == "convergence"


def test_a_signal_that_was_not_recorded_is_named_with_what_there_is():
    traces = {"evaluations": Trace.of((Signal(0, 4, 0.0),))}
    message = (
        r"ucb-lcb reads the signal 'ucb_lcb_gap', which was not recorded; there are evaluations\."
        r" Watch the rule \(watch=\[\.\.\.\]\)"
    )
    with pytest.raises(InputError, match=message):
        sw.replay(traces, [UCBLCB()])
    with pytest.raises(InputError, match="there are none"):
        sw.replay({}, [Immediate()])


def test_a_name_that_needs_lambda_teaches_and_a_class_is_refused(record):
    with pytest.raises(InputError, match=r"'pbgi' needs lam\..*exchange_rate"):
        sw.replay(record, ["pbgi"])
    with pytest.raises(
        InputError, match=r"there is no stopping rule 'pbg' \(did you mean 'pbgi'\?\): give one"
    ):
        sw.replay(record, ["pbg"])
    with pytest.raises(InputTypeError, match="an instance and not its class"):
        sw.replay(record, [Immediate])


def test_what_is_recorded_afterwards_can_be_replayed():
    study = sw.Study(TABLE, **options(stopping="convergence"))
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    assert "ucb_lcb_gap" not in study.traces
    study.record(UCBLCB(theta=1e9), "gss")
    study.record("pbgi", lam=1e9)
    [gap, worth] = sw.replay(study.traces, [UCBLCB(theta=1e9), PBGI(1e9)])
    assert gap.stop_t == 2
    assert worth.stop_t is not None


def test_a_name_that_needs_lambda_takes_that_of_the_study():
    result = sw.minimize(lambda p: abs(p["n"] - 7), {"n": sw.Integer(1, 40)}, lam=0.01)
    [found] = sw.replay(result, "pbgi")
    assert found.rule == sw.stopping.PBGI(0.01)
    assert found.verdict == result.verdict
