# SPDX-License-Identifier: Apache-2.0
"""Ax's Client with stopwise inside: the node chooses by price, the strategy says when to stop."""

import logging

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

import stopwise as sw
from stopwise.integrations.ax import StopwiseStrategy, generation_strategy, should_stop

logging.getLogger("ax").setLevel(logging.ERROR)


def experiment(params):  # stands for a laboratory: the purity, and what the reagents cost
    heat = ((params["temperature"] - 72) / 60) ** 2
    return {
        "purity": 0.9 - heat - 0.1 * (params["solvent"] == "water"),
        "euros": 20 + params["temperature"] / 4,
    }


client = Client(random_seed=0)
client.configure_experiment(
    parameters=[
        RangeParameterConfig(name="temperature", bounds=(20.0, 100.0), parameter_type="float"),
        ChoiceParameterConfig(name="solvent", values=["water", "ethanol"], parameter_type="str"),
    ]
)
client.configure_optimization(objective="purity")
client.configure_tracking_metrics(["euros"])  # the cost travels as a metric

lam = sw.exchange_rate(improvement=0.01, cost=60)  # "60 euros for one point of purity"
client.set_generation_strategy(generation_strategy(lam, cost="euros"))
strategy = StopwiseStrategy(lam, cost="euros")

stop, reason = should_stop(client, strategy)
while not stop:
    for index, params in client.get_next_trials(max_trials=1).items():
        client.complete_trial(index, raw_data=experiment(params))
    stop, reason = should_stop(client, strategy)

best, values, *_ = client.get_best_parameterization(use_model_predictions=False)
print(best, values)
print(reason)
