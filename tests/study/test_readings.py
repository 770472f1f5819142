# SPDX-License-Identifier: Apache-2.0
"""The readings of bad values and the trust in promises, in words: only where there are several."""

import json
import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.beliefs.foresight import weigh
from stopwise.core.beliefs.models.weighed import READINGS
from stopwise.stopping import PBGI, LogEIPCMedian, Smoothed
from stopwise.study.external import ExternalStudy
from stopwise.study.readings import Readings, WeighedReading

TABLE = sw.Candidates(
    [{"x": x, "y": y} for x in range(12) for y in range(8)],
    {"x": sw.Integer(0, 11), "y": sw.Integer(0, 7)},
)
CLAUSE = re.compile(r" \(foreseen gains are believed at (\S+) %\)")


def cliff(params):
    """A smooth bowl, and a corner in which values are a hundred times worse."""
    bowl = 2.0 + 0.02 * ((params["x"] - 4) ** 2 + (params["y"] - 3) ** 2)
    return bowl + (100.0 if params["x"] > 8 else 0.0)


def started(steps=14, sign=1.0, **options):
    settings = {"lam": 1e-5, "n_initial": 6, "seed": 2, "surrogate": "default", **options}
    study = sw.Study(TABLE, **settings)
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, sign * cliff(trial.params))
    return study


@pytest.fixture(scope="module")
def default():
    return started()


@pytest.fixture(scope="module")
def plain():
    return started(surrogate="plain")


# ------------------------------------------------------------------------------------ the numbers


def test_weights_and_trust_are_those_of_the_belief(default):
    belief, readings = default.snapshot().belief, default.readings()
    assert [r.weight for r in readings.entries] == pytest.approx(belief.objective.weights)
    assert sum(r.weight for r in readings.entries) == pytest.approx(1.0)
    assert readings.trust == belief.trust < 1.0
    design = [o.value for o in default.history[:6]]
    assert [r.words for r in readings.entries] == [
        "values as they are",
        f"values above {np.quantile(design, 0.5):.4g} are compressed",
        f"values above {np.quantile(design, 0.25):.4g} are compressed",
    ]


def test_kept_promises_are_those_that_the_weights_follow(default):
    """Counted from the journal's own numbers: foreseen level against told value."""
    readings = default.readings()
    told = default._context.state.told_choices
    assert readings.judged == len(told) == 8
    assert readings.kept == sum(value < foresight.level for foresight, value in told.values())
    seen = default._context.model.seen(default._context.state)
    weights, trust = weigh([r.prior for r in READINGS], seen)
    assert readings.trust == trust
    chances = np.array([each.foresight.chances for each in seen])
    assert readings.expected == pytest.approx(float((chances @ weights).sum()))


def test_readings_with_the_same_warp_are_listed_once():
    study = sw.Study(TABLE, lam=1e-5, n_initial=3, surrogate="default")
    for _ in range(3):
        study.tell(study.ask(), 7.0)
    readings = study.readings()
    assert [r.words for r in readings.entries] == ["values as they are"]
    assert readings.entries[0].weight == pytest.approx(1.0)
    assert "several ways" not in study.explain()
    assert "several readings" not in str(study.guarantee())


def test_a_model_with_one_reading_has_none_and_so_has_a_study_without_values(plain):
    assert plain.readings() is None
    assert sw.Study(TABLE, lam=0.1).readings() is None


def test_looking_changes_nothing(default):
    before = (default.should_stop(), default.history, dict(default.traces))
    default.readings()
    assert (default.should_stop(), default.history, dict(default.traces)) == before


# ------------------------------------------------------------------------------------- the words


def test_the_explanation_names_them(default):
    lines, readings = default.explain().splitlines(), default.readings()
    [trust] = [line for line in lines if line.startswith("Foreseen gains are believed at")]
    said = re.fullmatch(
        r"Foreseen gains are believed at (\d+) %: (\d+) of 8 choices were as good as the model had"
        r" foreseen, and (\S+) should have been by the chances that it gave\.",
        trust,
    )
    assert float(said[1]) == pytest.approx(100.0 * readings.trust, abs=0.5)
    assert int(said[2]) == readings.kept
    assert float(said[3]) == pytest.approx(readings.expected, abs=0.05)
    [ways] = [line for line in lines if line.startswith("The model reads the values in several")]
    for words, weight in readings.entries:
        assert re.search(rf"{re.escape(words)}, weight {100 * weight:.0f} %[;.]", ways)


def test_where_the_user_maximises_they_are_in_the_users_values():
    low, high = started(10), started(10, sign=-1.0, direction="maximize")
    assert [o.params for o in low.history] == [o.params for o in high.history]
    turned = [
        re.sub(r"above (\S+)", r"below -\1", reading.words) for reading in low.readings().entries
    ]
    assert [reading.words for reading in high.readings().entries] == turned


def test_before_any_choice_was_told_it_says_so():
    study = started(6)
    assert study.readings().judged == 0
    before = round(100 * weigh([r.prior for r in READINGS], []).trust)
    said = f"believed at {before} %, since no choice has shown yet whether they come."
    assert said in study.explain()


def test_one_choice_is_not_choices():
    one = Readings((WeighedReading("values as they are", 1.0),), 0.005, 0, 1, 0.25)
    assert one.trust_words == (
        "foreseen gains are believed at 0.5 %: 0 of 1 choice was as good as the model had"
        " foreseen, and 0.2 should have been by the chances that it gave"
    )


@pytest.mark.parametrize(("partly", "were"), [(1, "1 was"), (2, "2 were")])
def test_choices_that_brought_what_was_promised_and_less_than_foreseen_are_named(partly, were):
    as_they_are = (WeighedReading("values as they are", 1.0),)
    words = Readings(as_they_are, 0.5, 0, 4, 1.5, partly).trust_words
    still = "less good and still brought what was promised, which does not lower the trust"
    assert words.endswith(f"by the chances that it gave; {were} {still}")


def test_a_choice_that_brought_what_was_promised_does_not_lower_the_trust(tmp_path):
    """It brings what lies halfway from the promise as it is shown to what was foreseen."""
    path = tmp_path / "run.jsonl"
    utility = sw.utility.piecewise([(70.0, 0.0), (95.0, 1000.0)])
    options = {"direction": "maximize", "utility": utility, "lam": 1e-9, "journal": path}
    study = sw.Study(TABLE, n_initial=6, seed=2, surrogate="default", **options)
    for value in (20.0, 75.0, 40.0, 66.0, 71.0, 30.0):
        study.tell(study.ask(), value)
    for told in range(1, 4):
        trial, before = study.ask(), study.readings()
        best = study.worth(study.best.value)
        promised = study.promises[-1].promised
        foreseen = study.worth(-study._context.state.foresights[trial.number].level) - best
        assert 0.0 < promised < foreseen == pytest.approx(promised / before.trust)
        study.tell(trial, 70.0 + (best + 0.5 * (promised + foreseen)) / 40.0)
        after = study.readings()
        assert study.promises[-1].is_kept
        assert (after.kept, after.partly, after.judged) == (0, told, told)
        assert after.trust == pytest.approx(before.trust, abs=1e-12)
    study.tell(study.ask(), 20.0)
    lowered = study.readings()
    assert (lowered.kept, lowered.partly, lowered.judged) == (0, 3, 4)
    assert lowered.trust < after.trust
    assert "3 were less good and still brought what was promised" in study.explain()
    study.close()
    assert sw.Study.load(path).readings() == lowered


def test_a_share_that_rounds_to_all_is_no_discount_in_words():
    full = Readings((WeighedReading("values as they are", 1.0),), 0.999, 2, 4, 1.0)
    assert full.trust_words.startswith("foreseen gains are believed in full: 2 of 4 choices")
    assert full.unproved == ("foreseen gains are discounted, by what came of earlier ones",)


def test_a_plain_study_says_nothing_of_readings_or_discounts(plain):
    text = plain.explain() + plain.should_stop().reason + str(plain.guarantee())
    assert not re.search("believed|reads|readings|discount", text)


# ----------------------------------------------------------------------- the reason of a verdict


@pytest.mark.parametrize(
    "rule", [PBGI(1e-5), LogEIPCMedian(0.5, 2), Smoothed(PBGI(1e-5), 3)], ids=repr
)
def test_a_reason_says_that_gains_are_discounted(rule):
    study = started(10, stopping=rule)
    verdict = study.should_stop()
    trust = study.snapshot().belief.trust
    [said] = CLAUSE.findall(verdict.reason)
    assert float(said) == pytest.approx(100.0 * trust, abs=0.5)
    assert verdict.reason.endswith((": stop", ": go on"))
    signal = study.traces[rule.key].current
    assert signal.facts["trust"] == trust


def test_the_gain_in_the_reason_is_the_discounted_one(default):
    """The gain that is compared with the price is the trust times what the mixture expects."""
    default.should_stop()
    signal, snapshot = default.traces[PBGI(1e-5).key].current, default.snapshot()
    points = TABLE.domain.points[~snapshot.taken(TABLE.domain.points)]
    gains = np.exp(snapshot.belief.objective.law(points).log_ei(snapshot.best).value)
    assert signal.facts["gain"] == pytest.approx(signal.facts["trust"] * gains.max(), rel=1e-9)


def test_signals_of_a_plain_study_have_no_such_fact(plain):
    assert plain.traces
    for trace in plain.traces.values():
        assert all("trust" not in signal.facts for signal in trace)


def test_where_nothing_remains_there_is_a_trust_all_the_same():
    rows = sw.Candidates([{"x": i} for i in range(6)])
    study = ExternalStudy(rows, lam=0.1, n_initial=5, surrogate="default")
    for i in range(5):
        study.tell({"x": i}, float(i))
    study.begin({"x": 5})
    signal = PBGI(0.1).signal(study.snapshot())
    assert math.isnan(signal.facts["cost"])
    assert 0.0 < signal.facts["trust"] < 1.0
    assert PBGI(0.1).sentence(signal, 0.0).startswith("no remaining candidate can gain anything (")


def test_a_resumed_study_says_the_same(tmp_path):
    path = tmp_path / "run.jsonl"
    study = started(10, journal=path)
    said = study.explain()
    study.close()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    recorded = [line["signals"] for line in lines[1:] if line["event"] == "signals"]
    assert all("trust" in signal["facts"] for each in recorded for signal in each.values())
    resumed = sw.Study.resume(path)
    assert resumed.explain() == said
    assert sw.Study.load(path).explain() == said
    resumed.close()


# ------------------------------------------------------------------------------- the guarantee


def test_the_guarantee_names_readings_weights_and_discount(default):
    broken, readings = default.guarantee().broken, default.readings()
    assert f"several readings of the values are modelled, not one ({readings.words})" in broken
    assert "the weights of these readings follow the data" in broken
    assert f"foreseen gains are discounted, to {100 * readings.trust:.0f} %" in broken


@pytest.mark.parametrize("surrogate", ["default", "plain"])
@pytest.mark.parametrize(
    ("bounds", "clips"),
    [((0, None), True), ((-1e6, None), False), ((-1e6, 1e6), False), (None, False)],
)
def test_bounds_break_it_where_they_clip(surrogate, bounds, clips):
    study = started(8, surrogate=surrogate, bounds=bounds)
    said = [reason for reason in study.guarantee().broken if "bounds" in reason]
    assert said == (
        ["what the model expects beyond bounds=(0.0, None) is taken to lie at the bound"]
        if clips
        else []
    )


def test_a_bound_above_clips_too():
    study = started(8, sign=-1.0, direction="maximize", bounds=(None, 0))
    assert "beyond bounds=(None, 0.0) is" in str(study.guarantee())
