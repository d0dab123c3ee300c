"""Data of requests: each data set loaded once, without the rows that a request leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from npbench.console import status
from npbench.data import BinaryData, load
from npbench.data.missing import without_missing
from npbench.errors import AbsentDataError, RequestError, collect_errors
from npbench.evaluation.job import Request


class Sources:
    """Data sets by request; ``absent`` holds the errors of those that were skipped."""

    def __init__(self) -> None:
        self.absent: dict[str, AbsentDataError] = {}
        self._whole: dict[str, BinaryData] = {}
        self._complete: dict[tuple[str, str], BinaryData] = {}

    def load(self, requests: Sequence[Request], *, skip_absent: bool) -> list[tuple[Request, BinaryData]]:
        """Return the requests with their data; leave out those with absent files if so asked, unless all are absent."""
        distinct = {(name_of(request), request.features["missing"]): request for request in requests}
        names = ", ".join(dict.fromkeys(request.dataset.name for request in distinct.values()))
        with status(f"Loading {names}"):
            collect_errors([partial(self._load, request, skip_absent) for request in distinct.values()])
        if self.absent and not self._complete:
            raise RequestError(*(fault for error in self.absent.values() for fault in error.faults))
        return [(request, self.data(request)) for request in requests if not self.skips(request)]

    def data(self, request: Request) -> BinaryData:
        """Return the data of a request."""
        name, missing = name_of(request), request.features["missing"]
        if name not in self._whole:
            self._whole[name] = load(request.dataset, **request.dataset_params)
        if (name, missing) not in self._complete:
            self._complete[name, missing] = without_missing(self._whole[name], missing)
        return self._complete[name, missing]

    def skips(self, request: Request) -> bool:
        """Return whether the data of a request are absent, and skipped."""
        return name_of(request) in self.absent

    def by_hash(self) -> dict[str, BinaryData]:
        """Return the data of all requests by content hash."""
        return {data.sha256: data for data in self._complete.values()}

    def _load(self, request: Request, skip_absent: bool) -> None:
        try:
            self.data(request)
        except AbsentDataError as error:
            if not skip_absent:
                raise
            self.absent[name_of(request)] = error


def name_of(request: Request) -> str:
    """Return what identifies a request's data before they are loaded."""
    return repr((request.dataset.name, sorted(request.dataset_params.items())))
