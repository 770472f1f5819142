# SPDX-License-Identifier: Apache-2.0
"""A price list of experiments: a table with a column of prices, and a laboratory that answers."""

import sys
from pathlib import Path

import stopwise as sw

folder = Path(sys.argv[1])
solvents = {"water": 1.0, "ethanol": 4.0, "toluene": 9.0}
rows = [
    {"temperature": t, "solvent": name, "price": 20.0 + 0.2 * t + price}
    for t in range(20, 100, 10)
    for name, price in solvents.items()
]


def laboratory(params):  # the yield that is measured
    best = {"water": 61.0, "ethanol": 78.0, "toluene": 74.0}[params["solvent"]]
    return best - ((params["temperature"] - 70) / 8.0) ** 2


study = sw.Study(
    sw.Candidates(rows),
    cost="price",
    lam=sw.exchange_rate(improvement=1.0, cost=60.0),  # a percent of yield is worth 60 dollars
    direction="maximize",
    value_name="yield %",
    cost_unit="$",
    off_table=True,
    journal=folder / "lab.jsonl",
)
study.tell({"temperature": 50, "solvent": "water"}, 54.0)  # measured last year
study.tell({"temperature": 45, "solvent": "water"}, 51.0, cost=25.0)  # nobody sells 45 any more
while not study.should_stop():
    for trial in study.ask(2):  # two places on the bench
        print("to the bench:", trial.number, trial.params, trial.expected_cost)
        study.tell(trial, laboratory(trial.params))
study = sw.Study.resume(folder / "lab.jsonl")  # the cell is run once more
study.amend(study.history[2].number, value=study.history[2].value - 0.5)  # misread the scale
print(study.should_stop())
print(study)
print(study.explain())
print(study.guarantee())
print(sw.lam_ladder(study))
study.result().report(folder / "lab.html")
