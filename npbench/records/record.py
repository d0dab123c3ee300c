"""Record type: one row that can always be stored."""

from collections.abc import Mapping
from typing import Any

from npbench.records.fields import Role, names

TEST_SCORES = "test_scores"  # bytes on their way to the store, which writes them to a file of their own

FREE_TEXT = frozenset(names(Role.TEXT))
MAX_TEXT = 100_000  # characters of free text
MAX_INT = 2**63 - 1

Primitive = str | int | float | bool | None


class Record(dict[str, Primitive]):
    """One row: primitives by column, in a form that can always be stored.

    Text that UTF-8 cannot encode is escaped, free text longer than :data:`MAX_TEXT` is cut, and integers beyond 64 bits
    become the nearest within. ``key`` and ``status`` are required; a value that is not a primitive raises TypeError.
    """

    def __init__(self, columns: Mapping[str, Primitive]) -> None:
        super().__init__({name: _storable(name, value) for name, value in columns.items()})
        if missing := [name for name in ("key", "status") if not isinstance(self.get(name), str)]:
            raise TypeError(f"a record needs text in {' and '.join(missing)}")

    @property
    def key(self) -> str:
        """Identity of the job."""
        return str(self["key"])

    @property
    def status(self) -> str:
        """Outcome: ok, failed, timeout, out_of_memory or crashed."""
        return str(self["status"])


def _storable(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if name in FREE_TEXT and len(value) > MAX_TEXT:
            value = f"{value[:MAX_TEXT]} [{len(value) - MAX_TEXT} more characters]"
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, (bool, float)) or name == TEST_SCORES:
        return value
    if isinstance(value, int):
        return max(-MAX_INT - 1, min(value, MAX_INT))
    raise TypeError(f"column {name!r} holds {value!r}, expected text, a number, a bool or None")
