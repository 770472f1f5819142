# SPDX-License-Identifier: Apache-2.0
"""The report without a browser: its words, numbers and limits."""

import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import stopwise as sw
from stopwise.core.quantity import quantity
from stopwise.errors import InputError
from stopwise.stopping import GSS, PBGI, UCBLCB, After, Convergence, Smoothed
from stopwise.tools import report
from stopwise.tools.report import _page
from stopwise.tools.report._axis import Axis, axis_of, number, thinned
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup, el, shortened
from stopwise.tools.report._page import page, policy
from stopwise.tools.report._pictures import best_picture, costs_picture, value_picture
from stopwise.tools.report._promises_picture import promises_picture
from stopwise.tools.report._rivals import UNKNOWN, rivals, rule_words
from stopwise.tools.report._signal_picture import signal_picture
from stopwise.tools.report._slices import codec_of, slices
from stopwise.tools.report._tables import trials_table
from tests.support import report_studies as studies
from tests.support.report_pages import KINDS, page_of, study_of


class Reader(HTMLParser):
    """The text and the attributes of a document, as a browser would read them."""

    def __init__(self, document):
        super().__init__(convert_charrefs=True)
        self.text, self.attributes, self.tags = "", [], []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


# ------------------------------------------------------------------------------------- markup


@given(st.text())
def test_text_comes_back_as_it_was_and_is_never_a_tag(words):
    read = Reader(el("p", words, title=words))
    control = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
    expected = control.sub("\ufffd", words.encode("utf-8", "replace").decode())
    assert read.tags == ["p"]
    assert read.text == expected
    assert dict(read.attributes)["title"] == expected
    ET.fromstring(el("p", words, title=words))  # noqa: S314  our own; XML is stricter than HTML


def test_markup_is_not_escaped_again_and_attributes_may_be_left_out():
    assert el("p", Markup("<b>x</b>"), "<") == "<p><b>x</b>&lt;</p>"
    assert el("input", hidden=True, id=None, disabled=False) == "<input hidden/>"


def test_what_is_cut_off_leaves_a_mark():
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde\u2026"


# --------------------------------------------------------------------------------------- axes


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_inside_and_evenly_spaced(low, span):
    axis = Axis(low, low + span, "x")
    if (axis.high - axis.low) / max(abs(axis.low), abs(axis.high)) < 1e-6:
        return  # beyond the digits that a label has
    values = [value for value, _ in axis.ticks()]
    assert 2 <= len(values) <= 6
    slack = 1e-6 * span
    assert axis.low - slack <= values[0] <= values[-1] <= axis.high + slack
    gaps = np.diff(values)
    assert np.allclose(gaps, gaps[0], rtol=1e-6)


@given(st.floats(1e-9, 1e9), st.floats(1.5, 1e12))
def test_log_ticks_are_inside_and_told_apart(low, ratio):
    axis = Axis(low, low * ratio, "x", log=True)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low * (1 - 1e-6) <= value <= low * ratio * (1 + 1e-6) for value, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)


def test_a_log_axis_shows_ratios_as_distances():
    axis = Axis(1e-4, 1.0, "lr", log=True)
    assert [axis.at(v) for v in (1e-4, 1e-2, 1.0)] == pytest.approx([0.0, 0.5, 1.0])
    assert [label for _, label in axis.ticks()] == ["0.0001", "0.001", "0.01", "0.1", "1"]


@pytest.mark.parametrize("values", [[], [3.0], [0.0, 0.0], [-1e300, 1e300], [math.nan, 2.0]])
def test_an_axis_of_odd_values_still_places_them(values):
    axis = axis_of(values, "x")
    assert all(0.0 <= axis.at(v) <= 1.0 for v in values if math.isfinite(v))
    assert axis.ticks()


def test_whole_axes_have_whole_ticks():
    assert [label for _, label in Axis(0.9, 3.2, "n", whole=True).ticks()] == ["1", "2", "3"]


def test_numbers_are_written_as_people_read_them():
    assert number(-0.0) == "0"
    assert number(math.inf) == "\u221e"
    for value in (1e-5, 1.4e-5, 0.02, 12345.678, -3.0):
        assert number(value) == quantity(value)  # as in the sentences of the same page
    assert number(-1e-5) == "-1e-05"


def test_axes_over_time_count_evaluations_and_trials_have_their_numbers():
    """Trials have numbers from 0 on; axes count evaluations from 1 on, and say so."""
    facts = Facts(study_of("stopped"))
    for picture in (costs_picture(facts), value_picture(facts)):
        assert "evaluations told" in picture.svg
        assert picture.header[:2] == ("evaluations", "trial")
        assert picture.rows[0][:2] == (1, 0)


def test_thinning_keeps_the_ends_and_what_matters():
    assert thinned(5, 10) == [0, 1, 2, 3, 4]
    few = thinned(1000, 10, keep=[7])
    assert few[0] == 0
    assert few[-1] == 999
    assert 7 in few
    assert len(few) == 11
    assert len(thinned(1000, 10, keep=range(1000))) <= 20


# ------------------------------------------------------------------------------------ the facts


def test_steps_hold_the_best_and_the_bill_so_far():
    study = sw.Study({"n": sw.Integer(1, 9)}, lam=0.1, direction="maximize", n_initial=9)
    for n, value in ((1, 2.0), (2, None), (3, 5.0), (4, 4.0)):
        study.tell({"n": n}, value, 2.0, charge=n != 1)
    steps = Facts(study).steps
    assert [s.best for s in steps] == [2.0, 2.0, 5.0, 5.0]
    assert [s.spent for s in steps] == [0.0, 2.0, 4.0, 6.0]
    assert [s.improved for s in steps] == [True, False, True, False]
    assert Facts(study).adjusted(steps[-1]) == pytest.approx(5.0 - 0.1 * 6.0)


def test_the_cost_adjusted_picture_finds_the_best_end():
    facts = Facts(study_of("stopped"))
    adjusted = [facts.adjusted(s) for s in facts.steps]
    at = int(np.argmin(adjusted)) + 1
    picture = value_picture(facts)
    assert f"after {at} trials, at {number(min(adjusted))}" in picture.words
    assert [row[-1] for row in picture.rows] == adjusted


def test_the_best_picture_lists_every_trial():
    facts = Facts(study_of("maximised"))
    picture = best_picture(facts)
    history = facts.study.history
    assert [row[0] for row in picture.rows] == [o.number for o in history]
    assert [row[2] for row in picture.rows] == [o.value for o in history]
    assert picture.rows[-1][1] == pytest.approx(history.spent)
    assert "1 failed" in picture.words


def test_the_signal_picture_shows_what_decided():
    facts = Facts(study_of("stopped"))
    picture = signal_picture(facts)
    verdict = facts.result.verdict
    assert picture.rows[-1][3] == pytest.approx(math.exp(verdict.value))
    assert picture.rows[-1][4] == pytest.approx(0.003)
    assert "the threshold of 0.003 is reached" in picture.words


def test_a_threshold_that_is_reached_from_below_is_reached_too():
    study = sw.Study({"n": sw.Integer(1, 30)}, stopping=Convergence(3), acquisition="logeipc")
    while not study.should_stop():
        study.tell(study.ask(), 1.0)
    words = signal_picture(Facts(study)).words
    assert words == (
        "convergence, trials without improvement: now 3; the threshold of 3 is reached."
    )


def test_the_costs_picture_lists_expected_and_actual():
    facts = Facts(study_of("stopped"))
    rows = costs_picture(facts).rows
    assert [row[2:] for row in rows] == [(o.expected_cost, o.cost) for o in facts.study.history]
    assert rows[0][2] is None  # nothing was known of costs when the first was asked for


def test_a_value_far_off_does_not_spoil_the_scale():
    study = sw.Study({"n": sw.Integer(1, 99)}, lam=0.1, n_initial=50)
    for n in range(1, 20):
        study.tell({"n": n}, 1e9 if n == 3 else float(n))
    picture = best_picture(Facts(study))
    assert "1 far off" in picture.words
    assert "sw-up" in picture.svg
    assert (2, 3.0, 1e9, 1.0) not in picture.rows  # told from elsewhere: nothing was spent
    assert (2, 0.0, 1e9, 1.0) in picture.rows  # the numbers hide nothing


# -------------------------------------------------------------------------------- other rules


def rival_of(kind, name):
    return next(r for r in rivals(Facts(study_of(kind))) if r.rule.name == name)


def test_every_rule_of_the_table_is_judged():
    assert {r.rule.name for r in rivals(Facts(study_of("stopped")))} == set(sw.stopping.RULES)


def test_the_obeyed_rule_stops_where_the_study_did():
    own = rival_of("stopped", "pbgi")
    history = study_of("stopped").history
    assert own.role == "obeyed"
    assert own.stopped.at == len(history)
    assert own.saved == own.lost == 0.0


def test_a_recorded_rule_is_what_replay_says():
    study = study_of("stopped")
    [replayed] = sw.replay(study, Convergence(3))
    rival = rival_of("stopped", "convergence")
    assert rival.source == "recorded during the run"
    n = study.snapshot().initial + replayed.stop_t
    assert rival.stopped.at == n
    paid = sum(o.cost for o in study.history[:n])
    assert rival.saved == pytest.approx(study.spent - paid)
    best_then = min(o.value for o in study.history[:n])
    assert rival.lost == pytest.approx(best_then - study.best.value)
    assert rival.net(0.003) == pytest.approx(0.003 * rival.saved - rival.lost)


def test_a_rule_of_values_is_the_same_afterwards_as_when_watched():
    """Two studies that differ only in what is watched; a rule that reads no model agrees."""

    def made(watch):
        study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-9, watch=watch)
        for _ in range(14):
            study.should_stop()
            trial = study.ask()
            study.tell(trial, round((trial.params["x"] - 0.3) ** 2, 2))
        study.should_stop()
        return [r for r in rivals(Facts(study)) if r.rule.name in ("gss", "convergence")]

    watched, afterwards = made([GSS(), Convergence()]), made([])
    assert {r.source for r in watched} == {"recorded during the run"}
    assert {r.source for r in afterwards} == {"computed from the values"}
    by_name = {r.rule.name: r.stopped for r in watched}
    assert {r.rule.name: r.stopped for r in afterwards} == by_name
    assert any(by_name.values())


def test_a_model_rule_is_judged_with_the_final_model():
    study = study_of("exhausted_budget")
    rival = rival_of("exhausted_budget", "ucb-lcb")
    assert rival.source == "judged with the final model"
    snapshot = study.snapshot()
    gaps = {n: UCBLCB().signal(snapshot.prefix(n)).value for n in range(snapshot.initial, 21)}
    assert rival.stopped.at == next(n for n, gap in gaps.items() if gap <= 0.01)


def test_a_rule_that_is_judged_afterwards_knows_no_chance_and_says_so():
    study = sw.Study({"x": sw.Real(0.0, 1.0)}, lam=1e-3, surrogate="plain", n_initial=3)
    for i in range(8):
        study.tell({"x": i / 7}, None if i == 6 else (i / 7 - 0.3) ** 2)
    sources = {rival.rule.name: rival.source for rival in rivals(Facts(study))}
    judged = "judged with the final model, as if nothing could fail or break a limit"
    assert sources["ucb-lcb"] == judged


def test_a_rule_that_would_be_dear_to_ask_says_how_to_know():
    assert rival_of("five", "prb").source == UNKNOWN
    assert rival_of("five", "prb").stopped is None


def test_nothing_is_judged_before_the_design_is_done():
    assert rivals(Facts(studies.empty())) == []
    assert rivals(Facts(study_of("all_failed"))) == []


def test_rules_are_named_with_their_numbers():
    nbsp = "\u00a0"
    words = rule_words(After(Smoothed(PBGI(0.5), 5), 9)).replace(nbsp, " ")
    assert words == "pbgi, lam = 0.5, averaged over 5, from trial 9 on"


# -------------------------------------------------------------------------------------- slices


def test_a_slice_is_the_model_through_the_best():
    study = study_of("stopped")
    found = {s.name: s for s in slices(Facts(study))}
    assert list(found) == ["lr", "layers", "act"]
    one = found["layers"]
    assert one.values == [1, 2, 3, 4, 5, 6]
    X = study.domain.encode([{**study.best.params, "layers": n} for n in one.values])
    law = study.snapshot().belief.objective.law(X)
    assert one.median == pytest.approx(law.median)
    wide = law.std > 1e-9  # the best is known, up to rounding
    assert wide.sum() >= 5
    assert law.cdf(one.low).value[wide] == pytest.approx(np.full(wide.sum(), 0.025), abs=1e-4)
    assert law.cdf(one.high).value[wide] == pytest.approx(np.full(wide.sum(), 0.975), abs=1e-4)
    assert found["act"].values == ["relu", "tanh", "gelu"]


def test_slices_of_a_maximised_value_are_in_its_own_units():
    study = study_of("maximised")
    one = slices(Facts(study))[0]
    assert one.best_median == pytest.approx(study.best.value, abs=1e-3)
    assert (one.low <= one.median).all()


def test_a_column_of_one_value_can_be_drawn():
    rows = [{"a": 5, "b": b} for b in range(1, 9)]
    study = sw.Study(sw.Candidates(rows, space={"a": sw.Real(1, 10, log=True)}), lam=0.1)
    for b in range(1, 7):
        study.tell({"a": 5, "b": b}, float(b))
    assert "The model along a." in report.page(study)


def test_the_best_choice_is_marked_even_where_choices_are_equal():
    study = sw.Study({"b": sw.Categorical([True, 1, "x"])}, lam=1e-9, n_initial=3)
    for choice, value in ((True, 3.0), (1, 1.0), ("x", 2.0)):
        study.tell({"b": choice}, value)
    [one] = slices(Facts(study))
    assert one.best_at == 1
    assert one.median[1] == one.median.min()


def test_slices_of_a_table_keep_to_its_values():
    one = slices(Facts(study_of("noisy")))[0]
    assert one.values == pytest.approx(list(range(20, 100, 8)))


# ---------------------------------------------------------------------------------------- page


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_the_same_twice(kind):
    assert report.page(study_of(kind)) == page_of(kind)


@pytest.mark.parametrize("kind", [*KINDS, "empty"])
def test_every_svg_is_well_formed_and_named(kind):
    pictures = re.findall(r"<svg .*?</svg>", page_of(kind), re.DOTALL)
    assert bool(pictures) == (kind != "empty")
    for picture in pictures:
        root = ET.fromstring(picture)  # noqa: S314  our own
        assert root.get("role") == "img"
        assert len(root.get("aria-label")) > 20
        assert "nan" not in re.sub(r'aria-label="[^"]*"', "", picture)


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_has_its_numbers_in_a_table(kind):
    page = page_of(kind)
    assert page.count("<svg ") == page.count("<details id=")


def test_the_answer_comes_first():
    read = Reader(page_of("stopped"))
    study = study_of("stopped")
    verdict = study.should_stop()
    head = read.text[read.text.index("stopwise report") :][:600]
    assert f"Stopped after {len(study.history)} trials" in head
    assert number(study.best.value) in head
    assert verdict.reason[1:] in head


def test_a_running_study_says_so():
    assert "Not stopped yet:" in page_of("maximised")
    assert "1 running" in page_of("maximised")
    assert "of a budget of 60" in page_of("maximised")
    assert "Why it stopped:" not in page_of("maximised")


def test_strings_of_the_user_stay_text():
    read = Reader(page_of("hostile"))
    assert read.tags.count("script") == 1
    assert "img" not in read.tags
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert studies.NASTY in read.text
    page_of("hostile").encode("utf-8")


def test_nothing_is_loaded_and_the_policy_says_so():
    read = Reader(page_of("stopped"))
    assert not {"href", "src", "style", "action"} & {name for name, _ in read.attributes}
    [content] = [v for n, v in read.attributes if n == "content" and "default-src" in v]
    assert content.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in content
    assert "connect-src" not in content
    assert "connect-src 'self'" in policy("", "", version="1")


def test_a_choice_of_none_is_not_a_gap():
    table, _ = trials_table(Facts(study_of("maximised")), codec_of(study_of("maximised").domain))
    assert "<td>None</td>" in table


def test_too_many_trials_are_thinned_and_the_page_says_so():
    space = {f"p{i}": sw.Real(0, 1) for i in range(15)}
    study = sw.Study(space, lam=0.1, n_initial=10_000)
    rng = np.random.default_rng(0)
    for _ in range(1500):
        study.tell(dict(zip(space, rng.random(15).tolist(), strict=True)), rng.random())
    table, note = trials_table(Facts(study), codec_of(study.domain))
    assert "of 1500 trials are listed" in note
    assert len(table) < 400_000
    assert f'id="t{study.best.number}"' in table


def test_a_large_page_is_small_enough():
    study = studies.large(questions=2)
    assert len(study.history) == 500
    assert study.domain.d == 15
    page = report.page(study)
    assert len(page.encode("utf-8")) <= 1_000_000
    assert page.count('<tr id="t') == 500
    assert page.count("The model along ") == 15
    assert "at 12 of 469 moments" in page


def test_a_report_in_the_midst_does_not_change_the_path():
    def run(*, looking):
        study = sw.Study({"x": sw.Real(0, 1), "n": sw.Integer(1, 9)}, lam=1e-6, seed=4)
        for _ in range(10):
            trial = study.ask()
            if looking:
                report.page(study)
            study.tell(trial, (trial.params["x"] - 0.3) ** 2 + 0.01 * trial.params["n"])
        return [o.params for o in study.history]

    assert run(looking=True) == run(looking=False)


# ------------------------------------------------------------------------------- the way to it


def test_a_result_writes_its_report(tmp_path):
    result = sw.minimize(lambda p: (p["n"] - 7) ** 2, {"n": sw.Integer(1, 40)}, lam=0.1)
    path = result.report(tmp_path / "run.html")
    assert path.read_text("utf-8") == report.page(result._study)
    assert "_study" not in repr(result)


def test_a_report_into_nowhere_is_an_error_that_helps(tmp_path):
    result = study_of("five").result()
    with pytest.raises(InputError, match="folder that exists"):
        result.report(tmp_path / "no" / "such.html")


@pytest.mark.parametrize("kind", ["stopped", "noisy", "maximised"])
def test_promises_are_added_up_in_the_order_told(kind):
    study = study_of(kind)
    picture = promises_picture(Facts(study))
    told, promises = [o.number for o in study.history], study.promises.told
    assert [row[1] for row in picture.rows] == [
        n for n in told if n in {p.trial for p in promises}
    ]
    assert picture.rows[-1][4] == pytest.approx(promises.promised)
    assert picture.rows[-1][5] == pytest.approx(promises.delivered)
    assert (
        f"{number(promises.promised)} in all, and {number(promises.delivered)} came"
        in picture.words
    )
    assert ("posterior mean" in picture.words) == (kind == "noisy")
    assert 'id="numbers-promises"' in page_of(kind)


def test_where_nothing_was_promised_there_is_no_such_picture():
    study = study_of("all_failed")
    assert promises_picture(Facts(study)).svg is None
    assert "Gains promised" not in page_of("all_failed")


def test_the_page_brings_bounds_to_mind_once():
    assert page_of("stopped").count("bounds=(0, None) says so") == 1
    assert "says so" not in page_of("maximised")


def test_plots_show_the_same_pictures(tmp_path):
    result = study_of("stopped").result()
    facts = Facts(study_of("stopped"))
    assert best_picture(facts).svg in result.plot_best()._repr_html_()
    assert signal_picture(facts).svg in result.plot_signal()._repr_svg_()
    assert value_picture(facts).words in str(result.plot_value())
    assert costs_picture(facts).svg in result.plot_costs()._repr_html_()
    assert promises_picture(facts).svg in result.plot_promises()._repr_html_()
    slices_plot = result.plot_slices()
    assert slices_plot._repr_html_().count("<svg ") == 3
    saved = slices_plot.save(tmp_path / "slices.svg")
    ET.fromstring(saved.read_text("utf-8"))  # noqa: S314  our own
    assert result.plot_best().save(tmp_path / "best.html").read_text("utf-8").count("<svg ") == 1


def test_a_plot_that_cannot_be_saved_says_why(tmp_path):
    with pytest.raises(InputError, match=r"\.svg, \.png, \.pdf or \.html"):
        study_of("stopped").result().plot_best().save(tmp_path / "best.gif")
    with pytest.raises(InputError, match="nothing to draw yet"):
        study_of("all_failed").result().plot_slices().save(tmp_path / "slices.svg")


def test_the_command_reports_on_a_journal_what_the_study_says_itself(tmp_path):
    said = []
    journal = tmp_path / "run.jsonl"
    space = {"x": sw.Real(0, 1), "n": sw.Integer(1, 5)}
    result = sw.minimize(
        lambda p: (p["x"] - 0.3) ** 2 + 0.01 * p["n"],
        space,
        lam=1e-3,
        journal=journal,
    )
    path = report.cli_report(journal, say=said.append)
    assert path == tmp_path / "run.html"
    assert path.read_text("utf-8") == report.page(result._study)
    assert said == [f"report written to {path}"]
    other = report.cli_report(journal, tmp_path / "other.html")
    assert other.read_text("utf-8") == path.read_text("utf-8")


def test_a_single_signal_is_shown_against_a_line():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=10.0)
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, trial.params["x"])
    assert len(study.traces["sup_log_ei_per_cost"]) == 1
    picture = study.result().plot_signal()._repr_html_()
    [[left, right]] = re.findall(r'class="sw-line t" d="M([\d.]+),[\d.]+L([\d.]+),', picture)
    assert float(right) - float(left) > 100


def test_a_parameter_that_is_inactive_in_the_best_configuration_is_not_drawn():
    space = {
        "kind": sw.Categorical(["svm", "tree"]),
        "C": sw.Real(0.1, 10.0, when={"kind": ["svm"]}),
        "depth": sw.Integer(1, 9, when={"kind": ["tree"]}),
    }
    study = sw.Study(space, lam=0.01, surrogate="plain", n_initial=4)
    for C, value in ((1.0, 0.3), (3.0, 0.1)):
        study.tell({"kind": "svm", "C": C}, value)
    for depth, value in ((2, 0.9), (6, 0.7)):
        study.tell({"kind": "tree", "depth": depth}, value)
    assert [one.name for one in slices(Facts(study))] == ["kind", "C"]


def test_a_study_that_failures_ended_says_so():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, surrogate="plain", n_initial=2)
    study.tell({"x": 0.2}, 1.0)
    study.tell({"x": 0.4}, 2.0)
    for i in range(10):
        study.tell({"x": 0.5 + i / 50}, None, message="out of <memory>")
    text = page(study)
    assert "Why it stopped: </strong>The last 10 evaluations failed, the latest with" in text
    assert "out of &lt;memory&gt;" in text
    assert "The last word was with failures." in text


def test_a_page_is_computed_by_one_blas_thread(monkeypatch):
    used = []
    monkeypatch.setattr(_page, "Facts", lambda study: used.append(blas_threads()) or Facts(study))
    before = blas_threads()
    page(study_of("five"))
    assert used == [{1}]
    assert blas_threads() == before


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
