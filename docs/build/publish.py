"""Publish the records of an experiment: ``python docs/build/publish.py RESULTS gasso/gasso_figure4_full``.

Writes the newest record of each job, and the runs that the records come from, to ``results/published/gasso``.
"""

import argparse
import json
from pathlib import Path

import polars as pl
from blocks import PUBLISHED

from npbench.records.store import RecordStore

MOST_RECORDS = 10_000  # of a file; more records make further files, of a megabyte or two each
MOST_CONFIGS = 100  # of a published run; of longer lists only the length is kept


def publish(results: Path, target: Path, drop: list[str]) -> None:
    """Write the records of a results folder to ``target.parent / "records"``, and their runs beside them."""
    records = RecordStore(results / "records").frame().drop(drop)
    if changed := records["git_dirty"].fill_null(True).sum():
        raise SystemExit(f"{changed} of {len(records)} records come from a modified checkout. Commit, then rerun.")
    path, runs = target.parent / "records" / f"{target.name}.parquet", target.parent / "runs"
    for folder in (path.parent, runs):
        folder.mkdir(parents=True, exist_ok=True)
    # Folders of the machine that ran them mean nothing elsewhere.
    short = pl.col("traceback").str.replace_all(r'File "[^"]*?/(npbench|plugins|site-packages)/', 'File "$1/')
    for old in path.parent.glob(f"{target.name}.*parquet"):
        old.unlink()
    for n, part in enumerate(records.with_columns(short).iter_slices(MOST_RECORDS), start=1):
        suffix = f".{n}.parquet" if n > 1 else ".parquet"
        part.write_parquet(path.with_suffix(suffix), compression="zstd", compression_level=19)
    for run in records["run_id"].unique():
        described = results / "runs" / f"{run}.json"
        if not described.exists():
            print(f"{described} is missing: the run is described by its records only.")
            continue
        text = described.read_text(encoding="utf-8")
        about = json.loads(text)
        configs = about.pop("configs", ())  # none if it was published before
        if len(configs) > MOST_CONFIGS:
            text = json.dumps({**about, "n_configs": len(configs)}, indent=1) + "\n"
        # records may have been copied from the folder in which the run wrote them
        written = {config["results"] for config in configs}
        for folder in {str(results), *(one for one in written if Path(one).is_absolute())}:
            text = text.replace(folder, "results")
        (runs / f"{run}.json").write_text(text, encoding="utf-8")
    # A run that no record comes from any more says nothing.
    frames = [pl.read_parquet(one, columns=["run_id"]) for one in path.parent.glob("*.parquet")]
    for one in {*runs.glob("*.json")} - {runs / f"{run}.json" for run in pl.concat(frames)["run_id"].unique()}:
        one.unlink()
    print(f"{len(records)} records in {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="the folder that the run named with results=")
    parser.add_argument("name", help="folder below results/published, and the experiment")
    parser.add_argument("--drop", action="append", default=[], help="column to leave out, e.g. roc if there are many")
    given = parser.parse_args()
    publish(given.results, PUBLISHED / given.name, given.drop)
