"""Files that a user brings: no archive serves them any more, or nobody has published their hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from npbench.data.sources import data_folders
from npbench.errors import RequestError


def brought(dataset: str, names: Sequence[str], path: str | None, origin: str) -> list[Path]:
    """Return the paths of the files of a data set; their content is not known, and so not checked.

    Parameters
    ----------
    dataset : str
        Its name, and that of its folder in a data folder: ``raw/<dataset>`` or ``<dataset>``.
    names : sequence of str
        What its files are called.
    path : str, optional
        The folder that holds them instead; or, of a data set in one file, that file, by any name.
    origin : str
        Where to get them: the end of a sentence.

    Raises
    ------
    RequestError
        If no folder holds all of them.
    """
    own = Path(path).expanduser() if path else None
    if own and own.is_file() and len(names) == 1:
        return [own]
    searched = [own] if own else [folder / dataset for data in data_folders() for folder in (data / "raw", data)]
    for folder in searched:
        files = [folder / name for name in names]
        if all(file.is_file() for file in files):
            return files
    lacking = f"{', '.join(names)} in" if own else f"{', '.join(names)} in any of"
    raise RequestError(
        f"dataset={dataset} is read from files that you bring, since npbench cannot download them, and there is no "
        f"{lacking} {', '.join(map(str, searched))}. Get them from {origin}, and put them there, or say where they are "
        "with dataset.path=..."
    )


@contextmanager
def read_as(form: str, files: Sequence[Path]) -> Iterator[None]:
    """Tell what files should be like where a library cannot read them: nobody has checked what a user brings.

    Parameters
    ----------
    form : str
        What they should be: the end of a sentence.
    files : sequence of Path
        Those that are read.

    Raises
    ------
    RequestError
        In place of any other exception.
    """
    try:
        if empty := [file.name for file in files if not file.stat().st_size]:
            raise ValueError(f"{empty[0]} is empty")
        yield
    except Exception as error:  # each library has its own
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise RequestError(
            f"{', '.join(map(str, files))} cannot be read as {form}: {reason}. Bring files in this format, or read "
            "yours with dataset=file."
        ) from error
