"""Files that users bring: no archive serves them, or nobody has published their hash."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from npbench.data.sources import data_folders
from npbench.errors import AbsentDataError, RequestError


def _found(dataset: str, names: Sequence[str], path: str | None, origin: str) -> list[Path]:
    own = Path(path).expanduser() if path else None
    if own and own.is_file() and len(names) == 1:
        return [own]
    searched = [own] if own else [folder / dataset for data in data_folders() for folder in (data / "raw", data)]
    for folder in searched:
        files = [folder / name for name in names]
        if all(file.is_file() for file in files):
            return files
    raise AbsentDataError(
        f"dataset={dataset} needs files that npbench cannot download: {', '.join(names)}. They are not in "
        f"{', '.join(map(str, searched))}. Get them from {origin}, and put them there or set dataset.path."
    )


@contextmanager
def user_files(dataset: str, names: Sequence[str], path: str | None, origin: str, form: str) -> Iterator[list[Path]]:
    """Yield the paths of the files of a data set, and report the expected form if a library cannot read them."""
    files = _found(dataset, names, path, origin)
    try:
        if empty := [file.name for file in files if not file.stat().st_size]:
            raise ValueError(f"{empty[0]} is empty")
        yield files
    except Exception as error:  # each library raises its own
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        named = ", ".join(map(str, files))
        raise RequestError(f"{named} cannot be read as {form}: {reason}. Convert them, or use dataset=file.") from error
