# SPDX-License-Identifier: Apache-2.0
"""What a resume may change, what it refuses to, and what has to be handed in again."""

import math

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.record.journal import ResumeWarning
from tests.support.resuming import grown, resumed
from tests.support.small_studies import LINE, bowl


def test_lam_and_rules_may_change_and_it_says_so(path):
    grown(sw.Study(LINE, lam=0.01, journal=path), 5).close()
    with pytest.warns(ResumeWarning, match=r"lam is now 0\.001; it was 0\.01"):
        study = sw.Study.resume(path, lam=0.001, stopping=["pbgi", "convergence"])
    assert [rule.name for rule in study.rules] == ["pbgi", "convergence"]
    assert study.acquisition == sw.acquisition.PBGI(0.001)
    study.close()
    study = resumed(path)  # and so it stays
    assert study.acquisition == sw.acquisition.PBGI(0.001)
    assert len(study.rules) == 2


def test_a_run_that_ended_on_its_budget_goes_on_when_there_is_more(path):
    options = {"lam": 1e-9, "journal": path}
    poor = sw.minimize(bowl, LINE, budget=6, **options)
    assert (len(poor.history), poor.verdict.rule) == (6, "budget")
    with pytest.warns(ResumeWarning, match=r"budget is now 9; it was 6"):
        richer = sw.minimize(bowl, LINE, budget=9, **options)
    assert (len(richer.history), richer.verdict.rule) == (9, "budget")
    with pytest.warns(ResumeWarning, match="budget is now None"):
        free = sw.Study.resume(path, budget=None)
    assert not free.should_stop().stop
    free.close()
    again = resumed(path)  # what was forgotten stays forgotten
    assert again.traces == free.traces


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"space": {"x": sw.Real(0.0, 2.0)}}, r"'x' was .*'high': 1\.0.* is now .*'high': 2\.0"),
        ({"space": {"y": sw.Real(0.0, 1.0)}}, "'x' was .* is now None; 'y' was None"),
        ({"direction": "maximize"}, "direction was 'minimize' and is now 'maximize'"),
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"cost": "seconds"}, "cost was None and is now 'seconds'"),
        ({"lamb": 1}, r"'lamb' is no option of a study \(did you mean 'lam'\?\)"),
    ],
)
def test_another_study_is_refused_and_the_file_left_alone(path, given, said):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    content = path.read_bytes()
    with pytest.raises((InputError, InputTypeError), match=said) as caught:
        sw.Study.resume(path, **given)
    assert "lamb" in given or "lam, budget, acquisition, stopping, watch, max_trials" in str(
        caught.value
    )
    assert path.read_bytes() == content
    resumed(path, space=LINE, lam=0.01)  # and nothing holds it


@pytest.mark.parametrize(
    "typo", [{"stopping": "pgbi"}, {"acquisition": "nix"}, {"watch": ["x"]}, {"stopping": 3}]
)
def test_options_that_are_refused_leave_the_journal_as_it_was(path, typo):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    content = path.read_bytes()
    with pytest.raises((InputError, TypeError)):
        sw.Study.resume(path, **typo)
    assert path.read_bytes() == content
    resumed(path).close()


class OwnRule:
    name = "own"
    signal_scale = "linear"
    key = "own"

    def signal(self, snapshot):
        return snapshot.signal(1.0)

    def verdict(self, trace):  # noqa: ARG002
        return sw.Verdict.not_yet("own", "never")


def double(params):
    return 1.0 + params["x"]


def test_what_a_file_cannot_hold_is_handed_in_again(path):
    first = sw.Study(
        LINE, lam=0.01, cost=double, stopping=["pbgi", OwnRule()], watch=[], journal=path
    )
    grown(first, 5).close()
    with pytest.raises(InputError, match=r"cost .*double, which a file cannot.*cost=\.\.\."):
        sw.Study.resume(path)
    with pytest.raises(InputError, match=r"stopping .*OwnRule.*stopping=\.\.\."):
        sw.Study.resume(path, cost=double)
    study = resumed(path, cost=double, stopping=["pbgi", OwnRule()])
    whole = grown(sw.Study(LINE, lam=0.01, cost=double, stopping=["pbgi", OwnRule()]), 7)
    assert grown(study, 2).history == whole.history
    study.close()
    looked = sw.Study.load(path)
    assert "double is not at hand" in looked.notes[0]
    assert [rule.name for rule in looked.rules] == ["pbgi"]


def test_choices_that_json_cannot_hold_are_handed_in_again(path):
    space = {"f": sw.Categorical([len, (1, 2), "max", float("inf")]), "x": sw.Real(0, 1)}
    study = sw.Study(space, lam=1e-6, journal=path)
    trials = []
    for _ in range(8):
        trials.append(study.ask())
        study.tell(trials[-1], trials[-1].params["x"])
    study.close()
    with pytest.raises(InputError, match="choices of f are objects"):
        sw.Study.resume(path)
    study = resumed(path, space=space)
    assert [dict(o.params) for o in study.history] == [t.params for t in trials]
    study.close()
    assert str(sw.Study.load(path).history[0].params["f"])


def area(sides):
    return sides


@pytest.mark.parametrize("odd", [(64, 32), math.inf, area], ids=["tuple", "inf", "function"])
def test_a_condition_on_what_a_file_cannot_hold_is_read_by_its_name(path, odd):
    space = {
        "act": sw.Categorical([odd, "no"]),
        "x": sw.Real(0, 1, when={"act": [odd]}),
        "y": sw.Real(0, 1),
    }
    with sw.Study(space, lam=0.1, journal=path) as study:
        for act in (odd, "no"):
            inner = {"x": 0.5} if act is odd else {}
            study.tell({"act": act, **inner, "y": 0.5}, 1.0, 1.0, charge=True)
    loaded = sw.Study.load(path)
    assert loaded.space["x"].when == {"act": (repr(odd),)}
    assert [told.params.get("x") for told in loaded.history] == [0.5, None]
    with sw.Study.resume(path, space=space) as resumed_study:
        assert resumed_study.history[0].params["act"] == odd


def test_a_table_of_what_a_file_cannot_hold_is_read_by_its_names(path):
    rows = [{"act": (64, 32), "y": 1.0}, {"act": (128,), "y": 2.0}]
    sw.Study(sw.Candidates(rows), lam=1, journal=path).close()
    assert [row["act"] for row in sw.Study.load(path).domain.rows] == ["(64, 32)", "(128,)"]
