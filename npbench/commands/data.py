"""``npbench data``: list, fetch and verify files of data sets, and clean the cache."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.filesize import decimal

from npbench import registry
from npbench.commands.catalogue import show_list
from npbench.commands.info import show_dataset
from npbench.contracts import DataFile, Dataset
from npbench.data import sources
from npbench.errors import Exit, RequestError, collect_errors, unknown_name

RIGHT, WRONG, ABSENT = "right", "WRONG", "absent"
DAY = 86400.0  # seconds


def run(words: Sequence[str]) -> Exit:
    """Run ``npbench data`` and return the exit code: 1 if a file is wrong or cannot be downloaded."""
    parser, commands = _parser()
    if words and not words[0].startswith("-") and words[0] not in commands:
        raise RequestError(unknown_name("command of npbench data", words[0], commands))
    options = parser.parse_args(list(words) or ["--help"])
    return options.carry_out(options) or Exit.OK


def _parser() -> tuple[ArgumentParser, set[str]]:
    parser = ArgumentParser(
        "npbench data",
        description="List, fetch and verify the files of data sets. `npbench list datasets` describes the data sets.",
        epilog="Exit code: 0 success, 1 a file is wrong or cannot be downloaded, 2 the request is wrong.",
    )
    actions = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, carry_out: object, explanation: str) -> ArgumentParser:
        added: ArgumentParser = actions.add_parser(name, help=explanation, description=explanation)
        added.set_defaults(carry_out=carry_out)
        return added

    command("list", lambda _: show_list(), "list each data set, its size, and whether its files are here")
    info = command("info", _info, "show the description of a data set and the place of each file")
    info.add_argument("names", nargs="+", metavar="NAME")
    fetch = command("fetch", _fetch, "download files that are in no data folder into the cache")
    fetch.add_argument("names", nargs="+", metavar="NAME")
    fetch.add_argument("--original", action="store_true", help="fetch the file that is read instead of them")
    verify = command("verify", _verify, "check the hash of every file that is here")
    verify.add_argument("names", nargs="*", metavar="NAME", help="data sets; all by default")
    command("path", _path, "print the folders that are searched for files, in order")
    clean = command("clean", _clean, "remove cached arrays and interrupted downloads")
    clean.add_argument(
        "--unused-for", type=float, default=1.0, metavar="DAYS", help="keep arrays used since (default: 1)"
    )
    return parser, set(actions.choices)


def _datasets(names: Sequence[str]) -> list[Dataset]:
    return collect_errors([partial(registry.installed().dataset, name) for name in dict.fromkeys(names)])


def _info(options: Namespace) -> None:
    for dataset in _datasets(options.names):
        show_dataset(dataset)


def _fetch(options: Namespace) -> Exit:
    datasets = _datasets(options.names)
    without = [dataset.name for dataset in datasets if options.original and not dataset.original]
    if without:
        raise RequestError(*(f"{name!r} has no original: leave out --original." for name in without))
    code = Exit.OK
    for dataset in datasets:
        try:
            _fetch_one(dataset, options.original)
        except RequestError as error:
            code = Exit.FAILED
            for fault in error.faults:
                print(f"npbench: {fault}", file=sys.stderr)
    return code


def _fetch_one(dataset: Dataset, original: bool) -> None:
    from npbench.data import loading

    paths = sources.locate_all(dataset.original.files) if original and dataset.original else loading.locate(dataset)
    for path in paths:
        print(f"{dataset.name}: {path} ({decimal(path.stat().st_size)})", flush=True)
    if paths:
        return
    if dataset.n_samples is None:
        print(f"{dataset.name}: nothing to download; {dataset.source}")
        return
    data = loading.load(dataset)  # a library downloads its own data
    print(f"{dataset.name}: {data.n_samples} x {data.n_features}; {dataset.source}")


def _verify(options: Namespace) -> Exit:
    datasets = _datasets(options.names or sorted(registry.installed().datasets))
    described = dict.fromkeys(file for dataset in datasets for file in dataset.all_files)
    counts: Counter[str] = Counter()
    for file in described:
        states = [_verified(path, file) for path in sources.copies(file)] or [ABSENT]
        counts.update(states)
        if states == [ABSENT] and options.names:
            print(f"{ABSENT:6} {file.path}")
    print(f"{counts[RIGHT]} right, {counts[WRONG]} wrong; {counts[ABSENT]} of {len(described)} files are not here.")
    return Exit.FAILED if counts[WRONG] else Exit.OK


def _verified(path: Path, file: DataFile) -> str:
    try:
        sources.verify(path, file)
    except RequestError as error:
        print(f"{WRONG:6} {error}", flush=True)
        return WRONG
    print(f"{RIGHT:6} {path}", flush=True)
    return RIGHT


def _path(_: Namespace) -> None:
    for folder in sources.data_folders():
        print(folder)


def _clean(options: Namespace) -> None:
    from npbench.data.cache import clean

    if not options.unused_for >= 0:
        raise RequestError(f"--unused-for is {options.unused_for:g}: expected a number of days, 0 or more.")
    number, size = clean(options.unused_for * DAY)
    print(f"{number} data sets and interrupted downloads removed, {decimal(size)}, in {sources.cache_folder()}.")
