"""Hooks of npbench.

A plugin is a package with an entry point in the group ``npbench`` that names a module. The module implements any of
these hooks with ``@npbench.hookimpl``. Shipped methods register in the same way.
"""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import pluggy

from npbench.contracts import Dataset, Metric, Solver

hookspec = pluggy.HookspecMarker("npbench")
hookimpl = pluggy.HookimplMarker("npbench")
P = ParamSpec("P")


def _of_one(solver: Callable[P, Solver]) -> Callable[P, Callable[[], list[Solver]]]:
    def hook(*args: P.args, **description: P.kwargs) -> Callable[[], list[Solver]]:
        return hookimpl(lambda: [solver(*args, **description)])

    return hook


# The hook ``npbench_solvers`` of a plugin with a single solver, from the parameters of its description.
one_solver = _of_one(Solver)


@hookspec
def npbench_solvers() -> list[Solver]:  # type: ignore[empty-body]
    """Describe the solvers this plugin provides."""


@hookspec
def npbench_datasets() -> list[Dataset]:  # type: ignore[empty-body]
    """Describe the data sets this plugin provides."""


@hookspec
def npbench_metrics() -> list[Metric]:  # type: ignore[empty-body]
    """Describe the metrics this plugin provides."""


@hookspec
def npbench_config_packages() -> list[str]:  # type: ignore[empty-body]
    """Name packages with Hydra configuration. Deprecated since 0.2: ``conf`` beside the plugin's module is found."""


@hookspec
def npbench_commands() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Name the module of each command, as in ``{"verify": "npbench_benchmark.board.verify"}``.

    The module's function ``run`` takes the words after the command and returns an exit code.
    """


@hookspec
def npbench_executors() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Name the function that runs the jobs for each value of ``execution=``, as in ``{"slurm": "module:function"}``.

    It takes jobs, limits and a context, and yields the record of each job as it ends. Its other parameters are
    settings, ``execution.<parameter>``.
    """


@hookspec
def npbench_launchers() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Name the class that launches runs by the settings below a key, as in ``{"hydra": "module:Class"}``.

    Its objects implement :class:`npbench.config.command_line.Launch`. The only such key is ``hydra``.
    """


@hookspec
def npbench_run_started(run: Mapping[str, Any]) -> None:
    """Observe the start of a run: its ``run_id``, ``command``, ``configs``, number of ``jobs``, and machine."""


@hookspec
def npbench_job_finished(record: Mapping[str, Any]) -> None:
    """Observe a job's record after it is stored, in the process of the command."""
