# SPDX-License-Identifier: Apache-2.0
"""A scheduler for Ray Tune that starts, pauses and takes up trials by what they are worth.

It is one study with stages, seen by Tune as two: ``scheduler.searcher`` hands out the trials that
are to be started, and the scheduler says which trial goes on, which is paused and which paused one
runs again. An action is chosen only when a trial may run, so that it knows all results.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ray.tune.experiment import Trial as RayTrial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from stopwise.core.checks import checked_whole
from stopwise.core.stages import Stages, checked_stages
from stopwise.errors import InputError, shown
from stopwise.integrations._ray_bridge import SET_HERE, CostOption, RayBridge
from stopwise.integrations._ray_space import outward
from stopwise.record.history import Trial
from stopwise.stopping.verdict import Verdict
from stopwise.study.actions import Start
from stopwise.study.signatures import spells_out_options
from stopwise.study.study import Study

_NO_RESTORE = (
    "a search in stages cannot be restored: which trials were paused is not saved by Ray. Start it"
    " again with another name, and give start_from= what was best."
)


class StopwiseScheduler(TrialScheduler):
    """Runs each trial to the next stage, and then whichever trial is worth most for its price.

    Experimental. Give it as ``scheduler``, its ``searcher`` as ``search_alg``, and
    ``num_samples=-1``. A trial is paused as Ray pauses: it must report checkpoints at the stages,
    and begin from one if there is one (``tune.get_checkpoint()``).

    Args:
        lam: What a unit of cost is worth, in units of the metric; see ``sw.exchange_rate``.
        stages: The steps at which it decides, such as ``sw.Stages(81, eta=3)``.
        metric: Which reported number is the objective; by default that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``; by default that of ``TuneConfig``.
        cost: ``"time_total_s"``, the seconds a trial ran, learned; another reported number, the
            cost so far; a function of the config, or a number, known; or None, each trial costs 1.
        time_attr: Which reported number is the step.
        max_concurrent: How many trials run at once; instead of ``max_concurrent_trials``, which
            would count paused ones.
        options: Further options of ``sw.Study``: max_trials, budget, n_initial, seed, ...

    Attributes:
        searcher: To be given to Tune beside it.
        verdict: Why the search ended, or goes on.
        study: The study, with its curves; None before Tune has begun.
    """

    _supports_buffered_results = False

    @spells_out_options((*SET_HERE, "stages"))
    def __init__(
        self,
        lam: float,
        *,
        stages: Stages | int | Sequence[int],
        metric: str | None = None,
        mode: str | None = None,
        cost: CostOption = "time_total_s",
        time_attr: str = "training_iteration",
        max_concurrent: int = 1,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__()
        steps = checked_stages(stages)
        if steps is None:
            raise InputError("stages=None: give sw.Stages(81, eta=3), or the list of steps.")
        self._stages = steps
        self._time_attr = time_attr
        self._most = checked_whole("max_concurrent", max_concurrent)
        self._bridge = RayBridge(lam, metric, mode, cost, {**options, "stages": steps})
        self.searcher = _StartSearcher(self)
        self._trials: dict[str, Trial] = {}  # by Ray's trial_id
        self._running: dict[int, int] = {}  # by our number: to which step
        self._starts: deque[Start] = deque()  # chosen, and not yet suggested
        self._taken_up: list[str] = []  # chosen, and not yet running
        self._is_over = False

    @property
    def study(self) -> Study | None:
        """The study; None before Tune has begun."""
        return self._bridge.study

    @property
    def verdict(self) -> Verdict:
        """The verdict: why the search has ended, or goes on."""
        return self._bridge.opened[0].should_stop()

    # ------------------------------------------------------- interface of TrialScheduler

    def set_search_properties(
        self,
        metric: str | None,
        mode: str | None,
        **spec: Any,  # noqa: ANN401, ARG002
    ) -> bool:
        """Take over Tune's metric and mode."""
        self._metric = self._bridge.metric = metric or self._bridge.metric
        self._bridge.mode = mode or self._bridge.mode
        return True

    def on_trial_add(self, tune_controller: Any, trial: RayTrial) -> None:  # noqa: ANN401, ARG002
        """Refuse trials that are not of this scheduler's searcher."""
        if trial.trial_id not in self._trials:
            message = (
                "StopwiseScheduler starts trials itself: give TuneConfig search_alg="
                "scheduler.searcher and num_samples=-1."
            )
            raise InputError(message)

    def on_trial_result(
        self,
        tune_controller: Any,  # noqa: ANN401, ARG002
        trial: RayTrial,
        result: Mapping[str, Any],
    ) -> str:
        """Tell the study a stage; the trial goes on if that is what is worth most."""
        ours = self._trials[trial.trial_id]
        if not self._is_open(ours):
            return str(TrialScheduler.STOP)
        if trial.trial_id in self._taken_up:
            self._taken_up.remove(trial.trial_id)
            if not result.get("done"):  # Ray repeats a last result
                self._bridge.warn_if_anew(trial.trial_id, ours.number, self._step(result))
        if self._told(ours, result) or bool(result.get("done")):
            self._end(ours, result)
            return str(TrialScheduler.STOP)
        if self._step(result) < self._running.get(ours.number, self._stages.last):
            return str(TrialScheduler.CONTINUE)
        self._running.pop(ours.number, None)
        self.decide()
        if trial.trial_id in self._taken_up:
            self._taken_up.remove(trial.trial_id)
            return str(TrialScheduler.CONTINUE)
        return str(TrialScheduler.PAUSE)

    def on_trial_complete(
        self,
        tune_controller: Any,  # noqa: ANN401, ARG002
        trial: RayTrial,
        result: Mapping[str, Any],
    ) -> None:
        """Tell the study a trial that has ended by itself, or that a stopper has ended."""
        ours = self._trials[trial.trial_id]
        if self._is_open(ours) and not self._is_over:
            self._told(ours, result)
            self._end(ours, result)

    def on_trial_error(self, tune_controller: Any, trial: RayTrial) -> None:  # noqa: ANN401, ARG002
        """Tell the study a trial that has failed."""
        ours = self._trials[trial.trial_id]
        if self._is_open(ours):
            self._fail(ours, trial.last_result, "the trial raised an error")

    def on_trial_remove(self, tune_controller: Any, trial: RayTrial) -> None:  # noqa: ANN401
        """A trial that waits was ended: nothing is told, and it is not taken up again."""

    def choose_trial_to_run(self, tune_controller: Any) -> RayTrial | None:  # noqa: ANN401
        """A trial that is to be started, or a paused one that is worth going on with."""
        trials = tune_controller.get_trials()
        for trial in trials:  # one that could not be started is not heard of otherwise
            if trial.is_finished() and self._is_open(self._trials[trial.trial_id]):
                self.on_trial_error(tune_controller, trial)
        self.decide()
        if self._is_over:
            for trial in trials:
                if trial.status == RayTrial.PAUSED:
                    tune_controller.stop_trial(trial)
            return None
        for trial in trials:
            waits = trial.status == RayTrial.PAUSED and trial.trial_id in self._taken_up
            if trial.status == RayTrial.PENDING or waits:
                return trial
        return None

    def debug_string(self) -> str:
        """One line for Ray's console."""
        study = self.study
        if study is None:
            return "StopwiseScheduler: not begun."
        best = study.best
        value = "none" if best is None else study.options.units.value(best.value)
        return (
            f"StopwiseScheduler: {len(study.curves)} trials begun, {len(study.history)} ended,"
            f" {len(study.paused)} paused; best {value}."
        )

    def save(self, checkpoint_path: str) -> None:
        """Write a note: what was paused is not saved."""
        Path(checkpoint_path).write_text(json.dumps({"stages": str(self._stages)}), "utf-8")

    def restore(self, checkpoint_path: str) -> None:
        """Refuse: a search in stages begins anew."""
        raise InputError(f"{_NO_RESTORE} ({checkpoint_path})")

    # ---------------------------------------------------------------------- details

    def open(self, config: Mapping[str, Any]) -> None:
        """Begin the study over a param_space."""
        self._bridge.open(config)

    def decide(self) -> None:
        """Choose what to do while fewer trials run than may."""
        study, _ = self._bridge.opened
        while len(self._running) < self._most and not self._is_over:
            if study.should_stop().stop:
                self._is_over = not self._running
                return
            action = study.next()
            self._running[action.trial.number] = action.to_step or self._stages.last
            if isinstance(action, Start):
                self._starts.append(action)
            else:
                ids = {trial.number: trial_id for trial_id, trial in self._trials.items()}
                self._taken_up.append(ids[action.trial.number])

    def suggestion(self, trial_id: str) -> dict[str, Any] | str | None:
        """The config of a trial that is to be started; ``FINISHED``; or None: not now."""
        _, foreign = self._bridge.opened
        self.decide()
        if self._starts:
            self._trials[trial_id] = trial = self._starts.popleft().trial
            return outward(foreign, trial.params)
        return Searcher.FINISHED if self._is_over else None

    def _is_open(self, trial: Trial) -> bool:
        study, _ = self._bridge.opened
        return any(trial.number == pending.number for pending in study.pending)

    def _step(self, result: Mapping[str, Any]) -> int:
        step = result.get(self._time_attr)
        if isinstance(step, bool) or not isinstance(step, int):
            message = (
                f"a result reports {self._time_attr}={shown(step)}: give time_attr= the name of a"
                f" whole number that counts steps; reported are {sorted(result)}."
            )
            raise InputError(message)
        return step

    def _told(self, trial: Trial, result: Mapping[str, Any]) -> bool:
        """Tell a result if it is one of a stage; whether the trial has ended with it."""
        study, _ = self._bridge.opened
        step, curve = self._step(result), study.curves.get(trial.number, ())
        reached = curve[-1].step if curve else 0
        value = self._bridge.value(result)
        if step <= reached:
            return False  # told before a restart, or Ray's repetition of the last result
        if value is None:
            self._fail(
                trial, result, f"{self._bridge.metric!r} is no finite number at {step}", step
            )
            return True
        due = self._stages.after(reached)
        if step > due:
            message = (
                f"a result of step {step} came, and none of step {due}: the stages are"
                f" {self._stages}. Report at these, or give other stages."
            )
            raise InputError(message)
        if step == due:
            study.tell(trial, value, self._paid(trial, result), step=step)
        return step == self._stages.last

    def _end(self, trial: Trial, result: Mapping[str, Any]) -> None:
        """A trial does not go on: it has reached its last stage, or ended before."""
        self._running.pop(trial.number, None)
        if self._is_open(trial):
            last, step = self._stages.last, self._step(result)
            why = f"the trial ended at step {step} of {last} without a word"
            self._fail(trial, result, why, step)

    def _fail(
        self, trial: Trial, result: Mapping[str, Any] | None, why: str, step: int | None = None
    ) -> None:
        study, _ = self._bridge.opened
        self._running.pop(trial.number, None)
        curve = study.curves.get(trial.number)
        reached = curve[-1].step if curve else 1
        at = step if step is not None and reached <= step <= self._stages.last else None
        study.tell(trial, None, self._paid(trial, result), step=at, message=why)

    def _paid(self, trial: Trial, result: Mapping[str, Any] | None) -> float | None:
        """What a trial has cost so far; after a restart Ray may have begun to count anew."""
        study, _ = self._bridge.opened
        paid, curve = self._bridge.paid(result), study.curves.get(trial.number)
        before = curve[-1].cost if curve else -math.inf
        return None if paid is None else max(paid, before)


class _StartSearcher(Searcher):
    """The searcher of a scheduler: it hands out the trials that the scheduler starts."""

    CKPT_FILE_TMPL = "searcher-state-{}.json"

    def __init__(self, scheduler: StopwiseScheduler) -> None:
        super().__init__()
        self._scheduler = scheduler

    def set_search_properties(
        self,
        metric: str | None,
        mode: str | None,
        config: dict[str, Any],
        **spec: Any,  # noqa: ANN401, ARG002
    ) -> bool:
        """Take over Tune's metric, mode and param_space."""
        self._scheduler.set_search_properties(metric, mode)
        self._metric, self._mode = self._scheduler.metric, mode
        if self._scheduler.study is None and config:
            self._scheduler.open(config)
            return True
        return not config

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The config of a trial to start, ``FINISHED``, or None while others are worth more."""
        return self._scheduler.suggestion(trial_id)

    def on_trial_complete(
        self,
        trial_id: str,
        result: dict[str, Any] | None = None,
        error: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Nothing: the scheduler has told it."""

    def save(self, checkpoint_path: str) -> None:
        """Write a note: what was paused is not saved."""
        self._scheduler.save(checkpoint_path)

    def restore(self, checkpoint_path: str) -> None:
        """Refuse: a search in stages begins anew."""
        self._scheduler.restore(checkpoint_path)
