# SPDX-License-Identifier: Apache-2.0
"""Was all that tuning worth it? python examples/audit_runs.py

The same from the shell:
    stopwise audit examples/runs.csv --value accuracy --cost seconds --lam 0.0001 --maximize
"""

from pathlib import Path

import stopwise as sw

# "One more point of accuracy would be worth 10,000 seconds to me."
lam = sw.exchange_rate(improvement=1.0, cost=10_000)

runs = Path(__file__).parent / "runs.csv"
audit = sw.audit(runs, value="accuracy", cost="seconds", direction="maximize", lam=lam)
print(audit)
print()
print(audit.study.explain())
