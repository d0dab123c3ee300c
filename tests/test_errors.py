from npbench.errors import RequestError, unknown_name


def test_all_faults_are_told_one_a_line():
    error = RequestError("One.", "Two.")
    assert error.faults == ("One.", "Two.")
    assert str(error) == "One.\nTwo."


def test_a_request_error_is_a_value_error():
    assert issubclass(RequestError, ValueError)


def test_without_a_near_name_all_are_listed_sorted():
    assert unknown_name("metric", "zzz", ["b", "a"]) == "Unknown metric 'zzz': there are: a, b."


def test_without_any_name_none_is_said():
    assert unknown_name("metric", "auc", []) == "Unknown metric 'auc': there are: none."
