# SPDX-License-Identifier: Apache-2.0
"""Whatever a problem has (conditions, limits, a utility, ...): journal, replay, audit, report."""

from dataclasses import replace

import pytest

import stopwise as sw
from stopwise.tools.progress.view import view_of

TREE = {
    "kind": sw.Categorical(["a", "b"]),
    "n": sw.Integer(0, 9),
    "size": sw.Ordinal([16, 32, 64, 128]),
    "only_a": sw.Integer(1, 3, when={"kind": "a"}),
}
TABLE = {"n": sw.Integer(0, 9), "m": sw.Integer(0, 4)}
BONUS = sw.utility.piecewise([(0.1, 30.0), (1.5, 0.0)], unit="dollars")
LIMITS = {"harm": (None, 0.35)}
PROBLEMS = {
    "conditions and an order": (TREE, {}),
    "constraints": (TABLE, {"constraints": ["n + m <= 8", lambda p: p["n"] < 8]}),
    "limits": (TABLE, {"limits": LIMITS}),
    "a fallback": (TABLE, {"limits": LIMITS, "fallback": 0.05}),
    "failures": (TABLE, {}),
    "a utility": (TABLE, {"utility": BONUS}),
    "repeats": (TABLE, {"noise": 0.01, "replicates": True}),
    "fixed values": (TREE, {}),
    "all": (TREE, {"constraints": ["n <= 8"], "limits": LIMITS, "utility": BONUS}),
}

FAILING = ("failures", "all")


def evaluated(study, trial, *, fails):
    params = trial.params
    if fails and params["n"] > 4:
        return None
    value = 0.1 * abs(params["n"] - 3) + 0.1 * params.get("only_a", 2) + 0.2 * params.get("m", 1)
    noise = 0.1 * ((7 * trial.number) % 5 - 2) if study.options.noise else 0.0
    outcomes = {"harm": 0.1 * params["n"]} if study.options.limits else {}
    return sw.Evaluation(value + noise, outcomes=outcomes)


def go_on(study, problem, trials, look=lambda _: None):
    while len(study.history) < trials and not study.should_stop().stop:
        look(study)
        fixed = {"kind": "a", "only_a": 2} if problem == "fixed values" else None
        trial = study.ask(fixed=fixed)
        study.tell(trial, evaluated(study, trial, fails=problem in FAILING))
    return study


def begun(problem, **more):
    space, options = PROBLEMS[problem]
    lam = {} if "utility" in options else {"lam": 0.003}
    return sw.Study(space, n_initial=3, surrogate="plain", seed=4, **lam, **options, **more)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_whatever_a_problem_has_is_known_everywhere(problem, tmp_path):
    options = PROBLEMS[problem][1]
    whole = go_on(begun(problem), problem, 7, look=lambda study: (study.explain(), view_of(study)))
    path = tmp_path / "run.jsonl"
    go_on(begun(problem, journal=path), problem, 5).close()
    functions = {"constraints": options["constraints"]} if problem == "constraints" else {}
    study = go_on(sw.Study.resume(path, **functions), problem, 7)
    # Resumed and not looked at, or looked at and not interrupted: it is the same study.
    assert [o.params for o in study.history] == [o.params for o in whole.history]
    verdict = study.should_stop()
    assert verdict == whole.should_stop()
    assert study.best == whole.best
    # Replay says what was said, but for what a study adds of its fallback.
    [replayed] = sw.replay(study, study.rules)
    assert replace(verdict, reason=verdict.reason.partition(" (gains")[0]) == replayed.verdict
    # An audit knows the same problem.
    audited = sw.audit(study, rules=["pbgi"], n_initial=3)
    if study.options.noise is None:
        assert audited.best == study.best.value
    assert audited.study.options.limits == study.options.limits
    assert audited.study.options.utility == study.options.utility
    assert len(audited.study.domain) == len(study.domain)
    # People see it: what broke a limit or failed is told apart by shape and by words.
    page = study.result().report(tmp_path / "report.html").read_text()
    failed, infeasible = (
        sum(getattr(o, of) for o in study.history) for of in ("failed", "infeasible")
    )
    assert (f"{infeasible} broke a limit (hollow squares)" in page) == bool(infeasible)
    assert (f"{failed} failed (crosses" in page) == bool(failed)
    assert bool(failed) == (problem in FAILING)
    assert bool(infeasible) == ("limits" in options)
    assert ("Limit of harm" in page) == ("limits" in options)
    assert ("dollars" in page) == ("utility" in options)
    shown = view_of(study)
    assert ("infeasible" in shown.trials) == bool(infeasible)
    assert ("dollars" in shown.best) == ("utility" in options)
    assert sw.Study.load(path).best == study.best
