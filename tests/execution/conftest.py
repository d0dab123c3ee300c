"""Fixtures of executors."""

from stored_runs import data, stored  # noqa: F401
