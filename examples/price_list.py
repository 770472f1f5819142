# SPDX-License-Identifier: Apache-2.0
"""A chemist with a price list, who asks what matters: python examples/price_list.py

A reaction costs what its solvent and its catalyst cost. The supplier has only toluene on Mondays:
then the best reaction with toluene is asked for. In the end the model says which choice matters.
"""

import math

import stopwise as sw

SOLVENTS = {"water": 2.0, "ethanol": 9.0, "toluene": 21.0}  # dollars a batch
CATALYSTS = {"none": 0.0, "copper": 12.0, "palladium": 160.0}
SPACE = {
    "solvent": sw.Categorical(list(SOLVENTS)),
    "catalyst": sw.Categorical(list(CATALYSTS)),
    "load": sw.Real(0.1, 5.0, log=True, when={"catalyst": ["copper", "palladium"]}),  # percent
    "hours": sw.Real(1.0, 24.0, log=True),
}


def dollars(params):
    """The price list; of what does not exist there is nothing to pay."""
    catalyst = CATALYSTS[params["catalyst"]] * params.get("load", 0.0)
    return 15.0 + SOLVENTS[params["solvent"]] + catalyst


def percent(params):
    """The yield."""
    solvent = {"water": 0.0, "ethanol": 14.0, "toluene": 20.0}[params["solvent"]]
    active = {"none": 0.0, "copper": 22.0, "palladium": 34.0}[params["catalyst"]]
    catalysed = active * (1.0 - math.exp(-2.0 * params.get("load", 0.0)))
    return 20.0 + solvent + catalysed + 5.0 * math.log(params["hours"] + 1.0)


study = sw.Study(
    SPACE,
    cost=dollars,
    lam=sw.exchange_rate(improvement=1.0, cost=50.0),  # a percent of yield is worth 50 dollars
    direction="maximize",
    constraints=["hours <= 8 or solvent != 'toluene'"],  # it evaporates
    max_trials=30,
)
while not study.should_stop().stop:
    monday = len(study.history) % 5 == 4
    trial = study.ask(fixed={"solvent": "toluene"} if monday else None)
    study.tell(trial, percent(trial.params))
print(study.should_stop().reason)
print(f"{study.spent:.0f} dollars spent; {study.best.value:.1f} % at {dict(study.best.params)}")
for each in study.importance():
    print(f"{each.name}: {each.share:.0%} of the variation ({each.low:.0%} to {each.high:.0%})")
