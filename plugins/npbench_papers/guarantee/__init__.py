"""How often thresholds exceed their bound, and NP-ROC bands."""
