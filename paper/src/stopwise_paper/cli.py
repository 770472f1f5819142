# SPDX-License-Identifier: Apache-2.0
"""The command ``stopwise-paper``: run experiments, draw figures, list both, run some again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise_paper.experiments import EXPERIMENTS, SCALES
from stopwise_paper.figures import FIGURES, draw_figures, experiments_read_by
from stopwise_paper.figures._style import save
from stopwise_paper.figures.beliefs import draw_beliefs
from stopwise_paper.figures.field import draw_field
from stopwise_paper.figures.stages import draw_stages
from stopwise_paper.runs.again import run_again
from stopwise_paper.runs.beliefs.plan import PARTS, VARIANTS
from stopwise_paper.runs.beliefs.runner import run_beliefs
from stopwise_paper.runs.field.contenders import CONTENDERS
from stopwise_paper.runs.field.plan import PARTS as FIELD_PARTS
from stopwise_paper.runs.field.runner import QUICK_RUNS, RUNS, installed, run_field
from stopwise_paper.runs.parallel import ENGINES, PartRun
from stopwise_paper.runs.runner import OUT, ExperimentRun, run_experiments
from stopwise_paper.runs.stages.plan import METHODS
from stopwise_paper.runs.stages.runner import StagesRuns, run_stages


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 1 if a cell failed, or a figure could not be drawn."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.command(options))
    except StopwiseError as error:
        parser.error(str(error))


def _run(options: argparse.Namespace) -> int:
    runs = run_experiments(
        options.experiments,
        scale=options.scale,
        engine=options.engine,
        jobs=options.jobs,
        out=options.out,
        acquisitions=options.acquisition,
        rules=options.rule,
        progress=sys.stderr.isatty(),
    )
    return _report(runs)


def _again(options: argparse.Namespace) -> int:
    """1 if a number differs."""
    code = 0
    for experiment in options.experiments:
        path = options.out / options.scale / f"{experiment}.parquet"
        for run in run_again(path, options.count):
            sys.stdout.write(f"{run}\n")
            code = code or int(bool(run.differing))
    return code


def _figures(options: argparse.Namespace) -> int:
    experiments = experiments_read_by(options.figures)
    failed = 0
    if experiments and not options.draw_only:
        runs = run_experiments(
            experiments,
            scale=options.scale,
            engine=options.engine,
            jobs=options.jobs,
            out=options.out,
            progress=sys.stderr.isatty(),
        )
        failed = _report(runs)
    folder = options.out / options.scale
    drawn = draw_figures(
        options.figures,
        trajectories=folder,
        out=folder / "figures",
        scale=options.scale,
        jobs=options.jobs,
    )
    for figure in drawn:
        sys.stdout.write(f"{figure}\n")
    return failed or int(not all(figure.files for figure in drawn))


def _beliefs(options: argparse.Namespace) -> int:
    code = 0
    if not options.draw_only:
        runs = run_beliefs(
            options.parts,
            options.variant,
            scale=options.scale,
            jobs=options.jobs,
            out=options.out,
            progress=sys.stderr.isatty(),
        )
        code = _report(runs)
    folder = options.out / options.scale
    for sheet in draw_beliefs(folder):
        save(sheet, folder / "figures")
        sys.stdout.write(f"{sheet.name}: {len(sheet.records)} rows\n")
    return code


def _field(options: argparse.Namespace) -> int:
    code = 0
    contenders, left_out = installed(options.contender)
    if not options.draw_only:
        sys.stdout.writelines(f"{message}\n" for message in left_out)
        runs = run_field(
            options.parts,
            contenders,
            quick=options.quick,
            seeds=options.seeds,
            problems=options.problems,
            rules=not options.without_rules,
            jobs=options.jobs,
            out=options.out,
            progress=sys.stderr.isatty(),
        )
        code = _report(runs)
    folder = options.out / ("quick" if options.quick else "figures")
    for sheet in draw_field(options.out / (QUICK_RUNS if options.quick else RUNS)):
        save(sheet, folder)
        if options.quick and sheet.text:
            sys.stdout.write(f"{sheet.text}\n")
        sys.stdout.write(f"{folder / sheet.name}.csv: {len(sheet.records)} rows\n")
    return code


def _stages(options: argparse.Namespace) -> int:
    code = 0
    if not options.draw_only:
        runs = run_stages(
            options.method,
            options.problems,
            scale=options.scale,
            jobs=options.jobs,
            out=options.out,
            progress=sys.stderr.isatty(),
        )
        code = _report([runs])
    folder = options.out / options.scale
    for sheet in draw_stages(folder):
        save(sheet, folder / "figures")
        sys.stdout.write(f"{sheet.name}: {len(sheet.records)} rows\n")
    return code


def _list(_options: argparse.Namespace) -> int:
    sys.stdout.write("experiments\n")
    for name, experiment in EXPERIMENTS.items():
        sys.stdout.write(f"  {name:18} {experiment.purpose}\n")
    sys.stdout.write("figures\n")
    for name, figure in FIGURES.items():
        sys.stdout.write(f"  {name:18} reads {', '.join(figure.reads) or 'no trajectories'}\n")
    return 0


def _report(runs: Sequence[ExperimentRun | PartRun | StagesRuns]) -> int:
    """Print what was run, and each failed cell with its error; 1 if a cell failed."""
    code = 0
    for run in runs:
        sys.stdout.write(f"{run}\n")
        for cell, error in run.counts.failed.items() if run.counts else ():
            code = 1
            sys.stderr.write(f"{cell}\n{error}\n")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stopwise-paper",
        description="The experiments of 'Cost-aware Stopping for Bayesian Optimization'.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run experiments; finished cells are not run again")
    run.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help="default: all")
    _add_shared_options(run)
    for option, text in (
        ("--acquisition", "run this acquisition too"),
        ("--rule", "record this stopping rule too"),
    ):
        run.add_argument(option, action="append", default=[], metavar="MODULE:CLASS", help=text)
    run.set_defaults(command=_run)
    figures = commands.add_parser("figures", help="run what figures read, then draw them")
    figures.add_argument("figures", nargs="*", metavar="FIGURE", help="default: all")
    _add_shared_options(figures)
    text = "draw from the trajectories that are there"
    figures.add_argument("--draw-only", action="store_true", help=text)
    figures.set_defaults(command=_figures)
    _add_again(commands)
    _add_beliefs(commands)
    _add_field(commands)
    _add_stages(commands)
    listing = commands.add_parser("list", help="list experiments and figures")
    listing.set_defaults(command=_list)
    return parser


def _add_again(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "run finished trajectories once more, and compare every number"
    again = commands.add_parser("again", help=text)
    again.add_argument("experiments", nargs="+", choices=EXPERIMENTS, metavar="EXPERIMENT")
    again.add_argument("--count", type=int, default=1, help="of each, the quickest; default: 1")
    again.add_argument("--scale", choices=SCALES, default="laptop")
    again.add_argument("--out", type=Path, default=OUT, help="trajectories are in OUT/SCALE")
    again.set_defaults(command=_again)


def _add_beliefs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    beliefs = commands.add_parser("beliefs", help="run studies with each belief, and compare them")
    beliefs.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    names = ", ".join(f"'{name}'" for name in VARIANTS)
    beliefs.add_argument("--variant", action="append", default=[], help=f"one of {names}")
    _add_record_options(beliefs)
    beliefs.set_defaults(command=_beliefs)


def _add_stages(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "run searches on learning curves, and compare them"
    stages = commands.add_parser("stages", help=text)
    stages.add_argument("problems", nargs="*", metavar="TABLE", help="of curves; default: all")
    names = ", ".join(f"'{name}'" for name in METHODS)
    stages.add_argument("--method", action="append", default=[], help=f"one of {names}")
    _add_record_options(stages)
    stages.set_defaults(command=_stages)


def _add_record_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", choices=("smoke", "laptop"), default="laptop")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    parser.add_argument("--out", type=Path, default=OUT, help="records go to OUT/SCALE")
    text = "compare the studies that are there"
    parser.add_argument("--draw-only", action="store_true", help=text)


def _add_field(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    field = commands.add_parser("field", help="play whole packages on the same problems")
    field.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(FIELD_PARTS)}")
    text = f"one of {', '.join(CONTENDERS)}"
    field.add_argument("--contender", action="append", default=[], help=text)
    field.add_argument("--quick", action="store_true", help="one problem of each part, 20 trials")
    field.add_argument("--seeds", type=int, help="only the first of the planned seeds")
    text = "do not ask the others' stopping rules, which are only recorded and may be slow"
    field.add_argument("--without-rules", action="store_true", help=text)
    text = "only problems that match, as 'bbob:*_i01_d02'"
    field.add_argument("--problems", default="*", metavar="PATTERN", help=text)
    field.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    field.add_argument("--out", type=Path, default=Path("docs/field"), help="where runs are kept")
    text = "score the runs that are there"
    field.add_argument("--draw-only", action="store_true", help=text)
    field.set_defaults(command=_field)


def _add_shared_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", choices=SCALES, default="laptop")
    parser.add_argument("--engine", choices=ENGINES, default="local")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    parser.add_argument("--out", type=Path, default=OUT, help="trajectories go to OUT/SCALE")
