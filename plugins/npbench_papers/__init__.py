"""Experiments of five papers: settings, tables and figures.

The YAML of an experiment names functions of ``records``, a frame of its records, and ``printed``, the paper's numbers
as rows of the case and its values; some papers only draw theirs. A table function returns sheets, a figure function a
Matplotlib figure. Each says what records it needs and what printed rows may hold.
"""
