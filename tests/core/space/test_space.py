# SPDX-License-Identifier: Apache-2.0
import gc
import math
import pickle
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from stopwise.core.space import Candidates, Categorical, Finite, Integer, Mixed, Real, as_domain
from stopwise.core.space._sobol import sobol_block
from stopwise.core.space.finite import grid
from stopwise.errors import InputError, InputTypeError, StopwiseError
from tests.support import strategies_space as strategies

EPS = 2.0**-52

SPACE = {
    "lr": Real(1e-4, 1e-1, log=True),
    "layers": Integer(1, 6),
    "act": Categorical(["relu", "tanh", "gelu"]),
}


def rng(seed=0):
    return np.random.default_rng(seed)


def tolerance(parameter):
    """The documented error of a value, decoded from its own encoding, at 1."""
    if parameter.log:
        return (2 + 5 * max(abs(math.log(parameter.low)), abs(math.log(parameter.high)))) * EPS
    return 4 * EPS * max(abs(parameter.low), abs(parameter.high))


def same(given, decoded):
    """Equal and of the same type, so that True is not 1 and 1 is not 1.0."""
    return [type(v) for v in given] == [type(v) for v in decoded] and given == decoded


# ---------------------------------------------------------------- laws of encoding


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


# ---------------------------------------------------------------- neighbours and designs


@given(strategies.domains_and_points(), st.data())
def test_neighbours_are_attainable_and_differ_in_one_discrete_parameter(drawn, data):
    domain, _ = drawn
    x = data.draw(strategies.points(domain.width).filter(len))[0]
    around = domain.neighbours(x)
    here = domain.decode(domain.snap(x[None, :]))[0]
    assert np.array_equal(domain.snap(around), around)
    keys = domain.key(around)
    assert len(set(keys)) == len(keys)
    for params in domain.decode(around):
        changed = [n for n in domain.names if not same([params[n]], [here[n]])]
        assert len(changed) == 1
        assert not isinstance(
            dict(zip(domain.names, domain.parameters, strict=True))[changed[0]], Real
        )


def test_neighbours_of_a_small_integer_are_all_others_and_of_a_large_one_steps():
    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 64)})
    around = domain.decode(domain.neighbours(domain.encode({"x": 0.5, "n": 10})[0]))
    assert sorted(params["n"] for params in around) == [n for n in range(1, 65) if n != 10]
    assert {params["x"] for params in around} == {0.5}

    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 10**9, log=True)})
    around = domain.decode(domain.neighbours(domain.encode({"x": 0.5, "n": 10})[0]))
    found = {params["n"] for params in around}
    assert {9, 11, 8, 12, 6, 14, 2, 18, 26, 1, 10**9} <= found
    assert len(found) < 64


def test_a_box_has_no_neighbours():
    assert Mixed.of({"x": Real(0, 1)}).neighbours([0.5]).shape == (0, 1)


def test_discrete_choices_are_the_attainable_encodings():
    domain = Mixed.of(SPACE)
    choices = domain.discrete_choices()
    assert set(choices) == {1, 2}
    assert choices[1].shape == (6, 1)
    assert np.array_equal(choices[2], np.eye(3))
    assert domain.n_discrete == 18
    assert Mixed.of({"x": Real(0, 1)}).n_discrete == 1


def test_huge_ranges_are_counted_and_not_listed():
    domain = Mixed.of({"a": Integer(1, 10**12), "b": Integer(1, 10**12)})
    assert domain.n_discrete == 10**24
    with pytest.raises(InputError, match=r"'a' has 1000000000000 values.*neighbours"):
        domain.discrete_choices()


@given(strategies.spaces(), st.integers(0, 20), st.integers(0, 9))
def test_sobol_points_are_attainable_and_repeatable(space, n, seed):
    domain = Mixed.of(space)
    X = domain.sobol(n, rng(seed))
    assert X.shape == (n, domain.width)
    assert np.array_equal(domain.snap(X), X)
    assert np.array_equal(domain.sobol(n, rng(seed)), X)


def test_sobol_fills_bins_equally_and_does_not_warn():
    parameters = {f"c{k}": Categorical(range(4)) for k in range(30)}
    domain = Mixed.of({**parameters, **{f"n{k}": Integer(0, 7) for k in range(30)}})
    X = domain.sobol(64, rng())
    assert (X[:, ~np.isin(domain.groups, range(30, 60))].sum(axis=0) == 16).all()
    for column in X[:, domain.groups >= 30].T:
        assert np.unique(column, return_counts=True)[1].tolist() == [8] * 8
    domain.sobol(37, rng())


def test_sobol_spreads_log_integers_by_ratio():
    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 10**6, log=True)})
    drawn = [params["n"] for params in domain.decode(domain.sobol(1024, rng()))]
    assert 700 < np.median(drawn) < 1000  # sqrt(0.5 * 10^6) = 707
    assert min(drawn) == 1


def test_another_seed_scrambles_differently():
    domain = Mixed.of(SPACE)
    assert not np.array_equal(domain.sobol(8, rng(0)), domain.sobol(8, rng(1)))


# ---------------------------------------------------------------- finite domains


@given(strategies.small_spaces())
def test_a_small_discrete_space_is_the_list_of_its_combinations(space):
    domain = as_domain(space)
    assert isinstance(domain, Finite)
    n = math.prod(parameter.n_values for parameter in space.values())
    assert domain.points.shape == (n, domain.width)
    assert np.array_equal(domain.index_of(domain.points), np.arange(n))
    assert np.array_equal(domain.encode(domain.decode(domain.points)), domain.points)
    assert len(set(domain.key(domain.points))) == n
    assert domain.params(n - 1) == domain.decode(domain.points)[-1]
    assert (domain.names, domain.d) == (tuple(space), len(space))
    assert np.array_equal(domain.groups, Mixed.of(space).groups)


def test_combinations_are_in_lexicographic_order():
    domain = as_domain({"a": Categorical(["x", "y"]), "b": Integer(1, 3)})
    expected = [{"a": a, "b": b} for a in "xy" for b in (1, 2, 3)]
    assert domain.decode(domain.points) == expected
    assert [domain.params(i) for i in range(len(domain))] == expected


def test_more_than_64_parameters_of_one_choice_are_still_a_list():
    assert len(as_domain({f"p{i}": Categorical([i]) for i in range(100)})) == 1


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        ({"n": Integer(1, 100_000)}, Finite),
        ({"n": Integer(1, 100_001)}, Mixed),
        ({"n": Integer(1, 2), "x": Real(0, 1)}, Mixed),
        ({"n": Categorical(range(10_000))}, Mixed),  # 10^8 cells
        ({"n": Categorical(["only"])}, Finite),
    ],
)
def test_what_becomes_finite_by_itself(space, kind):
    assert type(as_domain(space)) is kind


@given(strategies.small_spaces(), st.data())
def test_a_finite_domain_snaps_to_listed_points(space, data):
    domain = as_domain(space)
    X = data.draw(strategies.points(domain.width))
    snapped = domain.snap(X)
    assert (domain.index_of(snapped) >= 0).all()
    assert np.array_equal(domain.snap(snapped), snapped)
    assert domain.decode(X) == domain.decode(snapped)
    assert domain.key(X) == domain.key(snapped)


def test_unlisted_points_have_no_index():
    assert as_domain({"n": Integer(1, 3)}).index_of([[0.5], [0.4], [-0.0]]).tolist() == [1, -1, 0]


def test_a_finite_design_is_distinct_and_repeatable():
    domain = as_domain({"n": Integer(1, 50)})
    X = domain.design(20, rng())
    assert len(set(domain.key(X))) == 20
    assert np.array_equal(X, domain.design(20, rng()))
    assert domain.design(99, rng()).shape == (50, 1)


def test_exposed_arrays_are_read_only():
    mixed, finite = Mixed.of(SPACE), as_domain({"n": Integer(1, 3)})
    table = Candidates([{"a": 1}, {"a": 2}])
    for array in (
        mixed.groups,
        mixed.real,
        finite.points,
        finite.groups,
        table.index,
        table.domain.points,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# ---------------------------------------------------------------- candidates


@given(strategies.spaces_and_configurations(), st.booleans())
def test_candidates_come_back_as_the_objects_given(drawn, declared):
    space, rows = drawn
    try:
        candidates = Candidates(rows, space=space if declared else None)
    except InputError as error:
        assert "too close to tell apart" in str(error)  # noqa: PT017
        return
    domain = candidates.domain
    assert len(candidates.index) == len(rows)
    for row, index in zip(rows, candidates.index, strict=True):
        params = domain.params(index)
        assert params == row
        first = rows[candidates.index.tolist().index(index)]
        assert all(params[name] is first[name] for name in row)
    assert domain.decode(domain.points) == [domain.params(i) for i in range(len(domain))]
    assert np.array_equal(domain.index_of(domain.encode(rows)), candidates.index)
    assert np.array_equal(domain.snap(domain.points), domain.points)
    assert np.array_equal(np.unique(candidates.index), np.arange(len(domain)))


def test_numpy_scalars_in_dicts_come_back_as_numpy_scalars():
    rows = [{"x": np.float32(0.5), "n": np.int64(2)}, {"x": np.float32(1.5), "n": np.int64(3)}]
    params = as_domain(Candidates(rows)).params(1)
    assert params["x"] is rows[1]["x"]
    assert params["n"] is rows[1]["n"]


def test_equal_rows_are_one_candidate():
    candidates = Candidates([{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"b": "x", "a": 1.0}])
    assert candidates.index.tolist() == [0, 1, 0]
    assert same(list(candidates.domain.params(0).values()), [1, "x"])


def test_columns_are_inferred():
    rows = [
        {"x": 1, "flag": True, "name": "a", "fixed": 3, "mixed": 1},
        {"x": 2.5, "flag": False, "name": "b", "fixed": 3, "mixed": None},
    ]
    assert Candidates(rows).domain.codec.parameters == (
        Real(1, 2.5),
        Categorical([True, False]),
        Categorical(["a", "b"]),
        Categorical([3]),
        Categorical([1, None]),
    )


def test_one_row_is_one_point():
    domain = as_domain(Candidates([{"x": 0.0, "s": "a"}]))
    assert len(domain) == 1
    assert domain.params(0) == {"x": 0.0, "s": "a"}
    assert np.isfinite(domain.points).all()


def test_declared_columns_may_cover_more_than_the_table():
    declared = {
        "lr": Real(1e-4, 1, log=True),
        "n": Integer(0, 8),
        "c": Categorical(["abc", "d"]),
    }
    rows = [{"lr": 1e-2, "n": 2, "c": "abc"}, {"lr": 1e-1, "n": 4, "c": "abc"}]
    points = Candidates(rows, space=declared).domain.points
    assert points[:, :2] == pytest.approx(np.array([[0.5, 0.25], [0.75, 0.5]]))


def test_a_data_frame_gives_plain_python_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "lr": [0.1, 0.01, 0.1],
            "n": [1, 2, 1],
            "act": ["a", "b", "a"],
            "flag": [True, False, True],
        },
        index=[7, 7, 7],
    )
    candidates = Candidates(frame)
    assert candidates.index.tolist() == [0, 1, 0]
    params = candidates.domain.params(1)
    assert params == {"lr": 0.01, "n": 2, "act": "b", "flag": False}
    assert [type(value) for value in params.values()] == [float, int, str, bool]


def test_a_structured_array_gives_plain_python_values():
    table = np.array([(0.1, 1, "a"), (0.2, 2, "b")], dtype=[("x", "f4"), ("n", "i8"), ("s", "U1")])
    params = Candidates(table).domain.params(0)
    assert [type(value) for value in params.values()] == [float, int, str]
    assert params["x"] == float(np.float32(0.1))


def test_the_table_is_copied():
    rows = [{"x": 1}, {"x": 2}]
    domain = as_domain(Candidates(rows))
    rows[0]["x"] = 5
    domain.params(0)["x"] = 7
    domain.decode(domain.points)[0]["x"] = 9
    assert domain.params(0) == {"x": 1}


def test_points_off_the_table_go_to_the_nearest_row():
    domain = as_domain(Candidates([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]))
    assert domain.decode([[0.6, 0.6], [0.1, 0.2]]) == [{"x": 1.0, "y": 1.0}, {"x": 0.0, "y": 0.0}]


def test_rounding_noise_in_params_finds_the_candidate():
    domain = as_domain(Candidates([{"x": 0.1}, {"x": 0.3}, {"x": 0.9}]))
    X = domain.encode({"x": 0.1 + 0.2})
    assert domain.decode(X) == [{"x": 0.3}]
    assert domain.index_of(X).tolist() == [1]


def test_candidates_show_their_size():
    assert repr(Candidates([{"a": 1}, {"a": 1}])) == "<Candidates: 2 rows, 1 candidates of 'a'>"


# ---------------------------------------------------------------- errors that teach


@pytest.mark.parametrize("kind", [Real, Integer])
@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((2, 1), InputError, "low must be below high; swap them"),
        ((1, 1), InputError, "leaves nothing to vary; leave the parameter out"),
        ((0, math.inf), InputError, "high must be finite"),
        ((math.nan, 1), InputError, "low must be finite"),
        ((0, 10**400), InputError, "high must be finite"),
        ((False, 1), InputTypeError, "low is of type bool; it must be a number"),
        ((0, np.True_), InputTypeError, "high is of type bool"),
        (("0", 1), InputTypeError, "low is of type str; it must be a number"),
        ((None, 1), InputTypeError, "low is of type NoneType"),
        ((0, 10, True), InputError, "a log scale needs low above 0"),
        ((-5, 10, True), InputError, "a log scale needs low above 0"),
        ((-5, -1, True), InputError, "a log scale needs low above 0"),
        ((1, 10, "log"), InputTypeError, "log must be True or False"),
    ],
)
def test_bad_bounds(kind, arguments, error, match):
    with pytest.raises(error, match=match) as caught:
        kind(*arguments)
    assert isinstance(caught.value, StopwiseError)
    assert kind.__name__ in str(caught.value)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Integer(0.5, 3), InputError, "low is not a whole number; round it, or use Real"),
        (lambda: Integer(1, 10**13), InputError, r"high is beyond 10\*\*12"),
        (lambda: Real(-1.7e308, 1.7e308), InputError, "too large for a float; narrow"),
        (lambda: Real(1e10, math.nextafter(1e10, 2e10), log=True), InputError, "too close for"),
        (lambda: Categorical([]), InputError, "at least one choice"),
        (lambda: Categorical("relu"), InputTypeError, "choices must be a list"),
        (lambda: Categorical(3), InputTypeError, "choices must be a list"),
        (lambda: Categorical({"a": 1}), InputTypeError, "choices must be a list"),
        (lambda: Categorical({"a", "b"}), InputTypeError, "a set has no fixed order"),
        (lambda: Categorical(["a", "b", "a"]), InputError, "'a' is listed twice"),
        (lambda: Categorical([1, 1.0]), InputError, "1.0 is listed twice"),
        (lambda: Categorical([[64], [32]]), InputTypeError, r"\[64\] is of type list.*a tuple"),
        (lambda: Categorical([0.5, math.nan]), InputError, "nan is not equal to itself"),
    ],
)
def test_bad_parameters(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    ("space", "error", "match"),
    [
        ({}, InputError, "an empty dict; name at least one parameter"),
        ({1: Real(0, 1)}, InputTypeError, "name 1 is of type int; names must be strings"),
        ({"x": (0, 1)}, InputTypeError, r"'x' is \(0, 1\); it must be Real\(low, high\)"),
        ({"x": Real}, InputTypeError, "must be Real"),
        ([{"x": 1}], InputTypeError, "the space is of type list.*Candidates"),
        (None, InputTypeError, "the space is of type NoneType"),
    ],
)
def test_bad_spaces(space, error, match):
    with pytest.raises(error, match=match):
        as_domain(space)


GOOD = {"lr": 0.01, "layers": 2, "act": "relu"}


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        ({**GOOD, "lrr": 1}, InputError, "have 'lrr', which the space does not.*mean 'lr'"),
        ({**GOOD, 3: 1}, InputError, "have 3, which the space does not"),
        ({"lr": 0.01}, InputError, "lack 'layers', 'act'; give every parameter a value"),
        ({**GOOD, "lr": 1.0}, InputError, "'lr' is 1.0, outside its bounds; allowed is 0.0001 to"),
        ({**GOOD, "lr": math.nan}, InputError, "'lr' is nan, outside its bounds"),
        ({**GOOD, "lr": "0.1"}, InputTypeError, "'lr' is '0.1', of type str; it must be a number"),
        ({**GOOD, "lr": True}, InputTypeError, "'lr' is True, of type bool"),
        ({**GOOD, "lr": 10**400}, InputError, "'lr' holds a number too large"),
        ({**GOOD, "layers": 2.5}, InputError, "2.5, not a whole number; allowed are.* 1 to 6"),
        ({**GOOD, "layers": math.nan}, InputError, "nan, not a whole number"),
        ({**GOOD, "layers": 7}, InputError, "'layers' is 7, outside its bounds; .*1 to 6"),
        ({**GOOD, "layers": True}, InputTypeError, "'layers' is True, of type bool"),
        ({**GOOD, "act": "elu"}, InputError, "'elu', which is not one.*'relu', 'tanh', 'gelu'"),
        ({**GOOD, "act": ["relu"]}, InputError, "not one of its choices"),
        ([GOOD, GOOD, {**GOOD, "lr": 1.0}], InputError, "'lr' in row 2 is 1.0"),
        ([GOOD, 3], InputTypeError, "params 1 are 3, of type int; give a dict"),
        (3, InputTypeError, "params are of type int; give a dict"),
        ("lr", InputTypeError, "params are of type str; give a dict"),
    ],
)
def test_bad_params(params, error, match):
    with pytest.raises(error, match=match):
        Mixed.of(SPACE).encode(params)


def test_an_infinite_value_is_refused_even_at_the_largest_float():
    with pytest.raises(InputError, match="inf, outside"):
        Real(0, sys.float_info.max).encode([math.inf], "x")


def test_long_lists_of_choices_are_cut_short():
    with pytest.raises(InputError, match=r"0, 1, 2, 3, 4, 5, 6, 7, \.\.\. \(92 more\)$"):
        Categorical(range(100)).encode(["x"], "c")


@pytest.mark.parametrize("X", [[0.5] * 5, [[0.5]], np.zeros((2, 2, 2))])
def test_points_of_a_wrong_shape_are_refused(X):
    for domain in (Mixed.of(SPACE), Mixed.of({"a": Real(0, 1), "b": Real(0, 1)})):
        with pytest.raises(InputError, match=r"it must be \(m, "):
            domain.snap(X)


@pytest.mark.parametrize(
    ("rows", "space", "error", "match"),
    [
        ([], None, InputError, "the table has no rows"),
        ([{}], None, InputError, "the table has no columns"),
        (
            "abc",
            None,
            InputTypeError,
            "rows are of type str; give a list of dicts, a DataFrame or",
        ),
        (np.zeros((2, 2)), None, InputTypeError, "rows are of type ndarray"),
        ({"a": [1, 2]}, None, InputTypeError, "rows are of type dict"),
        ([{"a": 1}, 2], None, InputTypeError, "row 1 is of type int"),
        ([{"a": 1}, {"b": 1}], None, InputError, "row 1 and row 0 do not .* 'a', 'b'"),
        (
            [{1: 1}],
            None,
            InputTypeError,
            "the column name 1 is of type int; names must be strings",
        ),
        ([{"a": [1]}], None, InputTypeError, r"'a' holds \[1\] in row 0, of type list"),
        ([{"a": 1.0}, {"a": math.nan}], None, InputError, "'a' has a gap, nan, in row 1"),
        ([{"a": "x"}, {"a": math.nan}], None, InputError, "'a' has a gap, nan, in row 1"),
        ([{"a": 1.0}, {"a": math.inf}], None, InputError, "'a' holds an infinite number"),
        ([{"a": 1}], [3], InputTypeError, "space is of type list; it must be a dict"),
        ([{"lr": 1}], {"lrs": Real(0, 1)}, InputError, "names 'lrs'.*did you mean 'lr'"),
        ([{"a": 1}], {"a": None}, InputTypeError, "parameter 'a' is None; it must be Real"),
        ([{"a": 1}, {"a": 5}], {"a": Real(0, 2)}, InputError, "'a' in row 1 is 5, outside"),
        ([{"a": 1}, {"a": 1.5}], {"a": Integer(0, 2)}, InputError, "row 1 is 1.5, not a whole"),
        ([{"a": -1e16}, {"a": 0.2}, {"a": 0.4}], None, InputError, "too close to tell apart"),
        ([{"a": 2**60}, {"a": 2**60 + 1}, {"a": 0}], None, InputError, "too close"),
    ],
)
def test_bad_tables(rows, space, error, match):
    with pytest.raises(error, match=match):
        Candidates(rows, space=space)


def test_bad_data_frames():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="two columns are called 'a'; rename or drop"):
        Candidates(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputTypeError, match="column name 0 is of type int"):
        Candidates(pandas.DataFrame([[1, 2]]))
    for gap in (pandas.NA, pandas.NaT, None):
        frame = pandas.DataFrame({"a": pandas.Series(["x", gap], dtype="string")})
        with pytest.raises(InputError, match=r"'a' has a gap, .*, in row 1"):
            Candidates(frame)
    with pytest.raises(InputError, match="no rows"):
        Candidates(pandas.DataFrame({"a": []}))


def test_a_column_of_labels_is_refused_before_it_fills_the_memory():
    rows = [{"x": i, "id": f"run {i}"} for i in range(10_000)]
    with pytest.raises(InputError, match="10000 of them for the choices of 'id'; drop"):
        Candidates(rows)


def test_params_off_the_table_are_refused_with_the_nearest_candidate():
    domain = as_domain(Candidates([{"x": 0.0}, {"x": 1.0}, {"x": 3.0}]))
    match = r"{'x': 1.2} is not one of the 3 candidates; the nearest one is {'x': 1.0}"
    with pytest.raises(InputError, match=match):
        domain.encode({"x": 1.2})
    with pytest.raises(InputError, match=match):
        domain.encode([{"x": 0.0}, {"x": 1.2}])


# ---------------------------------------------------------------- the house


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


def test_grid_points_do_not_depend_on_how_many_there_are():
    parameter = Integer(1, 999, log=True)
    domain = grid(Mixed.of({"n": parameter}))
    singly = [domain.index_of(domain.encode({"n": n}))[0] for n in range(1, 1000)]
    assert singly == list(range(999))


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
        X = domain.snap(rng().random((rows, domain.width)))
        params = domain.decode(X)
        whole = [lambda: domain.snap(X), lambda: domain.decode(X), lambda: domain.key(X)]  # noqa: B023
        calls.append([*map(calls_of, whole), calls_of(lambda: domain.encode(params))])  # noqa: B023
    (*few, few_encoded), (*many, many_encoded) = calls
    assert many == few
    assert many_encoded - few_encoded <= 1000 * 2 * domain.d  # a dictionary and its values


@pytest.mark.parametrize(("name", "value", "allowed"), [("x", 5.0, "0.1, 0.9"), ("c", "z", "'a'")])
def test_a_value_that_no_row_has_is_told_with_those_of_the_table(name, value, allowed):
    domain = Candidates([{"x": 0.1, "c": "a"}, {"x": 0.9, "c": "a"}]).domain
    given = {"x": 0.1, "c": "a"} | {name: value}
    message = (
        f"{given} is not one of the 2 candidates: no row of the table has {name!r} = {value!r};"
        f" allowed: {allowed}; give one of its rows"
    )
    for params in (given, [{"x": 0.1, "c": "a"}, given]):
        with pytest.raises(InputError, match=re.escape(message)):
            domain.encode(params)


@pytest.mark.parametrize("d", [1, 2, 8, 40])
@pytest.mark.parametrize("m", [0, 1, 5, 9])
def test_sobol_points_are_those_of_scipy(d, m):
    ours, theirs = rng(d + m), rng(d + m)
    expected = qmc.Sobol(d, scramble=True, seed=theirs).random_base2(m)
    np.testing.assert_array_equal(sobol_block(d, m, ours), expected)
    assert ours.random() == theirs.random()  # and the stream goes on as if scipy had drawn
