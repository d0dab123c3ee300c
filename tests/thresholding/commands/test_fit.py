"""`npbench fit` and `npbench.from_record`: from stored records to a saved model that keeps its bound."""

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import npbench
from npbench.config.files import settings_of
from npbench.errors import Exit, RequestError
from npbench.numerics.thresholds import RULES
from npbench.thresholding.commands import fit

QUICK = ["solver=logistic_regression", "solver.params.C=1", "problem.rho=0.1"]


@pytest.fixture(autouse=True)
def _table(_own_folder):
    random = np.random.default_rng(0)
    y = random.random(900) < 0.4
    columns = {"a": random.normal(size=900) + 2 * y, "b": random.normal(size=900), "label": y.astype(int)}
    pl.DataFrame(columns).write_csv("table.csv")


OWN = ["dataset=file", "dataset.path=table.csv", "dataset.label=label"]


def fitted(*words, file="model.pkl"):
    assert fit.run([*words, "--save", file]) is Exit.OK
    if file.endswith(".pkl"):
        return pickle.loads(Path(file).read_bytes())
    io = pytest.importorskip("skops.io")
    return io.load(file, trusted=io.get_untrusted_types(file=file))


@pytest.mark.parametrize("suffix", [".pkl", pytest.param(".skops", marks=pytest.mark.slow)])  # tables of words have it
def test_the_saved_model_takes_frames_and_keeps_its_promise(capsys, suffix):
    pytest.importorskip("skops")
    model = fitted(*QUICK, *OWN, "--delta", "0.1", file=f"model{suffix}")
    output = capsys.readouterr().out
    printed = " ".join(output.split())
    assert "0.9 or more" in printed
    assert "logistic_regression on table.csv" in printed
    loading = output.partition("Python:\n")[2]
    loaded = {}
    exec(loading, loaded)
    assert str(loaded["model"].result_) == str(model.result_)
    assert " ".join(str(model.estimator_[-1]).split()) in printed
    table = pl.read_csv("table.csv")
    predicted = model.predict(table.drop("label"))
    assert set(predicted) == {-1, 1}
    np.testing.assert_array_equal(predicted, model.predict(table.drop("label").to_numpy()))
    n_negatives = int((table["label"] == 0).sum())
    assert model.result_.n_negatives == RULES["umbrella"].aligned((n_negatives + 1) // 2, 0.1, 0.1) < n_negatives / 2
    assert np.mean(predicted[table["label"] == 1] == 1) > 0.5
    assert (model.result_.rho, model.result_.delta, model.result_.guaranteed) == (0.1, 0.1, True)


def test_a_bound_on_average_takes_fewer_negatives():
    table = pl.read_csv("table.csv")
    table.filter((pl.col("label") == 1) | (pl.col("label").cum_count() % 12 == 0)).write_csv("table.csv")
    with pytest.raises(RequestError, match="59"):
        fitted("solver=logistic_regression", "solver.params.C=1", "problem.rho=0.05", *OWN)
    model = fitted("solver=logistic_regression", "solver.params.C=1", "problem.rho=0.05", *OWN, "--rule", "average")
    assert (model.result_.promise_kind, model.result_.n_negatives) == ("on average", 19)


def test_parameters_are_selected_without_the_negatives_of_the_threshold():
    model = fitted("solver=logistic_regression", "protocol.folds=2", *OWN, "problem.rho=0.1")
    (train, held_out) = model.cv[0]
    assert set(train) | set(held_out) == set(range(900))
    assert not set(train) & set(held_out)
    assert model.estimator[-1].C in np.geomspace(0.01, 100, 5)


def test_a_solver_with_a_threshold_of_its_own_holds_out_no_further_negatives():
    model = fitted(*QUICK, *OWN)
    assert isinstance(model.estimator_[-1], LogisticRegression)
    assert model.result_.guaranteed


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["solver.threshold=average"], {"threshold": "average", "calibration_size": "aligned"}),
        (["solver.threshold=average", "--rule", "umbrella"], {"threshold": "umbrella"}),
        (["solver.delta=0.1", "+solver.randomized=true"], {"delta": 0.1, "randomized": True}),
        (
            ["solver.calibration_size=0.3", "solver.delta=0.1", "--delta", "0.2"],
            {"calibration_size": 0.3, "delta": 0.2},
        ),
        (["+solver.cv=2"], {"cv": 2}),
        (["+solver.contamination=[0.95,0]"], {"contamination": [0.95, 0]}),
    ],
)
def test_settings_of_the_solvers_threshold_are_taken_over(words, expected):
    model = fitted(*QUICK, *OWN, *words)
    assert model.get_params(deep=False).items() >= expected.items()


def test_groups_and_copies_stay_on_one_side_and_count_once():
    table = pl.read_csv("table.csv").with_columns(who=pl.int_range(900) // 2)
    table.write_csv("table.csv")
    model = fitted(*QUICK, *OWN, "dataset.group=who")
    (train, held_out) = model.cv[0]
    assert not set(table["who"][train]) & set(table["who"][held_out])
    negatives = table[held_out].filter(pl.col("label") == 0)
    assert model.result_.n_negatives == negatives["who"].n_unique() < len(negatives)
    pl.concat([table, table]).drop("who").write_csv("table.csv")
    with pytest.warns(UserWarning, match="900 of 1800"):
        model = fitted(*QUICK, *OWN)
    (train, held_out) = model.cv[0]
    assert not set(train % 900) & set(held_out % 900)
    assert len(set(held_out % 900)) == len(held_out) == model.result_.n_negatives


def test_out_of_bag_scores_take_all_negatives():
    model = fitted("solver=random_forest_oob", "solver.params.n_estimators=50", "problem.rho=0.1", *OWN)
    n_negatives = int((pl.read_csv("table.csv")["label"] == 0).sum())
    assert (model.result_.promise_kind, model.result_.n_negatives) == ("measured", n_negatives)


def test_the_best_of_stored_records_is_fitted():
    # b tells of the noise in a: the direction between the means, which C = 1e-9 gives, makes no use of it.
    table = pl.read_csv("table.csv").with_columns(b=pl.col("a") - 2 * pl.col("label") + 0.3 * pl.col("b"))
    table.write_csv("table.csv")
    candidates = ["-m", "solver=logistic_regression", "solver.params.C=1e-9,1", "problem.rho=0.1", "repeats=2", *OWN]
    with pytest.raises(RequestError, match="4 of 4 jobs"):
        fitted(*candidates)
    records = npbench.run(
        solver={"name": "logistic_regression", "params.C": [1e-9, 1]},
        problem={"rho": 0.1},
        repeats=2,
        dataset={"name": "file", "path": "table.csv", "label": "label"},
    )
    means = records.group_by("params").agg(pl.col("np_score").mean()).sort("np_score")
    assert means["np_score"][1] > 2 * means["np_score"][0]
    model = fitted(*candidates)
    assert f'"C":{model.estimator[-1].C}' in means["params"][0]
    rebuilt = npbench.from_record(records.row(0, named=True))
    X, y = table.drop("label").to_numpy(), table["label"].to_numpy()
    rebuilt.set_params(scorer__random_state=0)
    by_hand = make_pipeline(StandardScaler(), npbench.solver("scorer", **rebuilt[-1].get_params()))
    np.testing.assert_allclose(
        rebuilt.fit(X, y).decision_function(X), by_hand.fit(X, y).decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*QUICK, *OWN, "problem.rho=0.001", "--save", "m.pkl"], "2995"),
        ([*QUICK, *OWN, "--save", "m.txt"], "'.txt'"),
        ([*QUICK, *OWN, "--save", "no/where.pkl"], "folder"),
        (["solver=pauc_struct", "problem=pauc", *OWN, "--save", "m.pkl"], "no bound"),
        ([*QUICK, *OWN, "solver.n_splits=3", "--save", "m.pkl"], "n_splits=3"),
        ([*QUICK, *OWN, "solver.threshold=zero", "--save", "m.pkl"], "'zero'"),
        (
            [*QUICK, *OWN, "solver.delta=null", "+solver.search.delta=[0.05,0.1]", "--save", "m.pkl"],
            r"solver\.search\.delta",
        ),
        (["-m", "solver=logistic_regression", "dataset=breast,pima", "--save", "m.pkl"], "one dataset"),
        (
            ["solver=logistic_regression_umbrella", *OWN, "problem.rho=0.01", "--save", "m.pkl"],
            "logistic_regression_umbrella on file: .*299",
        ),
    ],
)
def test_impossible_requests_are_refused(words, message):
    with pytest.raises(RequestError, match=message):
        fit.run(words)


@pytest.mark.parametrize("categories", ["one_hot", "codes"])
def test_the_saved_model_takes_a_frame_with_words(categories):
    pytest.importorskip("skops")
    random = np.random.default_rng(1)
    table = pl.read_csv("table.csv")
    said = np.where(table["label"] == 1, random.choice(["no", "yes"], 900, p=[0.1, 0.9]), "no")
    table = table.with_columns(b=pl.Series(said), c=pl.Series(random.choice(["m", "n", "o"], 900)))
    table.write_csv("table.csv")
    model = fitted(*QUICK, *OWN, f"categories={categories}", file="model.skops")
    predicted = model.predict(table.sample(fraction=1, shuffle=True, seed=0).select("c", "label", "a", "b"))
    assert np.mean(predicted == 1) > 0.2  # b alone detects 90 % of the positives, 36 % of the rows
    coded = npbench.load_dataset("file", path="table.csv", label="label").X
    by_name = table.select("c", "b", "a", "label")
    named = by_name, by_name.to_pandas().astype({"b": "category"}), by_name.to_dicts(), by_name.to_dict(as_series=False)
    for frame in (*named, table.drop("label").rows()):
        np.testing.assert_array_equal(model.decision_function(frame), model.decision_function(coded))
    with pytest.raises(ValueError, match="'b'"):
        model.predict(table.drop("b"))


def test_unknown_words_count_as_no_word_and_missing_ones_are_imputed():
    table = pl.read_csv("table.csv").with_columns(b=pl.Series(np.resize(["x", "x", "y", None], 900)))
    table.write_csv("table.csv")
    model = fitted(*QUICK, *OWN, "missing=impute")
    rows = pl.DataFrame({"a": [0.0] * 4, "b": ["x", "y", None, "new"]})
    x, y, missing, unknown = model.decision_function(rows)
    assert x == missing
    assert len({x, y, unknown}) == 3
    with pytest.raises(ValueError, match="'a'"):
        model.predict(rows.with_columns(a=pl.Series(["one"] * 4)))


def test_records_of_failures_hold_no_model():
    with pytest.raises(RequestError, match="chosen_params"):
        npbench.from_record({"solver": "gen", "dataset": "breast", "chosen_params": None})


def test_variants_have_one_name_everywhere():
    forest = npbench.solver("random_forest", rho=0.2)
    assert (forest.estimator, forest.rho) == ("sklearn.ensemble.RandomForestClassifier", 0.2)
    assert forest.params["n_estimators"] == 300
    solver, params = settings_of("logistic_regression")
    assert (solver, params["params"]) == ("scorer", {"max_iter": 1000})
    assert npbench.solver("logistic_regression", params={"C": 3}).params == {"C": 3}
    assert isinstance(npbench.solver("logistic_regression")._build(), LogisticRegression)
    with pytest.raises(RequestError, match="'random_forest'"):
        npbench.solver("random_forst")


def test_missing_values_are_kept_only_if_the_solver_takes_them():
    pl.read_csv("table.csv").with_columns(a=pl.when(pl.col("b") < 1).then("a")).write_csv("table.csv")
    with pytest.raises(RequestError, match="missing=keep"):
        fitted("solver=random_forest", *OWN)
    with pytest.raises(RequestError, match="missing=impute") as caught:
        fitted(*QUICK, *OWN)
    assert "missing=keep" not in str(caught.value)
