# SPDX-License-Identifier: Apache-2.0
"""Options are written once, and everybody reads them there."""

import inspect
import json
from dataclasses import fields

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.study import StudyOptions
from stopwise.study.external import ExternalStudy
from stopwise.study.options import may_change, names
from stopwise.study.signatures import spells_out_options
from tests.support.sealing import sealed_again

LINE = {"x": sw.Real(0, 1)}


@pytest.mark.parametrize("taker", [sw.Study, ExternalStudy, sw.minimize, sw.maximize])
def test_signatures_have_every_option_with_its_default(taker):
    parameters = inspect.signature(taker).parameters
    left_out = {"direction"} if taker in (sw.minimize, sw.maximize) else set()
    for option in fields(StudyOptions):
        assert (option.name in parameters) != (option.name in left_out)
        if option.name in parameters:
            assert parameters[option.name].default == option.default
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def test_every_option_is_documented():
    for name in names():
        assert f"\n        {name}: " in StudyOptions.__doc__


def test_an_unknown_option_is_refused_with_those_that_there_are():
    with pytest.raises(
        InputTypeError, match=r"'lamda' is no option of a study .*; it has lam, cost"
    ):
        sw.Study(LINE, lamda=0.1)


def test_options_are_frozen_and_checked():
    with pytest.raises(InputError, match="seed"):
        StudyOptions(seed=-1)
    with pytest.raises(AttributeError):
        StudyOptions().lam = 3.0


def test_an_own_parameter_of_the_same_name_is_kept():
    @spells_out_options(leave_out=["watch"])
    def taker(*, seed=7, **options):
        return seed, options

    parameters = inspect.signature(taker).parameters
    assert parameters["seed"].default == 7
    assert "watch" not in parameters
    assert "lam" in parameters


def test_a_journal_from_before_an_option_is_resumed_with_its_default(tmp_path):
    """An option that a header does not have was not there when the journal was begun."""
    path = tmp_path / "run.jsonl"
    study = sw.Study(LINE, lam=0.1, journal=path, max_trials=9)
    study.tell(study.ask(), 1.0)
    study.close()
    first, *rest = path.read_text("utf-8").splitlines()
    header = json.loads(first)
    for name in ("replicates", "max_trials", "watch"):
        del header["options"][name]
    path.write_bytes(sealed_again([header, *map(json.loads, rest)]))
    with pytest.warns(UserWarning, match="max_trials is now 5; it was None"):
        resumed = sw.Study.resume(path, max_trials=5, replicates=False)
    assert (resumed.max_trials, resumed.options.replicates) == (5, False)
    assert resumed.watched == []
    resumed.close()


def test_what_may_change_is_said_by_the_options():
    decisions = ["lam", "budget", "acquisition", "stopping", "watch", "max_trials"]
    assert may_change() == [*decisions, "value_name", "cost_unit", "off_table"]


@pytest.mark.parametrize("documented", [sw.Study, sw.minimize])
def test_help_explains_every_option(documented):
    for name in names():
        assert f"\n        {name}: " in documented.__doc__


def test_a_misspelt_option_is_guessed():
    with pytest.raises(InputTypeError, match=r"\(did you mean 'stopping'\?\).*journal"):
        sw.Study(LINE, stoping="pbgi")


def test_minimize_says_where_the_direction_comes_from():
    with pytest.raises(InputTypeError, match="call the one that you mean"):
        sw.minimize(lambda params: params["x"], LINE, lam=0.1, direction="maximize")
