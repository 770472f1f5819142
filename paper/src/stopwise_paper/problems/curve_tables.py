# SPDX-License-Identifier: Apache-2.0
"""Tables of learning curves: what each configuration has reported, and cost, by stage.

Those of scikit-learn come with this package; ``benchmarks/_sklearn_curves.py`` made them.

The final value is the one at the last stage. A run that diverged has no value (nan) from the stage
on within which it did, and costs nothing after that: it has ended. Steps are epochs (points of the
curve on TaskSet); AlexNet's runs differ in length, so that a step there is a 27th of the run.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems import curves
from stopwise_paper.problems.columns import candidates_of
from stopwise_paper.problems.data_folder import find_file
from stopwise_paper.problems.lcbench import SPACE, tables

CHOSEN, JUDGED = "chosen", "judged"
REAL, SURROGATE = "real", "surrogate"
BLOOD = "blood-transfusion-service-center"
SKLEARN = ("digits-network", "cancer-boosting")
SURROGATES = (
    "Amazon_employee_access",
    "Australian",
    "car",
    "cnae-9",
    "covertype",
    "fabert",
    "Fashion-MNIST",
    "jasmine",
    "kr-vs-kp",
    "nomao",
    "segment",
    "volkert",
)
ETA = 3
_LCBENCH_STEPS, _TASKSET_STEPS, _ALEXNET_STEPS = (2, 6, 17, 51), (2, 6, 17, 50), (1, 3, 9, 27)
_SOURCE_BLOOD = "It is made of github ltiao/LCBenchLite."
_SOURCE_SURROGATE = "It is predicted by the LCBench surrogate of github slds-lmu/yahpo_data."


@dataclass(frozen=True, eq=False)
class CurveTable:
    """A table of learning curves, one row a configuration, one column a stage.

    Args:
        domain: The configurations.
        params: The same as users write them.
        steps: The stages.
        values: What is reported at each stage, minimised; nan from the stage on at which a run
            has diverged.
        costs: What each stage costs, after the one before.
        judged: The value that regret counts (the test error, say); nan for diverged runs.
        source: ``"real"`` or ``"surrogate"``.
    """

    domain: sw.space.Finite
    params: tuple[dict[str, Any], ...]
    steps: tuple[int, ...]
    values: Array
    costs: Array
    judged: Array
    source: str

    def __len__(self) -> int:
        """Number of configurations."""
        return len(self.values)

    @property
    def optimum(self) -> float:
        """The best judged value."""
        return float(np.nanmin(self.judged))

    @property
    def gap(self) -> float:
        """The median of the judged values minus the best."""
        return float(np.nanmedian(self.judged)) - self.optimum

    @property
    def run_cost(self) -> float:
        """The median cost of a whole run."""
        return float(np.median(self.costs.sum(axis=1)))

    def lam(self, evaluations: float) -> float:
        """Lambda at which the gap is worth so many whole runs of median cost."""
        return self.gap / (evaluations * self.run_cost)


class _Curves(NamedTuple):
    """What was measured of configurations.

    Args:
        values: By stage.
        paid: What was paid in all until each stage.
        judged: By configuration.
        source: Of the curves.
    """

    values: Array
    paid: Array
    judged: Array
    source: str


def half_of(problem: str) -> str:
    """``"chosen"`` if the method was chosen on it, ``"judged"`` if it was kept back."""
    collection, _, name = problem.partition(":")
    number = zlib.crc32(name.encode())
    if collection == "taskset":
        return CHOSEN if (number >> 1) % 2 == 0 else JUDGED
    if collection == "surrogate":
        return CHOSEN if number % 7 in {0, 1, 2, 3} else JUDGED
    return JUDGED


def problem_names() -> tuple[str, ...]:
    """All tables, the real ones first."""
    return (
        "alexnet",
        *(f"taskset:{task}" for task in curves.TASKS),
        f"lcbench:{BLOOD}",
        *(f"sklearn:{name}" for name in SKLEARN),
        *(f"surrogate:{name}" for name in SURROGATES),
    )


@lru_cache(maxsize=4)
def curve_table(problem: str) -> CurveTable:
    """The table of a problem by its name."""
    collection, _, name = problem.partition(":")
    makers = {
        "alexnet": _alexnet,
        "taskset": _taskset,
        "lcbench": _blood,
        "sklearn": _sklearn,
        "surrogate": _surrogate,
    }
    if collection not in makers:
        message = f"there is no table of curves {problem!r}; give one of {problem_names()}."
        raise InputError(message)
    return makers[collection](name)


def _alexnet(_name: str) -> CurveTable:
    path = find_file("curves/alexnet.npz", content="AlexNet", source=curves.SOURCE_ALEXNET)
    with np.load(path, allow_pickle=False) as file:
        names, configs = tuple(map(str, file["param_names"])), file["params"].astype(np.float64)
        error = 100.0 - file["top1_accuracy"].astype(np.float64)
        hours = file["seconds"].astype(np.float64) / 3600.0
        diverged = file["diverged"]
    last = np.isfinite(error).sum(axis=1)  # epochs that were reported
    epochs = configs[:, names.index("epochs")].astype(int)
    first_epoch = float(np.nanmedian(hours[:, 0]))
    rows, values, paid = np.arange(len(configs)), [], []
    for step in _ALEXNET_STEPS:
        epoch = -(-epochs * step // _ALEXNET_STEPS[-1])
        ended = diverged & (last < np.maximum(epoch, 1))
        at = np.minimum(epoch, last) - 1
        values.append(np.where(ended | (at < 0), np.nan, error[rows, np.maximum(at, 0)]))
        paid.append(np.where(at < 0, first_epoch, hours[rows, np.maximum(at, 0)]))
    final = np.where(diverged, np.nan, values[-1])
    values[-1] = final
    found = _Curves(np.array(values).T, np.array(paid).T, final, REAL)
    return _table(names, configs, _ALEXNET_STEPS, found)


def _taskset(task: str) -> CurveTable:
    name = f"curves/taskset_{task}.npz"
    path = find_file(name, content="TaskSet", source=curves.SOURCE_TASKSET)
    with np.load(path, allow_pickle=False) as file:
        names, configs = tuple(map(str, file["param_names"])), file["params"].astype(np.float64)
        valid, test = (file[k].astype(np.float64) for k in ("valid_loss", "test_loss"))
    steps = np.array(_TASKSET_STEPS)
    broken = np.cumsum(~np.isfinite(valid), axis=1) > 0
    broken[:, -1] |= ~np.isfinite(test[:, -1])
    values = np.where(broken, np.nan, valid)[:, steps]
    judged = np.where(broken[:, -1], np.nan, test[:, -1])
    lasted = np.where(broken.any(axis=1), broken.argmax(axis=1), steps[-1])
    paid = np.minimum(steps, np.maximum(lasted, 1)[:, None]) / steps[-1]
    return _table(names, configs, _TASKSET_STEPS, _Curves(values, paid, judged, REAL))


def _blood(_name: str) -> CurveTable:
    name = "curves/lcbench_blood_real_curves.npz"
    path = find_file(name, content="curves of LCBench", source=_SOURCE_BLOOD)
    with np.load(path, allow_pickle=False) as file:
        valid, test = (
            100.0 - file[k].astype(np.float64) for k in ("val_accuracy", "test_accuracy")
        )
        seconds = file["seconds"].astype(np.float64)
    steps = np.array(_LCBENCH_STEPS)
    return _lcbench(_Curves(valid[:, steps], seconds[:, steps], test[:, -1], REAL))


def _sklearn(name: str) -> CurveTable:
    path = files("stopwise_paper") / "data" / "sklearn_curves.npz"
    with path.open("rb") as binary, np.load(binary, allow_pickle=False) as file:
        names = tuple(map(str, file[f"{name}/names"]))
        configs = file[f"{name}/configs"].astype(np.float64)
        steps = tuple(map(int, file[f"{name}/steps"]))
        valid, test, seconds = np.moveaxis(file[f"{name}/measured"].astype(np.float64), 2, 0)
    found = _Curves(valid, seconds.cumsum(axis=1), test[:, -1], REAL)
    return _table(names, configs, steps, found)


def _surrogate(dataset: str) -> CurveTable:
    with np.load(_surrogate_file(), allow_pickle=False) as file:
        i = file["datasets"].tolist().index(dataset)
        valid = 100.0 - file["val_accuracy"][i].astype(np.float64)
        seconds = file["seconds"][i].astype(np.float64)
    steps = np.array(_LCBENCH_STEPS)
    paid = np.maximum.accumulate(seconds, axis=1)[:, steps]
    return _lcbench(_Curves(valid[:, steps], paid, valid[:, -1], SURROGATE))


def _surrogate_file() -> Path:
    name = "curves/lcbench_surrogate_curves.npz"
    return find_file(name, content="surrogate curves of LCBench", source=_SOURCE_SURROGATE)


def _lcbench(found: _Curves) -> CurveTable:
    return _table(tuple(SPACE), tables().configs, _LCBENCH_STEPS, found, SPACE)


def _table(
    names: tuple[str, ...],
    configs: Array,
    steps: tuple[int, ...],
    found: _Curves,
    space: Any = None,  # noqa: ANN401  a space; from the ranges of the parameters if left out
) -> CurveTable:
    """The table of configurations that differ; equal rows are one candidate."""
    table, first = candidates_of(names, configs, linear=curves.LINEAR, space=space)
    costs = np.diff(found.paid, axis=1, prepend=0.0)[first]
    kept = tuple(dict(zip(names, row, strict=True)) for row in configs[first].tolist())
    values, judged = found.values[first], found.judged[first]
    return CurveTable(table.domain, kept, steps, values, costs, judged, found.source)
