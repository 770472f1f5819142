# SPDX-License-Identifier: Apache-2.0
"""Bayesian optimization that knows what an evaluation costs and when to stop.

Every public name is loaded on first use, so that `import stopwise` is quick, loads nothing
heavy and changes nothing outside the package.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stopwise import acquisition as acquisition
    from stopwise import budget as budget
    from stopwise import errors as errors
    from stopwise import math as math
    from stopwise import stopping as stopping
    from stopwise import testing as testing
    from stopwise._audit import Audit as Audit
    from stopwise._audit import audit as audit
    from stopwise._replay import replay as replay
    from stopwise._result import Result as Result
    from stopwise._units import exchange_rate as exchange_rate
    from stopwise.history import Trial as Trial
    from stopwise.loop import maximize as maximize
    from stopwise.loop import minimize as minimize
    from stopwise.space import Candidates as Candidates
    from stopwise.space import Categorical as Categorical
    from stopwise.space import Integer as Integer
    from stopwise.space import Real as Real
    from stopwise.study import Study as Study
    from stopwise.trace import Verdict as Verdict

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Candidates",
    "Categorical",
    "Integer",
    "Real",
    "Result",
    "Study",
    "Trial",
    "Verdict",
    "__version__",
    "acquisition",
    "audit",
    "budget",
    "errors",
    "exchange_rate",
    "math",
    "maximize",
    "minimize",
    "replay",
    "stopping",
    "testing",
]

# public name -> where it lives: "module" for a module, "module:name" for something inside one
_HOMES = {
    "Audit": "stopwise._audit:Audit",
    "Candidates": "stopwise.space:Candidates",
    "Categorical": "stopwise.space:Categorical",
    "Integer": "stopwise.space:Integer",
    "Real": "stopwise.space:Real",
    "Result": "stopwise._result:Result",
    "Study": "stopwise.study:Study",
    "Trial": "stopwise.history:Trial",
    "Verdict": "stopwise.trace:Verdict",
    "acquisition": "stopwise.acquisition",
    "audit": "stopwise._audit:audit",
    "budget": "stopwise.budget",
    "errors": "stopwise.errors",
    "exchange_rate": "stopwise._units:exchange_rate",
    "math": "stopwise.math",
    "maximize": "stopwise.loop:maximize",
    "minimize": "stopwise.loop:minimize",
    "replay": "stopwise._replay:replay",
    "stopping": "stopwise.stopping",
    "testing": "stopwise.testing",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(
            f"module 'stopwise' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}",
            name=name,
        )
    module, _, attribute = home.partition(":")
    loaded: object = importlib.import_module(module)
    if attribute:
        loaded = getattr(loaded, attribute)
    globals()[name] = loaded
    return loaded


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
