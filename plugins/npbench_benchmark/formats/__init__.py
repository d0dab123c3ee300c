"""Formats of the files of the benchmark, and a validator that needs nothing from npbench."""
