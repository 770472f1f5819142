# SPDX-License-Identifier: Apache-2.0
"""The interactive figures of the site compute what stopwise does, and answer to the keyboard."""

import math

import pytest

from stopwise.math import log_ei, pbgi
from tests.support.repository import ROOT

STATIC = ROOT / "docs" / "_static"
BOXES = [(5, 1, 0.5), (4, 3, 1), (6, 0.5, 1.5), (0, 0.1, 4), (9, 4, 0.05), (2, 0.1, 0.05)]


@pytest.fixture
def page_with(chromium):
    """A page with one place and one script."""
    page = chromium.new_page()

    def opened(place, script):
        page.set_content(f'<html lang="en"><title>x</title><main><div id="{place}"></div></main>')
        page.add_script_tag(path=str(STATIC / script))
        page.evaluate("document.dispatchEvent(new Event('DOMContentLoaded'))")
        return page

    yield opened
    page.close()


def test_fair_values_of_the_figure_are_those_of_the_package(page_with):
    page = page_with("fair-values-figure", "fair_values.js")
    for mean, std, price in BOXES:
        shown = page.evaluate(f"stopwiseFairValue({mean}, {std}, {price})")
        assert shown == pytest.approx(-float(pbgi(-mean, std, price)), abs=2e-6)
        gain = page.evaluate(f"stopwiseGain({mean}, {std}, {mean + std})")
        assert gain == pytest.approx(math.exp(log_ei(-mean, std, -mean - std)), abs=1e-6)


def test_the_advice_changes_with_price_and_prize(page_with):
    page = page_with("fair-values-figure", "fair_values.js")
    answer = page.locator("#sw-answer")
    assert "Open A." in answer.inner_text()
    page.locator("#sw-price-0").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")  # dearer by 20 steps
    assert "Open C." in answer.inner_text()
    page.locator("#sw-hand").focus()
    page.keyboard.press("End")
    assert "Stop." in answer.inner_text()
    page.locator("#sw-again").click()
    assert "Open A." in answer.inner_text()


def test_the_calculator_divides(page_with):
    page = page_with("lam-calculator", "calculator.js")
    assert "lam = 0.000833" in page.locator("#sw-out").inner_text()
    page.locator("#sw-cost").fill("0")
    assert "positive" in page.locator("#sw-out").inner_text()
