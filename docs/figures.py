"""Draw the figures of README and docs from published records and from formulas: `python docs/figures.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import history
import numpy as np
import paper_pictures
import polars as pl
from experiments import load_experiment
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from npbench.commands import experiment
from npbench.numerics.np_roc import NPROC, np_roc
from npbench.records.reading import conformed
from npbench.records.store import RecordStore
from npbench.report.render import drawing
from npbench.report.render.palette import BLUE, VERMILION, Palette
from npbench_papers.bach import asymmetry_figures as asymmetry
from npbench_papers.gasso import rates
from npbench_papers.gasso.speedup import GROUP_COLUMNS
from npbench_papers.guarantee.np_roc_chart import chart

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results" / "published" / "records"
IMAGES = ROOT / "docs" / "img"
FIGURE = IMAGES / "rates.png"
EXPERIMENTS = (
    "bach_figure4",
    "barlaud_figure3",
    "barlaud_figure4",
    "barlaud_figures5_7",
    "barlaud_figures8_10_like",
    "davenport_surfaces",
    "gasso_figure3",
    "gasso_figure4",
    "gasso_figure4_full",
    "gasso_figure5",
    "gasso_figure5_full",
    "guarantee",
    "narasimhan_figure4_like",
    "narasimhan_figure5_like",
    "narasimhan_figure7",
    "narasimhan_figures8_9",
    "narasimhan_learning_curves",
    "narasimhan_table4",
    "tutorial_comparison",
)
# Columns that a figure needs beside the usual ones.
FURTHER = {
    "gasso_figure3": ("seed", "surrogate_p_nd", "surrogate_p_fa"),  # where a search from a random start ends
    "guarantee": ("n_samples", "n_positive"),
    "narasimhan_figures8_9": ("n_iter", "solver_status"),
}
AREAS = ("pauc", "select_cpu_seconds", "fit_cpu_seconds")  # only in records of partial AUC


def bands() -> dict[str, NPROC]:
    """Return the NP-ROC bands of scores N(0, 1) and N(2, 1) from 100 and from 1000 samples of each class."""
    random = np.random.default_rng(0)
    return {f"{n} of each class": np_roc(random.normal(size=n), random.normal(2, size=n)) for n in (100, 1000)}


OPPOSITE = {name: asymmetry.PAIRS[name] for name in ("-6", "3")}
# Figures made from formulas: how to draw each one, and a table of its data.
THEORY: dict[str, tuple[Callable[[], Figure], Callable[[], pl.DataFrame]]] = {
    "asymmetry_square": (
        lambda: asymmetry.against_training(asymmetry.PAIRS, "square"),
        lambda: asymmetry.curves(asymmetry.PAIRS, "square"),
    ),
    "asymmetry_erf": (
        lambda: asymmetry.against_training(asymmetry.PAIRS, "erf"),
        lambda: asymmetry.curves(asymmetry.PAIRS, "erf"),
    ),
    "asymmetry_corner": (
        lambda: asymmetry.corner(OPPOSITE, "square", rate=0.2),
        lambda: asymmetry.curves(OPPOSITE, "square"),
    ),
    "asymmetry_roc": (
        lambda: asymmetry.by_intercept_and_asymmetry(asymmetry.HUMPS, "hinge"),
        lambda: asymmetry.three_curves(asymmetry.HUMPS, "hinge"),
    ),
    "losses": (paper_pictures.draw_losses, paper_pictures.losses),
    "bach_figures2_3": (paper_pictures.draw_asymmetry, paper_pictures.asymmetry),
    "barlaud_figure2": (paper_pictures.draw_projection, paper_pictures.projection),
    "narasimhan_figures1_3": (paper_pictures.draw_areas, paper_pictures.areas),
    "speed_history": (history.draw, history.past),
    "np_roc": (
        lambda: drawing.draw(chart(bands(), most=0.3), Palette(bands())),
        lambda: pl.concat([pl.DataFrame(curve.bands()._asdict()) for curve in bands().values()]),
    ),
}

LOOKS: dict[str, dict[str, Any]] = {
    "p_nd": {"color": BLUE, "marker": "o"},
    "p_fa": {"color": VERMILION, "marker": "s"},
}
TITLES = {"p_nd": "misses $P_{nd}$", "p_fa": "false alarms $P_{fa}$"}


def published() -> pl.DataFrame:
    """Return the rates of the run in the README, one row for each repeat."""
    frame = RecordStore(RECORDS).frame().filter(status="ok", solver="np_svm")
    return frame.select("dataset", "rho", "repeat", "p_fa", "p_nd").sort("dataset", "rho", "repeat")


def of_experiment(name: str) -> pl.DataFrame:
    """Return the published records of an experiment, with the columns that its figure needs."""
    (path,) = (ROOT / "results" / "published").glob(f"*/records/{name}.parquet")
    frame = conformed(pl.read_parquet(path))
    shown = ["solver", "params", "search", "status", "p_fa", "p_nd", "select_seconds", "fit_seconds", *GROUP_COLUMNS]
    # Figures of a search show its course and its end.
    course = [] if frame["trace"].is_null().all() else ["key", "chosen_params", "trace"]
    areas = AREAS if "pauc" in frame.columns else ()
    names = dict.fromkeys([*shown, *course, "repeat", "rho", "asymmetry", *FURTHER.get(name, ()), *areas])
    return frame.select(column for column in names if column in frame.columns).sort(pl.all())


def of_records(name: str, records: pl.DataFrame) -> Figure:
    """Return the figure of an experiment, as ``npbench report --experiment`` draws it."""
    if name.startswith("tutorial"):
        return rates.plot(records, [])
    return experiment.figure(load_experiment(name), records)


def digest(frame: pl.DataFrame, decimals: int = 6) -> str:
    """Return a hash of the data of a figure, stored in its image to detect outdated figures."""
    return f"records {hashlib.sha256(frame.write_csv(float_precision=decimals).encode()).hexdigest()}"


def digest_of_theory(name: str) -> str:
    """Return the hash for a figure made from formulas, rounded because the last digits depend on the machine."""
    return digest(THEORY[name][1](), decimals=3)


def draw(frame: pl.DataFrame) -> Figure:
    """Draw test rates against the bound on false alarms, one column for each data set."""
    datasets = frame["dataset"].unique().sort().to_list()
    figure = Figure(figsize=(4.0 * len(datasets), 5.0), layout="constrained")
    rows = figure.subplots(len(LOOKS), len(datasets), sharex=True, sharey="row", squeeze=False)
    for rate, row in zip(LOOKS, rows, strict=True):
        for dataset, axes in zip(datasets, row, strict=True):
            _panel(axes, frame.filter(dataset=dataset), rate)
        row[0].set_ylabel(TITLES[rate])
        row[0].set_ylim(bottom=0)
    for dataset, top, bottom in zip(datasets, rows[0], rows[-1], strict=True):
        top.set_title(dataset)
        bottom.set_xlabel(r"bound on false alarms $\rho$")
    rows[-1][0].legend(frameon=False)
    return figure


def _panel(axes: Axes, frame: pl.DataFrame, rate: str) -> None:
    look, bounds = LOOKS[rate], frame["rho"].unique().sort().to_list()
    mean = frame.group_by("rho").agg(pl.col(rate).mean()).sort("rho")
    axes.plot(frame["rho"], frame[rate], linestyle="", **look, alpha=0.3, markersize=4, label="a repeat")
    axes.plot(mean["rho"], mean[rate], **look, linewidth=1.5, markersize=6.5, label="mean of the repeats")
    if rate == "p_fa":
        curve = np.geomspace(bounds[0], bounds[-1])
        axes.plot(curve, curve, color="black", linestyle="--", linewidth=1.2, label=r"bound $\rho$")
    axes.set_xscale("log")
    axes.set_xticks(bounds, [f"{bound:g}" for bound in bounds])
    axes.minorticks_off()
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    shown = published()
    IMAGES.mkdir(exist_ok=True)
    draw(shown).savefig(FIGURE, dpi=150, metadata={"Description": digest(shown)})
    for name in EXPERIMENTS:
        records = of_experiment(name)
        drawn = of_records(name, records)
        drawn.savefig(IMAGES / f"{name}.png", dpi=110, metadata={"Description": digest(records)})
    for name, (plot_theory, _) in THEORY.items():
        plot_theory().savefig(IMAGES / f"{name}.png", dpi=110, metadata={"Description": digest_of_theory(name)})
