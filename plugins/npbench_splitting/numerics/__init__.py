"""Outer-approximation splitting: losses, constraint sets, projections and the iteration."""
