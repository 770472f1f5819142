# SPDX-License-Identifier: Apache-2.0
"""The importance of parameters: total Sobol indices, against functions whose indices are known."""

import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import as_domain
from stopwise.study.importance import _shares
from stopwise.tools.report import plot_importance


def told(space, f, n, **options):
    study = sw.Study(space, lam=1e-3, surrogate="plain", **options)
    domain = as_domain(space)
    points = domain.sobol(n, np.random.default_rng(3)) if hasattr(domain, "sobol") else None
    points = domain.points[:n] if points is None else points
    for params in domain.decode(points):
        study.tell(params, f(params))
    return study


def test_the_estimate_is_that_of_ishigami():
    """Total indices of a function that is known in closed form (Ishigami and Homma 1990)."""
    a, b = 7.0, 0.1
    rng = stream(0, "ishigami")
    here, anew = rng.uniform(-math.pi, math.pi, (2, 40_000, 3))

    def f(x):
        return np.sin(x[:, 0]) + a * np.sin(x[:, 1]) ** 2 + b * x[:, 2] ** 4 * np.sin(x[:, 0])

    moved = [np.where(np.arange(3) == i, anew, here) for i in range(3)]
    everywhere = np.arange(len(here))
    got = [_shares(f(here)[None], f(x)[None], everywhere) for x in moved]
    # From the variances of the parts: V1 = (1 + b pi^4/5)^2/2, V2 = a^2/8, V13 = 8 b^2 pi^8/225.
    v1, v2 = 0.5 * (1.0 + b * math.pi**4 / 5.0) ** 2, a**2 / 8.0
    v13 = 8.0 * b**2 * math.pi**8 / 225.0
    wanted = np.array([v1 + v13, v2, v13]) / (v1 + v2 + v13)
    np.testing.assert_allclose([shares[0] for shares, _ in got], wanted, atol=0.015)
    for (shares, errors), index in zip(got, wanted, strict=True):
        assert abs(shares[0] - index) < 3.0 * errors[0] < 0.05


def test_shares_of_a_sum_are_those_of_its_terms():
    space = {name: sw.Real(0.0, 1.0) for name in ("large", "small", "none")}
    study = told(space, lambda p: 4.0 * p["large"] + 2.0 * p["small"], 40)
    found = study.importance()
    assert [each.name for each in found] == ["large", "small", "none"]
    assert [each.share for each in found] == pytest.approx([0.8, 0.2, 0.0], abs=0.05)
    assert all(each.low <= each.share <= each.high and each.exists == 1.0 for each in found)
    assert found[0].high - found[0].low < 0.1
    assert study.importance() == found  # looking changes nothing


def test_fewer_observations_leave_more_doubt():
    space = {"x": sw.Real(0.0, 1.0), "y": sw.Real(0.0, 1.0)}

    def width(n):
        [first, _] = told(space, lambda p: math.sin(5.0 * p["x"]) + p["y"], n).importance()
        return first.high - first.low

    assert width(5) > 2.0 * width(40)


def test_its_doubt_is_that_of_the_posterior():
    """Against joint draws of the whole surface by their covariance, and sums over a fine grid."""
    space = {"x": sw.Real(0.0, 1.0), "y": sw.Real(0.0, 1.0)}
    study = told(space, lambda p: math.sin(6.0 * p["x"]) + p["y"], 6)
    posterior, m = study.snapshot().belief.posterior, 16
    middles = (np.arange(m) + 0.5) / m
    grid = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    K = posterior.covariance(grid, grid)
    root = np.linalg.cholesky(K + 1e-9 * K.max() * np.eye(len(K)))
    draws = root @ np.random.default_rng(0).standard_normal((len(K), 4000))
    f = (posterior(grid).mean[:, None] + draws).reshape(m, m, -1)
    total = f.var(axis=(0, 1))
    shares = {"x": f.var(axis=0).mean(axis=0) / total, "y": f.var(axis=1).mean(axis=0) / total}
    for each in study.importance():
        wanted = np.quantile(shares[each.name], (0.05, 0.5, 0.95))
        got = [each.low, each.share, each.high]
        assert wanted[2] - wanted[0] > 0.1  # there is doubt
        np.testing.assert_allclose(got, wanted, atol=0.08)


def test_a_rare_parameter_is_judged_by_what_varies_where_it_exists():
    """Over the space much less varies than there, where it is all due to the parameter."""
    space = {
        "kind": sw.Categorical(list("abcde")),
        "deep": sw.Real(0.0, 1.0, when={"kind": ["b"]}),
    }
    study = told(space, lambda p: 3.0 * (p.get("deep", 0.5) - 0.5), 40)
    for each in study.importance():
        assert 0.0 <= each.low <= each.share <= each.high <= 1.0
    [deep] = [each for each in study.importance() if each.name == "deep"]
    assert deep.share == pytest.approx(1.0, abs=0.03)


def test_a_conditional_parameter_is_judged_where_it_exists():
    space = {
        "kind": sw.Categorical(["a", "b"]),
        "deep": sw.Real(0.0, 1.0, when={"kind": ["b"]}),
        "x": sw.Real(0.0, 1.0),
    }
    study = told(space, lambda p: 3.0 * p.get("deep", 0.0) + 1.2 * p["x"], 40)
    by_name = {each.name: each for each in study.importance()}
    assert by_name["deep"].exists == pytest.approx(0.5, abs=0.1)
    # Given b the variance by deep is 9/12, and that by x 0.16 * 9/12.
    assert by_name["deep"].share == pytest.approx(1.0 / 1.16, abs=0.06)
    # Over the space the kind adds (3/2)^2/4 to the half of what varies by deep.
    assert by_name["x"].share == pytest.approx(0.16 / (0.5 + 0.75 + 0.16), abs=0.06)
    svg = plot_importance(study)
    assert "judged where they exist" in svg.words


def test_a_table_is_judged_over_its_rows():
    rows = [{"a": a, "b": b, "label": lab} for a in range(5) for b in (0, 1) for lab in "xy"]
    study = told(sw.Candidates(rows), lambda p: 2.0 * p["a"] + p["b"], 20)
    by_name = {each.name: each.share for each in study.importance()}
    # Variances of a (0..4) and b (0, 1): 4 x 2 and 1/4.
    assert by_name["a"] == pytest.approx(8.0 / 8.25, abs=0.03)
    assert by_name["label"] < 0.02


def test_where_there_are_constraints_pairs_are_allowed_ones():
    """Of a where b <= a: the variance of a is 1/18, and that of a pair given b is 1/20."""
    space = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
    study = sw.Study(space, lam=1e-3, surrogate="plain", constraints=["a >= b"])
    for params in study.domain.decode(study.domain.sobol(20, np.random.default_rng(0))):
        study.tell(params, params["a"])
    first, second = study.importance()
    assert (first.name, first.share) == ("a", pytest.approx(18 / 20, abs=0.05))
    assert second.share < 0.02


def test_before_anything_is_known_there_is_nothing():
    study = sw.Study({"x": sw.Real(0.0, 1.0)}, lam=1e-3)
    assert study.importance() == ()
    plot = plot_importance(study)
    assert "No evaluation has given a value yet" in str(plot)
    study.tell({"x": 0.5}, 1.0)
    [only] = study.importance()
    assert 0.0 <= only.low <= only.high


def test_the_picture_says_in_words_and_numbers_what_it_shows():
    space = {
        "learning rate": sw.Real(1e-4, 1.0, log=True),
        "x": sw.Real(0.0, 1.0),
        "n": sw.Integer(1, 5),
    }
    study = told(space, lambda p: math.log10(p["learning rate"]) + 0.8 * p["x"], 30)
    [picture] = study.result().plot_importance().pictures
    assert picture.words.startswith("learning rate matters most: ")
    assert "Then x " in picture.words
    assert "Less than 1 %: n" in picture.words
    assert [row[0] for row in picture.rows] == [each.name for each in study.importance()]
    assert "learning rate" in picture.svg
    assert 'role="img"' in picture.svg


def test_what_constraints_tie_to_others_is_not_judged():
    space = {"a": sw.Integer(0, 20), "b": sw.Integer(0, 20), "c": sw.Integer(0, 5)}
    study = sw.Study(space, lam=1e-3, surrogate="plain", constraints=["a + b == 20"])
    for a in range(0, 21, 2):
        study.tell({"a": a, "b": 20 - a, "c": a % 6}, (a - 7) ** 2 + 0.01 * (a % 6))
    found = study.importance()
    assert [(each.name, each.not_judged) for each in found] == [
        ("c", ""),
        ("a", "constraints tie it to others"),
        ("b", "constraints tie it to others"),
    ]
    assert all(math.isnan(each.share) for each in found[1:])
    [picture] = plot_importance(study).pictures
    assert picture.words.startswith("Not to be judged: a, b (constraints tie them to others).")
    assert "matters most" not in picture.words
    assert "c: " in picture.words
    assert "nan" not in str(plot_importance(study))


def test_the_interval_has_the_error_of_the_estimate():
    """Of many branches each has few of the pairs; in each the one parameter is all that varies."""
    kinds = [f"k{i}" for i in range(32)]
    space = {"kind": sw.Categorical(kinds)}
    space |= {f"x{i}": sw.Real(0.0, 1.0, when={"kind": [kinds[i]]}) for i in range(32)}
    study = sw.Study(space, lam=1e-3, surrogate="plain")
    for i, kind in enumerate(kinds):
        for x in (0.1, 0.5, 0.9):
            study.tell({"kind": kind, f"x{i}": x}, 3.0 * x)
    judged = [each for each in study.importance() if each.name != "kind"]
    assert all(each.high > 0.9 for each in judged)
    assert sum(each.high > 0.99 for each in judged) > 28
    assert min(each.share for each in judged) > 0.8
