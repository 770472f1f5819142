# SPDX-License-Identifier: Apache-2.0
"""Files of the fuzzers' corpora, sound or once a finding, are read or refused in a sentence."""

import random
from itertools import islice

import pytest

from tests.fuzz.mutations import _values, mutated
from tests.fuzz.targets import CORPORA, TARGETS, outcome

FILES = [(path.parent.name, path) for path in sorted(CORPORA.glob("*/*"))]


@pytest.mark.parametrize(("name", "path"), FILES, ids=lambda v: getattr(v, "name", v))
def test_a_file_is_read_or_refused(name, path, tmp_path):
    answer = outcome(name, path.read_bytes(), tmp_path)  # it raises whatever is neither
    assert answer == "read" or not path.name.startswith("sound")


def mutants(name):
    """Mutated files of a target, one after the other, always the same."""
    corpus = [path.read_bytes() for path in sorted((CORPORA / name).glob("sound*"))]
    generator = random.Random(1)  # noqa: S311
    while True:
        yield mutated(generator, generator.choice(corpus), corpus)


@pytest.mark.parametrize("name", TARGETS)
def test_the_mutator_is_repeatable(name):
    assert [*islice(mutants(name), 12)] == [*islice(mutants(name), 12)]


@pytest.mark.parametrize("name", TARGETS)
def test_some_mutants_are_read_and_some_are_refused(name, tmp_path):
    """Only then the mutations reach the code behind the parser, and do damage."""
    answers = set()
    for data in islice(mutants(name), 100):
        answers.add(outcome(name, data, tmp_path))
        if len(answers) == 2:
            break
    assert answers == {"read", "refused"}


@pytest.mark.parametrize("line", [b"2.5", b'"a text"', b"null"])
def test_the_mutator_leaves_a_line_that_is_one_value(line):
    data = b"\n".join([line] * 3)
    generator = random.Random(0)  # noqa: S311
    assert {_values(generator, data, []) for _ in range(20)} == {data}
