"""What several methods share: arrays in, arrays out; no estimators and nothing of npbench but numerics."""
