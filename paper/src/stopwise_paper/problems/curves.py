# SPDX-License-Identifier: Apache-2.0
"""Tables of final values from recorded training runs: AlexNet on ImageNet, and TaskSet.

Runs that diverged have no value (nan): told to a study they are failures. They are paid for, too.
AlexNet (Lourie 2025, opda) has 512 configurations with the hours of their training, up to 11.9.
TaskSet (Metz et al. 2020) has 1,000 configurations of Adam on each task and no times: a full run
is one unit of cost.
"""

from __future__ import annotations

import numpy as np

from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.columns import candidates_of
from stopwise_paper.problems.data_folder import find_file
from stopwise_paper.problems.problem import LEARNED, Table

RUNS = "runs"  # the price of TaskSet: every run costs 1
TASKS = (
    "patch128_LSTM128_bs64",
    "patch128_LSTM128_embed128_bs64",
    "patch32_GRU64_avg_bs128",
    "patch32_IRNN64_relu_avg_bs128",
    "patch32_LSTM128_bs128",
    "patch32_VRNN64_relu_avg_bs128",
)

_ALEXNET = "curves/alexnet.npz"
SOURCE_ALEXNET = "It is made of data/alexnet of github nicholaslourie/opda."
SOURCE_TASKSET = "It is made of data/taskset of github machinelearningnuremberg/DyHPO."
LINEAR = (
    "epochs",
    "lr_peak_epoch",
    "momentum",
    "label_smoothing",
    "beta1",
    "beta2",
    "depth",
    "subsample",
)
_EPSILON = 0.005  # of the probabilistic regret bound, as a part of the best value


def check_alexnet() -> None:
    """Refuse to go on where the file of AlexNet is missing."""
    find_file(_ALEXNET, content="AlexNet on ImageNet", source=SOURCE_ALEXNET)


def check_taskset() -> None:
    """Refuse to go on where files of TaskSet are missing."""
    for task in TASKS:
        find_file(f"curves/taskset_{task}.npz", content="TaskSet", source=SOURCE_TASKSET)


def alexnet(_dataset: str = "") -> Table:
    """Top-1 error in percent after the last epoch, and hours that have to be learned.

    A run that diverged within its first epoch has no time: it is charged a usual first epoch.
    """
    path = find_file(_ALEXNET, content="AlexNet on ImageNet", source=SOURCE_ALEXNET)
    with np.load(path, allow_pickle=False) as file:
        names, configs = tuple(map(str, file["param_names"])), file["params"].astype(np.float64)
        accuracy, seconds = (file[k].astype(np.float64) for k in ("top1_accuracy", "seconds"))
        error = np.where(file["diverged"], np.nan, 100.0 - _last(accuracy))
    first_epoch = float(np.nanmedian(seconds[:, 0]))
    hours = np.nan_to_num(_last(seconds), nan=first_epoch) / 3600.0
    return _table(names, configs, error, error, {LEARNED: hours})


def taskset(task: str) -> Table:
    """Validation loss at the end of training, judged by the loss on the test data."""
    if task not in TASKS:
        message = f"the tasks are {', '.join(TASKS)}, not {task!r}."
        raise InputError(message)
    name = f"curves/taskset_{task}.npz"
    path = find_file(name, content="TaskSet", source=SOURCE_TASKSET)
    with np.load(path, allow_pickle=False) as file:
        names, configs = tuple(map(str, file["param_names"])), file["params"].astype(np.float64)
        valid, test = (file[k][:, -1].astype(np.float64) for k in ("valid_loss", "test_loss"))
    diverged = ~(np.isfinite(valid) & np.isfinite(test))
    valid, test = (np.where(diverged, np.nan, loss) for loss in (valid, test))
    return _table(names, configs, valid, test, {RUNS: np.ones(len(valid))})


def _last(curves: Array) -> Array:
    """The last number of each row that is not nan; nan where there is none."""
    finite = np.isfinite(curves)
    last = curves.shape[1] - 1 - finite[:, ::-1].argmax(axis=1)
    return np.asarray(curves[np.arange(len(curves)), last])


def _table(
    names: tuple[str, ...], configs: Array, y: Array, judged: Array, costs: dict[str, Array]
) -> Table:
    table, first = candidates_of(names, configs, linear=LINEAR)
    paid = {price: column[first] for price, column in costs.items()}
    epsilon = _EPSILON * float(np.nanmin(judged))
    return Table(
        table.domain, y[first], judged[first], paid, paid, epsilon, facts={"runtime": "real"}
    )
