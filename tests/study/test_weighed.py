# SPDX-License-Identifier: Apache-2.0
"""Studies whose beliefs are weighed by whether their promises came (``surrogate="default"``)."""

import json
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, LogEIPC
from stopwise.core.beliefs import Ensemble
from stopwise.stopping import PBGI, RULES, FixedTrials
from stopwise.stopping.sampled_regret import regrets

BOX = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
MIXED = {"a": sw.Real(0.0, 1.0), "n": sw.Integer(1, 5), "act": sw.Categorical(["x", "y"])}
TABLE = sw.Candidates([{"a": i / 9, "b": j / 9} for i in range(10) for j in range(10)])
SPACES = {"box": BOX, "mixed": MIXED, "table": TABLE}


def value(params):
    """A bowl with a corner in which everything goes wrong."""
    a, b = params["a"], params.get("b", params.get("n", 0) / 5)
    cliff = 50.0 if a > 0.8 and b < 0.4 else 0.0
    return 2.0 + 4.0 * ((a - 0.4) ** 2 + (b - 0.5) ** 2) + cliff


def cost(params):
    return 0.5 + params["a"]


def begun(space="box", **options):
    return sw.Study(SPACES[space], **{"lam": 1e-3, "surrogate": "default", **options})


def run(study, trials, failing=None):
    for _ in range(trials):
        if study.should_stop().stop:
            break
        trial = study.ask()
        told = None if trial.number == failing else value(trial.params)
        study.tell(trial, told, cost(trial.params))
    return study


def path_of(study):
    return [(dict(o.params), o.value) for o in study.history]


# ------------------------------------------------------------------------------ what it is for


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 20), marks=pytest.mark.slow)], ids=["three", "all"]
)
def test_the_smallest_case_stops_on_every_seed(seeds):
    """Four parameters and a corner of 50: one process alone does not stop on 5 of 11 seeds."""

    def f(p):
        return (
            2.0
            + 4.0 * sum((p[k] - 0.4) ** 2 for k in "abcd")
            + (50.0 if p["a"] > 0.85 and p["b"] < 0.3 else 0.0)
        )

    space = {k: sw.Real(0.0, 1.0) for k in "abcd"}
    for seed in seeds:
        result = sw.minimize(f, space, lam=0.01, seed=seed, max_trials=60, surrogate="default")
        assert result.verdict.rule == "pbgi", seed
        assert result.best.value < 2.05


@pytest.mark.parametrize(("diverged", "seeds"), [(1e6, [0, 3]), (1e12, [0])])
def test_values_beyond_belief_do_not_keep_a_study_going(diverged, seeds):
    """Taken as they are they promise so much that no failed promise speaks against them."""

    def f(p):
        bowl = 0.2 + 0.075 * (math.log10(p["lr"]) + 2.0) ** 2 + (p["mom"] - 0.6) ** 2
        return diverged if p["lr"] > 0.2 and p["mom"] > 0.5 else bowl

    space = {"lr": sw.Real(1e-4, 1.0, log=True), "mom": sw.Real(0.0, 1.0)}
    for seed in seeds:
        result = sw.minimize(f, space, lam=0.005, seed=seed, max_trials=45, surrogate="default")
        assert any(o.value == diverged for o in result.history)
        assert result.verdict.rule == "pbgi", seed


def test_a_value_beyond_belief_is_compressed_by_every_reading():
    study = begun(n_initial=6)
    for i, told in enumerate([1.0, 1.2, 1.4, 1.6, 1.8, 2.0]):
        study.tell({"a": i / 5, "b": i / 5}, told)
    study.tell({"a": 0.1, "b": 0.5}, 400.0)  # 664 times as far from the median as the best is
    assert study.readings().entries[0].words == "values as they are"
    study.tell({"a": 0.5, "b": 0.1}, 1000.0)  # 1,426 times
    assert not any("as they are" in words for words, _ in study.readings().entries)


@pytest.mark.parametrize("space", SPACES)
def test_whenever_the_rule_goes_on_the_choice_is_worth_its_price(space):
    """The Lemma: the chosen point's expected improvement, by the same belief, is its price."""
    study, chosen = begun(space, lam=3e-3, cost=cost, n_initial=4), 0
    for _ in range(14):
        verdict = study.should_stop()
        if verdict.stop:
            break
        snapshot = study.snapshot() if len(study.history) >= 4 else None
        trial = study.ask()
        if snapshot is not None:
            x = study.domain.encode([trial.params])
            law = snapshot.law(x, from_incumbent=True)
            gain = math.exp(float(law.log_ei(snapshot.best).value[0]))
            assert gain >= 3e-3 * cost(trial.params) * (1 - 1e-6)
            chosen += 1
        study.tell(trial, value(trial.params))
    assert chosen > 0


# ------------------------------------------------------------------------ every way to use it


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "options",
    [
        {"noise": "learn"},
        {"noise": 0.01, "replicates": True},
        {"cost": "reported"},
        {"bounds": (0, None)},
        {"budget": 25.0, "lam": None, "cost": cost},
    ],
    ids=["noise", "replicates", "learned costs", "bounds", "budget"],
)
def test_it_goes_with_every_option_and_resumes_bit_for_bit(space, options, tmp_path):
    file = tmp_path / "run.jsonl"
    options = {"n_initial": 4, "stopping": FixedTrials(99), **options}
    whole = run(begun(space, **options), 9, failing=6)
    first = run(begun(space, journal=file, **options), 7, failing=6)
    first.close()
    own = {"cost": cost} if callable(options.get("cost")) else {}
    second = sw.Study.resume(file, **own)
    assert isinstance(second.snapshot().belief.objective, Ensemble)
    run(second, 9 - len(first.history), failing=6)
    assert path_of(second) == path_of(whole)
    assert second.promises == whole.promises
    assert len(second.promises) > len(first.promises)  # something was chosen after the resume
    second.close()


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("space", ["table", "box"])
def test_every_acquisition_chooses_by_it(space, acquisition):
    study = begun(space, acquisition=acquisition, n_initial=4, stopping=FixedTrials(9))
    run(study, 6)
    assert len({tuple(o.params.values()) for o in study.history}) == 6
    assert len(study.promises) == 2


@pytest.mark.parametrize("noise", [None, "learn"])
@pytest.mark.parametrize("space", ["table", "box"])
def test_every_rule_reads_it(space, noise):
    others = [name for name in RULES if name not in ("fixed", "pbgi", "immediate")]
    study = begun(space, lam=1e-4, n_initial=4, noise=noise, watch=others)
    run(study, 6)
    for rule in study.watched:
        assert len(study.traces[rule.key]) >= 1
    assert math.isfinite(study.traces[PBGI(1e-4).key].current.value)


def test_pending_points_are_believed_and_side_by_side_goes_on():
    study = begun("box", n_initial=4)
    run(study, 5)
    trials = [study.ask() for _ in range(3)]
    assert len({tuple(t.params.values()) for t in trials}) == 3
    for trial in reversed(trials):
        study.tell(trial, value(trial.params))
    assert len(study.promises.told) >= 3


def test_maximising_is_minimising_the_negative():
    low = run(begun("table", n_initial=4), 9)
    high = begun("table", n_initial=4, direction="maximize")
    for _ in range(9):
        if high.should_stop().stop:
            break
        trial = high.ask()
        high.tell(trial, -value(trial.params), cost(trial.params))
    assert [p for p, _ in path_of(low)] == [p for p, _ in path_of(high)]
    assert len(low.promises) > 0


# ------------------------------------------------------------------------- what it is made of


def test_a_choice_is_journalled_with_what_each_belief_foresaw(tmp_path):
    file = tmp_path / "run.jsonl"
    study = run(begun("box", n_initial=4, journal=file), 8)
    study.close()
    asked = [line for line in map(json.loads, file.read_text().splitlines()) if "trial" in line]
    foreseen = [line["foresight"] for line in asked if "foresight" in line]
    assert len(foreseen) == len(study.promises)
    assert all(len(each["chances"]) == 3 for each in foreseen)
    assert all(0.0 <= chance <= 1.0 for each in foreseen for chance in each["chances"])
    fitted = next(line["fitted"] for line in asked if line.get("foresight"))["objective"]
    assert math.isclose(sum(fitted["weights"]), 1.0)
    warps = [component.get("warp", {}).get("name") for component in fitted["components"]]
    assert warps == [None, "soft", "soft"]


def test_trust_falls_as_promises_fail_and_the_verdict_feels_it():
    study = begun("box", n_initial=4, lam=1e-6)
    run(study, 4)
    before = study.snapshot().belief.trust
    for _ in range(6):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, 60.0)  # nothing that is promised comes
    after = study.snapshot()
    assert after.belief.trust < 0.95 * before
    plain = after.belief.objective.law(study.domain.encode([{"a": 0.1, "b": 0.9}]))
    doubted = after.law(study.domain.encode([{"a": 0.1, "b": 0.9}]), from_incumbent=True)
    assert doubted.log_ei(after.best).value == pytest.approx(
        plain.log_ei(after.best).value + math.log(after.belief.trust)
    )
    assert after.sup(LogEIPC()).x is not None


def test_what_could_still_be_gained_is_drawn_from_the_components():
    """The mean of sampled regrets against draws of each component, by their weights."""
    study = run(begun("table", n_initial=5, lam=1e-5), 7)
    snapshot = study.snapshot()
    drawn = regrets(snapshot, np.random.default_rng(0), 20_000)
    expected, error = 0.0, drawn.std() / math.sqrt(len(drawn))
    for weight, part in snapshot.components:
        of_part = regrets(part, np.random.default_rng(1), 20_000)
        expected += snapshot.belief.trust * weight * of_part.mean()
    assert abs(drawn.mean() - expected) < 6 * error


def test_told_data_have_the_prior_weights():
    study = begun("box", n_initial=4)
    for a in (0.1, 0.3, 0.6, 0.9, 0.5):
        study.tell({"a": a, "b": a}, value({"a": a, "b": a}))
    weights = study.snapshot().belief.objective.weights
    np.testing.assert_allclose(weights, [0.3, 0.4, 0.3])
