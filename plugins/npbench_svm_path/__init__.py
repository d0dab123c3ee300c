"""The SVM path over cost asymmetry, with classifiers chosen along it (Bach, Heckerman and Horvitz 2006)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="svm_path",
    estimator="npbench_svm_path.estimator:SVMPath",
    solves=("cost", "np"),
    select="npbench_svm_path.selection:select",
    title="SVM path over cost asymmetry, with asymmetry and intercept chosen on held-out samples",
    reference="Bach, Heckerman, Horvitz (2006), JMLR 7",
    tags=frozenset({"kernel", "linear", "convex", "sparse", "stochastic"}),
)
