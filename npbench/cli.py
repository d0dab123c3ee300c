"""The command line: a Hydra application, or a word first (list, data, plan, report, check, new).

Hydra composes the settings, explains and completes. Running is npbench's own: all combinations of a sweep are one run,
and each is composed by itself, so that a sweep may set what its solvers know and the default solver does not.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from npbench import __version__
from npbench.errors import RequestError, unknown_name

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from npbench.experiment import Experiment
    from npbench.launcher import Launcher

OK, BAD_REQUEST, INTERRUPTED = 0, 2, 130
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Carry out a command line and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Raises
    ------
    SystemExit
        0: all planned jobs are done; 1: some failed; 2: the request is wrong, or the disk full; 130: interrupted.
    """
    words = _sweep_flag_first(sys.argv[1:] if arguments is None else arguments)
    first = words[0] if words else ""
    if first == "--version":
        print(f"npbench {__version__}")
        raise SystemExit(OK)
    if first in WORDS:
        leave(lambda: WORDS[first](words[1:]))
    if first.isidentifier():
        refuse(f"{unknown_name('command', first, WORDS)} Settings are written key=value, as in solver=np_svm.")
    leave(lambda: _hydra(words))


def _sweep_flag_first(words: Sequence[str]) -> list[str]:
    """Move -m to the front, behind a word: Hydra's parser refuses it between settings."""
    flags = [word for word in words if word in ("-m", "--multirun")][:1]
    rest = [word for word in words if word not in ("-m", "--multirun")]
    is_word = bool(rest) and rest[0] in WORDS
    return rest[:is_word] + flags + rest[is_word:]


def leave(step: Callable[[], int]) -> NoReturn:
    """Exit with the code that ``step`` returns; print what a user got wrong, and no traceback for it."""
    try:
        with _terminated_as_interrupted():
            code = step()
    except RequestError as error:
        refuse(*error.faults)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:  # who read what was printed has enough of it, as after `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        refuse(f"The disk is full: {error}. Make room, and type the same command again; what is stored stays valid.")
    raise SystemExit(code)


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let `kill`, a shutdown or a batch system end the command as Ctrl-C does: in words, leaving nothing behind."""
    if threading.current_thread() is not threading.main_thread():  # others may set no handler
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def refuse(*faults: str) -> NoReturn:
    """Print one line for each fault and exit with code 2."""
    for fault in faults:
        print(f"npbench: {fault}", file=sys.stderr)
    raise SystemExit(BAD_REQUEST)


def _list(words: Sequence[str]) -> int:
    from npbench.listing import KINDS, show

    wrong = [word for word in words if word not in KINDS]
    if wrong:
        raise RequestError(*(unknown_name("kind to list", word, KINDS) for word in wrong))
    show(words or KINDS)
    return OK


def _plan(words: Sequence[str]) -> int:
    from npbench.run import plan

    configs, _, launcher = _checked(_parse_flags(words))
    return plan(configs, launcher)


def _report(words: Sequence[str]) -> int:
    from npbench.report import command

    options, settings = command.parse(words)
    if options.experiment is None:
        return command.run(options, settings)
    from npbench.report.experiment_report import report

    configs, experiment, _ = _checked(_parse_flags([*settings, f"+experiment={options.experiment}"]))
    assert experiment is not None
    return report(experiment, configs, options.output)


def _data(words: Sequence[str]) -> int:
    from npbench.data.command import run

    return run(words)


def _check(words: Sequence[str]) -> int:
    from npbench.testing.command import run

    return run(words)


def _new(words: Sequence[str]) -> int:
    from npbench.scaffold import run

    return run(words)


WORDS = {"check": _check, "data": _data, "list": _list, "new": _new, "plan": _plan, "report": _report}


def _hydra(words: Sequence[str]) -> int:
    """Check the settings and run them, or hand over to Hydra, which explains or completes."""
    import hydra

    from npbench.configs import config_dir

    # Hydra's own defaults choose no experiment, so that it wants the plus.
    sys.argv[1:] = words = [f"+{word}" if word.startswith("experiment=") else word for word in words]
    options = _parse_flags(words)
    if options.help or options.cfg or options.info:
        *_, faults = _compose(options)
        if faults:
            raise RequestError(*faults)
        # Hydra by itself knows no names but those in the YAML; what is not known to the solver is a fault above.
        sys.argv[1:] = [f"++{word}" if word.startswith("solver.") else word for word in words]
    elif not (options.shell_completion or options.hydra_help):
        from npbench.run import run

        return run(*_checked(options))
    application = hydra.main(config_path=str(config_dir()), config_name="config", version_base="1.3")(_explained)
    try:
        application()
    except ValueError as error:  # flags that exclude each other
        raise RequestError(f"{error}.") from error
    return OK


def _explained(_: DictConfig) -> None:
    """Stand for the run that Hydra explains."""


def _parse_flags(words: Sequence[str]) -> Namespace:
    # Hydra's own parser, so that both understand the same; it has no public name.
    from hydra._internal.utils import get_args_parser

    from npbench import configs

    parser = get_args_parser()
    parser.prog = "npbench"
    options = parser.parse_intermixed_args(list(words))  # flags may stand between settings
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise RequestError(f"--config-dir {options.config_dir} is no folder: name one that holds YAML files.")
    configs.register(str(Path(options.config_dir).absolute()) if options.config_dir else None)
    return options


def _checked(options: Namespace) -> tuple[list[DictConfig], Experiment | None, Launcher | None]:
    """Return the configuration of every combination, the experiment that they are of, and who launches them, if any.

    Raises
    ------
    RequestError
        With every fault of settings and values.
    """
    from npbench.progress import status
    from npbench.request import check_all

    with status("Checking the request"):
        configs, experiment, launcher, faults = _compose(options)
        try:
            if configs:
                check_all(configs)
        except RequestError as error:
            faults += error.faults
    if faults:
        raise RequestError(*dict.fromkeys(faults))
    return configs, experiment, launcher


def _compose(options: Namespace) -> tuple[list[DictConfig], Experiment | None, Launcher | None, list[str]]:
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from npbench.compose import compose
    from npbench.configs import config_dir
    from npbench.experiment import compose_experiment, split_off
    from npbench.launcher import compose_launcher
    from npbench.launcher import split_off as split_launcher

    folder = str(Path(options.config_path).absolute()) if options.config_path else str(config_dir())
    config_name = options.config_name or "config"
    name, others = split_off(options.overrides)
    launching, settings = split_launcher(others)
    with initialize_config_dir(folder, version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        experiment = None
        if name is not None:
            configs, experiment, faults = compose_experiment(loader, name, settings, config_name)
        else:
            configs, faults = compose(loader, settings, multirun=options.multirun, config_name=config_name)
        launcher = None
        try:
            if launching or options.config_name or options.config_path:  # npbench's own configuration launches nothing
                launcher = compose_launcher(loader, launching, settings, configs, config_name)
        except RequestError as error:
            faults += error.faults
    return configs, experiment, launcher, faults
