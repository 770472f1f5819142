# SPDX-License-Identifier: Apache-2.0
"""Encoding and decoding: laws of every space, and what domains and parameters are."""

import gc
import math
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from stopwise.core.space import Candidates, Categorical, Integer, Mixed, Real, as_domain
from stopwise.errors import InputError
from tests.support import strategies_space as strategies
from tests.support.spaces import SPACE, same

EPS = 2.0**-52


def tolerance(parameter):
    """The documented error of a value, decoded from its own encoding, at 1."""
    if parameter.log:
        return (2 + 5 * max(abs(math.log(parameter.low)), abs(math.log(parameter.high)))) * EPS
    return 4 * EPS * max(abs(parameter.low), abs(parameter.high))


@given(strategies.spaces_and_configurations())
def test_decoding_undoes_encoding(drawn):
    space, configurations = drawn
    domain = Mixed.of(space)
    decoded = domain.decode(domain.encode(configurations))
    for name, parameter in space.items():
        before = [params[name] for params in configurations]
        after = [params[name] for params in decoded]
        if not isinstance(parameter, Real):
            assert same(before, after)
            continue
        for value, back in zip(before, after, strict=True):
            allowed = tolerance(parameter) * (value if parameter.log else 1.0)
            assert abs(back - value) <= allowed
            assert parameter.low <= back <= parameter.high
            if value in (parameter.low, parameter.high):
                assert back == value


@given(strategies.domains_and_points())
def test_encoding_undoes_decoding_of_what_is_attainable(drawn):
    domain, X = drawn
    snapped = domain.snap(X)
    again = domain.encode(domain.decode(snapped))
    assert again.shape == snapped.shape
    assert np.abs(again - snapped).max(initial=0.0) <= 1e-12
    assert np.array_equal(again[:, ~domain.real], snapped[:, ~domain.real])


@given(strategies.domains_and_points())
def test_snapping_twice_is_snapping_once_and_stays_in_the_cube(drawn):
    domain, X = drawn
    snapped = domain.snap(X)
    assert np.array_equal(domain.snap(snapped), snapped)
    assert ((snapped >= 0.0) & (snapped <= 1.0)).all()
    assert domain.decode(snapped) == domain.decode(X)


@given(strategies.domains_and_points())
def test_keys_are_equal_exactly_where_params_are(drawn):
    domain, X = drawn
    both = np.vstack([X, domain.snap(X), domain.snap(X + 1e-13)])
    keys, decoded = domain.key(both), domain.decode(both)
    assert keys[: len(X)] == keys[len(X) : 2 * len(X)]
    for i in range(len(both)):
        for j in range(i):
            equal = all(
                same([decoded[i][name]], [decoded[j][name]])
                if isinstance(parameter, Categorical)
                else decoded[i][name] == decoded[j][name]
                for name, parameter in zip(domain.names, domain.parameters, strict=True)
            )
            assert (keys[i] == keys[j]) == equal


@given(strategies.spaces_and_configurations())
def test_a_configuration_is_encoded_to_the_same_bits_alone_and_among_others(drawn):
    space, configurations = drawn
    domain = Mixed.of(space)
    together = domain.encode(configurations * 9)
    alone = np.vstack([domain.encode(params) for params in configurations] * 9)
    assert np.array_equal(together, alone)


@given(strategies.spaces())
def test_columns_belong_to_their_parameters(space):
    domain = Mixed.of(space)
    assert domain.names == tuple(space)
    assert domain.d == len(space)
    assert domain.groups.shape == domain.real.shape == (domain.width,)
    for index, (parameter, columns) in enumerate(zip(space.values(), domain.columns, strict=True)):
        assert np.flatnonzero(domain.groups == index).tolist() == list(
            range(columns.start, columns.stop)
        )
        expected = len(parameter.choices) if isinstance(parameter, Categorical) else 1
        assert columns.stop - columns.start == expected
        assert (domain.real[columns] == isinstance(parameter, Real)).all()
    assert domain.is_box == all(isinstance(parameter, Real) for parameter in space.values())


@pytest.mark.parametrize("low", [1e6, -1e6])
def test_narrow_ranges_keep_their_values(low):
    parameter = Real(low, low + 1e-3)
    given_values = np.linspace(low, low + 1e-3, 1001).clip(parameter.low, parameter.high).tolist()
    decoded = parameter.decode(parameter.encode(given_values, "x"))
    assert np.abs(np.subtract(decoded, given_values)).max() <= tolerance(parameter)


def test_log_integers_are_rounded_in_value_space():
    parameter = Integer(1, 100, log=True)
    halfway = np.array([[math.log(1.45) / math.log(100)], [math.log(1.55) / math.log(100)]])
    assert parameter.decode(parameter.snap(halfway)) == [1, 2]


@pytest.mark.parametrize("log", [False, True])
def test_neighbours_at_the_largest_integers_stay_apart(log):
    parameter = Integer(1, 10**12, log=log)
    top = list(range(10**12 - 1000, 10**12 + 1))
    assert parameter.decode(parameter.encode(top, "n")) == top


def test_values_decode_to_plain_python_types():
    (params,) = Mixed.of(SPACE).decode([[0.5, 0.5, 1.0, 0.0, 0.0]])
    assert [type(value) for value in params.values()] == [float, int, str]


def test_numbers_of_every_kind_are_numbers():
    domain = Mixed.of({"x": Real(0, 10), "n": Integer(0, 10)})
    expected = domain.encode({"x": 5.0, "n": 5})
    for number in (5, 5.0, np.int64(5), np.float32(5), np.uint8(5), Fraction(5)):
        assert np.array_equal(domain.encode({"x": number, "n": number}), expected)


def test_a_bound_that_went_through_arithmetic_counts_as_the_bound():
    parameter = Real(0.1, 0.3)
    assert 3 * 0.1 > 0.3
    assert parameter.decode(parameter.encode([3 * 0.1], "x")) == [0.3]


def test_true_is_not_one():
    parameter = Categorical([1, True, 0, False])
    assert same(parameter.decode(parameter.encode([True, 1, False, 0], "x")), [True, 1, False, 0])
    with pytest.raises(InputError, match="not one of its choices"):
        Categorical([0, 1]).encode([True], "x")


def test_choices_equal_across_number_types_are_found():
    assert Categorical([1, 2]).encode([np.int64(2), 1.0], "x").argmax(axis=1).tolist() == [1, 0]


# -------------------------------------------------------------- parameters and domains


def test_parameters_are_values():
    assert Real(0, 1) == Real(0.0, 1.0)
    assert hash(Categorical(["a"])) == hash(Categorical(("a",)))
    assert Integer(1.0, np.int64(3)) == Integer(1, 3)
    assert Categorical(np.array([1, 2])).choices == (1, 2)
    assert type(Categorical(np.array([1, 2])).choices[0]) is int
    with pytest.raises(AttributeError):
        Real(0, 1).low = 3
    assert not hasattr(Real(0, 1), "__dict__")


def test_a_domain_is_its_own_domain_and_survives_pickling():
    for domain in (as_domain(SPACE), as_domain(Candidates([{"a": 1}, {"a": 2}]))):
        assert as_domain(domain) is domain
        X = domain.snap(np.full((1, domain.width), 0.3))
        assert pickle.loads(pickle.dumps(domain)).decode(X) == domain.decode(X)  # noqa: S301


def test_loading_a_space_loads_neither_scipy_nor_pandas():
    code = "import sys, stopwise.core.space; print({'scipy', 'pandas'} & set(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert shown.stdout.strip() == "set()"


def calls_of(work):
    """How many functions are called, those of C included."""
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # others may be called back when garbage is collected
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def test_rows_are_worked_on_together_and_only_their_values_are_looked_at_one_by_one():
    domain = Mixed.of({**SPACE, "x": Real(0, 1), "n": Integer(1, 10**6, log=True)})
    calls = []
    for rows in (100, 1100):
        X = domain.snap(np.random.default_rng(0).random((rows, domain.width)))
        params = domain.decode(X)
        whole = [lambda: domain.snap(X), lambda: domain.decode(X), lambda: domain.key(X)]  # noqa: B023
        calls.append([*map(calls_of, whole), calls_of(lambda: domain.encode(params))])  # noqa: B023
    (*few, few_encoded), (*many, many_encoded) = calls
    assert many == few
    assert many_encoded - few_encoded <= 1000 * 2 * domain.d  # a dictionary and its values
