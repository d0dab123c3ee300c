"""Run combinations under a launcher or sweeper of Hydra: the task of each, and the table of all."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.commands.run import carry_out, describe, records_of, report
from npbench.config.fill import check_all
from npbench.errors import Exit, RequestError
from npbench.records import provenance
from npbench.runner.plan import Plan, prepare
from npbench.runner.run import RUNS

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from npbench.config.command_line import Requested
    from npbench.config.run_settings import RunSettings
    from npbench.evaluation.request import Request

NAN = float("nan")


def run_by_hydra(requested: Requested) -> Exit:
    """Check data and splits, let Hydra launch the combinations, print one table, and return the exit code."""
    from npbench.config.hydra_launch import launch

    what, settings = requested.hydra, requested.settings
    assert what is not None
    task = RunCombination(
        launch_id=str(provenance.facts()["run_id"]),
        words=tuple(requested.words),
        validate=what.adaptive and settings.objective is None,
        starter=os.getpid(),
    )
    plan = _prepared([replace(request, validate=task.validate) for request in requested.requests], settings)
    try:
        launch(what, task)
        all_ended = True
    except KeyboardInterrupt:
        print(f"Interrupted: finished jobs are stored in {settings.results}; rerun to resume.", file=sys.stderr)
        return Exit.INTERRUPTED
    except Exception as error:  # of a task, a launcher or a sweeper; the other combinations have their records
        if os.environ.get("HYDRA_FULL_ERROR", "0") != "0":
            raise
        _print_error(error)
        all_ended = False
    if what.adaptive:
        configs = _launched(requested, task.launch_id)
        if not configs:
            return Exit.FAILED
        plan = _prepared(check_all(configs)[0], replace(settings, force=False))
    ours = records_of(plan, ["run_id"])["run_id"].str.starts_with(task.launch_id)
    code = report(plan, requested, skipped=len(ours) - int(ours.sum()))
    return code if all_ended else Exit.FAILED


def _print_error(error: Exception) -> None:
    faults = error.faults if isinstance(error, RequestError) else [f"{type(error).__name__}: {error}"]
    for fault in faults:
        print(f"npbench: {fault}", file=sys.stderr)


def _launched(requested: Requested, launch_id: str) -> list[Mapping[str, Any]]:
    """Return the configurations that an adaptive sweeper chose, from the descriptions of their runs."""
    paths = sorted((requested.settings.results / RUNS).glob(f"{launch_id}-*.json"))
    return [config for path in paths for config in json.loads(path.read_text(encoding="utf-8"))["configs"]]


def _prepared(requests: Sequence[Request], settings: RunSettings) -> Plan:
    return prepare(requests, settings.results, force=settings.force, trace=settings.trace)


@dataclass(frozen=True)
class RunCombination:
    """Hydra task that runs one combination and returns the number that a sweeper minimises.

    A launcher may send it to another process or machine that shares the results folder.

    Parameters
    ----------
    launch_id : str
        Beginning of the run id of each combination.
    words : sequence of str
        The command line, for the description of the run.
    validate : bool
        Whether the validation loss is needed even where nothing is selected.
    starter : int
        Process that launches; only there, progress is shown.
    """

    launch_id: str
    words: Sequence[str]
    validate: bool
    starter: int

    def __call__(self, config: DictConfig) -> float:
        """Run the jobs without a record of success; return their mean validation loss, or that of a metric.

        NaN if a job failed, or if there is no validation loss.
        """
        from hydra.core.hydra_config import HydraConfig
        from omegaconf import OmegaConf

        from npbench.config.compose import as_plain

        hydra = HydraConfig.get()
        number = 0 if OmegaConf.is_missing(hydra.job, "num") else hydra.job.num
        plain = as_plain(config)
        with contextlib.chdir(hydra.runtime.cwd):  # paths are relative to it, also after hydra.job.chdir
            requests, settings = check_all([plain])
            settings = replace(settings, results=settings.results.absolute())
            plan = self._prepared(requests, settings)
        run_id = f"{self.launch_id}-{number}"
        description = describe(settings, self.words, [plain], run_id=run_id)
        if plan.todo:
            carry_out(plan, settings, description, shows_progress=os.getpid() == self.starter)
        return mean(records_of(plan, [settings.objective or "selection_loss"]), settings.objective, len(plan.jobs))

    def _prepared(self, requests: Sequence[Request], settings: RunSettings) -> Plan:
        """Plan the jobs; those stored without a validation loss that is needed are run again."""
        requests = [replace(request, validate=self.validate) for request in requests]
        plan = _prepared(requests, settings)
        stored = records_of(plan, ["selection_loss"]).filter(status="ok")
        lacks_loss = self.validate and stored["selection_loss"].null_count() > 0
        return _prepared(requests, replace(settings, force=True)) if lacks_loss else plan


def mean(records: pl.DataFrame, objective: str | None, n_jobs: int) -> float:
    """Return the mean of a metric, or of the validation loss, over ``n_jobs`` records; NaN if one is missing.

    Examples
    --------
    >>> records = pl.DataFrame({"status": ["ok", "ok"], "selection_loss": [0.25, 0.75]})
    >>> mean(records, None, 2), mean(records, None, 3)
    (0.5, nan)
    """
    values = records.filter(status="ok")[objective or "selection_loss"].drop_nulls().to_list()
    return sum(values) / n_jobs if len(values) == n_jobs else NAN
