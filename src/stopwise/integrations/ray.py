# SPDX-License-Identifier: Apache-2.0
"""Ray Tune: a searcher that chooses by cost and ends the search, and a stopper for other searches.

``StopwiseSearcher`` chooses configurations and finishes when no further one is worth its price.
``StopwiseStopper`` adds the stopping rule to a search by another algorithm. ``StopwiseScheduler``
pauses and resumes trials that report in stages. Guide: docs/how-to/ray.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stopwise.errors import MissingExtraError
from stopwise.integrations._ray_results import read_results
from stopwise.record.history import History, Trial
from stopwise.stopping.verdict import Verdict
from stopwise.study.external import ExternalStudy
from stopwise.study.signatures import spells_out_options

try:
    from ray.tune import Stopper
    from ray.tune.search import Searcher
except ImportError as error:
    raise MissingExtraError.of(
        "ray", extra="ray", purpose="stopwise.integrations.ray", cause=error
    ) from error

from stopwise.integrations._ray_bridge import SET_HERE, CostOption, RayBridge
from stopwise.integrations._ray_scheduler import StopwiseScheduler
from stopwise.integrations._ray_space import (
    flattened,
    outward,
    params_as_json,
    params_from_json,
    read_space,
    space_as_json,
    space_from_json,
)

__all__ = [
    "StopwiseScheduler",
    "StopwiseSearcher",
    "StopwiseStopper",
    "read_results",
    "read_space",
]


class StopwiseSearcher(Searcher, Stopper):
    """A search algorithm that finishes when no further trial is worth its price.

    Give it as ``search_alg`` with ``num_samples=-1``. When it stops, running trials are finished,
    and a good result among them may reopen the search. Given as ``stop`` too, it ends them.

    Args:
        lam: What a unit of cost is worth, in units of the metric; see ``sw.exchange_rate``.
        metric: Which reported number is the objective; by default that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``; by default that of ``TuneConfig``.
        cost: ``"time_total_s"``, the seconds a trial ran, learned; another reported number; a
            function of the config, or a number, known; or None, each trial costs 1.
        options: Further options of ``sw.Study``: budget, acquisition, stopping, noise, seed, ...
            ``limits`` are of other numbers that a trial reports.

    Attributes:
        verdict: Why the search ended, or goes on.
        history: Every trial with value and cost, params in the form of Ray.
    """

    CKPT_FILE_TMPL = "searcher-state-{}.json"  # save() writes JSON

    @spells_out_options(SET_HERE)
    def __init__(
        self,
        lam: float | None = None,
        *,
        metric: str | None = None,
        mode: str | None = None,
        cost: CostOption = "time_total_s",
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(metric=metric, mode=mode)
        self._bridge = RayBridge(lam, metric, mode, cost, options)
        self._events: list[list[Any]] = []  # the steps that a restored searcher repeats
        self._replay: list[list[Any]] | None = None
        self._live: dict[str, Trial | dict[str, Any]] = {}
        self._last: dict[str, dict[str, Any]] = {}
        self._failed: dict[str, Trial | dict[str, Any]] = {}  # Ray may start these again
        self._before: frozenset[str] = frozenset()  # trials that ran when it was restored

    @property
    def verdict(self) -> Verdict:
        """The verdict: why the search has ended, or goes on."""
        return self._bridge.verdict()

    @property
    def history(self) -> History:
        """Every trial with value and cost."""
        study, foreign = self._bridge.opened
        return foreign.history(study.history)

    # --------------------------------------------------------- interface of Searcher

    def set_search_properties(
        self,
        metric: str | None,
        mode: str | None,
        config: dict[str, Any],
        **spec: Any,  # noqa: ANN401, ARG002
    ) -> bool:
        """Take over Tune's metric, mode and param_space."""
        if self._bridge.study is not None:
            return not config
        self._metric = self._bridge.metric = metric or self._bridge.metric
        self._mode = self._bridge.mode = mode or self._bridge.mode
        if not config:
            return False
        self._bridge.open(config)
        if self._replay is not None:
            self._do_again(self._replay)
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The next config, ``FINISHED``, or None while running trials may change the verdict."""
        study, foreign = self._bridge.opened
        answer = self._bridge.verdict()
        self._note("stop")
        if answer.stop:
            return None if set(self._live) - self._before else Searcher.FINISHED
        trial = study.ask()
        self._live[trial_id] = trial
        self._note("ask", trial_id, params_as_json(foreign, trial.params))
        return outward(foreign, trial.params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Keep the last result: a trial that fails later has its cost from it."""
        self._last[trial_id] = result

    def on_trial_complete(
        self,
        trial_id: str,
        result: dict[str, Any] | None = None,
        error: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Tell the study the result of a trial."""
        if trial_id not in self._live and trial_id not in self._failed:
            return
        last = self._last.pop(trial_id, None)
        result = result or last
        self._tell(trial_id, result, error=error)
        reported = {
            key: value
            for key, value in (
                (self._bridge.metric, self._bridge.value(result)),
                (self._bridge.cost, self._bridge.paid(result)),
            )
            if isinstance(key, str) and value is not None
        }
        if not error and self._bridge.value(result) is not None:
            reported |= self._bridge.outcomes(result or {})[0] or {}
        self._note("tell", trial_id, reported, error)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,  # noqa: FBT001, FBT002
        pruned: bool = False,  # noqa: FBT001, FBT002
        intermediate_values: list[float] | None = None,  # noqa: ARG002
        cost: float | None = None,
        *,
        outcomes: Mapping[str, float] | None = None,
    ) -> None:
        """Tell an evaluation from elsewhere, with its cost where costs are learned.

        Outcomes that have limits are told by name: ``outcomes={"toxicity": 2.1}``.
        """
        study, foreign = self._bridge.opened
        params = foreign.inward(flattened(parameters))
        failed = error or pruned
        told = None if failed else value
        study.tell(params, told, cost, charge=False, outcomes=outcomes)
        measured = None if outcomes is None else dict(outcomes)
        self._note(
            "add", params_as_json(foreign, params), None if failed else value, cost, measured
        )

    def save(self, checkpoint_path: str) -> None:
        """Write the steps of the search, as JSON."""
        bridge = self._bridge
        state = {
            "metric": bridge.metric,
            "mode": bridge.mode,
            "space": space_as_json(bridge.foreign, bridge.constants),
            "events": self._events,
        }
        Path(checkpoint_path).write_text(json.dumps(state), "utf-8")

    def restore(self, checkpoint_path: str) -> None:
        """Repeat the steps that were saved, so that the search continues from there."""
        state = json.loads(Path(checkpoint_path).read_text("utf-8"))
        self._replay = state["events"]
        if self._bridge.study is None and state["space"] is not None:
            self._metric = self._bridge.metric = state["metric"]
            self._mode = self._bridge.mode = state["mode"]
            self._bridge.begin(*space_from_json(state["space"]))
        if self._bridge.study is not None:
            self._do_again(self._replay)

    # ---------------------------------------------------------- interface of Stopper

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:  # noqa: ARG002
        """No single trial is stopped."""
        return False

    def stop_all(self) -> bool:
        """Whether to end the experiment, running trials included."""
        return self._bridge.study is not None and self._bridge.verdict().stop

    # ---------------------------------------------------------------------- details

    def _note(self, *event: Any) -> None:  # noqa: ANN401
        if event != ("stop",) or self._events[-1:] != [["stop"]]:
            self._events.append(list(event))

    def _tell(self, trial_id: str, result: Any, *, error: bool) -> None:  # noqa: ANN401
        """Tell a trial; one that failed and was started again is told by its params."""
        trial = self._live.get(trial_id) or self._failed[trial_id]
        self._bridge.tell(trial, result, error=error)  # a value that is refused leaves it open
        self._live.pop(trial_id, None)
        self._failed.pop(trial_id, None)
        if error or self._bridge.value(result) is None:
            self._failed[trial_id] = dict(trial.params if isinstance(trial, Trial) else trial)

    def _do_again(self, events: list[list[Any]]) -> None:
        """Repeat every step; if a choice is not the recorded one, only tell recorded values."""
        self._replay, self._live, self._failed, self._events = None, {}, {}, list(events)
        if not all(self._repeated(*event) for event in events):
            self._bridge.reopen()
            self._live, self._failed = {}, {}
            for event in events:
                self._retold(*event)
        self._before = frozenset(self._live)

    def _repeated(self, kind: str, *rest: Any) -> bool:  # noqa: ANN401
        """Repeat one step; False if the study does not choose as it did before."""
        study, foreign = self._bridge.opened
        if kind == "ask":
            trial = study.ask()
            self._live[rest[0]] = trial
            return dict(trial.params) == params_from_json(foreign, rest[1])
        if kind == "stop":
            self._bridge.verdict()
        else:
            self._retold(kind, *rest)
        return True

    def _retold(self, kind: str, *rest: Any) -> None:  # noqa: ANN401
        study, foreign = self._bridge.opened
        if kind == "ask":
            self._live[rest[0]] = params_from_json(foreign, rest[1])
        elif kind == "tell":
            self._tell(rest[0], rest[1], error=rest[2])
        elif kind == "add":
            measured = rest[3] if len(rest) > 3 else None  # as saved by version 0.1
            params = params_from_json(foreign, rest[0])
            study.tell(params, rest[1], rest[2], charge=False, outcomes=measured)


class StopwiseStopper(Stopper):
    """A stopper for a search by another algorithm: give it as ``stop`` of ``RunConfig``.

    It takes each trial's last result when the trial is done, and ends the experiment, running
    trials included. A trial that a scheduler or another stopper cuts short is not counted.

    Args:
        param_space: As given to the Tuner.
        lam: What a unit of cost is worth, in units of the metric.
        metric: Which reported number is the objective.
        mode: ``"min"`` or ``"max"``.
        cost: As for ``StopwiseSearcher``.
        options: Further options of ``sw.Study``: stopping, noise, n_initial, ...
    """

    @spells_out_options(SET_HERE)
    def __init__(
        self,
        param_space: Mapping[str, Any],
        lam: float | None = None,
        *,
        metric: str,
        mode: str,
        cost: CostOption = "time_total_s",
        **options: Any,  # noqa: ANN401
    ) -> None:
        self._bridge = RayBridge(lam, metric, mode, cost, options, ExternalStudy)
        self._bridge.open(param_space)
        self._told: set[str] = set()

    @property
    def verdict(self) -> Verdict:
        """The verdict: why the search has ended, or goes on."""
        return self._bridge.verdict()

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Take a result. Ray reports the last one of a function twice; it is told once."""
        if result.get("done") and trial_id not in self._told:
            _, foreign = self._bridge.opened
            params = foreign.inward(flattened(result["config"]))
            self._bridge.tell(params, result, error=False)
            self._told.add(trial_id)
        return False

    def stop_all(self) -> bool:
        """Whether to end the experiment, running trials included."""
        return self._bridge.verdict().stop
