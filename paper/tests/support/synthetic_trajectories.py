# SPDX-License-Identifier: Apache-2.0
"""Trajectories made by hand, whose answers are known by hand."""

import numpy as np

from stopwise_paper import Cell, RecordedSignal, Trajectory
from stopwise_paper.runs.trajectory import LOG_GAIN_PER_COST


def trajectory(
    y,
    *,
    initial=2,
    cost=None,
    judged_cost=None,
    judged=None,
    gain=None,
    acquisition="pbgi",
    lam=0.1,
    seed=0,
    problem="gp1d",
    price="uniform",
    experiment="gp1d",
    signals=None,
    optimum=0.0,
):
    """A trajectory with values y, of which the first ``initial`` are the design.

    ``gain`` is EI/c over t = 0..T, recorded as its logarithm.
    """
    y = np.asarray(y, dtype=float)
    T = len(y) - initial
    cost = np.ones(len(y)) if cost is None else np.asarray(cost, dtype=float)
    paid = cost if judged_cost is None else np.asarray(judged_cost, dtype=float)
    gain = np.full(T + 1, 1.0) if gain is None else np.asarray(gain, dtype=float)
    recorded = {LOG_GAIN_PER_COST: RecordedSignal(np.log(gain))}
    for key, values in (signals or {}).items():
        recorded[key] = RecordedSignal(np.asarray(values, dtype=float))
    return Trajectory(
        Cell.of(experiment, problem, price, acquisition, lam=lam, seed=seed, cap=T),
        initial,
        np.arange(len(y)),
        y,
        y if judged is None else np.asarray(judged, dtype=float),
        {price: cost},
        {price: paid},
        recorded,
        optimum,
    )


def everything(y, **given):
    """The same with every rule's signal, none of which ever stops."""
    T = len(y) - given.get("initial", 2)
    more = {
        "srgap": np.r_[np.nan, np.ones(T)],
        "ucb_lcb_gap": np.ones(T + 1),
        "regret_probability_bound_0.1_0.05": np.ones(T + 1),
    }
    return trajectory(y, signals=more | given.pop("signals", {}), **given)


def imitation(cell, T=None):
    """Something that looks like the trajectory of a cell: signals and values that fall."""
    rng = np.random.default_rng(int(cell.key[:8], 16))
    T, initial = cell.cap if T is None else T, cell.option("initial", 4)
    n = initial + T
    t = np.arange(T + 1.0)
    y = rng.exponential(np.exp(-np.arange(n) / 15.0)) * 3.0
    paid = {cost: rng.uniform(0.5, 1.5, n) * _price(cell) for cost in cell.costs}
    noise = np.exp(0.5 * rng.standard_normal(T + 1))

    def falling(start, rate):
        return RecordedSignal(start * np.exp(-t / rate) * noise)

    worth = RecordedSignal(np.log(falling(1.0, 6.0).value / _price(cell)))
    keys = (
        [f"{LOG_GAIN_PER_COST}@{cost}" for cost in cell.costs]
        if len(cell.costs) > 1
        else [LOG_GAIN_PER_COST]
    )
    before = [key.replace(LOG_GAIN_PER_COST, f"{LOG_GAIN_PER_COST}_before_update") for key in keys]
    signals = dict.fromkeys(keys, worth) | dict.fromkeys(before, worth)
    signals |= {
        "srgap": falling(2.0, 5.0),
        "ucb_lcb_gap": falling(3.0, 6.0),
        "regret_probability_bound_0.1_0.05": falling(1.0, 8.0),
        "regret_probability_mean_0.1_0.05": falling(0.9, 8.0),
    }
    wide = "gp8d" in cell.problem
    seconds = {f"rule:{name}": np.full(T + 1, 0.01) * noise for name in ("pbgi", "prb", "ucb-lcb")}
    return Trajectory(
        cell,
        initial,
        rng.random((n, 8)) if wide else rng.permutation(500)[:n],
        y,
        y,
        paid,
        {cost: 1.2 * values for cost, values in paid.items()},
        signals,
        0.0,
        seconds,
        {"runtime": "real"},
    )


def _price(cell):
    return 1.0 if cell.experiment.startswith("gp") else 100.0
