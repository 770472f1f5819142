# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutation``: do the tests of a room notice small mistakes in it?

Mutants are drawn with a fixed seed, as many in each room: first a place, then a mistake that can
be made there. What became of each is written as it is known, and a second run goes on from there.
"""

import argparse
import importlib
import json
import os
import random
import sys
import time
from pathlib import Path

from tests.mutation.operators import places
from tests.mutation.rooms import SOURCES, Room, environment
from tests.mutation.trials import Mutant, outcome, refuse_broken_tests, scratch_tree
from tests.support.repository import ROOT

LOADED_ONCE = (
    "pytest",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "hypothesis.strategies",
    "mpmath",
)


def main():
    """Try the sample, and print the score by room."""
    options = _options()
    state = Path(options.state)
    state.mkdir(parents=True, exist_ok=True)
    results = state / "results.jsonl"
    rooms = {name: Room(name, state) for name in options.rooms}
    for room in rooms.values():
        room.measure(anew=options.again)
    done = _read(results)
    chosen = sample(rooms, options.sample // len(SOURCES), options.seed)
    begun = time.monotonic()
    os.environ.update(environment(ROOT))  # read when numpy is loaded
    for name in LOADED_ONCE:
        importlib.import_module(name)
    with scratch_tree() as root, results.open("a", encoding="utf-8") as file:
        for room in rooms.values():
            refuse_broken_tests(room, root)
        for mutant in chosen:
            again = options.again and done.get(mutant.key, {}).get("is", "").startswith("survived")
            if mutant.key in done and not again:
                continue
            if time.monotonic() - begun > 60 * options.minutes:
                sys.stdout.write("the time is over: run it again to go on\n")
                break
            tests = rooms[mutant.room].tests(mutant.module, mutant.place)
            answer, seconds = outcome(mutant, tests, root)
            line = {
                "room": mutant.room, "key": mutant.key, "kind": mutant.kind, "is": answer,
                "seconds": round(seconds, 1),
            }  # fmt: skip
            done[mutant.key] = line
            file.write(json.dumps(line) + "\n")
            file.flush()
    _print(chosen, done)


def sample(rooms, each, seed):
    """As many mutants from each room, those of all rooms taking turns."""
    drawn = []
    for name, room in rooms.items():
        generator = random.Random(f"{seed} {name}")  # noqa: S311  repeatable on purpose
        found = [
            (module, place)
            for module in room.modules
            for place in places((ROOT / module).read_text(encoding="utf-8"))
        ]
        mutants = []
        for module, place in generator.sample(found, min(each, len(found))):
            kind, text = generator.choice(place.texts)
            mutants.append(Mutant(name, module, place, kind, text))
        drawn.append(mutants)
    return [mutants[at] for at in range(each) for mutants in drawn if at < len(mutants)]


def _options():
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--rooms", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--sample", type=int, default=300, help="mutants of all four rooms")
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", default=str(ROOT / "build" / "mutation"))
    parser.add_argument("--again", action="store_true", help="measure anew, try survivors again")
    return parser.parse_args()


def _read(results):
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {line["key"]: line for line in lines}


def _print(chosen, done):
    for room in SOURCES:
        known = [done[m.key]["is"] for m in chosen if m.room == room and m.key in done]
        killed = sum(answer.startswith("killed") for answer in known)
        sys.stdout.write(f"{room}: {killed} of {len(known)} killed\n")
    for mutant in chosen:
        answer = done.get(mutant.key, {}).get("is", "not tried")
        if not answer.startswith("killed"):
            source = (ROOT / mutant.module).read_bytes()[mutant.place.begin : mutant.place.end]
            before = " ".join(source.decode().split())
            sys.stdout.write(
                f"{mutant.module}:{mutant.place.line}: {before} -> {mutant.text}: {answer}\n"
            )


if __name__ == "__main__":
    main()
