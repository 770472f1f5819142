# SPDX-License-Identifier: Apache-2.0
"""The reader of a client of Ax that was saved as JSON.

Ax makes objects of what the file names, and evaluates expressions in it as Python (by SymPy). So
the file is read as plain JSON first: what the history needs is kept, and handed to Ax only if it
consists of types that are known to be harmless and if its objective is a name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ax.core.experiment import Experiment
from ax.storage.json_store.decoder import object_from_json

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import reading, text_of

_TYPES = frozenset(
    (
        *("Experiment", "ExperimentStatus", "SearchSpace", "OptimizationConfig", "Objective"),
        *("RangeParameter", "ChoiceParameter", "FixedParameter", "ParameterType"),
        *("Metric", "MapMetric", "Data", "MapData", "DataFrame", "OrderedDict", "datetime"),
        *("Trial", "TrialStatus", "GeneratorRun", "Arm"),
    )
)
# Parts of an experiment and of a trial that say nothing about values and costs.
_DROPPED: dict[str, dict[str, Any]] = {
    "Experiment": {
        "properties": {},
        "runner": None,
        "_trial_type_to_runner": {},
        "auxiliary_experiments_by_purpose": {},
    },
    "Trial": {"run_metadata": {}, "stop_metadata": {}, "properties": {}},
    "Metric": {"properties": {}},
    "MapMetric": {"properties": {}},
}
_KEPT_OF_RUN = ("__type", "arms", "weights", "time_created", "generator_run_type")
# Names without brackets, quotes, operators: nothing in them can be called.
_NAME = re.compile(r"-?[^\W\d][\w./: ]{0,200}")


def read_experiment(path: str | Path) -> Experiment:
    """The experiment of a client that was saved with ``save_to_json_file``; no code is run."""
    what = f"the client {str(path)!r}"
    with reading(what):
        written = json.loads(text_of(path))
        if not isinstance(written, dict) or not isinstance(written.get("experiment"), dict):
            message = f"{what} is not one that Ax saved: it has no 'experiment'."
            raise InputError(message)
        experiment = object_from_json(_harmless(written["experiment"], what))
        if not isinstance(experiment, Experiment):
            message = f"{what} holds {type(experiment).__name__!r} where its experiment should be."
            raise InputError(message)
        return experiment


def _harmless(part: Any, what: str) -> Any:  # noqa: ANN401  JSON
    """A part of the file, without what is not needed; what may do harm is refused."""
    if isinstance(part, list):
        return [_harmless(item, what) for item in part]
    if not isinstance(part, dict):
        return part
    kind = part.get("__type", "")
    if kind and kind not in _TYPES:
        raise _refused(what, f"a {kind!r}")
    if kind == "GeneratorRun":
        part = {key: part.get(key) for key in part if key in _KEPT_OF_RUN} | {
            key: None for key in part if key not in _KEPT_OF_RUN
        }
    for key, value in _DROPPED.get(kind, {}).items():
        part = {**part, key: value} if key in part else part
    for key in ("name", "expression"):
        name = part.get(key, "a")
        if kind in ("Objective", "Metric", "MapMetric") and not _NAME.fullmatch(str(name)):
            raise _refused(what, f"the {kind.lower()} {name!r:.80}")
    return {key: _harmless(value, what) for key, value in part.items()}


def _refused(what: str, part: str) -> InputError:
    return InputError(
        f"{what} holds {part}, which is not read from a file, because Ax might run code in it. If"
        " you trust the file, load it yourself and audit"
        " stopwise.integrations.ax.read_client(Client.load_from_json_file(path))."
    )
