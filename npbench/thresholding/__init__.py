"""Bounds on false alarms for a model, or a column of scores, that already exists."""
