# SPDX-License-Identifier: Apache-2.0
"""Asking and telling from anywhere: new, ask, tell, verdict and drop."""

import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import time
from unittest import mock

import pytest

import stopwise as sw
from stopwise.record.journal import look_at
from stopwise.tools.cli._output import complain
from tests.support.commands import stopwise
from tests.support.pages import blocks_of
from tests.support.repository import ROOT

SPACE = """
[parameters]
x = { type = "real", low = 0, high = 1 }
kind = { type = "categorical", choices = ["a", "b"] }
"""

UNCHARGED = ", not charged (--charge counts it as spent)"


@pytest.fixture
def begin(tmp_path):
    def begun(toml="", *options):
        (tmp_path / "space.toml").write_text(toml + SPACE)
        journal = tmp_path / "study.jsonl"
        done = stopwise("new", journal, "--space", tmp_path / "space.toml", *options)
        assert done.code == 0, done.err
        return journal

    return begun


def loss(params):
    return (params["x"] - 0.3) ** 2 + 0.1 * (params["kind"] == "b")


# ------------------------------------------------------------------------------- one caller


def test_a_study_by_commands_is_the_study_in_one_process(begin):
    journal = begin("", "--lam", "0.01", "--seed", "3")
    study = sw.Study(
        {"x": sw.Real(0, 1), "kind": sw.Categorical(["a", "b"])},
        lam=0.01,
        cost="seconds",
        seed=3,
    )
    while (answer := stopwise("verdict", journal)).code == 0:
        assert study.should_stop().reason in answer.out
        asked, trial = stopwise("ask", journal, "--json").json, study.ask()
        assert (asked["number"], asked["params"]) == (trial.number, trial.params)
        assert asked["expected_cost"] == trial.expected_cost
        value, cost = loss(trial.params), 1 + trial.params["x"]
        told = stopwise("tell", journal, trial.number, repr(value), "--cost", repr(cost))
        seconds = study.options.units.cost(cost)
        assert told.out == f"trial {trial.number} gave {value:.4g}, at a cost of {seconds}\n"
        study.tell(trial, value, cost)
    assert answer.code == 3
    said, best, *rests = answer.out.splitlines()
    assert said == f"{study.should_stop().rule}: {study.should_stop().reason}."
    x, kind = study.best.params.values()
    found = f"{study.best.value:.4g}, with x = {x!r}, kind = {kind}"  # as it is to be typed again
    assert best == f"The best so far is trial {study.best.number}: {found}."
    assert rests == [line for line in study.explain().splitlines() if line.startswith("No choice")]
    assert sw.Study.load(journal).history == study.history
    assert sw.Study.load(journal).traces == study.traces


def test_the_file_and_the_options_say_what_the_study_is(begin):
    toml = 'command = ["train"]\nworkers = 3\nbudget = 7\n[value]\ndirection = "minimize"\n'
    toml += '[search]\nseed = 5\nnoise = "learn"\n[cost]\nkind = "none"\n[worth]\nlam = 1\n'
    journal = begin(toml, "--lam", "0.5", "--budget", "9", "--max-trials", "4", "--maximize")
    options = sw.Study.load(journal).options
    assert (options.lam, options.budget, options.max_trials) == (0.5, 9.0, 4)
    assert (options.direction, options.seed, options.noise) == ("maximize", 5, "learn")
    assert options.cost is None


def test_a_value_of_which_more_is_better_is_asked_about(tmp_path):
    (tmp_path / "space.toml").write_text(SPACE)
    new = ("new", tmp_path / "s", "--space", tmp_path / "space.toml", "--lam", "1")
    done = stopwise(*new, "--value-name", "accuracy")
    assert done.code == 2
    assert "more is mostly better: say --maximize, or direction = " in done.err
    assert stopwise(*new, "--value-name", "accuracy", "--maximize").code == 0


@pytest.mark.parametrize("key", ["name", "key"])
def test_maximize_answers_what_a_file_leaves_open(tmp_path, key):
    (tmp_path / "space.toml").write_text(f'{SPACE}[value]\n{key} = "accuracy"\n')
    new = ("new", tmp_path / "s", "--space", tmp_path / "space.toml", "--lam", "1")
    done = stopwise(*new)
    assert done.code == 2
    assert "space.toml, line 6: the value is called 'accuracy'" in done.err
    assert 'say --maximize, or direction = "minimize" in [value] if less is better' in done.err
    assert stopwise(*new, "--maximize").code == 0
    assert sw.Study.load(tmp_path / "s").direction == "maximize"


def test_another_name_on_the_command_line_is_what_is_asked_about(tmp_path):
    (tmp_path / "space.toml").write_text(f'{SPACE}[value]\nkey = "accuracy"\n')
    new = ("new", tmp_path / "s", "--space", tmp_path / "space.toml", "--lam", "1")
    assert stopwise(*new, "--value-name", "misread %").code == 0
    assert sw.Study.load(tmp_path / "s").direction == "minimize"


def test_keys_of_a_program_are_named_as_unused(tmp_path):
    (tmp_path / "space.toml").write_text(f'command = ["train"]\nworkers = 2\n{SPACE}')
    done = stopwise("new", tmp_path / "s", "--space", tmp_path / "space.toml", "--lam", "1")
    assert "Not used here, since no program is run: command, workers." in done.out


def test_what_begins_with_a_dash_may_be_a_value(begin):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal, "-n", "4")
    tell = ("tell", journal, "--cost", "1")
    assert stopwise(*tell, 0, "--", "-.5").out.startswith("trial 0 gave -0.5")
    assert stopwise(*tell, 1, "-2e3").out.startswith("trial 1 gave -2000")
    assert "failed (--oom)" in stopwise(*tell, 2, "--failed", "--oom").out
    assert "failed (-9)" in stopwise(*tell, 3, "--failed=-9").out
    assert "gave -3" in stopwise("amend", journal, 0, "--value", "-3").out


def test_several_are_handed_out_at_once_as_a_list_or_a_line_each(begin):
    journal = begin("", "--lam", "0.01")
    three = stopwise("ask", journal, "-n", "3", "--json").json
    assert [trial["number"] for trial in three] == [0, 1, 2]
    assert len({json.dumps(trial["params"]) for trial in three}) == 3
    assert re.fullmatch(r"trial 3: x = [\d.]+, kind = [ab]\n", stopwise("ask", journal).out)
    assert len(stopwise("verdict", journal, "--json").json["pending"]) == 4


def test_negative_values_failures_outcomes_and_data_from_elsewhere(begin):
    journal = begin("", "--lam", "0.01")
    with (journal.parent / "space.toml").open("a") as file:
        file.write("[limits]\nharm = [-inf, 3.0]\n")
    journal.unlink()
    assert stopwise("new", journal, "--space", journal.parent / "space.toml", "--lam", 1).code == 0
    stopwise("ask", journal, "-n", "2")
    assert stopwise("tell", journal, 0, "-1.5", "--outcome", "harm=3.2", "--cost", 2).code == 0
    assert stopwise("tell", journal, 1, "--failed", "no power", "--cost", 1).code == 0
    params = json.dumps({"x": 0.5, "kind": "a"})
    elsewhere = ("new", "1e-3", "--params", params, "--outcome", "harm=-1", "--cost", 4)
    assert stopwise("tell", journal, *elsewhere).out == (
        f"trial 2 gave 0.001, at a cost of 4 s{UNCHARGED}\n"
    )
    first, second, third = sw.Study.load(journal).history
    assert (first.value, first.infeasible, first.outcomes) == (-1.5, True, {"harm": 3.2})
    best = stopwise("verdict", journal, "--json").json["best"]
    assert (best["outcomes"], best["worth"]) == ({"harm": -1.0}, None)
    assert (second.failed, second.message, second.cost) == (True, "no power", 1.0)
    assert (third.params, third.charged) == ({"x": 0.5, "kind": "a"}, False)


def test_a_stage_is_told_with_its_step(tmp_path):
    journal = tmp_path / "run.jsonl"
    with sw.Study({"x": sw.Real(0, 1)}, lam=0.01, stages=sw.Stages([1, 9]), journal=journal) as s:
        s.next()
    refused = stopwise("tell", journal, 0, 0.7)
    assert refused.code == 2
    assert "handed out to step 1 of 9" in refused.err
    assert "--step 1, or --step 9" in refused.err
    assert sw.Study.load(journal).curves == {}
    told = stopwise("tell", journal, 0, 0.7, "--step", 1)
    assert told.out.startswith("trial 0 gave 0.7 at step 1, at a cost of 0.1111 so far")
    told = stopwise("tell", journal, 0, 0.5, "--step", 9)
    assert told.out.startswith("trial 0 gave 0.5, at a cost of 1")
    assert [r.step for r in sw.Study.load(journal).curves[0]] == [1, 9]


def test_data_off_a_table_are_told_by_an_option(tmp_path):
    journal = tmp_path / "table.jsonl"
    rows = [{"x": x} for x in (0.0, 1.0, 2.0)]
    sw.Study(sw.Candidates(rows), lam=1.0, journal=journal).close()
    elsewhere = ("tell", journal, "new", "0.31", "--params", '{"x": 1.5}')
    refused = stopwise(*elsewhere)
    assert refused.code == 2
    assert "off_table=True" in refused.err
    assert "stopwise tell --off-table" in refused.err
    told = stopwise(*elsewhere, "--off-table")
    assert (told.code, told.out) == (0, f"trial 0 gave 0.31, at a cost of 1{UNCHARGED}\n")
    assert "off_table is now True; it was False" in told.err
    assert stopwise("tell", journal, "new", "0.4", "--params", '{"x": 0.5}').code == 0
    assert stopwise("verdict", journal).out.endswith("is trial 0: 0.31, with x = 1.5.\n")


def test_the_verdict_has_everything(begin):
    journal = begin("", "--lam", "0.01", "--max-trials", "1")
    stopwise("ask", journal)
    stopwise("tell", journal, 0, "0.25", "--cost", "2")
    answer = stopwise("verdict", journal, "--json")
    found = answer.json
    assert answer.code == 3
    assert (found["stop"], found["rule"], found["value"], found["threshold"]) == (
        *(True, "max-trials"),
        *(1.0, 1.0),
    )
    assert found["reason"] == "1 of at most 1 trials: stop"
    assert (found["told"], found["spent"], found["lam"], found["pending"]) == (1, 2.0, 0.01, [])
    assert (found["best"]["number"], found["best"]["value"]) == (0, 0.25)
    assert found["explanation"][0].startswith("max-trials: 1 of at most 1")
    assert found["remaining"] is None  # the initial design is not done


def test_the_verdict_as_json_names_what_it_is_about(begin):
    journal = begin('[search]\nsurrogate = "plain"\nn_initial = 3\n', "--lam", "0.5")
    for _ in range(3):
        trial = stopwise("ask", journal, "--json").json
        stopwise("tell", journal, trial["number"], repr(loss(trial["params"])), "--cost", "2")
    found = stopwise("verdict", journal, "--json").json
    left = found["remaining"]
    assert set(left["params"]) == {"x", "kind"}
    assert (left["repeats"], left["chance"], left["affordable"]) == (None, 1.0, True)
    assert left["lam"] == pytest.approx(left["expected_gain"] / left["expected_cost"])
    assert f"expected to gain {left['expected_gain']:.4g}" in found["reason"]
    assert found["value"] == pytest.approx(math.log(left["lam"]))
    study = sw.Study.load(journal)
    assert left["params"] == study.remaining().params
    assert f"x = {left['params']['x']:.4g}, kind = {left['params']['kind']}" in study.explain()


def test_the_verdict_says_when_there_is_no_best_one(begin):
    journal = begin("", "--lam", "0.5")
    assert stopwise("verdict", journal).out.endswith("\nNothing has been told yet.\n")
    stopwise("ask", journal)
    stopwise("tell", journal, 0, "--failed", "no power", "--cost", "2")
    last = stopwise("verdict", journal).out.splitlines()[-1]
    assert last == "No best one yet: all 1 failed."


def test_with_a_budget_alone_the_verdict_says_what_it_is_worth(begin):
    toml = 'budget = 9\n[cost]\nkind = "none"\n[search]\nsurrogate = "plain"\nn_initial = 3\n'
    journal = begin(toml)
    for _ in range(5):
        trial = stopwise("ask", journal, "--json").json
        stopwise("tell", journal, trial["number"], repr(loss(trial["params"])))
    first, second, third = stopwise("verdict", journal).out.splitlines()
    assert third.startswith("The best so far is trial ")
    assert first.startswith("budget: 4 of 9 are left, and at the lam of ")
    assert first.endswith(" the next evaluation is worth its price: go on.")
    assert second.startswith("The budget has set lam = ")
    found = stopwise("verdict", journal, "--json").json
    assert found["by_budget"]["lam0"] >= found["by_budget"]["lam"] > 0
    assert second.endswith(f" At this price {found['by_budget']['reason']}.")
    assert len(found["lam_ladder"]["rungs"]) == 7


def test_ask_unless_stopped_ends_with_the_verdict(begin):
    journal = begin("", "--lam", "0.01", "--max-trials", "3")
    done = stopwise("ask", journal, "-n", "5", "--unless-stopped", "--json")
    assert (done.code, len(done.json)) == (0, 3)
    assert "3 of at most 3 trials" in done.err
    size = journal.stat().st_size
    done = stopwise("ask", journal, "--unless-stopped", "--json")
    assert (done.code, done.out) == (3, "")
    assert "3 of at most 3 trials" in done.err
    assert journal.stat().st_size == size
    done = stopwise("ask", journal)  # a hard cap holds, whether the verdict is asked or not
    assert (done.code, done.out) == (3, "")
    assert journal.stat().st_size == size


def test_when_nothing_is_left_ask_says_so(tmp_path):
    toml = '[cost]\nkind = "none"\n[parameters]\nx = { type = "integer", low = 0, high = 1 }\n'
    (tmp_path / "space.toml").write_text(toml)
    journal = tmp_path / "study.jsonl"
    stopwise("new", journal, "--space", tmp_path / "space.toml", "--lam", "0.1")
    assert len(stopwise("ask", journal, "-n", "3", "--json").json) == 2
    for number in (0, 1):
        stopwise("tell", journal, number, number)
    done = stopwise("ask", journal)
    assert (done.code, done.out) == (3, "")
    assert "nothing left to ask" in done.err


def test_a_trial_that_nobody_will_tell_is_given_up(begin):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal)
    assert stopwise("drop", journal, 0).out == "trial 0 is given up\n"
    assert stopwise("verdict", journal, "--json").json["pending"] == []
    assert "trial 0 was given up already; pending are none" in stopwise("drop", journal, 0).err
    for late in (("tell", journal, 0, 0.5, "--cost", 1), ("amend", journal, 0, "--value", 0.5)):
        refused = stopwise(*late)
        assert refused.code == 2
        assert "trial 0 was given up: nothing was told of it" in refused.err
        assert "stopwise tell JOURNAL new VALUE --params JSON --charge" in refused.err


def test_what_was_asked_and_not_told_is_listed_and_handed_out_again(begin):
    journal = begin("", "--lam", "0.01")
    none = stopwise("ask", journal, "--pending")
    assert (none.code, none.out) == (3, "")
    assert "no trial is pending" in none.err
    asked = stopwise("ask", journal, "-n", "3", "--json").json
    said = stopwise("verdict", journal).out.splitlines()
    x, kind = asked[0]["params"].values()
    assert said[2:4] == ["Asked for and not told (3):", f"  trial 0: x = {x!r}, kind = {kind}"]
    assert f"stopwise ask {journal} --pending hands out trial 0 again" in said[-1]
    assert f"stopwise drop {journal} 0 gives it up" in said[-1]
    before = journal.read_bytes()
    for _ in range(2):
        assert stopwise("ask", journal, "--pending", "--json").json == asked[0]
    assert stopwise("ask", journal, "--pending", "-n", "9", "--json").json == asked
    assert journal.read_bytes() == before  # nothing was asked anew
    stopwise("tell", journal, 0, "0.3", "--cost", "1")
    assert stopwise("ask", journal, "--pending").out.startswith("trial 1: ")
    stopwise("drop", journal, 1)
    assert stopwise("ask", journal, "--pending").out.startswith("trial 2: ")
    stopwise("tell", journal, 2, "0.3", "--cost", "1")
    assert stopwise("ask", journal, "--pending").code == 3
    assert "not told" not in stopwise("verdict", journal).out


@pytest.mark.parametrize("other", [("--unless-stopped",), ("--fixed", "kind=a")])
def test_pending_trials_are_handed_out_as_they_are(begin, other):
    done = stopwise("ask", begin("", "--lam", "0.01"), "--pending", *other)
    assert done.code == 2
    assert f"leave {other[0]} out" in done.err


def test_of_many_pending_trials_the_first_are_listed(begin):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal, "-n", "13")
    said = stopwise("verdict", journal).out
    assert "Asked for and not told (13):" in said
    assert said.count("  trial ") == 10
    assert "  and 3 more (--json has all)" in said


def test_a_value_beyond_the_bounds_is_refused_in_words_of_the_shell(begin):
    journal = begin("", "--lam", "0.01")
    text = (journal.parent / "space.toml").read_text()
    (journal.parent / "space.toml").write_text(f"{text}[value]\nbounds = [0, 1]\n")
    journal.unlink()
    new = ("new", journal, "--space", journal.parent / "space.toml", "--lam", 1)
    assert stopwise(*new).code == 0
    stopwise("ask", journal)
    done = stopwise("tell", journal, 0, "1.5", "--cost", "1")
    assert done.code == 2
    assert "tell it by --failed REASON" in done.err
    assert "None" not in done.err


def test_numbers_in_no_order_are_asked_about(tmp_path):
    toml = '[parameters]\nb = { type = "ordinal", values = [64, 16, 32] }\n'
    (tmp_path / "space.toml").write_text(toml)
    done = stopwise("new", tmp_path / "s", "--space", tmp_path / "space.toml", "--lam", "1")
    assert done.code == 0
    assert done.err.startswith("stopwise: the numbers of 'b' are in no order, ")
    assert stopwise("ask", tmp_path / "s").err == ""


def test_a_configuration_told_again_by_its_params_is_asked_about(begin):
    journal = begin("", "--lam", "0.01")
    params = json.dumps(stopwise("ask", journal, "--json").json["params"])
    new = ("tell", journal, "new", "--params", params, "--cost", "2")
    assert stopwise(*new, "0.5").out == ("trial 0 gave 0.5, at a cost of 2 s\n")
    assert stopwise(*new, "0.5").out == "This was told before: nothing has changed.\n"
    refused = stopwise(*new, "0.7")
    assert refused.code == 2
    assert "these are the params of trial 0, which was told already" in refused.err
    assert "stopwise amend JOURNAL 0 --value" in refused.err
    assert stopwise(*new, "0.7", "--charge").out == "trial 1 gave 0.7, at a cost of 2 s\n"
    assert stopwise(*new, "0.8", "--no-charge").out == (
        f"trial 2 gave 0.8, at a cost of 2 s{UNCHARGED}\n"
    )
    assert sw.Study.load(journal).spent == 4.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tell", "JOURNAL", "4", "1"), "trial 4 was not asked of this study; pending are [0]"),
        (
            ("tell", "JOURNAL", "0", "1", "--cots", "3"),
            "--cots is no option of stopwise tell (did you mean '--cost'?); it has --cost, --fail",
        ),
        (("tell", "JOURNAL", "0", "-1", "-c=3"), "-c is no option of stopwise tell; it has --c"),
        (
            ("amend", "JOURNAL", "0", "--valeu=-3"),
            "--valeu is no option of stopwise amend (did you mean '--value'?)",
        ),
        (("tell", "JOURNAL", "0"), "give a value or --failed REASON, one of the two"),
        (("tell", "JOURNAL", "0", "1", "--failed", "x"), "given were '1' and --failed"),
        (("tell", "JOURNAL", "0", "one"), "the value must be a number, not 'one'"),
        (("tell", "JOURNAL", "zero", "1"), "a whole number, as `ask` gave it, not 'zero'"),
        (("tell", "JOURNAL", "0", "1"), "so tell it with --cost"),
        (("tell", "JOURNAL", "0", "1", "--outcome", "harm"), "toxicity=3.2"),
        (
            ("tell", "JOURNAL", "0", "1", "--cost", "1", "--outcome", "a=7", "--outcome", "a=.1"),
            "--outcome a is given more than once (a=7, a=.1)",
        ),
        (("tell", "JOURNAL", "0", "1", "--params", "{}"), "--params goes with `new`"),
        (("tell", "JOURNAL", "new", "1"), "--params goes with `new`"),
        (("tell", "JOURNAL", "new", "1", "--params", "{"), "is not JSON"),
        (("tell", "JOURNAL", "new", "1", "--params", "[1]"), "give a JSON object"),
        (("tell", "JOURNAL", "0", "1", "more"), "unexpected extra argument"),
        (("ask", "JOURNAL", "-n", "0"), "Invalid value for '-n'"),
        (("new", "other", "--space", "SPACE"), "needs to know what an improvement is worth"),
        (("new", "other", "--space", "SPACE", "--lam", "-1"), "lam"),
        (("tell", "JOURNAL", "new", "1", "--params", "[" * 99_999), "nested too deeply"),
        (("ask", "JOURNAL", "--fixed", f"x={'[' * 99_999}"), "parameter 'x'"),
        (("ask", "JOURNAL", "-n", "99999999"), "1000"),
    ],
)
def test_bad_input_is_exit_code_2_and_changes_nothing(begin, arguments, words):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal)
    before = journal.read_bytes()
    places = {"JOURNAL": journal, "SPACE": journal.parent / "space.toml"}
    done = stopwise(*(places.get(word, word) for word in arguments))
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.split())
    assert journal.read_bytes() == before


def test_a_journal_that_exists_already_is_exit_code_1(begin):
    journal = begin("", "--lam", "0.01")
    done = stopwise("new", journal, "--space", journal.parent / "space.toml", "--lam", "1")
    assert (done.code, "exists already" in done.err) == (1, True)
    assert "Study.resume" not in done.err


@pytest.mark.parametrize("command", ["ask", "verdict", "report", "audit"])
def test_a_journal_that_does_not_exist_is_exit_code_2(command, tmp_path):
    done = stopwise(command, tmp_path / "nowhere.jsonl")
    assert (done.code, "there is no " in done.err) == (2, True)


# ---------------------------------------------------------------------------- several callers


def test_a_caller_waits_for_its_turn(begin):
    journal = begin("", "--lam", "0.01")
    study = sw.Study.resume(journal, again=False)
    done = stopwise("ask", journal, "--wait", "0.05")
    assert (done.code, "being written by another process" in done.err) == (1, True)

    def complained(text):
        complain(text)
        study.close()  # the other process ends once it is mentioned, however busy the machine is

    with (
        mock.patch("stopwise.tools.cli._studies._SILENT", 0.01),
        mock.patch("stopwise.tools.cli._studies.complain", complained),
    ):
        done = stopwise("ask", journal)
    assert (done.code, "which another process is using" in done.err) == (0, True)


def test_notes_of_a_resume_go_to_stderr(begin):
    journal = begin("", "--lam", "0.01")
    with journal.open("ab") as file:
        file.write(b'{"event": "as')
    done = stopwise("ask", journal, "--json")
    assert (done.code, done.json["number"]) == (0, 0)
    assert "the last line of study.jsonl was cut short" in done.err


def worker(journal, rounds, start):
    """One process that asks and tells, as a script would; a round may hand out two."""
    start.wait()
    for turn in range(rounds):
        two = ("-n", "2") if turn % 2 else ()
        asked = stopwise("ask", journal, "--json", *two).json
        for trial in asked if two else [asked]:
            value = repr(loss(trial["params"]))
            told = stopwise("tell", journal, trial["number"], value, "--cost", os.getpid())
            assert told.code == 0, told.err
        assert stopwise("verdict", journal).code in (0, 3)
    os._exit(0)  # a fork of the test's process ends here


def test_racing_processes_get_different_trials_and_lose_nothing(begin):
    processes, rounds = 8, 2
    toml = '[search]\nsurrogate = "plain"\nn_initial = 20\n'  # the last four are chosen
    journal = begin(toml, "--lam", "1e-9", "--seed", "1")
    context = multiprocessing.get_context("fork")
    start = context.Event()
    workers = [
        context.Process(target=worker, args=(journal, rounds, start)) for _ in range(processes)
    ]
    for each in workers:
        each.start()
    start.set()
    for each in workers:
        each.join(120)
    assert [each.exitcode for each in workers] == [0] * processes
    lines = look_at(journal).lines
    asked = [line["trial"] for line in lines if line.get("event") == "ask"]
    told = {line["trial"]: line for line in lines if line.get("event") == "tell"}
    assert asked == list(range(3 * processes))
    assert sorted(told) == asked
    assert all(line["value"] == loss(line["params"]) for line in told.values())
    by = {each.pid: 0 for each in workers}
    for line in told.values():
        by[int(line["cost"])] += 1
    assert set(by.values()) == {3}
    assert not any(line.get("event") in ("resume", "ask again") for line in lines)
    study = sw.Study.load(journal)
    assert len({json.dumps(dict(o.params)) for o in study.history}) == len(asked)
    # Replay equals live: a study that goes through the same events is in the same state.
    assert sw.Study.resume(journal, again=False).pending == ()


def test_options_changed_by_one_of_several_leave_pending_trials_alone(begin):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal)
    with pytest.warns(UserWarning, match="lam is now"):
        sw.Study.resume(journal, again=False, lam=0.5).close()
    assert look_at(journal).lines[-1]["again"] is False
    assert stopwise("ask", journal, "--json").json["number"] == 1
    assert stopwise("verdict", journal, "--json").json["lam"] == 0.5


# ------------------------------------------------------------------------------- the page


def test_the_loop_of_the_page_runs(tmp_path):
    page = ROOT / "docs" / "how-to" / "shell.md"
    [loop], [toml] = blocks_of(page, "bash"), blocks_of(page, "toml")
    assert len(loop.splitlines()) <= 15
    (tmp_path / "space.toml").write_text(f"max_trials = 2\n{toml}")
    program = (
        f"#!{sys.executable}\nimport json, sys\ntrial = json.load(sys.stdin)\n"
        "if trial['number'] == 1: sys.exit(7)\nprint(trial['params']['lr'])\n"
    )
    shim = f'#!/bin/sh\nexec "{sys.executable}" -m stopwise.tools.cli "$@"\n'
    for name, text in (("evaluate", program), ("stopwise", shim), ("loop.sh", loop)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    began = time.time()
    new = ("new", tmp_path / "study.jsonl", "--space", tmp_path / "space.toml")
    assert stopwise(*new).code == 0
    stopwise("ask", tmp_path / "study.jsonl")  # by a loop that was killed
    done = subprocess.run(
        ["bash", "loop.sh"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 3, done.stdout + done.stderr  # the verdict's
    assert "max-trials: 2 of at most 2 trials: stop." in done.stdout
    first, second = sw.Study.load(tmp_path / "study.jsonl").history
    assert first.value == first.params["lr"]
    assert 1 <= first.cost <= time.time() - began + 1
    assert (second.failed, second.message) == (True, "exit code 7")


# ----------------------------------------------------------------------------- corrections


def test_a_wrong_report_is_amended(begin):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal, "-n", "2")
    stopwise("tell", journal, 0, "31", "--cost", "5")
    done = stopwise("tell", journal, 0, "0.31", "--cost", "5")
    assert (done.code, "stopwise amend JOURNAL 0 --value ..." in done.err) == (2, True)
    assert "study.amend" not in done.err
    done = stopwise("amend", journal, 0, "--value", "-0.31")
    assert done.out == "amended: trial 0 gave -0.31, at a cost of 5 s\n"
    done = stopwise("amend", journal, 0, "--failed", "wrong flask", "--cost", "7")
    assert done.out == "amended: trial 0 failed (wrong flask), at a cost of 7 s\n"
    [told] = sw.Study.load(journal).history
    assert (told.message, told.cost) == ("wrong flask", 7.0)


def test_an_outcome_that_was_not_measured_is_told_as_a_failure(begin):
    journal = begin("[limits]\nharm = [-inf, 3.0]\n", "--lam", "0.01")
    stopwise("ask", journal)
    done = stopwise("tell", journal, 0, "31", "--cost", "5", "--outcome", "harm=nan")
    assert (done.code, "the evaluation has failed: tell --failed REASON" in done.err) == (2, True)
    assert "None" not in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nothing is amended"),
        (("--value", "1", "--failed", "x"), "not both"),
        (("--outcome", "harm"), "toxicity=3.2"),
        (("--outcome", "harm=1", "--outcome", "harm=1"), "is given more than once"),
    ],
)
def test_what_cannot_be_amended_is_exit_code_2(begin, options, words):
    journal = begin("", "--lam", "0.01")
    stopwise("ask", journal)
    stopwise("tell", journal, 0, "31", "--cost", "5")
    done = stopwise("amend", journal, 0, *options)
    assert (done.code, words in done.err) == (2, True)


# ------------------------------------------------------------------------------- fixed


def test_parameters_can_be_held(begin):
    journal = begin("", "--lam", "0.01")
    asked = stopwise("ask", journal, "--fixed", "kind=b", "--fixed", "x=0.25", "--json")
    assert asked.json["params"] == {"x": 0.25, "kind": "b"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("kind", "give a name and a value: act=relu"),
        ("kind=c", "parameter 'kind'"),
        ("z=1", "'z'"),
    ],
)
def test_what_cannot_be_held_is_bad_input(begin, given, message):
    asked = stopwise("ask", begin("", "--lam", "0.01"), "--fixed", given)
    assert asked.code == 2
    assert message in asked.err


CHOICES = """
[parameters]
catalyst = { type = "categorical", choices = [true, false] }
word = { type = "categorical", choices = ["True", "1", "none"] }
size = { type = "ordinal", values = [1, 2.5, 4] }
"""


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("catalyst=true", True),
        ("catalyst=True", True),
        ("catalyst=False", False),
        ("word=True", "True"),
        ("word=1", "1"),
        ('word="1"', "1"),
        ("size=1", 1),
        ("size=1.0", 1),
        ("size=2.5", 2.5),
    ],
)
def test_a_choice_is_held_however_it_is_written(tmp_path, given, value):
    (tmp_path / "space.toml").write_text(CHOICES)
    journal = tmp_path / "s"
    new = ("new", journal, "--space", tmp_path / "space.toml", "--lam", "1")
    assert stopwise(*new).code == 0
    asked = stopwise("ask", journal, "--fixed", given, "--json").json
    held = asked["params"][given.partition("=")[0]]
    assert (held, type(held)) == (value, type(value))


def test_choices_are_shown_as_the_shell_writes_them(tmp_path):
    (tmp_path / "space.toml").write_text(CHOICES)
    journal = tmp_path / "s"
    stopwise("new", journal, "--space", tmp_path / "space.toml", "--lam", "1")
    refused = stopwise("ask", journal, "--fixed", "catalyst=yes")
    assert refused.code == 2
    assert "'catalyst' is \"yes\", which is not one of its choices; allowed: true, false" in (
        refused.err
    )
    with pytest.raises(sw.errors.InputError, match=r"is 'yes', .* allowed: True, False"):
        sw.Study.load(journal).domain.encode({"catalyst": "yes", "word": "1", "size": 1})


def test_a_verdict_to_stop_names_the_choices_that_were_never_tried(begin):
    journal = begin("", "--lam", "1000", "--value-name", "loss")
    for x in (0.2, 0.5, 0.8, 0.1, 0.6, 0.9):
        told = ("new", str(x), "--params", json.dumps({"x": x, "kind": "a"}), "--cost", "1")
        assert stopwise("tell", journal, *told).code == 0
    done = stopwise("verdict", journal)
    assert done.code == 3
    rests, untried = done.out.splitlines()[-2:]
    assert rests.startswith("No choice of the model was tried yet: this verdict rests on 6 eval")
    assert untried == "Never tried: kind b."
