"""Write values as words of Hydra's command line."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException

from npbench.errors import RequestError

# Strings that need no quoting in Hydra's grammar and are not numbers or words of YAML.
BARE_TEXT = re.compile(r"(?!(?i:true|false|null|inf|nan)$)[A-Za-z_/.][\w/.-]*", re.ASCII)
STRUCTURE = frozenset("[]{}(),")  # of lists and functions, where a fault is named instead


def is_hydra_word(word: str) -> bool:
    """Return whether a setting is Hydra's own, as ``hydra.run.dir=x`` or ``hydra/launcher=joblib``."""
    return word.lstrip("+~").startswith(("hydra.", "hydra/"))


def readable(word: str) -> str:
    """Return a setting, its value quoted if Hydra's grammar cannot read it, such as a name in Greek or with "=".

    >>> readable("results=α=1"), readable("results=a b"), readable("seed=1"), readable("C=[1"), readable("~seed")
    ("results='α=1'", 'results=a b', 'seed=1', 'C=[1', '~seed')
    """
    key, equals, value = word.partition("=")
    if not equals or BARE_TEXT.fullmatch(value) or STRUCTURE & set(value) or value.startswith(("'", '"')):
        return word
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return f"{key}={_quoted(value)}"
    return word


def as_text(word: str) -> str:
    """Return a setting as a shell takes it, so that its value is text whatever its characters.

    >>> print(as_text("results=[1]"))
    'results='"'"'[1]'"'"''
    """
    key, _, value = word.partition("=")
    return shlex.quote(f"{key}={_quoted(value.replace('${', chr(92) + '${'))}")


def keyword_words(settings: Mapping[str, Any]) -> list[str]:
    """Return keywords as words of the command line.

    Mappings become settings of a group, and their ``name`` its choice. Lists are swept; a tuple is one value, a list.

    >>> keyword_words({"solver": "gen", "problem": {"rho": [0.05, 0.1]}, "metrics": ("p_fa", "p_nd")})
    ['solver=gen', 'problem.rho=0.05,0.1', 'metrics=[p_fa,p_nd]']
    >>> keyword_words({"dataset": {"name": "file", "path": "my data.csv"}})
    ['dataset=file', "dataset.path='my data.csv'"]
    """
    words = []
    for key, value in settings.items():
        if is_hydra_word(key):
            raise RequestError(f"{key} is a setting of Hydra: npbench.run takes none, use the command line.")
        if isinstance(value, Mapping):
            words += [f"{key}={as_word(value['name'])}"] if "name" in value else []
            words += keyword_words({f"{key}.{name}": part for name, part in value.items() if name != "name"})
        elif isinstance(value, (list, range)):
            if not value:
                raise RequestError(f"{key} is an empty list: give at least one value; an empty tuple is one value.")
            words.append(f"{key}={','.join(map(as_word, value))}")
        else:
            words.append(f"{key}={as_word(value)}")
    return words


def as_word(value: Any) -> str:
    """Return one value in the grammar of Hydra's command line.

    >>> as_word([0.01, None, True, "a b"]), as_word({"C": [0.1, 1]})
    ("[0.01,null,true,'a b']", '{C:[0.1,1]}')
    """
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(as_word, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{as_word(str(key))}:{as_word(part)}' for key, part in value.items())}}}"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, Path)):
        return _quoted(str(value))
    raise RequestError(f"{value!r} is a {type(value).__name__}: expected a number, text, None, list, tuple or mapping.")


def _quoted(text: str) -> str:
    return text if BARE_TEXT.fullmatch(text) else QuotedString(text, Quote.single).with_quotes()
