"""``npbench fit``: a solver with its preprocessing and a guaranteed threshold, fitted on all data and saved."""

import importlib.util
import pickle
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from npbench import session
from npbench.console import write
from npbench.errors import Exit, RequestError
from npbench.numerics.thresholds import RULES
from npbench.report.select.data_names import data_name
from npbench.thresholding.commands.final_model import final_model, winner

SUFFIXES = (".skops", ".pkl")


def run(words: Sequence[str]) -> Exit:
    """Fit the requested solver, or the best of several by their records, and save it with its promise."""
    options, settings = _parser().parse_known_args(list(words) or ["--help"])
    _require_writable(options.save)
    asked = session.ask(settings)
    chosen = asked.requests[0] if len(asked.requests) == 1 else winner(asked.requests, asked.settings)
    model = final_model(chosen, delta=options.delta, rule=options.rule)
    file = repr(str(options.save))
    if options.save.suffix == ".skops":
        from skops import io  # optional

        io.dump(model, options.save)
        lines = "from skops import io", f"model = io.load({file}, trusted=io.get_untrusted_types(file={file}))"
    else:
        options.save.write_bytes(pickle.dumps(model))
        lines = "import joblib", f"model = joblib.load({file})"
    console = Console()
    fitted, data = " ".join(str(model.estimator_[-1]).split()), data_name(chosen.dataset.name, chosen.dataset_params)
    write(f"{chosen.columns['method']} on {data}: {fitted}\n{model.result_}", console)
    write(f"Saved in {options.save}; predict returns 1 for positives and -1 for negatives. In Python:", console)
    console.print(*lines, "model.result_  # the promise", sep="\n", markup=False, highlight=False, soft_wrap=True)
    return Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench fit",
        usage="npbench fit [-m] [SETTINGS] --save FILE [--delta D] [--rule RULE]",
        description="Fit a solver on all rows, with its preprocessing and a threshold that keeps problem.rho. At "
        "most half of the negatives are held out for it; parameters are selected on the others. A solver that "
        "sets a threshold itself keeps its settings, such as solver.cv=oob or solver.randomized=true. Several solvers "
        "are compared by the records of the same command without `fit`, and the best is fitted.",
        allow_abbrev=False,
    )
    parser.add_argument("--save", type=Path, required=True, metavar="FILE", help=f"model: {', '.join(SUFFIXES)}")
    parser.add_argument("--delta", type=float, help="probability of a broken promise (default: the solver's, or 0.05)")
    promises = ", ".join(f"{name}: {rule.promise}" for name, rule in RULES.items())
    of_rule = f"rule, with its promise: {promises} (default: the solver's, or umbrella)"
    parser.add_argument("--rule", choices=tuple(RULES), help=of_rule)
    return parser


def _require_writable(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise RequestError(f"--save {path} has the suffix {path.suffix!r}: expected {', '.join(SUFFIXES)}.")
    if path.suffix == ".skops" and importlib.util.find_spec("skops") is None:
        raise RequestError("Saving as .skops needs skops: run pip install 'npbench[skops]', or save as .pkl.")
    if not path.absolute().parent.is_dir():
        raise RequestError(f"--save {path}: the folder does not exist.")
