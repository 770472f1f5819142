# SPDX-License-Identifier: Apache-2.0
"""Hyper-parameters: what they refuse, saying what was given, and how they are compared."""

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, ObjectiveFit, condition, fit_posterior
from stopwise.errors import InputError, InputTypeError

X, Y = np.array([[0.1, 0.2], [0.7, 0.9], [0.4, 0.3]]), np.array([0.3, -1.0, 0.2])


@pytest.mark.parametrize(
    "given",
    [0.3, [[0.3, 0.5]], [0.3, 0.0], [0.3, -1.0], [0.3, np.nan], [0.3, np.inf]],
    ids=["a number", "a matrix", "zero", "negative", "nan", "infinite"],
)
def test_length_scales_are_a_row_of_positive_numbers(given):
    with pytest.raises(InputError, match="a row of positive numbers, got") as caught:
        Hyperparameters(given)
    assert repr(given) in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [None, "0.3", ["0.3"], {"x": 0.3}, [True], [[0.3], [0.2, 0.5]], [1j]],
    ids=["None", "text", "texts", "a dict", "truth", "ragged", "complex"],
)
def test_length_scales_are_numbers(given):
    with pytest.raises(InputTypeError, match="length scales must be numbers, got") as caught:
        Hyperparameters(given)
    assert repr(given) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "error", "complaint"),
    [
        ("outputscale", 0.0, InputError, "outputscale=0.0: .* is positive"),
        ("outputscale", -1.0, InputError, "outputscale=-1.0: .* is positive"),
        ("noise", -1e-9, InputError, "noise=-1e-09: .* is 0 or more"),
        ("noise", np.inf, InputError, "noise=inf: give a finite number"),
        ("mean", np.nan, InputError, "mean=nan: give a finite number"),
        ("mean", "low", InputTypeError, "mean must be a real number, got 'low'"),
        ("outputscale", None, InputTypeError, "outputscale must be a real number, got None"),
    ],
)
def test_the_other_numbers_are_checked_too(name, given, error, complaint):
    with pytest.raises(error, match=complaint):
        Hyperparameters([0.3], **{name: given})


def test_whole_numbers_count_and_nothing_of_the_caller_is_kept():
    own = np.array([1, 2])
    hyper = Hyperparameters(own, 2, 0)
    own[0] = 9
    assert hyper.lengthscales.tolist() == [1.0, 2.0]
    assert hyper.lengthscales.dtype == np.float64
    assert not hyper.lengthscales.flags.writeable
    assert (hyper.outputscale, hyper.noise) == (2.0, 0.0)


@pytest.mark.parametrize("lengthscales", [[0.3], [0.3, 0.5, 0.7]], ids=["too few", "too many"])
def test_there_is_one_length_scale_for_each_parameter(lengthscales):
    hyper = Hyperparameters(lengthscales)
    complaint = f"{len(lengthscales)} length scales for 2 parameters: .* these are"
    with pytest.raises(InputError, match=complaint):
        condition(X, Y, hyper)
    with pytest.raises(InputError, match=complaint):
        fit_posterior(X, Y, start=hyper)
    one_parameter = condition(X, Y, Hyperparameters([0.3]), groups=np.array([0, 0]))
    assert one_parameter.column_lengthscales.tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    ("components", "weights", "complaint"),
    [
        ((), (), "0 weights for 0 sets"),
        (([0.3], [0.5]), (1.0,), "1 weights for 2 sets of hyper-parameters"),
        (([0.3], [0.5, 0.2]), (0.5, 0.5), "2 length scales for 1 parameters"),
    ],
    ids=["none", "weights", "length scales"],
)
def test_the_parts_of_a_fit_belong_together(components, weights, complaint):
    with pytest.raises(InputError, match=complaint):
        ObjectiveFit(tuple(map(Hyperparameters, components)), weights)


def test_hyper_parameters_are_compared_by_their_numbers():
    one, same = (Hyperparameters([0.5, 0.8], 1.6, noise=0.05) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Hyperparameters([0.5, 0.9], 1.6, noise=0.05)
    assert one != Hyperparameters([0.5, 0.8], 1.5, noise=0.05)
    assert one != Hyperparameters([0.5], 1.6, noise=0.05)
    assert one != "a word"
