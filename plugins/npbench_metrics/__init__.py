"""Shipped metrics."""
