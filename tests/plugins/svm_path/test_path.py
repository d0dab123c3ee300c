"""Paths of the SVM: optimality at and between breakpoints, a conic solver, closed forms, LIBSVM."""

import contextlib

import cvxpy
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

import npbench
from class_samples import mixed as sample
from feature_kinds import KINDS, two_classes
from npbench_svm_path.numerics.path import CostPath

KERNELS = {f"rbf {gamma:g}": gamma for gamma in (20.0, 0.5, 1e-4)} | {"linear": None, "poly": None}
FEATURES = [kind for kind in KINDS if kind not in ("zero feature", "badly scaled")]
LARGEST_SCALE = 1e11  # costs times kernel values; beyond, many breakpoints differ only in the last digits of the costs


def gram(X, kernel):
    if kernel == "linear":
        return X @ X.T
    if kernel == "poly":
        return (1.0 + X @ X.T / X.shape[1]) ** 2
    K = np.exp(-KERNELS[kernel] * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    return (K + K.T) / 2


def errors(K, y, solution):
    """Return the errors in the conditions of optimality: of margins, and of box and balance in units of the costs."""
    alpha, b, *costs = solution
    x = y * alpha
    beyond = y * (K @ x + b) - 1
    caps = np.where(y > 0, *costs)
    near, most = 1e-9 * caps.max(), max(caps.max(), 1e-300)
    margins = max(np.max(-beyond[alpha < caps - near], initial=0), np.max(beyond[alpha > near], initial=0))
    return margins, max(np.max(-alpha), np.max(alpha - caps), abs(x.sum())) / most


def some_costs(line, most=80):
    ends = line.costs
    costs = np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1]), 0.9 * ends[1:] + 0.1 * ends[:-1]])
    return costs[np.random.default_rng(0).permutation(len(costs))[:most]]


def assert_optimal(line, K, y, most=80, tolerance=1e-8):
    for costs in some_costs(line, most):
        margins, box = errors(K, y, line.at(*costs))
        assert margins <= tolerance * max(1.0, 1e-2 * line.total * np.abs(K).max())
        assert box <= 1e-9


def conic(K, y, C_pos, C_neg):
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    w, b = cvxpy.Variable(len(y)), cvxpy.Variable()
    hinge = cvxpy.pos(1 - cvxpy.multiply(y, root @ w + b))
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + np.where(y > 0, C_pos, C_neg) @ hinge))
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    slack = np.maximum(0.0, 1 - y * (root @ w.value + b.value))
    return 0.5 * w.value @ w.value + np.where(y > 0, C_pos, C_neg) @ slack


def objective(K, y, solution):
    alpha, b, *costs = solution
    x = y * alpha
    return 0.5 * x @ K @ x + np.where(y > 0, *costs) @ np.maximum(0.0, 1 - y * (K @ x + b))


@st.composite
def problems(draw):
    """Return features, a Gram matrix, the name of its kernel, and labels."""
    X, y = draw(two_classes(FEATURES))
    kernel = draw(st.sampled_from(list(KERNELS)))
    return X, gram(X, kernel), kernel, y


totals = st.sampled_from([1e-3, 0.1, 2.0, 20.0, 200.0])


@given(problems(), totals)
def test_classifiers_of_a_line_are_optimal_despite_ties(problem, total):
    X, K, kernel, y = problem
    assume(total * np.abs(K).max() <= LARGEST_SCALE)
    path = CostPath.linear(X, y) if kernel == "linear" else CostPath(K, y)
    line = path.line(total)
    np.testing.assert_allclose(line.costs.sum(axis=1), total)
    assert np.all(np.diff(line.costs[:, 0]) >= 0)
    np.testing.assert_allclose(line.costs[[0, -1]], [[0, total], [total, 0]], atol=1e-12 * total)
    assert_optimal(line, K, y)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # its objective is then larger
@given(problems(), st.sampled_from([0.1, 2.0, 20.0]), st.floats(0.01, 0.99))
def test_conic_solver_finds_no_smaller_objective(problem, total, share):
    _, K, _, y = problem
    assume(total * np.abs(K).max() <= LARGEST_SCALE)
    line = CostPath(K, y).line(total)
    solution = line.at(share * total, (1 - share) * total)
    theirs = conic(K, y, share * total, (1 - share) * total)
    slack = line.samples.ridge * np.sum(solution.alpha)  # effect of the ridge on all margins
    assert objective(K, y, solution) <= theirs * (1 + 1e-7) + total * (1e-8 + slack)


costs = st.tuples(*[st.sampled_from([0.01, 0.3, 0.5, 2.0, 10.0])] * 2)
ends = st.one_of(costs, st.sampled_from([(0.0, 3.0), (3.0, 0.0)]))


@given(problems(), costs, ends, st.booleans())
def test_classifiers_of_a_segment_are_optimal(problem, start, end, is_ray):
    X, K, kernel, y = problem
    end = tuple(30 * np.array(start)) if is_ray else end
    assume(start != end and 300 * np.abs(K).max() <= LARGEST_SCALE)
    line = (CostPath.linear(X, y) if kernel == "linear" else CostPath(K, y)).segment(start, end)
    np.testing.assert_allclose(line.costs[[0, -1]], [start, end], atol=1e-12)
    assert_optimal(line, K, y, most=40)


@pytest.mark.parametrize(
    ("start", "end"),
    [((0, 1), (1, 1)), ((1, 1), (1, 1)), ((1, 1), (0, 0)), ((1, 1), (1, np.inf)), ((1, 1), (1, np.nan))],
)
def test_invalid_segments_raise(start, end):
    with pytest.raises(ValueError, match="no segment from"):
        CostPath.linear(*sample(5, 5)).segment(start, end)


@pytest.mark.parametrize("shift", [0.0, 1.0, 6.0])
@pytest.mark.parametrize("d", [2, 60])  # in 60 dimensions the classes are separable
@pytest.mark.parametrize("total", [2.0, 1e4])
def test_duality_gap_is_small_for_large_costs(shift, d, total):
    X, y = sample(10, 40, d, shift)
    K = X @ X.T
    line = CostPath.linear(X, y).line(total)
    for share in np.linspace(0.01, 0.99, 41):
        solution = line.at(share * total, (1 - share) * total)
        primal, x = objective(K, y, solution), y * solution.alpha
        assert primal - (solution.alpha.sum() - 0.5 * x @ K @ x) <= 1e-8 * primal


@pytest.mark.parametrize("n_pos", [5, 20, 40])
def test_entry_matches_the_closed_form(n_pos):
    X, y = sample(n_pos, 20, seed=n_pos)
    K = gram(X, "rbf 0.5")
    signed = y[:, None] * K * y  # section 3.1, with the matrix of the paper
    of_entry = signed @ (y > 0) + n_pos / 20 * (signed @ (y < 0))
    C_pos = 2 / (of_entry[y > 0].max() + of_entry[y < 0].max())
    entry = CostPath(K, y).entry(10.0)
    assert entry.costs[1, 0] == pytest.approx(C_pos, rel=5e-9)
    np.testing.assert_allclose(entry.costs @ [n_pos, -20], 0.0, atol=1e-9)
    before = entry.at(0.99 * C_pos, 0.99 * C_pos * n_pos / 20)
    np.testing.assert_array_equal(before.alpha, np.where(y > 0, before.C_pos, before.C_neg))
    assert_optimal(entry, K, y)


def test_equal_class_means_never_open_the_margin():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    entry = CostPath(X @ X.T, y).entry(50.0)
    assert len(entry.costs) == 2
    assert_optimal(entry, X @ X.T, y)
    assert_optimal(CostPath(X @ X.T, y).line(50.0), X @ X.T, y)


def test_b_moves_to_one_end_of_its_interval_off_the_entry_line():
    X, y = sample(10, 10)
    line = CostPath(gram(X, "rbf 0.5"), y).line(0.05)  # below the opening
    below, at, above = (line.at(0.025 + shift, 0.025 - shift).b for shift in (-1e-9, 0.0, 1e-9))
    assert below < at - 0.5 < above - 0.5  # b decreases where misses cost less


@given(problems(), totals)
def test_only_b_jumps_and_only_without_free_samples(problem, total):
    _, K, _, y = problem
    assume(total * np.abs(K).max() <= LARGEST_SCALE)
    unique = np.linalg.eigvalsh(K)[0] > 1e-6 * np.abs(K).max()  # else rounding decides between duplicates
    line = CostPath(K, y).line(total)
    excess = line.samples.margins.max() - 1
    for stretch in line.stretches:
        for end, start in zip(stretch.breakpoints[1:-1], stretch.spans[1:], strict=True):
            before, after = (stretch.solution(end + way * 1e-12 * stretch.length, y) for way in (-1, 1))
            change = y * (after.alpha - before.alpha)
            assert not unique or np.abs(change).max() <= 1e-4 * total
            # Each duality gap is at most excess sum(alpha), and ||w - w*||^2 at most twice the gap.
            sums = np.sqrt(before.alpha.sum()) + np.sqrt(after.alpha.sum())
            assert change @ K @ change <= 2 * excess * sums**2 + 1e-14 * (1 + total * np.abs(K).max()) ** 2
            if abs(before.b - after.b) > 1e-6 * (1 + total * np.abs(K).max()):
                assert start[0] == 1


def test_weights_vanish_where_one_class_has_no_cost():
    X, y = sample(30, 20)
    line = CostPath.linear(X, y).line(2.0)
    np.testing.assert_allclose(line.weights(line.costs[[0, -1]]), 0.0, atol=1e-12)
    np.testing.assert_allclose([line.at(*costs).b for costs in line.costs[[0, -1]]], [-1, 1])


@given(problems(), st.integers(0, 100))
def test_scores_along_the_line_match_each_classifier(problem, seed):
    X, K, kernel, y = problem
    assume(2.0 * np.abs(K).max() <= LARGEST_SCALE)
    line = CostPath.linear(X, y).line(2.0) if kernel == "linear" else CostPath(K, y).line(2.0)
    costs = np.random.default_rng(seed).permutation(some_costs(line, 12))
    scores = line.scores(X if kernel == "linear" else K, costs)
    for one, (C_pos, C_neg) in zip(scores, costs, strict=True):
        alpha, b, *_ = line.at(C_pos, C_neg)
        np.testing.assert_allclose(one, K @ (y * alpha) + b, atol=1e-9 * (1 + np.abs(K).max()))
    assert line.scores(K[:3] if kernel != "linear" else X[:3]).shape == (len(line.costs), min(3, len(y)))


def test_lines_do_not_depend_on_the_order_of_their_sums():
    X, y = sample(40, 25)
    path = CostPath.linear(X, y)
    asked = [2.0, 0.02, 200.0, 2.0]
    for total, line in zip(asked, path.lines(asked), strict=True):
        costs = total * np.column_stack([np.linspace(0.05, 0.95, 7), np.linspace(0.95, 0.05, 7)])
        np.testing.assert_allclose(line.scores(X, costs), path.line(total).scores(X, costs), atol=1e-7)


def test_more_samples_on_the_margin_than_features():
    grid = np.array([(i, j) for i in range(-3, 4) for j in range(-3, 4)], dtype=float)
    y = np.where(grid[:, 0] + np.sin(grid[:, 1] * 9) > 0, 1.0, -1.0)
    X = np.vstack([grid, grid])
    y = np.concatenate([y, np.where(np.arange(len(y)) % 5, y, -y)])
    path, K = CostPath.linear(X, y), X @ X.T
    for total in (0.2, 2.0, 200.0):
        line = path.line(total)
        assert_optimal(line, K, y, most=300)
        tied = [np.sum(np.abs(y * score - 1) < 1e-8) for score in line.scores(X, some_costs(line))]
        assert max(tied) > 6


# The largest take most of the seconds.
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("pima", "breast_w")]
LONG = [pytest.param(name, marks=[pytest.mark.slow, pytest.mark.long]) for name in ("spambase", "adult_sample")]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["ionosphere", "vehicle", "liver", "dermatology", *SLOW, *LONG])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_real_data(raw_dataset, name, kernel):
    data = npbench.load_dataset(raw_dataset(name).name)
    X = np.nan_to_num(data.X.toarray() if hasattr(data.X, "toarray") else data.X)
    rows = np.random.default_rng(0).permutation(len(X))[:2000]
    X, y = StandardScaler().fit_transform(X[rows]), data.y[rows].astype(float)
    K = X @ X.T
    if kernel == "rbf":
        K = np.exp((2 * K - K.diagonal()[:, None] - K.diagonal()) / X.shape[1])
    path = CostPath.linear(X, y) if kernel == "linear" else CostPath(K, y)
    for line in path.lines([0.02, 2.0, 200.0 if len(y) < 2000 else 20.0]):
        assert_optimal(line, K, y, most=60)


def test_invalid_costs_and_samples_raise():
    X, y = sample(5, 5)
    line = CostPath.linear(X, y).line(2.0)
    with pytest.raises(ValueError, match=r"C_pos = 1, C_neg = 2 is not on this line"):
        line.at(1.0, 2.0)
    with pytest.raises(ValueError, match="C_pos \\+ C_neg is -1"):
        CostPath.linear(X, y).lines([2.0, -1])
    with pytest.raises(ValueError, match="Gram matrix"):
        CostPath(X @ X.T, y).line(2.0).weights()
    for new in (X[0], X[:, :1]):
        with pytest.raises(ValueError, match="row of 2 features"):
            line.scores(new)
    with pytest.raises(ValueError, match="row of 10 kernel values"):
        CostPath(X @ X.T, y).line(2.0).scores(X)
    np.testing.assert_array_equal(line.scores(X, (1.5, 0.5)), line.scores(X, [[1.5, 0.5]]))


def test_stalled_line_is_followed_again_or_raises(monkeypatch):
    from npbench_svm_path.numerics import path as module

    X, y = sample(10, 10)
    follow, calls = module.kernels.follow, []

    def stalls_at_first(*arguments):
        calls.append(arguments)
        return module.kernels.STALLED if len(calls) < 3 else follow(*arguments)

    monkeypatch.setattr(module.kernels, "follow", stalls_at_first)
    line = CostPath.linear(X, y).line(2.0)
    assert line.samples.ridge > 5e-13 * np.mean(np.sum(X**2, axis=1))
    assert_optimal(line, X @ X.T, y, tolerance=3e-8)
    monkeypatch.setattr(module.kernels, "follow", lambda *_: module.kernels.STALLED)
    with pytest.raises(ArithmeticError, match="Scale the features"):
        CostPath.linear(X, y).line(2.0)


@given(problems(), st.sampled_from([1e6, 1e12, 1e18]))
def test_huge_kernel_values_give_finite_results_or_raise(problem, scale):
    X, _, _, y = problem
    with contextlib.suppress(ArithmeticError):
        line = CostPath.linear(X * np.sqrt(scale), y).line(2.0)
        assert all(np.isfinite(line.at(*costs).b) for costs in line.costs)


def test_read_only_arrays_compile_no_further_kernels():
    from npbench_svm_path.numerics import path_kernels

    X, y = sample(10, 10)
    K = X @ X.T
    expected = CostPath(K, y).line(2.0).costs
    compiled = len(path_kernels.follow.signatures)
    K.setflags(write=False)
    y.setflags(write=False)
    np.testing.assert_array_equal(CostPath(K, y).line(2.0).costs, expected)
    assert len(path_kernels.follow.signatures) == compiled
