# SPDX-License-Identifier: Apache-2.0
"""What sampler and callback share: their options, and the mirror of the study they look at."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from stopwise.core.space import Real
from stopwise.integrations.optuna._mirror import Mirror, direction_of, surplus
from stopwise.integrations.optuna._space import Distributions
from stopwise.study.external import ExternalStudy


class Reflecting:
    """Something that looks at one Optuna study at a time.

    Args:
        **options: Of ``Mirror``; refused here, not at the first trial, if they cannot be.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  Study checks them
        unpriced = {**options, "cost": None} if callable(options.get("cost")) else options
        self.rules = ExternalStudy({"x": Real(0, 1)}, **unpriced).rules
        self.options = options
        self.lock = RLock()  # with n_jobs several threads ask at once
        self._mirrored: tuple[object, ...] = ()
        self._mirror: Mirror | None = None

    def mirror(
        self, study: Study, distributions: Distributions, trials: Sequence[FrozenTrial]
    ) -> Mirror:
        """The mirror of a study; a new one if its space has changed."""
        partial = surplus(distributions, trials)
        looked_at = (id(study._storage), study.study_name, dict(distributions), partial)  # noqa: SLF001
        if self._mirror is None or looked_at != self._mirrored:
            options = dict(self.options)
            if partial and options.get("noise") is None:
                # What is not modelled varies from trial to trial: to the model that is noise.
                options |= {"noise": "learn", "replicates": True}
            self._mirror = Mirror(distributions, direction=direction_of(study), **options)
            self._mirrored = looked_at
        return self._mirror
