"""Bounds on false alarms for a model, or a column of scores, that already exists.

``classifier`` is the meta-estimator, ``rules`` sets thresholds, ``threshold`` is what they return, ``metrics`` and
``display`` measure and draw, ``monitoring`` tests a threshold on new samples, and ``compare`` compares two models.
"""
