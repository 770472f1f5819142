# SPDX-License-Identifier: Apache-2.0
"""What a file may say, and how a wrong one is refused."""

import re

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner import check_program, description, load, new_study
from tests.support.pages import blocks_of
from tests.support.repository import ROOT

GOOD = """\
command = ["true"]
workers = 2
[parameters.lr]
type = "real"
low = 1e-4
high = 1e-1
log = true
[parameters]
act = { type = "categorical", choices = ["relu", "tanh"] }
[worth]
improvement = 0.01
cost = 5.0
"""


def test_a_file_is_read(loaded, tmp_path):
    config = loaded(GOOD)
    assert config.space == {
        "lr": sw.Real(1e-4, 1e-1, log=True),
        "act": sw.Categorical(["relu", "tanh"]),
    }
    assert config.lam == pytest.approx(0.002)
    assert config.journal == tmp_path / "tune.jsonl"
    assert (config.value.key, config.value.file, config.cost.kind) == ("value", None, "seconds")
    assert (config.workers, config.timeout, config.channel) == (2, None, "arguments")


def test_every_key_of_the_page_is_understood_and_every_understood_key_is_on_the_page(loaded):
    """The keys of the tables of docs/how-to/run.md are those that an error lists as allowed."""
    page = (
        (ROOT / "docs" / "how-to" / "run.md").read_text("utf-8").partition("## How parameters")[0]
    )
    page = page.partition("## Every key")[2]
    parts = re.split(r"^`\[(\w+)", page, flags=re.MULTILINE)
    top, tables = parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))

    def keys(text):
        rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
        return {key for row in rows for key in re.findall(r"`(\w+)`", row)}

    def allowed(text):
        with pytest.raises(InputError, match="unknown key 'bogus'") as caught:
            loaded(text)
        return set(re.search(r"Allowed here: (.*)\.$", str(caught.value))[1].split(", "))

    assert keys(top) | set(tables) == allowed("bogus = 1\n" + GOOD)
    for name in ("value", "cost", "failures", "search"):
        assert keys(tables[name]) == allowed(f"{GOOD}[{name}]\nbogus = 1\n")
    assert keys(tables["worth"]) == allowed(GOOD + "bogus = 1\n")
    assert keys(tables["parameters"]) - {"choices", "values", "by"} == allowed(
        GOOD.replace("log = true", "bogus = 1")
    )


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (GOOD.replace("improvement", "improvment"), 11, "did you mean 'improvement'"),
        (GOOD.replace("workers", "wrokers"), 2, "did you mean 'workers'"),
        (GOOD.replace("workers = 2", "workers = 0"), 2, "whole number of at least 1, not 0"),
        (GOOD.replace("workers = 2", "workers = true"), 2, "not true"),
        (GOOD.replace("workers = 2", 'timeout = "1 h"'), 2, 'must be a number, not "1 h"'),
        (GOOD.replace("workers = 2", "timeout = nan"), 2, "must be a number"),
        (GOOD.replace("workers = 2", "budget = -1"), 2, "above zero"),
        (GOOD.replace("workers = 2", 'pass = "argument"'), 2, "did you mean 'arguments'"),
        (GOOD.replace('["true"]', '"train --fast"'), 1, 'command = ["train", "--fast"]'),
        (GOOD.replace('["true"]', '["true",\n3]'), 2, "element 2 of 'command'"),
        (GOOD.replace('["true"]', "[]"), 1, "list of strings"),
        (GOOD.replace('"real"', '"float"'), 4, '"real", "integer", "categorical"'),
        (GOOD.replace("low = 1e-4", "lwo = 1e-4"), 3, "Is 'lwo' meant as 'low'"),
        (GOOD.replace("low = 1e-4", 'low = "a"'), 5, 'must be a number, not "a"'),
        (GOOD.replace("low = 1e-4", "low = 1"), 3, "low"),
        (GOOD.replace("log = true", "log = 1"), 7, "true or false, not 1"),
        (GOOD.replace('"tanh"]', '"tanh"], low = 1'), 9, "unknown key 'low'"),
        (GOOD.replace('"tanh"]', '["tanh"]]'), 9, "string, a number or a boolean"),
        (GOOD.replace("cost = 5.0", ""), 10, "needs 'cost' too"),
        (GOOD.replace("cost = 5.0", "lam = 5.0"), 12, "either lam"),
        (GOOD + '[value]\nfrom = "x"', 14, "unknown key 'from'"),
        (GOOD + '[cost]\nkind = "none"\nprice_per_hour = 3', 15, 'kind = "seconds"'),
        (GOOD + '[cost]\nkey = "c"', 14, 'kind = "reported"'),
        (GOOD + "[failures]\nstop_after = 11", 14, "10 failures in a row"),
        ('search.stopping = "pgbi"\n' + GOOD, 1, "did you mean 'pbgi'"),
        (GOOD + '[search]\nwatch = [\n"gss",\n{ rule = "fixed" }]', 16, "needs n"),
        (GOOD + '[search]\nstopping = { rule = "gss", fi = 1 }', 14, "unknown key 'fi'"),
        (GOOD + '[search]\nstopping = { rule = "gss", phi = -1 }', 14, "phi"),
        (GOOD + "[search]\nstart_from = [{ lr = 1 }]", 14, "lr"),
        (GOOD + '[search]\n"start_from" = [\n1]', 15, "holds tables"),
        (GOOD + '[search]\nnoise = "lern"', 14, "did you mean 'learn'"),
        (GOOD + "[search]\nnoise = 0", 14, "above zero"),
        (GOOD + "[environment]\nN = 1", 14, "must be a string"),
        (GOOD.replace('["true"]', '["a",\n"{Lr}"]'), 2, "'{Lr}', which is not one of lr, act"),
        (GOOD.replace('["true"]', '["a", "{"]'), 1, "a single '{'"),
        (GOOD + '[value]\nfile = "r.json"', 14, "overwrite each other"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(loaded, text, line, says):
    with pytest.raises(InputError) as caught:
        loaded(text)
    assert str(caught.value).startswith(f"tune.toml, line {line}: "), caught.value
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("command = = 1", r"not valid TOML.*line 1"),
        ("", "needs the key 'parameters'"),
        ("[parameters]\n", "line 1: .*nothing could be varied"),
        (GOOD.partition("[worth]")[0], r"(?s)\[worth\]\nimprovement = 0.01.*budget"),
    ],
)
def test_what_is_missing_is_said(loaded, text, says):
    with pytest.raises(InputError, match=says):
        loaded(text)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "no.toml")
    with pytest.raises(InputError, match="is not a regular file"):
        load(tmp_path)
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not text in UTF-8"):
        load(tmp_path / "bad.toml")


LOGEIPC = 'search.acquisition = "logeipc"\n'


@pytest.mark.parametrize(
    "instead",
    [
        "budget = 50\n",
        'budget = 50\nsearch.acquisition = "pbgi-d"\n',
        LOGEIPC + 'search.stopping = "gss"\n',
        "max_trials = 9\n",
    ],
)
def test_worth_may_be_left_out_where_something_else_stops(loaded, instead):
    config = loaded(instead + GOOD.partition("[worth]")[0])
    assert new_study(config).budget == config.budget


@pytest.mark.parametrize(
    ("instead", "who"),
    [
        ('search.stopping = "gss"\n', "the acquisition 'pbgi'"),
        (LOGEIPC, "the stopping rule 'pbgi'"),
        ('budget = 50\nsearch.stopping = ["pbgi", "gss"]\n', "the stopping rule 'pbgi'"),
        ('budget = 50\nsearch.watch = ["pbgi"]\n', "the stopping rule 'pbgi'"),
        ('budget = 50\nsearch.acquisition = "eic"\n', "the acquisition 'eic'"),
        ('max_trials = 9\nsearch.watch = ["pbgi"]\n', "the stopping rule 'pbgi'"),
        ('max_trials = 9\nsearch.acquisition = "eic"\n', "the acquisition 'eic'"),
    ],
)
def test_worth_is_asked_for_where_something_needs_it(loaded, instead, who):
    with pytest.raises(InputError, match=f"{who} needs to know what an improvement is worth"):
        loaded(instead + GOOD.partition("[worth]")[0])


def test_a_number_of_trials_alone_decides_as_in_the_study(loaded):
    config = loaded("max_trials = 9\n" + GOOD.partition("[worth]")[0])
    assert config.trials_decide
    assert new_study(config).options.trials_decide
    assert "It stops by the number of trials." in description(config)
    assert not loaded("max_trials = 9\n" + GOOD).trials_decide


def test_seconds_have_no_other_unit_but_a_price_has(loaded):
    with pytest.raises(InputError, match=r"line 14.*counts seconds.*price_per_hour"):
        loaded(GOOD + "[cost]\nunit = 'min'\n")
    assert loaded(GOOD + "[cost]\nunit = '$'\nprice_per_hour = 3.0\n").cost.given_unit == "$"


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/run.md"])
def test_the_files_on_the_pages_are_fine(loaded, page):
    files = blocks_of(ROOT / page, "toml")
    assert files
    for block in files:
        assert "--lr=" in description(loaded(block))


def test_rules_with_options_reach_the_study(loaded):
    rules = '[search]\nstopping = ["pbgi", { rule = "fixed", n = 50 }]\nwatch = "gss"\n'
    study = new_study(loaded(GOOD + rules))
    assert [rule.name for rule in study.rules] == ["pbgi", "fixed"]
    assert study.rules[1].n == 50
    assert [rule.name for rule in study.watched] == ["gss"]


# ----------------------------------------------------------------------------- check


@pytest.mark.parametrize("program", ["no-such-program-here", "./no-such-file", "./tune.toml"])
def test_a_program_that_is_not_there_is_refused(loaded, program):
    with pytest.raises(InputError, match=re.escape(f"the program '{program}' is not")):
        check_program(loaded(GOOD.replace("true", program, 1)))


def test_a_folder_that_is_not_there_is_refused(loaded):
    with pytest.raises(InputError, match="does not exist"):
        check_program(loaded('directory = "nowhere"\n' + GOOD))


def test_check_says_what_would_happen(loaded, tmp_path):
    config = loaded(GOOD + "[cost]\nprice_per_hour = 3\n[search]\nstart_from = [{ lr = 0.01,"
                    ' act = "tanh" }]\n')  # fmt: skip
    text = description(config)
    assert "The first trial would run: true --lr=0.01 --act=tanh" in text
    assert "An improvement of 0.01 is worth 5 units of money" in text
    assert "0.002 (lam, in objective units)" in text
    assert "its time at 3 units of money an hour" in text
    design = re.findall(r"^ +\d+  lr = ", text, re.MULTILINE)
    assert len(design) == new_study(config).n_initial
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tune.toml"]


def test_bounds_are_a_list_and_infinity_stands_for_none(loaded):
    config = loaded(f"{GOOD}[search]\nbounds = [0, inf]\n")
    assert new_study(config).options.bounds == (0.0, None)
    config = loaded(f"{GOOD}[value]\nbounds = [0, inf]\n")
    assert new_study(config).options.bounds == (0.0, None)
    with pytest.raises(InputError, match=r"line \d+: .*the lower bound must be below"):
        loaded(f"{GOOD}[value]\nbounds = [1, 0]\n")
    for refused in ("3", "[0]", '[0, "none"]', "[1, 0]"):
        with pytest.raises(InputError, match=r"inf stands for no bound, as in \[0, inf\]"):
            loaded(f"{GOOD}[value]\nbounds = {refused}\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bounds = [1, 0]", "the lower bound must be below the upper one"),
        ("bounds = 3", "not two numbers"),
        ('bounds = ["a", 1]', "must be a real number"),
        ('prior = "flat"', "flat"),
        ("replicates = true", "evaluations are exact"),
    ],
)
def test_an_option_that_the_study_refuses_names_its_line(loaded, line, words):
    with pytest.raises(InputError, match=rf"tune.toml, line 14: .*{words}"):
        loaded(f"{GOOD}[search]\n{line}\n")


def test_the_check_says_what_lam_means(loaded):
    text = description(loaded(f"timeout = 100\n{GOOD}[search]\nbounds = [0, 1]\n"))
    assert "  lam = 0.002 (given): an improvement of 0.01 pays for 5 s;" in text
    assert "  lam = 0.02: an improvement of 0.01 pays for 0.5 s;" in text
    assert "a trial that runs into the timeout must promise 0.2" in text
    assert "nothing is worth more than 8 min 20 s in all" in text
    by_budget = GOOD.replace("improvement = 0.01\ncost = 5.0", "").replace("[worth]", "")
    assert "What other lams" not in description(loaded(f"budget = 100\n{by_budget}"))


def test_the_check_of_a_run_that_was_begun_shows_its_ladder(loaded):
    config = loaded(f"{GOOD}[search]\nsurrogate = 'plain'\nn_initial = 2\n")
    study = new_study(config, journal=config.journal)
    for value in (0.5, 0.25):
        study.tell(study.ask(), value, 3.0)
    study.should_stop()
    study.close()
    assert "  lam = 0.002 (given): " in description(config)
    assert "When other lams would have stopped" in description(config)
