# SPDX-License-Identifier: Apache-2.0
"""NATS-Bench: convolutional networks on three image data sets (Dong et al. 2021).

The paper uses the *size* space: 32,768 widths of five layers. Its accuracies come in the official
files, which the package ``nats_bench`` reads; ``convert`` makes of them the table that is loaded
here. The *topology* space, 15,625 cells of six operations, is another one; where it stands in for
the size space, results say so.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.data_folder import find_file
from stopwise_paper.problems.problem import LEARNED, Table

DATASETS = ("cifar10-valid", "cifar100", "ImageNet16-120")
EPSILON = 0.005  # of the probabilistic regret bound, as a part of the best test error
# The paper's proxy of the runtime in the size space, alpha F + beta, F in millions.
SIZE_PROXY = {
    "cifar10-valid": (1.0, 400.0),
    "cifar100": (2.0, 550.0),
    "ImageNet16-120": (1.0, 1000.0),
}
CHANNELS = 64.0  # the widest layer

_SOURCE_SIZE = (
    "Get NATS-sss-v1_0-50262-simple of NATS-Bench (github D-X-Y/NATS-Bench names the place),"
    " install nats_bench, and convert it: python -m stopwise_paper.problems.nats FOLDER OUT."
)
_SOURCE_TOPOLOGY = "It is a table of NATS-Bench's topology space: arch_ops, accuracies, times."


def nats_size(dataset: str) -> Table:
    """The paper's problem: widths of five layers, priced by FLOPs."""
    _checked(dataset)
    flops = find_file("nats_sss_costs/nats_sss_flops.npz", content="FLOPs", source=_SOURCE_SIZE)
    with np.load(flops, allow_pickle=False) as file:
        channels, F = file["channels"].astype(np.float64), file["flops_M_cifar10"]
    path = find_file(
        "nats_sss/nats_sss.npz", content="NATS-Bench's size space", source=_SOURCE_SIZE
    )
    alpha, beta = SIZE_PROXY[dataset]
    return _table(path, dataset, _size_domain(channels.tobytes()), alpha * F + beta, "size")


def nats_topology(dataset: str) -> Table:
    """The stand-in: six operations, priced by a regression of the runtime on FLOPs."""
    _checked(dataset)
    path = find_file(
        "nats_tss/nats_tss.npz", content="The topology space", source=_SOURCE_TOPOLOGY
    )
    with np.load(path, allow_pickle=False) as file:
        ops, names, F = file["arch_ops"], file["op_names"], file["flops_M"]
        i = file["datasets"].tolist().index(dataset)
        seconds = file["train_time"][i].astype(np.float64) + file["valid_time"][i]
    alpha, beta = np.polyfit(F, seconds, 1)
    domain = _topology_domain(ops.tobytes(), tuple(map(str, names)))
    return _table(path, dataset, domain, alpha * F + beta, "topology (stand-in)")


def _checked(dataset: str) -> None:
    if dataset not in DATASETS:
        message = f"NATS-Bench has the data sets {', '.join(DATASETS)}, not {dataset!r}."
        raise InputError(message)


def _table(path: Path, dataset: str, domain: sw.space.Finite, proxy: Array, space: str) -> Table:
    with np.load(path, allow_pickle=False) as file:
        i = file["datasets"].tolist().index(dataset)
        y = 100.0 - file["valid_acc"][i].astype(np.float64)
        test = 100.0 - file["test_acc"][i].astype(np.float64)
        seconds = file["train_time"][i].astype(np.float64) + file["valid_time"][i]
    return Table(
        domain,
        y,
        test,
        {"proxy": proxy, LEARNED: seconds},
        {"proxy": seconds, LEARNED: seconds},
        EPSILON * float(test.min()),
        facts={"space": space, "runtime": "real"},
    )


@lru_cache(maxsize=1)
def _size_domain(channels: bytes) -> sw.space.Finite:
    rows = np.frombuffer(channels).reshape(-1, 5)
    space = {f"layer{i}": sw.Real(8.0, CHANNELS) for i in range(5)}
    return _distinct([dict(zip(space, row, strict=True)) for row in rows.tolist()], space)


@lru_cache(maxsize=1)
def _topology_domain(ops: bytes, names: tuple[str, ...]) -> sw.space.Finite:
    rows = np.frombuffer(ops, dtype=np.int8).reshape(-1, 6)
    edges = ("1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2")
    space = {edge: sw.Categorical(names) for edge in edges}
    return _distinct(
        [dict(zip(edges, (names[op] for op in row), strict=True)) for row in rows.tolist()], space
    )


def _distinct(rows: list[dict[str, Any]], space: dict[str, Any]) -> sw.space.Finite:
    domain = sw.Candidates(rows, space=space).domain
    if len(domain) != len(rows):
        message = "two architectures have the same encoding: their rows cannot be told apart."
        raise InputError(message)
    return domain


class NATSBench(Protocol):
    """The part of ``nats_bench.create(folder, "sss", fast_mode=True, verbose=False)`` in use."""

    def get_more_info(
        self, index: int, dataset: str, *, hp: str, is_random: bool
    ) -> dict[str, float]:
        """Accuracies and times of one architecture."""
        ...


def convert(api: NATSBench, out: Path, architectures: int = 32_768) -> Path:
    """The official size space as one table, which ``nats_size`` loads.

    Args:
        api: NATS-Bench's own interface.
        out: Where to write it: ``nats_sss/nats_sss.npz`` in the data folder.
        architectures: How many, from the first on.
    """
    tags = {
        "valid_acc": "valid-accuracy",
        "test_acc": "test-accuracy",
        "train_time": "train-all-time",
        "valid_time": "valid-all-time",
    }
    arrays = {name: np.empty((len(DATASETS), architectures), "float32") for name in tags}
    for i, dataset in enumerate(DATASETS):
        for j in range(architectures):
            info = api.get_more_info(j, dataset, hp="90", is_random=False)
            for name, tag in tags.items():
                arrays[name][i, j] = info[tag]
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, datasets=np.array(DATASETS), **arrays)  # type: ignore[arg-type]
    return out


def main(folder: str, out: str) -> None:
    """Convert the official files in a folder."""
    try:
        from nats_bench import create  # type: ignore[import-not-found]
    except ImportError as error:
        message = "reading NATS-Bench's official files needs its package: install nats_bench."
        raise InputError(message) from error
    convert(create(folder, "sss", fast_mode=True, verbose=False), Path(out))


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
