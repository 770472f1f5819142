# SPDX-License-Identifier: Apache-2.0
"""The sampler: it chooses the params of Optuna's trials by expected gain and cost."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from optuna import TrialPruned
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.space import Parameter
from stopwise.errors import InputError
from stopwise.integrations.optuna._board import Board, Look, Note
from stopwise.integrations.optuna._mirror import Mirror, direction_of
from stopwise.integrations.optuna._mirrors import Mirrors
from stopwise.integrations.optuna._proposal import Knowledge, Proposal
from stopwise.integrations.optuna._space import Distributions, is_among
from stopwise.integrations.optuna._tree import Tree
from stopwise.study.signatures import spells_out_options

# The callback decides when to stop, and Optuna knows the direction and what is enqueued.
SAMPLER_SETS = ("direction", "stopping", "watch", "max_trials", "start_from")
_MOST_PROPOSALS = 100  # of one trial, each of which another worker may have made before
_MOST_OFFERS = 16  # in one turn; whoever still waits has the next turn


class StopwiseSampler(BaseSampler):
    """An Optuna sampler that considers costs, and what other workers are evaluating.

    Parameters that all trials share are chosen together, and so are those that exist only for some
    values of others, or have other ranges: which do is learned from complete trials, or said by
    ``space``. What nothing explains is warned of. Workers on one storage never evaluate the same
    point, and with a budget a trial that cannot be paid for is pruned before it begins.

    Args:
        lam: Objective units per unit of cost, see ``stopwise.exchange_rate``; it may be left out
            where a budget is given.
        space: Distributions by name, or parameters of ours, which may have conditions:
            ``{"C": sw.Real(0.01, 10, log=True, when={"model": ["svm"]}), ...}``. If left out, it
            is learned, from the first trial on. A trial that contradicts it is warned of.
        seed: Makes the choices repeatable, with one worker.
        **options: As for ``stopwise.Study``. ``cost`` is None (each trial costs 1), a callable of
            the params (known), or ``"seconds"`` or ``"reported"``: learned from the costs that
            trials report, see ``timed``. ``budget`` is what all workers may spend together.
            ``constraints`` are about the params; give ``space`` where they name parameters that
            not every trial has. ``limits`` are of what trials report by
            ``trial.set_constraint(name, value)`` or ``trial.set_user_attr(name, value)``; of the
            latter, ``study.best_trial`` knows nothing.
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
        from scipy.stats import qmc  # noqa: F401  a second to load: not while others wait

        self._independent = RandomSampler(seed)
        self._chosen: dict[tuple[str, int], dict[str, Any]] = {}  # of trials that have not ended
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
        direction_of(study)  # refuses several objectives before a trial is paid for
        return self.mirrors.distributions(lambda: study.get_trials(deepcopy=False))

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401  whatever they choose from
        """The value that was chosen, if it is one that the trial may take; else a random one."""
        chosen = self._chosen.get(_key(study, trial), {})
        if param_name in chosen and is_among(param_distribution, chosen[param_name]):
            return chosen[param_name]
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,  # noqa: ARG002  Optuna's interface
    ) -> None:
        """Warn if a trial contradicts the space that was given."""
        self._chosen.pop(_key(study, trial), None)
        self.mirrors.compare(trial, complete=state == TrialState.COMPLETE)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose params, or take an offer, and make sure that no other worker has the same."""
        if not search_space:
            return {}
        board = Board(study, trial)
        try:
            params = self._sampled(study, board, search_space)
        except BaseException:
            board.leave()  # nobody has to wait for it
            raise
        finally:
            board.end_turn()
        if isinstance(search_space, Tree) and search_space.seen is None:
            # The objective may suggest a parameter as another kind than it was declared, which is
            # an error to Optuna where it compares both itself.
            self._chosen[_key(study, trial)] = params
            return {}
        return params

    def _sampled(self, study: Study, board: Board, search_space: Distributions) -> dict[str, Any]:
        begun = Note(settings=self.mirrors.settings(search_space))
        board.write(begun)
        look = board.wait_for_turn()
        if look.granted is not None:
            params = self._granted(study, look.granted, search_space)
            if params is not None:
                return params
            look = board.look()
        proposal = self._offered(study, look, search_space)
        if proposal is not None and board.stands(proposal.clashing, look):
            return self._settled(board, proposal)
        for _ in range(_MOST_PROPOSALS):
            with board.turn(look):
                proposal = self._choose(study, board, search_space, look.others)
                board.write(proposal.note)
                look = board.look()
                if board.stands(proposal.clashing, look):
                    self._offer(board, proposal, board.waiting(look.others, begun.settings))
                    return self._settled(board, proposal)
                with self.mirrors.lock:
                    proposal.mirror.withdraw(board.trial.number)
                look = board.look()
        message = (
            f"trial {board.trial.number} proposed {_MOST_PROPOSALS} points, and other workers had"
            " each of them before: there are more workers than points to evaluate side by side."
        )
        raise TrialPruned(message)

    def _settled(self, board: Board, proposal: Proposal) -> dict[str, Any]:
        board.write(replace(proposal.note, settled=True))
        return proposal.params

    def _granted(
        self, study: Study, numbers: Mapping[str, float], search_space: Distributions
    ) -> dict[str, Any] | None:
        """The params that were chosen and checked for this trial; None if of another space."""
        with self.mirrors.lock:
            return self.mirrors.mirror(study, search_space, ()).axes.external(numbers)

    def _offered(self, study: Study, look: Look, search_space: Distributions) -> Proposal | None:
        """The proposal that another worker offers to this trial, if there is one."""
        note = Note.of(look.own)
        if note is None or note.numbers is None:
            return None
        with self.mirrors.lock:
            return Proposal.offered(note, self.mirrors.mirror(study, search_space, look.others))

    def _choose(
        self,
        study: Study,
        board: Board,
        search_space: Distributions,
        trials: Sequence[FrozenTrial],
    ) -> Proposal:
        with self.mirrors.lock:
            mirror = self.mirrors.mirror(study, search_space, trials)
            mirror.update(trials)
            mirror.study.plan_design()  # refuses a budget that does not pay for the initial design
            knew = Knowledge.of(trials, mirror)
            try:
                proposal = self._next(mirror, board.trial.number, knew)
            except InputError as error:  # no point is left, or none is affordable
                with suppress(RuntimeError):  # in ask-and-tell there is no loop to end
                    study.stop()
                raise TrialPruned(str(error)) from error
            fixed = board.trial.system_attrs.get("fixed_params", {})
            wanted = {k: v for k, v in fixed.items() if k in search_space}
            params = self._completed(study, board.trial, mirror, {**proposal.params, **wanted})
            price = mirror.study.price_of(mirror.axes.inward(params))
            return proposal._replace(params=params, price=price)

    def _completed(
        self, study: Study, trial: FrozenTrial, mirror: Mirror, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Params of which some are fixed, complete and without what does not exist beside them."""
        draw = partial(self._independent.sample_independent, study, trial)
        return mirror.axes.completed(params, draw)

    def _offer(self, board: Board, proposal: Proposal, waiting: Sequence[FrozenTrial]) -> None:
        """Choose for trials that wait for this one, while the model is at hand."""
        with self.mirrors.lock:
            for trial in waiting[:_MOST_OFFERS]:
                try:
                    offered = self._next(proposal.mirror, trial.number, proposal.knew, beside=True)
                except InputError:  # nothing is left: their own workers will say so
                    break
                board.offer(trial, offered.offer, offered.clashing)
            board.grant()

    def _next(
        self, mirror: Mirror, number: int, knew: Knowledge, *, beside: bool = False
    ) -> Proposal:
        """The next proposal, pending from now on as the trial of this number."""
        left = mirror.study.left
        params = mirror.ask(number, beside=beside).params
        price = mirror.study.price_of(mirror.axes.inward(params))
        return Proposal(mirror, dict(params), price, left, knew)


def _key(study: Study, trial: FrozenTrial) -> tuple[str, int]:
    """What tells a trial from those of other studies with the same sampler."""
    return study.study_name, trial.number
