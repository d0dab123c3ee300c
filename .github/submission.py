"""Check which files a pull request changes: one folder of results/submissions, small, nothing else.

Prints ``folder=results/submissions/<name>`` for the workflow. Run with the base commit as the argument.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path("results/submissions")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,39}")
FILES = re.compile(
    r"(records|scores)/[\w.+-]+\.parquet|runs/[\w.+-]+\.json|submission\.json|requirements\.txt|README\.md"
)
MAX_BYTES = 15_000_000  # np_benchmark_real with its scores takes 12


def changed(base: str) -> list[str]:
    """Return the paths that differ from the merge base, deleted ones included."""
    command = ["git", "diff", "--name-only", "-z", "--no-renames", f"{base}...HEAD"]
    return [
        path for path in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0") if path
    ]


def faults(paths: list[str]) -> list[str]:
    """Return what is wrong with the changed files."""
    outside = [path for path in paths if not path.startswith(f"{ROOT.as_posix()}/")]
    inside = [Path(path).relative_to(ROOT).parts for path in paths if path not in outside]
    names = sorted({parts[0] for parts in inside})
    found = [f"{path} is not part of a submission: send code in a pull request of its own" for path in outside]
    if len(names) != 1 or not all(NAME.fullmatch(name) for name in names):
        found.append(f"expected one folder results/submissions/NAME, got {', '.join(names) or 'none'}")
    found += [f"{'/'.join(parts)} is unexpected" for parts in inside if not FILES.fullmatch("/".join(parts[1:]))]
    files = [path for path in map(Path, paths) if path.exists() or path.is_symlink()]
    found += [f"{path} is not a regular file" for path in files if path.is_symlink() or not path.is_file()]
    size = sum(path.stat().st_size for path in files if path.is_file() and not path.is_symlink())
    if size > MAX_BYTES:
        found.append(f"the submission has {size:,} bytes: at most {MAX_BYTES:,} are allowed")
    return found


def main(base: str) -> int:
    """Print the folder of the submission, or its faults."""
    paths = changed(base)
    wrong = faults(paths)
    for fault in wrong:
        print(f"::error::{fault!a}", file=sys.stderr)  # names of files may hold lines of their own
    if not wrong:
        print(f"folder={ROOT.as_posix()}/{Path(paths[0]).relative_to(ROOT).parts[0]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
