# SPDX-License-Identifier: Apache-2.0
"""A real browser: headless Chromium, as Debian packages it."""

import os
import shutil

import pytest


def missing(what):
    message = f"{what} is missing: pages are looked at in a real browser"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("Chromium (Debian's package chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
