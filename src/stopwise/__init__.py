# SPDX-License-Identifier: Apache-2.0
"""Bayesian optimization that knows what an evaluation costs and when to stop.

Every public name is loaded on first use, so that `import stopwise` is quick, loads nothing
heavy and changes nothing outside the package.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stopwise import acquisition as acquisition
    from stopwise import errors as errors
    from stopwise import math as math
    from stopwise import stopping as stopping
    from stopwise import testing as testing
    from stopwise.core import beliefs as beliefs
    from stopwise.core import space as space
    from stopwise.core import utility as utility
    from stopwise.core.exchange_rate import exchange_rate as exchange_rate
    from stopwise.core.space import Candidates as Candidates
    from stopwise.core.space import Categorical as Categorical
    from stopwise.core.space import Integer as Integer
    from stopwise.core.space import Ordinal as Ordinal
    from stopwise.core.space import Real as Real
    from stopwise.core.stages import Stages as Stages
    from stopwise.record.history import Trial as Trial
    from stopwise.record.replay import replay as replay
    from stopwise.stopping.verdict import Verdict as Verdict
    from stopwise.study import Study as Study
    from stopwise.study import StudyOptions as StudyOptions
    from stopwise.study import budget as budget
    from stopwise.study.actions import Continue as Continue
    from stopwise.study.actions import Start as Start
    from stopwise.study.evaluation import Evaluation as Evaluation
    from stopwise.study.lam_ladder import lam_ladder as lam_ladder
    from stopwise.study.loop import maximize as maximize
    from stopwise.study.loop import minimize as minimize
    from stopwise.study.result import Result as Result
    from stopwise.tools.audit import Audit as Audit
    from stopwise.tools.audit import audit as audit

__version__ = "0.2.0.dev0"

__all__ = [
    "Audit",
    "Candidates",
    "Categorical",
    "Continue",
    "Evaluation",
    "Integer",
    "Ordinal",
    "Real",
    "Result",
    "Stages",
    "Start",
    "Study",
    "StudyOptions",
    "Trial",
    "Verdict",
    "__version__",
    "acquisition",
    "audit",
    "beliefs",
    "budget",
    "errors",
    "exchange_rate",
    "lam_ladder",
    "math",
    "maximize",
    "minimize",
    "replay",
    "space",
    "stopping",
    "testing",
    "utility",
]

# public name -> where it lives: "module" for a module, "module:name" for something inside one
_HOMES = {
    "Audit": "stopwise.tools.audit:Audit",
    "Candidates": "stopwise.core.space:Candidates",
    "Categorical": "stopwise.core.space:Categorical",
    "Continue": "stopwise.study.actions:Continue",
    "Evaluation": "stopwise.study.evaluation:Evaluation",
    "Integer": "stopwise.core.space:Integer",
    "Ordinal": "stopwise.core.space:Ordinal",
    "Real": "stopwise.core.space:Real",
    "Result": "stopwise.study.result:Result",
    "Stages": "stopwise.core.stages:Stages",
    "Start": "stopwise.study.actions:Start",
    "Study": "stopwise.study:Study",
    "StudyOptions": "stopwise.study:StudyOptions",
    "Trial": "stopwise.record.history:Trial",
    "Verdict": "stopwise.stopping:Verdict",
    "acquisition": "stopwise.acquisition",
    "audit": "stopwise.tools.audit:audit",
    "beliefs": "stopwise.core.beliefs",
    "budget": "stopwise.study.budget",
    "errors": "stopwise.errors",
    "exchange_rate": "stopwise.core.exchange_rate:exchange_rate",
    "lam_ladder": "stopwise.study.lam_ladder:lam_ladder",
    "math": "stopwise.math",
    "maximize": "stopwise.study.loop:maximize",
    "minimize": "stopwise.study.loop:minimize",
    "replay": "stopwise.record.replay:replay",
    "space": "stopwise.core.space",
    "stopping": "stopwise.stopping",
    "testing": "stopwise.testing",
    "utility": "stopwise.core.utility",
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
