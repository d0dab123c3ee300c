import pytest

from npbench.contracts import resolve


@pytest.mark.parametrize(
    ("target", "error"), [("no_such_module:f", ModuleNotFoundError), ("math:no_such_name", AttributeError)]
)
def test_resolve_names_what_is_missing(target, error):
    with pytest.raises(error, match="no_such"):
        resolve(target)
