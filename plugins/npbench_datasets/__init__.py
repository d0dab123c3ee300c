"""Shipped datasets."""
