"""Stochastic Neyman-Pearson for a small network (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 4)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="sgd_nn",
    estimator="npbench_sgd_nn.estimator:StochasticNPNetwork",
    solves=("np",),
    search={"lambda_c": [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02]},
    title="Stochastic NP, one hidden layer",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 4",
    tags=frozenset({"stochastic"}),
)
