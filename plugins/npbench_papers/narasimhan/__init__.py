"""Narasimhan and Agarwal (2016): Support vector algorithms for optimizing the partial area under the ROC curve."""
