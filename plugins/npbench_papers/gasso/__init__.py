"""Gasso, Pappaioannou, Spivak and Bottou (2011): Batch and online learning algorithms for NP classification."""
