"""Executors of plugins: the documented example, its settings, and names that clash."""

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import npbench as api

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "npbench-in-turn" / "npbench_in_turn.py"
ASKED = {"solver": "centroid", "dataset": "blobs", "repeats": 2}
WORDS = ("execution=in_turn", *(f"{name}={value}" for name, value in ASKED.items()))


@pytest.fixture
def in_turn(stranger, install):
    return install("npbench-in-turn", npbench_in_turn=EXAMPLE.read_text())


def test_an_executor_of_a_plugin_gives_the_records_of_the_local_one(in_turn):
    execution = {"name": "in_turn", "pause": 0, "n_jobs": 1}
    ours = api.run(**ASKED, execution=execution, results="ours")
    local = api.run(**ASKED, execution={"n_jobs": 1}, results="local")
    answers = ["key", "status", "p_fa", "p_nd", "chosen_params"]
    assert_frame_equal(ours.select(answers).sort("key"), local.select(answers).sort("key"))
    assert ours["status"].to_list() == ["ok", "ok"]


@pytest.mark.slow  # waits for time limits
def test_a_time_limit_and_the_repeats_that_it_leaves_out_work_for_it_too(in_turn):
    limits = {"time_limit": 1, "retry_timeouts": False}
    found = api.run(
        **{**ASKED, "solver": {"name": "centroid", "mode": "slow"}}, execution={"name": "in_turn", **limits}
    )
    assert found["status"].to_list() == ["timeout", "timeout"]
    assert sum("not run" in error for error in found["error"]) == 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("word", "named"),
    [("execution.pauses=1", "'execution.pause'"), ("execution.pause=x", "'x'"), ("execution.pause=true", "float")],
)
def test_its_settings_are_checked_by_name_and_type(in_turn, npbench, word, named):
    code, _, errors = npbench(*WORDS, word)
    assert (code, len(errors.splitlines())) == (2, 1)
    assert named in errors


UNTYPED = "from __future__ import annotations\ndef records(jobs, limits, context, *, pause: Absent): pass"


@pytest.mark.parametrize(("code", "why"), [("import no_such_library", "no_such_library"), (UNTYPED, "Absent")])
def test_one_that_cannot_be_used_is_named(stranger, install, npbench, code, why):
    plugin = EXAMPLE.read_text().replace("npbench_in_turn:", "in_turn_code:")
    install("npbench-in-turn", npbench_in_turn=plugin, in_turn_code=code)
    code, _, errors = npbench(*WORDS)
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "execution=in_turn" in errors
    assert why in errors


def test_the_built_in_executor_cannot_be_replaced(stranger, install):
    install(
        "npbench-other", npbench_other=EXAMPLE.read_text().replace('"in_turn"', '"local"').replace("yield", "1 / 0 #")
    )
    assert api.run(**ASKED)["status"].to_list() == ["ok", "ok"]
