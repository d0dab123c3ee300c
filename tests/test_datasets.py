import dataclasses
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer

import npbench_datasets
from npbench import configs, load_dataset, registry
from npbench.data import sources
from npbench.errors import RequestError
from npbench.signature import signature

DATASETS = {name: registry.installed().dataset(name) for name in ("breast", "pima", "spambase", "synthetic")}
# Gasso et al. (2011), table I: features, positives, negatives.
TABLE_I = {"synthetic": (2, 1250, 1250), "breast": (30, 357, 212), "pima": (8, 500, 268), "spambase": (57, 2788, 1813)}


@pytest.mark.parametrize("name", DATASETS)
def test_counts_are_those_of_table_i(name, raw_dataset):
    data = load_dataset(raw_dataset(name).name)
    assert (data.n_features, data.n_positive, data.n_negative) == TABLE_I[name]


@pytest.mark.parametrize("name", DATASETS)
def test_descriptions_are_complete(name):
    dataset = DATASETS[name]
    for field in ("title", "positive", "source", "licence", "citation"):
        assert getattr(dataset, field), f"{name} says nothing of its {field}"
    for file in dataset.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.path.startswith(f"{name}/")
        assert file.url.startswith("https://")


@pytest.mark.parametrize("name", ["pima", "spambase"])
def test_files_are_read_number_by_number(name, raw_dataset):
    (file,) = raw_dataset(name).files
    table = pl.read_csv(sources.find(file), has_header=False, infer_schema_length=None).cast(pl.Float64).to_numpy()
    data = load_dataset(name)
    assert np.array_equal(data.X, table[:, :-1])
    assert np.array_equal(data.y > 0, table[:, -1] == 0)


def test_benign_is_positive():
    bunch = load_breast_cancer()
    data = load_dataset("breast")
    assert np.array_equal(bunch.target_names[bunch.target] == "benign", data.y > 0)
    assert np.array_equal(bunch.data, data.X)


def composed(*overrides):
    configs.register()
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        return OmegaConf.to_container(compose("config", list(overrides)))


@pytest.mark.parametrize("name", DATASETS)
def test_each_has_a_configuration_with_its_name_and_its_parameters(name):
    parameters = composed(f"dataset={name}")["dataset"]
    assert parameters.pop("name") == name
    assert parameters.keys() == signature(DATASETS[name].load, len(DATASETS[name].files)).defaults.keys()


@pytest.mark.parametrize(
    ("overrides", "protocol"),
    [
        (["dataset=spambase"], "holdout"),
        (["dataset=spambase", "protocol=cv"], "cv"),
        (["protocol=cv", "dataset=spambase"], "cv"),
        (["dataset=pima"], "cv"),
    ],
)
def test_spambase_validates_on_a_held_out_part_unless_told_otherwise(overrides, protocol):
    assert composed(*overrides)["protocol"]["name"] == protocol


def test_the_configuration_package_is_where_it_says():
    (package,) = npbench_datasets.npbench_config_packages()
    folder = Path(npbench_datasets.__file__).parent / package.removeprefix("npbench_datasets.")
    assert {path.stem for path in (folder / "dataset").glob("*.yaml")} == set(DATASETS)


def test_synthetic_classes_have_the_documented_moments():
    data = load_dataset("synthetic", n_pos=200_000, n_neg=200_000, seed=5)
    for label, mean, covariance in ((1, [1.5, 1.5], [[1, -0.5], [-0.5, 0.5]]), (-1, [0, 0], [[1, 0.5], [0.5, 1.25]])):
        points = data.X[data.y == label]
        assert np.mean(points, axis=0) == pytest.approx(mean, abs=0.015)
        assert np.cov(points.T) == pytest.approx(np.array(covariance), abs=0.025)


def test_synthetic_is_as_hard_as_documented():
    data = load_dataset("synthetic", n_pos=100_000, n_neg=100_000, seed=6)
    positive = multivariate_normal([1.5, 1.5], [[1, -0.5], [-0.5, 0.5]])
    negative = multivariate_normal([0, 0], [[1, 0.5], [0.5, 1.25]])
    ratio = positive.logpdf(data.X) - negative.logpdf(data.X)
    for rho, missed in ((0.01, 0.72), (0.05, 0.36), (0.1, 0.12), (0.2, 0.01)):
        threshold = np.quantile(ratio[data.y < 0], 1 - rho)
        assert np.mean(ratio[data.y > 0] <= threshold) == pytest.approx(missed, abs=0.012)
    m = np.array([1.5, 1.5])
    w = np.linalg.solve(negative.cov, m)
    assert 1 / (m @ w) - 1 / (w @ positive.cov @ w) == pytest.approx(-1.07, abs=0.005)


def test_synthetic_follows_its_seed_and_one_class_leaves_the_other_alone():
    first, again, other = (load_dataset("synthetic", seed=seed) for seed in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256
    more = load_dataset("synthetic", seed=1, n_neg=2000)
    assert np.array_equal(more.X[:1250], first.X[:1250])
    assert load_dataset("synthetic", seed=np.int64(1)).sha256 == first.sha256


def test_synthetic_tells_all_values_out_of_range():
    with pytest.raises(RequestError) as caught:
        load_dataset("synthetic", n_pos=0, n_neg=2.5, seed="x")
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "dataset.n_pos is 0",
        "dataset.n_neg is 2.5",
        "dataset.seed is 'x'",
    ]


def test_a_description_that_is_off_is_noticed(raw_dataset):
    from npbench.data import load

    wrong = dataclasses.replace(raw_dataset("pima"), n_positive=268)
    with pytest.raises(RequestError, match="n_positive = 500, where its description says 268"):
        load(wrong)
