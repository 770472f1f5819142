# SPDX-License-Identifier: Apache-2.0
"""The contenders, one package a file."""

from __future__ import annotations

from stopwise_paper.runs.field.contenders.ax_client import AX
from stopwise_paper.runs.field.contenders.botorch_loops import (
    BOTORCH_LOGEI,
    BOTORCH_LOGEI_PER_COST,
)
from stopwise_paper.runs.field.contenders.cheapest_first import CHEAPEST_FIRST
from stopwise_paper.runs.field.contenders.contender import (
    ALL_SEEDS,
    Contender,
    FieldEvaluation,
    Optimiser,
    Params,
    Setting,
    not_installed,
)
from stopwise_paper.runs.field.contenders.optuna_samplers import OPTUNA_GP, OPTUNA_TPE
from stopwise_paper.runs.field.contenders.random_search import RANDOM
from stopwise_paper.runs.field.contenders.skopt_optimizer import SKOPT, SKOPT_PER_SECOND
from stopwise_paper.runs.field.contenders.smac3 import SMAC, SMAC_50
from stopwise_paper.runs.field.contenders.stopwise_studies import (
    STOPWISE,
    STOPWISE_PAPER,
    STOPWISE_UNPRICED,
)
from stopwise_paper.runs.field.contenders.syne_tune import SYNE_TUNE

__all__ = [
    "ALL_SEEDS",
    "CONTENDERS",
    "NOT_PLAYED",
    "Contender",
    "FieldEvaluation",
    "Optimiser",
    "Params",
    "Setting",
    "not_installed",
]

CONTENDERS: dict[str, Contender] = {
    "stopwise": STOPWISE,
    "stopwise-paper": STOPWISE_PAPER,
    "stopwise-unpriced": STOPWISE_UNPRICED,
    "optuna-tpe": OPTUNA_TPE,
    "optuna-gp": OPTUNA_GP,
    "botorch-logei": BOTORCH_LOGEI,
    "botorch-logei-per-cost": BOTORCH_LOGEI_PER_COST,
    "ax": AX,
    "smac-50": SMAC_50,
    "smac": SMAC,
    "skopt": SKOPT,
    "skopt-per-second": SKOPT_PER_SECOND,
    "syne-tune": SYNE_TUNE,
    "random": RANDOM,
    "cheapest-first": CHEAPEST_FIRST,
}

NOT_PLAYED = {
    "HEBO": "0.3.6 declares numpy<1.25 and pymoo==0.6.0, which pandas, scipy and stopwise exclude;"
    " 0.3.2 imports pymoo.factory, which pymoo has no more",
}
