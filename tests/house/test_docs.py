# SPDX-License-Identifier: Apache-2.0
"""The documents agree with the code and with each other."""

import re
import tomllib

import pytest

from tests.support.repository import ROOT

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "paper").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_a_decision_is_short_and_complete(page):
    text = page.read_text("utf-8")
    assert len(text.splitlines()) <= 40
    number = int(page.name[:4])
    assert text.startswith(f"# {number}. ")
    assert re.search(r"^Status: (accepted|superseded by \d+)$", text, re.MULTILINE)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["Context", "Decision", "Consequence"]


def test_the_index_lists_every_decision_under_its_title():
    index = (ROOT / "docs" / "adr" / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| \[(\d+)\]\(([^)]+)\) \| (.*) \|$", index, re.MULTILINE)
    expected = []
    for page in DECISIONS:
        number, title = page.read_text("utf-8").partition("\n")[0].removeprefix("# ").split(". ")
        expected.append((number, page.name, title))
    assert listed == expected
    numbers = [int(number) for number, *_ in listed]
    assert numbers == sorted(set(numbers))


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_pictures_of_the_layers_are_the_enforced_ones():
    contracts = CONFIG["tool"]["importlinter"]["contracts"]
    enforced = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    pictures = re.findall(r"^```\n(.*?)^```$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    drawn = [
        [re.split(r"\s{2,}", line)[0] for line in picture.splitlines() if line[0] != " "]
        for picture in pictures
    ]
    assert drawn == enforced


def test_the_architecture_names_what_there_is():
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "paper" / "src").rglob("*.py")]
    named = {part for path in paths for part in (path.name, path.stem, path.parent.name)}
    for path in paths:
        text = path.read_text("utf-8")
        named |= set(re.findall(r"\b(?:def|class) (\w+)", text))
        named |= set(re.findall(r"^(?: {4})*(\w+)(?:: | = )", text, re.MULTILINE))
    quoted = re.findall(r"`([A-Za-z_][\w.]*)(?:=|\(.*?\))?`", ARCHITECTURE)
    unknown = {name for name in quoted if not {name, name.rpartition(".")[2]} & named}
    assert unknown - {"src", "__init__.py"} == set()
    for path in re.findall(r"(?<![\w/])\w+/[\w/.]*\w(?:\.py|/)", ARCHITECTURE):
        inside = [folder / path for folder in (ROOT, ROOT / "src" / "stopwise")]
        assert any(place.exists() for place in inside), path
    assert set(re.findall(r"(?<![\w/])(\w+\.py)\b", ARCHITECTURE)) <= named


def test_the_guide_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()) <= 120


def test_commands_of_the_guide_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    commands = set(re.findall(r"`make ([\w-]+)`", guide))
    assert {"lint", "test", "slow", "bench"} <= commands
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command


TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def toctree_entries(page):
    """The pages that the toctrees of a page name, patterns resolved."""
    for toctree in TOCTREE.findall(page.read_text("utf-8")):
        for entry in toctree.splitlines():
            if "*" in entry:
                yield from page.parent.glob(f"{entry}.md")
            elif entry and not entry.startswith(":"):
                named = page.parent / f"{entry}.md"
                yield (named if named.exists() else named.with_suffix(".ipynb")).resolve()


def test_every_page_has_its_place_in_the_site():
    pages = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    placed = {entry for page in pages for entry in toctree_entries(page)}
    assert [name_of(page) for page in placed if not page.exists()] == []
    assert pages - placed - {ROOT / "docs" / "index.md"} == set()


def entries():
    from stopwise.acquisition import ACQUISITIONS
    from stopwise.core.beliefs import laws
    from stopwise.core.beliefs.kernels import KERNELS
    from stopwise.core.beliefs.warps import WARPS
    from stopwise.stopping import RULES, After, Smoothed

    tables = [RULES, {"After": After, "Smoothed": Smoothed}, ACQUISITIONS, KERNELS, WARPS]
    listed = [getattr(made, "func", made) for table in tables for made in table.values()]
    named = [getattr(laws, name) for name in laws.__all__]
    listed += [kind for kind in named if hasattr(kind, "fair_value") and kind is not laws.Law]
    return sorted({*listed}, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.mark.parametrize("kind", entries(), ids=lambda kind: kind.__name__)
def test_an_entry_of_the_reference_has_an_equation_an_assumption_and_a_source(kind):
    assert re.search(r":math:`|\.\. math::", kind.__doc__)
    assert re.search(r"\bAssumes\b", kind.__doc__)
    assert re.search(r"^ +References:$", kind.__doc__, re.MULTILINE)


def test_the_page_on_the_snapshot_has_all_that_it_has_and_no_more():
    from stopwise.core.snapshot import Snapshot

    page = (ROOT / "docs" / "reference" / "snapshot.md").read_text("utf-8")
    cells = re.findall(r"^\| (`.*?) \| ", page, re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`(\w+)", cell)]
    assert sorted(named) == sorted(name for name in dir(Snapshot) if not name.startswith("_"))
