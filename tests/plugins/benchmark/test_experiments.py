"""The experiments of the benchmark compose into checked jobs."""

import pytest

from npbench.config.command_line import parse, requested

# Of the large ones two data sets, as each combination of solver and data set takes a tenth of a second to compose; the
# settings of magic name another protocol.
FEW = ["dataset=magic,ringnorm20_large"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "jobs"),
    [
        ("np_benchmark_small", [], 14 * 2 * (4 * 1 + 3 * 2 + 1 * 3)),
        ("np_benchmark", FEW, 27 * 2 * 5 * 3),
        ("np_svm_thresholds", [], 4 * 5 * (4 * 2 + 9 * 3)),
        ("pauc_benchmark", FEW, 6 * 2 * 5 * 3),
        ("pauc_benchmark_small", [], 4 * 2 * (4 * 1 + 3 * 2 + 1 * 3)),
    ],
)
def test_experiment_composes(name, words, jobs):
    found = requested(parse([f"+experiment={name}", *words]))
    distinct = {(str(request.columns()), repeat) for request in found.requests for repeat in range(request.repeats)}
    assert len(distinct) == jobs
    assert {request.columns()["protocol_params"] for request in found.requests} == {
        '{"folds":4,"name":"cv","test_size":0.5}'
    }
