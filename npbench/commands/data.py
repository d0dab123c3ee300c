"""``npbench data``: list, fetch and verify files of data sets, and clean the cache."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from npbench import registry
from npbench.commands.catalogue import shape_of
from npbench.commands.info import ABSENT, CORRUPT, PRESENT
from npbench.commands.list import named_rows
from npbench.console import print_faults, write
from npbench.contracts import DataFile, Dataset
from npbench.data import sources
from npbench.errors import Exit, RequestError, collect_errors, unknown_name

INCOMPLETE = "in part"
RIGHT, MISSING = "right", "absent"  # states of a file that is verified, like CORRUPT
COLOURS = {PRESENT: "green", INCOMPLETE: "yellow", CORRUPT: "red"}
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

    command("list", _list, "list each data set, its size, and whether its files are here")
    fetch = command("fetch", _fetch, "download files that are in no data folder into the cache")
    fetch.add_argument("names", nargs="+", metavar="NAME")
    fetch.add_argument("--original", action="store_true", help="fetch the original, read instead of these files")
    verify = command("verify", _verify, "check the hash of every file that is here")
    verify.add_argument("names", nargs="*", metavar="NAME", help="data sets; all by default")
    command("path", _path, "print the folders that are searched for files, in order")
    clean = command("clean", _clean, "remove cached arrays and interrupted downloads")
    clean.add_argument("--unused-for", type=float, default=1.0, metavar="DAYS", help="keep arrays used since (1 day)")
    return parser, set(actions.choices)


def _datasets(names: Sequence[str]) -> list[Dataset]:
    return collect_errors([partial(registry.installed().dataset, name) for name in dict.fromkeys(names)])


def _list(_: Namespace) -> None:
    console = Console()
    datasets = sorted(registry.installed().datasets.values(), key=lambda dataset: dataset.name)
    write("Read from files (npbench data fetch NAME)", console, "bold")
    rows, absent = [], set[DataFile]()
    for dataset in filter(lambda dataset: dataset.files, datasets):
        state, note = _state(dataset)
        cells = (decimal(_size(dataset.files)), Text(state, COLOURS.get(state, "")), Text(note, "dim"))
        rows.append((dataset.name, shape_of(dataset), *cells))
        if state != PRESENT:
            absent.update(file for file in dataset.files if not any(sources.copies(file)))
    console.print(named_rows(rows, ["right", "right", "left"]))
    write("Generated, from a library, or from files you bring", console, "bold")
    console.print(named_rows((dataset.name, dataset.source) for dataset in datasets if not dataset.files))
    write(f"{decimal(_size(absent))} are not here and can be fetched.", console)


def _state(dataset: Dataset) -> tuple[str, str]:
    """Return whether the files of a data set are here, and a note on them."""
    found = [next(sources.copies(file), None) for file in dataset.files]
    wrong = [
        f"{path} has {path.stat().st_size} bytes, not {file.size}"
        for file, path in zip(dataset.files, found, strict=True)
        if path and path.stat().st_size != file.size
    ]
    n_here = len(found) - found.count(None)
    if wrong:
        return CORRUPT, "; ".join(wrong)
    if n_here < len(found) and dataset.mirror and _are_here(dataset.mirror.files):
        return PRESENT, "from its mirror"
    if 0 < n_here < len(found):
        return INCOMPLETE, f"{n_here} of {len(found)} files"
    note = ""
    if dataset.original:
        names = ", ".join(Path(file.path).name for file in dataset.original.files)
        note = f"{names} is {'here and read instead' if _are_here(dataset.original.files) else 'not here'}"
    return PRESENT if n_here else ABSENT, note


def _are_here(files: Iterable[DataFile]) -> bool:
    return all(any(sources.copies(file)) for file in files)


def _size(files: Iterable[DataFile]) -> int:
    return sum(file.size for file in files)


def _fetch(options: Namespace) -> Exit:
    datasets = _datasets(options.names)
    if without := [dataset.name for dataset in datasets if options.original and not dataset.original]:
        raise RequestError(*(f"{name!r} has no original: leave out --original." for name in without))
    code = Exit.OK
    for dataset in datasets:
        try:
            _fetch_one(dataset, options.original)
        except RequestError as error:
            code = Exit.FAILED
            print_faults(*error.faults)
    return code


def _fetch_one(dataset: Dataset, original: bool) -> None:
    from npbench.data import loading

    of_original = dataset.original.files if original and dataset.original else None
    paths = sources.locate_all(of_original) if of_original else loading.located(dataset)[1]
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
        states = []
        for path in sources.copies(file):
            fault = sources.fault(path, file)
            states.append(CORRUPT if fault else RIGHT)
            print(f"{states[-1]:6} {fault or path}", flush=True)
        counts.update(states or [MISSING])
        if options.names and not states:
            print(f"{MISSING:6} {file.path}")
    print(f"{counts[RIGHT]} right, {counts[CORRUPT]} wrong; {counts[MISSING]} of {len(described)} files are not here.")
    return Exit.FAILED if counts[CORRUPT] else Exit.OK


def _path(_: Namespace) -> None:
    for folder in sources.data_folders():
        print(folder)


def _clean(options: Namespace) -> None:
    from npbench.data.cache import clean

    if not options.unused_for >= 0:
        raise RequestError(f"--unused-for is {options.unused_for:g}: expected a number of days, 0 or more.")
    number, size = clean(options.unused_for * DAY)
    print(f"{number} data sets and interrupted downloads removed, {decimal(size)}, in {sources.cache_folder()}.")
