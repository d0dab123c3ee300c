import gzip
import hashlib
import io
import json
import socket
from email.message import Message
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import numpy as np
import pytest
from scipy import sparse

from npbench import load_dataset
from npbench.data import sources
from npbench.errors import RequestError

ARFF = """@relation toy
@attribute id numeric
@attribute age numeric
@attribute site {right,left}
@attribute class {no,yes,maybe}
@data
1,1.5,left,no
2,?,right,yes
3,3.5,?,no
4,4.5,left,maybe
"""
FULL = ARFF.replace("3,3.5,?,no", "3,3.5,right,no")
SITE = "https://www.openml.org/"
PAGE = b"<!DOCTYPE html><html><body>Service unavailable</body></html>"


def feature(index, name, kind, **flags):
    properties = {"is_target": "false", "is_ignore": "false", "is_row_identifier": "false", **flags}
    return {"index": str(index), "name": name, "data_type": kind, "number_of_missing_values": "0", **properties}


def columns(site="nominal"):
    """Return what OpenML says of an identifier, an age, a site of this kind and the labels."""
    identifier = feature(0, "id", "numeric", is_row_identifier="true")
    labels = feature(3, "class", "nominal", is_target="true")
    return [identifier, feature(1, "age", "numeric"), feature(2, "site", site), labels]


def described(arff=ARFF, features=None):
    """Return what OpenML answers at each address for the data set 7."""
    features = features or columns()
    description = {"id": "7", "name": "toy", "version": "1", "format": "ARFF", "status": "active", "description": ""}
    description["url"] = f"{SITE}data/v1/download/70/toy.arff"
    description["md5_checksum"] = hashlib.md5(arff.encode()).hexdigest()
    qualities = [{"name": "NumberOfInstances", "value": str(len(arff.partition("@data\n")[2].splitlines()))}]
    answers = {
        "api/v1/json/data/7": {"data_set_description": description},
        "api/v1/json/data/features/7": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/7": {"data_qualities": {"quality": qualities}},
    }
    encoded = {path: json.dumps(answer).encode() for path, answer in answers.items()}
    return encoded | {"data/v1/download/70/toy.arff": arff.encode()}


class Answer(io.BytesIO):
    def info(self):
        return {"Content-Encoding": "gzip"}


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Return the answers of a server in place of OpenML's, to be changed, and an empty data folder."""
    answers, asked = described(), []

    def opened(request, *_, **__):
        path = request.full_url.removeprefix(SITE)
        asked.append(path)
        answer = answers.get(path, HTTPError(request.full_url, 412, "no such data set", Message(), io.BytesIO()))
        if isinstance(answer, Exception):
            raise answer
        return Answer(gzip.compress(answer))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", opened)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _: None)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit_learn_data"))
    answers["asked"] = asked
    return answers


def refused(**params):
    with pytest.raises(RequestError) as caught:
        load_dataset("openml", **{"id": 7, **params})
    (fault,) = caught.value.faults
    return fault


def test_a_silent_server_is_given_up(server, monkeypatch):
    monkeypatch.setattr(sources, "TIMEOUT", 0.1)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr("sklearn.datasets._openml.urlopen", lambda *_, **__: urlopen(address))
        assert "timed out" in refused(positive="yes")


def test_numbers_and_categories_are_read_without_identifiers_and_downloaded_once(server):
    data = load_dataset("openml", id=7, positive="yes", negative="rest")
    assert np.array_equal(data.X, [[1.5, 1], [np.nan, 0], [3.5, np.nan], [4.5, 1]], equal_nan=True)
    assert data.y.tolist() == [-1, 1, -1, -1]
    assert data.columns == ("age", "site")
    assert data.categorical.tolist() == [False, True]
    assert [data.words[1][int(code)] for code in data.X[[0, 1, 3], 1]] == ["left", "right", "left"]
    first = load_dataset("openml", id=7, positive="yes", negative="no")
    n_asked = len(server["asked"])
    assert load_dataset("openml", id=7, positive="yes", negative="no").sha256 == first.sha256
    assert len(server["asked"]) == n_asked == 4
    assert first.y.tolist() == [-1, 1, -1]


@pytest.mark.parametrize("kind", ["numeric", "{right,left}"])
def test_sparse_rows_stay_sparse_unless_there_are_categories(kind, server):
    rows = "{0 7, 1 1.5}\n{2 LEFT, 3 yes}\n{1 2, 3 yes}\n".replace("LEFT", "1" if kind == "numeric" else "left")
    head = f"@relation toy\n@attribute id numeric\n@attribute age numeric\n@attribute site {kind}\n"
    features = columns(site=kind if kind == "numeric" else "nominal")
    answers = described(f"{head}@attribute class {{no,yes}}\n@data\n{rows}", features)
    place = "api/v1/json/data/7"
    server.update(answers | {place: answers[place].replace(b'"ARFF"', b'"Sparse_ARFF"')})
    data = load_dataset("openml", id=7, positive="yes")
    assert sparse.issparse(data.X) == (kind == "numeric")
    assert sparse.csr_array(data.X).toarray().tolist() == [[1.5, 0], [0, 1], [2, 0]]
    assert data.y.tolist() == [-1, 1, 1]
    assert load_dataset("openml", id=7, label="age", positive=0, negative="rest").y.tolist() == [-1, 1, -1]


def test_the_label_may_be_another_column_and_is_chosen_as_for_files(server):
    server.update(described(FULL))
    assert refused(positive="yes").startswith("OpenML data set 7: there are 3 labels, 'maybe' (1 row), 'no' (2 rows)")
    assert "dataset.positive is 'oui'" in refused(positive="oui")
    assert refused(label="klass") == "OpenML data set 7: dataset.label is 'klass', which is not a column."
    data = load_dataset("openml", id=7, label="site", positive="left")
    assert data.columns == ("age", "class")
    assert data.y.tolist() == [1, -1, -1, 1]


@pytest.mark.parametrize("target", ["false", "true"])
def test_the_label_must_be_named_unless_there_is_one(target, server):
    labels = [feature(i, name, "nominal", is_target=target) for i, name in ((2, "site"), (3, "class"))]
    server.update(described(FULL, features=columns()[:2] + labels))
    assert f"{'several columns' if target == 'true' else 'no column'} of labels" in refused()


@pytest.mark.parametrize("number", ["credit-g", 0, True, 1.5, None])
def test_the_id_must_be_a_known_number(number, server):
    found = "has no value" if number is None else f"is {number!r}"
    assert refused(id=number).startswith(f"dataset.id {found}: ")
    assert "data_id 8 not found" in refused(id=8)


@pytest.mark.parametrize("error", [URLError(socket.gaierror("Name or service not known")), TimeoutError("timed out")])
def test_without_a_network(error, server, tmp_path):
    server["api/v1/json/data/7"] = error
    fault = refused()
    assert str(error) in fault
    assert str(tmp_path / "scikit_learn_data") in fault
    assert "https://www.openml.org/d/7 and read it with dataset=file" in fault


@pytest.mark.parametrize("path", ["api/v1/json/data/7", "api/v1/json/data/features/7", "data/v1/download/70/toy.arff"])
@pytest.mark.parametrize("sent", [PAGE, ARFF[:-40].encode()])
def test_bad_answers_are_errors_and_not_cached(path, sent, server):
    right = server[path]
    server[path] = sent
    assert "answer cannot be read (" in refused(positive="yes", negative="rest")
    server[path] = right
    assert load_dataset("openml", id=7, positive="yes", negative="rest").n_samples == 4


def test_free_text_is_refused(server):
    server.update(described(features=columns(site="string")))
    assert "STRING" in refused()
