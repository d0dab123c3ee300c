"""Asymmetric support vector machine: a margin between the classes and a core of the positives (Wu et al. 2008)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="asvm",
    estimator="npbench_asvm.estimator:AsymmetricSVM",
    solves=("pauc",),
    search={
        # factors of near 2, from few samples of each class to half of the rarer class
        "mu": ["geomspace", 0.005, 0.48, 8],
        "tau": ["geomspace", 0.005, 0.48, 8],
    },
    title="Asymmetric SVM, class margin and core of positives",
    reference="Wu, Lin, Chen, Chen (2008), KDD",
    tags=frozenset({"linear", "sparse", "convex"}),
)
