"""Settings of Hydra, and those that its sweepers choose."""

from npbench_hydra.settings import lines_of_trials


def test_each_value_that_a_sweeper_may_choose_is_in_a_line():
    line = ["solver.C=tag(log,interval(0.1,2))", "solver=np_svm,uzawa", "seed=1,2,3", "dataset=[", "repeats=2"]
    ends = ["dataset=[", "repeats=2"]
    assert lines_of_trials(None, line) == [
        ["solver.C=0.1", "solver=np_svm", "seed=1", *ends],
        ["solver.C=2.0", "solver=np_svm", "seed=1", *ends],
        ["solver.C=0.1", "solver=uzawa", "seed=1", *ends],
        ["solver.C=0.1", "solver=np_svm", "seed=2", *ends],
        ["solver.C=0.1", "solver=np_svm", "seed=3", *ends],
    ]
