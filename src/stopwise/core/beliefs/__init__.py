# SPDX-License-Identifier: Apache-2.0
"""Beliefs: Gaussian processes over encoded inputs, what they say of f(x), and prices.

- ``fit_posterior`` fits a Gaussian process to data and ``condition`` conditions one at known
  hyper-parameters; both give a ``Posterior``, which can be extended (``append``), cut back
  (``prefix``) and moved to its likeliest constant mean (``with_likeliest_mean``).
- ``KERNELS`` and ``WARPS`` are the tables of kernels and output warps.
- What a posterior says of f at some points is a ``Law``; without a warp it is a ``Normal``. There
  are warped normals, ``Bounded`` laws and a ``Mixture`` of laws.
- ``SURROGATES`` is the table of models, from data to a ``Posterior`` or an ``Ensemble``; what
  ``surrogate=`` takes. ``SurrogateModel`` is what a model of your own must have.
- ``sample_paths`` draws whole functions; of a posterior of no data, draws of the prior.
- ``RefitAlways``, ``RefitAtSizes``, ``RefitWhenGrown`` and ``RefitOnSchedule`` say when
  hyper-parameters are fitted anew; in between, observations are appended.
- ``UnitCost``, ``KnownCost`` and ``LearnedCost`` say where costs come from; their ``price`` over a
  domain is a ``Price``. ``Belief`` is a model of the objective and a price.

Example:
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.4], [0.9]])
    >>> posterior = condition(X, np.array([1.0, 0.2, 0.7]), Hyperparameters([0.3]))
    >>> law = posterior.law(np.array([[0.5]]))
    >>> bool(law.log_ei(level=0.2).value[0] > np.log(1e-4))  # more may be gained than 1e-4
    True
"""

from stopwise.core.beliefs.belief import Belief, Fitted, Pricing
from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.fit import NUGGET, fit_posterior
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, KERNELS, Kernel
from stopwise.core.beliefs.laws import (
    Bounded,
    FairValue,
    Law,
    LogWarped,
    Mixture,
    Normal,
    SoftWarped,
    WithSlopes,
)
from stopwise.core.beliefs.models import (
    SURROGATES,
    Data,
    PaperModel,
    PlainModel,
    SurrogateModel,
    WeighedModel,
)
from stopwise.core.beliefs.paths import JointDraws, Paths, sample_paths
from stopwise.core.beliefs.prices import (
    CostModel,
    KnownCost,
    LearnedCost,
    LearnedPrice,
    Price,
    UnitCost,
    expected_cost,
)
from stopwise.core.beliefs.priors import (
    Fixed,
    Flat,
    GammaPrior,
    LogNormalPrior,
    Prior,
    Priors,
    priors,
)
from stopwise.core.beliefs.refits import (
    RefitAlways,
    RefitAtSizes,
    RefitOnSchedule,
    RefitPolicy,
    RefitWhenGrown,
)
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Marginals, Surrogate
from stopwise.core.beliefs.warps import DEFAULT_WARP, WARPS, LogWarp, SoftWarp, Warp

__all__ = [
    "DEFAULT_KERNEL",
    "DEFAULT_WARP",
    "KERNELS",
    "NUGGET",
    "SURROGATES",
    "WARPS",
    "Belief",
    "Bounded",
    "CostModel",
    "Data",
    "Ensemble",
    "FairValue",
    "Fitted",
    "Fixed",
    "Flat",
    "GammaPrior",
    "Hyperparameters",
    "JointDraws",
    "Kernel",
    "KnownCost",
    "Law",
    "LearnedCost",
    "LearnedPrice",
    "LogNormalPrior",
    "LogWarp",
    "LogWarped",
    "Marginals",
    "Mixture",
    "Normal",
    "ObjectiveFit",
    "PaperModel",
    "Paths",
    "PlainModel",
    "Posterior",
    "Price",
    "Pricing",
    "Prior",
    "Priors",
    "RefitAlways",
    "RefitAtSizes",
    "RefitOnSchedule",
    "RefitPolicy",
    "RefitWhenGrown",
    "SoftWarp",
    "SoftWarped",
    "Standardiser",
    "Surrogate",
    "SurrogateModel",
    "UnitCost",
    "Warp",
    "WeighedModel",
    "WithSlopes",
    "condition",
    "expected_cost",
    "fit_posterior",
    "priors",
    "sample_paths",
]
