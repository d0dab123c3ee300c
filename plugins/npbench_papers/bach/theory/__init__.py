"""Classifiers trained on densities at any asymmetry of costs, which need no records."""
