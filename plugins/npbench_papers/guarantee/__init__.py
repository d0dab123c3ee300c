"""Thresholds with a guarantee: how often they exceed their bound."""
