# SPDX-License-Identifier: Apache-2.0
"""The Ray Tune scheduler: by hand, and on a real Ray on this machine."""

import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations.ray import StopwiseScheduler

SPACE = {"x": tune.uniform(0, 1)}
STAGES = sw.Stages([1, 3, 9])


def loss(x, step):
    return (x - 0.3) ** 2 + x / step**0.5


class Tune:
    """Tune's controller played by hand: one trial runs at a time, a step at once."""

    def __init__(self, scheduler, result=lambda x, step: {"loss": loss(x, step)}):
        self.scheduler, self.result = scheduler, result
        self.trials, self.order, self.paused = [], [], 0
        scheduler.set_search_properties("loss", "min")
        assert scheduler.searcher.set_search_properties("loss", "min", SPACE)

    def get_trials(self):
        return self.trials

    def stop_trial(self, trial):
        self.scheduler.on_trial_remove(self, trial)
        trial.status = Trial.TERMINATED

    def run(self, most=400):
        for _ in range(most):
            config = self.scheduler.searcher.suggest(f"t{len(self.trials)}")
            if isinstance(config, dict):
                self.add(config)
            trial = self.scheduler.choose_trial_to_run(self)
            if trial is not None:
                assert self.scheduler.choose_trial_to_run(self) is trial
                trial.status = Trial.RUNNING
                self.train(trial)
            elif config == Searcher.FINISHED:
                return
        pytest.fail("it never ended")

    def add(self, config):
        trial = SimpleNamespace(trial_id=f"t{len(self.trials)}", config=config, step=0)
        trial.status, trial.last_result = Trial.PENDING, {}
        trial.is_finished = lambda: trial.status in (Trial.TERMINATED, Trial.ERROR)
        self.scheduler.on_trial_add(self, trial)
        self.trials.append(trial)

    def train(self, trial):
        while trial.status == Trial.RUNNING:
            trial.step += 1
            self.order.append((trial.trial_id, trial.step))
            told = self.result(trial.config["x"], trial.step)
            if told is None:
                trial.status = Trial.ERROR
                self.scheduler.on_trial_error(self, trial)
                return
            trial.last_result = {"training_iteration": trial.step, **told}
            decision = self.scheduler.on_trial_result(self, trial, trial.last_result)
            if decision == TrialScheduler.PAUSE:
                trial.status, self.paused = Trial.PAUSED, self.paused + 1
            elif decision == TrialScheduler.STOP:
                self.scheduler.on_trial_complete(self, trial, trial.last_result)
                trial.status = Trial.TERMINATED


def scheduler(lam=0.003, **options):
    return StopwiseScheduler(lam, **{"stages": STAGES, "cost": None, "max_trials": 7, **options})


def test_it_is_the_same_study_as_without_ray():
    played = Tune(made := scheduler())
    played.run()
    whole = sw.minimize(
        lambda p: ((step, loss(p["x"], step)) for step in range(1, 10)),
        {"x": sw.Real(0, 1)},
        lam=0.003,
        stages=STAGES,
        max_trials=7,
    )
    assert made.study.best == whole.best
    assert dict(made.study.curves) == dict(whole._study.curves)
    assert made.verdict.stop
    assert all(trial.status == Trial.TERMINATED for trial in played.trials)  # paused ones too
    assert "7 trials begun" in made.debug_string()
    ids = [trial_id for trial_id, _ in played.order]
    runs = [one for at, one in enumerate(ids) if at == 0 or ids[at - 1] != one]
    assert len(runs) > len(set(runs))  # some were taken up again


@pytest.mark.parametrize(
    ("result", "says", "upto"),
    [
        (lambda *_: {"loss": float("nan")}, "'loss' is no finite number at 1", 1),
        (lambda x, step: None if step == 2 else {"loss": x}, "raised an error", 3),
        (lambda x, step: {"loss": x, "done": step == 2}, "ended at step 2 of 9 without a word", 2),
    ],
)
def test_trials_that_go_wrong_are_failures(result, says, upto):
    played = Tune(made := scheduler(max_trials=4), result)
    played.run()
    assert made.study.best is None
    assert all(says in o.message for o in made.study.history)
    assert {o.cost for o in made.study.history} == {upto / 9}
    assert len(made.study.history) > 0


def test_costs_are_those_that_are_reported_and_do_not_shrink():
    costs = {1: 2.0, 3: 6.0, 9: 5.0}
    played = Tune(
        made := scheduler(0.01, cost="price", max_trials=1),
        lambda x, step: {"loss": loss(x, step), "price": costs.get(step, 1.0)},
    )
    played.run()
    assert [report.cost for report in made.study.curves[0]] == [2.0, 6.0, 6.0]


def test_a_trial_that_begins_anew_when_it_is_taken_up_is_warned_of_once():
    class WithoutCheckpoints(Tune):
        def train(self, trial):
            trial.step = 0
            super().train(trial)

    played = WithoutCheckpoints(made := scheduler())
    with pytest.warns(UserWarning, match="taken up") as warned:
        played.run()
    [said] = [str(w.message) for w in warned if "taken up" in str(w.message)]
    assert "and reports step 1: it did not go on from a checkpoint" in said
    assert "tune.get_checkpoint()" in said
    whole = Tune(scheduler())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole.run()
    assert dict(made.study.curves) == dict(whole.scheduler.study.curves)


def test_a_trial_that_cannot_be_started_is_a_failure():
    played = Tune(made := scheduler(max_trials=1))
    played.add(made.searcher.suggest("t0"))
    played.trials[0].status = Trial.ERROR  # nobody is told of it
    assert made.choose_trial_to_run(played) is None
    assert made.study.history[0].failed
    assert made.searcher.suggest("t1") == Searcher.FINISHED


def test_several_run_at_once():
    played = Tune(made := scheduler(max_concurrent=2))
    for trial_id in ("t0", "t1"):
        played.add(made.searcher.suggest(trial_id))
    assert made.searcher.suggest("t2") is None
    played.run()
    assert made.verdict.stop


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="stages=None"):
        scheduler(stages=None)
    with pytest.raises(InputError, match="max_concurrent"):
        scheduler(max_concurrent=0)
    made = scheduler()
    assert made.debug_string() == "StopwiseScheduler: not begun."
    with pytest.raises(InputError, match=r"search_alg=scheduler\.searcher"):
        made.on_trial_add(None, SimpleNamespace(trial_id="of another searcher"))
    with pytest.raises(InputError, match="cannot be restored"):
        made.searcher.restore("searcher-state.json")
    steps = Tune(scheduler(), lambda x, step: {"loss": x, "training_iteration": 2 * step})
    with pytest.raises(InputError, match="a result of step 2 came, and none of step 1"):
        steps.run()
    unnamed = Tune(scheduler(time_attr="epoch"))
    with pytest.raises(InputError, match="reports epoch=None: give time_attr="):
        unnamed.run()


# ------------------------------------------------------------------------ a real Ray


def train(config):
    """A function that reports nine steps, and begins where its checkpoint is."""
    done, found = 0, tune.get_checkpoint()
    if found is not None:
        with found.as_directory() as folder:
            done = int(Path(folder, "step").read_text())
    for step in range(done + 1, 10):
        told = {"loss": loss(config["x"], step), "began": done}
        if step not in STAGES.steps:
            tune.report(told)
            continue
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "step").write_text(str(step))
            tune.report(told, checkpoint=tune.Checkpoint.from_directory(folder))


def test_on_a_real_ray_trials_are_paused_and_taken_up(cluster, tmp_path):
    made = scheduler()
    results = tune.Tuner(
        train,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            search_alg=made.searcher,
            scheduler=made,
            num_samples=-1,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="stages", verbose=0),
    ).fit()
    played = Tune(by_hand := scheduler())
    played.run()
    assert dict(made.study.curves) == dict(by_hand.study.curves)
    assert made.verdict.stop
    assert results.num_errors == 0
    assert max(result.metrics["began"] for result in results) > 0  # from a checkpoint
    assert results.get_best_result().metrics["training_iteration"] == 9
