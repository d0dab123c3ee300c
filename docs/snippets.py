"""Generated parts of README and docs, for cog: `cog -r -I docs README.md docs/*.md`."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import cog  # type: ignore[import-not-found]  # given by cogapp while it runs
import docstrings
import polars as pl
import yaml
from rich.console import Console

from npbench import contracts, registry
from npbench.commands.summary import print_summary
from npbench.problem import PROBLEMS
from npbench.records.store import RecordStore
from npbench.report.render import terminal
from npbench.report.select.collect import collect

ROOT = Path(__file__).parents[1]
PUBLISHED = Path("results/published/records")
TUTORIAL = Path("results/published/tutorial")
SCALE = ROOT / "results" / "published" / "scale.json"
RATES_ONLY = "\nchosen parameters"  # where the table of rates ends in a summary
# Output of the Python blocks of each page so far, and the names that the blocks share.
_SESSIONS: dict[str, tuple[list[str], dict[str, Any]]] = {}


def fenced(language: str, text: str) -> None:
    """Write a fenced block, with blank lines around it as Markdown asks after a comment."""
    cog.outl(docstrings.fenced(language, text))


def source(path: str) -> None:
    """Write a file of the repository, verbatim."""
    language = {".py": "python", ".toml": "toml", ".yaml": "yaml"}[Path(path).suffix]
    fenced(language, (ROOT / path).read_text(encoding="utf-8"))


def published_table() -> None:
    """Write the rates of the published records, as a run prints them."""
    _summary(RecordStore(ROOT / PUBLISHED).frame(), RATES_ONLY)


def default_run() -> None:
    """Write the rates that `npbench` without settings prints: five repeats of the tutorial's sweep."""
    frame = RecordStore(ROOT / TUTORIAL / "records").frame()
    _summary(frame.filter(pl.col("repeat") < 5, solver="np_svm", rho=0.05), RATES_ONLY)


def tutorial(*solvers: str, until: str = "") -> None:
    """Write the summary of some solvers in the tutorials' published records, as a run prints it."""
    frame = RecordStore(ROOT / TUTORIAL / "records").frame()
    _summary(frame.filter(pl.col("solver").is_in(solvers)), until)


def _summary(frame: pl.DataFrame, until: str) -> None:
    console = _console()
    print_summary(frame, planned=len(frame), skipped=0, folder=Path("results/records"), console=console)
    text = _printed(console)
    fenced("text", f"{(text.split(until)[0] if until else text).rstrip()}\n{processors(frame)}")


def processors(records: pl.DataFrame) -> str:
    """Return on which processors records were made."""
    return f"On {', '.join(records['cpu'].drop_nulls().unique().sort())}."


def _console() -> Console:
    return Console(file=io.StringIO(), width=100)


def _printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r" +$", "", console.file.getvalue(), flags=re.MULTILINE)


def report(part: str, paper: str, table: str = "", **filters: str) -> None:
    """Write a section of the report on a paper's published records, or only one of its tables."""
    records = collect([ROOT / "results" / "published" / paper], filters).records
    console = _console()
    for section in contracts.resolve(f"npbench.report.sections.{part}:sections")(records):
        shown = [sheet for sheet in section.sheets if sheet.title.startswith(table)]
        title, notes = ("", []) if table else (section.title, section.notes)
        terminal.show([dataclasses.replace(section, title=title, notes=notes, sheets=shown)], console)
    fenced("text", f"{_printed(console)}{processors(records)}")


def session(*arguments: str) -> None:
    """Write a command, its output in an empty folder and its exit code if it is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-m", "npbench", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "COLUMNS": "100"},
        )
    lines = ["$ npbench " + " ".join(arguments), *(run.stdout + run.stderr).splitlines()]
    if run.returncode:
        lines += ["$ echo $?", str(run.returncode)]
    fenced("console", "\n".join(line.rstrip() for line in lines))


def printed() -> None:
    """Write the output of the last Python block above, after running all blocks of the page in order."""
    above = "\n".join(Path(cog.inFile).read_text(encoding="utf-8").splitlines()[: cog.firstLineNum])
    blocks = re.findall(r"^```python\n(.*?)^```$", above, re.MULTILINE | re.DOTALL)
    done, names = _SESSIONS.setdefault(cog.inFile, ([], {}))
    for block in blocks[len(done) :]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            exec(block, names)
        done.append(output.getvalue())
    fenced("text", done[-1])


def solvers(folder: str) -> None:
    """Write the problems and their solvers, linked to their pages below ``folder``."""
    found = registry.installed().solvers
    cog.outl("\n| problem | | solved by |\n|---|---|---|")
    for name, problem in PROBLEMS.items():
        pages = {solver: f"{solver.replace('_', '-')}.md" for solver in sorted(found) if name in found[solver].solves}
        links = ", ".join(f"[`{solver}`]({folder}{page})" for solver, page in pages.items())
        cog.outl(f"| `{name}` | {problem.title} | {links} |")
    cog.outl("")


def scale() -> None:
    """Write seconds, memory, number and size of files of commands with many jobs."""
    rows = json.loads(SCALE.read_text())
    titles = {
        "plan repeats": "`npbench plan`, repeats of one request",
        "plan combinations": "`npbench plan -m`, 1000 repeats of each combination",
        "again": "the same command, all done: reads records, prints table",
        "plan again": "`npbench plan`, all done",
    }
    counts = sorted({row["jobs"] for row in rows if row["what"] in titles})
    cog.outl("\n| jobs | " + " | ".join(f"{n:,}" for n in counts) + " |\n|---" + "|---:" * len(counts) + "|")
    for what, title in titles.items():
        of_one = {row["jobs"]: row for row in rows if row["what"] == what}
        cells = [f"{of_one[n]['seconds']:.1f} s, {of_one[n]['mb']:,.0f} MB" for n in counts]
        cog.outl(f"| {title} | {' | '.join(cells)} |")
    stored = {row["jobs"]: row for row in rows if row["what"] == "again"}
    cog.outl("| files at the end | " + " | ".join(f"{stored[n]['files']:,}" for n in counts) + " |")
    cog.outl("| their size | " + " | ".join(f"{stored[n]['size_mb']:,.1f} MB" for n in counts) + " |")
    cog.outl("")


def overhead() -> None:
    """Write the costs of a job that does nothing."""
    (row,) = (row for row in json.loads(SCALE.read_text()) if row["what"] == "run")
    hours = row["ms"] * 1e6 / 3.6e6
    cells = {
        f"time per job, mean over {row['jobs']:,} in one worker": f"{row['ms']:.1f} ms",
        "load average at the start": f"{row['load']:.1f}",
        "of which CPU time of the parent": f"{row['parent_ms']:.1f} ms",
        "1,000,000 jobs, extrapolated": f"{hours:.1f} h",
        "memory of the parent before its 1,000th job": f"{row['parent_mb']:.0f} MB",
        f"memory of the parent before its {row['jobs']:,}th job": f"{row['parent_mb_end']:.0f} MB",
        "a record in a file of its own": f"{row['single_bytes'] / 1e3:.0f} kB",
        "a record in a merged file of 1000": f"{row['merged_bytes'] / 1e3:.2f} kB",
    }
    cog.outl("\n| a job that does nothing | |\n|---|---:|")
    for title, cell in cells.items():
        cog.outl(f"| {title} | {cell} |")
    cog.outl("")


def citation() -> None:
    """Write CITATION.cff as BibTeX."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in cited["authors"])
    lines = [f"  author = {{{authors}}}", f"  title = {{{cited['title']}: {cited['abstract'].rstrip('.')}}}"]
    fenced("bibtex", "@software{npbench,\n" + ",\n".join([*lines, f"  version = {{{cited['version']}}}"]) + "\n}")


def estimators() -> None:
    """Write class, problems and tags of every solver, linked to its page."""
    cog.outl("\n| solver | class | problem | tags |\n|---|---|---|---|")
    for name, solver in sorted(registry.installed().solvers.items()):
        module, _, kind = solver.estimator.partition(":")
        page = f"{name.replace('_', '-')}.md#parameters"
        tags = ", ".join(sorted(solver.tags))
        cog.outl(f"| [`{name}`]({page}) | `{module}.{kind}` | {', '.join(solver.solves)} | {tags} |")
    cog.outl("")
