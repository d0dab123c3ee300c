"""Draw the figures of README and docs from published records and from formulas: `python docs/build/pictures.py`."""

import hashlib
import itertools
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import illustrations
import polars as pl
import speed_history
from blocks import published, stored
from matplotlib import pyplot
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from npbench import session
from npbench.config.experiment import Experiment
from npbench.report.render import drawing
from npbench.report.render.palette import COLOURS, MARKERS
from npbench.report.sections import experiment
from npbench_papers.axes import panels, tidy
from npbench_papers.bach import asymmetry_figures as asymmetry
from npbench_papers.gasso import rates
from npbench_papers.narasimhan import ideas

DOCS = Path(__file__).parents[1]
IMAGES = DOCS / "img"
WIDTH = 1200  # pixels of an image
OPPOSITE = {name: asymmetry.PAIRS[name] for name in ("-6", "3")}


def load_experiment(name: str) -> Experiment:
    """Read an experiment by name."""
    found = session.experiment([f"+experiment={name}"])
    assert found is not None
    return found


def past() -> pl.DataFrame:
    """Return CPU seconds of a fit at past commits, which asv measured: ``solver, n, commit, date, seconds``."""
    rows = []
    for (key, name), line in speed_history.courses(speed_history.HISTORY / "two-cores").items():
        if key == "history.Fit.time_fit":
            solver, n = name.removeprefix(key).strip("()").split(", ")
            rows += [(solver, int(n), commit, datetime.fromtimestamp(date / 1000, UTC), s) for date, commit, s in line]
    return pl.DataFrame(rows, ["solver", "n", "commit", "date", "seconds"], orient="row").sort("solver", "n", "date")


def draw_past() -> Figure:
    """Draw the seconds of the largest fits against the date of the commit, a line for each solver."""
    largest = past().filter(pl.col("n") == pl.col("n").max())
    figure, ((axes,),) = panels(1, 1, (7.0, 4.0))
    lines = largest.group_by("solver", maintain_order=True)
    for colour, marker, ((solver,), line) in zip(itertools.cycle(COLOURS), MARKERS, lines, strict=False):
        axes.plot(line["date"], line["seconds"], marker=marker, color=colour, label=solver)
    axes.set(yscale="log", ylabel="CPU seconds of a fit", xlabel="date of the commit")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.xaxis.set_major_formatter(ConciseDateFormatter(AutoDateLocator()))
    tidy(axes)
    return figure


# Figures without records: how to draw each one, how to tabulate its data, and what both are given.
THEORY: dict[str, tuple[Any, ...]] = {
    "asymmetry_square": (asymmetry.against_training, asymmetry.curves, asymmetry.PAIRS, "square"),
    "asymmetry_erf": (asymmetry.against_training, asymmetry.curves, asymmetry.PAIRS, "erf"),
    "asymmetry_corner": (asymmetry.corner, asymmetry.curves, OPPOSITE, "square"),
    "asymmetry_roc": (asymmetry.by_intercept_and_asymmetry, asymmetry.three_curves, asymmetry.HUMPS, "hinge"),
    "losses": (illustrations.draw_losses, illustrations.losses),
    "gasso_figure2": (illustrations.draw_synthetic, illustrations.synthetic),
    "bach_figures2_3": (illustrations.draw_asymmetry, illustrations.asymmetry),
    "barlaud_figure2": (illustrations.draw_projection, illustrations.projection),
    "narasimhan_figures1_3": (ideas.draw_areas, ideas.areas),
    "speed_history": (draw_past, past),
}
RATES = {"rates": "*-merged", "tutorial_comparison": "tutorial_comparison"}  # two runs, and their files


def gallery() -> dict[str, str]:
    """Return the code of each picture that a page shows below its code."""
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("gallery.md", "np-roc.md"))
    code = r"^```python\n((?:(?!```).*\n)*?)```\n\n!\[[^\]]*\]\(img/(\w+)\.png\)"
    blocks = re.findall(code, pages, re.MULTILINE)
    return {name: code for code, name in blocks}


def experiments() -> list[str]:
    """Return the published experiments whose figure a page shows."""
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md")))
    shown = set(re.findall(r"\(img/(\w+)\.png\)", pages))
    return sorted(name for name in shown - set(THEORY) - set(RATES) if stored(name))


def draw(name: str) -> Figure:
    """Return a figure, as ``npbench report --experiment`` draws it."""
    if name in THEORY:
        drawn, _, *of = THEORY[name]
        return drawn(*of)
    if code := gallery().get(name):
        pyplot.close("all")
        exec(code, {})
        return pyplot.gcf()
    if name in RATES:
        records = published(RATES[name])
        shown = records.filter(solver="np_svm") if name == "rates" else records
        return drawing.draw_first(rates.charts(shown, []))
    return experiment.figure(load_experiment(name), published(name))


def digest(name: str) -> str:
    """Return a hash of the data of a figure, stored in its image to detect outdated ones."""
    if code := gallery().get(name):
        return f"data {hashlib.sha256(code.encode()).hexdigest()}"
    # Three digits of what formulas give: the last ones depend on the machine.
    _, data, *of = THEORY.get(name, (None, None))
    parts = (
        [data(*of).write_csv(float_precision=3).encode()]
        if data
        else map(Path.read_bytes, stored(RATES.get(name, name)))
    )
    content = b"".join(parts)
    return f"data {hashlib.sha256(content).hexdigest()}"


def save(figure: Figure, name: str) -> None:
    """Write an image of :data:`WIDTH` pixels; a narrow figure stands in the middle, so that letters are of one size."""
    width, height = figure.get_size_inches()
    margin = max(drawing.TWO_COLUMNS - width, 0) / 2
    frame, dpi = Bbox([[-margin, 0], [width + margin, height]]), WIDTH / (width + 2 * margin)
    figure.savefig(IMAGES / f"{name}.png", dpi=dpi, bbox_inches=frame, metadata={"Description": digest(name)})


if __name__ == "__main__":
    for name in sys.argv[1:] or (*THEORY, *RATES, *gallery(), *experiments()):
        with drawing.own_style():
            save(draw(name), name)
