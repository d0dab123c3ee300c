"""Metrics of scores and decisions, with confidence limits and as scikit-learn scorers."""

from npbench.thresholding.metrics import fpr_at_tpr, np_score, partial_auc, scorer, tpr_at_fpr

__all__ = ["fpr_at_tpr", "np_score", "partial_auc", "scorer", "tpr_at_fpr"]
