import os
from pathlib import Path

import pytest

from npbench.config.run_settings import RunSettings, check_settings
from npbench.errors import RequestError

GIVEN = {"n_jobs": 2, "time_limit": 1.5, "retry_timeouts": False, "memory_limit": 500, "force": True}
EXECUTION = {"name": "local", "trace": False, "keep_scores": False, **GIVEN}


def faults_of(results="results", **execution):
    with pytest.raises(RequestError) as refusal:
        check_settings([{"execution": EXECUTION | execution, "results": results}])
    return list(refusal.value.faults)


def test_good_settings():
    found = check_settings([{"execution": EXECUTION, "results": "some/where"}])
    assert found == RunSettings(Path("some/where"), **GIVEN)
    assert not Path("some").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("n_jobs", value) for value in (0, -2, 1.5, None)),
        *(("time_limit", value) for value in (0, "1 h", float("inf"))),
        *(("retry_timeouts", value) for value in ("no", 0, None)),
        *(("memory_limit", value) for value in ("4 GB", 0)),
        *(("force", "yes"), ("trace", 1), ("keep_scores", 1), ("objective", 3), ("name", "cluster"), ("n_job", 1)),
    ],
)
def test_bad_value_is_named(key, value):
    (fault,) = faults_of(**{key: value})
    assert key in fault or repr(value) in fault


@pytest.mark.parametrize("results", [None, 5, ""])
def test_all_faults_at_once(results):
    *faults, last = faults_of(results=results, n_jobs=0, time_limit=-1)
    assert len(faults) == 2
    assert last.startswith("results is")


@pytest.mark.parametrize("below", ["", "deeper", "deeper/still"])
def test_results_is_a_file(tmp_path, below):
    file = tmp_path / "file"
    file.touch()
    (fault,) = faults_of(results=str(file / below))
    assert f"{file} is a file" in fault


def test_results_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    refuses = tmp_path if not os.access(tmp_path, os.W_OK) else Path("/proc")  # root may write anywhere but there
    if not refuses.exists():
        pytest.skip("this system has no folder that refuses root")
    (fault,) = faults_of(results=str(refuses / "deeper" / "still"))
    assert f"{refuses}" in fault


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "/deeper", "x/" * 3000])
def test_a_name_that_no_folder_can_have(tmp_path, name):
    (fault,) = faults_of(results=str(tmp_path / name))
    assert "too long" in fault
