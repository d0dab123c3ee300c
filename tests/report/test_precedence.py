"""Which records count: published, then own, and of a submission those of its own method only."""

from pathlib import Path

import polars as pl
import pytest

from npbench.records.fields import ASKED
from npbench.report.select.asked import answers, stored_records
from npbench.report.select.collect import collect, load_records
from npbench.report.select.precedence import origin
from sample_records import record, stored

LATER = "2026-06-01T00:00:00Z"


def rates(records):
    return dict(records.filter(repeat=0).select("solver", "p_fa").rows())


def put_published(solver="np_svm", **columns):
    stored(record(key=f"p {solver}", solver=solver, p_fa=0.1, **columns), place="results/published/board")


def put_submission(name="mine", **columns):
    kept = {"solver": name, "p_fa": 0.9, "stored_at": LATER, **columns}
    stored(record(**{"key": f"s {name}", **kept}), place=f"results/submissions/{name}")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("results/records", ""),
        ("results/published/gasso/records/a.parquet", "published"),
        ("results/submissions/mine", "mine"),
        ("results/submissions/mine/records", "mine"),
        ("results/published/../submissions/mine/records", "mine"),
        ("results/submissions", ""),
        ("results/submissions/mine/published/records", "mine"),
        ("results/submissions/mine/submissions/np_svm/records", "mine"),
    ],
)
def test_origins(path, expected):
    assert origin(Path(path)) == expected


def test_whoever_works_below_such_folders_keeps_their_own_records(tmp_path, monkeypatch):
    place = tmp_path / "published" / "submissions" / "paper"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    stored(record(solver="gen"))
    assert load_records()["solver"].to_list() == ["gen"]
    assert [origin(Path(path)) for path in ("results/records", ".", "records", "../other/x")] == [
        "",
        *["paper"] * 2,
        "other",
    ]


def test_the_file_of_an_experiment_answers_its_jobs_alone():
    """Another experiment may have run the same jobs later, on another machine."""
    folder = Path("results") / "records"
    for name, seconds, stored_at in (("mine", 1.0, "2026-01-01T00:00:00Z"), ("other", 2.0, LATER)):
        stored(record(key=name, fit_seconds=seconds, stored_at=stored_at), name=f"{name}.parquet")
    jobs = pl.read_parquet(folder / "mine.parquet").select("method", *ASKED)
    for name, seconds in (("mine", 1.0), ("other", 2.0), ("absent", 2.0)):
        assert answers(name, jobs, folder, pytest.fail)["fit_seconds"].to_list() == [seconds]
    more = pl.concat([jobs, jobs.with_columns(repeat=pl.lit(1, jobs.schema["repeat"]))])
    stored(record(key="more", repeat=1), name="further.parquet")
    assert sorted(answers("mine", more, folder, pytest.fail)["fit_seconds"]) == [0.5, 2.0]


def test_records_of_rivals_in_a_submission_are_left_out_by_name(monkeypatch):
    for place in ("IN_WHEEL", "IN_CHECKOUT"):  # tens of thousands of records
        monkeypatch.setattr(f"npbench.report.select.asked.{place}", Path("absent"))
    put_published()
    put_submission()
    rivals = {"evil1": {"solver": "np_svm"}, "evil2": {"method": "np_svm"}, "evil3": {"method": "gen"}}
    rivals["evil4"] = {"solver": None}
    for name, columns in rivals.items():
        put_submission(name, repeat=1, key=name, **columns)
    sources = [Path("results/published"), Path("results/submissions")]
    found = collect(sources, {})
    assert rates(found.records) == {"np_svm": 0.1, "mine": 0.9}
    assert set(found.records["method"]) == {"np_svm", "mine"}
    assert all(any(name in fault for fault in found.faults) for name in rivals)
    with pytest.warns(UserWarning, match="evil"):
        assert rates(load_records(*sources)) == {"np_svm": 0.1, "mine": 0.9}
    with pytest.warns(UserWarning, match="evil"):
        here = stored_records(Path("results"))
    assert not rivals.keys() & set(here["key"])


@pytest.mark.parametrize("taken", ["np_svm", "np_svm_umbrella"])
def test_a_submission_of_a_published_name_is_left_out(taken):
    put_published(method=taken)
    put_submission(taken, problem_params='{"rho":0.3}')
    found = collect([Path("results/published"), Path("results/submissions")], {})
    assert found.records["p_fa"].to_list() == [0.1]
    assert any(taken in fault for fault in found.faults)


def test_published_records_come_before_own_and_own_before_submitted():
    put_published("gen")
    put_submission("mine")
    own = [record(key=f"o {name}", solver=name, p_fa=0.5, stored_at=LATER) for name in ("gen", "mine", "uzawa")]
    stored(*own)
    found = collect([Path("results/published"), Path("results")], {})
    assert rates(found.records) == {"gen": 0.1, "mine": 0.5, "uzawa": 0.5}
    assert found.n_older == 2
    assert found.faults == []


def test_variants_of_its_own_belong_to_a_submission():
    put_published()
    put_submission("mine", method="mine_umbrella")
    assert rates(collect([Path("results/submissions/mine")], {}).records) == {"mine": 0.9}
    assert pl.Series(["mine_umbrella"]).equals(load_records("results/submissions/mine")["method"], check_names=False)


def test_the_report_of_an_experiment_shows_no_rivals_of_a_submission(npbench):
    """Also where the submission is the results folder itself."""
    put_submission("evil", **{"solver": "np_svm", "dataset": "pima", "repeat": 0})
    code, text, errors = npbench("report", "--experiment", "np_benchmark_small", "results=results/submissions/evil")
    assert (code, "no records" in errors, "evil" in errors) == (2, True, True), text
