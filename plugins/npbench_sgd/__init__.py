"""Stochastic Neyman-Pearson classification (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 4), linear."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="sgd",
    estimator="npbench_sgd.estimator:StochasticNP",
    solves=("np",),
    search={"lambda_c": [1e-05, 0.0001, 0.0005, 0.001, 0.005, 0.01], "tau": [1, 10, 100]},
    title="Stochastic NP, linear",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 4",
    tags=frozenset({"linear", "sparse", "stochastic"}),
)
