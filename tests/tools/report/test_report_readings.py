# SPDX-License-Identifier: Apache-2.0
"""The readings of bad values in the report, and slices of a model that has several."""

import re
from functools import cache

import numpy as np
import pytest

import stopwise as sw
from stopwise.tools import report
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._readings import readings_part
from stopwise.tools.report._slice_pictures import _drawn
from stopwise.tools.report._slices import slices

SPACE = {"x": sw.Real(0.0, 1.0), "kind": sw.Categorical(["a", "b"])}


def cliff(params):
    bowl = 2.0 + (params["x"] - 0.4) ** 2 + 0.1 * (params["kind"] == "b")
    return bowl + (1000.0 if params["x"] > 0.8 else 0.0)


@cache
def study_of(surrogate, direction="minimize"):
    study = sw.Study(SPACE, lam=1e-4, n_initial=6, surrogate=surrogate, direction=direction)
    sign = -1.0 if direction == "maximize" else 1.0
    for _ in range(9):
        trial = study.ask()
        study.tell(trial, sign * cliff(trial.params))
    return study


def test_the_page_has_the_trust_and_the_weights():
    study = study_of("default")
    page, readings = report.page(study), study.readings()
    [table] = re.findall(r'<table id="readings">(.*?)</table>', page)
    rows = re.findall(r'<th scope="row">(.*?)</th><td class="n">(.*?)</td>', table)
    assert [words for words, _ in rows] == [reading.words for reading in readings.entries]
    shares = [float(share.removesuffix(" %").removeprefix("less than ")) for _, share in rows]
    assert shares == pytest.approx([100 * r.weight for r in readings.entries], abs=0.5)
    trust = readings.trust_words
    assert f'<p class="quiet">{trust[0].upper()}{trust[1:]}.</p>' in page


def test_where_there_is_one_reading_there_is_nothing_to_show():
    assert readings_part(None) == ""
    page = report.page(study_of("plain"))
    assert 'id="readings"' not in page
    assert "believed at" not in page
    assert "What the model believes" in page


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("surrogate", ["default", "plain"])
def test_the_band_is_an_interval_of_the_law(surrogate, direction):
    study = study_of(surrogate, direction)
    sign = -1.0 if direction == "maximize" else 1.0
    one, _ = slices(Facts(study))
    X = study.domain.encode([{**study.best.params, "x": x} for x in one.values])
    law = study.snapshot().belief.objective.law(X)
    ends = sorted((sign * one.low, sign * one.high), key=lambda end: float(end.sum()))
    doubtful = law.std > 1e-3
    for end, share in zip(ends, (0.025, 0.975), strict=True):
        assert law.cdf(end).value[doubtful] == pytest.approx(share, abs=1e-4)
    assert np.all((one.low <= one.median) & (one.median <= one.high))


def test_what_lies_far_beyond_the_values_is_cut_off_in_the_picture_alone():
    [one, _] = slices(Facts(study_of("default")))
    low, high = one.observed
    values = [o.value for o in study_of("default").history]
    assert (low, high) == (min(values), max(values))
    far = np.array([low - 3 * (high - low), 0.5 * (low + high), np.inf])
    drawn = [2 * low - high, 0.5 * (low + high), 2 * high - low]
    assert _drawn(one, far) == pytest.approx(drawn)
    assert "inf" not in re.sub("infer|info", "", report.page(study_of("default")))
