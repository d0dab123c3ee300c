"""Run combinations under a launcher or sweeper of Hydra: the task of each, and the table of all."""

import contextlib
import json
import math
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hydra._internal.callbacks import Callbacks  # what a launcher is given; it has no public name
from hydra.core.config_loader import ConfigLoader
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, OmegaConf

from npbench import session
from npbench.config.checks import check_all
from npbench.config.command_line import Requested
from npbench.config.experiment import split_off
from npbench.config.resolve import as_plain
from npbench.config.search_path import initialized
from npbench.config.words import is_hydra_word
from npbench.console import print_faults
from npbench.errors import Exit, RequestError
from npbench.planning.plan import Plan
from npbench.progress import Progress
from npbench.records import provenance
from npbench.records.files import RUNS
from npbench_hydra import settings as own


@dataclass(frozen=True)
class RunCombination:
    """Hydra task that runs one combination, here or elsewhere, and returns the number that a sweeper minimises."""

    launch_id: str  # beginning of the run id of each combination
    words: Sequence[str]  # the command line, for the description of the run
    adaptive: bool  # a sweeper needs the number to choose the next values
    starter: int  # process that launches; progress is shown only there
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
        column = settings.objective or own.VALIDATION_LOSS
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


class HydraLaunch:
    """A command line with settings of Hydra, which launches it if they differ from npbench's own."""

    def __init__(self, loader: ConfigLoader, folder: str, options: Namespace, lines: Sequence[Sequence[str]]) -> None:
        """Compose Hydra's own configuration; raise RequestError if Hydra refuses its settings."""
        experiment, self._typed = split_off(options.overrides)
        self._folder, self._config_name = folder, options.config_name or "config"
        self._words = list(dict.fromkeys(word for line in lines for word in line if is_hydra_word(word)))
        self._node = own.hydra_node(loader, self._words, self._config_name)
        is_explained = options.help or options.cfg or options.info
        self.multirun = experiment is not None or options.multirun or self._node.mode is RunMode.MULTIRUN
        self.faults = [] if is_explained else own.effect_faults(self._words, self.multirun)
        self.differs = not own.is_ours(self._node)
        sweeper = OmegaConf.select(self._node, "sweeper._target_")
        self.adaptive = self.multirun and sweeper not in (None, own.BASIC_SWEEPER)
        self._swept = own.sweeper_words(self._node, self._typed) if self.multirun else []
        self.lines = [[*self._swept, *line] for line in lines]
        if self.adaptive:
            self.lines = [one for line in self.lines for one in own.lines_of_trials(loader, line)]
        if experiment is not None and (self.adaptive or self._swept):
            self.faults.append("hydra.sweeper applies to sweeps of your own: +experiment names its sweeps itself.")

    def run(self, asked: Requested, report: Callable[..., Exit]) -> Exit:
        """Check data and splits, let Hydra launch the combinations, report them as one run."""
        launch_id = str(provenance.facts()["run_id"])
        task = RunCombination(launch_id, tuple(asked.words), self.adaptive, os.getpid(), Path.cwd())
        with_losses = task.with_losses(asked)
        plan = session.plan(with_losses, Progress())
        listed = None
        if self.multirun and not self.adaptive:  # those of absent data are skipped
            each = [own.task_words(words, [sweep]) for sweep in asked.composed for words in sweep.combinations]
            pairs = zip(each, with_losses.requests, strict=True)
            listed = [words for words, request in pairs if not plan.sources.skips(request)]
        code = self._launch(task, listed, asked)
        if code is Exit.INTERRUPTED:
            return code
        if self.adaptive:
            return self._report_trials(asked, launch_id, report) or code
        return report(plan, asked, skipped=_n_skipped(plan, launch_id)) or code

    def _report_trials(self, asked: Requested, launch_id: str, report: Callable[..., Exit]) -> Exit:
        """Print the trials, and the measurements of the best; the sweeper's choices are in the descriptions of runs."""
        from npbench_hydra.trials import print_trials  # imports drawing code, which a launcher's process does not need

        settings = replace(asked.settings, force=False)
        paths = sorted((settings.results / RUNS).glob(f"{launch_id}-*.json"))
        configs = [config for path in paths for config in json.loads(path.read_text(encoding="utf-8"))["configs"]]
        if not configs:
            return Exit.FAILED
        plan = session.plan(replace(asked, requests=check_all(configs)[0], settings=settings), Progress())
        best = partial(print_trials, objective=settings.objective, maximised=own.is_maximised(self._node))
        columns = [settings.objective or own.VALIDATION_LOSS]
        return report(plan, asked, skipped=_n_skipped(plan, launch_id), columns=columns, chosen=best)

    def _launch(self, task: RunCombination, listed: Sequence[Sequence[str]] | None, asked: Requested) -> Exit:
        """Let Hydra launch the task and print its error; the other combinations keep their records."""
        try:
            self._launch_by_hydra(task, listed, asked)
        except KeyboardInterrupt:
            where = asked.settings.results
            print(f"Interrupted: finished jobs are stored in {where}; rerun to resume.", file=sys.stderr)
            return Exit.INTERRUPTED
        except Exception as error:  # of a task, a launcher or a sweeper
            if os.environ.get("HYDRA_FULL_ERROR", "0") != "0":
                raise
            print_faults(*(error.faults if isinstance(error, RequestError) else [f"{type(error).__name__}: {error}"]))
            return Exit.FAILED
        return Exit.OK

    def _launch_by_hydra(self, task: RunCombination, listed: Sequence[Sequence[str]] | None, asked: Requested) -> None:
        """Let Hydra run the task on one combination, on those listed, or on those that its sweeper chooses."""
        mode = RunMode.MULTIRUN if self.multirun else RunMode.RUN
        words = [*self._words, *own.logging_words(self._node), f"hydra.mode={mode.name}"]
        if self._swept:  # they are among the settings of the tasks
            words.append("hydra.sweeper.params=null")
        if listed is None:
            words += own.task_words([*self._swept, *self._typed], asked.composed)
        with initialized(self._folder) as hydra:
            if listed is not None:
                config = hydra.compose_config(self._config_name, words, run_mode=mode, with_log_configuration=True)
                _launch_each(hydra.config_loader, config, self._config_name, listed, task)
            elif self.adaptive:
                hydra.multirun(self._config_name, task, words)
            else:
                hydra.run(self._config_name, task, words)


def _n_skipped(plan: Plan, launch_id: str) -> int:
    """Return the number of records that other runs have stored."""
    ours = plan.records(["run_id"])["run_id"].str.starts_with(launch_id)
    return len(ours) - int(ours.sum())


def _launch_each(
    loader: ConfigLoader, config: DictConfig, config_name: str, listed: Sequence[Sequence[str]], task: RunCombination
) -> None:
    """Give the launcher the combinations, which Hydra's own sweeper can only multiply from values."""
    callbacks = Callbacks(config)
    callbacks.on_multirun_start(config=config, config_name=config_name)
    context = HydraContext(config_loader=loader, callbacks=callbacks)
    launcher = Plugins.instance().instantiate_launcher(hydra_context=context, task_function=task, config=config)
    folder = Path(config.hydra.sweep.dir)
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(config, folder / "multirun.yaml")
    at_once = OmegaConf.select(config, "hydra.sweeper.max_batch_size") or max(1, len(listed))
    for first in range(0, len(listed), at_once):
        for returned in launcher.launch(listed[first : first + at_once], initial_job_idx=first):
            _ = returned.return_value  # raises what the task raised
    callbacks.on_multirun_end(config=config, config_name=config_name)
