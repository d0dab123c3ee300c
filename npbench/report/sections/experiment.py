"""Tables and figure of an experiment, and the places of a run's solvers among stored ones, from records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from npbench.contracts import resolve
from npbench.report.chart import Chart
from npbench.report.render.drawing import draw_first, own_style
from npbench.report.sections import overview
from npbench.report.select import recorded_settings
from npbench.report.select.asked import rivals, stored_records
from npbench.report.sheet import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from npbench.config.experiment import Experiment


def sections(experiment: Experiment, records: pl.DataFrame) -> list[Section]:
    """Return the advice and the tables of an experiment as sections, or the ordinary tables if it defines none."""
    notes = [*filter(None, (experiment.paper, experiment.note)), *recorded_settings.notes(records)]
    if not experiment.table:
        return [Section(experiment.title, notes=notes), *overview.sections(records)]
    sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    # The part of a title before the colon names the files, unless another title begins with it.
    heads = [one.title.partition(":")[0] for one in sheets]
    stems = [head if heads.count(head) == 1 else one.title for head, one in zip(heads, sheets, strict=True)]
    pairs = zip(sheets, stems, strict=True)
    named = [replace(one, name=one.name or f"{experiment.name} {stem}") for one, stem in pairs]
    found = [Section(experiment.title, named, _charts(experiment, records), notes=notes)]
    if experiment.advice:
        lines = resolve(experiment.advice)(records, experiment.printed, **experiment.options)
        found.insert(0, Section("What to use when", notes=lines))
    return found


def _charts(experiment: Experiment, records: pl.DataFrame) -> list[Chart]:
    made = resolve(experiment.charts)(records, experiment.printed, **experiment.options) if experiment.charts else []
    return [replace(chart, name=chart.name or experiment.name) for chart in made]


@own_style()
def figure(experiment: Experiment, records: pl.DataFrame) -> Figure:
    """Return the figure of an experiment, or the first of its charts."""
    if experiment.figure is None:
        return draw_first(_charts(experiment, records))
    return resolve(experiment.figure)(records, experiment.printed, **experiment.options)


def with_rivals(experiment: Experiment, records: pl.DataFrame, results: Path) -> pl.DataFrame:
    """Return the records of a run, and those of other solvers on its tasks, stored or published, if they are ranked."""
    if not experiment.places:
        return records
    return pl.concat([records, rivals(records, stored_records(results))], how="diagonal_relaxed")


def places(experiment: Experiment, records: pl.DataFrame, keys: Sequence[str]) -> list[Section]:
    """Return the places of the solvers with these keys among all records, as a section; none without others."""
    if not experiment.places or len(records) == len(keys):
        return []
    return [Section("Places", resolve(experiment.places)(records, keys, **experiment.options))]
