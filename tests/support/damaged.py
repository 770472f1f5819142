# SPDX-License-Identifier: Apache-2.0
"""Damaged journals: bits flipped, lines deleted, swapped and repeated, at random.

As a script: ``python damaged.py FOLDER TIMES SEED`` damages two journals in turns, the second of
evaluations in stages, so many times in each of these ways and prints what came of it as JSON.
"""

from __future__ import annotations

import json
import random
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

import stopwise as sw
from stopwise.errors import JournalError
from stopwise.record.journal import ResumeWarning

SPACE = {"x": sw.Real(0, 1), "kind": sw.Categorical(["a", "b"])}
TRIALS = 10


def begun(path):
    """The content of a journal with a bit of everything in it."""
    study = sw.Study(SPACE, lam=1e-6, n_initial=5, watch=["ucb-lcb"], journal=path)
    for number in range(TRIALS):
        trial = study.ask()
        failed = number == 3
        value = None if failed else (trial.params["x"] - 0.3) ** 2
        study.tell(trial, value, message="exploded" if failed else "")
        study.should_stop()
    study.amend(1, 0.5)
    study.drop(study.ask())
    study.ask(fixed={"kind": "b"})
    study.close()
    return path.read_bytes()


def begun_in_stages(path):
    """The content of a journal of evaluations in stages: paused, finished, diverged, amended."""
    stages = sw.Stages([1, 3])
    study = sw.Study(SPACE, lam=1e-6, n_initial=4, stages=stages, journal=path)
    for number in range(TRIALS):
        study.should_stop()
        action = study.next()
        value = None if number == 2 else (action.trial.params["x"] - 0.3) ** 2 + 1 / action.to_step
        study.tell(action.trial, value, step=action.to_step)
    study.amend(2, cost=0.5)
    study.amend(2, 0.7)
    study.drop(study.paused[0])
    study.next()
    study.close()
    return path.read_bytes()


def flipped(content, rng):
    """One bit is another one."""
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def deleted(content, rng):
    """A line is missing; not the last one, which cannot be missed."""
    lines = content.splitlines(keepends=True)
    del lines[rng.randrange(len(lines) - 1)]
    return b"".join(lines)


def swapped(content, rng):
    """Two lines have changed places."""
    lines = content.splitlines(keepends=True)
    i, j = rng.sample(range(len(lines)), 2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def repeated(content, rng):
    """A line occurs twice."""
    lines = content.splitlines(keepends=True)
    i = rng.randrange(len(lines))
    lines.insert(rng.choice((i, rng.randrange(len(lines) + 1))), lines[i])
    return b"".join(lines)


KINDS = {"flipped": flipped, "deleted": deleted, "swapped": swapped, "repeated": repeated}


def essence(study):
    """What must not change unnoticed."""
    traces = sorted(study.traces.items())
    promises, verdict = list(study.promises), study._context.state.verdict
    stages = study.curves, study.legs, study.paused
    return repr((study.history, study.pending, traces, promises, verdict, study.options, stages))


def resumed(path):
    """The essence of the study of a journal, and what was said of its last line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = sw.Study.resume(path)
    said = [str(w.message) for w in caught if w.category is ResumeWarning]
    try:
        return essence(study), any("last line" in message for message in said)
    finally:
        study.close()


def outcome(path, content, whole):
    """What comes of a damaged journal, in a word."""
    path.write_bytes(content)
    try:
        got, torn = resumed(path)
    except JournalError as error:
        named = re.search(r"\b(first )?line\b", str(error))
        untouched = path.read_bytes() == content
        return "error that names the line" if named and untouched else "error"
    except Exception:  # noqa: BLE001
        return "other exception"
    if torn:
        return "torn end repaired"
    return "the same study" if got == whole else "SILENTLY DIFFERENT"


def damage(folder, kind, times, seed):
    """Damage journals so many times in all; returns how often what came of it."""
    rng, seen = random.Random(seed), Counter()  # noqa: S311
    for number, made in enumerate((begun, begun_in_stages)):
        content = made(folder / f"{kind}-{number}-whole.jsonl")
        path = folder / f"{kind}-{number}.jsonl"
        path.write_bytes(content)
        whole, _ = resumed(path)
        count = times // 2 if number else times - times // 2
        seen.update(outcome(path, KINDS[kind](content, rng), whole) for _ in range(count))
    return seen


def main():
    """Usage: FOLDER TIMES SEED."""
    folder, times, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for kind in KINDS:
        print(kind, json.dumps(damage(folder, kind, times, seed)))  # noqa: T201


if __name__ == "__main__":
    main()
