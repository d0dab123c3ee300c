"""One rule from labels to two classes, for data sets, classifiers, thresholds and monitoring."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from npbench.data.wording import DATASET, KEYWORDS, OPTIONS, Settings
from npbench.errors import RequestError
from npbench.values import counted, listed

REST = "rest"  # the negative label, for all that are not positive
NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,14})(\.\d+)?")  # no codes such as 007, which differ from 7
TRUTH = {"false": "0", "true": "1"}
MAX_CHOICES = 3
USUAL = ({"0", "1"}, {"-1", "1"})


class Classes(NamedTuple):
    """Labels of the two classes: one, a list of several, or None if unknown."""

    positive: Any
    negative: Any


def spelled(value: Any) -> str:
    """Return a label as users type it: 1.0 as 1, booleans in lower case, and bytes as text."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    return text.lower() if text.lower() in TRUTH else text


def meaning(value: Any) -> str:
    """Return a text that labels of one meaning share: 1, 1.0, "1", "1.0", True and "true".

    >>> [meaning(value) for value in (1.0, "1", True, b"1", "007", "yes")]
    ['1', '1', '1', '1', '007', 'yes']
    """
    text = spelled(value).strip()
    text = TRUTH.get(text, text)
    return spelled(float(text)) if NUMBER.fullmatch(text) else text


class Labels:
    """A column of labels, as distinct labels in order and the place of each row's label among them.

    The column is an array, a list, or a series of pandas, Polars or Arrow; ``rows`` counts the rows of each element.
    ``values`` holds the distinct labels, Python numbers and booleans before words, in the first of their spellings;
    ``codes`` has the place in ``values`` of each row's label, -1 if it is missing; ``n_missing`` and ``counts`` are the
    numbers of rows without a label, and of each label.
    """

    def __init__(self, column: Any, name: str = "y", rows: Any = None) -> None:
        if np.ma.is_masked(column):
            raise RequestError(f"{name} has masked values: leave these samples out.")
        array = np.asarray(column)
        array = array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array
        if array.ndim != 1:
            raise RequestError(f"{name} has shape {array.shape}: expected a label for each sample.")
        found, codes = _distinct(array, name)
        plain = [_plain(value) for value in found]
        first: dict[str, Any] = {}
        for value in sorted((one for one in plain if one is not None), key=lambda one: (isinstance(one, str), one)):
            first.setdefault(meaning(value), value)
        self.values = list(first.values())
        self._places = {one: place for place, one in enumerate(first)}
        places = [-1 if value is None else self._places[meaning(value)] for value in plain]
        self.codes = np.array(places, dtype=np.int64)[codes] if places else np.empty(0, dtype=np.int64)
        self.n_missing, *self.counts = np.bincount(self.codes + 1, rows, len(self.values) + 1).astype(int).tolist()

    def __len__(self) -> int:
        return self.n_missing + sum(self.counts)

    def array(self) -> np.ndarray:
        """Return the labels as an array of booleans, numbers or words, of one spelling each."""
        return np.array(self.values)[self.codes]

    def shown(self, places: Iterable[int] | None = None) -> str:
        """Return labels with their numbers of rows, for errors."""
        places = range(len(self.values)) if places is None else places
        return listed(f"{spelled(self.values[place])!r} ({counted(self.counts[place])})" for place in places)

    def find(self, wanted: Any) -> int | None:
        """Return the place of a label in any spelling; capitals matter only where they tell labels apart."""
        if (place := self._places.get(meaning(wanted))) is not None:
            return place
        alike = [place for one, place in self._places.items() if one.lower() == meaning(wanted).lower()]
        return alike[0] if len(alike) == 1 else None


def _distinct(array: np.ndarray, name: str) -> tuple[Sequence[Any], np.ndarray]:
    """Return the distinct values of an array, and the place of each element's value among them."""
    if array.dtype.kind == "M":
        array = array.astype("datetime64[D]")
    if array.dtype.kind in "biuf":
        values, codes = np.unique(array, return_inverse=True)
        return values.tolist(), codes
    index: dict[Any, int] = {}
    try:
        codes = np.fromiter((index.setdefault(one, len(index)) for one in array.tolist()), np.int64, len(array))
    except TypeError as error:
        raise RequestError(f"{name} holds values that are not labels, such as lists.") from error
    return list(index), codes


def _plain(value: Any) -> Any:
    """Return a label as a boolean, a number or a word, a time as its day; None if it is missing."""
    # NaN and NaT alone differ from themselves; pandas.NA refuses to be compared.
    if value is None or type(value).__name__ == "NAType" or value != value:  # noqa: PLR0124
        return None
    value = value.item() if hasattr(value, "item") else value
    value = value.date() if isinstance(value, datetime) else value
    return value if isinstance(value, (bool, int, float, str)) else spelled(value)


def classes(
    column: Any,
    positive: Any = None,
    negative: Any = None,
    *,
    name: str = "y",
    settings: Settings = KEYWORDS,
    drop_missing: bool = False,
) -> tuple[np.ndarray, Classes]:
    """Return +1, -1 or 0 for the label of each row, and the labels of the two classes.

    Parameters
    ----------
    column : Labels or array-like of shape (n_samples,)
        The labels.
    positive, negative : value or list of values, optional
        Labels of +1 and -1, in any spelling; rows of others get 0. By default 1 is positive, if labels are 0 and 1, -1
        and 1, or false and true. Without ``negative`` there must be two labels; ``rest`` is all that are not positive.
    name : str
        Name of the column in errors.
    settings : Settings
        How errors spell the settings. One class may be absent, except in a data set.
    drop_missing : bool
        Whether rows without a label get 0; otherwise they are an error.

    Examples
    --------
    >>> classes([1, 2, 3], positive=3, negative=1)
    (array([-1,  0,  1], dtype=int8), Classes(positive=3, negative=1))
    >>> classes(["true"], positive=1, negative=0)
    (array([1], dtype=int8), Classes(positive='true', negative=0))
    """
    labels = _as_labels(column, name) if drop_missing else complete(column, name, settings)
    if settings is DATASET and len(labels.values) < 2:
        shown = labels.shown()
        raise RequestError(f"every row has the label {shown}: expected two classes." if shown else "there are no rows.")
    if settings is KEYWORDS and negative is None and len(labels.values) > 2:
        chosen = labels.values[-1 if (place := labels.find(positive)) is None else place]
        fault = f"{name} has {len(labels.values)} labels, {labels.shown()}"
        hint = f"pass {name} == {chosen!r}, so that all others are negative"
        raise RequestError(f"Only binary classification is supported, and {fault}: {hint}.")
    plus = _positive(labels, positive, negative, settings)
    minus = _negative(labels, plus, negative, settings)
    if overlap := [spelled(labels.values[place]) for place in minus if place in plus]:
        shown = listed(map(repr, overlap))
        raise RequestError(f"{settings('positive')} and {settings('negative')} both name {shown}: choose one.")
    one = _single(labels, plus, 1 if positive is None else positive)
    other = _single(labels, minus, None if negative == REST else negative)
    of_label = np.zeros(len(labels.values) + 1, dtype=np.int8)  # the last is for missing labels, whose code is -1
    of_label[plus], of_label[minus] = 1, -1
    return of_label[labels.codes], Classes(one, other)


def complete(column: Any, name: str = "y", settings: Settings = KEYWORDS) -> Labels:
    """Return a column of labels; raise RequestError if some are missing."""
    labels = _as_labels(column, name)
    if labels.n_missing:
        hint = "add them, or remove the rows"
        if settings is OPTIONS:
            hint += f" with {settings('unlabelled', 'drop')}"
        raise RequestError(f"{name} has {labels.n_missing} missing of {len(labels)}: {hint}.")
    return labels


def _as_labels(column: Any, name: str) -> Labels:
    return column if isinstance(column, Labels) else Labels(column, name)


def _positive(labels: Labels, positive: Any, negative: Any, settings: Settings) -> list[int]:
    there, both = {meaning(value) for value in labels.values}, settings is DATASET
    if positive is None and not any(there == pair if both else there <= pair for pair in USUAL):
        word = repr if settings is KEYWORDS else spelled
        choices = " or ".join(settings("positive", word(value)) for value in labels.values[:MAX_CHOICES])
        raise RequestError(f"{settings('positive')} has no value: set {choices}. There are {labels.shown()}.")
    # Negatives alone do not show the positive label; two unknown labels are likely spelled differently.
    may_lack = not both and (len(labels.values) < 2 or positive is None or negative is not None)
    return _named(labels, "positive", 1 if positive is None else positive, settings, may_lack)


def _negative(labels: Labels, plus: list[int], negative: Any, settings: Settings) -> list[int]:
    others = [place for place in range(len(labels.values)) if place not in plus]
    both = settings is DATASET
    if both and not others:
        raise RequestError(f"{settings('positive')} names every label, {labels.shown()}: leave one for -1.")
    if negative is None and len(others) > 1:
        one, rest = settings("negative"), settings("negative", REST)
        hint = f"name those of -1 in {one}, which leaves out all others, or set {rest} for all that are not positive"
        raise RequestError(f"there are {len(labels.values)} labels, {labels.shown()}: {hint}.")
    if negative is None or (negative == REST and labels.find(REST) is None):
        return others
    return _named(labels, "negative", negative, settings, may_lack=not both)


def _named(labels: Labels, setting: str, wanted: Any, settings: Settings, may_lack: bool) -> list[int]:
    """Return the places of labels that a setting names, in any spelling."""
    places = {spelled(one): labels.find(one) for one in (wanted if isinstance(wanted, list) else [wanted])}
    if (unknown := [one for one, place in places.items() if place is None]) and not may_lack:
        named = listed(map(repr, unknown))
        raise RequestError(f"{settings(setting)} is {named}, which no row has. There are {labels.shown()}.")
    return [place for place in places.values() if place is not None]


def _single(labels: Labels, places: list[int], otherwise: Any) -> Any:
    """Return the labels of a class: one, a list of several, or what was asked for if none occurs."""
    found = [labels.values[place] for place in places]
    return found[0] if len(found) == 1 else found or otherwise
