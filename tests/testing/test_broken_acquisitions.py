# SPDX-License-Identifier: Apache-2.0
"""Each law of acquisitions is broken on purpose once, and the check must notice and name it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from stopwise.testing import ACQUISITION_LAWS, UNITS, LawBroken, check_acquisition
from stopwise.testing._law import Case, verify
from tests.support.broken_acquisitions import BROKEN_ACQUISITIONS, By, NetBound, Passing
from tests.support.law_names import names


@pytest.mark.parametrize(("law", "broken"), BROKEN_ACQUISITIONS, ids=names(BROKEN_ACQUISITIONS))
def test_a_broken_acquisition_is_noticed(law, broken):
    with pytest.raises(LawBroken, match=rf"\n- {law}: (?!it raised)") as caught:
        verify(Case(broken, UNITS), [one for one in ACQUISITION_LAWS if one.name == law])
    assert caught.value.laws == (law,)


def test_every_law_of_acquisitions_is_broken_once():
    assert list(dict(BROKEN_ACQUISITIONS)) == [law.name for law in ACQUISITION_LAWS]


def test_a_sound_acquisition_of_someone_else_passes():
    check_acquisition(NetBound(0.1))


def test_a_sound_score_that_is_not_pointwise_passes():
    @dataclass(frozen=True)
    class Exploring(By):
        formula: Callable = field(default=NetBound(1e-6))
        score: Callable = Passing.on

    check_acquisition(Exploring())
