# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: headless Chromium, as Debian packages it."""

import pytest

from stopwise.tools import report
from tests.support import report_studies as studies
from tests.support.browser import missing
from tests.support.report_pages import KINDS, page_of, study_of, study_of_lines

NOTED = """
window.refused = [];
addEventListener('securitypolicyviolation', e => refused.push(e.effectiveDirective));
"""


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens a page from disk; afterwards nothing may have been logged or asked for."""
    logged, asked, contexts = [], [], []

    def open_page(document, **options):
        file = tmp_path / "report.html"
        file.write_text(document, encoding="utf-8")
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(NOTED)
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: (logged.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.refused") == []
        context.close()
    assert logged == []
    assert [url for url in asked if not url.startswith("file://")] == []


def column(page, position):
    """The shown cells of a column of the trials."""
    return page.eval_on_selector_all(
        "#trials tbody tr:not([hidden])",
        "(rows, i) => rows.map(row => row.cells[i].textContent)",
        position,
    )


@pytest.mark.parametrize("kind", [*KINDS, "empty"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_renders_at_every_width_and_in_both_schemes(opened, kind, width, scheme):
    page = opened(page_of(kind), viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.locator("h1").inner_text()
    assert (page.locator("svg[role=img]").count() > 0) == (kind != "empty")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [("stopped", "light"), ("maximised", "dark"), ("hostile", "light"), ("all_failed", "dark")],
)
def test_axe_finds_no_serious_violation(opened, kind, scheme):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python")
    page = opened(page_of(kind), color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page.locator("summary").first.click()
    found = Axe().run(page).response["violations"]
    bad = [
        (violation["id"], [node["html"][:120] for node in violation["nodes"][:3]])
        for violation in found
        if violation["impact"] in ("serious", "critical", "moderate")
    ]
    assert bad == []


def test_columns_sort_both_ways_by_number(opened):
    page = opened(page_of("stopped"))
    page.click("#trials th:nth-child(2) button")
    values = [float(v) for v in column(page, 1)]
    assert values == sorted(values)
    assert page.get_attribute("#trials th:nth-child(2)", "aria-sort") == "ascending"
    page.click("#trials th:nth-child(2) button")
    assert [float(v) for v in column(page, 1)] == values[::-1]
    page.click("#trials th:nth-child(6) button")  # a choice: by words
    words = column(page, 5)
    assert words == sorted(words)
    assert page.locator("#trials th[aria-sort]").count() == 1


def test_sorting_tells_apart_what_is_shown_alike(opened):
    document = page_of("stopped")
    page = opened(document)
    order = """() => {
      const rows = [...document.querySelector('#trials').tBodies[0].rows];
      rows[0].cells[1].textContent = rows[1].cells[1].textContent = '1';
      rows[0].cells[1].dataset.v = '1.0000002';
      rows[1].cells[1].dataset.v = '1.0000001';
      return [rows[1].id, rows[0].id];
    }"""
    expected = page.evaluate(order)
    page.click("#trials th:nth-child(2) button")
    ids = page.eval_on_selector_all("#trials tbody tr", "rows => rows.map(r => r.id)")
    assert ids.index(expected[1]) - ids.index(expected[0]) == 1


def test_what_failed_comes_last_by_value(opened):
    page = opened(page_of("maximised"))
    for _ in range(2):
        page.click("#trials th:nth-child(2) button")
        assert column(page, 1)[-1] == "failed"


def test_the_keyboard_sorts_too(opened):
    page = opened(page_of("five"))
    page.focus("#trials th:nth-child(2) button")
    page.keyboard.press("Enter")
    assert page.get_attribute("#trials th:nth-child(2)", "aria-sort") == "ascending"


def test_searching_hides_what_does_not_match(opened):
    page = opened(page_of("stopped"))
    everything = column(page, 5)
    page.fill("#search", "GELU")
    assert column(page, 5) == [act for act in everything if act == "gelu"]
    shown = len(column(page, 5))
    assert page.inner_text("#found") == f"{shown} of {len(everything)} trials"
    page.fill("#search", "nothing like this")
    assert column(page, 0) == []
    page.fill("#search", "")
    assert column(page, 5) == everything


def test_a_parameter_named_like_a_script_stays_text(opened):
    page = opened(page_of("hostile"))
    assert page.locator("script").count() == 1
    assert page.locator("h3", has_text=studies.NASTY).count() == 1
    assert page.locator("#trials th", has_text=studies.NASTY).count() == 1
    page.hover(".plot >> nth=0", position={"x": 200, "y": 200})
    page.focus(".plot >> nth=0")
    for key in ("End", "Home"):
        page.keyboard.press(key)
        assert studies.NASTY in page.inner_text(".tip >> nth=0")


def test_hovering_shows_the_trial(opened):
    page = opened(page_of("stopped"), viewport={"width": 1280, "height": 900})
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    x, y, name = plot.evaluate(
        """plot => {
          const path = plot.querySelector('path.sw-dot[data-t]');
          const [x, y] = path.getAttribute('d').match(/[\\d.]+/g).map(Number);
          const scale = plot.clientWidth / plot.querySelector('svg').viewBox.baseVal.width;
          return [x * scale, y * scale, path.dataset.t.split(' ')[0]];
        }"""
    )
    plot.hover(position={"x": x, "y": y})
    lines = plot.locator(".tip p").all_inner_texts()
    cells = page.eval_on_selector(f"#t{name}", "row => [...row.cells].map(c => c.textContent)")
    assert lines[0] == f"Trial {name}"
    assert lines[1] == f"value {cells[1]}"
    assert lines[3] == f"lr {cells[3]}"
    page.mouse.move(2, 2)
    assert plot.locator(".tip").is_hidden()


def test_arrow_keys_walk_through_the_trials(opened):
    page = opened(page_of("five"))
    plot = page.locator(".plot").first
    plot.focus()
    seen = []
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        seen.append(plot.locator(".tip p").first.inner_text())
    assert len(set(seen)) >= 4
    page.keyboard.press("Escape")
    assert plot.locator(".tip").is_hidden()


def test_a_screen_reader_is_told_what_each_picture_shows(opened):
    page = opened(page_of("stopped"))
    names = page.eval_on_selector_all("svg[role=img]", "all => all.map(s => s.ariaLabel)")
    assert len(names) == 9
    assert names[0].startswith("Best value against what was spent. After 12 trials")
    for name in names:
        assert any(c.isdigit() for c in name)
    tree = page.locator("body").aria_snapshot()
    assert 'heading "Trials" [level=2]' in tree
    assert "searchbox" in tree


def test_without_scripts_everything_is_still_there(opened):
    page = opened(page_of("stopped"), java_script_enabled=False)
    assert page.locator("#trials tbody tr").count() == 12
    assert page.locator(".tools").is_hidden()


def test_on_paper_it_is_light_and_whole(opened):
    page = opened(page_of("stopped"), color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    region = page.locator(".scroll", has=page.locator("#trials"))
    assert region.evaluate("r => getComputedStyle(r).overflowX") == "visible"
    assert page.locator("#search").is_hidden()
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize(("scheme", "ground"), [("light", 255), ("dark", 20)])
def test_a_saved_picture_brings_its_own_ground(chromium, tmp_path, scheme, ground):
    file = study_of("five").result().plot_best().save(tmp_path / "best.svg")
    page = chromium.new_page(color_scheme=scheme)
    page.goto(file.as_uri())
    fill = page.locator(".sw-ground").evaluate("ground => getComputedStyle(ground).fill")
    assert fill.startswith(f"rgb({ground}, ")
    page.close()


def test_the_policy_refuses_what_is_not_the_pages_own(chromium, tmp_path):
    """The net under the escaping: markup that slipped through would still not run."""
    slipped = '<script>window.ran = 1</script><img src="x" onerror="window.ran = 1">'
    before, main, after = page_of("five").partition("<main>")
    file = tmp_path / "slipped.html"
    file.write_text(f"{before}{main}{slipped}{after}", encoding="utf-8")
    page = chromium.new_page()
    page.add_init_script(NOTED)
    page.goto(file.as_uri())
    assert page.locator("main img").count() == 1
    assert page.evaluate("window.ran") is None
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 1, () => 2)") == 2
    refused = {"script-src-elem", "script-src-attr", "img-src", "connect-src"}
    assert set(page.evaluate("window.refused")) == refused
    page.close()


def test_a_served_page_follows_the_run(chromium, tmp_path):
    journal = tmp_path / "run.jsonl"
    journal.write_text("3\n2\n", encoding="utf-8")
    logged = []
    with report.ReportServer(journal, load=study_of_lines) as server:
        page = chromium.new_page()
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.goto(server.url)
        assert "2 trials so far" in page.inner_text("h1")
        page.click("#trials th:nth-child(2) button")
        page.fill("#search", "1")
        page.click("#numbers-best summary")
        page.focus("#search")
        with journal.open("a", encoding="utf-8") as file:
            file.write("1\n")
        page.locator("h1", has_text="3 trials so far").wait_for()
        assert page.input_value("#search") == "1"
        assert page.evaluate("document.activeElement.id") == "search"
        assert page.get_attribute("#trials th:nth-child(2)", "aria-sort") == "ascending"
        assert page.get_attribute("#numbers-best", "open") is not None
        assert "3 trials so far" in page.title()
        page.close()
    assert logged == []


@pytest.mark.parametrize("width", [360, 640, 1000, 1280, 1600])
def test_it_is_readable_at_every_width(opened, width):
    page = opened(page_of("stopped"), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = page.eval_on_selector_all(
        ".sw-chart text", "all => all.map(text => text.getBoundingClientRect().height)"
    )
    assert 11.0 <= min(heights) <= max(heights) <= 21.0
    widths = page.eval_on_selector_all(".plot", "all => all.map(plot => plot.clientWidth)")
    assert max(widths) <= 42 * 16
    if width >= 1000:  # two pictures side by side, and no table that must be scrolled sideways
        left, right = page.eval_on_selector_all(
            ".two .plot", "all => all.slice(0, 2).map(plot => plot.getBoundingClientRect().x)"
        )
        assert left < right
        hidden = page.eval_on_selector_all(
            ".all", "all => all.map(table => table.scrollWidth - table.clientWidth)"
        )
        assert max(hidden) <= 0
