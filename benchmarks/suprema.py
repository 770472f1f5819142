# SPDX-License-Identifier: Apache-2.0
"""Fit and supremum against BoTorch and Optuna, many candidates at once, and batched BFGS.

- n = 100 and n = 500 in 8 dimensions: fit, then the supremum of log EI. Everybody has the same
  data, a Matern-5/2 kernel with one length scale a parameter, and, BoTorch and we, 10 restarts of
  512 raw samples and the same priors. (Optuna's kernel and search are its own: one suggestion of
  its GPSampler is timed.) Cold: nothing is known. Warm: from the fit to all data but the last
  observation; Optuna's second suggestion. torch has 1 thread and 2, our BLAS one. "default" is
  our default model, which is three such fits and a supremum of their mixture.
- candidates: posterior and log EI at 32 768 points, n = 200.
- climb: our batched BFGS, all starts at once, against scipy's L-BFGS-B from the same starts, one
  after the other, and against scipy's on all of them stacked into one problem, as BoTorch has it.

Each repeat has data of its own, the same for everybody, and all take turns. Medians and ratios are
by the clock, because threads are to count, and "CPU" is what all threads together took: on a busy
machine only the ratio of the CPU of one thread means much. A contender whose turn
takes longer than the patience (5 s with ``--quick``) has no further one: on a busy machine the
threads of torch wait for each other, up to 50 s for a step of half a second.
"""

import math
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import Row, _wanted
from stopwise.acquisition import LogEIPC, PointwiseScore
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Hyperparameters, Standardiser
from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.models import Data, make_model
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.beliefs.priors import priors
from stopwise.core.numerics.threads import one_blas_thread
from stopwise.core.search.batched_bfgs import batched_bfgs
from stopwise.core.snapshot import Snapshot
from tests.support.landscapes import box, hilly

Array = NDArray[np.float64]

D = 8
RESTARTS, RAW = 10, 512
CANDIDATES = 32_768
BOTORCH_NOISE = 1e-6  # the least that it takes
PATIENCE, QUICK_PATIENCE = 60.0, 5.0  # seconds of a turn


@dataclass(frozen=True)
class Contender:
    """What is timed: ``act`` on what ``prepare`` made of the data, which is not timed."""

    prepare: Callable[[Array, Array], Any]
    act: Callable[[Any], object]


def run(*, quick: bool) -> list[Row]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    few, many = (2, 1) if quick else (9, 3)
    patience = QUICK_PATIENCE if quick else PATIENCE
    rows: list[Row] = []
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")  # what others warn of is not timed
        rows += _step_rows(100, few, _step_contenders(cold=True), patience)
        rows += _step_rows(150 if quick else 500, many, _step_contenders(cold=False), patience)
        rows += _candidate_rows(repeats=3 if quick else 9)
        rows += _climb_rows(few)
    return rows


def data(n: int, seed: int) -> tuple[Array, Array]:
    rng, function = hilly(seed, D)
    X = rng.random((n, D))
    return X, function(X)


def medians(
    contenders: Mapping[str, Contender], n: int, repeats: int, patience: float = math.inf
) -> dict[str, tuple[float, float]]:
    """Median seconds of each by the clock and of CPU, all taking turns; a first round warms up.

    One whose turn takes longer than ``patience`` has no further one; its first counts then.
    """
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for seed in range(repeats + 1):
        X, y = data(n, seed)
        for name, contender in contenders.items():
            if max((clock for clock, _ in seconds[name]), default=0.0) > patience:
                continue
            prepared = contender.prepare(X, y)
            start, begun = time.perf_counter(), time.process_time()
            contender.act(prepared)
            seconds[name].append((time.perf_counter() - start, time.process_time() - begun))
    counted = {name: times[1:] or times for name, times in seconds.items()}
    return {
        name: (statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
        for name, times in counted.items()
    }


def row(
    what: str,
    who: str,
    measured: str,
    ratio: float | None = None,
    wanted: float | None = None,
    cpu: tuple[float, float, float] | None = None,
) -> Row:
    """A row; ``cpu`` are the CPU seconds, and how often ours and the default's go into them."""
    return {
        "what": what,
        "who": who,
        "median": measured,
        "ours is faster by": "" if ratio is None else f"{ratio:.1f}",
        **_wanted.at_least(ratio or 0.0, wanted),
        "CPU": "" if cpu is None else f"{1e3 * cpu[0]:.1f} ms",
        "by CPU": "" if ratio is None or cpu is None else _factors(*cpu[1:]),
    }


def _factors(of_plain: float, of_default: float) -> str:
    return f"{of_plain:.1f}" + ("" if math.isnan(of_default) else f" ({of_default:.1f})")


# ----------------------------------------------------------------------- fit and supremum


def _step_contenders(*, cold: bool) -> dict[str, Contender]:
    contenders = {
        "ours, warm": Contender(_ours_warm, _ours),
        "default, warm": Contender(_default_warm, _default),
        "botorch, warm, 1 thread": Contender(_botorch_warm, _on_threads(_botorch, 1)),
        "botorch, warm, 2 threads": Contender(_botorch_warm, _on_threads(_botorch, 2)),
        "optuna, warm, 1 thread": Contender(_optuna_warm, _on_threads(_optuna, 1)),
        "optuna, warm, 2 threads": Contender(_optuna_warm, _on_threads(_optuna, 2)),
    }
    if cold:
        contenders |= {
            "ours, cold": Contender(lambda X, y: (X, y, None), _ours),
            "default, cold": Contender(lambda X, y: (X, y, None), _default),
            "botorch, cold, 1 thread": Contender(
                lambda X, y: (X, y, None), _on_threads(_botorch, 1)
            ),
            "botorch, cold, 2 threads": Contender(
                lambda X, y: (X, y, None), _on_threads(_botorch, 2)
            ),
            "optuna, cold, 1 thread": Contender(optuna_study, _on_threads(_optuna, 1)),
            "optuna, cold, 2 threads": Contender(optuna_study, _on_threads(_optuna, 2)),
        }
    return contenders


def _step_rows(
    n: int, repeats: int, contenders: dict[str, Contender], patience: float
) -> list[Row]:
    seconds = medians(contenders, n, repeats, patience)
    rows = []
    for name in sorted(seconds):
        who, how, *threads = name.split(", ")
        clock, cpu = seconds[name]
        same = [s for other, (s, _) in seconds.items() if other.startswith(f"{who}, {how}")]
        # A target is met against the thread count that is fastest for the other.
        fastest = clock == min(same) and how == "warm"
        target = _wanted.FIT_AND_SUPREMUM.get((n, who)) if fastest else None
        of_ours, our_cpu = seconds[f"ours, {how}"]
        ratio = clock / of_ours if threads else None
        measured = f"{1e3 * clock:.1f} ms"
        work = cpu, cpu / our_cpu, cpu / seconds[f"default, {how}"][1]
        rows.append(row(f"fit + sup, n = {n}", name, measured, ratio, target, work))
    return rows


def _ours_warm(X: Array, y: Array) -> tuple[Array, Array, Hyperparameters]:
    return X, y, fit_posterior(X[:-1], y[:-1]).hyper


def _ours(prepared: tuple[Array, Array, Hyperparameters | None]) -> None:
    X, y, start = prepared
    _snapshot(X, y, start).sup(LogEIPC())


def _default_warm(X: Array, y: Array) -> tuple[Array, Array, ObjectiveFit]:
    return X, y, _default_belief(X[:-1], y[:-1], None).fitted.objective


def _default(prepared: tuple[Array, Array, ObjectiveFit | None]) -> None:
    X, y, start = prepared
    Snapshot(box(D), X, y, _default_belief(X, y, start), np.empty((0, D))).sup(LogEIPC())


def _default_belief(X: Array, y: Array, start: ObjectiveFit | None) -> Belief:
    data = Data(X, y, box(D).groups)
    model = make_model("default").fit(data, start, ())
    return Belief(model, UnitCost().price(box(D), X, np.ones(len(X))))


def _snapshot(X: Array, y: Array, start: Hyperparameters | None = None) -> Snapshot:
    domain = box(D)
    price = UnitCost().price(domain, X, np.ones(len(X)))
    belief = Belief(fit_posterior(X, y, start=start), price)
    return Snapshot(domain, X, y, belief, np.empty((0, D)))


def _on_threads(act: Callable[[Any], object], threads: int) -> Callable[[Any], None]:
    def limited(prepared: Any) -> None:  # noqa: ANN401  whatever was prepared
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        act(prepared)
        torch.set_num_threads(before)

    return limited


def _botorch_warm(X: Array, y: Array) -> tuple[Array, Array, dict[str, Any]]:
    import torch

    torch.set_num_threads(1)  # for what is not timed
    model, _ = botorch_fit(X[:-1], y[:-1], None)
    return X, y, model.covar_module.state_dict()


def botorch_fit(X: Array, y: Array, start: dict[str, Any] | None) -> tuple[Any, float]:
    """BoTorch's model with our kernel and priors; and the best value, standardised, maximised."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.mlls import ExactMarginalLogLikelihood
    from gpytorch.priors import LogNormalPrior

    ours = priors("lognormal", D)
    lengthscale = LogNormalPrior(ours.lengthscale.mean, ours.lengthscale.std)  # type: ignore[union-attr]
    outputscale = LogNormalPrior(ours.outputscale.mean, ours.outputscale.std)  # type: ignore[union-attr]
    base = MaternKernel(2.5, ard_num_dims=D, lengthscale_prior=lengthscale)
    kernel = ScaleKernel(base, outputscale_prior=outputscale).double()
    # Both begin where our prior has its mode, as our own search does.
    base.lengthscale = torch.full((1, D), np.exp(ours.lengthscale.log_mode))
    kernel.outputscale = 1.0
    if start is not None:
        kernel.load_state_dict(start)
    values = torch.as_tensor(-Standardiser.of(y).forward(y))
    model = SingleTaskGP(
        torch.as_tensor(X),
        values[:, None],
        train_Yvar=torch.full((len(y), 1), BOTORCH_NOISE).double(),
        covar_module=kernel,
        outcome_transform=None,
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model, float(values.max())


def _botorch(prepared: tuple[Array, Array, dict[str, Any] | None]) -> None:
    import torch
    from botorch.acquisition.analytic import LogExpectedImprovement
    from botorch.optim import optimize_acqf

    model, best = botorch_fit(*prepared)
    bounds = torch.tensor([[0.0] * D, [1.0] * D]).double()
    optimize_acqf(LogExpectedImprovement(model, best), bounds, 1, RESTARTS, RAW)


def optuna_study(X: Array, y: Array) -> Any:  # noqa: ANN401  an optuna study
    """A study that has been told all the data and asked nothing."""
    import optuna

    sampler = optuna.samplers.GPSampler(seed=0, n_startup_trials=1, deterministic_objective=True)
    study = optuna.create_study(sampler=sampler)
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={f"x{i}": float(u) for i, u in enumerate(x)},
                distributions=optuna_distributions(),
                value=float(value),
            )
            for x, value in zip(X, y, strict=True)
        ]
    )
    return study


def _optuna_warm(X: Array, y: Array) -> Any:  # noqa: ANN401  an optuna study
    """A study that has made one suggestion; the last observation is that suggestion's."""
    import torch

    torch.set_num_threads(1)  # for what is not timed
    study = optuna_study(X[:-1], y[:-1])
    study.tell(study.ask(optuna_distributions()), float(y[-1]))
    return study


def _optuna(study: Any) -> None:  # noqa: ANN401  an optuna study
    study.ask(optuna_distributions())


def optuna_distributions() -> dict[str, Any]:
    from optuna.distributions import FloatDistribution

    return {f"x{i}": FloatDistribution(0.0, 1.0) for i in range(D)}


# ------------------------------------------------------------------------ many candidates


def _candidate_rows(repeats: int) -> list[Row]:
    snapshot = _snapshot(*data(200, seed=0))
    score = LogEIPC().bind(snapshot)
    X = np.random.default_rng(0).random((CANDIDATES, D))
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        score(X)
        seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    score(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    took = statistics.median(seconds[1:])
    what = f"posterior + log EI at {CANDIDATES}, n = 200"
    most, mib = _wanted.CANDIDATES
    return [
        row(what, "ours, time", f"{took:.3f} s") | _wanted.at_most(took, most, " s"),
        row(what, "ours, peak memory", f"{peak / 2**20:.0f} MiB")
        | _wanted.at_most(peak / 2**20, mib, " MiB"),
    ]


# -------------------------------------------------------------------------------- the climb


def _climb_rows(repeats: int) -> list[Row]:
    evaluations: dict[str, list[int]] = {}
    heights: dict[str, list[float]] = {}

    def contender(name: str, act: Callable[[PointwiseScore, Array], float]) -> Contender:
        def counted(prepared: tuple[PointwiseScore, Array]) -> None:
            score, starts = prepared
            counting = _Counting(score)
            heights.setdefault(name, []).append(act(counting, starts))  # type: ignore[arg-type]
            evaluations.setdefault(name, []).append(counting.calls)

        return Contender(_climb_problem, counted)

    contenders = {
        "ours, all starts at once": contender("ours, all starts at once", _batched),
        "scipy, one after the other": contender("scipy, one after the other", _one_by_one),
        "scipy, stacked into one": contender("scipy, stacked into one", _stacked),
    }
    seconds = medians(contenders, 100, repeats)
    ours, our_cpu = seconds["ours, all starts at once"]
    best = np.max(list(heights.values()), axis=0)
    rows = []
    for name, (taken, cpu) in seconds.items():
        calls = statistics.median(evaluations[name])
        level = int(np.sum(heights[name] > best - 1e-6))
        measured = f"{1e3 * taken:.1f} ms, {calls:.0f} calls, best in {level} of {len(best)}"
        ratio = None if name.startswith("ours") else taken / ours
        work = cpu, cpu / our_cpu, math.nan
        rows.append(row(f"climb from {RESTARTS} starts", name, measured, ratio, cpu=work))
    return rows


class _Counting:
    """A score that counts how often it is evaluated."""

    def __init__(self, score: PointwiseScore) -> None:
        self.score, self.calls, self.scales = score, 0, score.scales

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        self.calls += 1
        return self.score.with_gradient(X)


def _climb_problem(X: Array, y: Array) -> tuple[PointwiseScore, Array]:
    score = LogEIPC().bind(_snapshot(X, y))
    raw = box(D).sobol(RAW, np.random.default_rng(0))
    return score, raw[np.argsort(-score(raw))[:RESTARTS]]


def _batched(score: PointwiseScore, starts: Array) -> float:
    free = np.ones(D, dtype=bool)
    _, values = batched_bfgs(score.with_gradient, starts, free, scales=score.scales, rivals=False)
    return float(values.max())


def _one_by_one(score: PointwiseScore, starts: Array) -> float:
    return max(_scipy(score, start[None, :]) for start in starts)


def _stacked(score: PointwiseScore, starts: Array) -> float:
    return _scipy(score, starts)


def _scipy(score: PointwiseScore, starts: Array) -> float:
    """Scipy's L-BFGS-B on the sum of the scores; the highest of them where it ends."""
    from scipy.optimize import minimize

    def downhill(flat: Array) -> tuple[float, Array]:
        values, gradients = score.with_gradient(flat.reshape(starts.shape))
        return -float(values.sum()), -gradients.ravel()

    found = minimize(
        downhill,
        starts.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * starts.size,
        options={"maxiter": 200, "ftol": 1e-9, "gtol": 1e-5},
    )
    return float(score.with_gradient(found.x.reshape(starts.shape))[0].max())
