"""``npbench report --experiment``: the tables of an experiment from stored records, in every format."""

import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from npbench.config.command_line import Requested, parse, requested
from npbench.config.experiment import split_off
from npbench.config.words import as_text
from npbench.console import status
from npbench.errors import RequestError
from npbench.records.files import RECORDS
from npbench.report.assemble import lead
from npbench.report.render.drawing import Drawings
from npbench.report.sections import environment, failures
from npbench.report.sections.experiment import figure, places, sections, with_rivals
from npbench.report.select.asked import answers, fullest_folder, missing_jobs, rivals, settings_of_jobs
from npbench.report.select.collect import Collection, measured, sources
from npbench.report.select.methods import named
from npbench.report.select.precedence import read_by_precedence
from npbench.report.sheet import Section
from npbench.values import listed

MAX_LISTED = 5  # solvers on data sets in one sentence
Made = tuple[list[Section], Collection, Drawings, Path]


def report(name: str, words: Sequence[str]) -> Made:
    """Return the sections of an experiment's report, their records, its drawings, and the folder to write it to.

    Words without ``=`` are folders; their records of other methods on the same tasks are added. In a ranking, solvers
    that are named are shown among the stored and published ones.
    """
    odd = [word for word in words if "=" in word and Path(word).exists()]
    options = parse([*(word for word in words if word not in odd), f"+experiment={name}"])
    others = [Path(word) for word in options.overrides if "=" not in word and not word.startswith("~")]
    options.overrides = [word for word in options.overrides if Path(word) not in others]
    others += map(Path, odd)
    asked = requested(options)  # with a status of its own
    with status("Reading records") as shown:
        return _report(name, options, asked, others, shown.update)


def _report(
    name: str, options: Namespace, asked: Requested, others: Sequence[Path], on_progress: Callable[[str], None]
) -> Made:
    experiment, jobs, results = asked.experiment, settings_of_jobs(asked.requests), asked.settings.results
    assert experiment is not None
    folder, faults = results / RECORDS, list[str]()
    frame = answers(name, jobs, folder, faults.append)
    flags = ["--config-dir", shlex.quote(options.config_dir)] if options.config_dir else []
    words = [f"+experiment={name}", *split_off(options.overrides)[1]]
    asked_for = " ".join([*flags, *map(as_text, words)])
    if frame.is_empty():
        fullest, n = fullest_folder(jobs, results)
        elsewhere = as_text(f"results={fullest or '...'}") + (f" ({n} of {len(jobs)} jobs)" if fullest else "")
        hint = f"run npbench {asked_for}, or name another folder with {elsewhere}"
        raise RequestError(f"There are no records of {name} in {folder}: {hint}", *faults)
    if len(missing := missing_jobs(jobs, frame)):
        counts = named(missing).group_by("method", "dataset").len().sort(pl.all())
        shown = listed([f"{method} on {dataset}: {n}" for method, dataset, n in counts.rows()], MAX_LISTED)
        faults.append(f"{len(missing)} of {len(jobs)} jobs have no record yet: run npbench {asked_for} ({shown})")
        faults.append(f"Records of other code, data or versions would run again: see `npbench plan {asked_for}`.")
    own = frame["key"].to_list()
    if any(word.startswith("solver=") for word in options.overrides):
        frame = with_rivals(experiment, frame, results)
    if others:
        added = read_by_precedence([folder, *sources(others, faults.append)], faults.append)
        frame = pl.concat([frame, rivals(frame, added)], how="diagonal_relaxed")
    records = measured(named(frame))
    collection = Collection(records, faults)
    on_progress("Making tables")
    made = [*places(experiment, records, own), *sections(experiment, records), lead(collection)]
    if 2 * len(missing) > len(jobs):
        made.insert(0, Section("Incomplete", notes=[f"{len(missing)} of {len(jobs)} jobs are missing."]))
    made += [*failures.sections(records, is_ranking=bool(experiment.places)), *environment.sections(records)]
    drawings = {name: partial(figure, experiment, records)} if experiment.figure else {}
    return made, collection, drawings, results / "report" / name
