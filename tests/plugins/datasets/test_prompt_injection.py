"""Scores of prompt-injection detectors: counts of their source, aligned rows, sets to choose from."""

import json

import numpy as np
import pytest

from npbench import load_dataset
from npbench.data import sources
from npbench.errors import RequestError
from npbench_datasets import prompt_injection


@pytest.fixture
def files(tmp_path):
    """Two detectors on a set of chats and a set with attacks."""
    made = []
    for shift, detector in enumerate(("one", "two")):
        for name, scores, labels in (("lmsys", [0.1, 0.2], None), ("s_labs_test", [0.9, 0.3, 0.8], [1, 0, 1])):
            made.append(tmp_path / f"{detector}__{name}.json")
            made[-1].write_text(json.dumps({"scores": [shift + score for score in scores], "labels": labels}))
    return made


def test_chats_are_negative_attacks_positive_and_unknown_sets_refused(files):
    X, y, more = prompt_injection.load_prompt_injection(*files)
    np.testing.assert_allclose(X, np.array([0.1, 0.2, 0.9, 0.8])[:, None] + [0, 1])
    assert y.tolist() == [-1, -1, 1, 1]
    assert more["columns"] == ["one", "two"]
    X, y, _ = prompt_injection.load_prompt_injection(*files, benign="s_labs_test")
    assert X[:, 0].tolist() == [0.3, 0.9, 0.8]
    for unknown in ({"benign": "chats"}, {"attacks": "lmsys"}):
        with pytest.raises(RequestError, match=next(iter(unknown))):
            prompt_injection.load_prompt_injection(*files, **unknown)


def test_counts_are_those_of_the_source(raw_dataset):
    described = raw_dataset("prompt_injection")
    data = load_dataset(described.name)
    assert (data.n_samples, data.n_positive, len(data.columns)) == (6051, 1051, 12)
    benign = json.loads(sources.find(described.files[1]).read_text(encoding="utf-8"))["scores"]
    assert data.X[:5000, 0].tolist() == benign
    assert load_dataset(described.name, benign="wildchat", attacks="jailbreakbench").n_positive == 100
