# SPDX-License-Identifier: Apache-2.0
"""Files of the fuzzers' corpora, sound or once a finding, are read or refused in a sentence."""

import random

import pytest

from tests.fuzz.mutations import _values, mutated
from tests.fuzz.targets import CORPORA, TARGETS, outcome

FILES = [(path.parent.name, path) for path in sorted(CORPORA.glob("*/*"))]


@pytest.mark.parametrize(("name", "path"), FILES, ids=lambda v: getattr(v, "name", v))
def test_a_file_is_read_or_refused(name, path, tmp_path):
    answer = outcome(name, path.read_bytes(), tmp_path)
    assert answer == "read" if path.name.startswith("sound") else answer in ("read", "refused")


@pytest.mark.parametrize("name", TARGETS)
def test_the_mutator_is_repeatable_and_reaches_both_answers(name, tmp_path):
    corpus = [path.read_bytes() for path in sorted((CORPORA / name).glob("sound*"))]

    def some():
        generator = random.Random(1)  # noqa: S311
        return [mutated(generator, generator.choice(corpus), corpus) for _ in range(12)]

    assert some() == some()
    assert "refused" in {outcome(name, data, tmp_path) for data in some()}


@pytest.mark.parametrize("line", [b"2.5", b'"a text"', b"null"])
def test_the_mutator_leaves_a_line_that_is_one_value(line):
    data = b"\n".join([line] * 3)
    generator = random.Random(0)  # noqa: S311
    assert {_values(generator, data, []) for _ in range(20)} == {data}
