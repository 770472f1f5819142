# SPDX-License-Identifier: Apache-2.0
"""Pictures as files: SVG by itself, PNG and PDF by Matplotlib, from the same marks."""

import builtins
from functools import cache

import pytest

import stopwise as sw
from stopwise.errors import InputError, MissingExtraError
from stopwise.tools.report._drawing import _outline, _rules
from stopwise.tools.report._page import asset

STARTS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>"}


@cache
def result():
    return sw.minimize(
        lambda p: (p["x"] - 0.3) ** 2,
        {"x": sw.Real(0, 1)},
        lam=1e-3,
        max_trials=6,
        value_name="loss",
    )


@pytest.mark.parametrize("ending", STARTS)
def test_a_picture_is_saved(ending, tmp_path):
    if ending in ("png", "pdf"):
        pytest.importorskip("matplotlib")
    for plot in (result().plot_best(), result().plot_slices()):
        path = plot.save(tmp_path / f"picture.{ending}")
        assert path.read_bytes().startswith(STARTS[ending])


def test_marks_are_drawn_in_their_colours(tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("matplotlib.image")
    path = result().plot_best().save(tmp_path / "best.png")
    pixels = image.imread(path)[..., :3]
    line, dot = (0x0B, 0x57, 0xA4), (0x5B, 0x66, 0x73)
    for colour, least in ((line, 500), (dot, 0)):
        near = abs(pixels * 255 - colour).max(axis=-1) < 60
        assert near.sum() > least


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def importing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(MissingExtraError, match=r"stopwise\[pictures\]"):
        result().plot_best().save(tmp_path / "best.png")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("best.gif", r"\.svg, \.png, \.pdf"),
        ("best", r"\.svg, \.png, \.pdf"),
        ("missing/best.png", "cannot be written"),
    ],
)
def test_what_cannot_be_saved_is_said(name, says, tmp_path):
    with pytest.raises(InputError, match=says):
        result().plot_best().save(tmp_path / name)


def test_nothing_to_draw_is_said(tmp_path):
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.1)
    with pytest.raises(InputError, match="nothing to draw yet"):
        study.result().plot_best().save(tmp_path / "best.png")


def test_paths_are_read():
    assert _outline("M1,2h3v-1L0,0z") == (
        [(1.0, 2.0), (4.0, 2.0), (4.0, 1.0), (0.0, 0.0), (1.0, 2.0)],
        [1, 2, 2, 2, 79],
    )
    (x, _), (beside, _) = _outline("M1,2h0")[0]
    assert 0.0 < beside - x < 0.1  # a dot


def test_every_variable_of_the_style_sheet_is_resolved():
    rules = _rules(asset("chart.css"))
    assert len(rules) > 20
    assert not any("var(" in value for rule in rules for value in rule.declarations.values())
