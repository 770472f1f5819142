# SPDX-License-Identifier: Apache-2.0
"""The real tables, and small synthetic ones in their formats."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from stopwise_paper.problems import lcbench
from stopwise_paper.problems.data_folder import data_folder

CONFIGS = 40
TABLES = ("lcbench/lcbench.npz", "nats_tss/nats_tss.npz")


def require_real_data() -> Path:
    """The folder of the real tables.

    Where one is missing the test that asks is skipped; under CI it fails, so that a run in which
    nothing was tested is not taken for a success.
    """
    folder = data_folder()
    missing = [table for table in TABLES if not (folder / table).exists()]
    if missing:
        message = (
            f"this test needs {' and '.join(missing)}, not in {folder}: set STOPWISE_DATA to the"
            " folder that holds the data."
        )
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


def lcbench_configs(rng: np.random.Generator) -> list[dict[str, float]]:
    """Configurations as LCBench has them, with constant columns beside the seven."""
    return [
        {
            "batch_size": int(rng.integers(16, 513)),
            "learning_rate": float(10 ** rng.uniform(-4, -1)),
            "momentum": float(rng.uniform(0.1, 0.99)),
            "weight_decay": float(rng.uniform(1e-5, 1e-1)),
            "num_layers": int(rng.integers(1, 5)),
            "max_units": int(rng.integers(64, 1025)),
            "max_dropout": float(rng.uniform(0, 1)),
            "imputation": "mean",
        }
        for _ in range(CONFIGS)
    ]


def write_official_lcbench(folder: Path) -> dict:
    """LCBench's own JSON with two data sets."""
    rng = np.random.default_rng(0)
    configs = lcbench_configs(rng)
    content = {
        name: {
            str(i): {
                "config": config,
                "results": {
                    "final_val_accuracy": float(rng.uniform(50, 90)),
                    "final_test_accuracy": float(rng.uniform(50, 90)),
                    "model_parameters": float(1000 * config["max_units"]),
                },
                "log": {"time": [1.0, 2.0 + config["max_units"]]},
            }
            for i, config in enumerate(configs)
        }
        for name in ("adult", "toy")
    }
    (folder / "lcbench").mkdir()
    (folder / "lcbench" / "data_2k_lw.json").write_text(json.dumps(content))
    return content


def write_compact_lcbench(folder: Path) -> None:
    """The same as arrays."""
    rng = np.random.default_rng(0)
    configs = lcbench_configs(rng)
    shape = (2, CONFIGS)
    (folder / "lcbench").mkdir()
    np.savez(
        folder / "lcbench" / "lcbench.npz",
        datasets=np.array(["toy", "bank"]),
        config_names=np.array(list(lcbench.SPACE)[::-1]),
        configs=np.array([[c[k] for k in list(lcbench.SPACE)[::-1]] for c in configs]),
        model_parameters=rng.integers(1000, 100_000, shape),
        final_val_accuracy=rng.uniform(50, 90, shape),
        final_test_accuracy=rng.uniform(50, 90, shape),
        time_real=np.stack([rng.uniform(1, 9, CONFIGS), np.full(CONFIGS, np.nan)]),
        time_yahpo_surrogate=rng.uniform(1, 9, shape),
    )
    lines = "dataset,instances,real_slope,yahpo_slope\ntoy,500,0.002,0.003\nbank,45211,,0.004\n"
    (folder / "lcbench" / "datasets.csv").write_text(lines)
