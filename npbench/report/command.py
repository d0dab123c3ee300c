"""``npbench report``: print the tables of a report and write it in every format."""

from __future__ import annotations

import re
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from npbench.console import status, write
from npbench.errors import Exit, RequestError, unknown_name
from npbench.records.files import RECORDS

if TYPE_CHECKING:
    from npbench.report.render.drawing import Drawings
    from npbench.report.sections.regression import Comparison
    from npbench.report.select.collect import Collection
    from npbench.report.sheet import Section

FLAGS = ("--experiment", "--against", "--force", "--output", "--help")
FORMATS = "--format: every format is always written, CSV and LaTeX to tables/ in the folder of the report."
USAGE = (
    "npbench report [FOLDER ...] [NAME=VALUE ...] [--against FOLDER [--force]] [--output FOLDER]\n"
    "       npbench report --experiment NAME ..."
)
DESCRIPTION = """\
Prints the tables of stored records, and writes report.html, tables and figures.

  FOLDER       results folders, folders of records, .parquet files (default: results)
  NAME=VALUE   filter of their records, as on a run's command line; several values with commas
"""
EXAMPLES = """\
examples:
  npbench report                                        all records in results/records
  npbench report solver=np_svm,gen problem.rho=0.1      some of them
  npbench report results/published --output published   records of another folder, written to another folder
  npbench report --against results/before               what got better, worse or slower
  npbench report --experiment NAME                      the tables of an experiment

exit code: 0; 1 if a source could not be read, an experiment lacks jobs or something got worse; 2 if the request is
invalid
"""


def run(words: Sequence[str]) -> Exit:
    """Print and write a report; return 1 if a source could not be read, jobs are missing or something got worse."""
    # +experiment=NAME is an option too
    options, others = _parser().parse_known_args([re.sub(r"^\+?(?=experiment=)", "--", word) for word in words])
    if options.experiment is not None and (options.against or options.force):
        raise RequestError("--experiment compares no folders: omit --against and --force.")
    if options.force and options.against is None:
        raise RequestError("--force needs records to compare with: --against FOLDER --force.")
    drawings: Drawings = {}
    compared = None
    if options.experiment is not None:
        from npbench.report.experiment_report import report

        sections, collection, drawings, output = report(options.experiment, others)
    else:
        folders, filters = _folders_and_filters(others)
        sections, collection, compared = _of_folders(folders, filters, options)
        output = _beside(folders[0], filters)
    _conclude(sections, collection, options.output or output, drawings)
    if compared:
        print(f"\nAgainst {options.against}: {compared.sections[0].notes[0]}")
    return Exit.FAILED if collection.faults or (compared and compared.regressed) else Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser("npbench report", USAGE, DESCRIPTION, EXAMPLES, allow_abbrev=False)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.error = _refuse  # type: ignore[method-assign]  # one line, without the usage
    option = parser.add_argument
    option("--experiment", metavar="NAME", help="report an experiment instead: its tables and figure")
    option("--against", type=Path, metavar="FOLDER", help="compare with the records in FOLDER")
    option("--force", action="store_true", help="compare even if data, splits or machines differ")
    option("--anyway", dest="force", action="store_true", help=SUPPRESS)  # its name in 0.1
    option("--output", type=Path, metavar="FOLDER", help="default: results/report; with filters, named after them")
    return parser


def _refuse(message: str) -> NoReturn:
    raise RequestError(f"{message}: see `npbench report --help`.")


def _folders_and_filters(words: Sequence[str]) -> tuple[list[Path], dict[str, str]]:
    if unknown := [word for word in words if word.startswith("-")]:
        raise RequestError(*(FORMATS if word == "--format" else unknown_name("flag", word, FLAGS) for word in unknown))
    words = [word.removeprefix("results=") for word in words]  # as in a run, and with --experiment
    folders = [Path(word) for word in words if "=" not in word or Path(word).exists()]
    pairs = (word.partition("=") for word in words if Path(word) not in folders)
    return folders or [Path("results")], {name: value for name, _, value in pairs}


def _of_folders(
    folders: Sequence[Path], filters: Mapping[str, str], options: Namespace
) -> tuple[list[Section], Collection, Comparison | None]:
    """Return the sections of a report, its records, and the comparison with other records if it is asked for."""
    with status("Reading records") as shown:
        from npbench.report.assemble import assemble
        from npbench.report.select.collect import collect

        collection, compared = collect(folders, filters), None
        if options.against is not None:
            from npbench.report.sections.regression import compare

            before = collect([options.against], filters, is_strict=False)  # it may lack what is new
            compared = compare(collection.records, before.records, force=options.force)
        shown.update("Making tables")
        lead, *sections = assemble(collection)
    return [lead, *(compared.sections if compared else ()), *sections], collection, compared


def _beside(source: Path, filters: Mapping[str, str]) -> Path:
    """Return the folder ``report`` next to the folder ``records``; with filters, its name has them too."""
    records = source.parent if source.is_file() else source
    words = re.sub(r"[^\w.-]+", "-", "_".join(["", *(f"{name}-{value}" for name, value in filters.items())]))
    return (records.parent if records.name == RECORDS else records) / f"report{words[:80]}"


def _conclude(sections: Sequence[Section], collection: Collection, output: Path, drawings: Drawings) -> None:
    """Print a report, write it, and print where it is."""
    from npbench.report import files
    from npbench.report.render import terminal

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or error
        raise RequestError(f"The report cannot be written to {output}: {why}. Name another with --output.") from error
    console = terminal.PipeSafeConsole()
    shown, omitted = terminal.brief(sections, console.width)
    terminal.show(shown, console)
    with status("Writing") as writing:
        written = files.write(output, sections, collection, writing.update, drawings)
    if omitted:
        write(f"\n{omitted}", console)
    console.print(f"\nIn {output}:", style="bold", markup=False, highlight=False, soft_wrap=True)
    for line in written:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
