"""Data of requests, each data set loaded once."""

from __future__ import annotations

from npbench.data import BinaryData, load
from npbench.data.missing import without_missing
from npbench.evaluation.request import Request
from npbench.values import canonical


class Sources:
    """Data sets by request, without the rows that the request leaves out."""

    def __init__(self) -> None:
        self._loaded: dict[str, BinaryData] = {}

    def data(self, request: Request) -> BinaryData:
        """Return the data of a request."""
        missing = request.features["missing"]
        name = canonical([request.dataset.name, request.dataset_params, missing])
        if name not in self._loaded:
            self._loaded[name] = without_missing(load(request.dataset, **request.dataset_params), missing)
        return self._loaded[name]
