"""Run combinations under a launcher or sweeper of Hydra: the task of each, and the table of all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from npbench import session
from npbench.commands.run import report
from npbench.config.checks import check_all
from npbench.config.command_line import Requested
from npbench.config.compose import as_plain
from npbench.config.hydra_launch import HydraLaunch, launch
from npbench.config.run_settings import RunSettings
from npbench.errors import Exit, RequestError
from npbench.evaluation.job import Request
from npbench.planning.plan import Plan
from npbench.progress import TerminalProgress
from npbench.records import provenance
from npbench.records.files import RUNS
from npbench.session import carry_out, describe, planned


def run_by_hydra(requested: Requested) -> Exit:
    """Check data and splits, let Hydra launch the combinations, print one table, and return the exit code."""
    what, settings = requested.hydra, requested.settings
    assert what is not None
    launch_id = str(provenance.facts()["run_id"])
    task = RunCombination(launch_id, tuple(requested.words), what.adaptive, os.getpid(), Path.cwd())
    requests = task.validated(requested.requests, settings)
    plan = session.plan(replace(requested, requests=requests), TerminalProgress())
    if what.combinations is not None:  # those of absent data are skipped
        asked = zip(what.combinations, requests, strict=True)
        what = replace(what, combinations=[words for words, request in asked if not plan.sources.skips(request)])
    code = _launch(what, task, settings)
    if code is Exit.INTERRUPTED:
        return code
    if what.adaptive:
        configs = _launched(settings, launch_id)
        if not configs:
            return Exit.FAILED
        plan = planned(check_all(configs)[0], replace(settings, force=False))
    ours = plan.records(["run_id"])["run_id"].str.starts_with(launch_id)
    return report(plan, requested, skipped=len(ours) - int(ours.sum())) or code


def _launch(what: HydraLaunch, task: RunCombination, settings: RunSettings) -> Exit:
    """Let Hydra launch the task; print an error, beside which the other combinations have their records."""
    try:
        launch(what, task)
    except KeyboardInterrupt:
        print(f"Interrupted: finished jobs are stored in {settings.results}; rerun to resume.", file=sys.stderr)
        return Exit.INTERRUPTED
    except Exception as error:  # of a task, a launcher or a sweeper
        if os.environ.get("HYDRA_FULL_ERROR", "0") != "0":
            raise
        for fault in error.faults if isinstance(error, RequestError) else [f"{type(error).__name__}: {error}"]:
            print(f"npbench: {fault}", file=sys.stderr)
        return Exit.FAILED
    return Exit.OK


def _launched(settings: RunSettings, launch_id: str) -> list[Mapping[str, Any]]:
    """Return the configurations that an adaptive sweeper chose, from the descriptions of their runs."""
    paths = sorted((settings.results / RUNS).glob(f"{launch_id}-*.json"))
    return [config for path in paths for config in json.loads(path.read_text(encoding="utf-8"))["configs"]]


@dataclass(frozen=True)
class RunCombination:
    """Hydra task that runs one combination and returns the number that a sweeper minimises.

    A launcher may send it to another process or machine that shares the results folder.
    """

    launch_id: str  # beginning of the run id of each combination
    words: Sequence[str]  # the command line, for the description of the run
    adaptive: bool  # a sweeper needs the number to choose the next values
    starter: int  # process that launches; only there, progress is shown
    folder: Path  # of relative paths, wherever the task runs

    def __call__(self, config: DictConfig) -> float:
        """Run the jobs without a record of success; return their mean validation loss, or the mean of a metric.

        Without that number the basic sweeper gets NaN, and an adaptive one an error that it handles.
        """
        job = HydraConfig.get().job
        number = 0 if OmegaConf.is_missing(job, "num") else job.num
        plain = {**as_plain(config), "method": HydraConfig.get().runtime.choices["solver"]}
        with contextlib.chdir(self.folder):
            requests, settings = check_all([plain])
            settings = replace(settings, results=settings.results.absolute())
            plan = self._planned(requests, settings)
        description = describe(settings.results, self.words, [plain], run_id=f"{self.launch_id}-{number}")
        if plan.todo:
            progress = TerminalProgress(shows_jobs=os.getpid() == self.starter)
            carry_out(plan, settings, description, progress)
        column = settings.objective or "selection_loss"
        value = mean(plan.records([column]), column, len(plan.jobs))
        if self.adaptive and math.isnan(value):
            raise RuntimeError(f"no mean of {column}: a job of {description['run_id']} failed, or did not measure it")
        return value

    def validated(self, requests: Sequence[Request], settings: RunSettings) -> list[Request]:
        """Return the requests, with a validation loss where an adaptive sweeper needs it and nothing is selected."""
        return [replace(request, validate=self.adaptive and settings.objective is None) for request in requests]

    def _planned(self, requests: Sequence[Request], settings: RunSettings) -> Plan:
        """Plan the jobs; run those again that are stored without a validation loss that is needed."""
        requests = self.validated(requests, settings)
        plan = planned(requests, settings)
        stored = plan.records(["selection_loss"]).filter(status="ok")
        lacks_loss = requests[0].validate and stored["selection_loss"].null_count() > 0
        return planned(requests, replace(settings, force=True)) if lacks_loss else plan


def mean(records: pl.DataFrame, column: str, n_jobs: int) -> float:
    """Return the mean of a column over the records of ``n_jobs`` jobs; NaN if a job failed or has no value."""
    good = records.filter(status="ok")
    values = good[column].drop_nulls().to_list() if column in good.columns else []
    return sum(values) / n_jobs if len(values) == n_jobs else math.nan
