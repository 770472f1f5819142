# SPDX-License-Identifier: Apache-2.0
"""Noise where people look: measured values are called so, and limits are believed to be kept."""

import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.units import AnswerUnits
from stopwise.stopping import FixedTrials
from stopwise.study.measured_beyond import measured_beyond, within_words
from stopwise.study.result import Best
from stopwise.tools.cli._studies import study_as_json
from stopwise.tools.cli.run import _found
from stopwise.tools.cli.tell import said
from stopwise.tools.cli.verdict import _best
from stopwise.tools.progress.painters import Lines
from stopwise.tools.progress.view import told, view_of
from stopwise.tools.report._axis import axis_of
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._page import page
from stopwise.tools.report._pictures import best_picture, costs_picture, value_picture
from stopwise.tools.report._rivals import rule_words

LIMITS = {"tox": (None, 0.6)}


@pytest.fixture(scope="module")
def limited():
    """A study that is best at a limit, where what is measured is beyond it as often as not."""
    options = {"lam": 0.01, "direction": "maximize", "noise": "learn", "surrogate": "plain"}
    study = sw.Study({"x": sw.Real(0, 1)}, limits=LIMITS, n_initial=8, max_trials=40, **options)
    for i in range(18):
        x, tox = 0.08 + 0.05 * i, 0.08 + 0.05 * i + 0.05 * (-1) ** i
        study.tell({"x": x}, x + 0.02 * math.cos(2 * i), outcomes={"tox": tox})
    study.should_stop()
    assert study.history[study.best.number].infeasible  # which this file is about
    return study


def lucky(**options):
    """A study with a lucky value at 0.9, and one place that was measured three times."""
    given = {"lam": 0.001, "noise": 0.09, "surrogate": "plain", "n_initial": 3, **options}
    study = sw.Study({"x": sw.Real(0, 1)}, **given)
    values = [(0.9, -0.4), (0.3, -0.3), (0.3, -0.3), (0.0, 0.5), (0.3, -0.3), (0.8, 0.6)]
    for x, value in [*values, (0.97, 0.7)]:
        sign = -1.0 if study.direction == "maximize" else 1.0
        study.tell({"x": x}, sign * value, charge=True)
    study.should_stop()
    return study


# ---------------------------------------------------------------------------- noise and limits


def test_the_chance_of_the_best_is_that_of_its_limits(limited):
    best, snapshot = limited.best, limited.snapshot()
    x = limited.domain.encode([best.params])
    tox = snapshot.belief.success.parts[0].outcome
    draws = np.random.default_rng(0).normal(*(float(v[0]) for v in tox(x)), size=400_000)
    assert best.chance == pytest.approx(np.mean(draws <= 0.6), abs=0.004)
    assert best.chance >= 0.5


def test_failures_are_not_in_the_chance_of_limits():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, noise=0.01, limits=LIMITS, n_initial=2)
    for x in (0.1, 0.3, 0.5):
        study.tell({"x": x}, -x, outcomes={"tox": x})
    for x in (0.51, 0.52, 0.53):
        study.tell({"x": x}, None)
    x = study.domain.encode([study.best.params])
    assert math.exp(study.snapshot().belief.log_chance(x)[0]) < study.best.chance <= 1.0


def test_without_noise_or_limits_there_is_no_such_chance():
    assert lucky().best.chance is None
    exact = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, limits=LIMITS)
    exact.tell({"x": 0.2}, 1.0, outcomes={"tox": 0.2})
    assert exact.best.chance is None
    assert measured_beyond(exact.best, exact.options) == ""
    assert measured_beyond(None, exact.options) == ""


def test_the_result_says_that_its_best_was_measured_beyond_a_limit(limited):
    best, result = limited.best, limited.result()
    sentence = measured_beyond(best, limited.options)
    assert sentence == (
        f"Trial {best.number} was measured beyond a limit, tox {best.outcomes['tox']:.4g} (the"
        " limit is at most 0.6). Measurements are noisy: this configuration is believed to keep"
        f" all limits with probability {best.chance:.4g}, and from 0.5 on it may be the best."
    )
    assert sentence in str(result)
    assert sentence in result._repr_html_()
    assert _best(limited).endswith(sentence)
    assert _found(limited)[1] == sentence
    assert study_as_json(limited)["best"]["chance"] == best.chance


def test_several_limits_and_a_hair_beyond_one():
    limits = {"tox": (None, 0.6), "pure": (0.9, None)}
    options = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, noise=0.1, limits=limits).options
    best = Best({"x": 0.1}, 1.0, 4, outcomes={"tox": 0.600001, "pure": 0.5}, chance=0.75)
    said = measured_beyond(best, options)
    assert (
        "tox 0.600001 (the limit is at most 0.6) and pure 0.5 (the limit is at least 0.9)" in said
    )
    assert within_words(best, options) == ", within all limits with probability 0.75"


def test_the_page_says_it_once_and_never_the_opposite(limited):
    text = page(limited)
    beyond = sum(o.infeasible for o in limited.history)
    assert text.count(measured_beyond(limited.best, limited.options)) == 1
    assert f"{beyond} were measured beyond a limit (hollow squares): with noise" in text
    assert f"{beyond} measured beyond a limit" in text
    for wrong in ("cannot be the best", "broke a limit", "infeasible"):
        assert wrong not in text
    assert f"{beyond} were measured beyond a limit; that candidate" in limited.explain()


def test_progress_does_not_call_the_best_one_infeasible(limited):
    best, units = limited.best, limited.options.units
    at = limited.history[best.number]
    assert told(at, units).endswith(", measured beyond a limit")
    view, written = view_of(limited), []
    assert view.trials.endswith("7 measured beyond a limit")

    class Out:
        write = written.append

        def flush(self): ...

    Lines(Out()).paint(view, [told(at, units)])
    chance = f"within all limits with probability {best.chance:.4g}"
    assert f"(trial {best.number}, {chance}) | spent" in written[0]
    assert ", measured beyond a limit (beyond its limits: tox" in said(limited, best.number)


def test_where_nothing_is_believed_to_keep_the_limits_it_is_said_so():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, noise=0.01, limits=LIMITS, n_initial=3)
    for x in (0.1, 0.4, 0.9):
        study.tell({"x": x}, -x, outcomes={"tox": 2.0 + x})
    reason = study.should_stop().reason
    assert reason.startswith("none of 3 evaluations is believed to keep all limits")
    text = page(study)
    assert "no evaluation is believed to keep all limits yet" in text
    assert "No evaluation was measured within all limits yet." in text
    assert "A rule judges what is believed to keep all limits" in text
    assert (
        view_of(study).stops[0].text == "not before an evaluation is believed to keep all limits"
    )
    assert _best(study) == "No best one yet: none is believed to keep all limits."
    assert _found(study) == ["No trial is believed to keep all limits."]


def test_a_run_without_a_best_one_warns_in_the_same_words():
    def react(params):
        return {"value": -params["x"], "outcomes": {"tox": 3.0 + params["x"]}}

    with pytest.warns(UserWarning, match="no evaluation is believed to keep all limits"):
        sw.minimize(react, {"x": sw.Real(0, 1)}, lam=0.1, noise=0.01, limits=LIMITS, max_trials=3)


# ------------------------------------------------------------------------------ measured values


@pytest.mark.parametrize(
    ("direction", "words"), [("minimize", "lowest measured"), ("maximize", "highest measured")]
)
def test_a_raw_extreme_is_called_measured_and_never_best(direction, words):
    study = lucky(direction=direction)
    ladder = sw.lam_ladder(study)
    raw = 0.4 if direction == "maximize" else -0.4
    assert study.best.value != pytest.approx(raw, abs=0.05)
    assert f"{words} {raw:g})" in str(ladder)
    assert f"{words} value by then" in ladder._repr_html_()
    assert f"{words} {raw:g})" in study.explain()
    text = page(study)
    assert text.count(f">{words} by then<") == 2  # other rules, and other lams
    for wrong in (">best by then<", "best so far", "best with its cost", "best observed"):
        assert wrong not in text
    assert f"what the {words} value would have lost" in text


def test_an_audit_calls_it_measured_and_says_what_is_believed():
    study = lucky(value_name="loss")
    audited = sw.audit(study, rules=["convergence", "immediate"], n_initial=3)
    best = audited.study.best
    believed = f"(the best is believed to be {audited.units.number(best.value, best.std)})"
    assert f"lowest measured loss -0.4 {believed}" in audited.heading
    assert "lowest measured then" in audited.table()[0]
    assert "Values are noisy: lost and net compare measured ones" in str(audited)


def test_the_diamond_marks_the_best_configuration():
    study = lucky()
    best, facts = study.best, Facts(study)
    [(step, value)] = facts.marked
    assert (step.trial.number, value) == (best.number, best.value)
    assert step.trial.params["x"] == 0.3
    picture = best_picture(facts)
    [marks] = re.findall(r'class="sw-diamond b"[^>]*data-t="(\d+)"', picture.svg)
    assert int(marks) == best.number != next(s for s in facts.steps if s.best == -0.4).trial.number
    assert f"trial {best.number}, is believed to be" in picture.words
    assert "the lowest measured value is -0.4, found at trial 0" in picture.words


def test_the_cost_adjusted_value_is_also_that_of_the_belief():
    study = lucky()
    words = value_picture(Facts(study)).words
    assert words.startswith("The lowest measured value so far plus lam")
    believed = study.best.value + 0.001 * study.spent
    assert words.endswith(f"with which it stands at {believed:.4g}.")


def test_the_best_of_repeats_is_the_first_of_them():
    for seed in range(6):  # the medians of repeats differ by a rounding
        rng = np.random.default_rng(seed)
        study = sw.Study({"x": sw.Real(0, 1)}, lam=0.001, noise=0.09, surrogate="plain")
        for x in rng.choice([0.1, 0.35, 0.7], size=12).tolist():
            study.tell({"x": x}, (x - 0.4) ** 2 + rng.normal(0, 0.3))
        best = study.best
        assert best.number == next(o.number for o in study.history if o.params == best.params)


def test_a_picture_does_not_ask_whether_to_stop():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, noise=0.01, n_initial=2)
    for x in (0.1, 0.4, 0.9):
        study.tell({"x": x}, x)
    best_picture(Facts(study))
    assert study.verdict is None


def test_without_noise_nothing_is_said_of_it():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.001, surrogate="plain", n_initial=3)
    for x, value in ((0.9, -0.4), (0.3, -0.3), (0.0, 0.5), (0.8, 0.6)):
        study.tell({"x": x}, value)
    facts = Facts(study)
    [(step, value)] = facts.marked
    assert (step.trial.number, value) == (0, -0.4)
    assert "best observed value is -0.4, found at trial 0" in best_picture(facts).words
    assert value_picture(facts).words.startswith("The best value so far plus lam")
    assert (facts.luck, facts.names.best) == ("", "best")
    assert "measured" not in page(study)
    assert "measured" not in str(sw.lam_ladder(study))


def test_before_there_is_a_best_one_nothing_is_marked():
    facts = Facts(sw.Study({"x": sw.Real(0, 1)}, lam=0.01, noise=0.01))
    assert (facts.marked, facts.belief) == ([], "")


# ---------------------------------------------------------------------- legends, costs, repeats


def test_keys_that_a_row_has_no_room_for_are_in_the_next():
    chart = Chart(axis_of([0.0, 1.0], "x"), axis_of([0.0, 1.0], "y"))
    for words in ("a" * 20, "b" * 20, "c" * 20, "d" * 80):
        chart.key(words, "a")
    rows = chart._rows_of_keys()
    assert [[key[0][0] for _, key in row] for row in rows] == [["a", "b"], ["c"], ["d"]]


def charged(*costs):
    """A study whose evaluations are announced at 31 each, with what was charged."""
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-4, cost=31.0, n_initial=3)
    for at, cost in enumerate(costs):
        failed = cost is not None and cost != 31.0
        study.tell(study.ask(), None if failed else float(at), cost)
    return Facts(study)


def test_known_costs_were_as_expected_unless_another_was_charged():
    every = "Every trial cost 31. Costs were as expected."
    assert costs_picture(charged(None, None, 31.0 * (1 + 1e-7) - 31e-7)).words == every
    one = costs_picture(charged(None, None, 121.0, None)).words
    assert one == (
        "A trial cost 31 to 121. 3 of 4 cost what was expected; trial 2 cost 121 where 31 was."
    )
    two = costs_picture(charged(None, 40.0, None, 121.0, None)).words
    assert two.endswith(
        "3 of 5 cost what was expected; furthest off was trial 3, which cost 121 where 31 was."
    )


def test_costs_that_were_mostly_off_have_a_factor_other_than_one():
    words = costs_picture(charged(62.0, 62.0, None)).words
    assert words.endswith("Half of them came within a factor of 2 of what was expected.")


def test_a_count_says_from_where_it_counts():
    assert rule_words(FixedTrials(20)).endswith("20 after the initial design")
    assert "after the initial design" not in rule_words(sw.stopping.PBGI(0.1))


def test_a_repeat_is_marked_in_the_table_of_trials():
    study = lucky()
    steps = Facts(study).steps
    assert [s.repeats for s in steps] == [None, None, 1, None, 1, None, None]
    assert page(study).count(">repeat of trial 1<") == 2


def test_units_know_what_the_best_of_noisy_values_is():
    assert AnswerUnits(rises=True).best == "best"
    assert AnswerUnits(rises=True, noisy=True).best == "highest measured"
