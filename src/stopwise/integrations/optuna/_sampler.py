# SPDX-License-Identifier: Apache-2.0
"""The sampler: it chooses the params of Optuna's trials by expected gain and cost."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from optuna import TrialPruned
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from stopwise.core.space import Parameter
from stopwise.errors import InputError
from stopwise.integrations.optuna._board import Board, Note
from stopwise.integrations.optuna._mirror import Mirror
from stopwise.integrations.optuna._mirrors import Mirrors
from stopwise.integrations.optuna._space import Distributions
from stopwise.study.options import WITH_OUTCOMES, spells_out_options

# The callback decides when to stop, and Optuna knows the direction and what is enqueued.
SAMPLER_SETS = ("direction", "stopping", "watch", "max_trials", "start_from", *WITH_OUTCOMES)
_MOST_PROPOSALS = 100  # of one trial, each of which another worker may have made before
_CLOSE = 0.01  # of the unit cube: two workers with the same data may choose points this close


class StopwiseSampler(BaseSampler):
    """An Optuna sampler that considers costs, and what other workers are evaluating.

    Parameters that all trials share are chosen together, and so are those that exist only for some
    values of others: which do is learned from complete trials, or said by ``space``. What is not
    understood yet is drawn independently. Workers on one storage never evaluate the same point,
    and with a budget a trial that cannot be paid for is pruned before it begins.

    Args:
        lam: Objective units per unit of cost, see ``stopwise.exchange_rate``; it may be left out
            where a budget is given.
        space: Distributions by name, or parameters of ours, which may have conditions:
            ``{"C": sw.Real(0.01, 10, log=True, when={"model": ["svm"]}), ...}``. If left out, it
            is learned, from the first trial on.
        seed: Makes the choices repeatable, with one worker.
        **options: As for ``stopwise.Study``. ``cost`` is None (each trial costs 1), a callable of
            the params (known), or ``"seconds"`` or ``"reported"``: learned from the costs that
            trials report, see ``timed``. ``budget`` is what all workers may spend together.
    """

    @spells_out_options(SAMPLER_SETS)
    def __init__(
        self,
        lam: float | None = None,
        *,
        space: Mapping[str, BaseDistribution | Parameter] | None = None,
        seed: int | None = None,
        **options: Any,  # noqa: ANN401  StudyOptions checks them
    ) -> None:
        self._independent = RandomSampler(seed)
        options |= {"lam": lam, "seed": secrets.randbelow(2**31) if seed is None else seed}
        self.mirrors = Mirrors(
            options, owner="StopwiseSampler", leave_out=SAMPLER_SETS, space=space
        )

    def reseed_rng(self) -> None:
        """Make the independent draws of another thread differ from those of this one."""
        self._independent.reseed_rng()

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002  Optuna's interface
    ) -> dict[str, BaseDistribution]:
        """The parameters that are chosen together: those given, or those all trials share."""
        return self.mirrors.distributions(study.get_trials(deepcopy=False))

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401  whatever they choose from
        """A random value for a parameter that not all trials share."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose params, and make sure that no other worker has chosen the same."""
        if not search_space:
            return {}
        board = Board(study, trial)
        board.write(Note())
        board.wait_for_earlier()
        for _ in range(_MOST_PROPOSALS):
            choice = self._choose(study, board, search_space)
            numbers = choice.mirror.axes.internal(choice.params)
            board.write(Note(numbers, choice.price))
            if board.stands(choice.clashing):
                board.write(Note(numbers, choice.price, settled=True))
                return choice.params
            with self.mirrors.lock:
                choice.mirror.withdraw(trial.number)
        board.write(Note(settled=True))
        message = (
            f"trial {trial.number} proposed {_MOST_PROPOSALS} points, and other workers had each"
            " of them before: there are more workers than points to evaluate side by side."
        )
        raise TrialPruned(message)

    def _choose(self, study: Study, board: Board, search_space: Distributions) -> _Choice:
        with self.mirrors.lock:
            trials = board.trials()
            mirror = self.mirrors.mirror(study, search_space, trials)
            mirror.update(trials)
            mirror.study.plan_design()  # refuses a budget that does not pay for the initial design
            left = mirror.study.left
            try:
                asked = mirror.ask(board.trial.number)
            except InputError as error:  # no point is left, or none is affordable
                board.write(Note(settled=True))
                with suppress(RuntimeError):  # in ask-and-tell there is no loop to end
                    study.stop()
                raise TrialPruned(str(error)) from error
            fixed = board.trial.system_attrs.get("fixed_params", {})
            wanted = {k: v for k, v in fixed.items() if k in search_space}
            params = self._completed(study, board.trial, mirror, {**asked.params, **wanted})
            price = mirror.study.price_of(mirror.axes.inward(params))
            return _Choice(mirror, params, price, left, _known_params(mirror, trials))

    def _completed(
        self, study: Study, trial: FrozenTrial, mirror: Mirror, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Params of which some are fixed, complete and without what does not exist beside them."""
        tree = mirror.axes.tree
        for name, distribution in tree.items():
            if name in tree.active(params) and name not in params:
                params[name] = self.sample_independent(study, trial, name, distribution)
        return {name: params[name] for name in tree if name in tree.active(params)}


class _Choice(NamedTuple):
    """The params that were chosen, and what was known of other trials at that time."""

    mirror: Mirror
    params: dict[str, Any]
    price: float
    left: float
    known: Mapping[int, Mapping[str, Any]]

    def clashing(self, trials: Sequence[FrozenTrial]) -> Sequence[FrozenTrial]:
        """Trials that were unknown then and are too close, or leave too little of the budget."""
        current = _known_params(self.mirror, trials)
        news = {n: params for n, params in current.items() if self.known.get(n) != params}
        ours, study = self.mirror.axes.inward(self.params), self.mirror.study
        others = sum(study.price_of(params) for params in news.values())
        if self.price + others > self.left:
            return [trial for trial in trials if trial.number in news]
        here = study.encoded(ours)
        near = {n for n, p in news.items() if np.abs(study.encoded(p) - here).max() <= _CLOSE}
        return [trial for trial in trials if trial.number in near]


def _known_params(mirror: Mirror, trials: Sequence[FrozenTrial]) -> dict[int, dict[str, Any]]:
    """The params of each trial, by number, as far as they are known."""
    by_number = {trial.number: mirror.running(trial) for trial in trials}
    return {number: params for number, params in by_number.items() if params is not None}
