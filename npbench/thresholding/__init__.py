"""Bounds on false alarms for a model, or a column of scores, that already exists.

``classifier`` is the meta-estimator, ``rules`` sets thresholds, ``promise`` is the threshold they return, ``metrics``
and ``display`` measure and draw, and ``monitoring`` tests a threshold on new samples. ``columns`` checks their inputs.
"""
