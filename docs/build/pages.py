"""Commands, output, listings and tables of records in README and docs: ``cog -r -I docs/build README.md docs/*.md``."""

import contextlib
import functools
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs
import measured
import polars as pl
import yaml
from blocks import PUBLISHED, fenced, published, table
from leaderboard import asked
from pictures import load_experiment
from rich.console import Console

from npbench import cli, contracts, registry
from npbench.config.experiment import Experiment
from npbench.problem import PROBLEMS
from npbench.records.store import RecordStore
from npbench.report.render import terminal
from npbench.report.run_summary import print_outcome, print_summary
from npbench.report.sections.experiment import sections as sections_of
from npbench.report.select.collect import collect
from npbench.report.select.labels import method_labels
from npbench.report.select.recorded_settings import notes, protocols
from npbench.report.sheet import Section, Sheet
from npbench.report.stats.paired import MIN_VALUES
from npbench.values import counted
from npbench_benchmark.advice import advice, large, reach, sharing
from npbench_benchmark.crossing import crossing
from npbench_benchmark.leaderboard import League, separable, settings
from npbench_benchmark.tables import RANK_NOTES, RATE_NOTE, ranked
from npbench_papers import claims
from npbench_papers.records import is_stand_in
from npbench_papers.verdicts import MEANINGS, explained, tally

ROOT = Path(__file__).parents[2]
EXPLAINED = re.compile(f" ({'|'.join(re.escape(f'{one}: {text}') for one, text in MEANINGS.items())}).*", re.IGNORECASE)
RATES_ONLY = "\nchosen parameters"  # the table of rates ends here in a summary
os.environ["COLUMNS"] = "100"  # of commands and Python blocks
# For each page: output of its Python blocks so far, the names that they share, and their folder.
_SESSIONS: dict[str, tuple[list[str], dict[str, Any], tempfile.TemporaryDirectory[str]]] = {}


def block(language: str, text: str) -> None:
    """Write a fenced block."""
    cog.outl(fenced(language, text))


def source(path: str) -> None:
    """Write a file of the repository, verbatim."""
    language = {".py": "python", ".toml": "toml", ".yaml": "yaml"}[Path(path).suffix]
    block(language, (ROOT / path).read_text(encoding="utf-8"))


def run(name: str) -> None:
    """Write the command of a stored run and the table of rates that it printed."""
    records = published(name)
    (run_id,) = records["run_id"].unique()
    words = json.loads((PUBLISHED / "methods" / "runs" / f"{run_id}.json").read_text(encoding="utf-8"))["command"]
    # a shell would expand braces
    block("bash", f"npbench {' '.join(shlex.quote(word) if '{' in word else word for word in words)}")
    _summary(records, until="\n\n")


def rates(folder: str, *solvers: str, repeats: int = 10, **equal: Any) -> None:
    """Write the rates of stored records, of all solvers or some, as a run with that many repeats prints them."""
    frame = RecordStore(PUBLISHED / folder / "records").frame().filter(pl.col("repeat") < repeats, **equal)
    _summary(frame.filter(pl.col("solver").is_in(solvers)) if solvers else frame, RATES_ONLY)


def _summary(records: pl.DataFrame, until: str) -> None:
    console = Console(file=io.StringIO(), width=100)
    print_summary(records, console)
    print_outcome(records, planned=len(records), skipped=0, folder=Path("results/records"), console=console)
    block("text", f"{_printed_on(console).strip().partition(until)[0].rstrip()}\n{processors(records)}")


def processors(records: pl.DataFrame) -> str:
    """Name the processors that made the records."""
    return f"On {', '.join(records['cpu'].drop_nulls().unique().sort())}."


def _printed_on(console: Console) -> str:
    """Return the text on a console, without blanks at the ends of lines."""
    assert isinstance(console.file, io.StringIO)
    return re.sub(r" +$", "", console.file.getvalue(), flags=re.MULTILINE)


def _shown(sections: list[Section], records: pl.DataFrame) -> None:
    """Write sections as the terminal shows them."""
    console = Console(file=io.StringIO(), width=100)
    terminal.show(sections, console)
    block("text", f"{_printed_on(console)}{processors(records)}")


def report(part: str, paper: str, title: str = "", **filters: str) -> None:
    """Write a section of the report on a paper's published records, or only one of its tables."""
    records = collect([PUBLISHED / paper], filters).records
    sections = contracts.resolve(f"npbench.report.sections.{part}:sections")(records)
    if title:
        sheets = [sheet for section in sections for sheet in section.sheets if sheet.title.startswith(title)]
        sections = [Section("", sheets)]
    _shown(sections, records)


def experiment(name: str, *numbers: int) -> None:
    """Write the tables of a published experiment, or only those with the given numbers, from 0 without the claims.

    These come without the meanings of verdicts, which :func:`claims_of` writes.
    """
    _, found = _sections(name)
    if numbers:
        sheets = [replace(one, notes=[EXPLAINED.sub("", note) for note in one.notes]) for one in _numbered(found)]
        found = [Section(found[0].title, [sheets[number] for number in numbers])]
    _shown(found, published(name))


def items(paper: str) -> None:
    """Write a table of a paper's published experiments: how run, and the verdicts in its tables counted."""
    columns = ("item", "experiment", "how run", "verdicts")
    cog.outl(table(columns, map(_item, _published_of(paper))))


def claims_of(paper: str) -> None:
    """Write the claims of a paper's text with their verdicts, by section, and the meanings of all verdicts on it."""
    once: dict[Any, tuple[str, ...]] = {}
    for name in _published_of(paper):
        described, sections = _sections(name)
        found = claims.judged(published(name), described.printed, _numbered(sections))
        for section, verdict, here, compared, quotation in found:
            row = (section, f'"{quotation}"', f"`{name}`", compared, here.text, verdict)
            once.setdefault(row[:2] + row[3:] if verdict == "not run" else row, row)
    columns = ("section", "the paper", "experiment", "measured", "here", "verdict")
    ordered = sorted(once.values(), key=lambda row: row[0])
    cog.outl(table(columns, ordered))
    of_tables = chain.from_iterable(map(_verdicts, _published_of(paper)))
    cog.outl("\n{}\n".format(*explained("Verdicts.", [*(row[-1] for row in ordered), *of_tables])))


def _published_of(paper: str) -> list[str]:
    """Return the published experiments of a paper."""
    return sorted(path.stem for path in (PUBLISHED / paper / "records").glob("*.parquet"))


def _numbered(sections: Sequence[Section]) -> list[Sheet]:
    """Return all tables except that of the claims."""
    return [sheet for section in sections for sheet in section.sheets if sheet.title != claims.TITLE]


@functools.cache
def _sections(name: str) -> tuple[Experiment, list[Section]]:
    """Return an experiment, and what its records show."""
    described = load_experiment(name)
    return described, sections_of(described, published(name))


def _verdicts(name: str) -> list[str]:
    """Return the verdicts in the tables of an experiment, without those on claims."""
    sheets = _numbered(_sections(name)[1])
    columns = (pair for sheet in sheets for pair in zip(sheet.columns, sheet.by_column, strict=True))
    return [str(cell) for head, cells in columns if head.startswith("verdict") for cell in cells]


def _item(name: str) -> tuple[str, ...]:
    described, stored = _sections(name)[0], published(name)
    repeats = notes(stored)[0].removeprefix("As run: ").partition(";")[0]
    repeats += f", {counted(stored['dataset'].n_unique(), 'data set')}"
    if (seeds := stored["dataset_params"].str.json_path_match("$.seed").drop_nulls().n_unique()) > 1:
        repeats += f", drawn {seeds} times"
    stand_in = ", stand-in" if all(is_stand_in(described.printed, one) for one in stored["dataset"].unique()) else ""
    return described.paper.partition("), ")[2], f"`{name}`", repeats + stand_in, tally(_verdicts(name)) or "-"


def _npbench(words: Sequence[str], folder: str) -> tuple[int, str, str]:
    """Run a command line in this process, which saves seconds: its exit code, output and errors."""
    output, errors = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), contextlib.chdir(folder):
        try:
            cli.main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    return code, output.getvalue(), errors.getvalue()


def session(*arguments: str) -> None:
    """Write a command, its output in an empty folder and its exit code if it is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        code, output, errors = _npbench(arguments, folder)
    lines = [f"$ npbench {' '.join(arguments)}", *(output + errors).splitlines()]
    if code:
        lines += ["$ echo $?", str(code)]
    block("console", "\n".join(line.rstrip() for line in lines))


def printed() -> None:
    """Write the output of the last Python block above, after running all blocks of the page in order."""
    block("text", _run_above()[0][-1])


def command(line: str, until: str = "\0") -> None:
    """Write the output of a command up to a text, after running all Python blocks above in the same folder."""
    _, folder = _run_above()
    _, output, _ = _npbench(shlex.split(line)[1:], folder)
    block("text", output.partition(until)[0])


def _run_above() -> tuple[list[str], str]:
    """Run all Python blocks above in order, each once; return what they printed, and the folder of the page."""
    above = "\n".join(Path(cog.inFile).read_text(encoding="utf-8").splitlines()[: cog.firstLineNum])
    blocks = re.findall(r"^```python\n(.*?)^```$", above, re.MULTILINE | re.DOTALL)
    done, names, folder = _SESSIONS.setdefault(cog.inFile, ([], {}, tempfile.TemporaryDirectory()))
    for code in blocks[len(done) :]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.chdir(folder.name):
            exec(code, names)
        done.append(output.getvalue())
    return done, folder.name


def solvers(folder: str) -> None:
    """Write the problems and their solvers, linked to their pages below ``folder``."""
    rows = []
    for problem, described in PROBLEMS.items():
        names = sorted(name for name, one in registry.installed().solvers.items() if problem in one.solves)
        links = ", ".join(f"[`{name}`]({folder}{name.replace('_', '-')}.md)" for name in names)
        rows.append((f"`{problem}`", described.title, links))
    cog.outl(table(("problem", "", "solved by"), rows))


def citation() -> None:
    """Write CITATION.cff as BibTeX."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in cited["authors"])
    fields = {"author": authors, "title": f"{cited['title']}: {cited['abstract'].rstrip('.')}"}
    lines = [f"  {name} = {{{value}}}" for name, value in {**fields, "version": cited["version"]}.items()]
    block("bibtex", "@software{npbench,\n" + ",\n".join(lines) + "\n}")


def benchmark(name: str, first: int) -> None:
    """Write the protocol, and where the first methods of each league stand at each bound."""
    stored = asked(name)
    lost = len(stored) - len(stored.filter(status="ok"))
    answers = f"{lost} of {len(stored)} jobs have no answer" if lost else f"All {len(stored)} jobs have an answer"
    cog.outl(f"\n{protocols(stored)} {answers}.")
    _leagues(stored, first)


def beside(name: str, other: str, *methods: str) -> None:
    """Write where the methods of a published run stand, and some of a benchmark on the same splits."""
    own, split = published(name), ["dataset", "repeat", "split_sha256", "problem_params"]
    same = published(other).join(own, on=split, how="semi")
    same = same.filter(method_labels(same).is_in(methods))
    _leagues(pl.concat([own, same]), first=len(own))


def _leagues(stored: pl.DataFrame, first: int) -> None:
    for setting in settings(stored):
        for league in setting.leagues:
            sheet = ranked(setting.text, league, setting.records)
            cut = f", the first {first} of {len(sheet.rows)}" if first < len(sheet.rows) else ""
            cog.outl(f"\n{counted(len(league.datasets), 'data set')}, `{setting.text}`{league.title}{cut}:")
            cog.outl(table(sheet.columns, sheet.texts[:first]))
            cog.outl(" ".join(note for note in sheet.notes[1:] if note not in (RATE_NOTE, *RANK_NOTES)))
    cog.outl(f"\n{processors(stored)}\n")


def use(drawn: str, *names: str) -> None:
    """Write how much of published benchmarks has run, and what to use when, by them and with large drawn sets."""
    each = [(name, asked(name)) for name in names]
    ran = (
        f"`{name}` on {counted(one['dataset'].n_unique(), 'data set')}, {measured.splits(one)} of each"
        for name, one in each
    )
    cog.outl(f"\nBy {'; '.join(ran)}:\n")
    first, *others = (advice(one, "`{}`".format) for _, one in each)
    found = [*first, [measured.packages()], *chain.from_iterable(others)]
    stored, known = published(drawn), separable(settings(each[0][1]))
    firsts = {league.standings[0].label.split()[0] for one in known for league in one.leagues if league.standings}
    untried = ", ".join(f"`{method}`" for method in sorted(firsts - {*stored["method"]}))
    found += large(stored, "`{}`".format)
    found[-1] += [f"The data sets are simulated, {measured.splits(stored)} of each."]
    found[-1] += [f"Not tried there: {untried}."] if untried else []
    for head, *_ in found:
        cog.outl("- **{}**: {}".format(*head.split(": ", 1)))
    cog.outl("\nMore on these lines:\n")
    for head, *more in found:
        if more:
            cog.outl(f"- **{head.split(': ', 1)[0]}**: {' '.join(more)}")
    cog.outl()


def carries(name: str) -> None:
    """Write how far the ranking of a benchmark carries."""
    cog.outl(f"\n{reach(asked(name))}\n")


def kinds(name: str, *promises: str) -> None:
    """Write the first method with each promise by kind of data set, its misses and how many share the place."""
    rows = []
    for kind in ("few", "many", "saturated", "others", "weak"):
        for setting in settings(asked(name)):
            datasets = setting.kinds()[kind]
            if len(datasets) >= MIN_VALUES:
                of = {league.promise: _first(league) for league in setting.among(datasets)}
                rows.append((kind, setting.value, str(len(datasets)), *(of.get(one, "-") for one in promises)))
    cog.outl(table(("kind", "rho", "data sets", *promises), rows))


def _first(league: League) -> str:
    if not league.standings:
        return "-"
    first, n = league.standings[0], len(sharing(league))
    return f"`{first.label}` {first.p_nd:.2f}" + (f", one of {n}" if n > 1 else "")


def crossed(bounds: Sequence[str], names: Sequence[str], scorers: Sequence[str] = (), n_tables: int = 2) -> None:
    """Write scorers by thresholds of benchmarks, all or some, what thresholds change, and each note once."""
    said = set[str]()
    by_bound = {setting.text: setting for setting in settings(measured.on_same_splits(*names))}
    for bound in bounds:
        results = by_bound[bound].results
        if scorers:
            results = measured.of_scorers(results, scorers)
        for sheet in list(crossing(bound, results))[:n_tables]:
            notes = "\n".join(note for note in sheet.notes if note not in said)
            said.update(sheet.notes)
            cog.outl(f"\n{sheet.title}:\n{table(sheet.columns, sheet.texts)}\n{notes}\n")
