# SPDX-License-Identifier: Apache-2.0
"""Kernels and warps in journals: written where they are not the default, and read back."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from stopwise.core.beliefs import (
    DEFAULT_KERNEL,
    DEFAULT_WARP,
    KERNELS,
    WARPS,
    Fitted,
    Hyperparameters,
)
from stopwise.errors import JournalError
from stopwise.record.journal import _lines as lines


@dataclass(frozen=True)
class Rough(type(DEFAULT_KERNEL)):
    grain: float = 0.5
    name: ClassVar[str] = "rough"


@dataclass(frozen=True)
class Bent(type(DEFAULT_WARP)):
    shift: float = 0.1
    name: ClassVar[str] = "bent"


def there_and_back(fitted):
    line = lines._fitted_as_json(fitted)
    return line, lines._fitted(line)


def test_the_default_model_is_not_written():
    fitted = Fitted(Hyperparameters([0.3, 0.1]), Hyperparameters([1.0]))
    line, read = there_and_back(fitted)
    assert line["objective"].keys() == {"lengthscales", "outputscale", "noise", "mean"}
    assert read == fitted


def test_another_kernel_and_another_warp_are_written_with_their_parameters(monkeypatch):
    monkeypatch.setitem(KERNELS, "rough", Rough)
    monkeypatch.setitem(WARPS, "bent", Bent)
    hyper = Hyperparameters([0.3], kernel=Rough(0.7), warp=Bent(2.0))
    line, read = there_and_back(Fitted(hyper))
    assert line["objective"]["kernel"] == {"name": "rough", "grain": 0.7}
    assert line["objective"]["warp"] == {"name": "bent", "shift": 2.0}
    assert read == Fitted(hyper)
    assert read.objective.kernel == Rough(0.7)


@pytest.mark.parametrize(
    ("hyper", "complaint"),
    [
        (Hyperparameters([0.3], kernel=Rough()), "kernel Rough.* is none of"),
        (Hyperparameters([0.3], warp=Bent()), "warp Bent.* is none of"),
    ],
    ids=["kernel", "warp"],
)
def test_what_no_table_has_cannot_be_written(hyper, complaint):
    with pytest.raises(JournalError, match=complaint):
        lines._fitted_as_json(Fitted(hyper))
