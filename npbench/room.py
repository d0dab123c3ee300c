"""Keeps a full disk from costing results: room that is kept back, and another folder when that is used up too."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from npbench.errors import RequestError
from npbench.writing import unfinished_in

KEPT_BACK = 2 * 10**6  # bytes: some dozen records


class Room:
    """The room for records in a folder.

    Parameters
    ----------
    folder : Path
        Where records go as long as they can.

    Attributes
    ----------
    fault : OSError or None
        Why the first record that could not be written as usual was not.
    """

    def __init__(self, folder: Path) -> None:
        self.fault: OSError | None = None
        self._folder = folder
        self._kept = unfinished_in(folder)
        self._elsewhere: Path | None = None

    @contextlib.contextmanager
    def kept_back(self) -> Iterator[None]:
        """Occupy some room, until the end of the block or until a record needs it.

        Raises
        ------
        RequestError
            If there is not that much.
        """
        try:
            with self._kept.open("wb") as stream:
                stream.write(bytes(KEPT_BACK))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            self._kept.unlink(missing_ok=True)
            raise RequestError(
                f"{self._folder} has no room for records: {reason(error)}. A run keeps {KEPT_BACK / 1e6:g} MB back "
                "there, so that nothing is lost when the disk becomes full. Make room, or name another folder with "
                "results=...; what is stored already stays valid."
            ) from error
        try:
            yield
        finally:
            self._kept.unlink(missing_ok=True)

    def squeeze_in(self, write: Callable[[Path], Path], fault: OSError) -> Path:
        """Write a record that did not fit where room was kept back, or else to a temporary folder.

        Parameters
        ----------
        write : callable
            Given a folder, writes the record there and returns the path.
        fault : OSError
            Why it did not fit.

        Raises
        ------
        RequestError
            If it can be written nowhere.
        """
        self.fault = self.fault or fault
        self._kept.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            return write(self._folder)
        try:
            self._elsewhere = self._elsewhere or Path(tempfile.mkdtemp(prefix="npbench-records-"))
            return write(self._elsewhere)
        except OSError as error:
            raise RequestError(
                f"A record can be written neither to {self._folder} ({reason(fault)}) nor to a temporary folder "
                f"({reason(error)}), and is lost. Make room, or name another folder with results=...; what is stored "
                f"already stays valid.{self._aside()}"
            ) from error

    def require(self) -> None:
        """Raise an error if there was a fault; it says where each record is.

        Raises
        ------
        RequestError
            With what to do.
        """
        if self.fault is None:
            return
        raise RequestError(
            f"{self._folder} takes no more records: {reason(self.fault)}. Make room, and the same command goes on; "
            f"what is stored already stays valid.{self._aside()}"
        ) from self.fault

    def _aside(self) -> str:
        """Return what to do with the records that are elsewhere; remove that folder if none are left there."""
        if self._elsewhere is None:
            return ""
        with contextlib.suppress(OSError):  # there are some
            self._elsewhere.rmdir()
        count = len(list(self._elsewhere.glob("*.parquet")))
        if not count:
            return ""
        return f" First move the {count} that are in {self._elsewhere} to {self._folder}, or they are made again."


def reason(error: OSError) -> str:
    """Return what the system says of a fault."""
    return error.strerror or str(error)
