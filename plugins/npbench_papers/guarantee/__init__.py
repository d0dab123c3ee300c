"""Thresholds with a guarantee: how often they exceed their bound, and NP-ROC bands."""
