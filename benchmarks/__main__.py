# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks, or those named."""

import argparse
import importlib
import pkgutil
import time
from pathlib import Path

from benchmarks import _report
from stopwise.errors import MissingExtraError
from stopwise_paper.problems.data_folder import MissingDataError

NAMES = sorted(
    module.name
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if not module.name.startswith("_")
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small and few: seconds, not minutes")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    print(_report.machine())
    left_out: list[str] = []
    targets: list[str] = []
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        title = (module.__doc__ or "").partition("\n")[0]
        print(f"\n{name}: {title}\n", flush=True)
        begin, cpu = time.perf_counter(), time.process_time()
        try:
            rows = module.run(quick=arguments.quick)
        except (MissingDataError, MissingExtraError) as error:
            print(f"{name} is left out: {error}", flush=True)
            left_out.append(name)
            continue
        print(_report.table(rows))
        targets += _report.targets(name, rows)
        took, own = time.perf_counter() - begin, time.process_time() - cpu
        print(f"\n{name} took {took:.0f} s, {own:.0f} s of CPU in this process", flush=True)
    if targets:
        print("\ntargets met\n" + "\n".join(targets))
    if left_out:
        print(f"\nleft out, because something is missing: {', '.join(left_out)}")


if __name__ == "__main__":
    main()
