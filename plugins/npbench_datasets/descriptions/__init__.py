"""Descriptions of the data sets, by origin, without imports of their loaders."""
