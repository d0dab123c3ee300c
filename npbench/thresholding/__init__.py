"""Bounds on false alarms for a model, or a column of scores, that already exists.

A practitioner reads nine modules, one subject each: ``classifier`` is the meta-estimator, ``ensemble`` the recommended
classifier in it, and ``multiclass`` its kin for several classes; ``rules`` sets thresholds, and ``threshold`` is what
they return; ``metrics`` and ``display`` measure and draw, ``monitoring`` tests a threshold on new samples, and
``compare`` compares two models. What a new module would do belongs in one of these, if it fits.
"""
