"""Scores of prompt-injection detectors; ``prompt_injection.csv`` has a line for each file."""

import csv
from importlib import resources

from npbench.contracts import DataFile, Dataset

SCORES = (
    "https://raw.githubusercontent.com/bastion-soft/pi-detector-bench/"
    "d744d88aa4be70c598a67957e605a8c229c37982/results/scores"
)


def _file(row: dict[str, str]) -> DataFile:
    name = f"{row['detector']}__{row['set']}.json"
    return DataFile(
        path=f"prompt_injection_scores/{name}",
        sha256=row["sha256"],
        size=int(row["size"]),
        url=f"{SCORES}/{name}",
    )


with resources.files("npbench_datasets.descriptions").joinpath("prompt_injection.csv").open(encoding="utf-8") as lines:
    FILES = tuple(map(_file, csv.DictReader(lines)))

PROMPT_INJECTION = (
    Dataset(
        name="prompt_injection",
        load="npbench_datasets.prompt_injection:load_prompt_injection",
        title="Prompt injections by the scores of twelve detectors",
        positive="attacks of the set in the parameter attacks; negative: chats of the set in benign",
        source="github.com/bastion-soft/pi-detector-bench, results/scores; scores are rounded to five digits",
        licence="MIT",
        citation="pi-detector-bench, commit d744d88",
        files=FILES,
        n_features=12,
    ),
)
