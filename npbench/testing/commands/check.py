"""``npbench check``: check a solver, a data set, a metric or a whole plugin, one line per check."""

import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from npbench import registry
from npbench.console import print_faults, status, write
from npbench.errors import Exit, RequestError, unknown_name

KINDS = ("solver", "dataset", "metric")
STYLES = {"ok": "green", "failed": "red", "skipped": "yellow"}


def run(words: Sequence[str]) -> Exit:
    """Run the checks; the exit code is 1 if one failed."""
    options = _parser().parse_args(list(words) or ["--help"])
    if options.kind not in (*KINDS, "plugin"):
        raise RequestError(unknown_name("kind to check", options.kind, (*KINDS, "plugin")))
    broken: list[registry.Unavailable] = []
    subjects = [(options.kind, name) for name in options.names]
    if options.kind == "plugin":
        subjects, broken = _of_plugins(options.names)
    for kind, name in subjects:
        getattr(registry.installed(), kind)(name)  # look up all names before any work
    counts = Counter(failed=len(broken))
    for one in broken:
        print(one)
    for kind, name in dict.fromkeys(subjects):
        counts += _check(kind, name, with_traceback=options.traceback, time_limit=options.time_limit)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in STYLES))
    return Exit.FAILED if counts["failed"] else Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench check",
        description="Check that what a plugin provides keeps the contracts of npbench.",
        epilog="Exit code: 0 if no check failed, 1 if some did, 2 if the request is wrong.",
    )
    parser.add_argument("kind", metavar="KIND", help="solver, dataset or metric; plugin for all that it provides")
    parser.add_argument("names", nargs="+", metavar="NAME", help="as in `npbench list`; the distribution of a plugin")
    parser.add_argument("--traceback", action="store_true", help="show traceback and output of failed checks")
    parser.add_argument("--time-limit", type=float, default=600.0, metavar="SECONDS", help="of each check: 600")
    return parser


def _of_plugins(names: Sequence[str]) -> tuple[list[tuple[str, str]], list[registry.Unavailable]]:
    """Return kind and name of everything that plugins, named by distribution or module, provide; and broken plugins."""
    found = registry.installed()
    plugins = [*found.providers.values(), *(one.provider for one in found.unavailable)]
    known = {name for by in plugins for name in (by.distribution, by.module)}
    if unknown := [name for name in names if name not in known]:
        raise RequestError(*(unknown_name("plugin", name, known) for name in unknown))
    named = {by for by in plugins if by.distribution in names or by.module in names}
    for module in sorted(by.module for by in named):
        if hasattr(sys.modules.get(module), "npbench_config_packages"):
            print_faults(f"{module}: npbench_config_packages is deprecated: conf/ beside the module is found.")
    provided = [key for key, by in found.providers.items() if key[0] in KINDS and by in named]
    return provided, [one for one in found.unavailable if one.provider in named]


def _check(kind: str, name: str, *, with_traceback: bool, time_limit: float) -> Counter[str]:
    with status(f"Importing {name}"):
        from npbench import testing
        from npbench.testing.running import results

        checks: list[testing.Check] = getattr(testing, f"check_{kind}")(name)
    console = Console(highlight=False, soft_wrap=True)
    write(f"{kind} {name}", console, "bold")
    counts: Counter[str] = Counter()
    first_with: dict[str, str] = {}
    ended = results(checks, time_limit)
    for check in checks:
        start = time.perf_counter()
        with status(f"{name}: {check.claim}"):
            result = next(ended)
        counts[result.outcome] += 1
        took = time.perf_counter() - start
        word = f"[{STYLES[result.outcome]}]{result.outcome:7}[/]"
        console.print(f"  {word} {check.name:20} [dim]{took:5.1f} s[/]  {escape(check.claim)}")
        reason = result.reason
        if result.outcome == "failed" and first_with.setdefault(reason, check.name) != check.name:
            reason = f"as in {first_with[reason]}"
        for line in filter(None, [reason, result.details if with_traceback else ""]):
            write(f"          {line}", console)
    return counts
