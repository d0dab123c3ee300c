"""Outer-approximation splitting for the convex Neyman-Pearson problem (Barlaud, Combettes and Fillatre 2015)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="splitting",
    estimator="npbench_splitting.estimator:SplittingNP",
    solves=("np",),
    grid_search="npbench_splitting.selection:select",
    title="Outer-approximation splitting",
    reference="Barlaud, Combettes, Fillatre (2015), hal-01160831, algorithm 37",
    tags=frozenset({"linear", "convex", "sparse"}),
)
