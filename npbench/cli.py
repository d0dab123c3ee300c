"""Command line: settings of a run, or a command and its arguments."""

import errno
import importlib
import io
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from npbench import __version__
from npbench.errors import Exit, RequestError

# Module of each command: in the room whose reader it serves, or among those about runs and the catalogue.
COMMANDS = {
    "check": "npbench.testing.commands.check",
    "compare": "npbench.thresholding.commands.compare",
    "data": "npbench.commands.data",
    "fit": "npbench.thresholding.commands.fit",
    "info": "npbench.commands.info",
    "list": "npbench.commands.list",
    "metrics": "npbench.thresholding.commands.metrics",
    "monitor": "npbench.thresholding.commands.monitor",
    "new": "npbench.testing.commands.new",
    "plan": "npbench.commands.plan",
    "report": "npbench.report.command",
    "threshold": "npbench.thresholding.commands.threshold",
}
# What to do about an error of the file system.
REMEDIES = {
    "Disk full: free some space and rerun": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "Check the disk or network and rerun": (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN),
    "Use another folder": (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR, errno.EISDIR),
    "Use a shorter name": (errno.ENAMETOOLONG,),
    "It was removed or renamed: rerun": (errno.ENOENT,),
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for ASCII terminals
    os.environ["MPLBACKEND"] = "agg"  # a notebook's backend may be missing here
    words = list(sys.argv[1:] if arguments is None else arguments)
    first = next((word for word in words if word not in ("-m", "--multirun")), "")
    if first == "--version":
        print(f"npbench {__version__}")
        raise SystemExit(Exit.OK)
    if words[1:] and first in ("-sc", "--shell-completion") and words[1].startswith("query="):
        from npbench.commands.complete import print_words

        print_words(words[1].partition("=")[2], COMMANDS)
        raise SystemExit(Exit.OK)
    exit_with(lambda: _command(first, words) if first.isidentifier() else _hydra(words))


def _command(name: str, words: Sequence[str]) -> int:
    module = COMMANDS.get(name)
    if module is None:
        from npbench.registry import installed

        known, hint = {**installed().commands, **COMMANDS}, "Settings are written key=value, as in solver=np_svm."
        module = installed().find("command", known, name, hint)
    place = words.index(name)  # a flag of Hydra may stand before it
    return importlib.import_module(module).run([*words[:place], *words[place + 1 :]])


def exit_with(step: Callable[[], int]) -> NoReturn:
    """Exit with the code that ``step`` returns; print user errors without a traceback."""
    from npbench.console import print_faults, print_warnings_as_lines, signals_handled

    print_warnings_as_lines()
    code: int = Exit.BAD_REQUEST
    try:
        # SIGTERM from `kill` or a batch system, and SIGHUP from a closing terminal, act like Ctrl-C.
        with signals_handled(signal.default_int_handler, signal.SIGTERM, signal.SIGHUP):
            try:
                code = step()
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # when Python exits, a closed pipe is an error
    except RequestError as error:
        print_faults(*error.faults)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit) as end:  # SystemExit: from argparse, or from Rich after the other
        if not isinstance(end, BrokenPipeError) and not isinstance(end.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has closed the pipe, as `head` does
        code = Exit.OK
    except OSError as error:
        print_faults(_sentence(error))
    raise SystemExit(code)


def _sentence(error: OSError) -> str:
    """Return what the file system refused, and what to do; records are written so that nothing stored is lost."""
    try:
        Path.cwd()
    except OSError:
        return "The current folder was removed: change to another folder."
    what = f"{error.strerror}: {error.filename}" if error.filename else str(error)
    hint = next((hint for hint, numbers in REMEDIES.items() if error.errno in numbers), "Rerun")
    return f"{what}. {hint}; existing records are kept."


def _hydra(words: Sequence[str]) -> Exit:
    """Check the settings and run them, here or by a launcher, or let Hydra explain or complete."""
    from npbench.execution import processes

    processes.prepare_for(words)  # workers load what they share while this process imports
    from npbench.config.command_line import parse, requested

    # Hydra wants a plus for a group that its defaults list does not have.
    sys.argv[1:] = words = [f"+{word}" if word.startswith("experiment=") else word for word in words]
    options = parse(words)
    if options.help or options.cfg or options.info or options.shell_completion or options.hydra_help:
        return _explain(options, words)
    asked = requested(options, words)
    from npbench.commands.run import report, run

    return asked.launch.run(asked, report) if asked.launch is not None else run(asked)


def _explain(options: Namespace, words: Sequence[str]) -> Exit:
    import hydra

    from npbench.config.command_line import compose_all, explained_words, print_help
    from npbench.config.files import config_dir

    if options.help or options.cfg or options.info:
        sweeps, faults, *_ = compose_all(options)
        if faults:
            raise RequestError(*faults)
        if options.help:
            print_help(options, sweeps)
            return Exit.OK
        sys.argv[1:] = [*(word for word in words if word not in options.overrides), *explained_words(options, sweeps)]
    application = hydra.main(config_path=str(config_dir()), config_name="config", version_base="1.3")
    try:
        application(lambda config: None)()  # there is no task: Hydra explains the run instead
    except ValueError as error:  # flags that exclude each other
        raise RequestError(f"{error}.") from error
    return Exit.OK
