"""Base classes and shared parts of estimators, for the plugins of npbench and anyone else's."""
