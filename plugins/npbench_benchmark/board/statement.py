"""What a submission states about its method, in a file beside its records."""

import json
from pathlib import Path

from npbench.records.files import SUBMISSIONS
from npbench.report.escape import is_file_name
from npbench.report.select.asked import IN_CHECKOUT, IN_WHEEL
from npbench_benchmark.formats import validate

FILE, FORMAT = "submission.json", "npbench submission 1"  # of npbench_benchmark/formats/submission-1.json


def write(folder: Path, *, tuned_on_suite: bool) -> None:
    """Write the statement of a submission."""
    text = json.dumps({"format": FORMAT, "tuned_on_suite": tuned_on_suite}, indent=1)
    (folder / FILE).write_text(f"{text}\n", encoding="utf-8")


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the statement of a submission."""
    example = json.dumps({"format": FORMAT, "tuned_on_suite": False})
    return [f"{FILE}: {fault}: expected {example}, or true" for fault in validate.faults("submission", folder / FILE)]


def is_tuned(solver: str) -> bool | None:
    """Return whether the submission of a solver was tuned on the suite; None if no submission states it."""
    for results in (IN_WHEEL, IN_CHECKOUT, Path("results")) if is_file_name(solver) else ():
        folder = results / SUBMISSIONS / solver
        if (folder / FILE).is_file() and not faults(folder):
            return bool(json.loads((folder / FILE).read_text(encoding="utf-8"))["tuned_on_suite"])
    return None
