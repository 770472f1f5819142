# SPDX-License-Identifier: Apache-2.0
"""Tables of candidates: rows come back as they were given; what is no table is refused."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.space import Candidates, Categorical, Integer, Real, as_domain
from stopwise.errors import InputError, InputTypeError
from tests.support import strategies_space as strategies
from tests.support.spaces import same


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


# --------------------------------------------------------------------------- refusals


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
