"""Run combinations under a launcher or sweeper of Hydra: the task of each, and the table of all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from npbench import session
from npbench.commands.run import report
from npbench.config.checks import check_all
from npbench.config.command_line import Requested
from npbench.config.hydra_launch import HydraLaunch, launch
from npbench.config.resolve import as_plain
from npbench.config.run_settings import RunSettings
from npbench.console import print_faults
from npbench.errors import Exit, RequestError
from npbench.progress import Progress
from npbench.records import provenance
from npbench.records.files import RUNS


def run_by_hydra(requested: Requested) -> Exit:
    """Check data and splits, let Hydra launch the combinations, print one table, and return the exit code."""
    what, settings = requested.hydra, requested.settings
    assert what is not None
    launch_id = str(provenance.facts()["run_id"])
    task = RunCombination(launch_id, tuple(requested.words), what.adaptive, os.getpid(), Path.cwd())
    asked = task.with_losses(requested)
    plan = session.plan(asked, Progress())
    if what.combinations is not None:  # those of absent data are skipped
        pairs = zip(what.combinations, asked.requests, strict=True)
        what = replace(what, combinations=[words for words, request in pairs if not plan.sources.skips(request)])
    code = _launch(what, task, settings)
    if code is Exit.INTERRUPTED:
        return code
    if what.adaptive:  # the sweeper's choices stand in the descriptions of their runs
        paths = sorted((settings.results / RUNS).glob(f"{launch_id}-*.json"))
        configs = [config for path in paths for config in json.loads(path.read_text(encoding="utf-8"))["configs"]]
        if not configs:
            return Exit.FAILED
        requests, settings = check_all(configs)[0], replace(settings, force=False)
        plan = session.plan(replace(requested, requests=requests, settings=settings), Progress())
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
        print_faults(*(error.faults if isinstance(error, RequestError) else [f"{type(error).__name__}: {error}"]))
        return Exit.FAILED
    return Exit.OK


@dataclass(frozen=True)
class RunCombination:
    """Hydra task that runs one combination, here or elsewhere, and returns the number that a sweeper minimises."""

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
        run_id, progress = f"{self.launch_id}-{number}", Progress(shows_jobs=os.getpid() == self.starter)
        with contextlib.chdir(self.folder):
            requests, settings = check_all([plain])
            settings = replace(settings, results=settings.results.absolute())
            asked = self.with_losses(Requested(requests, settings, [plain], self.words))
            plan = session.plan(asked, progress)
            if asked.requests[0].validate:
                stored = plan.records(["selection_loss"]).filter(status="ok")
                if stored["selection_loss"].null_count() > 0:  # stored without the loss
                    plan = session.plan(replace(asked, settings=replace(settings, force=True)), progress)
        session.run(plan, asked, progress, run_id=run_id)
        column = settings.objective or "selection_loss"
        good = plan.records([column]).filter(status="ok")
        values = good[column].drop_nulls().to_list() if column in good.columns else []
        if len(values) == len(plan.jobs):
            return sum(values) / len(values)
        if self.adaptive:
            raise RuntimeError(f"no mean of {column}: a job of {run_id} failed, or did not measure it")
        return math.nan

    def with_losses(self, asked: Requested) -> Requested:
        """Ask for a validation loss where an adaptive sweeper needs it and nothing is selected."""
        validate = self.adaptive and asked.settings.objective is None
        return replace(asked, requests=[replace(request, validate=validate) for request in asked.requests])
