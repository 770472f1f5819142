# SPDX-License-Identifier: Apache-2.0
"""LCBench: 2,000 neural networks on each of 35 data sets (Zimmer, Lindauer and Hutter 2021)."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.data_folder import find_file
from stopwise_paper.problems.problem import LEARNED, Table

SPACE = {
    "batch_size": sw.Real(16, 512, log=True),
    "learning_rate": sw.Real(1e-4, 1e-1, log=True),
    "momentum": sw.Real(0.1, 0.99),
    "weight_decay": sw.Real(1e-5, 1e-1),
    "num_layers": sw.Real(1, 4),
    "max_units": sw.Real(64, 1024, log=True),
    "max_dropout": sw.Real(0.0, 1.0),
}
PUBLISHED_SLOPE = 0.001  # seconds per model parameter
PUBLISHED = ("Fashion-MNIST", "adult", "higgs", "volkert")  # data sets priced at that slope
EPSILON = 0.005  # of the probabilistic regret bound, as a part of the best test error

_FILES = ("lcbench/lcbench.npz", "lcbench/data_2k_lw.json", "lcbench/six_datasets_lw.json")
_SOURCE = "Get data_2k_lw.json of LCBench (github automl/LCBench names the place)."


@dataclass(frozen=True, eq=False)
class LCBench:
    """The tables of all data sets; arrays are (data sets, configurations)."""

    datasets: tuple[str, ...]
    configs: Array  # (configurations, 7), raw, in the order of SPACE
    model_parameters: Array
    val_accuracy: Array
    test_accuracy: Array
    seconds: Array  # measured; nan where they were not
    surrogate_seconds: Array  # predicted by a surrogate; nan where there is no prediction
    slopes: Mapping[str, tuple[float, str]] = field(default_factory=dict)  # with their source

    def slope(self, dataset: str) -> tuple[float, str]:
        """Seconds per model parameter, and the source of that number."""
        if dataset in PUBLISHED:
            return PUBLISHED_SLOPE, "published"
        if dataset in self.slopes:
            return self.slopes[dataset]
        i = self.datasets.index(dataset)
        slope, _ = np.polyfit(self.model_parameters[i], self.seconds[i], 1)
        return float(slope), "real"


def lcbench_problem(dataset: str, *, runtime: str = "real") -> Table:
    """The problem of one data set.

    Args:
        dataset: Its name in LCBench.
        runtime: The runtimes that are paid: ``"real"`` ones, where they were measured, or those
            that a ``"surrogate"`` predicts.
    """
    data = tables()
    if dataset not in data.datasets:
        message = f"LCBench has no data set {dataset!r}; it has {', '.join(data.datasets)}."
        raise InputError(message)
    i = data.datasets.index(dataset)
    slope, source = data.slope(dataset)
    proxy = slope * data.model_parameters[i]
    actual = data.surrogate_seconds[i] if runtime == "surrogate" else data.seconds[i]
    costs, judged = {"proxy": proxy}, {"proxy": proxy}
    measured = bool(np.isfinite(actual).all())
    if measured:
        costs[LEARNED] = judged[LEARNED] = judged["proxy"] = actual
    domain = _domain()
    y, test = 100.0 - data.val_accuracy[i], 100.0 - data.test_accuracy[i]
    facts: dict[str, str | float] = {
        "slope": slope,
        "slope_source": source,
        "runtime": runtime if measured else "none",
    }
    return Table(domain, y, test, costs, judged, EPSILON * float(test.min()), facts=facts)


def datasets() -> tuple[str, ...]:
    """Names of the data sets in the data folder."""
    return tables().datasets


@lru_cache(maxsize=1)
def tables() -> LCBench:
    """The tables of the data folder, read once."""
    path = find_file(*_FILES, content="LCBench", source=_SOURCE)
    return read_npz(path) if path.suffix == ".npz" else read_official(path)


@lru_cache(maxsize=1)
def _domain() -> sw.space.Finite:
    return candidates(tables().configs).domain


def candidates(configs: Array) -> sw.Candidates:
    """The configurations as a space, scaled as the published runs did."""
    rows = [dict(zip(SPACE, map(float, row), strict=True)) for row in configs]
    table = sw.Candidates(rows, space=SPACE)
    if len(table.domain) != len(configs):
        message = "two configurations of LCBench are equal: rows could not be told apart."
        raise InputError(message)
    return table


def read_npz(path: Path) -> LCBench:
    """The compact form: one array per column, and the slopes beside it in ``datasets.csv``."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    order = [arrays["config_names"].tolist().index(name) for name in SPACE]
    return LCBench(
        tuple(map(str, arrays["datasets"])),
        arrays["configs"][:, order],
        arrays["model_parameters"].astype(np.float64),
        arrays["final_val_accuracy"].astype(np.float64),
        arrays["final_test_accuracy"].astype(np.float64),
        arrays["time_real"].astype(np.float64),
        arrays["time_yahpo_surrogate"].astype(np.float64),
        _slopes(path.with_name("datasets.csv")),
    )


def read_official(path: Path) -> LCBench:
    """LCBench's own JSON: data set -> configuration -> config, results, log."""
    content: dict[str, dict[str, Any]] = json.loads(path.read_text())
    names = tuple(content)
    ids = sorted(content[names[0]], key=int)
    runs = [[content[name][i] for i in ids] for name in names]

    def final(tag: str) -> Array:
        return np.array([[run["results"][tag] for run in row] for row in runs], dtype=np.float64)

    seconds = np.array([[run["log"]["time"][-1] for run in row] for row in runs], dtype=np.float64)
    configs = np.array([[run["config"][k] for k in SPACE] for run in runs[0]], dtype=np.float64)
    parameters = np.array(
        [[run["config"].get("model_parameters", np.nan) for run in row] for row in runs]
    )
    if np.isnan(parameters).any():
        parameters = final("model_parameters")
    return LCBench(
        names,
        configs,
        parameters,
        final("final_val_accuracy"),
        final("final_test_accuracy"),
        seconds,
        np.full(seconds.shape, np.nan),
    )


def _slopes(path: Path) -> dict[str, tuple[float, str]]:
    """Regression slopes of runtime on model parameters: measured runtimes, else predicted ones."""
    slopes: dict[str, tuple[float, str]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            real = row["real_slope"]
            slopes[row["dataset"]] = (
                (float(real), "real") if real else (float(row["yahpo_slope"]), "surrogate")
            )
    return slopes


def instances() -> dict[str, int]:
    """Size of each data set; those above 10,000 are the paper's large ones."""
    return {row["dataset"]: int(row["instances"]) for row in _facts()}


def overlaps() -> dict[str, float]:
    """The share of the 20 best configurations by validation error among those by test error."""
    return {row["dataset"]: float(row["top20_overlap"]) for row in _facts()}


def _facts() -> list[dict[str, str]]:
    """Facts of the data sets that figures need where the tables themselves are not at hand."""
    path = files("stopwise_paper") / "data" / "lcbench_facts.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
