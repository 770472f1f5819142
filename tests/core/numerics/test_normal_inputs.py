# SPDX-License-Identifier: Apache-2.0
"""What the functions of expected improvement and fair values take and give: kinds and shapes."""

import itertools
import math

import numpy as np
import pytest

import stopwise.math
from stopwise.core.numerics.normal import log_ei, log_ei_partials, pbgi, pbgi_partials
from stopwise.core.numerics.standard_improvement import d_log_h, inv_log_h, log_h
from stopwise.errors import InputError
from tests.support.doubles import SMALLEST

pytestmark = pytest.mark.usefixtures("no_floating_point_errors")

FUNCTIONS = {
    "log_h": (log_h, 1),
    "d_log_h": (d_log_h, 1),
    "inv_log_h": (inv_log_h, 1),
    "log_ei": (log_ei, 3),
    "pbgi": (pbgi, 3),
    **{f"log_ei_partials {i}": (lambda *a, i=i: log_ei_partials(*a)[i], 3) for i in range(3)},
    **{f"pbgi_partials {i}": (lambda *a, i=i: pbgi_partials(*a)[i], 3) for i in range(4)},
}
each_function = pytest.mark.parametrize(
    ("function", "arity"), FUNCTIONS.values(), ids=FUNCTIONS.keys()
)


@each_function
def test_scalars_give_scalars(function, arity):
    for one in (1.0, 1, True, np.float64(1.0), np.float32(1.0), np.int64(1), np.array(1.0)):
        value = function(*[one] * arity)
        assert isinstance(value, float)
        assert value == function(*[[1.0]] * arity)[0]


@each_function
def test_empty_arrays_give_empty_arrays(function, arity):
    for shape in [(0,), (0, 3), (2, 0)]:
        value = function(*[np.empty(shape)] * arity)
        assert value.shape == shape
        assert value.dtype == np.float64
    assert function(*[[]] * arity).shape == (0,)


@each_function
def test_all_kinds_of_arrays_give_the_same(function, arity):
    plain = np.arange(1.0, 13.0).reshape(3, 4)
    want = function(*[plain] * arity)
    assert want.shape == (3, 4)
    frozen = plain.copy()
    frozen.flags.writeable = False
    strided = np.zeros((6, 8))
    strided[::2, ::2] = plain
    kinds = {
        "list": plain.tolist(),
        "integers": plain.astype(int),
        "single": plain.astype(np.float32),
        "Fortran": np.asfortranarray(plain),
        "strided": strided[::2, ::2],
        "reversed": plain[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": frozen,
        "swapped bytes": plain.astype(">f8"),
    }
    for kind, array in kinds.items():
        np.testing.assert_array_equal(function(*[array] * arity), want, err_msg=kind)
    for i, j in itertools.product(range(3), range(4)):
        one = function(*[plain[i, j]] * arity)
        assert one == pytest.approx(want[i, j], rel=1e-14, abs=1e-300)


@each_function
def test_inputs_are_left_alone_and_outputs_are_new(function, arity):
    given = [np.array([0.5, np.nan, 0.0, np.inf]) for _ in range(arity)]
    kept = [array.copy() for array in given]
    value = function(*given)
    for array, copy in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert not np.shares_memory(array, value)
    assert value.flags.writeable


@pytest.mark.parametrize("function", [log_ei, pbgi])
def test_shapes_broadcast(function):
    mean, std, third = np.linspace(-1.0, 1.0, 3)[:, None], np.array([0.5, 1.0, 2.0, 4.0]), 0.3
    value = function(mean, std, third)
    assert value.shape == (3, 4)
    for i, j in itertools.product(range(3), range(4)):
        assert value[i, j] == pytest.approx(function(mean[i, 0], std[j], third), rel=1e-14)
    with pytest.raises(ValueError, match="broadcast"):
        function(np.ones(2), np.ones(3), 1.0)


@pytest.mark.parametrize("function", [log_ei, log_ei_partials, pbgi, pbgi_partials])
@pytest.mark.parametrize("bad", [-1.0, -SMALLEST, -np.inf])
def test_a_negative_deviation_is_refused(function, bad):
    message = f"std must not be negative: got {bad!r} at position 2 (1 of 3 values). "
    with pytest.raises(InputError) as caught:
        function(0.0, [1.0, np.nan, bad], 1.0)
    assert str(caught.value) == message + "Give std >= 0."


@pytest.mark.parametrize("function", [pbgi, pbgi_partials])
@pytest.mark.parametrize("bad", [-1.0, -SMALLEST, -np.inf])
def test_a_negative_cost_is_refused(function, bad):
    """Counted among the costs as they were given, not as they were broadcast."""
    message = f"cost must not be negative: got {bad!r} at position 0 (1 of 1 values). "
    with pytest.raises(InputError) as caught:
        function(np.zeros(5), 1.0, bad)
    assert str(caught.value) == message + "Give cost >= 0."


def test_minus_zero_is_zero():
    assert pbgi(1.0, -0.0, 0.5) == 1.5
    assert pbgi(1.0, 1.0, -0.0) == -np.inf
    assert log_ei(1.0, -0.0, 3.0) == math.log(2.0)


def test_the_public_module_has_these_functions():
    ours = [d_log_h, inv_log_h, log_ei, log_ei_partials, log_h, pbgi, pbgi_partials]
    assert [getattr(stopwise.math, name) for name in stopwise.math.__all__] == ours
