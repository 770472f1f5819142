# SPDX-License-Identifier: Apache-2.0
"""What the checks raise, and their parts."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from stopwise.acquisition import LCB
from stopwise.errors import StopwiseError
from stopwise.stopping import PBGI, FixedTrials
from stopwise.testing import UNITS, Law, LawBroken, check_acquisition, check_stopping_rule
from stopwise.testing._law import Case, numbers_of, verify, with_parameters
from tests.support.broken_acquisitions import By, Drifting
from tests.support.broken_rules import Counting, sorting

# ------------------------------------------------------------------------------- the error


def refuse(*given, **options):
    raise RuntimeError("not today")


def test_an_error_counts_against_the_laws_that_met_it():
    with pytest.raises(LawBroken, match="it raised RuntimeError: not today") as caught:
        check_acquisition(By(score=refuse))
    assert "value" not in caught.value.laws
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(LawBroken, match="it raised RuntimeError: not today") as caught:
        check_stopping_rule(Counting(signal_by=refuse))
    assert "name" not in caught.value.laws


def test_the_error_is_one_of_ours_and_an_assertion():
    assert issubclass(LawBroken, StopwiseError)
    assert issubclass(LawBroken, AssertionError)


def test_one_message_names_all_that_is_broken():
    def bad(case):
        raise LawBroken(f"{case.subject} is not enough")

    def good(case):
        return

    laws = [Law("one", "", bad), Law("two", "", good), Law("three", "", bad)]
    with pytest.raises(LawBroken) as caught:
        verify(Case(7), laws)
    assert str(caught.value) == (
        "7 breaks 2 of 3 laws:\n- one: 7 is not enough\n- three: 7 is not enough"
    )
    assert caught.value.laws == ("one", "three")
    assert caught.value.__cause__ is None
    verify(Case(7), laws[1:2])


# -------------------------------------------------------------------------------- the parts


def test_numbers_of_wrappers_are_those_inside_too():
    @dataclass(frozen=True)
    class Outer:
        rule: PBGI
        trials: int
        loud: bool = True
        word: str = "x"

    outer = Outer(PBGI(0.5), 3)
    assert numbers_of(outer) == {"lam": 0.5, "trials": 3}
    assert with_parameters(outer, {"lam": 0.25}) == Outer(PBGI(0.25), 3)
    assert with_parameters("a word", {"lam": 0.25}) == "a word"
    assert numbers_of("a word") == {}


def test_parameters_move_with_their_units():
    case = Case(PBGI(0.5), UNITS)
    assert case.rescaled(objective=4.0).lam == 2.0
    assert case.rescaled(cost=4.0).lam == 0.125
    assert Case(FixedTrials(5), UNITS).rescaled(objective=4.0, cost=2.0) == FixedTrials(5)


def test_what_one_check_does_to_its_problems_another_does_not_see():
    with pytest.raises(LawBroken):
        check_stopping_rule(Counting(signal_by=sorting))
    with pytest.raises(LawBroken):
        check_acquisition(By(score=Drifting.on))
    check_stopping_rule(Counting())
    check_acquisition(LCB())


def test_the_checks_need_no_test_framework():
    script = (
        "import sys, stopwise.testing; from stopwise.stopping import Immediate;"
        "stopwise.testing.check_stopping_rule(Immediate());"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
