# SPDX-License-Identifier: Apache-2.0
"""Kernels and warps in journals: written where they are not the default, and read back."""

import json
import math
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
    ObjectiveFit,
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


def one(hyper):
    return Fitted(ObjectiveFit((hyper,)))


def there_and_back(fitted):
    line = lines._fitted_as_json(fitted)
    return line, lines._fitted(line)


def test_the_default_model_is_not_written():
    fitted = Fitted(ObjectiveFit((Hyperparameters([0.3, 0.1]),)), Hyperparameters([1.0]))
    line, read = there_and_back(fitted)
    assert line["objective"].keys() == {"lengthscales", "outputscale", "noise", "mean"}
    assert read == fitted


def test_another_kernel_and_another_warp_are_written_with_their_parameters(monkeypatch):
    monkeypatch.setitem(KERNELS, "rough", Rough)
    monkeypatch.setitem(WARPS, "bent", Bent)
    hyper = Hyperparameters([0.3], kernel=Rough(0.7), warp=Bent(2.0))
    line, read = there_and_back(one(hyper))
    assert line["objective"]["kernel"] == {"name": "rough", "grain": 0.7}
    assert line["objective"]["warp"] == {"name": "bent", "shift": 2.0}
    assert read == one(hyper)
    assert read.objective.components[0].kernel == Rough(0.7)


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
        lines._fitted_as_json(one(hyper))


def test_an_ensemble_is_written_with_its_weights_its_trust_and_the_warp_within_a_bound():
    clipped = WARPS["clipped"](0.0, math.inf, WARPS["soft"](2.0, 0.5))
    hypers = (Hyperparameters([0.3]), Hyperparameters([0.2], warp=clipped))
    fitted = Fitted(ObjectiveFit(hypers, (0.25, 0.75), 0.5))
    line, read = there_and_back(fitted)
    assert json.loads(json.dumps(line)) == line
    assert line["objective"]["weights"] == [0.25, 0.75]
    assert line["objective"]["components"][1]["warp"]["of"]["name"] == "soft"
    assert read == fitted
