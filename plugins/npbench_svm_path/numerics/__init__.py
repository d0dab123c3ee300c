"""The SVM path over cost asymmetry, and ROC points of its classifiers."""
