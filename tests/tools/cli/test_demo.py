# SPDX-License-Identifier: Apache-2.0
"""The demo: its boxes are played honestly, its problem is what it says, and it runs."""

import io
import re
import sys
import time

import numpy as np
import pytest
from rich.console import Console
from scipy.integrate import quad
from scipy.stats import norm

from stopwise.core.space import as_domain
from stopwise.errors import InputError, MissingExtraError
from stopwise.tools.cli import _demo
from stopwise.tools.cli._demo import train as training
from stopwise.tools.cli._demo.boxes import (
    Boxes,
    Policy,
    best_possible,
    by_index,
    play,
    policies,
    worlds,
)
from stopwise.tools.cli._demo.digits import SPACE, misread_percent
from stopwise.tools.cli._demo.fixed_number import fixed_number
from stopwise.tools.cli._demo.pandora import BOXES, NAMES, one_game, pandora
from tests.support.commands import stopwise

SMALLEST = {"landmarks": 10, "gamma": 0.03, "penalty": 1e-3}
LARGEST = {"landmarks": 800, "gamma": 0.03, "penalty": 1e-3}
TWO = Boxes.of([(1.0, 2.0, 0.3), (0.5, 3.0, 0.4)])


def paper(width=80):
    return Console(file=io.StringIO(), width=width, highlight=False)


# --------------------------------------------------------------------------------- boxes


def test_a_fair_value_is_where_looking_just_pays():
    for g, mean, std, price in zip(
        BOXES.fair_values, BOXES.mean, BOXES.std, BOXES.price, strict=True
    ):
        gain, _ = quad(lambda x: (x - g) * norm.pdf(x, mean, std), g, mean + 12 * std)  # noqa: B023
        assert gain == pytest.approx(price, rel=1e-8)


def slowly(boxes, policy, prizes):
    """One game, box by box."""
    hand, paid, opened = 0.0, 0.0, 0
    for k, i in enumerate(policy.order):
        if hand >= policy.enough[k]:
            break
        hand, paid, opened = max(hand, prizes[i]), paid + boxes.price[i], opened + 1
    return hand - paid, opened, paid


def test_many_worlds_at_once_are_played_as_one_by_one():
    prizes = worlds(BOXES, 300, seed=4)
    for policy in policies(BOXES):
        outcome = play(BOXES, policy, prizes)
        found = np.array([slowly(BOXES, policy, row) for row in prizes])
        np.testing.assert_allclose(
            np.column_stack([outcome.payoff, outcome.opened, outcome.paid]), found, atol=1e-12
        )


def test_a_policy_stops_when_no_unopened_box_is_worth_more():
    policy = by_index("", np.array([1.0, 3.0, 2.0]), np.array([9.0, 5.0, 7.0]))
    assert policy.order.tolist() == [1, 2, 0]
    assert policy.enough.tolist() == [9.0, 9.0, 9.0]


def test_dynamic_programming_agrees_with_quadrature_over_two_boxes():
    def last(y, i):  # with one box left: look if that pays
        mean, std = TWO.mean[i], TWO.std[i]
        gain, _ = quad(lambda x: (x - y) * norm.pdf(x, mean, std), y, mean + 12 * std)
        return max(y, y + gain - TWO.price[i])

    def first(i):
        mean, std = TWO.mean[i], TWO.std[i]
        up, _ = quad(
            lambda x: last(x, 1 - i) * norm.pdf(x, mean, std),
            0.0, mean + 9 * std, points=[TWO.fair_values[1 - i]], limit=200,
        )  # fmt: skip
        return up + last(0.0, 1 - i) * norm.cdf(0.0, mean, std) - TWO.price[i]

    assert best_possible(TWO) == pytest.approx(max(first(0), first(1), 0.0), abs=1e-4)


@pytest.mark.parametrize("boxes", [BOXES, TWO], ids=["demo", "two"])
def test_fair_values_are_the_best_policy_and_the_others_are_not(boxes):
    best = best_possible(boxes)
    prizes = worlds(boxes, 200_000, seed=3)
    fair, *others = [play(boxes, policy, prizes) for policy in policies(boxes)]
    assert fair.mean == pytest.approx(best, abs=4 * fair.error)
    if boxes is BOXES:
        assert all(other.mean < best - 20 * other.error for other in others)


def test_an_order_by_fair_value_with_another_stop_is_worse():
    fair = BOXES.fair_values
    order = np.argsort(-fair)
    prizes = worlds(BOXES, 100_000, seed=5)
    best = best_possible(BOXES)
    for shift in (-2.0, 2.0):
        other = play(BOXES, Policy("", order, fair[order] + shift), prizes)
        assert other.mean < best - 5 * other.error


def test_pandora_fits_one_screen():
    console = paper()
    pandora(console, count=20_000)
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 25  # nothing is wrapped
    assert max(map(len, lines)) <= 80
    rows = re.findall(
        r"^(by fair value|open them all) +([\d.]+) \+- ", "\n".join(lines), re.MULTILINE
    )
    payoff = {name: float(value) for name, value in rows}
    assert payoff["by fair value"] > payoff["open them all"]


def test_the_game_that_is_told_is_the_game_that_is_played():
    by_fair_value = policies(BOXES)[0]
    for prizes in worlds(BOXES, 50, seed=9):
        payoff, opened, _ = slowly(BOXES, by_fair_value, prizes)
        story = one_game(prizes)
        assert story.rstrip().endswith(f"= {payoff:.2f}.")
        assert [s[0] for s in re.findall(r"[A-F] holds", story)] == [
            NAMES[i] for i in by_fair_value.order[:opened]
        ]


# ------------------------------------------------------------------------------ training


def test_training_takes_at_least_ten_times_as_long_somewhere():
    objective = misread_percent()

    def processor_seconds(params):  # other people's load does not count
        begin = time.process_time()
        assert 0.0 < objective(params) < 100.0
        return time.process_time() - begin

    processor_seconds(SMALLEST)  # imports and caches
    as_domain(SPACE).encode([SMALLEST, LARGEST])  # both are in the space
    assert processor_seconds(LARGEST) > 10 * processor_seconds(SMALLEST)


def counted(objective, *, count=50, most_seconds=60.0, seed=0):
    return fixed_number(objective, seed, paper(), count=count, most_seconds=most_seconds)


def without_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)


def test_a_fixed_number_of_trials_ends_where_patience_does(monkeypatch):
    drawn = []

    def objective(params):
        drawn.append(params)
        time.sleep(0.01)
        return 10.0 - len(drawn)

    without_optuna(monkeypatch)
    search = counted(objective, most_seconds=0.05)
    assert search.name == "random trials"
    assert 1 <= search.trials == len(drawn) < 10
    assert search.best == 10.0 - search.trials
    assert search.seconds > 0.05
    as_domain(SPACE).encode(drawn)  # refuses what is not in the space
    assert counted(lambda _: 1.0).trials == 50


@pytest.mark.parity
def test_where_optuna_is_installed_its_default_is_what_50_trials_are_chosen_by():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def value(params):
        return abs(np.log(params["landmarks"] / 300)) + abs(np.log(params["gamma"] / 0.03))

    def objective(trial):
        return value(
            {
                "landmarks": trial.suggest_int("landmarks", 10, 800, log=True),
                "gamma": trial.suggest_float("gamma", 1e-3, 1.0, log=True),
                "penalty": trial.suggest_float("penalty", 1e-6, 1.0, log=True),
            }
        )

    default = optuna.create_study()
    assert type(default.sampler) is optuna.samplers.TPESampler
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=3))
    study.optimize(objective, n_trials=50)
    search = counted(value, seed=3)
    assert (search.name, search.trials) == ("Optuna's default (TPE)", 50)
    assert search.best == study.best_value


@pytest.mark.slow
@pytest.mark.parity
def test_the_demo_finds_its_best_after_the_design_and_pays_less_than_optunas_default(
    monkeypatch, tmp_path
):
    pytest.importorskip("optuna")
    monkeypatch.setattr(training, "MOST_SECONDS", 600.0)  # other people's load
    begin = time.process_time()
    result, fixed = training.train(paper(100), report=str(tmp_path / "report.html"))
    assert time.process_time() - begin < 60.0
    assert (fixed.name, fixed.trials) == ("Optuna's default (TPE)", 50)
    assert result.best.number >= result.promises[0].trial  # the first choice after the design
    assert result.best.value + 0.1 * result.spent < fixed.best + 0.1 * fixed.seconds


def quick(monkeypatch, seconds=0.0):
    """An objective in place of the network; the real one has its own test."""

    def objective(params):
        time.sleep(seconds)
        return 2.0 + abs(np.log(params["landmarks"] / 100)) + abs(np.log(params["gamma"] / 0.03))

    monkeypatch.setattr(training, "misread_percent", lambda: objective)


def test_the_demo_stops_compares_and_says_what_is_next(monkeypatch, tmp_path):
    quick(monkeypatch, 0.002)
    without_optuna(monkeypatch)
    monkeypatch.setattr(training, "SECONDS_FOR_IT", 0.02)  # trials take milliseconds here
    console = paper(100)
    training.train(console, report=str(tmp_path / "report.html"))
    text = " ".join(console.file.getvalue().split())
    assert "lam = 50 % per s" in text
    [own] = re.findall(r"stopwise, until it stopped +(\d+) +([\d.]+) s +([\d.]+) %", text)
    assert re.search(
        r"Best: [\d.]+ % misread \(trial \d+; 0 to \d+ are the initial design\) with", text
    )
    [fixed] = re.findall(r"random trials, really run +(\d+) +([\d.]+) s +([\d.]+) %", text)
    assert fixed[0] == "50"
    assert float(own[2]) >= 2.0
    assert "an estimate" not in text
    assert "Your own model next:" in text
    assert "The report:" in text
    assert "Why it stopped" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_slow_machine_gets_an_estimate_that_is_called_one(monkeypatch, tmp_path):
    quick(monkeypatch, 0.02)
    without_optuna(monkeypatch)
    monkeypatch.setattr(training, "SECONDS_FOR_IT", 0.02)
    monkeypatch.setattr(training, "MOST_SECONDS", 0.2)
    console = paper(100)
    training.train(console, report=str(tmp_path / "report.html"))
    text = " ".join(console.file.getvalue().split())
    assert re.search(r"only \d+ of the 50 were run; .* about [\d.]+ s \(an estimate\)", text)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtraError, match=r"stopwise\[sklearn\]"):
        misread_percent()


def test_an_unknown_problem_is_refused():
    with pytest.raises(InputError, match="no demo 'chess': give one of train, pandora"):
        _demo.demo("chess")


def test_it_can_be_called_from_the_command_line():
    done = stopwise("demo", "--problem", "pandora")
    assert (done.code, "Pandora's boxes" in done.out) == (0, True)
