"""Checks of anyone's plugin: what npbench relies on, as plain functions, with and without pytest.

``check_solver``, ``check_dataset`` and ``check_metric`` return the checks of a description. In a plugin's tests::

    @pytest.mark.parametrize("check", check_solver("centroid"), ids=str)
    def test_solver(check):
        check()

``npbench check solver centroid`` prints the same, a line for each. Names are imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npbench.testing.check import Check
    from npbench.testing.datasets import check_dataset
    from npbench.testing.metrics import check_metric
    from npbench.testing.solvers import check_solver

__all__ = ["Check", "check_dataset", "check_metric", "check_solver"]

_MODULES = {"Check": "check", "check_dataset": "datasets", "check_metric": "metrics", "check_solver": "solvers"}


if not TYPE_CHECKING:  # type checkers refuse a name that is not imported above

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
