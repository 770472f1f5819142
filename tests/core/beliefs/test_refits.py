# SPDX-License-Identifier: Apache-2.0
"""Refit policies: always, when the data have grown by a factor, and on a schedule."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stopwise as sw
from stopwise.core.beliefs import RefitAlways, RefitAtSizes, RefitOnSchedule, RefitWhenGrown
from stopwise.errors import InputError

COUNTS = st.integers(0, 2000)


def schedule_of_0_1(t):
    """The schedule of the experiments of version 0.1."""
    if t <= 10:
        return True
    last = 10
    while last < t:
        last += -(-last // 10)
    return last == t


@given(n=COUNTS, fitted_to=COUNTS, t=COUNTS)
def test_always_is_always(n, fitted_to, t):
    assert RefitAlways().is_due(n, fitted_to=fitted_to, t=t)


# ----------------------------------------------------------------------------- when grown


@given(n=COUNTS, fitted_to=COUNTS, t=COUNTS, few=st.integers(0, 100), factor=st.floats(1.0, 3.0))
def test_few_observations_or_growth_call_for_a_fit(n, fitted_to, t, few, factor):
    due = RefitWhenGrown(factor, few).is_due(n, fitted_to=fitted_to, t=t)
    assert due == (n <= few or n >= factor * fitted_to)


def test_fits_are_at_every_observation_at_first_and_then_a_factor_apart():
    policy, fitted_to, fits = RefitWhenGrown(1.25), 0, []
    for n in range(1, 201):
        if policy.is_due(n, fitted_to=fitted_to, t=n):
            fitted_to = n
            fits.append(n)
    assert fits[:50] == list(range(1, 51))
    assert fits[50:] == [63, 79, 99, 124, 155, 194]


# -------------------------------------------------------------------------------- at sizes


def test_sizes_are_all_at_first_and_then_a_part_apart():
    policy, fitted_to, fits = RefitAtSizes(), 0, []
    for n in range(1, 201):
        if policy.is_due(n, fitted_to=fitted_to, t=n):
            fitted_to = n
            fits.append(n)
    assert fits == [*range(1, 101), 110, 121, 133, 146, 160, 176, 193]


@given(n=COUNTS, fitted_to=COUNTS, t=COUNTS, few=st.integers(1, 60), part=st.integers(1, 20))
def test_a_fit_is_due_when_another_size_was_reached_since(n, fitted_to, t, few, part):
    policy = RefitAtSizes(few, part)
    latest = policy.latest(n)
    assert latest == n if n <= few else few <= latest <= n < latest + max(1, latest // part)
    assert policy.latest(latest) == latest
    due = policy.is_due(n, fitted_to=fitted_to, t=t)
    assert due == any(policy.latest(m) == m for m in range(fitted_to + 1, n + 1))


@pytest.mark.parametrize("name", ["always_up_to", "part"])
def test_sizes_need_whole_numbers(name):
    with pytest.raises(InputError, match=f"{name}=0: give a whole number of at least 1"):
        RefitAtSizes(**{name: 0})


# ---------------------------------------------------------------------------- on a schedule


def test_the_schedule_is_that_of_the_experiments():
    policy = RefitOnSchedule()
    ours = [policy.is_due(t + 4, fitted_to=4, t=t) for t in range(1001)]
    assert ours == [schedule_of_0_1(t) for t in range(1001)]
    assert [t for t in range(33) if ours[t]] == [
        *range(11), 11, 13, 15, 17, 19, 21, 24, 27, 30,
    ]  # fmt: skip


@given(t=COUNTS, n=COUNTS, fitted_to=COUNTS)
def test_the_schedule_reads_t_alone(t, n, fitted_to):
    policy = RefitOnSchedule()
    assert policy.is_due(n, fitted_to=fitted_to, t=t) == policy.is_due(0, fitted_to=0, t=t)


@pytest.mark.parametrize("dense", [1, 2, 5, 10, 20])
def test_the_schedule_is_dense_at_first_and_then_ever_more_rare(dense):
    policy = RefitOnSchedule(dense)
    due = [t for t in range(400) if policy.is_due(0, fitted_to=0, t=t)]
    assert due[: dense + 1] == list(range(dense + 1))
    later = due[dense:]
    steps = [after - before for before, after in pairwise(later)]
    assert steps == [-(-before // dense) for before in later[:-1]]
    assert steps == sorted(steps)


def test_policies_are_values_and_public():
    assert RefitAlways() == RefitAlways()
    assert RefitWhenGrown(1.2) != RefitWhenGrown()
    assert len({RefitOnSchedule(), RefitOnSchedule(10), RefitOnSchedule(5)}) == 2
    for name in (
        "RefitAlways",
        "RefitAtSizes",
        "RefitWhenGrown",
        "RefitOnSchedule",
        "RefitPolicy",
    ):
        assert name in sw.beliefs.__all__


def test_a_schedule_needs_a_first_stretch():
    with pytest.raises(InputError, match="dense=0: give a whole number of at least 1"):
        RefitOnSchedule(0)


def test_a_policy_says_whether_the_number_of_observations_says_it_all():
    assert RefitAlways().latest(7) == 7
    assert RefitAtSizes().latest(115) == 110
    assert RefitWhenGrown().latest(115) is None
    assert RefitOnSchedule().latest(115) is None
