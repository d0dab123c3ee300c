"""Tables and figure of an experiment, and the places of a run's solvers among stored ones, from records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from npbench.contracts import resolve
from npbench.report.render.drawing import own_style
from npbench.report.section import Section
from npbench.report.sections import overview
from npbench.report.select import recorded_settings
from npbench.report.select.asked import rivals, stored_records
from npbench.report.select.data_names import with_data_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from npbench.config.experiment import Experiment


def sections(experiment: Experiment, records: pl.DataFrame) -> list[Section]:
    """Return the tables of an experiment as a section, or the ordinary tables if it defines none."""
    notes = [*filter(None, (experiment.paper, experiment.note)), *recorded_settings.notes(records)]
    if not experiment.table:
        return [Section(experiment.title, notes=notes), *overview.sections(records)]
    sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    # The part of a title before the colon names the files.
    named = [replace(one, name=one.name or f"{experiment.name} {one.title.partition(':')[0]}") for one in sheets]
    charts = resolve(experiment.charts)(records, experiment.printed, **experiment.options) if experiment.charts else []
    return [Section(experiment.title, named, charts, notes=notes)]


def figure(experiment: Experiment, records: pl.DataFrame) -> Figure:
    """Return the figure of an experiment that has one."""
    assert experiment.figure is not None
    with own_style():
        drawn: Figure = resolve(experiment.figure)(records, experiment.printed, **experiment.options)
    return drawn


def places(experiment: Experiment, records: pl.DataFrame, results: Path) -> list[Section]:
    """Return the places of a run's solvers among stored and published ones, as a section; none without others."""
    if not experiment.places:
        return []
    others = rivals(records, stored_records(results))
    if others.is_empty():
        return []
    both = with_data_names(pl.concat([records, others], how="diagonal_relaxed"))
    return [Section("Places", resolve(experiment.places)(both, records["key"].to_list(), **experiment.options))]
