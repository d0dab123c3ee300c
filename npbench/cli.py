"""The command line: a Hydra application, or a word first (list, plan).

What a user types is checked before Hydra sees it, so that every fault is told, in one sentence each.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from npbench import __version__
from npbench.errors import RequestError, unknown_name

if TYPE_CHECKING:
    from omegaconf import DictConfig

OK, BAD_REQUEST, INTERRUPTED = 0, 2, 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Carry out a command line and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Raises
    ------
    SystemExit
        0: all planned jobs are done; 1: some failed; 2: the request is wrong; 130: interrupted.
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
        code = step()
    except RequestError as error:
        refuse(*error.faults)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = INTERRUPTED
    raise SystemExit(code)


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

    return plan(_checked(_parse_flags(words)))


WORDS = {"list": _list, "plan": _plan}


def _hydra(words: Sequence[str]) -> int:
    """Check the settings, then hand over to Hydra, which runs, explains or completes."""
    import hydra

    from npbench import configs

    options = _parse_flags(words)
    if options.help or options.cfg or options.info:
        _, faults = _compose(options)
        if faults:
            raise RequestError(*faults)
    elif not (options.shell_completion or options.hydra_help):
        _checked(options)
    sys.argv[1:] = words
    application = hydra.main(config_path=str(configs.config_dir()), config_name="config", version_base="1.3")(_run_one)
    try:
        application()
    except ValueError as error:  # flags that exclude each other; an error of a run does not come this far
        raise RequestError(f"{error}.") from error
    return OK


def _run_one(config: DictConfig) -> NoReturn:
    from npbench.run import run

    leave(lambda: run([config]))


def _parse_flags(words: Sequence[str]) -> Namespace:
    # Hydra's own parser, so that both understand the same; it has no public name.
    from hydra._internal.utils import get_args_parser

    from npbench import configs

    parser = get_args_parser()
    parser.prog = "npbench"
    options = parser.parse_args(list(words))
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise RequestError(f"--config-dir {options.config_dir} is no folder: name one that holds YAML files.")
    configs.register(str(Path(options.config_dir).absolute()) if options.config_dir else None)
    return options


def _checked(options: Namespace) -> list[DictConfig]:
    """Return the configuration of every combination; raise RequestError with every fault of settings and values."""
    from npbench.progress import status
    from npbench.request import check_all

    with status("Checking the request"):
        configs, faults = _compose(options)
        try:
            if configs:
                check_all(configs)
        except RequestError as error:
            faults += error.faults
    if faults:
        raise RequestError(*dict.fromkeys(faults))
    return configs


def _compose(options: Namespace) -> tuple[list[DictConfig], list[str]]:
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from npbench.compose import compose
    from npbench.configs import config_dir

    folder = str(Path(options.config_path).absolute()) if options.config_path else str(config_dir())
    with initialize_config_dir(folder, version_base="1.3"):
        return compose(
            GlobalHydra.instance().config_loader(),
            options.overrides,
            multirun=options.multirun,
            config_name=options.config_name or "config",
        )
