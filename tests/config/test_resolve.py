import pytest

from npbench.config.command_line import parse, requested
from npbench.evaluation.protocols import CrossValidation, Holdout

HOLDOUT = Holdout(0.25, 0.25)  # which a9a states, with preprocess none


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "protocol", "preprocess"),
    [
        (["dataset=pima"], CrossValidation(), "standardize"),
        (["dataset=pima", "protocol.folds=3"], CrossValidation(folds=3), "standardize"),
        (["dataset=a9a"], HOLDOUT, "none"),
        (["dataset=a9a", "protocol.test_size=0.3"], Holdout(0.3, 0.25), "none"),
        (["protocol=cv", "preprocess=unit_range", "dataset=a9a"], CrossValidation(), "unit_range"),
        (["protocol=auto", "preprocess=auto", "dataset=a9a"], HOLDOUT, "none"),
    ],
)
def test_typed_wins_over_what_the_data_set_states(words, protocol, preprocess):
    (request,) = requested(parse(words)).requests
    assert request.protocol == protocol
    assert request.features == {"preprocess": preprocess, "missing": "refuse", "categories": "one_hot"}


def test_each_data_set_of_a_sweep_has_its_own():
    requests = requested(parse(["-m", "dataset=pima,a9a", "protocol.test_size=0.3"])).requests
    assert [request.protocol for request in requests] == [CrossValidation(test_size=0.3), Holdout(0.3, 0.25)]


def test_what_the_data_set_states_is_shown(npbench):
    code, text, errors = npbench("--cfg", "job", "dataset=a9a", "protocol.test_size=0.3", "protocol=auto")
    assert (code, errors) == (0, "")
    assert "name: holdout" in text
    assert "test_size: 0.3" in text
    code, text, _ = npbench("--cfg", "job", "dataset=rcv1", "protocol=official")
    assert (code, "- 23149" in text) == (0, True)
