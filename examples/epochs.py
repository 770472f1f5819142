# SPDX-License-Identifier: Apache-2.0
"""Tune a network epoch by epoch, and print what each decision was worth.

Needs scikit-learn. Five seconds of training are worth 1 % of accuracy here.
"""

import time

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import stopwise as sw

SPACE = {
    "rate": sw.Real(1e-4, 1e-1, log=True),
    "width": sw.Integer(8, 128, log=True),
    "alpha": sw.Real(1e-6, 1.0, log=True),
}
X, y = load_digits(return_X_y=True)
DATA = train_test_split(X / 16.0, y, test_size=0.4, random_state=0, stratify=y)


def network(params):
    """A network that learns one epoch each time that it is asked for its error."""
    train_x, test_x, train_y, test_y = DATA
    model = MLPClassifier(
        params["width"], learning_rate_init=params["rate"], alpha=params["alpha"], random_state=0
    )
    while True:
        model.partial_fit(train_x, train_y, classes=range(10))
        yield 1.0 - model.score(test_x, test_y)


def main():
    """Start, continue and leave networks until none is worth its price."""
    lam = sw.exchange_rate(improvement=0.01, cost=5.0)  # 5 seconds for 1 % of accuracy
    study = sw.Study(SPACE, lam=lam, cost="reported", bounds=(0, 1), stages=27, max_trials=60)
    networks, seconds, epochs = {}, {}, {}
    while not study.should_stop().stop:
        action = study.next()
        number = action.trial.number
        running = networks.setdefault(number, network(action.trial.params))
        began = time.perf_counter()
        for _ in range(action.to_step - epochs.get(number, 0)):
            error = next(running)
        seconds[number] = seconds.get(number, 0.0) + time.perf_counter() - began
        epochs[number] = action.to_step
        study.tell(action.trial, error, seconds[number], step=action.to_step)
        print(
            type(action).__name__, number, f"to epoch {action.to_step}: error {error:.1%}", end=""
        )
        print("" if action.fair_value is None else f", fair value {action.fair_value:.1%}", end="")
        print("" if action.worth is None else f", worth {action.worth:.1f} times its price")
    print(f"best {study.best.value:.1%} after {study.spent:.0f} s: {study.should_stop()}")


if __name__ == "__main__":
    main()
