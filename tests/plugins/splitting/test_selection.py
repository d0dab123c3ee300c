"""The search over tau for outer-approximation splitting, and its runs from the command line."""

import json

import numpy as np
import pytest

from npbench.evaluation.selection import grid_search
from npbench.problem import NeymanPearson
from npbench.records.store import RecordStore
from npbench_splitting import selection
from npbench_splitting.estimator import SplittingNP

RANDOM = np.random.default_rng(2)
Y = np.repeat([1, -1], [70, 50])
X = RANDOM.normal(size=(120, 3)) + 0.6 * Y[:, None]
ROWS = RANDOM.permutation(120)
FOLDS = [(np.setdiff1d(ROWS, part), part) for part in np.array_split(ROWS, 3)]
PROBLEM = NeymanPearson(0.1)


def make(**params):
    return SplittingNP(rho=0.1, **params)


def test_the_choice_is_that_of_independent_fits():
    search = {"loss": ["matsusita", "logistic"], "tau": [0.3, 0.05]}
    ours = selection.select(make, X, Y, FOLDS, PROBLEM, search)
    theirs = grid_search(make, X, Y, FOLDS, PROBLEM, search)
    assert ours.losses == pytest.approx(theirs.losses)
    assert (ours.params, ours.n_candidates, ours.n_unconverged) == (theirs.params, 4, 0)
    assert len(set(ours.losses)) > 2
    unfinished = selection.select(make, X, Y, FOLDS, PROBLEM, {"tau": [0.1, 0.3], "max_iter": [1]})  # without a warning
    assert unfinished.n_unconverged == 6
    search = {"max_norm": [0.1, 1.0]}  # without tau, the ordinary search
    assert selection.select(make, X, Y, FOLDS, PROBLEM, search) == grid_search(make, X, Y, FOLDS, PROBLEM, search)
    assert np.isnan(selection.select(make, X, Y, FOLDS, PROBLEM, {}).loss)


def stored():
    (record,) = RecordStore("results/records").frame().to_dicts()
    return record


SMALL = ("dataset.n_pos=60", "dataset.n_neg=40", "dataset.n_features=5", "execution.n_jobs=1", "repeats=1")


def test_command_line_measures_stages(npbench):
    asked = ("solver=splitting", "dataset=negative_binomial", *SMALL, "solver.keep=iterates", "execution.trace=true")
    assert npbench(*asked)[0] == 0
    record = stored()
    assert (record["status"], record["converged"], record["chosen_params"]) == ("ok", True, "{}")
    trace = json.loads(record["trace"])
    assert len(trace["iteration"]) == record["n_iter"] + 1
    np.testing.assert_allclose(trace["train_risk_fa"], trace["surrogate_p_fa"], atol=1e-9)
    np.testing.assert_allclose(trace["train_risk_nd"], trace["objective"], atol=1e-9)
    assert trace["train_p_fa"] == pytest.approx(trace["p_fa"])
    assert trace["test_risk_fa"][-1] == record["risk_fa"]
    assert trace["test_p_nd"][-1] == record["p_nd"]


def test_the_radius_of_the_ball_is_selected(npbench):
    assert npbench("solver=splitting_ball", "dataset=negative_binomial", *SMALL)[0] == 0
    record = stored()
    assert 0.1 <= json.loads(record["chosen_params"])["max_norm"] <= 30
    assert record["n_candidates"] == 6


def counts_of_tumours(path, n_tumours=44, n_normal=36, n_genes=30):
    """Write a table as the loader of TCGA reads it: genes in rows, samples under their barcodes."""
    expressed = RANDOM.uniform(50, 500, n_genes)
    changed = expressed * np.where(np.arange(n_genes) < 10, 3.0, 1.0)
    lines = ["gene\t" + "\t".join(f"TCGA-{k:02d}-0000-{'01A' if k < n_tumours else '11A'}" for k in range(80))]
    samples = [RANDOM.poisson(changed if k < n_tumours else expressed) for k in range(n_tumours + n_normal)]
    lines += [f"G{gene}\t" + "\t".join(str(sample[gene]) for sample in samples) for gene in range(n_genes)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.slow  # a whole experiment; tests/commands/test_run.py skips absent data
def test_tumour_counts_are_read_or_requested(tmp_path, npbench, monkeypatch):
    monkeypatch.setenv("NPBENCH_DATA", "")
    counts_of_tumours(tmp_path / "lung.tsv")
    known = ("+experiment=barlaud_figures8_10", "dataset.path=lung.tsv", "solver.n_features_to_select=5")
    code, printed, errors = npbench(*known)
    assert code == 0, errors
    assert "tcga, rho=0.1, with momentum" in printed
    for record in RecordStore("results/records").frame().to_dicts():
        assert json.loads(record["params"])["n_features_to_select"] == 5
        assert json.loads(record["trace"])["test_p_fa"][-1] <= 0.1
    code, _, errors = npbench("+experiment=barlaud_figures8_10", "dataset.path=nowhere.tsv")
    assert code == 2
    assert "counts.tsv" in errors
