# SPDX-License-Identifier: Apache-2.0
"""An old table of runs and a rule of one's own: what would it have saved?"""

import csv
import math
import sys
from pathlib import Path

import stopwise as sw
from stopwise.testing import check_stopping_rule
from stopwise.testing.templates import MyRule

folder = Path(sys.argv[1])
with (folder / "runs.csv").open("w", newline="") as file:
    table = csv.DictWriter(file, ["run_id", "lr", "batch", "accuracy", "dollars"])
    table.writeheader()
    for i in range(24):
        lr, batch = 10 ** (-4 + 3 * ((7 * i) % 24) / 23), 32 * (1 + (5 * i) % 4)
        accuracy = 0.93 - 0.05 * (math.log10(lr) + 2.4) ** 2 - 0.0001 * batch
        row = {"run_id": i, "lr": lr, "batch": batch, "accuracy": accuracy, "dollars": 3 + i % 3}
        table.writerow(row)

rule = MyRule(tolerance=0.002, window=4)
check_stopping_rule(rule)
try:
    sw.audit(folder / "runs.csv", value="accuracy", cost="dollars")
except ValueError as question:
    print("asked:", question)
audit = sw.audit(
    folder / "runs.csv",
    value="accuracy",
    cost="dollars",
    direction="maximize",
    drop=["run_id"],
    lam=0.0005,
    cost_unit="$",
    rules=["pbgi", rule],
)
print(audit)
