"""Stochastic q-value search with a small network (Gasso, Pappaioannou, Spivak and Bottou 2011, section 4)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="q_nn",
    estimator="npbench_q_nn.estimator:QValueNetwork",
    solves=("qvalue",),
    search={"lambda_c": [0.0003, 0.001, 0.003, 0.01], "warm_up": [0, 1]},
    title="Stochastic q-value search, one hidden layer",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), section 4",
    tags=frozenset({"stochastic"}),
)
