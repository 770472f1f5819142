# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file that needs nothing else, the answer first.

Its policy allows the one style sheet and the one script that it holds, by their hashes, and
nothing else: no address is loaded, no inline handler runs, nothing can be sent anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version as installed_version
from pathlib import Path

from stopwise.core.numerics.threads import single_threaded
from stopwise.core.space import Finite
from stopwise.core.space.finite import codec_of
from stopwise.study import Study
from stopwise.study.lam_ladder import lam_ladder
from stopwise.study.measured_beyond import beyond_words, measured_beyond, none_keeps
from stopwise.tools.report._axis import number
from stopwise.tools.report._curves_picture import curves_picture
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._importance_picture import importance_picture
from stopwise.tools.report._lam_table import ladder_part
from stopwise.tools.report._limits import limits_of
from stopwise.tools.report._markup import Markup, el, join, region
from stopwise.tools.report._paused_table import paused_part
from stopwise.tools.report._picture import Picture
from stopwise.tools.report._pictures import best_picture, costs_picture, value_picture
from stopwise.tools.report._promises_picture import promises_picture
from stopwise.tools.report._readings import readings_part
from stopwise.tools.report._remaining import remaining
from stopwise.tools.report._rivals_table import rivals_part
from stopwise.tools.report._signal_picture import signal_picture
from stopwise.tools.report._slice_pictures import slice_pictures
from stopwise.tools.report._slices import slices
from stopwise.tools.report._tables import data_table, setting, trials_table

_HERE = Path(__file__).parent


def asset(name: str) -> str:
    """A style sheet or a script of the page."""
    return (_HERE / name).read_text(encoding="utf-8")


@single_threaded  # many small products: with more threads it takes twice the CPU, and no less time
def page(study: Study, *, version: str | None = None) -> str:
    """The report of a study as one HTML document.

    Args:
        study: Running, finished, or loaded from a journal.
        version: Of what is shown; given by a server, it lets the page look for a newer one.
    """
    facts = Facts(study)
    style = asset("style.css") + asset("chart.css")
    script = asset("page.js") + ("" if version is None else asset("refresh.js"))
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy(style, script, version)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", _title(facts)),
        el("style", Markup(style)),
    )
    in_stages = facts.in_stages
    main = el(
        "main",
        _answer(facts),
        el("section", curves_part(facts)) if in_stages else _course(facts),
        Markup() if in_stages else _model(facts),
        Markup() if in_stages else rivals_part(facts),
        Markup() if in_stages else _ladder(facts),
        paused_part(facts),
        _trials(facts),
        el(
            "footer",
            f"Made by stopwise {installed_version('stopwise')}. This page holds all it needs.",
        ),
    )
    body = el("body", main, el("script", Markup(script)))
    return f"<!doctype html>\n{el('html', head, body, lang='en', data_version=version)}\n"


def _ladder(facts: Facts) -> Markup:
    gains = facts.study.options.gain_unit
    return ladder_part(lam_ladder(facts.study), facts.names, gains, facts.luck)


def policy(style: str, script: str, version: str | None = None) -> str:
    """The content-security policy: what the page holds, by hash; a served one may ask again."""
    parts = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(parts if version is None else [*parts, "connect-src 'self'"])


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


# ---------------------------------------------------------------------------------- the answer


def _state(facts: Facts) -> str:
    trials = _count(len(facts.steps), "trial")
    if facts.in_stages:
        trials = f"{_count(facts.begun, 'trial')} begun, {len(facts.succeeded)} finished"
    return f"Stopped after {trials}" if facts.result.verdict.stop else f"{trials} so far"


def _title(facts: Facts) -> str:
    best = facts.result.best
    named = f"best {facts.names.name}".strip()
    value = "nothing best yet" if best is None else f"{named} {facts.said(best.value)}"
    return f"{_state(facts)}, {value} \u2013 stopwise"


def _answer(facts: Facts) -> Markup:
    verdict, study = facts.result.verdict, facts.study
    aim = "minimised" if study.direction == "minimize" else "maximised"
    what = facts.names.value_name or "a value"
    over = f"stopwise report \u00b7 {what} to be {aim} over {_count(study.domain.d, 'parameter')}"
    head = "Why it stopped: " if verdict.stop else "Not stopped yet: "
    why = el("p", el("strong", head), _sentence(verdict.reason), class_="why")
    return el(
        "section",
        el("p", over, class_="over"),
        el("h1", _headline(facts)),
        why,
        *(() if facts.in_stages else remaining(facts)),
        el("dl", *_numbers(facts), class_="numbers"),
        _configuration(facts),
    )


def _headline(facts: Facts) -> str:
    best = facts.result.best
    if best is None:
        done = none_keeps(facts.study.options) if facts.succeeded else "has succeeded"
        yet = "" if facts.result.verdict.stop else " yet"
        return f"{_state(facts)}: no evaluation {done}{yet}"
    named = facts.names.name or "value"
    return f"{_state(facts)}: the best {named} is {facts.said(best.value)}"


def _numbers(facts: Facts) -> list[Markup]:
    result, study = facts.result, facts.study
    best = result.best
    failed = len(facts.steps) - len(facts.succeeded)
    cells = []
    if best is not None:
        doubt = f" \u00b1 {number(best.std)} (one deviation)" if best.std else ""
        name = f"Best {facts.names.name or 'value'}"
        cells.append(_number(name, facts.said(best.value), f"trial {best.number}{doubt}"))
        worth = study.worth(best.value)
        if worth is not None:
            cells.append(_number("Worth", number(worth), facts.units))
    left = None if study.budget is None else f"of a budget of {facts.paid(study.budget)}"
    cells.append(_number("Spent", facts.paid(result.spent), left))
    infeasible = sum(step.trial.infeasible for step in facts.steps)
    broke = f"{infeasible} {beyond_words(facts.names)}" if infeasible else ""
    running = len(study.pending) - len(study.paused)
    notes = [f"{failed} failed" if failed else "", broke, _running(running)]
    notes.append(f"{len(study.paused)} paused" if study.paused else "")
    if facts.in_stages:
        notes.insert(0, f"{len(facts.succeeded)} finished")
    told = ", ".join(filter(None, notes)) or "none failed"
    cells.append(_number("Trials", str(facts.begun), told))
    cells += [_number(*said) for said in limits_of(study.options)]
    if facts.lam is not None:
        units = f"{facts.units} per {facts.names.one_of_cost}"
        cells.append(_number("lam", number(facts.lam), f"{units}{facts.origin_of_lam}"))
    return cells


def _running(pending: int) -> str:
    return f"{pending} running" if pending else ""


def _number(name: str, value: str, note: str | None) -> Markup:
    return el("div", el("dt", name), el("dd", value, el("small", note) if note else ""))


def _configuration(facts: Facts) -> Markup:
    best = facts.result.best
    if best is None:
        return Markup()
    pairs = [
        el("div", el("dt", name), el("dd", setting(value))) for name, value in best.params.items()
    ]
    pairs += [
        el("div", el("dt", f"{name} (measured)"), el("dd", setting(value)))
        for name, value in best.outcomes.items()
    ]
    beyond = measured_beyond(best, facts.study.options)
    said = [el("p", beyond, class_="quiet")] if beyond else []
    return join(el("h2", "Best configuration"), el("dl", *pairs, class_="params"), *said)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


# --------------------------------------------------------------------------------- the pictures


def figure(picture: Picture) -> Markup:
    """A picture with its words and, folded away, its numbers."""
    caption = el("figcaption", el("h3", picture.title), el("p", picture.words))
    if picture.svg is None:
        return el("figure", caption)
    table = el(
        "details",
        el("summary", "Numbers of this picture"),
        data_table(picture),
        id=f"numbers-{picture.name}",
    )
    plot = el("div", picture.svg, class_="plot", data_title=picture.title)
    return el("figure", caption, plot, table, aria_label=picture.title)


def curves_part(facts: Facts) -> Markup:
    """How evaluations in stages went."""
    return join(el("h2", "How it went"), el("div", figure(curves_picture(facts)), class_="two"))


def _course(facts: Facts) -> Markup:
    pictures = [
        best_picture(facts),
        signal_picture(facts),
        value_picture(facts),
        costs_picture(facts),
    ]
    if len(facts.study.promises.told):  # where others chose, nothing was promised
        pictures.append(promises_picture(facts))
    return el("section", el("h2", "How it went"), el("div", *map(figure, pictures), class_="two"))


def _model(facts: Facts) -> Markup:
    pictures = slice_pictures(slices(facts), facts.names.value_label)
    if not pictures:
        return Markup()
    note = (
        "Each picture varies one parameter and leaves the others as in the best configuration"
        " (diamond). The line is what the model expects, the band or bar its 95 % interval, cut"
        " off far beyond the observed values, and ticks at the foot are the values that were"
        " tried. All share one vertical scale."
    )
    if isinstance(facts.study.domain, Finite) and facts.study.domain.rows is not None:
        note += " Not every combination shown need be a row of the table."
    return el(
        "section",
        el("h2", "What the model believes"),
        el("p", note, class_="quiet"),
        el("div", *map(figure, pictures), class_="three"),
        el("div", figure(importance_picture(facts)), class_="two"),
        readings_part(facts.study.readings()),
    )


def _trials(facts: Facts) -> Markup:
    if not facts.steps:
        return Markup()
    table, note = trials_table(facts, codec_of(facts.study.domain))
    tools = el(
        "div",
        el("label", "Search the trials", for_="search"),
        el("input", id="search", type="search", autocomplete="off", spellcheck="false"),
        el("span", "", id="found", role="status", class_="quiet"),
        class_="tools",
        hidden=True,
    )
    words = [el("p", note, class_="quiet")] if note else []
    return el("section", el("h2", "Trials"), *words, tools, region("Trials", table))
