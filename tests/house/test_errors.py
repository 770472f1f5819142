# SPDX-License-Identifier: Apache-2.0
"""The exceptions: their tree, and that they survive the way between processes."""

import copy
import inspect

import pytest

from stopwise import errors

TREE = {
    "StopwiseError": Exception,
    "InputError": ValueError,
    "InputTypeError": TypeError,
    "NumericsError": ArithmeticError,
    "JournalError": OSError,
    "MissingExtraError": ImportError,
}


def test_the_tree_is_the_one_drawn():
    classes = {
        name: cls
        for name, cls in vars(errors).items()
        if inspect.isclass(cls) and issubclass(cls, BaseException)
    }
    assert classes.keys() == TREE.keys() == set(errors.__all__)
    for name, builtin in TREE.items():
        assert issubclass(classes[name], errors.StopwiseError)
        assert issubclass(classes[name], builtin)
        assert f"{name} ({builtin.__name__})" in errors.__doc__


@pytest.mark.parametrize("name", TREE)
def test_an_error_survives_the_way_back_from_a_worker_process(name):
    # Executors rebuild exceptions by the protocol that copy uses too.
    error = getattr(errors, name)("a price of -1 was given; prices are positive")
    rebuilt = copy.copy(error)
    assert type(rebuilt) is type(error)
    assert str(rebuilt) == str(error)


def test_a_missing_extra_names_package_purpose_and_remedy():
    error = errors.MissingExtraError.of("optuna", extra="optuna", purpose="the Optuna sampler")
    assert error.name == "optuna"
    assert str(error).startswith("the Optuna sampler needs the package 'optuna'")
    assert "pip install 'stopwise[optuna]'" in str(error)
