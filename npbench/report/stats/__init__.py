"""Tests and intervals for paired results."""
