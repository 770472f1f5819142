# SPDX-License-Identifier: Apache-2.0
"""What rules need of memory on a table of 32,768 candidates."""

import tracemalloc
from dataclasses import replace

import numpy as np

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.space import Integer, as_domain
from stopwise.stopping import (
    PBGI,
    UCBLCB,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    SRGapMedian,
)
from tests.support.textbook import study


def test_no_rule_needs_more_than_a_fraction_of_a_gigabyte():
    domain = as_domain({f"channels_{i}": Integer(0, 7) for i in range(5)})
    assert len(domain) == 32_768
    X = domain.design(200, np.random.default_rng(74))
    y = np.sin(7.0 * X).sum(axis=1)
    snapshot = study(domain, X=X, y=y, hyper=Hyperparameters([0.5] * 5, 1.0), cost=UnitCost())
    # An epsilon at which thousands of candidates matter and samples must decide.
    epsilon = float(np.std(y)) * 2.2
    rules = [
        PBGI(0.1),
        LogEIPCMedian(),
        SRGapMedian(),
        UCBLCB(),
        ProbabilisticRegretBound(epsilon),
        ProbabilisticRegretBound(epsilon, estimate="mean"),
    ]
    for rule in rules:
        fresh = replace(snapshot)
        tracemalloc.start()
        signal = rule.signal(fresh)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**28, f"{rule}: {peak / 2**20:.0f} MiB"
    assert signal.facts["samples"] == 1000
