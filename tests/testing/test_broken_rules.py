# SPDX-License-Identifier: Apache-2.0
"""Each law of stopping rules is broken on purpose once, and the check must notice and name it."""

from dataclasses import dataclass

import pytest

from stopwise.stopping import RuleParameter, RuleTraits, SignalKind
from stopwise.testing import RULE_LAWS, UNITS, LawBroken, check_stopping_rule
from stopwise.testing._law import Case, verify
from tests.support.broken_rules import (
    BROKEN_RULES,
    Counting,
    Patient,
    Priced,
    Saying,
    Spread,
    judged,
    saying,
)
from tests.support.law_names import names


@pytest.mark.parametrize(("law", "broken"), BROKEN_RULES, ids=names(BROKEN_RULES))
def test_a_broken_rule_is_noticed(law, broken):
    with pytest.raises(LawBroken, match=rf"\n- {law}: (?!it raised)") as caught:
        verify(Case(broken, UNITS), [one for one in RULE_LAWS if one.name == law])
    assert caught.value.laws == (law,)


def test_every_law_of_rules_is_broken_once():
    assert list(dict(BROKEN_RULES)) == [law.name for law in RULE_LAWS]


def test_sound_rules_of_someone_else_pass():
    check_stopping_rule(Counting())
    check_stopping_rule(Priced(0.01))
    check_stopping_rule(Spread(), units={"tolerance": (1, 0)})
    check_stopping_rule(Saying())
    check_stopping_rule(Patient())
    check_stopping_rule(saying(judged, reads="judged values", unit=None))


def test_units_may_be_said_in_traits():
    @dataclass(frozen=True)
    class SayingSpread(Spread):
        @property
        def traits(self):
            tolerance = RuleParameter("tolerance", self.tolerance, (1, 0))
            return RuleTraits(SignalKind("spread", "linear", "spread"), parameters=(tolerance,))

    check_stopping_rule(SayingSpread())
